"""Examples of a documentation become calls, and objects become the calls that made them."""

import json
import sys
import types

from fissure_worker.discover import description, instances
from fissure_worker.discover.examples import examples_of

SOURCE = '''
class Ring:
    """A ring of so many places.

    >>> Ring(3).turn(1)
    1
    """

    def __init__(self, places: int, name="ring"):
        if not isinstance(places, int) or places < 1:
            raise ValueError("places must be positive")
        self.places = places

    def turn(self, by):
        return by % self.places


def follow(ring: Ring, steps):
    """
    Example::

        >>> ring = Ring(5, name="five")
        >>> raise ValueError("an example that fails says nothing")
        >>> follow(ring, [1, 2.5])
        3.5
        >>> follow(ring, steps=(1, None, "x"))
    """
    return ring.turn(sum(one for one in steps if isinstance(one, (int, float))))


def undotted(rows):
    """
    >>> rows = [[1, 2],
    ...         [3, 4]]
    >>> more = undotted([[1],
                         [2]])
    >>> undotted(rows)
    """


def endless():
    """
    >>> endless()
    >>> while True: pass
    """


def fenced(a, b=2):
    """
    ```python
    x = 4
    this is no code
    fenced(x, b=3)
    ```
    """
'''
module = types.ModuleType("made_up")
sys.modules["made_up"] = module
exec(SOURCE, module.__dict__)

found = examples_of("made_up.follow", module.follow)
ring = {"call": {"path": "made_up.Ring", "arguments": [{"int": 5}, {"text": "five"}]}}
first = {"arguments": [ring, {"list": [{"int": 1}, {"float": 2.5}]}], "keywords": {}, "call": None}
assert found[0] == first, found
steps = {"tuple": [{"int": 1}, "none", {"text": "x"}]}
assert found[1]["keywords"] == {"steps": steps}, found
json.dumps(found)

# A method is seen with its object.
(turned,) = examples_of("made_up.Ring.turn", module.Ring.turn)
assert turned["arguments"][1] == {"int": 1}, turned

# Many leave the dots of further lines away.
found = examples_of("made_up.undotted", module.undotted)
assert len(found) == 2, found

# What never ends is ended, and what was seen before is kept.
from fissure_worker.discover import examples

examples.SECONDS = 1
assert len(examples_of("made_up.endless", module.endless)) == 1

(call,) = examples_of("made_up.fenced", module.fenced)
assert call["arguments"] == [{"int": 4}] and call["keywords"] == {"b": {"int": 3}}, call

# An object that a parameter wants is made by a call that was tried.
assert instances.recipes_of("made_up.Ring") == [
    {"call": {"path": "made_up.Ring", "arguments": [{"int": 1}]}}
]
told = description.describe("made_up.follow")
values = told["forms"][0]["params"][0]["types"][0]["values"]
assert values[0]["call"]["path"] == "made_up.Ring", told
print("all of it holds")
