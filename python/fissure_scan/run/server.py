"""The process that has imported everything, and the forks of it that scan.

Modules are imported once, here; each target is scanned in a fork. A fork that the program kills, or
that hangs where no Python code can be interrupted, costs only itself: what it was doing stands in
the journal, becomes a finding, and the scan goes on in another fork without that input.
"""

import os
import select
import signal
import sys
import time

from . import catalogue, journal as journals
from ..report import crash
from .forking import unforkable
from .journal import Journal
from .session import Session
from .surroundings import LONGEST, delays

# The exit code of a fork whose own code failed, not the program's.
BROKEN = 70
# Forks of one target that may die before it is given up.
DEATHS = 4
# Seconds beyond a run's own limit before it is called a hang.
GRACE = 8.0


class Death:
    """How a fork ended that was not meant to end, and what it was doing."""

    def __init__(self, kind, text, journal):
        self.kind = kind  # "crash", "hang", "exit" (by itself) or "broken" (our own code)
        self.text = text
        self.phase = journal.state()[0]
        self.run = journal.last_run()
        self.place = journal.last_place()


class Server:
    def __init__(self, plan, channel):
        self.plan = plan
        self.channel = channel
        self.deadline = time.monotonic() + plan["timeout"]
        self.child = None
        self.interrupted = False
        self.journal = Journal()
        self.number = 0  # of findings, over all targets

    def run(self):
        plan = self.plan
        if plan.get("function"):
            self.scan(plan, plan["timeout"], alone=True)
        elif plan.get("kind", "script") == "script":
            outcome = self.scan(plan, plan["timeout"], alone=True)
            if outcome == Session.NOTHING and not self.interrupted:
                self.scan_many()
        else:
            self.scan_many()

    # Many targets --------------------------------------------------------------------------------

    def scan_many(self):
        found, problems = catalogue.of(self.plan)
        for name, message in problems:
            self._done(name, None, None, message)
        if not found and not problems:
            name = self.plan.get("module") or os.path.basename(self.plan.get("file") or "it")
            self._done(name, None, None, "it defines no function or class of its own")
        for position, target in enumerate(found):
            left = self.deadline - time.monotonic()
            if left < 1.0 or self.interrupted:
                self._done(
                    target.name,
                    target.file,
                    target.line,
                    "no time was left for it (--total-time gives more)",
                )
                continue
            # What one target leaves is there for the next ones.
            share = min(left, max(4.0, 2.0 * left / (len(found) - position)))
            plan = dict(
                self.plan,
                function=target.function,
                module=target.module,
                file=target.path,
                kind="function",
                target=target.name,
                timeout=share,
                own_run_timeout=min(self.plan["own_run_timeout"], share / 2.0),
            )
            self.channel.emit("target", name=target.name, file=target.file, line=target.line)
            self.scan(plan, share, alone=False, target=target)

    def _done(self, name, file, line, problem, operations=0):
        """A target that no session speaks of any more."""
        self.channel.emit(
            "target_done",
            name=name,
            file=file,
            line=line,
            operations=operations,
            runs=0,
            problem=problem,
        )

    # One target ----------------------------------------------------------------------------------

    def scan(self, plan, seconds, alone, target=None):
        """Scans one target in forks; returns how it went."""
        reason = unforkable()
        if reason is not None:
            if alone:
                self.channel.emit("note", text="runs are made in one process: %s" % reason)
                return Session(plan, self.channel).whole()
            return self._fresh(plan, target, reason)
        deaths = []
        ends = time.monotonic() + seconds
        while True:
            left = max(2.0, ends - time.monotonic())
            outcome = self._fork(dict(plan, timeout=min(plan["timeout"], left)), deaths)
            if not isinstance(outcome, Death):
                return outcome
            self.channel.emit(
                "note",
                text="%s %s"
                % (
                    outcome.text,
                    "while fixes were checked" if outcome.phase == journals.REPORT else "in a run",
                ),
            )
            if outcome.phase == journals.REPORT:
                self._answer()
                if target is not None:
                    self._done(target.name, target.file, target.line, None, operations=1)
                return Session.SEARCHED
            deaths.append(outcome)
            if outcome.phase == journals.ARGUMENTS and outcome.kind == "crash":
                # Other arguments are tried; those that kill it are a finding.
                if sum(1 for death in deaths if death.phase == journals.ARGUMENTS) == 1:
                    self.channel.emit("finding", **crash.record(plan, outcome, made_up=True))
            if (
                outcome.phase in (journals.OWN, journals.IDLE)
                or len(deaths) >= DEATHS
                or outcome.kind in ("broken", "exit")
            ):
                return self._given_up(plan, deaths, alone, target)

    def _fork(self, plan, deaths):
        self.journal.clear()
        reading, writing = os.pipe()
        sys.stdout.flush()
        process = os.fork()
        if not process:
            os.close(reading)
            self._work(plan, deaths)
        os.close(writing)
        self.child = process
        killed = self._watch(process, reading)
        os.close(reading)
        _, status = os.waitpid(process, 0)
        self.child = None
        if killed is not None:
            return Death("hang", killed, self.journal)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return Death("crash", "the process ended by %s" % signal_name(number), self.journal)
        code = os.WEXITSTATUS(status)
        if code in (Session.SEARCHED, Session.NOTHING, Session.REFUSED):
            return code
        if code == BROKEN:
            return Death("broken", "the scan itself failed (its log says where)", self.journal)
        return Death("exit", "the program ended its process with exit code %d" % code, self.journal)

    def _work(self, plan, deaths):
        """The fork: one session from its own run to the checks of its fixes."""
        code = BROKEN
        try:
            self.channel.end_with_peer()
            session = Session(plan, self.channel, self.journal, deaths)
            try:
                code = session.whole()
            except KeyboardInterrupt:
                code = Session.SEARCHED
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _watch(self, process, reading):
        """Waits for the end of a fork; a text when it had to be killed."""
        began, delayed = None, 0.0
        while True:
            try:
                ready = select.select([reading], [], [], 0.5)[0]
            except InterruptedError:
                continue
            if ready:
                return None
            phase, taken, limit = self.journal.state()
            if taken is None or not limit:
                continue
            if began is None or time.monotonic() - taken > began + 0.25:
                # Another run than at the last look.
                began, delayed = time.monotonic() - taken, delays(process)
            counted = taken - (delays(process) - delayed)
            if counted > 2.0 * limit + GRACE or taken > LONGEST * limit + 2.0 * GRACE:
                os.kill(process, signal.SIGKILL)
                return (
                    "the call did not come back within %.0f s and could not be interrupted" % taken
                )

    def _given_up(self, plan, deaths, alone, target):
        """Nothing more can be searched; what killed the process is the finding."""
        last = deaths[-1]
        if (
            last.phase in (journals.OWN, journals.SEARCH)
            and not last.run.kind
            and last.kind in ("crash", "hang")
        ):
            self.channel.emit("finding", **crash.record(plan, last))
            self.channel.emit("searched", seconds=0.0, runs=1, out_of_time=False)
            self._answer()
        elif alone:
            self.channel.emit("failed", kind="program", file=None, line=None, message=last.text)
        if target is not None:
            self._done(target.name, target.file, target.line, last.text)
        return Session.SEARCHED

    def _answer(self):
        """Nothing can be checked here: the program kills the process."""
        waiting = self.journal.waiting()
        if waiting:
            finding, fix = waiting.split("\n")
            self.channel.emit(
                "checked",
                finding=finding,
                fix=int(fix),
                passed=False,
                reason="the check ended its process",
            )
        for command in self.channel.commands():
            if command.get("command") == "finish":
                return
            self.channel.emit(
                "checked",
                finding=command["finding"],
                fix=command["fix"],
                passed=False,
                reason="the program ends its process",
            )

    def _fresh(self, plan, target, reason):
        """A fresh interpreter for a target whose imports leave threads behind."""
        import json
        import subprocess
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as handle:
            json.dump(dict(plan, alone=True, many=True), handle)
        if not self.number:
            self.channel.emit("note", text="each function runs in a fresh process: %s" % reason)
        self.number += 1
        descriptor = self.channel.descriptor()
        try:
            run = subprocess.run(
                [sys.executable, sys.argv[0], handle.name, str(descriptor)],
                pass_fds=[descriptor],
                timeout=plan["timeout"] * 2 + 60,
            )
            problem = (
                None
                if run.returncode >= 0
                else "the process ended by %s" % signal_name(-run.returncode)
            )
        except subprocess.TimeoutExpired:
            problem = "nothing was heard from it in time"
        os.unlink(handle.name)
        if problem is not None:
            self._done(target.name, target.file, target.line, problem)
        return Session.SEARCHED

    # Ctrl-C --------------------------------------------------------------------------------------

    def forward_interrupts(self):
        """Ctrl-C is for the fork, which reports what it has; no further target is begun."""

        def ring(number, frame):
            self.interrupted = True
            if self.child is None:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                raise KeyboardInterrupt()
            os.kill(self.child, signal.SIGINT)

        signal.signal(signal.SIGINT, ring)


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number
