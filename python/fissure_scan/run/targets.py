"""The target function of a scan: found by its name, bound to an object where it is a method, and
called with arguments it accepts."""

import ast
import contextlib
import difflib
import inspect
import io
import sys
import textwrap

from . import guess, observe, signatures, specs
from .arguments import is_array, library_of
from .catalogue import not_imported
from ..backends import library as backends
from ..search.runner import Effort
from ..watch import operations
from ..watch.monitor import Policy
from .trial import Trial, refusal


# Seconds for finding arguments, however long importing took.
LEAST = 2.5


class TargetError(Exception):
    """The program cannot be started at all; the message says what to do."""


class Endless(str):
    """Why a target could not be scanned: calls of it do not come back."""

    place = None  # (file, line, function) where it was when it was stopped
    call = None  # the call as source text


class Target:
    """What a name such as `Class.method` leads to."""

    def __init__(self, owner, function, name=None):
        self.name = name or getattr(function, "__name__", None)
        self.owner = owner  # the class, for a method that needs an object
        self.function = function  # the plain function of such a method, else what is called

    def bound(self, constructor):
        """What is called: for a method, that of an object made now."""
        if self.owner is None:
            return self.function
        try:
            made = self.owner() if constructor is None else constructor.construct(self.owner)
        except Exception as error:
            raise TargetError(
                "no object of `%s` could be made: %s: %s"
                % (self.owner.__name__, type(error).__name__, error)
            ) from error
        begin = getattr(made, "init_with_output", None)
        if begin is not None and "jax" in sys.modules:
            # Modules of Flax make their weights of the first arguments.
            key = sys.modules["jax"].random.PRNGKey(0)
            return lambda *values, **named: begin(key, *values, method=self.name, **named)[0]
        if self.name == "call" and "tensorflow" in sys.modules and hasattr(made, "built"):
            # Layers and models of Keras make their weights where they are called.
            return made
        return getattr(made, self.name)


def _meant(name, namespace):
    """Names of it that a mistyped one may mean, as the end of a message."""
    known = [each for each, value in namespace.items() if callable(value)]
    close = difflib.get_close_matches(name, known, 3, 0.7)
    return "; did you mean %s?" % " or ".join(close) if close else ""


def resolve(namespace, path):
    parts = path.split(".")
    if parts[0] not in namespace:
        raise TargetError("there is no `%s` in it%s" % (parts[0], _meant(parts[0], namespace)))
    value, owner = namespace[parts[0]], None
    for part in parts[1:]:
        owner = value
        if not hasattr(value, part):
            raise TargetError("`%s` has no `%s`" % (getattr(value, "__name__", value), part))
        value = getattr(value, part)
    if (
        isinstance(owner, type)
        and (inspect.isfunction(value) or _takes_self(value))
        and not isinstance(inspect.getattr_static(owner, parts[-1]), (staticmethod, classmethod))
    ):
        return Target(owner, value, parts[-1])
    if not callable(value):
        raise TargetError("`%s` cannot be called" % path)
    return Target(None, value)


def method_meant(namespace, path):
    """The path of a target; of a class whose objects are called (a layer, a loss), that of the method this comes to."""
    value = namespace.get(path.partition(".")[0])
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
    if isinstance(value, type):
        for name in ("forward", "__call__"):
            if inspect.isfunction(inspect.getattr_static(value, name, None)):
                return "%s.%s" % (path, name)
    return path


def _takes_self(value):
    """Is it a method that a decorator made an object of (`jax.jit`, `lru_cache`)?"""
    if isinstance(value, type) or inspect.ismethod(value) or not hasattr(value, "__wrapped__"):
        return False
    try:
        return next(iter(inspect.signature(value).parameters), None) == "self"
    except (TypeError, ValueError):
        return False


def import_once(plan):
    """Imports what a target is in; what goes wrong is said where the target is looked for."""
    from . import catalogue

    if plan.get("module"):
        catalogue.imported(plan["module"])


