"""What the own run says about the inputs: which there are, within which ranges, and how the user corrects that."""

from .arguments import by_use
from ..search import variations
from ..search.candidates import Variable
from ..steer import soft_assertions
from ..watch import operations, whole_numbers
from ..watch.monitor import Policy

# Larger inputs are left as they are: candidates are arrays of doubles of the same size.
LARGEST_INPUT = 20000000


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


class Understanding:
    def __init__(self, plan, program, baseline):
        self.plan = plan
        self.program = program
        self.baseline = baseline

    def calibrate(self):
        """One run on slightly other data: what enters with other values then was computed from the
        inputs where nobody watched (a tensor wrapped anew), and is no input itself."""
        infos = self.baseline.inputs
        if (
            not any(info.kind == "entering" for info in infos.values())
            or self.baseline.stopped is not None
        ):
            return
        overrides = {}
        for key, info in infos.items():
            if (
                info.kind in ("source", "parameter", "batch")
                and not info.frozen
                and 0 not in info.shape()
                and elements(info.shape()) <= LARGEST_INPUT
            ):
                variable = Variable(info)
                overrides[key] = variable.clip(0.875 * variable.own + 0.0625 * variable.scale, 1)
        arguments = self.program.synthesised
        numbers = {}
        if arguments is not None:
            # Arrays are made of numbers, too.
            numbers = dict(
                (name, 0.875 * value)
                for name, value in arguments.values.items()
                if type(value) is float and value
            )
        if not overrides and not numbers:
            return
        self.program.settings.infos = infos
        policy = Policy(
            overrides=overrides,
            stop_after=self.baseline.operations,
            time_limit=max(1.0, 3.0 * self.baseline.seconds),
        )
        if overrides:
            self.program.run(policy)
        if numbers:
            arguments.changed = numbers
            try:
                self.program.run(policy)
            finally:
                arguments.changed = {}

    def settings(self):
        """Ranges that the user gave, and the numbers that shape the computation; and the names that are of no input,
        if there are any."""
        ranges = self.plan.get("inputs", {})
        frozen = set(self.plan.get("freeze", []))
        names = set()
        config = self.plan["config"]
        low, high = config["min_value"], config["max_value"]
        given = any(
            info.kind == "parameter" and not info.frozen for info in self.baseline.inputs.values()
        )
        for info in self.baseline.inputs.values():
            # A list of numbers in a function that gets its data is a constant of its formula.
            if (
                self.program.function
                and given
                and info.kind == "source"
                and not info.frozen
                and operations.source(info.origin) == "literal"
                and info.name not in ranges
            ):
                info.frozen, info.why = True, "written down in the function"
            if (
                self.program.function
                and given
                and info.kind == "entering"
                and not info.frozen
                and self.program.synthesised.constructor is None
                and info.name not in ranges
            ):
                # What is made of the arguments has other values with other arguments, see `calibrate`.
                info.frozen, info.why = True, "the same for all arguments"
        if self.program.function:
            self.program.synthesised.describe(self.baseline.inputs.values())
            by_use(self.baseline)
        for info in self.baseline.inputs.values():
            names.update(info.name.split(","))
            if (
                info.kind != "weight"
                and not info.frozen
                and (info.low, info.high) == (None, None)
                and (low, high) != (None, None)
            ):
                info.low, info.high, info.why = low, high, "min_value and max_value"
            if info.name in frozen:
                info.frozen, info.why = True, "--freeze"
            if info.name in ranges:
                info.frozen = False
                info.low, info.high = ranges[info.name]
                info.why = "--input"
                if info.kind == "weight":
                    info.kind = "source"
        if self.program.function:
            scalars = variations.scalars_of_arguments(
                self.program.synthesised, self.program, ranges, frozen
            )
        else:
            scalars = variations.scalars_of_script(self.program, ranges, frozen)
        names.update(variations.known_names(self.program))
        unknown = sorted((frozen | set(ranges)) - names)
        return scalars, {"names": unknown, "known": sorted(names)} if unknown else None

    def told(self, scalars):
        """The event: sites, inputs, and the lines that were executed."""
        trace = self.baseline
        sites = [
            dict(site.as_json(), hits=count)
            for site, count in trace.hits.items()
            if soft_assertions.announced(site.function)
        ]
        inputs = []
        for info in trace.inputs.values():
            if info.frozen and info.why == whole_numbers.ONLY_INDICES and info.kind == "source":
                continue
            inputs.append(
                {
                    "name": info.name,
                    "kind": info.kind,
                    "origin": info.origin,
                    "file": info.file,
                    "line": info.line,
                    "shape": info.shape(),
                    "dtype": info.dtype(),
                    "low": info.low,
                    "high": info.high,
                    "why": info.why,
                    "frozen": info.frozen,
                }
            )
        inputs.extend(scalar.as_json() for scalar in scalars)
        executed = sorted(set((node.site.file, node.site.line) for node in trace.nodes))
        return {"sites": sites, "inputs": inputs, "executed": executed}
