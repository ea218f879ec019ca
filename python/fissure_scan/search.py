"""The search for inputs that make an operation fail, level by level.

Sites share runs: every run is judged at every operation, whichever site it was meant for. The soft
assertions of all open sites are differentiated in one run; a ladder of steps along each direction
(multiplicative, so that a few runs span the floating-point range) is tried, then values a tester
would try. What fails is shrunk at once (shrink.py).
"""

import time

import numpy as np

from . import candidates, soft_assertions
from .findings import Found
from .monitor import Policy
from .shrink import shrink


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
        self.inputs = inputs                # variables of levels L1 and L2
        self.weights = weights              # variables of level L3
        self.options = options
        self.note = note
        self.budget = Budget(options["timeout"])
        self.found = {}                     # site key -> Found
        self.tried = set()
        self.shrunk = {}
        self.shrinking = 0.0                # seconds spent on making failing inputs smaller
        self.site_deadline = 0.0
        self.runs = 0
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
        elif level == 2:
            self.attempts(candidates.outer(self.inputs), 2)
            if self.open_sites():
                self.climb(2)
            self.attempts(candidates.far(self.inputs), 2)
            self.attempts(candidates.absurd(self.inputs), 2)
        else:
            self.attempts(candidates.heavier(self.weights), 3)
            self.attempts(self._weights_and_inputs(), 3)

    def _weights_and_inputs(self):
        for factor in (10.0, 100.0, 1e3):
            yield ("weights and inputs times %g" % factor, dict(
                (v.key, v.clip(v.own * factor, 2)) for v in self.weights + self.inputs))

    def training(self):
        """Level L4: the program's own training steps on data inside its own range."""
        for label, overrides in candidates.inner(self.inputs):
            if self.over():
                return
            policy = Policy(overrides=overrides, watch_gradients=True,
                            time_limit=min(1.0, self.time_limit, self.budget.left() + 0.01))
            trace = self.program.run(policy)
            self.runs += 1
            for failure in trace.failures:
                if failure.site.key() not in self.found:
                    self._accept(failure, overrides, 4, label)
            if trace.seconds > 0.5:
                return

    # One attempt -------------------------------------------------------------------------------

    def policy(self, overrides, **more):
        return Policy(overrides=overrides, stop_after=more.pop("stop_after", self.horizon),
                      watch_gradients=more.pop("watch_gradients", self.trains),
                      backward_limit=more.pop("backward_limit", 1), time_limit=self.time_limit,
                      **more)

    def run(self, overrides, **more):
        self.runs += 1
        return self.program.run(self.policy(overrides, **more))

    def failures(self, overrides):
        """Failures before the first training step; later ones are level L4's."""
        trace = self.run(overrides)
        return [failure for failure in trace.failures
                if failure.after_steps == 0 or failure.oracle == "gradient_nonfinite"]

    def attempts(self, pairs, level):
        for label, overrides in pairs:
            if self.over() or self.finished():
                return
            self.attempt(label, overrides, level)

    def attempt(self, label, overrides, level):
        """Runs one candidate; True when it made something new fail."""
        mark = hash(tuple(sorted((key, value.tobytes()) for key, value in overrides.items())))
        if mark in self.tried:
            return False
        self.tried.add(mark)
        new = False
        for failure in self.failures(overrides):
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
        return new

    def _accept(self, failure, overrides, level, label):
        confirmed = None
        if level < 4:
            # Seen twice before it is worth shrinking; shrinking does not count as search time.
            if not any(other.site == failure.site for other in self.failures(overrides)):
                return False
            confirmed = time.perf_counter() - self.budget.started - self.shrinking
            begun = time.perf_counter()
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

    def open_sites(self):
        return [site for site in self.sites
                if site.key() not in self.found or self.found[site.key()].improvable()]

    def finished(self):
        """Nothing is left to look for: every site that can fail has failed already."""
        if self.options["stop_on_failure"] and any(
                found.severity != "theoretical" for found in self.found.values()):
            return True
        return not self.open_sites() and bool(self.found) and not self.options["exhaustive"]

    def over(self):
        limit = self.options["max_runs"]
        return self.budget.over() or (limit is not None and self.runs >= limit)

    # Directions --------------------------------------------------------------------------------

    def aims(self, overrides, sites):
        trace = self.run(overrides, connect=True, aim_sites=set(sites), watch_gradients=False,
                         backward_limit=None)
        if trace.error is not None and not self.program.settings.honour_no_grad:
            # Leaves in a region that the program keeps without gradients: respect it and go on.
            self.program.settings.honour_no_grad = True
            trace = self.run(overrides, connect=True, aim_sites=set(sites), watch_gradients=False,
                             backward_limit=None)
        return trace.aims

    def directed(self, level, variables):
        """Follows the soft assertions of the open sites."""
        aims = self.aims({}, self.open_sites())
        share = self.options["timeout"] / max(4, len(self.sites))
        for site in self.sites:
            # No site takes the time of the others.
            self.site_deadline = self.budget.left() - share
            for label, distance, gradients in aims.get(site, []):
                if self.over() or self.finished():
                    return
                if site.key() in self.found and not self.found[site.key()].improvable():
                    break
                usable = [v for v in variables if v.key in gradients
                          and gradients[v.key].shape == v.own.shape
                          and (level == 1 or v.unbounded())]
                if usable:
                    self._ladder(site, label, usable, gradients, level)

    def _ladder(self, site, label, usable, gradients, level):
        if level == 1:
            steps = (1.0, 0.5)
        elif level == 2:
            steps = (10.0, 100.0, 1e3, 1e4)
        else:
            steps = (10.0, 100.0, 1e3)
        for step in steps:
            for signed in (True, False):
                overrides = {}
                for variable in usable:
                    overrides[variable.key] = self._step(variable, gradients[variable.key], step,
                                                         signed, level)
                if self.attempt("%s by soft assertion of %s" % (label, site.function), overrides,
                                level):
                    if site.key() in self.found:
                        return
                if self.over() or self.budget.left() < self.site_deadline:
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

    def climb(self, level):
        """Direction search without gradient: keeps random moves that bring a site nearer. After
        some moves in a row without progress the step is halved."""
        patience, share = self.options["oscillation"], self.options["mutation_rate"]
        generator = np.random.Generator(np.random.PCG64(0))
        sites = [site for site in self.open_sites()]
        free = [v for v in self.inputs if v.unbounded() or v.inner_range()[0] < v.inner_range()[1]]
        if not free or not sites:
            return
        aims = self.aims({}, sites)
        for site in sites:
            best = min([distance for _, distance, _ in aims.get(site, [])] or [None],
                       key=lambda value: np.inf if value is None else value)
            if best is None or any(gradients for _, _, gradients in aims[site]):
                continue
            current = dict((v.key, v.own.copy()) for v in free)
            step, refused = 1.0, 0
            for _ in range(24):
                if self.over() or site.key() in self.found:
                    break
                moved = dict((v.key, v.clip(
                    current[v.key] + step * v.scale * generator.standard_normal(v.own.shape)
                    * (generator.random(v.own.shape) < share),
                    level if v.unbounded() else 1)) for v in free)
                if self.attempt("direction search for %s" % site.function, moved, level):
                    break
                answers = self.aims(moved, [site]).get(site, [])
                distance = min([value for _, value, _ in answers] or [np.inf])
                if distance < best:
                    best, current, step, refused = distance, moved, step * 2.0, 0
                    continue
                refused += 1
                if refused >= patience:
                    step, refused = max(step * 0.5, 1e-3), 0
