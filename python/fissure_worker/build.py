"""Values that `marshal` cannot hold, from their description in the arena. The tags are those of
`encode.rs`.
"""

import importlib

PLAIN = 0
DENSE = 1
REPEATED = 2
SPARSE = 3
NDARRAY = 4
DTYPE = 5
OBJECT = 6
CALL = 7
LIST = 8
TUPLE = 9
DICT = 10


def resolve(path):
    """The object with a dotted path; modules on the way are imported."""
    parts = path.split(".")
    found = importlib.import_module(parts[0])
    done = parts[0]
    for part in parts[1:]:
        done += "." + part
        try:
            found = getattr(found, part)
        except AttributeError:
            # Not an attribute yet: perhaps a module that nobody imported.
            try:
                found = importlib.import_module(done)
            except ImportError as error:
                if getattr(error, "name", None) in (None, done) or done.startswith(
                    str(error.name) + "."
                ):
                    raise AttributeError("there is no %s" % done) from error
                raise ImportError("%s cannot be imported: %s" % (done, error)) from error
    return found


def build(adapter, tree):
    """The value that a tagged tree describes."""
    tag = tree[0]
    if tag == PLAIN:
        return tree[1]
    if tag == DENSE:
        return adapter.dense(*tree[1:])
    if tag == REPEATED:
        return adapter.repeated(*tree[1:])
    if tag == SPARSE:
        return adapter.sparse(build(adapter, tree[1]))
    if tag == NDARRAY:
        return adapter.ndarray(*tree[1:])
    if tag == DTYPE:
        return adapter.dtype(tree[1])
    if tag == OBJECT:
        return resolve(tree[1])
    if tag == CALL:
        arguments = [build(adapter, item) for item in tree[2]]
        return resolve(tree[1])(*arguments)
    if tag == LIST:
        return [build(adapter, item) for item in tree[1]]
    if tag == TUPLE:
        return tuple([build(adapter, item) for item in tree[1]])
    if tag == DICT:
        return {build(adapter, key): build(adapter, value) for key, value in tree[1]}
    raise ValueError("unknown tag %r" % (tag,))