def choose_arguments(program, tensor_size, seconds=30.0):
    """Finds a call that the target accepts and leaves it with the program; a text when there is
    none. Real calls come first, then guesses and what the function's complaints make of them."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            program.function = method_meant(program.namespace(), program.function)
            target = program.resolve()
    except TargetError as error:
        return str(error)
    except Exception as error:
        return not_imported(error, program.module)
    # From here on: importing took what it took.
    budget = Effort(max(LEAST, seconds))
    code = observe.code_of(signatures.behind(target.function))
    line = code.co_firstlineno if code is not None else 0
    documented = guess.documentation(target.function)
    seen = observe.observe(program, target.function, target.owner)
    if seen is not None:
        seen.facts, seen.line = documented, line
        program.synthesised = seen
        trace = program.run(Policy(time_limit=2.0))
        if trace.error is None and trace.operations > 0:
            _cut(program, seen)
            return None
    try:
        chosen = _trial(program, target, tensor_size, budget, documented, seen)
    except (TypeError, ValueError) as error:
        return "its signature cannot be read: %s" % error
    if isinstance(chosen, str):
        return chosen
    chosen.line = line
    program.synthesised = chosen
    return None


# Elements of an observed call beyond which parts of its arrays are tried, and the sizes that these may have.
_MANY = 50000
_PARTS = (8, 16, 32)


def _cut(program, seen):
    """A call with large arrays is made with corners of them where it accepts these: a search needs many runs."""
    own = dict(seen.values)
    arrays = [name for name, value in own.items() if is_array(value) and len(value.shape)]
    if sum(backends.of(library_of(own[name])).count(own[name]) for name in arrays) <= _MANY:
        return
    for most in _PARTS:
        for name in arrays:
            seen.values[name] = own[name][tuple(slice(0, most) for _ in own[name].shape)]
        trace = program.run(Policy(time_limit=2.0))
        if trace.error is None and trace.operations > 0 and not trace.failures:
            return
    seen.values.update(own)


def _trial(program, target, tensor_size, budget, documented, seen):
    """Accepted arguments, or why there are none."""
    makers = [None]
    if target.owner is not None:
        makers = _constructors(program, target.owner, budget)
        if isinstance(makers, str):
            return makers
        if seen is not None and seen.constructor is not None:
            makers.insert(0, seen.constructor)
    last, endless, plain = None, [], None
    for constructor in makers[:3]:

        def attempt(arguments, constructor=constructor):
            arguments.constructor = constructor
            program.synthesised = arguments
            trace = program.run(Policy(time_limit=2.0))
            error = trace.error
            if error is None and trace.stopped == "time":
                error = ("Timeout", "it did not come back in time", None, None)
                endless.append((arguments, trace.place))
            failing[id(arguments)] = bool(trace.failures)
            computed[id(arguments)] = _computed_with(trace)
            kept.append(arguments)
            return error, trace.operations

        failing, computed, kept = {}, {}, []
        trial = Trial(
            target.function, target.owner is not None, documented, program.users, attempt, budget
        )
        beginnings = [
            trial.first_state(shape, labels) for shape, labels in guess.plans(tensor_size)
        ]
        if target.owner is not None:
            beginnings = _by_layers(target.owner, constructor, trial) + beginnings
        outcome = trial.search(beginnings)
        if outcome is not None and outcome.accepted():
            outcome = trial.with_rows(outcome)
            outcome = _binary(trial, outcome, lambda: computed[id(kept[-1])])
            return _inside_domain(trial, outcome, constructor, lambda: failing[id(kept[-1])])
        if (
            last is None
            or trial.last is not None
            and last.last is not None
            and trial.last.rank() > last.last.rank()
        ):
            last = trial
        if outcome is not None and last.last is None:
            last.last = outcome
        if plain is None and outcome is not None and _computes(target.function, outcome):
            plain = trial.arguments(outcome.state)
            plain.constructor, plain.plain_numbers = constructor, True
    if plain is not None:
        return plain
    text = refusal(last.last if last is not None else None)
    return _endless(program, endless, text) or text


# Seconds that a call may take before it counts as one that does not come back.
_PATIENCE = 8.0


def _endless(program, calls, text):
    """The first call that did not come back, given more time; None when it does then."""
    if not calls:
        return None
    arguments, place = calls[0]
    program.synthesised = arguments
    trace = program.run(Policy(time_limit=_PATIENCE))
    if trace.stopped != "time" or trace.starved or (trace.place or place) is None:
        return None
    found = Endless(text)
    found.place, found.call = trace.place or place, program.call_text()
    return found


def _computes(function, outcome):
    """Does a call without array operations divide or raise plain numbers: a schedule, a rate?"""
    if outcome.error is not None or not any(map(specs.is_number, outcome.state.values())):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow))
        for node in ast.walk(tree)
    )


def _computed_with(trace):
    """Names of the parameters whose arrays, or casts of them, are operands of arithmetic with other arrays."""
    names, found = dict(trace.given), set()
    for node in trace.nodes:
        of_parameters = [names[id(value)] for value in node.inputs if id(value) in names]
        if len(node.inputs) == 1 and of_parameters and node.name == "cast":
            names.update((id(value), of_parameters[0]) for value in node.outputs)
        elif len(node.inputs) > 1 and operations.has(node.name, "arithmetic"):
            found.update(of_parameters)
    return found


def _binary(trial, outcome, last_computed):
    """Labels that a formula multiplies with are no classes of any number: `t * p + (1 - t) * q`
    wants 0 and 1."""
    labels = [
        name
        for name, spec in outcome.state.items()
        if spec.kind == "labels" and spec.extra is None and spec.dtype is None
    ]
    if not labels:
        return outcome
    trial.tried.clear()
    trial.call(outcome.state)
    for name in labels:
        if name not in last_computed() or trial.over():
            continue
        state = dict(outcome.state)
        state[name] = state[name]._replace(kind="binary")
        reached = trial.call(state)
        if reached.accepted():
            outcome = reached
    return outcome


def _inside_domain(trial, outcome, constructor, last_failed):
    """Made-up values that fail at once are outside what the function is for: where values from 0 on
    pass, those are its ordinary data, and negative ones are no input of it."""

    def finished(state, domain):
        arguments = trial.arguments(state)
        arguments.constructor, arguments.domain = constructor, domain
        return arguments

    free = [name for name, spec in outcome.state.items() if spec.kind == "float" and not spec.extra]
    trial.tried.clear()
    trial.call(outcome.state)
    if not free or not last_failed():
        return finished(outcome.state, {})
    for kind, low, high in _DOMAINS:
        for chosen in [free] + ([[name] for name in free] if len(free) > 1 else []):
            if trial.over():
                break
            state = dict(outcome.state)
            for name in chosen:
                state[name] = state[name]._replace(kind=kind)
            if trial.call(state).accepted() and not last_failed():
                return finished(state, dict((name, (low, high)) for name in chosen))
    return finished(outcome.state, {})


# Made-up values of a kind, and what is then no input of the function.
_DOMAINS = (
    ("positive", 0.0, None),
    ("unit", 0.0, 1.0),
    ("simplex", 0.0, 1.0),
    ("signed unit", -1.0, 1.0),
)


def _constructors(program, owner, budget):
    """Ways to make an object of a class that work, or why none does."""
    if owner.__init__ is object.__init__ or _takes_nothing(owner):
        return [None]
    documented = guess.documentation(owner.__init__, owner)

    def attempt(arguments):
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(
                io.StringIO()
            ):
                arguments.construct(owner)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return program.describe(error), 0
        return None, 1

    trial = Trial(owner, False, documented, program.users, attempt, budget)
    found = []
    for labels in ("numbers", "integers", "none"):
        outcome = trial.search([trial.first_state((4, 3), labels)])
        if outcome is not None and outcome.accepted():
            arguments = trial.arguments(outcome.state)
            if not any(
                other.values.keys() == arguments.values.keys()
                and repr(other.values) == repr(arguments.values)
                for other in found
            ):
                found.append(arguments)
            if len(found) >= 2 or labels == "numbers" and not signatures.parameters(owner):
                break
    if not found:
        text = refusal(trial.last)
        return "no object of `%s` could be made: %s" % (owner.__name__, text)
    return found


def _takes_nothing(owner):
    """A class without a constructor of its own, whose base takes whatever is passed (`Module`)."""
    if any(
        it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD) for it in signatures.parameters(owner)
    ):
        return False
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            owner()
    except Exception:
        return False
    return True


def _by_layers(owner, constructor, trial):
    """States whose arrays fit the first layers of a module."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    try:
        made = owner() if constructor is None else constructor.construct(owner)
    except Exception:
        return []
    nn, shapes = torch.nn, []
    for layer in _layers(made, nn):
        if isinstance(layer, nn.Conv2d):
            shapes += [(2, layer.in_channels, 32, 32), (2, layer.in_channels, 64, 64)]
        elif isinstance(layer, nn.Conv1d):
            shapes.append((2, layer.in_channels, 32))
        elif isinstance(layer, nn.Conv3d):
            shapes.append((1, layer.in_channels, 8, 8, 8))
        elif isinstance(layer, nn.Linear):
            shapes += [(4, layer.in_features), (2, 5, layer.in_features)]
        elif isinstance(layer, nn.BatchNorm2d):
            shapes.append((4, layer.num_features, 8, 8))
        elif isinstance(layer, nn.BatchNorm1d):
            shapes.append((4, layer.num_features))
        elif isinstance(layer, nn.LayerNorm):
            shapes.append((2, 5) + tuple(layer.normalized_shape))
        elif isinstance(layer, nn.RNNBase):
            shapes.append((2, 5, layer.input_size))
        elif isinstance(layer, nn.Embedding):
            shapes.append(("labels", layer.num_embeddings))
        if len(shapes) >= 4:
            break
    states = []
    for shape in shapes:
        if shape[0] == "labels":
            state = trial.first_state((2, 5), "integers")
            for name, spec in state.items():
                if specs.is_array(spec):
                    state[name] = specs.array("labels", (2, 5), "torch", extra=(None, shape[1]))
                    break
            states.append(state)
        else:
            states.append(trial.first_state(shape, "none"))
            states.append(trial.first_state(shape, "integers"))
            if not isinstance(made, nn.Module):
                states.append(_one_by_row(trial.first_state(shape, "integers")))
    return states


def _layers(made, nn):
    """The layers of a module, or of the modules that an object holds (a trainer its model)."""
    held = [made] if isinstance(made, nn.Module) else list(getattr(made, "__dict__", {}).values())
    for value in held:
        if isinstance(value, nn.Module):
            yield from value.modules()


def _one_by_row(state):
    """The first array goes into the layers; the others have a number for each of its rows (rewards, weights)."""
    arrays = [name for name, spec in state.items() if specs.is_array(spec)]
    for name in arrays[1:]:
        state[name] = state[name]._replace(shape=state[arrays[0]].shape[:1])
    return state
