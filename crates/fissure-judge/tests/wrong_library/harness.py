"""Runs an oracle on a call of ordinary Python values, and tells what came of it as JSON.

Scripts here are started as `python SCRIPT ROOT …` with the root of the checkout.
"""

import importlib
import json
import os
import sys
import types
import warnings

ROOT = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "testdata", "wrong"))
package = types.ModuleType("fissure_worker")
package.__path__ = [os.path.join(ROOT, "python", "fissure_worker")]
sys.modules["fissure_worker"] = package
# Beside it: what the oracle of sweeps asks.
sys.path.append(os.path.join(ROOT, "python"))
warnings.simplefilter("ignore")

import torch

from fissure_worker import oracles
from fissure_worker.build import resolve
from fissure_worker.oracles.call import Call, plain_call

torch.set_num_threads(1)
torch.manual_seed(0)


def prepared(path, arguments, keywords=None, layer=None):
    function = resolve(path)
    call = plain_call(function, arguments, keywords or {}, layer, path=path)
    if call.error is not None:
        raise call.error
    # Dear oracles leave slow calls alone; how busy the machine is must not decide a test.
    call.seconds = 1e-4
    return call


def judged(oracle, library, function, arguments, **options):
    """Details of the reports, each with its check source, and failures of the oracle itself."""
    return outcome(oracle, prepared("%s.%s" % (library, function), arguments, **options))


def judged_made(oracle, path, make):
    """The same for a call whose arguments a function makes."""
    call = Call(path, resolve(path), None, torch, make)
    call.first(call.build())
    return outcome(oracle, call)


def outcome(oracle, call):
    judgement = oracles.judge(call, [oracle], lambda judgement, report: None)
    return {
        "reports": [report["detail"] for report in judgement.reports],
        "failures": [text for _, text in judgement.failures],
        "signal": 0,
    }


def fresh_process(oracle, library, function, arguments):
    """The same in a process of its own: what was announced last, and how the process ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        call = prepared("%s.%s" % (library, function), arguments)

        def announce(judgement, report):
            os.write(writer, json.dumps([report["detail"], report["check"]]).encode() + b"\n")

        oracles.judge(call, [oracle], announce)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        told = [json.loads(line) for line in stream]
    _, status = os.waitpid(child, 0)
    signal = status & 0x7F
    last = [told[-1][0]] if signal else []
    if last and "def check():" not in told[-1][1]:
        last = ["announced without a source"]
    return {"reports": last, "failures": [], "signal": signal}


def tell(oracle, name, expected, outcome):
    line = dict(outcome, oracle=oracle, name=name, expected=expected)
    print(json.dumps(line), flush=True)


def module(name):
    return importlib.import_module("fissure_worker.oracles." + name)
