"""The findings of a search, one for each place."""

import time


class Collected:
    def __init__(self, runner, note):
        self.by_place = {}  # key of a site -> Found
        self.shrinking = 0.0  # seconds spent on making failing inputs smaller
        self.note = note
        self._began = runner.budget.started

    def __contains__(self, key):
        return key in self.by_place

    def get(self, key):
        return self.by_place.get(key)

    def elapsed(self):
        """Seconds of search until now; making inputs smaller does not count."""
        return time.perf_counter() - self._began - self.shrinking

    def keep(self, key, found):
        self.by_place[key] = found

    def keep_better(self, key, found):
        """Keeps it where nothing of a higher rank is; does it?"""
        held = self.by_place.get(key)
        if held is not None and not found.rank() < held.rank():
            return False
        self.by_place[key] = found
        return True

    def tell(self, found, site):
        self.note("%s %s at %s: %s" % (found.severity, found.oracle, site, found.label))

    def closed(self, site):
        """Has the site failed in a way that nothing better can be found for?"""
        held = self.by_place.get(site.key())
        return held is not None and not held.improvable()

    def ordered(self):
        return sorted(self.by_place.values(), key=lambda found: found.rank())
