"""What the installed libraries say about their callables: schemas, registries, signatures, stubs,
documentation. Runs inside the target's interpreter; `describe` and `list_public` give plain
dictionaries, `__main__` writes them as JSON.
"""

from fissure_worker.discover.description import describe
from fissure_worker.discover.public import list_public

__all__ = ["describe", "list_public"]
