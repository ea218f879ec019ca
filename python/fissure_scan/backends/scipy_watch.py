"""The functions of `scipy.linalg` on watched arrays: operations like those of `numpy.linalg`.

They are compiled code that gives plain arrays. They are replaced once and stay replaced, because
`from scipy.linalg import cholesky` copies them into the program; without a run that goes on they only
pass the call on. What `scipy.special` computes is seen by NumPy's protocol of ufuncs.
"""

import functools
import inspect
import sys

from ..watch import operations
from . import numpy_backend

_DONE = set()


def install():
    module = sys.modules.get("scipy.linalg")
    if module is None or module in _DONE:
        return
    _DONE.add(module)
    for name in getattr(module, "__all__", ()):
        original = getattr(module, name)
        if inspect.isfunction(original):
            setattr(module, name, _watched(name, original))


def _watched(name, original):
    known = operations.TABLE.called("linalg_" + name) or operations.called(name)

    @functools.wraps(original)
    def function(*arguments, **keywords):
        if not any(
            isinstance(value, numpy_backend.TracedArray)
            for value in list(arguments) + list(keywords.values())
        ):
            return original(*arguments, **keywords)

        def call():
            return numpy_backend.traced(
                original(*numpy_backend.plain(arguments), **numpy_backend.plain(keywords))
            )

        return numpy_backend.observe(known, original, arguments, keywords, call)

    return function
