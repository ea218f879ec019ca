"""Reverse-mode, forward-mode and numerical derivative of one call disagree.

# What it does

Converts the inputs to `float64` and, for each floating-point argument, takes the derivative along one
random direction in three ways: by backpropagation, by forward-mode differentiation, and by central
differences of the function itself. All three are the same number for a differentiable function.

# Why it matters

A wrong derivative does not raise and does not produce NaN: the model only trains worse. Backward and
forward formulas are written by hand for hundreds of functions.

# When it stays silent

When something is NaN, infinite or beyond 10,000, when the function has no derivative or says that it lacks one of
the formulas, when it draws random numbers, works in a lower precision inside or returns integers.
Where central differences of two step sizes disagree, and where the disagreement is not there at five
random neighbours within 1e-4 too: the function is not differentiable at that point (`relu` at 0,
`max` with ties). For decompositions that read one triangle of a matrix or return what is only
defined up to a sign or phase (`cholesky`, `eigh`, `svd`), and for functions whose documentation
speaks of detaching or of no gradient.

# Example

```
torch.nn.functional.some_loss(x, target)
observed  derivative by backpropagation 1.25
expected  2.5 (central differences)
```
"""

import importlib
from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.indices import writes_twice

PRICE = 24
ONLY = ("torch",)

#: Words of a documentation that promises no gradient.
NO_GRADIENT = ("detach", "no gradient", "not differentiable", "stop_gradient", "non-differentiable")
#: Several elements written to one place: which of them wins is open, and with it the derivative.
OPEN = ("nondeterministic", "non-deterministic", "undefined behavior")
#: More elements than this are too many for central differences at a fair price.
LARGEST = 1 << 14
STEP = 1e-6
#: A step that is felt where the function works in `float32` inside, for elements of the size of 1; one that only
#: `float64` feels; and those for functions that do not feel that one, with what such a difference may be off.
COARSE = 2.0**-12
TINY = 2.0**-36
STAIRS = (COARSE, 2.0**-7, 2.0**-4, 2.0**-2)
ROUGH = 0.05
#: Elements beyond this do not feel such a step.
MODERATE = 1e4
#: Last digits of a sum of results.
ROUNDING = 2.0**-48
NEIGHBOURS = 5
NEARBY = 1e-4
#: Relative disagreement that counts, after the disagreement of two step sizes.
TOLERANCE = 1e-3


def preload(library):
    """The first derivative in forward mode imports much; once, before workers are forked. Only that: a
    process that is to be forked runs no operation of the library, which may start threads."""
    if library.__name__ != "torch":
        return
    try:
        importlib.import_module("torch._decomp.decompositions_for_jvp")
    except Exception:
        # Another version keeps it elsewhere; the first worker then imports it.
        pass


def check(call):
    if call.library.__name__ != "torch" or call.has("restricted gradient"):
        return
    if any(word in (call.target.__doc__ or "").lower() for word in NO_GRADIENT + OPEN):
        return
    if of_one_triangle(call):
        return
    places = differentiable(call)
    if not places or call.random or call.mutates or writes_twice(call, call.used):
        return
    for place in places:
        yield from one_argument(call, place)


def of_one_triangle(call):
    """Is the argument a matrix of which one half is read, and the other is taken to be the same?"""
    return any(call.used.keywords.get(word) for word in ("hermitian", "symmetric"))


def differentiable(call):
    """Places of tensors that can be differentiated by; empty if one is not an ordinary one."""
    found = []
    for place, tensor in call.tensors(call.used):
        if not compare.is_torch(tensor) or str(tensor.layout) != "torch.strided":
            return []
        if tensor.numel() > LARGEST or tensor.is_quantized or not tensor.is_leaf:
            return []
        if compare.is_inexact(tensor) and tensor.numel():
            if not float(abs(compare.wide(tensor.detach())[0]).max()) < MODERATE:
                return []
            found.append(place)
    return found


