"""A library that attacks whoever runs it. Every function returns its argument unless it is 7; then it
does what its name says. Each behaviour is one of:

- ``refused``: it must fail. A return without an exception means that it got what it wanted.
- ``harmless``: it may do what it likes with its own process; nobody else may notice.

Where things lie that must stay as they are, the variables HOSTILE_… say. The Rust test beside it
(`crates/fissure-execute/tests/integration/hostile.rs`) looks after each behaviour whether they did.
"""

from hostile import files, machine, processes, secrets, shared_memory
from hostile.behaviours import BEHAVIOURS

__version__ = "1"
for _module in (shared_memory, files, secrets, processes, machine):
    for _name in BEHAVIOURS:
        if hasattr(_module, _name):
            globals()[_name] = getattr(_module, _name)
