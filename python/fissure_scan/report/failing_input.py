"""`inputs_failed.npy` of a finding: the failing input in a file that NumPy reads."""

import os

from ..backends.numpy_backend import ordinary_asarray
from ..search.candidates import Variable
from . import reproduce


def save(found, infos, folder):
    """inputs_failed.npy: the changed inputs as one structured array, readable without pickles."""
    import numpy

    if not found.overrides:
        fields = [
            (info.name, info)
            for info in infos.values()
            if info.kind != "weight" and not info.frozen
        ]
        values = dict((name, reproduce.stored(Variable(info).own, info)) for name, info in fields)
    else:
        values = dict(
            (infos[key].name, reproduce.stored(value, infos[key]))
            for key, value in found.overrides.items()
        )
    if found.variation is not None:
        values = dict((name, found.variation.cut(value)) for name, value in values.items())
    names = sorted(values)
    if not names:
        return
    dtype = [(name, values[name].dtype, values[name].shape) for name in names]
    record = numpy.zeros((), dtype=dtype)
    for name in names:
        record[name] = ordinary_asarray(values[name])
    numpy.save(os.path.join(folder, "inputs_failed.npy"), record, allow_pickle=False)