class Line:
    """The call as a function of one number: how far one argument is moved along a direction."""

    def __init__(self, call, place, neighbour):
        self.call = call
        torch = self.torch = call.library
        self.place = place
        generator = torch.Generator().manual_seed(neighbour)
        arguments = call.build()
        for other, tensor in call.tensors(arguments):
            if compare.is_inexact(tensor):
                wide = compare.wide(tensor)[0].detach()
                if neighbour:
                    wide = wide + NEARBY * (self.random(wide, generator) - 0.5)
                arguments = arguments.replace(other, wide)
        self.arguments = arguments
        self.start = arguments.get(place)
        generator.manual_seed(0)
        self.direction = self.random(self.start, generator) - 0.25
        self.weights = None
        #: Which results take part; those without a gradient are constants by declaration.
        self.chosen = None

    def random(self, like, generator):
        return self.torch.rand(like.shape, dtype=like.dtype, generator=generator)

    def outputs(self, tensor):
        """The results of inexact type, of a call with this tensor at the place; a call may write
        to its arguments, so all of them are copied."""
        arguments = self.arguments
        for place, other in self.call.tensors(arguments):
            if place.keys != self.place.keys:
                arguments = arguments.replace(place, other.clone())
        result = self.call.run(arguments.replace(self.place, tensor))
        leaves = [leaf for _, leaf in compare.leaves(result)]
        leaves = [leaf for leaf in leaves if compare.is_torch(leaf) and compare.is_inexact(leaf)]
        if any(compare.dtype_name(leaf) not in ("float64", "complex128") for leaf in leaves):
            raise Unsuitable
        if self.chosen is None:
            self.chosen = [leaf.requires_grad for leaf in leaves]
        if len(leaves) != len(self.chosen):
            raise Unsuitable
        return [leaf for leaf, chosen in zip(leaves, self.chosen) if chosen]

    def weighted(self, leaves):
        """All results as one number, so that one derivative says it all."""
        if self.weights is None:
            generator = self.torch.Generator().manual_seed(1)
            self.weights = [self.random(leaf, generator) for leaf in leaves]
        total = 0.0
        for leaf, weight in zip(leaves, self.weights):
            total = total + inner(self.torch, leaf, weight)
        return total

    def reverse(self):
        """Every argument asks for its gradient: one that gets none although the result has some
        counts as zero."""
        tensor = self.start.clone().requires_grad_()
        for place, other in self.call.tensors(self.arguments):
            if compare.is_inexact(other):
                other.requires_grad_()
        total = self.weighted(self.outputs(tensor))
        if not hasattr(total, "requires_grad") or not total.requires_grad:
            raise Unsuitable
        (gradient,) = self.torch.autograd.grad(total, tensor, allow_unused=True)
        if gradient is None:
            return 0.0
        return float(inner(self.torch, gradient, self.direction))

    def forward(self):
        forward_ad = self.torch.autograd.forward_ad
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(self.start.clone(), self.direction)
            total = self.weighted(self.outputs(dual))
            tangent = forward_ad.unpack_dual(total).tangent
        return None if tangent is None else float(tangent)

    def numerical(self, step):
        """The central difference, and how much of it may be rounding."""
        with self.torch.no_grad():
            before = self.outputs(self.start - step * self.direction)
            after = self.outputs(self.start + step * self.direction)
            size = sum(float(abs(leaf).sum()) for leaf in after if leaf.numel())
            change = float(self.weighted(after) - self.weighted(before))
        return change / (2 * step), ROUNDING * size / step

    def stands_still(self, step):
        """A step changes no result: it was rounded away."""
        with self.torch.no_grad():
            before = self.outputs(self.start)
            after = self.outputs(self.start + step * self.direction)
        return all(bool((one == two).all()) for one, two in zip(before, after))


class Unsuitable(Exception):
    """This call is not one to differentiate."""


def inner(torch, first, second):
    """The real inner product, for real and complex tensors."""
    if first.is_complex():
        first, second = torch.view_as_real(first.resolve_conj()), torch.view_as_real(second)
    return (first * second).sum()


def derivatives(call, place, neighbour):
    """(reverse, forward or None, numerical, its uncertainty, results that take part); None where
    there is nothing to say."""
    line = Line(call, place, neighbour)
    try:
        reverse = line.reverse()
        (small, rounding), (large, _) = line.numerical(STEP), line.numerical(4 * STEP)
    except Unsuitable:
        return None
    except Exception:
        # No derivative, or not in float64: other oracles ask whether that is right.
        return None
    try:
        forward = line.forward()
    except Exception:
        forward = None
    return reverse, forward, small, abs(small - large) + rounding, line.chosen


def disagrees(value, numerical, uncertainty, tolerance=TOLERANCE):
    """By more than rounding and truncation of the differences explain."""
    if value is None:
        return False
    allowed = tolerance * max(1.0, abs(numerical), abs(value)) + 4 * uncertainty
    return abs(value - numerical) > allowed


def finite(values):
    return all(value is None or abs(value) < 1e12 for value in values)


