"""A function of one tensor is wrong in an interval of its element type.

# What it does

Once for each API and element type of 16 or 32 bits: finds out by trying whether every element of the result depends
on the element at its own place only, and if so calls the API on all numbers of 16 bits, or on some hundred thousand
of 32, with dense windows around powers of two, multiples of π/2 and places where usual algorithms branch. The
result is compared with the same in `float64`, with the same elements apart from each other in memory, and alone.
`docs/sweep.md` says what counts as wrong; `fissure sweep` asks the same of many more numbers.

# Why it matters

Random elements meet an interval that is wrong once in many thousand calls, if at all.

# When it stays silent

Where the error is no more than the argument's last digit explains, below the normal numbers, next to the largest
one, and where a single number, alone in a tensor, does not show it. With NumPy missing it does not run. Side arguments
that no narrow type holds exactly (0.1) are left at their defaults; where that cannot be, the call is not swept. Of
a function that is not a library's own: where squares of all numbers of the interval overflow.

# Example

```
torch.some_function(x)   x = 88.72 in float32
observed  inf   (wrong from 88.5 to 88.9)
expected  3.4e+38, as in float64
```
"""

import contextlib
import sys

from fissure_worker import dtypes
from fissure_worker.oracles.arguments import Arguments
from fissure_worker.oracles.call import Report

#: Calls as long as those of the input; the long ones cost more, but are made once for an API and type.
PRICE = 12
#: One input of each API and element type, not every judged one.
ONCE = True
#: Numbers of 32 bits, the windows aside.
COUNT = 1 << 17
#: Numbers with which it is found out whether elements meet.
FEW = 2048
#: Of those, numbers that are called alone.
FEW_ALONE = 16
#: A number unlike the others.
FAR = 24.0
DTYPES = ("float16", "bfloat16", "float32")
#: An error of this size, beside one and beside the right result, is no matter of digits.
GROSS = 0.02
#: No number beyond this is ordinary in any type.
HUGE = 1e4
#: Side arguments up to this size are ordinary.
LARGEST = 64.0
#: What the other side of a comparison is made of, by library, in plain code.
CODE = {
    "torch": {
        "make": "x = torch.full((64,), %(value)s, dtype=torch.%(dtype)s)",
        "wide": "x.double()",
        "strided": "torch.stack([x, x], -1)[:, 0]",
        "alone": "x[:1]",
        "negative": "-x",
    },
    "numpy": {
        "make": "x = numpy.full(64, %(value)s, '%(dtype)s')",
        "wide": "x.astype('longdouble')",
        "strided": "numpy.repeat(x, 2)[::2]",
        "alone": "x[:1]",
        "negative": "-x",
    },
    "jax": {
        "make": "x = jax.numpy.full(64, %(value)s, '%(dtype)s')",
        "wide": "x.astype('float64')",
        "alone": "x[:1]",
        "negative": "-x",
    },
    "tensorflow": {
        "make": "x = tensorflow.fill([64], tensorflow.constant(%(value)s, '%(dtype)s'))",
        "wide": "tensorflow.cast(x, 'float64')",
        "alone": "x[:1]",
        "negative": "-x",
    },
}


#: Findings by question.
ANSWERS = {}
#: Calls whose elements meet, whatever their type.
NOT_LOCAL = set()


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    try:
        from fissure_sweep import profile
    except ImportError as error:
        return "the sweep needs NumPy (%s)" % error
    return None if profile else "the sweep is not there"


def preload(library):
    unavailable(library)


def check(call):
    with settings_kept():
        yield from reports(call)


