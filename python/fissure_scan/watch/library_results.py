"""Arrays of NumPy that a library gives to the program: watched from there on, and inputs where the
library gives data. What was finite in the program's own run and is not any more was made by the library: that call
is where it failed. See run/instrument.py for who asks."""

import builtins
import sys

from . import operations
from .trace import Failure, Node, Site
from ..run import instrument


# Between runs nobody asks.
setattr(builtins, instrument.NAME, lambda value, path=None: value)


def install(applied, monitor):
    """The question of the program's expressions, answered for one run."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    from ..backends import numpy_backend

    plain, numbers = numpy.ndarray, (float, numpy.float64, numpy.float32)
    known, trace = monitor.settings.given, monitor.trace

    def looked(parts, frame, path):
        """Is it finite, as in the program's own run? Where the program itself has failed already, it says nothing."""
        finite = all(
            bool(numpy.isfinite(part).all())
            for part in parts
            if type(part) in numbers or type(part) is plain and part.dtype.kind == "f"
        )
        place = (frame.f_code.co_filename, frame.f_lineno, path)
        if known is None:
            trace.given[place] = trace.given.get(place, True) and finite
        elif not finite and known.get(place) and not trace.failures and not monitor.bad:
            return failed(frame, path)
        return None

    def failed(frame, path):
        name = path.rpartition(".")[2]
        site = Site(frame.f_code.co_filename, frame.f_lineno, name, frame.f_code.co_name)
        trace.operations += 1
        node = Node(trace.operations, name, None, (), {}, (), [], site, "numpy")
        node.output_bad = True
        detail = "%s gives NaN or Inf, where it gave finite numbers before" % path
        trace.failures.append(
            Failure("nonfinite", node, detail, (), {}, None, False, trace.backward_calls)
        )
        return node

    def follow(node, arrays):
        """What becomes of the NaN or Inf is seen by the operations that get the arrays."""
        node.outputs, node.output = list(arrays), arrays[0]
        trace.nodes.append(node)
        for array in arrays:
            trace.producers[id(array)] = node
            if not bool(numpy.isfinite(numpy_backend.plain(array)).all()):
                monitor.bad.add(id(array))

    def asked(value, path=None):
        kind = type(value)
        if kind in numbers:
            if path is not None and monitor.active:
                looked((value,), sys._getframe(1), path)
            return value
        if kind is plain:
            parts = (value,)
        elif kind is tuple and any(type(item) is plain for item in value):
            parts = value
        elif isinstance(value, tuple):
            # Numbers by name, as tests of statistics give them.
            if path is not None and monitor.active:
                looked(value, sys._getframe(1), path)
            return value
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
        node = looked(parts, frame, path) if path is not None and not data else None
        made = [
            given(item, frame, index, path if data else None) for index, item in enumerate(parts)
        ]
        if node is not None:
            follow(node, [item for item in made if numpy_backend.BACKEND.is_float(item)])
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
