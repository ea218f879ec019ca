"""Without data the library predicts another shape, dtype, or order of memory than the real run has.

# What it does

Makes the call again with tensors that have no data: on the `meta` device and, where the library has
them, as fake tensors (what `torch.compile` and `torch.export` plan with). Shape and dtype must be
those of the real result, and so must be the strides of every dimension that has more than one
element. A call that works with data must not be refused without.

# Why it matters

Memory planning, compilation, export and sharded loading all trust the prediction. A wrong stride or
shape there becomes a wrong result or a crash later, far from the call.

# When it stays silent

When the result's shape depends on the data (`nonzero`, `unique`, boolean masks), when the library
says that it has no such variant or needs the data, when the function asks for the address of the
data (to hand it to native code of its own), and for results that are not tensors. Strides
are compared for fake tensors only, whose purpose they are, and not for empty results or dimensions
of size one.

A refusal is a finding only when it is about the call itself. It is not when the call has an `out=`
(whose type and kind are checked more strictly without data, and which nobody plans with) and not
when it names an element type (a kernel that returns early, or that happens to read one type as
another, takes what the stated rules of the function exclude). A wrong element type of the *result*
is reported all the same.

# Example

```
torch.some_function(x.to("meta"))
observed  shape (3, 1)
expected  shape (3,)
```
"""

import contextlib

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report

#: A fake tensor mode and its dispatch cost some 29 ms, as much as sixty calls of a small function with their
#: comparisons; the call itself is made twice.
PRICE = 60
LEAST = 3
ONLY = ("torch",)

#: Words of an error that says: not without data.
NEEDS_DATA = (
    "meta",
    "fake",
    "data-dependent",
    "data dependent",
    "datadependent",
    "not allocated",
    "dynamic",
    "unbacked",
    "symint",
    "storage",
    "device",
    "item()",
    "could not run",
    "not implemented",
    "unsupported",
    "not support",
    "numpy",
    "python scalar",
)
#: Words of an error about how strictly element types are checked.
STRICT = ("dtype", "scalar type", "can't be cast", "cannot be cast", "datatype")
SHOW = {
    "shape": "str(tuple(observed.shape)), str(tuple(expected.shape))",
    "dtype": "str(observed.dtype), str(expected.dtype)",
    "strides": "str(observed.stride()), str(expected.stride())",
}


def preload(library):
    """The first fake tensor of a process costs a second."""
    try:
        from torch._subclasses.fake_tensor import FakeTensorMode
    except ImportError:
        return
    mode = FakeTensorMode()
    with mode:
        mode.from_tensor(library.ones(2)).add(1)


def check(call):
    if not any(plain(leaf) for _, leaf in compare.leaves(call.baseline)):
        return
    tensors = [tensor for _, tensor in call.tensors(call.used)]
    if not tensors or not all(plain(tensor) for tensor in tensors):
        return
    wrong = False
    for report in on_device(call):
        wrong = True
        yield report
    if not wrong:
        # Fake tensors go by the same predictions: what is wrong there would be told twice.
        yield from as_fake(call)


def plain(value):
    return (
        compare.is_torch(value)
        and str(value.layout) == "torch.strided"
        and not value.is_quantized
        and str(value.device) == "cpu"
    )


def moved(arguments, places, change):
    for place, tensor in places:
        arguments = arguments.replace(place, change(tensor))
    return arguments


@contextlib.contextmanager
def without_addresses(torch):
    """The address of data that is not there is an error, not 0: native code that got it would die of it."""
    asked = torch.Tensor.data_ptr

    def data_ptr(tensor):
        address = asked(tensor)
        if not address and tensor.numel():
            raise NotImplementedError("there is no data and no address of it")
        return address

    own = "data_ptr" in torch.Tensor.__dict__
    torch.Tensor.data_ptr = data_ptr
    try:
        yield
    finally:
        if own:
            torch.Tensor.data_ptr = asked
        else:
            del torch.Tensor.data_ptr