@contextlib.contextmanager
def settings_kept():
    """What a sweep, and the scripts that show its findings, set for the whole process is as it was afterwards."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    threads = torch.get_num_threads() if torch is not None else None
    wide = jax.config.jax_enable_x64 if jax is not None else None
    try:
        yield
    finally:
        if threads is not None and torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        if wide is not None:
            jax.config.update("jax_enable_x64", wide)


def reports(call):
    subject = Subject.of(call)
    if subject is None or call.random or call.has("about dtype"):
        return
    from fissure_sweep import profile, values

    # What comes out does not depend on the elements of the input: the smaller inputs that are tried for a finding
    # ask the same question again.
    key = subject.question()
    if subject.form() in NOT_LOCAL:
        return
    if key not in ANSWERS:
        ANSWERS[key] = subject.findings(profile, values)
    for finding in ANSWERS[key]:
        if finding["alone"]:
            other = profile.OTHERS.get(finding["kind"], "wide")
            gross = " for ordinary numbers" if finding["off"] > GROSS else ""
            yield Report(
                "%s%s, %s" % (finding["kind"], gross, subject.dtype),
                finding["observed"],
                finding["expected"],
                subject.source(finding, other, profile.ALLOWED[subject.dtype], values),
            )


def is_extreme(finding, dtype):
    """An interval of numbers whose squares overflow, and which half precision has not: somebody's function need not
    be made for them."""
    ends = [abs(float(finding[end])) for end in ("from", "to")]
    return min(ends) > max(HUGE, dtypes.INEXACT[dtype].largest ** 0.5)


class Refused(Exception):
    """The library does not take such a tensor."""


class Subject:
    """The call as a function of its one tensor."""

    def __init__(self, call, backend, place, dtype, plain, arguments):
        self.call, self.backend, self.place, self.dtype = call, backend, place, dtype
        #: The tensor is all that is given.
        self.plain = plain
        #: Makes the other arguments.
        self.arguments = arguments

    @staticmethod
    def of(call):
        """None where the call is no function of one tensor of a narrow type."""
        from fissure_sweep.backends import BACKENDS

        if call.is_layer and call.used.values() and call.draws:
            return None
        arrays = [
            (place, value)
            for place, value in call.used.values(call.parameter)
            if hasattr(value, "dtype") and hasattr(value, "shape")
        ]
        if len(arrays) != 1 or len(arrays[0][0].keys) != 1:
            return None
        place, tensor = arrays[0]
        dtype = str(tensor.dtype).replace("torch.", "").replace("<dtype: '", "").replace("'>", "")
        name = type(tensor).__module__.split(".")[0]
        name = {"jaxlib": "jax", "tensorflow": "tensorflow"}.get(name, name)
        if name not in BACKENDS or dtype not in DTYPES:
            return None
        backend = BACKENDS[name]()
        others = [
            value for where, value in call.used.values(call.parameter) if where.keys != place.keys
        ]
        if all(is_ordinary(value) for value in others):
            return Subject(call, backend, place, dtype, not others, call.build)
        if place.part not in (0, 1) or call.is_layer:
            return None

        def alone():
            arguments = call.build()
            tensor = arguments.get(place)
            if place.part == 0:
                return Arguments([tensor], {}) if place.keys == (0,) else arguments
            return Arguments([], {place.keys[0]: tensor})

        subject = Subject(call, backend, place, dtype, True, alone)
        dropped = place.part == 1 or place.keys == (0,)
        if not dropped or call.attempt(alone())[1] is not None:
            return None
        return subject

    def run(self, tensor):
        arguments = self.arguments().replace(self.place, tensor)
        try:
            return self.call.plain_run(arguments, seed=True)
        except Exception as error:
            raise Refused(repr(error)) from None

    def question(self):
        others = [
            (where.part, where.keys, repr(value))
            for where, value in self.arguments().values()
            if where.keys != self.place.keys
        ]
        return self.dtype, self.form(), repr(others)

    def form(self):
        """The function and which of its arguments is the tensor."""
        return self.call.path, self.place.part, self.place.keys, self.plain

    def findings(self, profile, values):
        """Intervals in which it is wrong; none where it does not act on each element by itself."""
        if not self.is_local(values):
            NOT_LOCAL.add(self.form())
            return []
        bits = values.patterns(self.dtype, COUNT)
        row = self.call.function if self.plain else None
        try:
            swept = profile.Sweep(self.backend, self.run, self.call.path, self.dtype, bits, row)
            if swept.y.shape != swept.x.shape:
                return []
            found = profile.profile(swept, ordered=False)[1]
        except Refused:
            return []
        if self.call.is_of_library:
            return found
        return [finding for finding in found if not is_extreme(finding, self.dtype)]

    def is_local(self, values):
        """Overwriting some elements changes only those, and one element alone is an element."""
        import numpy

        generator = numpy.random.RandomState(0)
        bits = values.patterns(self.dtype, 1 << 12)
        bits = bits[generator.permutation(len(bits))[:FEW]]
        ordinary = values.bits_of(generator.rand(FEW) * 4 - 2, self.dtype)
        far = values.bits_of(numpy.array([FAR]), self.dtype)[0]
        for patterns in (ordinary, bits):
            before = self.values(patterns)
            if before is None or before.shape != patterns.shape:
                return False
            # Shuffled elements leave sums and norms much as they were; one number in place of many does not.
            for others in (generator.permutation(patterns), numpy.full_like(patterns, far)):
                kept = generator.rand(FEW) < 0.5
                after = self.values(numpy.where(kept, patterns, others).astype(patterns.dtype))
                if after is None or after.shape != before.shape:
                    return False
                if not near(before, after)[kept].all():
                    return False
        return self.is_element_alone(ordinary)

    def is_element_alone(self, patterns):
        """Most elements come out alone as they do among others; where few do not, that is what is looked for."""
        before = self.values(patterns)
        same = 0
        for index in range(FEW_ALONE):
            alone = self.values(patterns[index : index + 1])
            if alone is None or alone.shape != (1,):
                return False
            same += bool(near(before[index : index + 1], alone)[0])
        return 2 * same > FEW_ALONE

    def values(self, bits):
        try:
            return self.backend.values(self.run(self.backend.tensor(bits, self.dtype)))
        except Exception:
            return None

    def source(self, finding, other, allowed, values):
        """The call with a tensor of one number, and the same in the other way."""
        import numpy

        from fissure_sweep.backends import literal

        code = CODE[self.backend.name]
        value, expected = float(finding["value"]), float(finding["expected"])
        bound = float(allowed * values.unit(numpy.array([expected]), self.dtype)[0])
        given = self.arguments()
        put = "%s" % self.place.assignment(given, "%s")
        build = ["{build}"]
        if self.plain and len(self.call.used.values()) > 1:
            # Other arguments are left at their defaults.
            name = "arguments" if self.place.part == 0 else "keywords"
            rest = "arguments, keywords"
            empty = "[None], {}" if name == "arguments" else "[], {}"
            build = ["%s = %s" % (rest, empty)]
        lines = ["import %s" % self.backend.name]
        if self.backend.name == "jax":
            lines += ["import jax.numpy", "jax.config.update('jax_enable_x64', True)"]
        make = code["make"] % {"value": literal(value), "dtype": self.dtype}
        # Made twice: the function may write to it.
        lines += [make] + build + [put % "x", "observed = float({traced}[0])"]
        if finding["kind"] == "outside its range":
            lines.append("expected = %s" % literal(expected))
        else:
            sign = "-" if finding["kind"] == "not odd" else ""
            lines += [make] + build + [put % code[other], "expected = %sfloat({traced}[0])" % sign]
        interval = "%s for x = %s in %s; wrong from %s to %s" % (
            "%r",
            finding["value"],
            self.dtype,
            finding["from"],
            finding["to"],
        )
        lines += [
            "unknown = observed != observed and expected != expected",
            "wrong = observed != expected and not abs(observed - expected) <= %r" % bound,
            "return wrong and not unknown, %r %% observed, repr(expected)" % interval,
        ]
        return self.call.source(lines)


def near(before, after):
    """Elements of vector code and of the rest may differ in the last place: near enough is the same."""
    import numpy

    with numpy.errstate(all="ignore"):
        same = (before == after) | ((before != before) & (after != after))
        return same | (abs(before - after) <= 1e-2 * abs(before))


def is_ordinary(value):
    """A side argument that means the same in every element type."""
    if value is None or isinstance(value, (bool, str)):
        return True
    if isinstance(value, int):
        return abs(value) <= LARGEST
    if isinstance(value, float):
        # Eight bits are enough for it: exact in every type.
        return value == 0 or 1 / LARGEST <= abs(value) <= LARGEST and (value * 1024) % 8 == 0
    return False
