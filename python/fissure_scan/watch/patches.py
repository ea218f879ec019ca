"""Temporary changes to the libraries while the program runs: sources that the torch mode does not
see, harmless replacements for side effects, and the modules that mark a region."""

import builtins
import sys
import warnings
import types

from . import loaders, operations
from ..backends import math_backend
from ..steer import soft_assertions
from .archive import Archive


# Modules that read images, and the functions that give an array.
_IMAGE_READERS = {
    "cv2": ("imread", "imdecode"),
    "imageio": ("imread",),
    "imageio.v2": ("imread",),
    "imageio.v3": ("imread",),
    "skimage.io": ("imread",),
    "matplotlib.image": ("imread",),
    "matplotlib.pyplot": ("imread",),
}


class InputRequested(Exception):
    """The program called input()."""


class Patches:
    """Applies replacements and undoes them in reverse order."""

    def __init__(self):
        self._undo = []

    def set(self, owner, name, value):
        original = getattr(owner, name)
        self._undo.append((owner, name, original))
        setattr(owner, name, value)
        return original

    def restore(self):
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)


def install(monitor, torch_mode):
    patches = Patches()

    def no_input(prompt=""):
        raise InputRequested("the program asks for input(%r)" % (prompt,))

    patches.set(builtins, "input", no_input)
    _warnings(patches, monitor)
    if "numpy" in sys.modules:
        _numpy(patches, monitor)
    if "torch" in sys.modules:
        _torch(patches, monitor, torch_mode)
    if torch_mode is not None and soft_assertions.learned() is not None:
        soft_assertions.learned().watch(patches, monitor, torch_mode.backend)
    math_backend.install(patches, monitor)
    _plots(patches)
    _regions(monitor)
    return patches


# Warnings about how something is called, not about what is computed.
_ABOUT_CALLS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


def _warnings(patches, monitor):
    """Warnings that the user's own code gives. Those of NumPy's operations do not come this way."""
    original = warnings.warn

    def warn(message, category=None, stacklevel=1, *arguments, **keywords):
        kind = type(message) if isinstance(message, Warning) else category or UserWarning
        caller = sys._getframe(1).f_code.co_filename
        if monitor.active and not issubclass(kind, _ABOUT_CALLS) and monitor.users.owns(caller):
            monitor.trace.warned.append(str(message)[:200])
        return original(message, category, stacklevel + 1, *arguments, **keywords)

    patches.set(warnings, "warn", warn)


def late_modules():
    """Modules that a run may bring in and that are changed only from the next run on."""
    return tuple(
        name in sys.modules
        for name in ["torch", "numpy", "pandas", "jax", "tensorflow"] + sorted(_IMAGE_READERS)
    )


def _plots(patches):
    """Windows are not opened: the backend chosen by the environment (Agg) stays."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        patches.set(matplotlib, "use", lambda *arguments, **keywords: None)
    cv2 = sys.modules.get("cv2")
    for name in ("imshow", "waitKey", "destroyAllWindows", "namedWindow"):
        if hasattr(cv2, name):
            patches.set(cv2, name, lambda *arguments, **keywords: -1)


def close_plots():
    """Figures of one run do not pile up over the others."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


