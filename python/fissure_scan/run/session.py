"""One scan: own run, what was understood, search, findings, then the checks of proposed fixes."""

import gc
import os
import sys
import time

from . import loading, targets
from ..judge import numpy_precision, precision
from ..report import causes, crash, failing_input, reproduce, verify
from ..search import variations
from ..steer import learned, registry, soft_assertions
from ..watch import patches, whole_numbers
from ..search.candidates import Variable
from ..report.fix_check import FixCheck
from ..watch.monitor import Policy
from . import journal as journals
from ..report.findings import Found
from .differentiating import LIBRARIES
from .forking import unforkable
from ..watch.trace import Failure, Node, Site
from .program import Program
from ..search.collected import Collected
from ..search.loop import Search
from ..search.runner import Runner
from ..search.space import Space
from .understanding import LARGEST_INPUT, Understanding, elements


# Seconds for seeing whether the scripts of findings show them.
SCRIPTS_SECONDS = 30.0
# Of the time of a scan, the processor time for finding arguments: at most three times as much on the clock.
TRIAL_SHARE = 0.3
# Of the time of a scan, what the search leaves for them.
REPORT_SECONDS, REPORT_SHARE = 8.0, 0.15


def _safe(name):
    return "".join(letter if letter.isalnum() else "-" for letter in name)


