"""Second derivatives, vectorised maps and derivatives of JAX and TensorFlow disagree with plain computation.

# What it does

PyTorch: in `float64`, the derivative of the gradient along a random direction (`autograd.grad` of a graph made by
`autograd.grad`) against central differences of the gradient; `torch.func.jvp` of `torch.func.grad` against the same;
`torch.func.vmap` of the call over three variants of an argument against three calls, and of its gradient against three
gradients. TensorFlow, in `float64`: a tape, a forward accumulator and central differences along one direction, and
nested tapes against differences of the gradient. JAX, in 64 bits: `vjp`, `jvp` and central differences along one direction, the
Hessian-vector product (`jvp` of `grad`) against differences of `grad`, and `vmap` against a loop.

# Why it matters

Double backward, batching rules and custom derivatives are formulas of their own, written by hand, and wrong ones only
make an optimiser slower. Few tests reach them.

# When it stays silent

Where `gradient` does: numbers beyond 10,000, results that are not finite, random functions, decompositions defined up to
a factor, indices that are written twice, documentation that promises no gradient. When a rule is missing and the
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
from fissure_worker.oracles.indices import writes_twice

PRICE = 30
ONLY = ("torch", "jax", "tensorflow")
NEIGHBOURS = 3
STEP = 1e-5
TOLERANCE = 2e-3

#: The end of a script that has `observed`, `small` and `large`, the differences of two steps.
JUDGE = [
    "numbers = (observed, small, large)",
    "if not all(abs(it) < 1e9 for it in numbers):",
    "    return False, str(observed), str(small)",
    "allowed = %r * max(1.0, abs(small), abs(observed)) + 8 * abs(small - large)" % TOLERANCE,
    "return abs(observed - small) > allowed, '%r {how}' % observed, '%r by central differences' % small",
]


def check(call):
    if call.has("restricted gradient") or call.is_layer or call.has("random"):
        return
    text = (getattr(call.target, "__doc__", None) or "").lower()
    if any(word in text for word in gradient.NO_GRADIENT + gradient.OPEN):
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


def judge_lines(how):
    return [line.replace("{how}", how) for line in JUDGE]


def of_torch(call):
    places = gradient.differentiable(call)
    if not places or call.random or call.mutates or writes_twice(call, call.used):
        return
    for place in places[:2]:
        report = judged(
            call, "double backward by %s" % place, lambda at, it=place: second(call, it, at)
        )
        if report is not None:
            yield report
    if not hasattr(call.library, "func"):
        return
    for detail, write in (
        ("vmap over %s", mapped),
        ("jvp of grad by %s", forward_over_reverse),
        ("vmap of grad over %s", mapped_gradient),
    ):
        report = judged(call, detail % places[0], lambda at, it=write: it(call, places[0], at))
        if report is not None:
            yield report


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
            "inner = lambda it, other: (it * other.conj()).sum().real",
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
            "if start.is_complex():",
            "    return False, '', ''",
            "direction, weight = random() - 0.25, random()",
            "along = lambda it: (torch.func.grad(function)(it) * weight).sum()",
            "observed = float(torch.func.jvp(along, (start,), (direction,))[1])",
            "def difference(step):",
            "    after, before = along(start + step * direction), along(start - step * direction)",
            "    return float(after - before) / (2 * step)",
            "small, large = difference(%r), difference(%r)" % (STEP, 4 * STEP),
        ]
        + judge_lines("by torch.func.jvp of torch.func.grad")
    )


def mapped_gradient(call, place, neighbour):
    """Gradients of a batch against those of its members."""
    return call.source(
        gradient.function_lines(call, place)
        + point(call, place, neighbour)
        + [
            "if start.is_complex():",
            "    return False, '', ''",
            "batch = torch.stack([start, start * 0.5, start + random()])",
            "expected = torch.stack([torch.func.grad(function)(it) for it in batch])",
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
            "expected = torch.stack([function(it) for it in batch])",
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
        if array is not None and array.dtype.kind == "f" and array.size:
            if not float(abs(array.astype("float64")).max()) < gradient.MODERATE:
                return
            places.append(place)
    if not places or call.random:
        return
    for detail, lines in questions:
        report = judged(
            call,
            "%s by %s" % (detail, places[0]),
            lambda at, it=lines: write(call, places, at, it),
        )
        if report is not None:
            yield report


def jax_source(call, places, neighbour, ending):
    arguments = call.build()
    place = places[0]
    lines = [
        "import jax, jax.numpy, numpy",
        "enable_x64 = getattr(jax, 'enable_x64', None)",
        "if enable_x64 is None or not callable(enable_x64):",
        "    from jax.experimental import enable_x64",
        "def plain(tensor):",
        "    {build}",
    ]
    for other in places[1:]:
        lines.append("    " + other.assignment(arguments, other.expression + ".astype('float64')"))
    lines.append("    " + place.assignment(arguments, "tensor"))
    lines += [
        "    leaves = jax.tree_util.tree_leaves({traced})",
        "    return [it for it in leaves if jax.numpy.issubdtype(it.dtype, jax.numpy.floating)]",
        "def function(tensor):",
        "    random = numpy.random.RandomState(1)",
        "    return sum((it * random.rand(*it.shape)).sum() for it in plain(tensor))",
        "with enable_x64(True):",
        "    {build}",
        "    random = numpy.random.RandomState(%d)" % neighbour,
        "    start = jax.numpy.asarray(numpy.asarray(%s, 'float64'))" % place.expression,
        "    start = start + %r * (random.rand(*start.shape) - 0.5)"
        % (gradient.NEARBY if neighbour else 0.0),
        "    direction, weight = random.rand(*start.shape) - 0.25, random.rand(*start.shape)",
    ]
    return call.source(lines + ["    " + line for line in ending])


def tensorflow_source(call, places, neighbour, ending):
    arguments = call.build()
    place = places[0]
    lines = ["import tensorflow, numpy", "def plain(tensor):", "    {build}"]
    for other in places[1:]:
        cast = "tensorflow.cast(%s, 'float64')" % other.expression
        lines.append("    " + other.assignment(arguments, cast))
    lines.append("    " + place.assignment(arguments, "tensor"))
    lines += [
        "    leaves = tensorflow.nest.flatten({traced})",
        "    return [it for it in leaves if tensorflow.is_tensor(it) and it.dtype.is_floating]",
        "def function(tensor):",
        "    random = numpy.random.RandomState(1)",
        "    weighted = [",
        "        tensorflow.reduce_sum(tensorflow.cast(it, 'float64') * random.rand(*it.shape))",
        "        for it in plain(tensor)",
        "    ]",
        "    return tensorflow.add_n(weighted)",
        "def gradient(tensor):",
        "    with tensorflow.GradientTape() as tape:",
        "        tape.watch(tensor)",
        "        result = function(tensor)",
        "    return tape.gradient(result, tensor, unconnected_gradients='zero')",
        "def along(tensor):",
        "    return tensorflow.reduce_sum(gradient(tensor) * weight)",
        "{build}",
        "random = numpy.random.RandomState(%d)" % neighbour,
        "start = numpy.asarray(%s).astype('float64')" % place.expression,
        "start = start + %r * (random.rand(*start.shape) - 0.5)"
        % (gradient.NEARBY if neighbour else 0.0),
        "start = tensorflow.constant(start)",
        "direction = tensorflow.constant(random.rand(*start.shape) - 0.25)",
        "weight = tensorflow.constant(random.rand(*start.shape))",
    ]
    return call.source(lines + ending)


def differences(what):
    return [
        "def difference(step):",
        "    after, before = %s(start + step * direction), %s(start - step * direction)"
        % (what, what),
        "    return float(after - before) / (2 * step)",
        "small, large = difference(%r), difference(%r)" % (STEP, 4 * STEP),
    ]


#: Detail, and what follows in a script that has `function`, `start`, `direction` and `weight`.
JAX = (
    (
        "vjp",
        [
            "(found,) = jax.vjp(function, start)[1](jax.numpy.ones(()))",
            "observed = float((found * direction).sum())",
        ]
        + differences("function")
        + judge_lines("by vjp"),
    ),
    (
        "jvp",
        ["observed = float(jax.jvp(function, (start,), (direction,))[1])"]
        + differences("function")
        + judge_lines("by jvp"),
    ),
    (
        "second derivative",
        [
            "along = lambda it: (jax.grad(function)(it) * weight).sum()",
            "observed = float(jax.jvp(along, (start,), (direction,))[1])",
        ]
        + differences("along")
        + judge_lines("by jvp of grad"),
    ),
    (
        "vmap",
        [
            "batch = jax.numpy.stack([start, start * 0.5, start + direction])",
            "expected = [numpy.asarray(plain(it)[0]) for it in batch]",
            "observed = numpy.asarray(jax.vmap(lambda it: plain(it)[0])(batch))",
            "if observed.shape != numpy.shape(expected):",
            "    return True, str(observed.shape), str(numpy.shape(expected))",
            "wrong = abs(observed - expected) > 1e-6 + 1e-6 * abs(numpy.asarray(expected))",
            "return bool(wrong.any()), str(observed[wrong][:4]), str(numpy.asarray(expected)[wrong][:4])",
        ],
    ),
)

#: The same for TensorFlow, with `gradient` and `along` as well.
TENSORFLOW = (
    (
        "tape",
        ["observed = float(tensorflow.reduce_sum(gradient(start) * direction))"]
        + differences("function")
        + judge_lines("by a tape"),
    ),
    (
        "forward accumulator",
        [
            "with tensorflow.autodiff.ForwardAccumulator(start, direction) as accumulator:",
            "    result = function(start)",
            "observed = accumulator.jvp(result)",
            "observed = 0.0 if observed is None else float(observed)",
        ]
        + differences("function")
        + judge_lines("by a forward accumulator"),
    ),
    (
        "second derivative",
        [
            "with tensorflow.GradientTape() as tape:",
            "    tape.watch(start)",
            "    result = along(start)",
            "twice = tape.gradient(result, start, unconnected_gradients='zero')",
            "observed = float(tensorflow.reduce_sum(twice * direction))",
        ]
        + differences("along")
        + judge_lines("by nested tapes"),
    ),
)
