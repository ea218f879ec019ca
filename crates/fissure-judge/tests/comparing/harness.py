"""Runs oracles on calls of ordinary Python functions: what the tests of oracles share.

Each test script is started as `python SCRIPT ROOT` with the root of the checkout, adds cases, and
prints one JSON object per line.
"""

import json
import os
import sys
import types
import warnings

ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "testdata", "wrong"))
package = types.ModuleType("fissure_worker")
package.__path__ = [os.path.join(ROOT, "python", "fissure_worker")]
sys.modules["fissure_worker"] = package
# Beside it: what the oracle of sweeps asks.
sys.path.append(os.path.join(ROOT, "python"))
warnings.simplefilter("ignore")

import torch

from fissure_worker import oracles
from fissure_worker.oracles.call import plain_call

torch.set_num_threads(1)
torch.manual_seed(5)


def judged(oracle, function, arguments, keywords=None, layer=None, path=None):
    """What one oracle says of one call: (details of its reports, its own failures)."""
    call = plain_call(function, arguments, keywords or {}, layer, path=path)
    if call.error is not None:
        return [], ["the call raised %r" % call.error]
    judgement = oracles.judge(call, [oracle], lambda judgement, report: None)
    details = [report["detail"] for report in judgement.reports]
    return details, [text for _, text in judgement.failures]


def tell(name, oracle, outcome):
    reports, failures = outcome
    line = {"name": name, "oracle": oracle, "reports": reports, "failures": failures}
    print(json.dumps(line), flush=True)
