"""Arrays of NumPy that a library gives to the program: watched from there on, and inputs where the
library gives data. See run/instrument.py for who asks."""

import builtins
import sys

from . import operations
from ..run import instrument


# Between runs nobody asks.
setattr(builtins, instrument.NAME, lambda value, path=None: value)


def install(applied, monitor):
    """The question of the program's expressions, answered for one run."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    from ..backends import numpy_backend

    plain = numpy.ndarray

    def asked(value, path=None):
        kind = type(value)
        if kind is plain:
            parts = (value,)
        elif kind is tuple and any(type(item) is plain for item in value):
            parts = value
        elif isinstance(value, dict) and path is not None:
            # A record of arrays, as data sets are.
            parts = tuple(value.values())
        else:
            return value
        if not monitor.active:
            return value
        frame = sys._getframe(1)
        data = instrument.gives_data(frame, path, operations.TABLE.data_modules)
        if isinstance(value, dict):
            if data:
                for index, (key, item) in enumerate(list(value.items())):
                    value[key] = given(item, frame, index, path)
            return value
        made = [
            given(item, frame, index, path if data else None) for index, item in enumerate(parts)
        ]
        return made[0] if kind is plain else tuple(made)

    def given(value, frame, index, path):
        if type(value) is not plain or value.dtype.kind not in "fiub":
            return value
        array = numpy_backend.traced(value)
        if path is not None:
            name = path.rpartition(".")[2]
            return monitor.created(numpy_backend.BACKEND, name, (), {}, array, frame, index)
        monitor.derived.add(id(array))
        monitor.trace.keep.append(array)
        return array

    applied.set(builtins, instrument.NAME, asked)
