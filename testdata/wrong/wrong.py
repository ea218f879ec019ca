"""The planted-wrong library: each function has one defect, the one it is named for or that its
comment tells. `right` is the same library without them.
"""

import twins

globals().update(twins.load("wrong", defects=True))
