"""The compiled function gives something else than the function, or does not compile.

# What it does

Passes the function to `torch.compile`, calls what comes back with the same arguments, and compares.
With a C++ compiler and setuptools in the environment the backend is `inductor`, so that real
generated code runs; without them it is the one that stops before code is generated
(`aot_eager_decomp_partition`: tracing, decompositions and functionalisation are still those of
inductor). The report names the backend.

TensorFlow functions are traced by `tf.function` and compiled by XLA (`jit_compile=True`), those of JAX
by `jit`; then the same tensors in 64 bits by `jit` against the plain call with `jax_enable_x64`.

# Why it matters

Decompositions, fusion and code generation replace what the function does by something else that is
meant to be the same. Most users of the compiler never compare.

# When it stays silent

For random functions, for functions that change their arguments, and when the compiler says that it
does not support something. Rounding is not reported: fused arithmetic rounds less often, and the
`float64` result decides. Only when named (`--oracles compile`): one call takes a fifth of a second
without generated code, and seconds with it. Where PyTorch is older than 2.0 it does not run. For
TensorFlow and JAX also about what cannot be traced, and about numbers and results that are large or
not finite.

# Example

```
torch.compile(torch.fft.fft)(x, dim=1)
observed  AssertionError: expected size 10==10, stride 1==7 at dim=1
expected  the result of torch.fft.fft(x, dim=1)
```
"""

import contextlib
import importlib.util
import os
import shutil
import threading
import warnings

from fissure_worker.oracles import compare, tracing
from fissure_worker.oracles.call import Report

PRICE = 500
ONLY = ("torch", "tensorflow", "jax")
#: The price is the compiler's; the call itself is made twice.
LEAST = 2

#: The backend that goes as far as one can without generating code.
WITHOUT_CODE = "aot_eager_decomp_partition"
#: Seconds that one compilation may take before the watchdog counts again.
LONGEST = 120


def unavailable(library):
    """Why this oracle cannot run here, or None."""
    if library.__name__ in tracing.VARIANTS:
        return None
    if not hasattr(library, "compile"):
        return "torch.compile needs PyTorch 2.0 or newer"
    return None


def limited(library):
    """Why only a part of the compiler is tried, or None."""
    if library.__name__ in tracing.VARIANTS:
        return None
    names = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++"]
    if not any(shutil.which(name) for name in names):
        return "no C++ compiler (%s), so no code is generated" % " or ".join(names)
    if importlib.util.find_spec("setuptools") is None:
        return "no setuptools in the environment, which inductor imports: no code is generated"
    return None


def backend(library):
    return WITHOUT_CODE if limited(library) else "inductor"


def preload(library):
    """Importing the compiler and its first use cost ten seconds, and one call after that a fifth of
    a second; no code is generated here, which would start processes."""
    if unavailable(library) or library.__name__ in tracing.VARIANTS:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.compile(lambda tensor: tensor + 1, backend=WITHOUT_CODE)(library.ones(2))
        library._dynamo.reset()


def check(call):
    if call.library.__name__ in tracing.VARIANTS:
        yield from tracing.check(call)
        return
    if unavailable(call.library) or call.random or call.mutates:
        return
    chosen = backend(call.library)
    variant = "compiled (%s)" % chosen
    lines = source_lines(call, chosen)
    raising = lines + [
        "try:",
        "    observed = compiled(%s)" % given(call),
        "except Exception as error:",
        "    return True, repr(error), str(expected)",
        "return False, str(observed), str(expected)",
    ]
    call.announce(variant, call.source(raising))
    try:
        with warnings.catch_warnings(), still_alive(call):
            warnings.simplefilter("ignore")
            observed = run(call, chosen)
    except Exception as error:
        if not compare.is_unsupported(error) and not isinstance(error, ImportError):
            text = "%s: raises %s" % (variant, type(error).__name__)
            yield Report(text, repr(error), compare.short(call.baseline), call.source(raising))
        return
    found = call.disagreement(observed)
    if found is not None:
        lines.append("observed = compiled(%s)%s" % (given(call), found.path))
        if found.path:
            lines.append("expected = expected" + found.path)
        yield Report(
            "%s: %s" % (variant, found.kind),
            compare.short(found.observed),
            compare.short(found.expected),
            call.source(lines + found.lines),
        )


def run(call, chosen):
    torch = call.library
    torch._dynamo.reset()
    if chosen == "inductor":
        from torch._inductor import config

        # Compilers in processes of their own would outlive the call.
        config.compile_threads = 1
    call.seed()
    arguments = call.build()
    target = call.target
    if arguments.layer is not None:
        target = target(*arguments.positional, **arguments.keywords)
        positional, keywords = arguments.layer
        return torch.compile(target, backend=chosen)(*positional, **keywords)

    def function(*positional, **keywords):
        return target(*positional, **keywords)

    return torch.compile(function, backend=chosen)(*arguments.positional, **arguments.keywords)


def given(call):
    if call.is_layer:
        return "*layer_arguments, **layer_keywords"
    return "*arguments, **keywords"


def source_lines(call, chosen):
    parent, _, name = call.path.rpartition(".")
    lines = ["{build}", "expected = {call}", "{build}", "torch._dynamo.reset()"]
    if parent.split(".")[0] == "torch":
        target = call.path
    else:
        target = "target"
        lines.insert(0, "from %s import %s as target" % (parent, name))
    if call.is_layer:
        lines.append("function = %s(*arguments, **keywords)" % target)
    else:
        lines += [
            "def function(*arguments, **keywords):",
            "    return %s(*arguments, **keywords)" % target,
        ]
    lines.append("compiled = torch.compile(function, backend=%r)" % chosen)
    return lines


@contextlib.contextmanager
def still_alive(call):
    """Tells the watchdog that something goes on: a compilation is slow, and is one call to it."""
    done = threading.Event()

    def beat():
        for _ in range(LONGEST):
            if done.wait(1.0):
                return
            call.pulse()

    thread = threading.Thread(target=beat)
    if call.pulse is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()
