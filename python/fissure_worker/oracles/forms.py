"""The in-place form, `out=`, or the method gives something else than the function.

# What it does

Makes the same call in its other forms and compares: `x.cos_()` against `torch.cos(x)` (the values,
and that `x` itself now holds them), `out=` with a tensor of the right size, with one that has gaps
between its elements, and with an empty one that has to be resized, the method `x.cos()` against the
function. It also reports a function that changes its arguments without saying so; one without documentation if it leaves
them as they are in another element type (`numpy.asarray(x, float)` is a copy, or `x` itself).

# Why it matters

The forms are written by hand more often than one would think, and tests mostly use one of them. A
wrong in-place form corrupts data that is used later; an ignored `out=` is silent.

# When it stays silent

When a form does not exist or is refused (in-place needs the result's shape and dtype), and about
`out=` of operators and of functions that take any keyword without naming that one. For random
functions. About arguments that change if the documentation speaks of in-place operation, of modifying or updating,
if there is none and they change in every element type, or an argument asks for it (`inplace=True`, running statistics).
Functions of arrays of NumPy are asked that alone.

# Example

```
out = torch.empty(6)[::2]
torch.some_function(x, out=out)
observed  out stays as it was
expected  the same as torch.some_function(x)
```
"""

import inspect

from fissure_worker.oracles import compare, foreign
from fissure_worker.oracles.call import Report

PRICE = 7

#: Words of a documentation that allows a function to write into its arguments.
WRITES = ("in-place", "inplace", "in place", "modif", "updat", "overwrit", "mutat")
#: Parameters that are there to be written to.
WRITTEN = ("running", "out", "max_norm", "inplace", "buffer", "moving", "hx")
#: Element types in which a function that changes its argument is asked again.
OTHER_TYPES = ("float64", "float32")
#: Paths whose function takes no `out`, found by asking once.
WITHOUT_OUT = set()


unavailable = foreign.unread


def check(call):
    first = first_tensor(call.baseline)
    if call.is_layer or not compare.is_tensor(first) or call.random:
        return
    name = call.path.rpartition(".")[2]
    if call.has("uninitialised"):
        return
    if not name.endswith("_"):
        yield from changed_arguments(call)
    if call.mutates or not compare.is_torch(first):
        return
    for form in (in_place, with_out, method):
        yield from form(call, name)


def first_tensor(result):
    for _, value in compare.leaves(result):
        return value
    return None


def changed_arguments(call):
    """A function without a trailing underscore leaves its arguments as they are."""
    text = (call.target.__doc__ or "").lower()
    if any(word in text for word in WRITES):
        return
    says_nothing = not text or not compare.is_torch(first_tensor(call.baseline))
    for part, values in enumerate(call.used.parts()):
        for key in values if isinstance(values, dict) else range(len(values)):
            if any(word in str(call.parameter(part, key)) for word in WRITTEN):
                return
    # The documentation of an old name may do no more than name the form in place.
    old_name = call.path.rpartition(".")[2] + "_" in text
    for place in call.mutates:
        if old_name and call.baseline is call.used.get(place):
            continue
        if says_nothing and not is_left_alone_elsewhere(call, place):
            continue
        lines = [
            "{build}",
            "{call}",
            "observed = " + place.expression,
            "{build}",
            "expected = " + place.expression,
        ]
        fresh = call.build().get(place)
        found = compare.difference(call.used.get(place), fresh, exact=True)
        if found is not None:
            yield Report(
                "changes %s" % place,
                compare.short(found.observed),
                compare.short(found.expected),
                call.source(lines + found.lines),
            )


def is_left_alone_elsewhere(call, place):
    """The same call takes this argument in another element type, too, and does not change it there."""
    for name in OTHER_TYPES:
        tensor = call.build().get(place)
        if not compare.is_inexact(tensor) or compare.dtype_name(tensor) == name:
            continue
        given, kept = (in_type(call.build().get(place), name) for _ in range(2))
        _, error = call.attempt(call.build().replace(place, given))
        if error is None and compare.difference(given, kept, exact=True) is None:
            return True
    return False


def in_type(tensor, name):
    if compare.is_numpy(tensor):
        return tensor.astype(name)
    import torch

    return tensor.to(getattr(torch, name))


def attempt(make):
    """What a form gives, or None when it is refused. Whether it should have been is another
    oracle's question."""
    try:
        return make()
    except Exception:
        return None


def in_place(call, name):
    """`x.name_(…)`, or `name_(x, …)` beside the function."""
    result = call.baseline
    arguments = call.used.positional
    if not compare.is_torch(result) or not arguments or not compare.is_torch(arguments[0]):
        return
    if result.shape != arguments[0].shape or result.dtype != arguments[0].dtype:
        return
    target, imported, expression = in_place_form(call, name)
    if target is None:
        return
    show = imported + ["{build}", "expected = {call}", "{build}"]
    show += ["%s(*arguments, **keywords)" % expression, "observed = arguments[0]"]
    call.announce("in-place", call.source(show + ["return False, str(observed), str(expected)"]))
    fresh = call.build()
    returned = attempt(lambda: target(*fresh.positional, **fresh.keywords))
    if returned is None:
        return
    found = call.disagreement(fresh.positional[0], result)
    if found is not None:
        yield Report(
            "in-place: %s" % found.kind,
            compare.short(found.observed),
            compare.short(found.expected),
            call.source(show + found.lines),
        )
    elif returned is not fresh.positional[0]:
        show[-2] = "observed = " + show[-2]
        del show[-1]
        show.append("return observed is not arguments[0], 'another tensor', 'the argument itself'")
        yield Report("in-place: returns another", "another", "itself", call.source(show))


