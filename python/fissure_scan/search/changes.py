"""Other conditions that a program is run under: a number, a flag, a size, a precision."""

from ..run.events import float_text


class Change:
    """A run of the program under other conditions than its own."""

    label = ""
    # How likely it is in practice, see words.py.
    likely = "likely where such sizes and settings are used"

    def apply(self, program):
        raise NotImplementedError

    def remove(self, program):
        raise NotImplementedError

    def run(self, program, policy):
        """One run under the change."""
        self.apply(program)
        program.change = self
        try:
            return program.run(policy)
        finally:
            program.change = None
            self.remove(program)

    def cut(self, value):
        """An array of the program's own data as it is under the change."""
        return value

    def entries(self, inputs):
        """(name, changed input) pairs of the report."""
        return []


class NumberChange(Change):
    """One number is another one."""

    def __init__(self, scalar, value):
        self.scalar = scalar
        self.value = value
        self.label = "%s = %r" % (scalar.name, value)

    def entries(self, inputs):
        value = float_text(self.value)
        return [
            (
                self.scalar.name,
                {
                    "key": self.scalar.key,
                    "shape": [],
                    "dtype": type(self.value).__name__,
                    "elements_changed": 1,
                    "smallest": value,
                    "largest": value,
                    "values": [value],
                },
            )
        ]


class ConstantChange(NumberChange):
    """A named number of the script."""

    def apply(self, program):
        program.changed_constant = (self.scalar.name, self.scalar.occurrence, self.value)

    def remove(self, program):
        program.changed_constant = None


class ArgumentChange(NumberChange):
    """A number among the arguments of a target function."""

    def apply(self, program):
        program.synthesised.changed[self.scalar.name] = self.value

    def remove(self, program):
        program.synthesised.changed = {}


class ConstructorChange(NumberChange):
    """A number among the arguments that the object of a method is made with."""

    def apply(self, program):
        program.synthesised.constructor.changed[self.scalar.name] = self.value

    def remove(self, program):
        program.synthesised.constructor.changed = {}


class NumbersChange(Change):
    """Several numbers at once."""

    def __init__(self, parts):
        self.parts = parts
        self.label = ", ".join(part.label for part in parts)

    def apply(self, program):
        for part in self.parts:
            part.apply(program)

    def remove(self, program):
        for part in self.parts:
            part.remove(program)

    def entries(self, inputs):
        return [entry for part in self.parts for entry in part.entries(inputs)]


class Mode:
    """A flag or a choice among the arguments of a target function."""

    def __init__(self, name, own):
        self.name = name
        self.key = "argument:%s" % name
        self.own = own


class ModeChange(ArgumentChange):
    """A flag or a choice of a target function is another one."""

    def entries(self, inputs):
        return []


class SizeChange(Change):
    """The program's data have another size."""

    def __init__(self, how):
        self.how = how
        self.label = how.label

    def apply(self, program):
        program.settings.resize = self.how
        program.settings.gets_data = program.gets_data()

    def remove(self, program):
        program.settings.resize = None

    def run(self, program, policy):
        # What the own run told of the inputs is not true of other sizes.
        infos, program.settings.infos = program.settings.infos, {}
        try:
            return Change.run(self, program, policy)
        finally:
            program.settings.infos = infos

    def cut(self, value):
        return self.how.cut(value)

    def entries(self, inputs):
        for variable in inputs:
            cut = self.cut(variable.own)
            if cut.shape != variable.own.shape:
                yield (
                    variable.name,
                    {
                        "key": variable.key,
                        "shape": list(cut.shape),
                        "dtype": variable.dtype,
                        "elements_changed": int(variable.own.size - cut.size),
                        "smallest": float_text(cut.min()) if cut.size else None,
                        "largest": float_text(cut.max()) if cut.size else None,
                        "values": [float_text(item) for item in cut.ravel()[:8]],
                    },
                )


class AutocastChange(Change):
    """The whole program runs under autocast."""

    def __init__(self, precision):
        self.precision = precision
        self.label = "under autocast to %s" % precision

    def apply(self, program):
        program.autocast = self.precision

    def remove(self, program):
        program.autocast = None
