"""The search for inputs that make an operation fail, level by level.

The soft assertions of all open sites are differentiated in one run; a ladder of steps along each
direction (multiplicative, so that a few runs span the floating-point range) is tried, then values a
tester would try. What fails is shrunk at once (attempts.py).
"""

import itertools
import time

import numpy as np

from . import candidates, coincident, descent
from ..report.findings import Found
from ..steer import registry, soft_assertions
from ..watch.monitor import Policy
from .attempts import Attempts

# Seconds of processor time for runs of the whole training, beyond the first three.
TRAINING = 0.1
# The same where the program updates its weights by its own formulas.
UPDATES = 1.0


class Search:
    def __init__(self, runner, space, collected, options):
        self.runner = runner
        self.space = space
        self.collected = collected
        self.options = options
        self.attempts = Attempts(
            runner, space, collected, options["exhaustive"], options["stop_on_failure"]
        )

    # Levels ------------------------------------------------------------------------------------

    def own_run(self):
        baseline = self.runner.baseline
        for failure in baseline.failures:
            key = failure.site.key()
            if key not in self.collected:
                found = Found(failure, {}, 0, "the program's own data", self.space)
                # Where what failed goes decides how much it counts.
                found.confirm(self.runner)
                found.elapsed = baseline.seconds
                self.collected.keep(key, found)

    def run_levels(self, highest):
        inputs, weights = self.space.inputs, self.space.weights
        for level, possible in ((1, inputs + self.space.names), (2, inputs), (3, weights)):
            if highest >= level and possible and not self.attempts.finished():
                self.explore(level)
        if (
            highest >= 4
            and self.runner.baseline.backward_calls
            and inputs
            and not self.attempts.finished()
        ):
            self.training()

    def explore(self, level):
        attempts, inputs, weights = self.attempts, self.space.inputs, self.space.weights
        variables = inputs if level < 3 else weights + inputs
        if attempts.open_sites() and self.options["gradient"]:
            self.directed(level, variables)
        if level == 1:
            attempts.several(candidates.inner(inputs), 1)
            attempts.several(candidates.absent(self.space.names), 1)
            if any(registry.ends_at_a_value(site.function) for site in attempts.open_sites()):
                attempts.several(coincident.points(inputs), 1)
            self.climb(1)
        elif level == 2:
            for ladder in candidates.outer(inputs):
                attempts.several(ladder, 2, ladder=True)
            attempts.several(candidates.tiny(inputs), 2)
            self.climb(2)
            attempts.several(candidates.far(inputs), 2)
            attempts.several(candidates.absurd(inputs), 2)
        else:
            attempts.several(candidates.learned(weights, inputs), 3)
            attempts.several(candidates.heavier(weights), 3)
            attempts.several(_together(weights + inputs), 3)

    def climb(self, level):
        """Tries every open site that gradients do not reach."""
        descent.climb(
            self.attempts,
            self.space.inputs,
            level,
            self.options["timeout"],
            descent.Habits(self.options["oscillation"], self.options["mutation_rate"]),
        )

    def training(self):
        """Level L4: the program's own training steps on data inside its own range, until one of
        them fails or a few runs and TRAINING seconds are spent. What the program itself computes after its first
        backward pass (an optimizer by hand) was out of reach until here: it gets more, on data whose gradients
        vanish first, and is looked at once."""
        runner = self.runner
        begun, late = time.process_time(), self._after_backward()
        tries, seconds = candidates.inner(self.space.inputs), TRAINING
        if late:
            tries = itertools.chain(candidates.idle(self.space.inputs), tries)
            seconds = UPDATES
        for number, (label, overrides) in enumerate(tries):
            if runner.over() or number >= 3 and time.process_time() - begun > seconds:
                return
            trace = runner.run(
                Policy(
                    overrides=overrides,
                    watch_gradients=True,
                    backward_limit=2 if late and number >= 3 else None,
                    time_limit=min(1.0, runner.time_limit, runner.budget.left() + 0.01),
                )
            )
            for failure in trace.failures:
                if failure.site.key() not in self.collected and self.attempts.accept(
                    failure, overrides, 4, label
                ):
                    return
            if trace.seconds > 0.5:
                return

    def _after_backward(self):
        """Open sites that the program reaches only after its first backward pass."""
        baseline = self.runner.baseline
        if baseline.first_backward is None:
            return []
        return [
            site
            for site in self.attempts.open_sites()
            if baseline.first_hit[site] > baseline.first_backward
        ]

    # Directions --------------------------------------------------------------------------------

    def directed(self, level, variables):
        """Follows the soft assertions of the open sites."""
        attempts = self.attempts
        aims = attempts.aims(attempts.open_sites())
        share = self.options["timeout"] / max(4, len(attempts.sites))
        for site in attempts.sites:
            attempts.give_site(share)
            for label, _, gradients in aims.get(site, []):
                if self.runner.over() or attempts.finished():
                    return
                if self.collected.closed(site):
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
        source = soft_assertions.source(site.function)
        words = "%s by %s soft assertion of %s" % (label, source, site.function)
        for number, step in enumerate(steps):
            masked = 0
            for signed in (True, False):
                overrides = dict(
                    (v.key, _step(v, gradients[v.key], step, signed, level)) for v in usable
                )
                if self.attempts.attempt(words, overrides, level):
                    if site.key() in self.collected:
                        return
                masked += self.attempts.masked(site)
                if self.attempts.site_over():
                    return
            # The largest step, the first, left it unharmed: smaller ones will too. A smaller one
            # fails before the site is reached: so do those between.
            if level > 1 and (masked == 2 if number else masked == 0):
                return


def _together(variables):
    for factor in (10.0, 100.0, 1e3):
        yield (
            "weights and inputs times %g" % factor,
            dict((v.key, v.clip(v.own * factor, 2)) for v in variables),
        )
    # A network that says nothing yet, about data that say nothing.
    yield "weights and inputs zero", dict((v.key, v.clip(0.0 * v.own, 2)) for v in variables)


def _step(variable, gradient, step, signed, level):
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