def _numpy(patches, monitor):
    import numpy
    from ..backends import numpy_backend

    def quietly(function, *arguments, **keywords):
        # Compiled code calls other sources (a Dirichlet draw begins with zeros) without a frame of
        # its own: they are no inputs.
        active, monitor.active = monitor.active, False
        try:
            return function(*arguments, **keywords)
        finally:
            monitor.active = active

    def wrap(owner, name):
        original = getattr(owner, name, None)
        if original is None:
            return

        def source(*arguments, **keywords):
            if operations.source(name) == "draw":
                monitor.draws_with(arguments, keywords)
            result = quietly(
                original, *numpy_backend.plain(arguments), **numpy_backend.plain(keywords)
            )
            if (
                operations.source(name) == "literal"
                and arguments
                and monitor.active
                and numpy_backend.holds_traced(arguments[0])
            ):
                return numpy_backend.joined(arguments[0], result)
            return made(name, arguments, keywords, result, 2)

        source.__name__ = name
        source.__doc__ = getattr(original, "__doc__", None)
        patches.set(owner, name, source)

    def made(name, arguments, keywords, result, depth):
        if not monitor.active:
            return result
        if name == "load" and type(result).__name__ == "NpzFile":
            frame, direct, _ = monitor.users.locate(depth + 1)
            return Archive(result, monitor, frame) if direct else result
        if not isinstance(result, (numpy.ndarray, float)):
            return result
        frame, direct, _ = monitor.users.locate(depth + 1)
        if frame is None or not direct:
            return result
        if (
            operations.source(name) == "literal"
            and arguments
            and getattr(arguments[0], "fissure_traced", False)
        ):
            return numpy_backend.copied(monitor, arguments[0], result, frame)
        value = numpy_backend.traced(numpy_backend.ordinary_asarray(result))
        return monitor.created(numpy_backend.BACKEND, name, arguments, keywords, value, frame)

    for name in operations.numpy_sources("numpy"):
        wrap(numpy, name)
    for name in operations.numpy_sources("numpy.random"):
        wrap(numpy.random, name)
    for module, functions in _IMAGE_READERS.items():
        for name in functions:
            wrap(sys.modules.get(module), name)

    def picks(name, original):
        def pick(*arguments, **keywords):
            result = quietly(
                original, *numpy_backend.plain(arguments), **numpy_backend.plain(keywords)
            )
            if any(getattr(value, "fissure_traced", False) for value in arguments):
                return numpy_backend.traced(numpy_backend.ordinary_asarray(result))
            return result

        return pick

    for name in operations.picks():
        patches.set(numpy.random, name, picks(name, getattr(numpy.random, name)))

    def drawing(owner):
        """A class like `owner` whose draws are inputs."""

        def method(name):
            plain_method = getattr(owner, name)

            def draw(self, *arguments, **keywords):
                monitor.draws_with(arguments, keywords)
                result = quietly(
                    plain_method,
                    self,
                    *numpy_backend.plain(arguments),
                    **numpy_backend.plain(keywords),
                )
                return made(name, arguments, keywords, result, 2)

            return draw

        class Kind(type(owner)):
            def __instancecheck__(cls, value):
                return isinstance(value, owner)

        methods = dict(
            (name, method(name))
            for name in operations.numpy_sources("numpy.random")
            if hasattr(owner, name)
        )
        for name in operations.picks():
            methods[name] = picks(name, getattr(owner, name))
        methods["__module__"] = owner.__module__
        return Kind(owner.__name__, (owner,), methods)

    original_rng = numpy.random.default_rng
    traced_generator = drawing(numpy.random.Generator)

    def default_rng(*arguments, **keywords):
        # Seeding computes with arrays of its own.
        made_anew = quietly(original_rng, *arguments, **keywords)
        return traced_generator(made_anew.bit_generator)

    patches.set(numpy.random, "default_rng", default_rng)
    patches.set(numpy.random, "RandomState", drawing(numpy.random.RandomState))


