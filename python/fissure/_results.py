"""What a run found, as objects."""

import html
import os


class Finding:
    """One failure: the smallest call that shows it, and the script that repeats it."""

    def __init__(self, data, folder):
        self._data = data
        self.id = data["id"]
        self.api = data["api"]
        self.kind = data["kind"]
        self.oracle = data["oracle"]
        self.title = data["title"]
        self.call = data["call"]
        self.observed = data["observed"]
        self.expected = data["expected"]
        self.level = data["level"]
        self.flaky = data["flaky"]
        self.script = data.get("script", "")
        place = data.get("location") or {}
        self.file = place.get("file")
        self.line = place.get("line")
        fix = data.get("fix") or {}
        self.fix = fix.get("diff")
        self.folder = os.path.join(folder, data["folder"])

    @property
    def replay(self):
        """The command that runs it again."""
        return "fissure replay %s" % self.folder

    @property
    def reproducer(self):
        """Path of a script of plain library code that shows the failure."""
        return os.path.join(self.folder, "reproduce.py")

    def as_dict(self):
        """All that the report says about it (docs/report.md)."""
        return dict(self._data)

    def __str__(self):
        lines = [self.title, "  " + self.call.replace("\n", "\n  ")]
        lines += ["  observed: " + self.observed.replace("\n", "\n    ")]
        lines += ["  expected: " + self.expected.replace("\n", "\n    ")]
        if self.fix:
            lines += ["  fix (checked):"] + ["    " + line for line in self.fix.splitlines()]
        lines += ["  reproduce: python " + self.reproducer]
        return "\n".join(lines)

    def __repr__(self):
        return "<Finding %s: %s>" % (self.kind, self.call)

    def _repr_html_(self):
        rows = [("call", self.call), ("observed", self.observed), ("expected", self.expected)]
        rows += [("fix", self.fix)] if self.fix else []
        rows += [("reproduce", "python " + self.reproducer)]
        cells = "".join(
            "<tr><th style='text-align:left'>%s</th><td style='text-align:left'><pre>%s</pre></td></tr>"
            % (name, html.escape(text))
            for name, text in rows
        )
        return "<div><b>%s</b><table>%s</table></div>" % (html.escape(self.title), cells)


class Result:
    """A run: what it found, what it counted, where it is. True where something was found."""

    def __init__(self, report, folder):
        self.folder = folder
        self.report = report
        # Findings of an earlier run that still fail.
        self.again = False
        self.info = report["info"]
        self.totals = report["totals"]
        everything = [Finding(data, folder) for data in report["findings"]]
        self.findings = [one for one in everything if not one.as_dict()["note"]]
        self.notes = [one for one in everything if one.as_dict()["note"]]

    def __bool__(self):
        return bool(self.findings)

    def __iter__(self):
        return iter(self.findings)

    def __len__(self):
        return len(self.findings)

    def _summary(self):
        number = len(self.findings)
        found = "no finding" if not number else "%d finding%s" % (number, "s"[: number > 1])
        what = "runs of the program" if self.info["kind"] == "scan" else "inputs"
        if self.again:
            return "%s of an earlier run still there, %s" % (found, self.folder)
        return "%s in %d %s, %s" % (found, self.totals["inputs"], what, self.folder)

    def __str__(self):
        return "\n\n".join([str(finding) for finding in self.findings] + [self._summary()])

    def __repr__(self):
        return "<Result: %s>" % self._summary()

    def _repr_html_(self):
        parts = [finding._repr_html_() for finding in self.findings]
        return "".join(parts) + "<p>%s</p>" % html.escape(self._summary())