def one_argument(call, place):
    call.announce("derivative by %s" % place, source(call, place, "reverse"))
    found = derivatives(call, place, 0)
    if found is None or not finite(found[:4]):
        return
    for mode, value in (("reverse", found[0]), ("forward", found[1])):
        if not disagrees(value, found[2], found[3]):
            continue
        if not holds_nearby(call, place, mode) or is_right_from_afar(call, place, value):
            return
        yield Report(
            "%s mode by %s" % (mode, place),
            "derivative %r in %s mode" % (value, mode),
            "%r by central differences" % found[2],
            source(call, place, mode, found[4]),
        )


def holds_nearby(call, place, mode):
    """The disagreement is there at neighbours too; otherwise the point is a special one."""
    for neighbour in range(1, NEIGHBOURS + 1):
        found = derivatives(call, place, neighbour)
        if found is None or not finite(found[:4]):
            return False
        value = found[0] if mode == "reverse" else found[1]
        if value is None or not disagrees(value, found[2], found[3]):
            return False
    return True


def is_right_from_afar(call, place, value):
    """Central differences of a far larger step agree with the derivative: those of the small one are about the
    rounding of numbers that the function makes narrow on the way (`x.float()`)."""
    line = Line(call, place, 0)
    size = max(1.0, compare.largest(line.start))
    try:
        line.reverse()
        steps, tolerance = (
            (STAIRS, ROUGH) if line.stands_still(TINY * size) else ((COARSE,), TOLERANCE)
        )
        differences = [line.numerical(step * size) for step in steps]
    except Exception:
        return False
    return any(
        not disagrees(value, numerical, rounding, tolerance) for numerical, rounding in differences
    )


def call_lines(call, place):
    """The call as a function of one argument, all others in a wide type, as far as its result."""
    arguments = call.build()
    lines = ["def function(tensor):", "    {build}"]
    for other, tensor in call.tensors(arguments):
        if compare.is_inexact(tensor) and other.keys != place.keys:
            wide = other.expression + compare.wide(tensor)[1]
            lines.append("    " + other.assignment(arguments, wide))
    lines.append("    " + place.assignment(arguments, "tensor"))
    lines.append("    result = {call}")
    return lines


def function_lines(call, place, chosen=()):
    """The call as a function of one argument that gives one number, in a script."""
    numbers = [number for number, takes_part in enumerate(chosen) if takes_part]
    lines = call_lines(call, place) + [
        "    results = result if isinstance(result, (list, tuple)) else [result]",
        "    results = [it for it in results if it.is_floating_point() or it.is_complex()]",
    ]
    if len(numbers) < len(chosen):
        lines.append("    results = [results[number] for number in %r]" % (numbers,))
    lines += [
        "    generator = torch.Generator().manual_seed(1)",
        "    total = 0.0",
        "    for it in results:",
        "        weight = torch.rand(it.shape, dtype=it.dtype, generator=generator)",
        "        total = total + (it * weight.conj()).sum().real",
        "    return total",
    ]
    return lines


def source(call, place, mode, chosen=()):
    """The derivative by one argument in both ways, as a script."""
    arguments = call.build()
    lines = function_lines(call, place, chosen)
    lines += [
        "{build}",
        "start = " + place.expression + compare.wide(arguments.get(place))[1],
        "generator = torch.Generator().manual_seed(0)",
        "direction = torch.rand(start.shape, dtype=start.dtype, generator=generator) - 0.25",
    ]
    if mode == "reverse":
        lines += [
            "tensor = start.clone().requires_grad_()",
            "total = function(tensor)",
            "gradient = torch.zeros_like(tensor)",
            "if total.requires_grad:",
            "    (gradient,) = torch.autograd.grad(total, tensor)",
            "observed = float((gradient * direction.conj()).sum().real)",
        ]
    else:
        lines += [
            "with torch.autograd.forward_ad.dual_level():",
            "    dual = torch.autograd.forward_ad.make_dual(start.clone(), direction)",
            "    total = function(dual)",
            "    observed = float(torch.autograd.forward_ad.unpack_dual(total).tangent)",
        ]
    lines += [
        "step = %r" % STEP,
        "after, before = function(start + step * direction), function(start - step * direction)",
        "expected = float(after - before) / (2 * step)",
        "wrong = abs(observed - expected) > %r * max(1.0, abs(expected), abs(observed))"
        % TOLERANCE,
        "return wrong, '%%r in %s mode' %% observed, '%%r by central differences' %% expected"
        % mode,
    ]
    return call.source(lines)
