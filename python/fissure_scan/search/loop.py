"""The search for inputs that make an operation fail, level by level.

Sites share runs: every run is judged at every operation, whichever site it was meant for. The soft
assertions of all open sites are differentiated in one run; a ladder of steps along each direction
(multiplicative, so that a few runs span the floating-point range) is tried, then values a tester
would try. What fails is shrunk at once (shrink.py).
"""

import time

import numpy as np

from . import candidates, descent
from ..steer import soft_assertions
from ..report.findings import Found
from ..watch.monitor import Policy
from ..watch.trace import Failure, Node, Site
from .shrink import shrink


# Runs that are given time to show whether they come back.
HANGS = 3
# Seconds of processor time for runs of the whole training, beyond the first three.
TRAINING = 0.1


class Budget:
    """Time of the search. Processor time counts, so that a busy machine finds the same things as
    an idle one; a program that waits instead of computing is ended by three times as much time on
    the clock."""

    def __init__(self, seconds):
        self.started = time.perf_counter()
        self.seconds = seconds
        self._processor = time.process_time()

    def over(self):
        return self.left() <= 0.0

    def left(self):
        used = time.process_time() - self._processor
        waited = (time.perf_counter() - self.started) / 3.0
        return max(0.0, self.seconds - max(used, waited))