def _torch(patches, monitor, torch_mode):
    import torch

    original_from_numpy = torch.from_numpy

    def from_numpy(array):
        traced = getattr(array, "fissure_traced", False)
        value = original_from_numpy(array)
        if torch_mode is None or not monitor.active:
            return value
        if traced:
            return torch_mode.from_array(value, array)
        frame, direct, _ = monitor.users.locate(2)
        if frame is not None and direct:
            return monitor.created(torch_mode.backend, "from_numpy", (), {}, value, frame)
        return value

    patches.set(torch, "from_numpy", from_numpy)
    loaders.install(patches, monitor, torch_mode)
    _compiled(patches, monitor, torch)
    if not _CUDA:
        xpu = getattr(torch, "xpu", None)
        _CUDA.append(torch.cuda.is_available() or (xpu is not None and xpu.is_available()))
    if not _CUDA[0]:
        # Each `manual_seed` queues a call with its stack trace for a device that is not there.
        for device in (torch.cuda, getattr(torch, "xpu", None)):
            queue = getattr(device, "random", None)
            if hasattr(queue, "_lazy_call"):
                patches.set(queue, "_lazy_call", lambda *arguments, **keywords: None)

    parameter = torch.nn.parameter.Parameter
    original_new = parameter.__new__

    def new(cls, data=None, requires_grad=True):
        key = monitor.known.get(id(data))
        if key in monitor.trace.inputs and key.startswith("source"):
            # The parameter made from it is the weight; its initial value is no input of its own.
            monitor.trace.inputs[key].frozen = True
            monitor.trace.inputs[key].why = "the initial value of a parameter"
        return original_new(cls, data, requires_grad)

    parameter.__new__ = staticmethod(new)
    patches._undo.append((parameter, "__new__", original_new))

    loader = torch.utils.data.DataLoader
    original_init = loader.__init__

    def init(self, *arguments, **keywords):
        # Worker processes would compute where nobody watches.
        if "num_workers" in keywords:
            keywords["num_workers"] = 0
        keywords.pop("persistent_workers", None)
        keywords.pop("prefetch_factor", None)
        original_init(self, *arguments, **keywords)
        if self.batch_size is not None and self.batch_size > 1 and not self.drop_last:
            monitor.trace.short_batches = True

    patches.set(loader, "__init__", init)

    _autocast(patches, monitor, torch)
    optimizer = torch.optim.Optimizer
    if not getattr(optimizer, "_fissure_counts", False):
        try:
            from torch.optim.optimizer import register_optimizer_step_post_hook

            register_optimizer_step_post_hook(_count_step)
            optimizer._fissure_counts = True
        except ImportError:
            pass
    _CURRENT[0] = monitor


def _autocast(patches, monitor, torch):
    """Which precision the program asks for, also where the device for it is not there."""
    context = getattr(torch, "autocast", None)
    if context is None:
        return
    original = context.__init__

    def init(self, device_type="cuda", dtype=None, *arguments, **keywords):
        original(self, device_type, dtype, *arguments, **keywords)
        if monitor.users.locate(2)[0] is not None and not monitor.own_autocast:
            chosen = dtype or (torch.float16 if device_type == "cuda" else torch.bfloat16)
            monitor.trace.autocasts.append((device_type, str(chosen).replace("torch.", "")))

    patches.set(context, "__init__", init)


_CURRENT = [None]
_CUDA = []


def _compiled(patches, monitor, torch):
    """Compiled code would run where nobody watches; as ordinary Python it computes the same."""

    def as_it_is(model=None, *arguments, **keywords):
        if model is None:
            return lambda function: function
        # TorchScript objects can be saved; here there is nothing to save.
        if not hasattr(model, "save"):
            try:
                model.save = lambda *arguments, **keywords: None
            except (AttributeError, TypeError):
                return model
        return model

    if hasattr(torch, "compile"):
        patches.set(torch, "compile", as_it_is)
    patches.set(torch.jit, "script", as_it_is)
    patches.set(torch.jit, "trace", as_it_is)
    original = torch.jit.load

    def load(*arguments, **keywords):
        monitor.trace.unseen.append("what is inside a model that torch.jit.load brings in")
        return original(*arguments, **keywords)

    patches.set(torch.jit, "load", load)


def _count_step(optimizer, arguments, keywords):
    if _CURRENT[0] is not None:
        _CURRENT[0].trace.optimizer_steps += 1


def _regions(monitor):
    """`from fissure import start_fuzz, end_fuzz`, and the import that users of Soft Assertion
    Fuzzer already have in their files."""

    def start_fuzz(*arguments, **keywords):
        monitor.start_region()

    def end_fuzz(*arguments, **keywords):
        monitor.end_region()

    for path in (
        "fissure",
        "softassertion",
        "softassertion.analysis",
        "softassertion.analysis.boundary_tracer",
    ):
        module = types.ModuleType(path)
        module.__path__ = []
        module.start_fuzz = start_fuzz
        module.end_fuzz = end_fuzz
        sys.modules[path] = module
    # What else the package has means nothing while its own scan runs.
    ours = sys.modules["fissure"]
    ours.reference = lambda *_arguments, **_keywords: lambda marked: marked
    ours.fuzz = ours.scan = lambda *_arguments, **_keywords: None
    sys.modules["softassertion"].analysis = sys.modules["softassertion.analysis"]
    sys.modules["softassertion.analysis"].boundary_tracer = sys.modules[
        "softassertion.analysis.boundary_tracer"
    ]
