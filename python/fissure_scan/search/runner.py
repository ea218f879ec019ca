"""Runs of the program within the time of a search, counted."""

import time

# Operations of a function whose runs all go to their end, so that they can be differentiated.
_DIFFERENTIATED = 400


class Budget:
    """Seconds on the clock: the command promises when it ends."""

    def __init__(self, seconds):
        self.started = time.perf_counter()
        self.seconds = seconds

    def over(self):
        return self.left() <= 0.0

    def left(self):
        return max(0.0, self.seconds - (time.perf_counter() - self.started))


class Effort(Budget):
    """Seconds of processor time, so that a busy machine does as much as an idle one; no more than three times as many
    on the clock."""

    def __init__(self, seconds):
        Budget.__init__(self, seconds)
        self._processor = time.process_time()

    def left(self):
        used = time.process_time() - self._processor
        waited = (time.perf_counter() - self.started) / 3.0
        return max(0.0, self.seconds - max(used, waited))


class Runner:
    """The program, how far and how long it is let run, and how often it was."""

    def __init__(self, program, baseline, seconds, most_runs):
        self.program = program
        self.baseline = baseline
        program.settings.infos = baseline.inputs
        self.budget = Budget(seconds)
        self.most_runs = most_runs  # None: as many as the time allows
        self.runs = 0
        self.trains = baseline.backward_calls > 0 or baseline.differentiated
        last = max([baseline.first_hit[site] for site in baseline.hits] or [0])
        self.horizon = max(60, 2 * last)
        if baseline.differentiated and baseline.operations <= _DIFFERENTIATED:
            # Its slopes come after its last operation.
            self.horizon = max(self.horizon, 2 * baseline.operations)
        if baseline.stopped is not None:
            # What comes after its last operation is the endless part.
            self.horizon = min(self.horizon, max(1, baseline.operations))
        self.far_horizon = max(400, 4 * self.horizon) if baseline.stopped is None else self.horizon
        self.time_limit = min(10.0, max(1.0, 5 * baseline.seconds))

    def over(self):
        return self.budget.over() or (self.most_runs is not None and self.runs >= self.most_runs)

    def run(self, policy, change=None):
        """One run; under a change (changes.py) where one is given."""
        self.runs += 1
        if change is None:
            return self.program.run(policy)
        return change.run(self.program, policy)
