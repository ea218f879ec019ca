"""The user's program as something that can be run again and again."""

import contextlib
import importlib
import importlib.machinery
import linecache
import os
import random
import re
import sys
import time
import traceback

from . import constants, instrument, targets
from .arguments import is_array
from .differentiating import Differentiation
from ..watch import library_results, patches, users
from ..watch.monitor import Monitor, StopRun
from ..watch.trace import Trace
from .journal import Run
from .scratch import Scratch
from .surroundings import Capture, alarm, main_package, package_of, package_places


# What a program for TensorFlow 1 says about TensorFlow 2.
_VERSION_1 = re.compile(
    r"module 'tensorflow\S*' has no attribute "
    r"'(placeholder|Session|InteractiveSession|log|global_variables_initializer|"
    r"get_variable|variable_scope|random_normal|truncated_normal|set_random_seed|"
    r"train|layers|app|flags|ConfigProto|reset_default_graph)'"
)


class Settings:
    """What stays the same over all runs of a session."""

    def __init__(self, regions):
        self.regions = regions
        self.leaf_sources = set()
        self.honour_no_grad = False
        self.infos = {}  # inputs as the own run made them
        self.resize = None  # a Resize, or None
        self.gets_data = False  # what a function makes beside its arguments has the size it has
        self.given = None  # place of a call -> was what it gave finite in the own run?
        self.tf1 = False  # `import tensorflow` means version 1