def in_place_form(call, name):
    """The callable and how a script writes it; only where the library calls it that."""
    parent = call.path.rpartition(".")[0]
    beside = getattr(call.target, "__globals__", {}).get(name + "_")
    if parent != "torch" and callable(beside):
        return beside, ["from %s import %s_" % (parent, name)], name + "_"
    if parent not in ("torch", "torch.Tensor"):
        return None, [], ""
    found = getattr(call.library.Tensor, name + "_", None)
    if found is None or "in-place version" not in (found.__doc__ or "").lower():
        return None, [], ""
    return found, [], "torch.Tensor.%s_" % name


def swallows_keywords(target):
    """It takes any keyword and names no `out`: that it takes one says nothing."""
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return False
    return "out" not in parameters and any(
        it.kind is inspect.Parameter.VAR_KEYWORD for it in parameters.values()
    )


def takes_out(call):
    """It may take `out=`, and has none yet."""
    if call.path in WITHOUT_OUT or "out" in call.used.keywords or call.path.startswith(METHODS):
        return False
    if call.is_layer or call.path.rpartition(".")[2].startswith("__"):
        return False
    return not swallows_keywords(call.target)


def with_out(call, name):
    """Three tensors to write to: of the right size, with gaps, empty."""
    if not takes_out(call):
        return
    result = call.baseline
    many = isinstance(result, (list, tuple))
    leaves = list(result) if many else [result]
    if not leaves or not all(plain(leaf) for leaf in leaves):
        return
    for variant, make, expression in OUTS:
        outs = tuple(make(leaf) for leaf in leaves)
        if variant != "out" and sum(out.numel() for out in outs) == 0 and result_size(leaves) == 0:
            continue
        wanted = "tuple(%s for it in expected)" if many else "%s"
        texts = expression % "it" if many else expression % "expected"
        lines = ["{build}", "expected = {call}", "{build}", "out = " + wanted % texts]
        lines += ["keywords['out'] = out", "{call}"]
        announced = lines + ["return False, str(out), str(expected)"]
        call.announce(variant, call.source(announced))
        fresh = call.build()
        fresh.keywords["out"] = outs if many else outs[0]
        returned = attempt(lambda: call.run(fresh))
        if returned is None:
            # No such parameter, or refused for these values: the first try decides.
            if variant == "out":
                WITHOUT_OUT.add(call.path)
                return
            continue
        found = call.disagreement(type_like(result, outs) if many else outs[0], result)
        if found is not None:
            lines += ["observed, expected = out%s, expected%s" % (found.path, found.path)]
            yield Report(
                "%s: %s" % (variant, found.kind),
                compare.short(found.observed),
                compare.short(found.expected),
                call.source(lines + found.lines),
            )
            return


METHODS = "torch.Tensor."


def plain(leaf):
    return (
        compare.is_torch(leaf)
        and str(leaf.layout) == "torch.strided"
        and not leaf.is_quantized
        and not leaf.is_conj()
    )


def result_size(leaves):
    return sum(leaf.numel() for leaf in leaves)


def type_like(result, outs):
    return list(outs) if isinstance(result, list) else outs


def right_size(leaf):
    """Filled with something that no result is: unwritten elements are seen."""
    return leaf.new_ones(leaf.shape)


def with_gaps(leaf):
    return leaf.new_ones(tuple(leaf.shape) + (2,))[..., 0]


def empty(leaf):
    return leaf.new_empty((0,))


OUTS = (
    ("out", right_size, "%s.new_ones(expected.shape)"),
    ("out with gaps", with_gaps, "%s.new_ones(tuple(expected.shape) + (2,))[..., 0]"),
    ("empty out", empty, "%s.new_empty((0,))"),
)


def method(call, name):
    """The method of the first argument's class."""
    arguments = call.used.positional
    parent = call.path.rpartition(".")[0]
    if "." in parent or not arguments or not compare.is_torch(arguments[0]):
        return
    found = getattr(call.library.Tensor, name, None)
    owner = "torch" if getattr(found, "__module__", None) is None else found.__module__
    if found is None or owner.split(".")[0] != parent or call.has("other receiver"):
        return
    lines = ["{build}", "expected = {call}", "{build}"]
    lines.append("observed = arguments[0].%s(*arguments[1:], **keywords)" % name)
    call.announce("method", call.source(lines + ["return False, str(observed), str(expected)"]))
    fresh = call.build()
    fresh.keywords.pop("input", None)
    observed = attempt(lambda: found(*fresh.positional, **fresh.keywords))
    if observed is None:
        return
    found = call.disagreement(observed)
    if found is not None:
        lines.append("observed, expected = observed%s, expected%s" % (found.path, found.path))
        yield Report(
            "method: %s" % found.kind,
            compare.short(found.observed),
            compare.short(found.expected),
            call.source(lines + found.lines),
        )
