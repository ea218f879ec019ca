"""Scripts of the oracle `derivatives`: what they all end with, and those of JAX and TensorFlow."""

from fissure_worker.oracles import foreign, gradient

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


def judge_lines(how):
    return [line.replace("{how}", how) for line in JUDGE]


#: Random numbers of the type of the argument.
RANDOM = [
    "def draw():",
    "    drawn = random.rand(*start.shape)",
    "    return drawn + 1j * random.rand(*start.shape) if start.dtype.kind == 'c' else drawn",
]


def jax_source(call, chosen, others, neighbour, ending):
    arguments = call.build()
    place, kind = chosen
    lines = ["import jax, jax.numpy, numpy"] + foreign.ENABLE_X64
    lines += ["def plain(tensor):", "    {build}"]
    for other, wide in others:
        lines.append(
            "    " + other.assignment(arguments, "%s.astype(%r)" % (other.expression, wide))
        )
    lines.append("    " + place.assignment(arguments, "tensor"))
    lines += [
        "    leaves = jax.tree_util.tree_leaves({traced})",
        "    return [it for it in leaves if jax.numpy.issubdtype(it.dtype, jax.numpy.inexact)]",
        "def function(tensor):",
        "    random = numpy.random.RandomState(1)",
        "    return sum((it * random.rand(*it.shape)).sum().real for it in plain(tensor))",
        "with enable_x64(True):",
        "    {build}",
        "    random = numpy.random.RandomState(%d)" % neighbour,
        "    start = numpy.asarray(%s).astype(%r)" % (place.expression, kind),
    ]
    lines += ["    " + line for line in RANDOM]
    lines += [
        "    start = jax.numpy.asarray(start + %r * (draw() - 0.5))"
        % (gradient.NEARBY if neighbour else 0.0),
        "    direction, weight = draw() - 0.25, draw()",
    ]
    return call.source(lines + ["    " + line for line in ending])


def tensorflow_source(call, chosen, others, neighbour, ending):
    arguments = call.build()
    place, kind = chosen
    lines = ["import tensorflow, numpy", "def plain(tensor):", "    {build}"]
    for other, wide in others:
        cast = "tensorflow.cast(%s, %r)" % (other.expression, wide)
        lines.append("    " + other.assignment(arguments, cast))
    lines.append("    " + place.assignment(arguments, "tensor"))
    lines += [
        "    leaves = tensorflow.nest.flatten({traced})",
        "    leaves = [it for it in leaves if tensorflow.is_tensor(it)]",
        "    return [it for it in leaves if it.dtype.is_floating or it.dtype.is_complex]",
        "def function(tensor):",
        "    random = numpy.random.RandomState(1)",
        "    weighted = [",
        "        tensorflow.reduce_sum(tensorflow.cast(tensorflow.math.real(it), 'float64') * random.rand(*it.shape))",
        "        for it in plain(tensor)",
        "    ]",
        "    return tensorflow.add_n(weighted)",
        "def gradient(tensor):",
        "    with tensorflow.GradientTape() as tape:",
        "        tape.watch(tensor)",
        "        result = function(tensor)",
        "    return tape.gradient(result, tensor, unconnected_gradients='zero')",
        "def inner(first, second):",
        "    return tensorflow.math.real(tensorflow.reduce_sum(tensorflow.math.conj(first) * second))",
        "def along(tensor):",
        "    return inner(gradient(tensor), weight)",
        "{build}",
        "random = numpy.random.RandomState(%d)" % neighbour,
        "start = numpy.asarray(%s).astype(%r)" % (place.expression, kind),
    ]
    lines += RANDOM
    lines += [
        "start = start + %r * (draw() - 0.5)" % (gradient.NEARBY if neighbour else 0.0),
        "direction = tensorflow.constant(draw() - 0.25)",
        "weight = tensorflow.constant(draw())",
        "start = tensorflow.constant(start)",
    ]
    return call.source(lines + ending)