class Program:
    """A script, or a function of a file or module, with its arguments."""

    def __init__(self, plan):
        self.plan = plan
        self.file = plan.get("file")
        self.arguments = plan.get("arguments", [])
        self.function = plan.get("function")
        self.module = plan.get("module")
        self.sources = {}  # file -> replacement source, for checking fixes
        self._codes = {}
        self._changed = []  # (module, its names before) of changed sources
        root = plan["root"]
        folders, files = package_places(self.module)
        self.users = users.UserFiles(root, ([self.file] if self.file else []) + files, folders)
        self.settings = Settings(bool(plan.get("regions")))
        self.settings.tf1 = bool(plan.get("tf1"))
        self.recording = None  # steps of a graph program, see graph_backend.py
        self.synthesised = None  # arguments of a target function, see arguments.py
        self.autocast = None  # name of the precision that the whole program runs under
        self.changed_constant = None  # (name, occurrence, value) of a number of the script
        self.runs = 0
        self._first_passed = False
        self._call_texts = {}  # id of arguments -> (arguments, their source text)
        self.journal = None  # where runs are written down, see journal.py
        self.forbidden = set()  # keys of runs that killed their process
        self.widen = False  # arguments are passed in float64
        self.change = None  # the change of changes.py that is applied
        self.differentiation = Differentiation()  # of a target function
        self._held = None  # namespace of a target function, made once
        self._held_changed = None  # (change, namespace) of the changed source that is tried
        self._modules = instrument.Modules(self.users.written, lambda: self.sources)
        self._keep_modules = bool(self.function)
        self._settled = set(sys.modules)  # modules that are not the program's
        self.home = os.getcwd()

    # One run -----------------------------------------------------------------------------------

    def run(self, policy):
        """Runs the program once and returns the trace of it."""
        trace = self._journaled(policy)
        if (
            trace.error is not None
            and self.runs == 2
            and not self._keep_modules
            and self._first_passed
            and not policy.overrides
        ):
            # Its modules cannot be executed a second time: from now on they are not.
            self._keep_modules = True
            again = self._journaled(policy)
            if again.error is None:
                return again
            self._keep_modules = False
        elif self.runs == 1:
            self._first_passed = trace.error is None
        return trace

    def _journaled(self, policy):
        """One run, written down before it begins so that its end by a signal has a cause."""
        if self.journal is None:
            return self._run(policy)
        run = Run(_kind(policy, self.autocast), policy.overrides, self.change, self.call_text())
        if self.forbidden and run.key() in self.forbidden:
            trace = Trace()
            trace.error = ("Skipped", "this run ended its process before", None, None)
            return trace
        self.journal.begin(run, policy.time_limit)
        try:
            return self._run(policy)
        finally:
            self.journal.end()

    def call_text(self):
        """The call of a target function as source, made once for each set of arguments."""
        if self.synthesised is None:
            return None
        held = self._call_texts.get(id(self.synthesised))
        if held is None:
            from ..report import reproduce

            try:
                text = reproduce.call_text(self.synthesised)
            except Exception:
                text = None
            held = self._call_texts[id(self.synthesised)] = (self.synthesised, text)
        return held[1]

    def _run(self, policy):
        self.runs += 1
        monitor = Monitor(self.users, policy, self.settings)
        monitor.program_file = self.file or self.module or ""
        monitor.journal = self.journal
        monitor.widen = self.widen
        if policy.watch_gradients and not self.widen:
            monitor.leaf = self.differentiation.leaf
        started = time.perf_counter()
        if self.recording is not None and not (
            policy.real or self.sources or self.changed_constant or self.settings.resize
        ):
            return self._replay(monitor, policy, started)
        torch = sys.modules.get("torch")
        mode = None
        if torch is not None:
            from ..backends.torch_backend import TorchBackend, TorchMode

            mode = TorchMode(monitor, TorchBackend())
            if policy.watch_gradients:
                from ..watch.gradient_watch import GradientWatch

                monitor.gradient_watch = GradientWatch(monitor)
        self.reseed()
        self.forget_modules()
        applied = patches.install(monitor, mode)
        remove_numpy = None
        if "numpy" in sys.modules:
            from ..backends import numpy_backend, pandas_watch, scipy_watch

            remove_numpy = numpy_backend.install(monitor)
            scipy_watch.install()
            pandas_watch.install(applied, monitor)
        library_results.install(applied, monitor)
        loader = importlib.machinery.SourceFileLoader
        applied.set(loader, "get_code", self._modules.get_code(loader.get_code))
        libraries = [library.Run(monitor, applied) for library in array_libraries()]
        captured = Capture()
        try:
            with alarm(policy.time_limit, monitor), captured.active(), Scratch().active():
                with mode if mode is not None else contextlib.suppress(), self._autocast(
                    torch, monitor
                ):
                    self._guarded(monitor)
        except StopRun:
            # The alarm rang just before or just after the program.
            pass
        finally:
            for library in libraries:
                library.end()
            applied.restore()
            monitor.give_back()
            patches.close_plots()
            if remove_numpy is not None:
                remove_numpy()
            if torch is not None:
                torch.set_grad_enabled(True)
                torch.set_default_dtype(torch.float32)
            os.chdir(self.home)
        if self.recording is None and not monitor.settings.resize:
            self.recording = recorded_steps()
        trace = monitor.trace
        trace.stdout = captured.text()
        trace.stderr = captured.errors()
        trace.seconds = time.perf_counter() - started
        return trace

    def _replay(self, monitor, policy, started):
        """The recorded steps of a graph program instead of the program."""
        from ..backends import tensorflow_backend

        try:
            with alarm(policy.time_limit, monitor):
                tensorflow_backend.replay(self.recording, monitor)
        except StopRun:
            monitor.trace.stopped = monitor.trace.stopped or "time"
        except KeyboardInterrupt:
            raise
        except Exception as error:
            monitor.trace.error = self.describe(error)
        monitor.trace.seconds = time.perf_counter() - started
        return monitor.trace

    def _autocast(self, torch, monitor):
        if self.autocast is None:
            return contextlib.suppress()
        monitor.own_autocast = True
        try:
            return torch.autocast("cpu", dtype=getattr(torch, self.autocast))
        finally:
            monitor.own_autocast = False

    def _guarded(self, monitor):
        trace = monitor.trace
        try:
            trace.result = self._execute(monitor)
        except StopRun:
            trace.stopped = trace.stopped or "time"
        except SystemExit as stop:
            code = stop.code
            trace.exit_code = 0 if code is None else code if isinstance(code, int) else 1
            if isinstance(code, str):
                trace.error = ("SystemExit", code, None, None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            trace.error = self.describe(error)
            if isinstance(error, ZeroDivisionError) and not _said(*trace.error[2:]):
                monitor.divided_by_zero(*trace.error[2:])
            monitor.ended_by(error)

    def describe(self, error):
        file, line = None, None
        for entry in traceback.extract_tb(error.__traceback__):
            if self.users.owns(entry.filename):
                file, line = entry.filename, entry.lineno
        if isinstance(error, SyntaxError):
            file, line = error.filename, error.lineno
        message = str(error)[:500]
        if isinstance(error, AssertionError) and not message and file is not None:
            # What is asserted says what is wanted.
            message = linecache.getline(file, line).strip()[:200]
        if isinstance(error, AttributeError) and _VERSION_1.search(message):
            message += " (a program for TensorFlow 1? scan it with --tf1)"
        return (type(error).__name__, message, file, line)

    def _execute(self, monitor):
        sys.argv = [self.file or self.module or ""] + list(self.arguments)
        if self.function:
            bound = self.resolve().bound(self.synthesised.constructor)
            result = self.synthesised.call(bound, monitor)
            if not self.widen:
                self.differentiation.backward(result, monitor)
            return result
        self.execute_as_main()
        return None

    def execute_as_main(self):
        """Runs the file as `python file` would; returns its namespace."""
        code = self._code(self.file)
        package = main_package(self.file)
        namespace = {
            "__name__": "__main__",
            "__file__": self.file,
            "__builtins__": __builtins__,
            "__doc__": None,
            "__package__": package,
            "__spec__": None,
            "__loader__": None,
        }
        main = type(sys)("__main__")
        main.__dict__.update(namespace)
        before = sys.modules.get("__main__")
        sys.modules["__main__"] = main
        try:
            exec(code, main.__dict__)
        finally:
            sys.modules["__main__"] = before
        return main.__dict__

    def gets_data(self):
        """Is it a function that is called with arrays? Then these are its data."""
        return self.synthesised is not None and any(
            is_array(value) for value in self.synthesised.values.values()
        )

    def resolve(self):
        """The target function, in a namespace made anew."""
        return targets.resolve(self.namespace(), self.function)

    def namespace(self):
        """The file or module of a target function. It is executed once: many modules (registered
        operators, global tables) cannot be executed a second time in one process."""
        changed = bool(self.sources) or self.changed_constant is not None
        if not changed and self._held is not None:
            return self._held
        key = (tuple(sorted(self.sources.items())), self.changed_constant)
        if changed and self._held_changed is not None and self._held_changed[0] == key:
            return self._held_changed[1]
        made = self._namespace()
        if changed:
            self._held_changed = (key, made)
        else:
            self._held = made
        return made

    def _namespace(self):
        if not self.file:
            return self._module_namespace()
        root, package = package_of(self.file)
        name = os.path.splitext(os.path.basename(self.file))[0]
        if not self.sources and self.changed_constant is None:
            held = sys.modules.get("%s.%s" % (package, name) if package else name)
            if held is not None and self.users.same(getattr(held, "__file__", None), self.file):
                return held.__dict__
        if package:
            # Relative imports work as they do where the package is used.
            if root not in sys.path:
                sys.path.insert(0, root)
            importlib.import_module(package)
            name = "%s.%s" % (package, name)
        module = type(sys)(name)
        module.__file__ = self.file
        module.__package__ = package
        before = sys.modules.get(name)
        sys.modules[name] = module
        try:
            self._execute_module(module)
        finally:
            if self.sources or self.changed_constant is not None:
                # Only for this run.
                if before is None:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = before
        return module.__dict__

    def _execute_module(self, module):
        """What the file raises hides nothing that it defines."""
        with open(self.file, "rb") as handle:
            source = self.sources.get(self.file) or handle.read()
        error = instrument.execute(source, self.file, module.__dict__, self._code(self.file))
        if error is not None and self.function.partition(".")[0] not in module.__dict__:
            raise error

    def _module_namespace(self):
        module = importlib.import_module(self.module)
        for file in self.sources:
            for held in list(sys.modules.values()):
                if self.users.same(getattr(held, "__file__", None), file):
                    self._changed.append((held, dict(held.__dict__)))
                    exec(self._code(file), held.__dict__)
        first = self.function.partition(".")[0] if self.function else None
        if first and first not in module.__dict__ and hasattr(module, first):
            # A package that imports its parts when they are asked for.
            return dict(module.__dict__, **{first: getattr(module, first)})
        return module.__dict__

    def restore_sources(self):
        """Modules that a changed source was executed in are as they were."""
        self.sources = {}
        self._held_changed = None
        while self._changed:
            module, before = self._changed.pop()
            module.__dict__.clear()
            module.__dict__.update(before)

    def text(self):
        """The source of the file or module; None when it has none."""
        file = self.file
        if file is None:
            file = getattr(sys.modules.get(self.module), "__file__", None)
        if file is None:
            return None
        with open(file, "rb") as handle:
            return handle.read().decode("utf-8", "replace")

    def _code(self, file):
        text = self.sources.get(file)
        key = (file, text, self.changed_constant)
        code = self._codes.get(key)
        if code is None:
            if text is None:
                with open(file, "rb") as handle:
                    text = handle.read()
            if self.changed_constant is not None:
                code = constants.changed(text, file, *self.changed_constant)
            elif self.users.written(file):
                code = instrument.compiled(text, file)
            else:
                code = compile(text, file, "exec")
            self._codes[key] = code
        return code

    def reseed(self):
        random.seed(0)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(0)
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.default_generator.manual_seed(0)

    def forget_modules(self):
        """The program's own modules are executed anew in each run, as in a fresh process, unless
        they cannot be."""
        if self._keep_modules:
            return
        if len(sys.modules) == len(self._settled):
            return
        for name in sys.modules.keys() - self._settled:
            file = getattr(sys.modules[name], "__file__", None)
            if file and self.users.owns(file):
                del sys.modules[name]
            else:
                self._settled.add(name)


def _kind(policy, autocast):
    """What a run is where it is ours and not the program as it is."""
    if autocast is not None:
        return "autocast:" + autocast
    if policy.shadow is not None:
        return "shadow:%s" % getattr(policy.shadow, "dtype", "")
    return ""


def array_libraries():
    """Modules of the loaded libraries whose functions are replaced; see wrapping.py."""
    from ..backends import library

    found = library.replaced()
    for module in found:
        if module not in _INSTALLED:
            module.install()
            _INSTALLED.append(module)
    return found


_INSTALLED = []


def recorded_steps():
    graphs = sys.modules.get(__package__.rpartition(".")[0] + ".backends.graph_backend")
    return graphs.BACKEND.recording if graphs is not None else None


def _said(file, line):
    """Does the program itself raise there, by a statement of its own?"""
    return file is not None and linecache.getline(file, line).lstrip().startswith("raise ")
