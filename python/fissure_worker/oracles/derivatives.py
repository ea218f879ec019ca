"""Second derivatives, vectorised maps and derivatives of JAX and TensorFlow disagree with plain computation.

# What it does

PyTorch: in `float64`, the derivative of the gradient along a random direction (`autograd.grad` of a graph made by
`autograd.grad`) against central differences of the gradient; `torch.func.jvp` of `torch.func.grad` against the same;
`torch.func.hessian` and `torch.func.jacrev` of `torch.func.jacfwd` of small arguments against the same; `torch.func.vjp`
against differences of the call; `torch.func.vmap` of the call over three variants of an argument against three calls, and
of its gradient against three gradients. TensorFlow, in `float64`: a tape, a forward accumulator and central differences
along one direction, nested tapes against differences of the gradient, and `vectorized_map` against a loop. JAX, in 64
bits: `vjp`, `jvp` and central differences along one direction, the Hessian-vector product (`jvp` of `grad`) and
`jax.hessian` of small arguments against differences of `grad`, `vmap` of the call and of its gradient against a loop.
Complex arguments are asked the same, each library by its own convention. Of a call with several floating-point arguments
the first two.

# Why it matters

Double backward, batching rules and custom derivatives are formulas of their own, written by hand, and wrong ones only
make an optimiser slower. Few tests reach them.

# When it stays silent

Where `gradient` does: numbers beyond 10,000, results that are not finite, random functions, decompositions defined up to
a factor, indices that are written twice, documentation that promises no gradient, or none of a higher order. When a rule is missing and the
library says so. When the disagreement is not there at three random neighbours too (a kink), and when central differences
of two step sizes disagree.

# Example

```
torch.some_function(x)
observed  second derivative 0.0 (double backward)
expected  0.5 (differences of the gradient)
```
"""

from fissure_worker.oracles import compare, foreign, gradient
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.derivative_scripts import (
    JAX,
    STEP,
    TENSORFLOW,
    differences,
    jax_source,
    judge_lines,
    tensorflow_source,
)
from fissure_worker.oracles.indices import writes_twice

PRICE = 30
ONLY = ("torch", "jax", "tensorflow")
NEIGHBOURS = 3
#: Arguments that are asked about.
PLACES = 2
#: Words of a documentation that promises no second derivative, where it says that something is not supported.
NO_SECOND = ("higher-order", "double backward", "second-order")
UNSUPPORTED = ("unsupported", "not supported", "not implemented")
#: Elements of an argument whose whole matrix of second derivatives is asked for.
SMALL = 24


def check(call):
    if call.has("restricted gradient") or call.is_layer or call.has("random"):
        return
    text = (getattr(call.target, "__doc__", None) or "").lower()
    if any(word in text for word in gradient.NO_GRADIENT + gradient.OPEN):
        return
    if any(word in text for word in NO_SECOND) and any(word in text for word in UNSUPPORTED):
        return
    if not call.is_foreign:
        yield from of_torch(call)
    elif call.library.__name__ == "jax":
        yield from of_foreign(call, JAX, jax_source)
    else:
        yield from of_foreign(call, TENSORFLOW, tensorflow_source)


def judged(call, detail, write):
    """A report where `write(neighbour)`, a script, says so at the point and at its neighbours."""
    for neighbour in range(NEIGHBOURS + 1):
        source = write(neighbour)
        call.announce(detail, source)
        wrong, observed, expected = call.verify(source)
        if not wrong:
            return None
        if not neighbour:
            told = observed, expected, source
    return Report(detail, *told)


def of_torch(call):
    places = gradient.differentiable(call)
    if not places or call.random or call.mutates or writes_twice(call, call.used):
        return
    if gradient.of_one_triangle(call):
        return
    for place in places[:PLACES]:
        # A call without a derivative in `float64` (a cast to another type, for instance) has no other one either.
        found = gradient.derivatives(call, place, 0)
        if found is None or not gradient.finite(found[:4]):
            continue
        for detail, write in questions_of_torch(call, place):
            report = judged(call, detail % place, lambda at, it=write: it(call, place, at))
            if report is not None:
                yield report


def questions_of_torch(call, place):
    """What is asked about one argument, as details and writers of scripts."""
    questions = [("double backward by %s", second)]
    if not hasattr(call.library, "func"):
        return questions
    questions += [
        ("vmap over %s", mapped),
        ("vjp by %s", reverse),
        ("jvp of grad by %s", forward_over_reverse),
        ("vmap of grad over %s", mapped_gradient),
    ]
    tensor = call.build().get(place)
    if tensor.numel() <= SMALL and not tensor.is_complex():
        questions += [("%s by %%s" % how, whole_matrix(how)) for how in MATRICES]
    return questions


#: Ways to the matrix of second derivatives, as code: forward over reverse, and reverse over forward.
MATRICES = {
    "hessian": "torch.func.hessian(function)",
    "jacrev of jacfwd": "torch.func.jacrev(torch.func.jacfwd(function))",
}
#: The real inner product, of real and of complex tensors.
INNER = "inner = lambda it, other: (it * other.conj()).sum().real"


def point(call, place, neighbour):
    """Statements that make `start`, the argument in float64, or a neighbour of it."""
    wide = compare.wide(call.build().get(place))[1]
    return [
        "{build}",
        "start = " + place.expression + wide,
        "generator = torch.Generator().manual_seed(%d)" % neighbour,
        "random = lambda: torch.rand(start.shape, dtype=start.dtype, generator=generator)",
        "start = start.detach() + %r * (random() - 0.5)" % (gradient.NEARBY if neighbour else 0.0),
    ]


