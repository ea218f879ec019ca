"""Oracles that compare several runs of one call, one file each.

A module here has `PRICE` (calls of the target that it makes, roughly) and `check(call)`, which
yields a `Report` for everything that is wrong. What it yields is believed only after the report's
own check source, which a person will get as a script, says so too.

A module that has `observe(call)` instead of `check` does not judge: its answer, plain data, is handed on as the
`observed` of a report, as JSON.

It may also have `ONLY` (import names of the libraries that it is for), `unavailable(library)` (why
it cannot run here, or None) and `limited(library)` (why it does less than it could, or None).
"""

import importlib
import json
import sys
import time
import traceback

from fissure_worker import functions

#: Why oracles cannot run in this process, by name.
ANSWERS = {}
#: Reports that one oracle can make of one input; the rest says the same again.
MOST_REPORTS = 4
#: Seconds that an oracle may need by its price and the time of the first call; dearer ones are left
#: out for this input, because one slow call must not hold up thousands of others.
PATIENCE = 5.0
UNINITIALISED = "uninitialised"


class Judgement:
    """What came of one input: reports and costs as plain data, ready for JSON."""

    def __init__(self):
        self.reports = []
        #: `[oracle, nanoseconds]`, in the order in which they ran.
        self.costs = []
        #: `[oracle, traceback]` of oracles that failed themselves.
        self.failures = []

    def add(self, report):
        if report not in self.reports:
            self.reports.append(report)

    def plain(self, announced=None):
        return {
            "reports": self.reports,
            "costs": self.costs,
            "failures": self.failures,
            "announced": announced,
        }


def find(name):
    """The module of an oracle by the name it has in flags."""
    full = "%s.%s" % (__name__, name.replace("-", "_"))
    if full in sys.modules:
        return sys.modules[full]
    return importlib.import_module(full)


def preload(names, library):
    """What oracles need and is slow to load, loaded before workers are forked."""
    if names:
        functions.prepare()
    for name in names:
        module = find(name)
        only = getattr(module, "ONLY", None)
        load = getattr(module, "preload", None)
        if load is not None and (only is None or library.__name__ in only):
            load(library)


def obstacles(names, library):
    """What keeps oracles from running here: `[{oracle, reason, partly}]`."""
    found = []
    for name in names:
        reason, partly = unavailable(name, library), False
        if reason is None:
            reason, partly = ask(find(name), "limited", library), True
        if reason is not None:
            found.append({"oracle": name, "reason": reason, "partly": partly})
    return found


def unavailable(name, library):
    """Why an oracle cannot run here, or None; the library is asked once."""
    if name not in ANSWERS:
        module = find(name)
        only = getattr(module, "ONLY", None)
        if only is not None and library.__name__ not in only:
            ANSWERS[name] = "it is for %s only" % " and ".join(only)
        else:
            ANSWERS[name] = ask(module, "unavailable", library)
    return ANSWERS[name]


def ask(module, question, library):
    function = getattr(module, question, None)
    return None if function is None else function(library)


def observation(name, facts):
    """What a module that only looks has seen, in the form of a report."""
    text = json.dumps(facts)
    return {"oracle": name, "detail": "", "observed": text, "expected": "", "check": ""}


def uninitialised_memory(call, name):
    """What the oracle of that name says of a call which another oracle reports, in plain form; None where the result is
    made of what was written."""
    module = find(UNINITIALISED)
    if name in (UNINITIALISED, "meta") or call.is_foreign:
        return None
    report = module.explains(call)
    if report is None:
        return None
    confirmed, observed, expected = call.verify(report.source)
    return report.plain(UNINITIALISED, observed, expected) if confirmed else None


def judge(call, names, announce):
    """Runs the oracles one after the other on a call that was accepted.

    `announce(judgement, report)` is told, before anything that might end the process, what to
    report in that case.
    """
    judgement = Judgement()
    for name in names:
        begin = time.perf_counter_ns()
        try:
            module = find(name)
            if unavailable(name, call.library) is not None:
                continue
            # What it cannot do without; the rest of a dear oracle looks at the clock itself.
            least = getattr(module, "LEAST", module.PRICE)
            if call.seconds * least > PATIENCE:
                continue

            def tell(detail, source, name=name):
                report = {
                    "oracle": name,
                    "detail": detail,
                    "observed": "the process ended",
                    "expected": "a result, as from the plain call",
                    "check": source,
                }
                announce(judgement, report)

            call.teller = tell
            call.announce("a repeated call", call.plain_source())
            if hasattr(module, "observe"):
                judgement.reports.append(observation(name, module.observe(call)))
                continue
            found = 0
            for report in module.check(call):
                call.announce(report.detail, report.source)
                confirmed, observed, expected = call.verify(report.source)
                if not confirmed:
                    continue
                if not call.has_defined_weights:
                    break
                memory = uninitialised_memory(call, name)
                if memory is not None:
                    # In every variant another result: one cause, told once.
                    judgement.add(memory)
                    break
                judgement.add(report.plain(name, observed, expected))
                found += 1
                if found == MOST_REPORTS:
                    break
        except Exception:
            # Ours, not the library's: `Call.attempt` is how an oracle runs what may raise.
            judgement.failures.append([name, traceback.format_exc()[-2000:]])
        finally:
            call.teller = None
        judgement.costs.append([name, time.perf_counter_ns() - begin])
    return judgement
