"""The same data, trained by scikit-learn: `python scikit_learn.py FOLDER`.

FOLDER holds what `cargo bench -p fissure-assertions --bench training -- PYTHON FOLDER` wrote. Needs scikit-learn;
prints macro-F1 on the held-out data and the seconds of training, per function and kind of model, on two
cores as our own training.
"""

import glob
import json
import os
import struct
import sys
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import f1_score

TYPES = {"F64": "<f8", "U8": "u1"}


def arrays(path):
    """The arrays of a safetensors file."""
    with open(path, "rb") as handle:
        data = handle.read()
    length = struct.unpack("<Q", data[:8])[0]
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        yield name, np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])


def trained(model, data, single):
    # Forests of scikit-learn keep thresholds and features in float32: beyond its range they refuse.
    limit = float(np.finfo(np.float32).max) if single else np.inf
    training, held_out = (np.clip(data[name], -limit, limit) for name in ("train", "held_out"))
    begun = time.perf_counter()
    model.fit(training, data["train_labels"])
    seconds = time.perf_counter() - begun
    score = f1_score(data["held_out_labels"], model.predict(held_out), average="macro")
    return "%.4f in %.2f s" % (score, seconds)


def main():
    # Sums over features at the ends of float64 overflow in scikit-learn's check for finite numbers.
    np.seterr(all="ignore")
    print("| function | random forest, 12 trees | random forest, 100 trees | histogram boosting |")
    print("|---|---|---|---|")
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.safetensors"))):
        data = dict(arrays(path))
        cells = [
            trained(RandomForestClassifier(12, random_state=0, n_jobs=2), data, True),
            trained(RandomForestClassifier(100, random_state=0, n_jobs=2), data, True),
            trained(HistGradientBoostingClassifier(random_state=0), data, False),
        ]
        name = os.path.basename(path)[: -len(".safetensors")]
        print("| %s | %s |" % (name, " | ".join(cells)), flush=True)


main()
