"""One candidate after the other: run, judged at every operation, and what fails made small.

Sites share runs: every run is judged at every operation, whichever site it was meant for.
"""

import time

from ..report.findings import Found
from ..steer import soft_assertions
from ..watch.monitor import Policy
from ..watch.trace import Failure, Node, Site
from .shrink import shrink

# Tries per level of a place whose failures have no consequence as yet.
ABSORBED = 6
# Runs that are given time to show whether they come back.
HANGS = 3


class Attempts:
    def __init__(self, runner, space, collected, exhaustive, stop_on_failure):
        self.runner = runner
        self.space = space
        self.collected = collected
        self.exhaustive = exhaustive
        self.stop_on_failure = stop_on_failure
        baseline = runner.baseline
        hits = [site for site in baseline.hits if soft_assertions.can_fail(site.function)]
        self.sites = sorted(hits, key=lambda site: baseline.first_hit[site])
        self.site_deadline = 0.0
        self.first_failure = None  # operation of the last attempt that failed first
        self.aimed = {}  # site -> distances, of the last run that aimed
        self._measured = {}  # the same by candidate
        self._own_aims = {}  # site -> distances on the own data
        self._tried = set()
        self._shrunk = {}
        self._hangs = 0  # runs that went on and on
        self._ended = set()  # of these, those that came back after all

    # What is left ------------------------------------------------------------------------------

    def open_sites(self):
        return [site for site in self.sites if not self.collected.closed(site)]

    def masked(self, site):
        """In the last attempt something failed before this site was reached."""
        first = self.first_failure
        return first is not None and first < self.runner.baseline.first_hit[site]

    def finished(self):
        """Nothing is left to look for: every site that can fail has failed already."""
        held = self.collected.by_place
        if self.stop_on_failure and any(found.severity != "theoretical" for found in held.values()):
            return True
        return not self.open_sites() and bool(held) and not self.exhaustive

    def give_site(self, share):
        """No site takes the time of the others: this one has so many seconds."""
        self.site_deadline = self.runner.budget.left() - share

    def site_over(self):
        return self.runner.over() or self.runner.budget.left() < self.site_deadline

    # One attempt -------------------------------------------------------------------------------

    def run(self, overrides, **more):
        return self.runner.run(
            Policy(
                overrides=overrides,
                stop_after=more.pop("stop_after", self.runner.horizon),
                watch_gradients=more.pop("watch_gradients", self.runner.trains),
                backward_limit=more.pop("backward_limit", 1),
                time_limit=self.runner.time_limit,
                **more,
            )
        )

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
        own = self.runner.baseline
        if (
            own.stopped is not None
            or self._hangs >= HANGS
            or not overrides
            or not (
                trace.stopped == "time"
                or trace.stopped == "operations"
                and trace.operations > 4 * own.operations
            )
        ):
            return False
        mark = _mark(overrides)
        if mark in self._ended:
            return False
        self._hangs += 1
        patience = min(max(5.0, 50.0 * own.seconds), max(1.0, self.runner.budget.left() / 4.0))
        again = self.runner.run(Policy(overrides=overrides, time_limit=patience))
        if again.stopped != "time" or again.place is None or again.starved:
            self._ended.add(mark)
            return False
        file, line, scope = again.place
        node = Node(0, scope, None, (), {}, (), [], Site(file, line, scope, scope), "python")
        failure = Failure(
            "hang",
            node,
            "it still ran after %.0f s; the program's own data take "
            "%.2g s" % (patience, own.seconds),
        )
        found = Found(failure, overrides, 1, "a run that does not come back", self.space)
        if (file, scope, "hang") not in self.collected:
            self.collected.keep((file, scope, "hang"), found)
        return True

    def several(self, pairs, level, ladder=False):
        """Tries one after the other; a ladder is left where its largest step showed every open
        site as it is: smaller steps will not make it fail either."""
        for label, overrides in pairs:
            if self.runner.over() or self.finished():
                return
            self.attempt(label, overrides, level)
            if ladder and not any(self.masked(site) for site in self.open_sites()):
                return

    def attempt(self, label, overrides, level, aims=None):
        """Runs one candidate; True when it made something new fail."""
        by_key = self.space.by_key
        overrides = dict((key, by_key[key].settle(value)) for key, value in overrides.items())
        mark = _mark(overrides)
        if mark in self._tried:
            self.aimed, self.first_failure = self._measured.get(mark, {}), 0
            return False
        self._tried.add(mark)
        new = False
        failures = self.failures(overrides, aims)
        aimed = self.aimed
        if aims:
            self._measured[mark] = aimed
        self.first_failure = min(
            [failure.index for failure in failures] or [None], key=lambda index: index or 0
        )
        for failure in failures:
            key = failure.site.key()
            if self.collected.closed(failure.site):
                continue
            # Shrinking costs runs: a site whose failures keep turning out as notes gets few tries
            # per level.
            tries = self._shrunk.get((key, level), 0)
            if tries >= (ABSORBED if self._absorbed(key) else 2):
                continue
            self._shrunk[(key, level)] = tries + 1
            new = self.accept(failure, overrides, level, label) or new
        self.aimed = aimed
        return new

    def _absorbed(self, key):
        """Was all that failed there so far made finite again by what follows, or an infinity that is right?
        Other inputs may do more."""
        held = self.collected.get(key)
        return held is not None and (held.absorbed_by is not None or held.pole)

    def accept(self, failure, overrides, level, label):
        """Keeps a failure that shows again, with a smaller input; does it?"""
        confirmed, larger = None, overrides
        if level < 4:
            # Seen twice before it is worth shrinking; shrinking does not count as search time.
            if not self._fails(failure.site, overrides):
                return False
            confirmed = self.collected.elapsed()
            begun = time.perf_counter()
            if not self._stays_a_note(failure, overrides, level):
                overrides = shrink(
                    failure,
                    overrides,
                    self.space.by_key,
                    self.failures,
                    self._is_note,
                    self.runner.over,
                )
            self.collected.shrinking += time.perf_counter() - begun
        found = Found(failure, overrides, level, label, self.space)
        if not found.confirm(self.runner):
            return False
        if found.absorbed_by is not None and larger is not overrides:
            # Less of it is absorbed, all of it may not be.
            whole = Found(failure, larger, level, label, self.space)
            if whole.confirm(self.runner) and whole.rank() < found.rank():
                found = whole
        found.elapsed = confirmed if confirmed is not None else self.collected.elapsed()
        if not self.collected.keep_better(failure.site.key(), found):
            return False
        self.collected.tell(found, failure.site)
        return True

    def _fails(self, site, overrides):
        return any(other.site == site for other in self.failures(overrides))

    def _is_note(self, failure, overrides):
        return Found(failure, overrides, 1, "", self.space).severity == "theoretical"

    def _stays_a_note(self, failure, overrides, level):
        """Far values whose exact result does not fit either: the same pattern was tried nearer, so
        shrinking would not make a finding of it."""
        found = Found(failure, overrides, level, "", self.space)
        if found.severity == "theoretical":
            # Does it fail at the largest values that would count?
            nearer = dict(
                (key, self.space.by_key[key].nearer(value)) for key, value in overrides.items()
            )
            return not self._fails(failure.site, nearer)
        if found.severity == "medium" and found.confirm(self.runner):
            return found.severity == "theoretical"
        return False

    # Directions --------------------------------------------------------------------------------

    def aims(self, sites):
        """Distances and slopes on the program's own data, measured once."""
        if any(site not in self._own_aims for site in sites):
            measured = self._measure(set(sites))
            for site in sites:
                self._own_aims[site] = measured.get(site, [])
        return self._own_aims

    def _measure(self, sites):
        settings = self.runner.program.settings
        how = {
            "connect": True,
            "aim_sites": sites,
            "watch_gradients": False,
            "backward_limit": None,
        }
        trace = self.run({}, **how)
        if trace.error is not None and not settings.honour_no_grad:
            # Leaves in a region that the program keeps without gradients: respect it and go on.
            settings.honour_no_grad = True
            trace = self.run({}, **how)
        return trace.aims


def _mark(overrides):
    return hash(tuple(sorted((key, value.tobytes()) for key, value in overrides.items())))