def second(call, place, neighbour):
    return call.source(
        gradient.function_lines(call, place)
        + [
            "def gradient(tensor):",
            "    tensor = tensor.detach().clone().requires_grad_()",
            "    return tensor, torch.autograd.grad(function(tensor), tensor, create_graph=True)[0]",
        ]
        + point(call, place, neighbour)
        + [
            "direction, weight = random() - 0.25, random()",
            "tensor, once = gradient(start)",
            INNER,
            "observed = 0.0",
            "if once.requires_grad:",
            "    (twice,) = torch.autograd.grad(inner(once, weight), tensor, allow_unused=True)",
            "    observed = 0.0 if twice is None else float(inner(twice, direction))",
            "def difference(step):",
            "    after, before = gradient(start + step * direction)[1], gradient(start - step * direction)[1]",
            "    return float(inner(after - before, weight)) / (2 * step)",
            "small, large = difference(%r), difference(%r)" % (STEP, 4 * STEP),
        ]
        + judge_lines("by double backward")
    )


def forward_over_reverse(call, place, neighbour):
    """`torch.func`'s own second derivative along a direction."""
    return call.source(
        gradient.function_lines(call, place)
        + point(call, place, neighbour)
        + [
            INNER,
            "direction, weight = random() - 0.25, random()",
            "along = lambda it: inner(torch.func.grad(function)(it), weight)",
            "observed = float(torch.func.jvp(along, (start,), (direction,))[1])",
        ]
        + differences("along")
        + judge_lines("by torch.func.jvp of torch.func.grad")
    )


def reverse(call, place, neighbour):
    """`torch.func`'s own first derivative along a direction."""
    return call.source(
        gradient.function_lines(call, place)
        + point(call, place, neighbour)
        + [
            INNER,
            "direction = random() - 0.25",
            "result, pull = torch.func.vjp(function, start)",
            "observed = float(inner(pull(torch.ones_like(result))[0], direction))",
        ]
        + differences("function")
        + judge_lines("by torch.func.vjp")
    )


def whole_matrix(how):
    """All second derivatives at once, along two directions."""

    def write(call, place, neighbour):
        return call.source(
            gradient.function_lines(call, place)
            + point(call, place, neighbour)
            + [
                "direction, weight = random() - 0.25, random()",
                "along = lambda it: (torch.func.grad(function)(it) * weight).sum()",
                "matrix = %s(start).reshape(start.numel(), start.numel())" % MATRICES[how],
                "observed = float(weight.reshape(-1) @ matrix @ direction.reshape(-1))",
            ]
            + differences("along")
            + judge_lines("by %s" % MATRICES[how].replace("(function)", ""))
        )

    return write


def mapped_gradient(call, place, neighbour):
    """Gradients of a batch against those of its members."""
    return call.source(
        gradient.function_lines(call, place)
        + point(call, place, neighbour)
        + [
            "batch = torch.stack([start, start * 0.5, start + random()])",
            # Each in memory of its own, as the call has it.
            "expected = torch.stack([torch.func.grad(function)(it.clone()) for it in batch])",
            "if not expected.isfinite().all():",
            "    return False, '', ''",
            # The weights of the results are drawn inside.
            "observed = torch.func.vmap(torch.func.grad(function), randomness='same')(batch)",
            "wrong = abs(observed - expected) > 1e-6 + 1e-6 * abs(expected)",
            "return bool(wrong.any()), str(observed[wrong][:4].tolist()), str(expected[wrong][:4].tolist())",
        ]
    )


def mapped(call, place, neighbour):
    lines = gradient.call_lines(call, place) + [
        "    return result[0] if isinstance(result, (list, tuple)) else result",
    ]
    return call.source(
        lines
        + point(call, place, neighbour)
        + [
            "batch = torch.stack([start, start * 0.5, start + random()])",
            # Each in memory of its own, as the call has it.
            "expected = torch.stack([function(it.clone()) for it in batch])",
            "if not (expected.is_floating_point() or expected.is_complex()) or not expected.isfinite().all():",
            "    return False, '', ''",
            "observed = torch.func.vmap(function)(batch)",
            "if observed.shape != expected.shape:",
            "    return True, str(observed.shape), str(expected.shape)",
            "wrong = abs(observed - expected) > 1e-6 + 1e-6 * abs(expected)",
            "return bool(wrong.any()), str(observed[wrong][:4].tolist()), str(expected[wrong][:4].tolist())",
        ]
    )


def of_foreign(call, questions, write):
    arguments = call.build()
    places = []
    for place, value in arguments.values(call.parameter):
        array = foreign.array(value) if foreign.is_tensor(value) else None
        if array is not None and array.dtype.kind in "fc" and array.size:
            kind = "complex128" if array.dtype.kind == "c" else "float64"
            if not float(abs(array.astype(kind)).max()) < gradient.MODERATE:
                return
            places.append((place, kind, array.size))
    if not places or call.random:
        return
    for chosen in range(min(PLACES, len(places))):
        place, kind, size = places[chosen]
        others = [(other, wide) for at, (other, wide, _) in enumerate(places) if at != chosen]
        for detail, lines, of_small in questions:
            if of_small and (size > SMALL or kind != "float64"):
                continue
            report = judged(
                call,
                "%s by %s" % (detail, place),
                lambda at, it=lines: write(call, (place, kind), others, at, it),
            )
            if report is not None:
                yield report