class Session:
    # How a session went; also the exit codes of its process, which no program ends itself with.
    SEARCHED, NOTHING, REFUSED = 112, 110, 111

    def __init__(self, plan, channel, journal=None, deaths=()):
        self.plan = plan
        self.channel = channel
        self.program = Program(plan)
        self.program.journal = journal
        self.journal = journal
        self.deaths = list(deaths)  # of earlier forks: runs that are not made again
        self.program.forbidden = set(death.run.key() for death in self.deaths)
        self.problem = None  # why the target could not be scanned
        self.ends = time.monotonic() + plan["timeout"]
        functions = dict(plan["registry"])
        models = plan.get("assertions")
        if models is not None:
            soft_assertions.use(learned.Learned(models, channel))
            soft_assertions.learned().register(functions)
        registry.load(functions)
        self.findings = []
        self.runner = None  # with the space and what was collected, once a search began
        self.space = None
        self.collected = None
        self.fixes = None  # made when the first fix is to be checked
        self.baseline = None
        self.checking = 0.0  # seconds spent on running the scripts of findings
        self.scalars = []  # numbers that shape the computation

    def whole(self):
        """From the own run to the checks of fixes; how it went."""
        name = self.plan.get("target")
        if not self.start():
            if self.problem is not None and name is not None:
                self._done(0)
                return self.REFUSED
            if isinstance(self.problem, targets.Endless):
                self.channel.emit("searched", seconds=0.0, runs=1, out_of_time=False)
                self.serve()
                return self.SEARCHED
            if self.problem is not None:
                self.channel.emit(
                    "failed", kind="target", message=self.problem, file=self.program.file, line=None
                )
                return self.REFUSED
            return self.NOTHING if self._functions_instead() else self.SEARCHED
        if (
            self.baseline.operations == 0
            and name is None
            and not self.program.function
            and self.baseline.error is None
            and not self.plan.get("arguments")
        ):
            return self.NOTHING
        self.run_search()
        self.serve()
        if name is not None:
            self._done(self.runner.runs)
        return self.SEARCHED

    def _done(self, runs):
        code = self.program.synthesised
        self.channel.emit(
            "target_done",
            name=self.plan["target"],
            file=self.plan.get("file"),
            line=code.line if code is not None else None,
            operations=self.baseline.operations if self.baseline else 0,
            runs=runs,
            problem=self.problem,
        )

    def _endless(self, problem):
        """No call of the target comes back: that is the finding."""
        death = crash.Stopped("hang", "the call does not come back", problem.call, problem.place)
        self.channel.emit("finding", **crash.record(self.plan, death, made_up=True))

    def _phase(self, phase):
        if self.journal is not None:
            self.journal.phase(phase)

    # Before the search -------------------------------------------------------------------------

    def start(self):
        """The own run. Returns False when there is nothing to search."""
        if self.program.function:
            self._phase(journals.ARGUMENTS)
            self.problem = targets.choose_arguments(
                self.program,
                self.plan["config"]["tensor_size"],
                TRIAL_SHARE * self.plan["timeout"],
            )
            if isinstance(self.problem, targets.Endless):
                self._endless(self.problem)
            if self.problem:
                return False
        self._phase(journals.OWN)
        preloaded = patches.late_modules()
        self.baseline = self._own_run()
        if preloaded != patches.late_modules() and self.baseline.error is None:
            # A module of the program brought the library in; only now can it be watched.
            self.baseline = self._own_run()
        trace = self.baseline = self._differentiated(self.baseline)
        self.program.settings.given = trace.given
        self.channel.emit(
            "own_run",
            seconds=trace.seconds,
            operations=trace.operations,
            stopped=trace.stopped,
            error=trace.error,
            exit_code=trace.exit_code,
            training_steps=max(trace.optimizer_steps, trace.backward_calls),
            output=trace.stdout[-2000:],
            errors=trace.stderr[-2000:],
            unseen=list(dict.fromkeys(trace.unseen)),
            functions_instead=self._functions_instead(),
        )
        if trace.error is not None and trace.operations == 0:
            return False
        if trace.without_data() and not self.program.function:
            if not self._functions_instead():
                self.problem = (
                    "it computes with no data at all: standard input is empty in a scan, and files "
                    "that are not there too"
                )
            return False
        understanding = Understanding(self.plan, self.program, trace)
        understanding.calibrate()
        self.scalars, unknown = understanding.settings()
        if unknown is not None:
            self.channel.emit("unknown_inputs", **unknown)
        self.channel.emit("understood", **understanding.told(self.scalars))
        return True

    def _functions_instead(self):
        """A script whose run comes to no array operation, but that has functions to scan."""
        return bool(
            self.baseline is not None
            and (self.baseline.operations == 0 or self.baseline.without_data())
            and not self.program.function
            and self.program.file
            and loading.defines_functions(self.program.file)
        )

    def _differentiated(self, trace):
        """The own run of a target function with a backward pass behind it, where that is possible."""
        differentiation = self.program.differentiation
        if (
            not self.program.function
            or trace.error is not None
            or not any(library in sys.modules for library in LIBRARIES)
        ):
            return trace
        differentiation.wanted = True
        again = self._own_run()
        if again.differentiated and again.error is None and again.operations == trace.operations:
            return again
        differentiation.wanted = False
        return trace

    def _own_run(self):
        limit = min(self.plan["own_run_timeout"], max(5.0, 0.5 * (self.ends - time.monotonic())))
        return self.program.run(
            Policy(
                watch_gradients=True,
                time_limit=limit,
                backward_limit=self.plan.get("steps"),
            )
        )

    # The search --------------------------------------------------------------------------------

    def run_search(self):
        started = time.perf_counter()
        # The libraries' objects are here to stay: looking through them for garbage again and again
        # would cost more than the runs.
        gc.collect()
        gc.freeze()
        infos = [
            info
            for info in self.baseline.inputs.values()
            if not info.frozen and 0 not in info.shape()
        ]
        ranges = self.plan.get("inputs", {})
        inputs, weights = [], []
        config = self.plan["config"]
        for info in infos:
            low, high = ranges.get(info.name, (None, None))
            if elements(info.shape()) > LARGEST_INPUT:
                self._note("%s is too large to be searched" % info.name)
                continue
            variable = Variable(info, low, high)
            (weights if info.kind == "weight" else inputs).append(variable)
        if self.plan.get("weights"):
            inputs, weights = inputs + weights, []
        # Scripts of findings and fixes are run in the same time.
        kept = min(REPORT_SECONDS, REPORT_SHARE * self.plan["timeout"])
        left = max(1.0, self.ends - kept - time.monotonic())
        options = {
            "timeout": left,
            "exhaustive": bool(self.plan.get("strict")),
            "stop_on_failure": config["stop_on_failure"],
            "max_runs": config["max_fuzz_iterations"],
            "gradient": config["gradient_backprop"],
            "oscillation": config["oscillation_threshold"] or 2,
            "mutation_rate": config["mutation_rate"] or 1.0,
        }
        self.runner = Runner(self.program, self.baseline, left, options["max_runs"])
        self.space = Space(inputs, weights, self.baseline.inputs, self._names())
        self.collected = Collected(self.runner, self._note)
        search = Search(self.runner, self.space, self.collected, options)
        self._phase(journals.SEARCH)
        search.own_run()
        self._deaths()
        try:
            self._all_levels(search, config)
        except KeyboardInterrupt:
            # What was found until then is reported.
            pass
        self._phase(journals.REPORT)
        for found, same in causes.grouped(self.collected.ordered(), self.runner, self.space):
            self._report(found, same)
        self.channel.emit(
            "searched",
            seconds=time.perf_counter() - started,
            runs=self.runner.runs,
            out_of_time=self.runner.budget.over(),
        )

    def _names(self):
        """Labels and indices: some of the elements that they name may not occur."""
        return [
            Variable(info)
            for info in self.baseline.inputs.values()
            if info.frozen
            and info.why == whole_numbers.ONLY_INDICES
            and 0 < elements(info.shape()) <= LARGEST_INPUT
        ]

    def _deaths(self):
        """What killed earlier forks of this scan: findings, unless it was our own comparison."""
        for death in self.deaths:
            if (
                death.phase == journals.ARGUMENTS
                or death.run.kind
                or death.place is None
                or any(key not in self.space.by_key for key in death.run.overrides)
            ):
                continue
            file, line, name, scope = death.place
            node = Node(0, name, None, (), {}, (), [], Site(file, line, name, scope), "python")
            found = Found(
                Failure(death.kind, node, death.text),
                death.run.overrides,
                1,
                "a run that ended its process",
                self.space,
            )
            found.variation = death.run.change
            if not found.overrides and found.variation is not None:
                found.level = 2
                if getattr(getattr(found.variation, "how", None), "count", 1) == 0:
                    found.severity, found.reason = "theoretical", "with an empty input only"
            key = (file, line, name, death.kind)
            self.collected.keep_better(key, found)

    def _all_levels(self, search, config):
        level, where = self.plan["level"], (self.runner, self.space, self.collected)
        search.run_levels(level)
        if not self.runner.over() and not config["stop_on_failure"]:
            precision.examine(*where, level)
            numpy_precision.examine(*where, level)
        if level >= 2 and not self.runner.over() and not config["stop_on_failure"]:
            variations.Variations(*where, self.scalars, bool(self.plan.get("strict"))).run()

    def _note(self, text):
        self.channel.emit("note", text=text)

    def _report(self, found, same):
        identifier = "%s_line%d_%s" % (
            found.failure.site.function,
            found.failure.site.line,
            found.oracle,
        )
        if self.plan.get("target"):
            # Several targets of one scan may reach the same line.
            identifier = "%s_%s" % (_safe(self.plan["target"]), identifier)
        folder = os.path.join(self.plan["output"], identifier)
        os.makedirs(folder, exist_ok=True)
        if self.plan["config"]["save_inputs"]:
            failing_input.save(found, self.baseline.inputs, folder)
        script = os.path.join(folder, "reproduce.py")
        with open(script, "w", encoding="utf-8") as handle:
            handle.write(reproduce.script(self.program, found, folder))
        shown = self._shown(found, script)
        record = found.as_json(identifier)
        record["target"] = self.plan.get("target")
        record["folder"] = folder
        record["reproduced"] = shown
        record["same_cause"] = [other.failure.site.as_json() for other in same]
        self.findings.append((identifier, found))
        self.channel.emit("finding", **record)

    def _shown(self, found, script):
        """Whether the finding's script shows it; what it does not show is only a note."""
        limit = min(SCRIPTS_SECONDS, 0.5 * self.plan["timeout"])
        began = time.monotonic()
        late = self.checking > 0.0 and began > self.ends
        if found.severity == "theoretical" or self.checking > limit or late:
            return None
        # A program without an end shows it in its first steps, or not at all.
        endless = self.baseline.stopped == "time"
        seconds = 5.0 + 4.0 * (
            min(1.0, self.baseline.seconds) if endless else self.baseline.seconds
        )
        most = max(3.0, self.ends - began)
        shown = verify.shows(script, min(seconds, most), unforkable() is None, most)
        self.checking += time.monotonic() - began
        if shown is False:
            found.severity = "theoretical"
            found.reason = "its script did not show it again"
        return shown

    # Fixes -------------------------------------------------------------------------------------

    def serve(self):
        for command in self.channel.commands():
            if command.get("command") == "check":
                if self.journal is not None:
                    self.journal.asked("%s\n%d" % (command["finding"], command["fix"]))
                self._check(command)
                if self.journal is not None:
                    self.journal.asked("")
            elif command.get("command") == "finish":
                break

    def _check(self, command):
        """Runs the program with a changed source on the failing and on its own input."""
        if self.runner is None:
            self.channel.emit(
                "checked",
                finding=command["finding"],
                fix=command["fix"],
                passed=False,
                reason="the program does not come back",
            )
            return
        if self.fixes is None:
            self.fixes = FixCheck(self.runner, self.space.inputs, self.findings)
        passed, reason = self.fixes.judge(
            command["finding"], os.path.abspath(command["file"]), command["source"]
        )
        self.channel.emit(
            "checked",
            finding=command["finding"],
            fix=command["fix"],
            passed=passed,
            reason=reason,
            ordinary=self.fixes.compared if passed else 0,
        )
