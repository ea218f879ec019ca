"""Questions that are answered in forks."""

import os
import sys
import tempfile
import time

from fissure_worker import apart

changed = []


def changes():
    changed.append(1)
    return b"done"


assert apart.answered(changes, 10) == b"done"
assert changed == [], "what an answer does is gone with it"


def dies():
    os.abort()


def raises():
    raise ValueError


def sleeps():
    time.sleep(60)
    return b"late"


assert apart.answered(dies, 10) is None
assert apart.answered(raises, 10) is None
began = time.monotonic()
assert apart.answered(sleeps, 0.2) is None
assert time.monotonic() - began < 30

# An import that takes longer than an answer may is made once, and later answers have it.
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "slow_to_import.py"), "w") as file:
    file.write("import time\ntime.sleep(1.5)\nANSWER = b'imported'\n")
sys.path.insert(0, folder)


def imports():
    import slow_to_import

    return slow_to_import.ANSWER


assert "slow_to_import" not in sys.modules
assert apart.answered(imports, 0.3) == b"imported"
assert "slow_to_import" in sys.modules
assert apart.answered(imports, 0.3) == b"imported"

print("all of it holds")