def mapped_lines(one, many):
    """The same for each of three variants, and for all at once; both are code."""
    return [
        "expected = numpy.asarray([numpy.asarray(it) for it in %s])" % one,
        "if not numpy.isfinite(expected).all():",
        "    return False, '', ''",
        "observed = numpy.asarray(%s)" % many,
        "if observed.shape != expected.shape:",
        "    return True, str(observed.shape), str(expected.shape)",
        "wrong = abs(observed - expected) > 1e-6 + 1e-6 * abs(expected)",
        "return bool(wrong.any()), str(observed[wrong][:4]), str(expected[wrong][:4])",
    ]


def differences(what):
    return [
        "def difference(step):",
        "    after, before = %s(start + step * direction), %s(start - step * direction)"
        % (what, what),
        "    return float(after - before) / (2 * step)",
        "small, large = difference(%r), difference(%r)" % (STEP, 4 * STEP),
    ]


#: Detail, what follows in a script that has `function`, `start`, `direction` and `weight`, and whether it is for small
#: arguments only. The derivative along a direction is the real part of the product with the gradient: JAX's convention.
JAX = (
    (
        "vjp",
        [
            "(found,) = jax.vjp(function, start)[1](jax.numpy.ones(()))",
            "observed = float((found * direction).sum().real)",
        ]
        + differences("function")
        + judge_lines("by vjp"),
        False,
    ),
    (
        "jvp",
        ["observed = float(jax.jvp(function, (start,), (direction,))[1])"]
        + differences("function")
        + judge_lines("by jvp"),
        False,
    ),
    (
        "second derivative",
        [
            "along = lambda it: (jax.grad(function)(it) * weight).sum().real",
            "observed = float(jax.jvp(along, (start,), (direction,))[1])",
        ]
        + differences("along")
        + judge_lines("by jvp of grad"),
        False,
    ),
    (
        "hessian",
        [
            "along = lambda it: (jax.grad(function)(it) * weight).sum()",
            "matrix = jax.hessian(function)(start).reshape(start.size, start.size)",
            "observed = float(weight.reshape(-1) @ matrix @ direction.reshape(-1))",
        ]
        + differences("along")
        + judge_lines("by hessian"),
        True,
    ),
    (
        "vmap",
        ["batch = jax.numpy.stack([start, start * 0.5, start + direction])"]
        + mapped_lines(
            "[plain(it)[0] for it in batch]", "jax.vmap(lambda it: plain(it)[0])(batch)"
        ),
        False,
    ),
    (
        "vmap of grad",
        ["batch = jax.numpy.stack([start, start * 0.5, start + direction])"]
        + mapped_lines(
            "[jax.grad(function)(it) for it in batch]", "jax.vmap(jax.grad(function))(batch)"
        ),
        False,
    ),
)

#: The same for TensorFlow, with `gradient`, `inner` and `along` as well.
TENSORFLOW = (
    (
        "tape",
        ["observed = float(inner(gradient(start), direction))"]
        + differences("function")
        + judge_lines("by a tape"),
        False,
    ),
    (
        "forward accumulator",
        [
            # It watches real numbers only.
            "if start.dtype.is_complex:",
            "    return False, '', ''",
            "with tensorflow.autodiff.ForwardAccumulator(start, direction) as accumulator:",
            "    result = function(start)",
            "observed = accumulator.jvp(result)",
            "observed = 0.0 if observed is None else float(observed)",
        ]
        + differences("function")
        + judge_lines("by a forward accumulator"),
        False,
    ),
    (
        "second derivative",
        [
            "with tensorflow.GradientTape() as tape:",
            "    tape.watch(start)",
            "    result = along(start)",
            "twice = tape.gradient(result, start, unconnected_gradients='zero')",
            "observed = float(inner(twice, direction))",
        ]
        + differences("along")
        + judge_lines("by nested tapes"),
        False,
    ),
    (
        "vectorized_map",
        ["batch = tensorflow.stack([start, start * 0.5, start + direction])"]
        + mapped_lines(
            "[plain(it)[0] for it in batch]",
            "tensorflow.vectorized_map(lambda it: plain(it)[0], batch, fallback_to_while_loop=False)",
        ),
        True,
    ),
)