class Search:
    def __init__(self, program, baseline, inputs, weights, options, note):
        self.program = program
        self.baseline = baseline
        program.settings.infos = baseline.inputs
        self.inputs = inputs  # variables of levels L1 and L2
        self.weights = weights  # variables of level L3
        self.options = options
        self.note = note
        self.budget = Budget(options["timeout"])
        self.found = {}  # site key -> Found
        self.tried = set()
        self.shrunk = {}
        self.shrinking = 0.0  # seconds spent on making failing inputs smaller
        self.site_deadline = 0.0
        self.first_failure = None  # operation of the last attempt that failed first
        self.aimed = {}  # site -> distances, of the last run that aimed
        self.measured = {}  # the same by candidate
        self.own_aims = {}  # site -> distances on the own data
        self.runs = 0
        self.hangs = 0  # runs that went on and on
        self.ended = set()  # of these, those that came back after all
        self.by_key = dict((v.key, v) for v in inputs + weights)
        hits = [site for site in baseline.hits if soft_assertions.can_fail(site.function)]
        self.sites = sorted(hits, key=lambda site: baseline.first_hit[site])
        last = max([baseline.first_hit[site] for site in baseline.hits] or [0])
        self.horizon = max(60, 2 * last)
        if baseline.stopped is not None:
            # What comes after its last operation is the endless part.
            self.horizon = min(self.horizon, max(1, baseline.operations))
        self.time_limit = min(10.0, max(1.0, 5 * baseline.seconds))
        self.far_horizon = max(400, 4 * self.horizon) if baseline.stopped is None else self.horizon
        self.trains = baseline.backward_calls > 0

    # Levels ------------------------------------------------------------------------------------

    def own_run(self):
        for failure in self.baseline.failures:
            key = failure.site.key()
            if key not in self.found:
                self.found[key] = Found(failure, {}, 0, "the program's own data", self)
                self.found[key].elapsed = self.baseline.seconds

    def run_levels(self, highest):
        for level, possible in ((1, self.inputs), (2, self.inputs), (3, self.weights)):
            if highest >= level and possible and not self.finished():
                self.explore(level)
        if highest >= 4 and self.trains and self.inputs and not self.finished():
            self.training()

    def explore(self, level):
        variables = self.inputs if level < 3 else self.weights + self.inputs
        if self.open_sites() and self.options["gradient"]:
            self.directed(level, variables)
        if level == 1:
            self.attempts(candidates.inner(self.inputs), 1)
            descent.climb(self, 1)
        elif level == 2:
            for ladder in candidates.outer(self.inputs):
                self.attempts(ladder, 2, ladder=True)
            self.attempts(candidates.tiny(self.inputs), 2)
            descent.climb(self, 2)
            self.attempts(candidates.far(self.inputs), 2)
            self.attempts(candidates.absurd(self.inputs), 2)
        else:
            self.attempts(candidates.heavier(self.weights), 3)
            self.attempts(self._weights_and_inputs(), 3)

    def _weights_and_inputs(self):
        for factor in (10.0, 100.0, 1e3):
            yield (
                "weights and inputs times %g" % factor,
                dict((v.key, v.clip(v.own * factor, 2)) for v in self.weights + self.inputs),
            )

    def training(self):
        """Level L4: the program's own training steps on data inside its own range, until one of
        them fails or a few runs and TRAINING seconds are spent."""
        begun = time.process_time()
        for number, (label, overrides) in enumerate(candidates.inner(self.inputs)):
            if self.over() or number >= 3 and time.process_time() - begun > TRAINING:
                return
            policy = Policy(
                overrides=overrides,
                watch_gradients=True,
                time_limit=min(1.0, self.time_limit, self.budget.left() + 0.01),
            )
            trace = self.program.run(policy)
            self.runs += 1
            for failure in trace.failures:
                if failure.site.key() not in self.found and self._accept(
                    failure, overrides, 4, label
                ):
                    return
            if trace.seconds > 0.5:
                return

    def made_up(self):
        """Are there arguments of a target function that neither a call nor a document gave?"""
        return any(info.made_up for info in self.baseline.inputs.values() if not info.frozen)

    # One attempt -------------------------------------------------------------------------------

    def policy(self, overrides, **more):
        return Policy(
            overrides=overrides,
            stop_after=more.pop("stop_after", self.horizon),
            watch_gradients=more.pop("watch_gradients", self.trains),
            backward_limit=more.pop("backward_limit", 1),
            time_limit=self.time_limit,
            **more,
        )

    def run(self, overrides, **more):
        self.runs += 1
        return self.program.run(self.policy(overrides, **more))

    def failures(self, overrides, aims=None):
        """Failures before the first training step; later ones are level L4's. `aimed` has the
        distances of the sites `aims` afterwards."""
        trace = self.run(overrides, aim_sites=aims)
        self.aimed = trace.aims
        if trace.stopped is not None and self._endless(trace, overrides):
            return []
        return [
            failure
            for failure in trace.failures
            if failure.after_steps == 0 or failure.oracle == "gradient_nonfinite"
        ]

    def _endless(self, trace, overrides):
        """A run that goes on where the own run ends: does it ever come back?"""
        own = self.baseline
        if (
            own.stopped is not None
            or self.hangs >= HANGS
            or not overrides
            or not (
                trace.stopped == "time"
                or trace.stopped == "operations"
                and trace.operations > 4 * own.operations
            )
        ):
            return False
        mark = hash(tuple(sorted((key, value.tobytes()) for key, value in overrides.items())))
        if mark in self.ended:
            return False
        self.hangs += 1
        patience = min(max(5.0, 50.0 * own.seconds), max(1.0, self.budget.left() / 4.0))
        again = self.program.run(Policy(overrides=overrides, time_limit=patience))
        self.runs += 1
        if again.stopped != "time" or again.place is None:
            self.ended.add(mark)
            return False
        file, line, scope = again.place
        node = Node(0, scope, None, (), {}, (), [], Site(file, line, scope, scope), "python")
        failure = Failure(
            "hang",
            node,
            "it still ran after %.0f s; the program's own data take "
            "%.2g s" % (patience, own.seconds),
        )
        found = Found(failure, overrides, 1, "a run that does not come back", self)
        self.found.setdefault((file, scope, "hang"), found)
        return True

    def attempts(self, pairs, level, ladder=False):
        """Tries one after the other; a ladder is left where its largest step showed every open
        site as it is: smaller steps will not make it fail either."""
        for label, overrides in pairs:
            if self.over() or self.finished():
                return
            self.attempt(label, overrides, level)
            if ladder and not any(self.masked(site) for site in self.open_sites()):
                return

    def attempt(self, label, overrides, level, aims=None):
        """Runs one candidate; True when it made something new fail."""
        mark = hash(tuple(sorted((key, value.tobytes()) for key, value in overrides.items())))
        if mark in self.tried:
            self.aimed, self.first_failure = self.measured.get(mark, {}), 0
            return False
        self.tried.add(mark)
        new = False
        failures = self.failures(overrides, aims)
        aimed = self.aimed
        if aims:
            self.measured[mark] = aimed
        self.first_failure = min(
            [failure.index for failure in failures] or [None], key=lambda index: index or 0
        )
        for failure in failures:
            key = failure.site.key()
            held = self.found.get(key)
            if held is not None and not held.improvable():
                continue
            # Shrinking costs runs: a site whose failures keep turning out as notes gets few tries
            # per level.
            tries = self.shrunk.get((key, level), 0)
            if tries >= 2:
                continue
            self.shrunk[(key, level)] = tries + 1
            new = self._accept(failure, overrides, level, label) or new
        self.aimed = aimed
        return new

    def _accept(self, failure, overrides, level, label):
        confirmed = None
        if level < 4:
            # Seen twice before it is worth shrinking; shrinking does not count as search time.
            if not any(other.site == failure.site for other in self.failures(overrides)):
                return False
            confirmed = time.perf_counter() - self.budget.started - self.shrinking
            begun = time.perf_counter()
            if self._stays_a_note(failure, overrides, level):
                small = overrides
            else:
                small = shrink(self, failure, overrides)
            self.shrinking += time.perf_counter() - begun
        else:
            small = overrides
        found = Found(failure, small, level, label, self)
        if not found.confirm():
            return False
        found.elapsed = confirmed
        if found.elapsed is None:
            found.elapsed = time.perf_counter() - self.budget.started - self.shrinking
        held = self.found.get(failure.site.key())
        if held is None or found.rank() < held.rank():
            self.found[failure.site.key()] = found
            self.note("%s %s at %s: %s" % (found.severity, found.oracle, failure.site, label))
            return True
        return False

    def _stays_a_note(self, failure, overrides, level):
        """Far values whose exact result does not fit either: the same pattern was tried nearer, so
        shrinking would not make a finding of it."""
        found = Found(failure, overrides, level, "", self)
        if found.severity == "theoretical":
            # Does it fail at the largest values that would count?
            overrides = dict(
                (key, self.by_key[key].nearer(value)) for key, value in overrides.items()
            )
            return not any(other.site == failure.site for other in self.failures(overrides))
        if found.severity == "medium" and found.confirm():
            return found.severity == "theoretical"
        return False

    def is_note(self, failure, overrides):
        return Found(failure, overrides, 1, "", self).severity == "theoretical"

    def open_sites(self):
        return [site for site in self.sites if not self.closed(site)]

    def masked(self, site):
        """In the last attempt something failed before this site was reached."""
        return self.first_failure is not None and self.first_failure < self.baseline.first_hit[site]

    def closed(self, site):
        return site.key() in self.found and not self.found[site.key()].improvable()

    def finished(self):
        """Nothing is left to look for: every site that can fail has failed already."""
        if self.options["stop_on_failure"] and any(
            found.severity != "theoretical" for found in self.found.values()
        ):
            return True
        return not self.open_sites() and bool(self.found) and not self.options["exhaustive"]

    def over(self):
        limit = self.options["max_runs"]
        return self.budget.over() or (limit is not None and self.runs >= limit)

    # Directions --------------------------------------------------------------------------------

    def aims(self, sites):
        """Distances and slopes on the program's own data, measured once."""
        if any(site not in self.own_aims for site in sites):
            measured = self._aims({}, sites)
            for site in sites:
                self.own_aims[site] = measured.get(site, [])
        return self.own_aims

    def _aims(self, overrides, sites):
        trace = self.run(
            overrides,
            connect=True,
            aim_sites=set(sites),
            watch_gradients=False,
            backward_limit=None,
        )
        if trace.error is not None and not self.program.settings.honour_no_grad:
            # Leaves in a region that the program keeps without gradients: respect it and go on.
            self.program.settings.honour_no_grad = True
            trace = self.run(
                overrides,
                connect=True,
                aim_sites=set(sites),
                watch_gradients=False,
                backward_limit=None,
            )
        return trace.aims

    def directed(self, level, variables):
        """Follows the soft assertions of the open sites."""
        aims = self.aims(self.open_sites())
        share = self.options["timeout"] / max(4, len(self.sites))
        for site in self.sites:
            # No site takes the time of the others.
            self.site_deadline = self.budget.left() - share
            for label, distance, gradients in aims.get(site, []):
                if self.over() or self.finished():
                    return
                if self.closed(site):
                    break
                usable = [
                    v
                    for v in variables
                    if v.key in gradients
                    and gradients[v.key].shape == v.own.shape
                    and (level == 1 or v.unbounded())
                ]
                if usable:
                    self._ladder(site, label, usable, gradients, level)

    def _ladder(self, site, label, usable, gradients, level):
        if level == 1:
            steps = (1.0, 0.5)
        elif level == 2:
            steps = (5e3, 10.0, 100.0, 1e3)
        else:
            steps = (1e3, 10.0, 100.0)
        for number, step in enumerate(steps):
            masked = 0
            for signed in (True, False):
                overrides = {}
                for variable in usable:
                    overrides[variable.key] = self._step(
                        variable, gradients[variable.key], step, signed, level
                    )
                source = soft_assertions.source(site.function)
                if self.attempt(
                    "%s by %s soft assertion of %s" % (label, source, site.function),
                    overrides,
                    level,
                ):
                    if site.key() in self.found:
                        return
                masked += self.masked(site)
                if self.over() or self.budget.left() < self.site_deadline:
                    return
            # The largest step, the first, left it unharmed: smaller ones will too. A smaller one
            # fails before the site is reached: so do those between.
            if level > 1 and (masked == 2 if number else masked == 0):
                return

    def _step(self, variable, gradient, step, signed, level):
        if level == 1:
            low, high = variable.inner_range()
            goal = np.where(gradient > 0, low, np.where(gradient < 0, high, variable.own))
            return variable.own + (goal - variable.own) * step
        if signed:
            direction = np.sign(gradient)
        else:
            largest = np.abs(gradient).max()
            direction = gradient / largest if largest > 0 else gradient
        return variable.clip(variable.own - direction * variable.scale * step, 2)