#: The start of a check source: the real result, then the arguments without data.
REAL = ["{build}", "expected = {call}", "{build}"]


def on_device(call):
    """On the `meta` device; layers make their weights there too."""
    arguments = call.build()
    places = call.tensors(arguments)
    change = [place.assignment(arguments, place.expression + ".to('meta')") for place, _ in places]
    within = []
    if call.is_layer:
        if not hasattr(call.library, "set_default_device"):
            return
        within = ["with torch.device('meta'):"]
    lines = REAL + change + within
    arguments = moved(arguments, places, lambda tensor: tensor.to("meta"))

    def run():
        with without_addresses(call.library):
            if not call.is_layer:
                return call.run(arguments, seed=False)
            with call.library.device("meta"):
                return call.run(arguments, seed=False)

    yield from compared(call, "meta", lines, "    " if within else "", run, strides=False)


def as_fake(call):
    """Fake tensors: on the `meta` device, but with the device they are planned for."""
    try:
        from torch._subclasses.fake_tensor import FakeTensorMode
    except ImportError:
        return
    arguments = call.build()
    places = call.tensors(arguments)
    lines = ["from torch._subclasses.fake_tensor import FakeTensorMode"] + REAL
    lines.append("mode = FakeTensorMode()")
    for place, _ in places:
        lines.append(place.assignment(arguments, "mode.from_tensor(%s)" % place.expression))
    lines.append("with mode:")
    mode = FakeTensorMode()
    try:
        arguments = moved(arguments, places, mode.from_tensor)
    except Exception:
        # A tensor that cannot be faked: the library says so, and that is all.
        return

    def run():
        with mode, without_addresses(call.library):
            return call.run(arguments, seed=False)

    yield from compared(call, "fake tensors", lines, "    ", run, strides=True)


def compared(call, variant, lines, indent, run, strides):
    raising = lines + [
        indent + "try:",
        indent + "    observed = {call}",
        indent + "except Exception as error:",
        indent + "    return True, repr(error), str(expected)",
        "return False, str(observed), str(expected)",
    ]
    call.announce(variant, call.source(raising))
    try:
        observed = run()
    except Exception as error:
        if not needs_data(error) and not is_strict(call, error):
            text = "%s: raises %s" % (variant, type(error).__name__)
            yield Report(text, repr(error), compare.short(call.baseline), call.source(raising))
        return
    expected = dict(compare.leaves(call.baseline))
    for path, leaf in compare.leaves(observed):
        wanted = expected.get(path)
        if not plain(wanted) or not compare.is_torch(leaf):
            continue
        for kind, read, condition in QUESTIONS:
            if kind == "strides" and not strides:
                continue
            if read(leaf) != read(wanted):
                source = lines + [indent + "observed = {call}" + path]
                if path:
                    source.append("expected = expected" + path)
                source.append("return %s, %s" % (condition, SHOW[kind]))
                yield Report(
                    "%s: %s" % (variant, kind),
                    str(read(leaf)),
                    str(read(wanted)),
                    call.source(source),
                )
                break


def strides_that_matter(tensor):
    if not tensor.numel():
        return ()
    return tuple(step for step, size in zip(tensor.stride(), tensor.shape) if size > 1)


QUESTIONS = (
    ("shape", lambda it: tuple(it.shape), "observed.shape != expected.shape"),
    ("dtype", compare.dtype_name, "observed.dtype != expected.dtype"),
    ("strides", strides_that_matter, "observed.stride() != expected.stride()"),
)


def needs_data(error):
    if isinstance(error, (NotImplementedError, MemoryError)) or compare.is_unsupported(error):
        return True
    text = (type(error).__name__ + " " + str(error)).lower()
    return any(words in text for words in NEEDS_DATA)


def is_strict(call, error):
    """The refusal is about `out=` or about an element type."""
    text = str(error).lower()
    if any(words in text for words in STRICT):
        return True
    values = call.used.values(call.parameter)
    return any(place.name == "out" and value is not None for place, value in values)
