"""How the program is told which function is meant."""

import os
import sys

from fissure._program import FissureError


class Target:
    """A function by name, and the folder that its module is imported from."""

    def __init__(self, name, folder=None):
        self.name = name
        self.folder = folder

    def reference(self):
        """The same in the form of `--reference`: `package.module:function`."""
        return self.name if ":" in self.name else ":".join(_split(self.name))


def _split(name):
    module, _, function = name.rpartition(".")
    return module, function


def target_of(function):
    """Of a function, a class, or a text that is passed on as it is."""
    if isinstance(function, str):
        return Target(function)
    wrapped = getattr(function, "__wrapped__", None)
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None and wrapped is not None:
        return target_of(wrapped)
    if not name or not module:
        raise FissureError("%r has no name that another process could import it by" % (function,))
    if "<locals>" in name or "<lambda>" in name:
        raise FissureError(
            "`%s` is made inside another function; another process can only import what stands at "
            "the top of a module" % name
        )
    if module == "__main__":
        path = getattr(sys.modules["__main__"], "__file__", None)
        if path is None:
            raise FissureError(
                "`%s` was typed in here and is in no file; in a notebook, put it into one with "
                "`%%%%writefile functions.py` and import it from there" % name
            )
        return Target("%s::%s" % (os.path.abspath(path), name), os.path.dirname(path) or ".")
    return Target("%s.%s" % (module, name), _import_folder(module))


def _import_folder(module):
    """The entry of sys.path under which a module was found; None for installed packages."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if path is None:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    depth = module.count(".") + (os.path.basename(path) == "__init__.py")
    for _ in range(depth):
        folder = os.path.dirname(folder)
    installed = "site-packages" in folder or "dist-packages" in folder
    return None if installed or folder == os.path.dirname(os.__file__) else folder
