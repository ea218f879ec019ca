"""The part of the interception that torch and NumPy share: inputs, overriding, failures.

A `Monitor` lives for one run. The torch mode and the traced NumPy array report each operation to
it; it records, overrides inputs, and asks the oracles.
"""

from . import refused, sources, whole_numbers
from ..backends import math_backend
from ..judge import oracles
from ..steer import registry, soft_assertions
from .monitor_tools import flatten, still_bad
from .trace import Failure, InputInfo, Node, Site, Trace, version_of
from .users import local_name, weight_name


class StopRun(BaseException):
    """Ends a run early. Not an `Exception`, so that the program's own handlers let it pass."""


class Policy:
    """How one run is to be made."""

    def __init__(
        self,
        overrides=None,
        connect=False,
        aim_sites=None,
        stop_after=None,
        watch_gradients=False,
        shadow=None,
        time_limit=5.0,
        node_limit=4000,
        backward_limit=None,
        real=False,
    ):
        self.overrides = overrides or {}
        self.connect = connect  # inputs become leaves that autograd reaches
        self.aim_sites = aim_sites  # sites whose soft assertions are differentiated
        self.stop_after = stop_after  # stop after so many operations
        self.watch_gradients = watch_gradients
        self.shadow = shadow  # a Shadow, or None
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.backward_limit = backward_limit  # stop after so many backward passes
        self.real = real  # the program itself, not its recorded steps


# Recording stops when the kept tensors reach about this size.
KEPT_BYTES = 1 << 30


def tests(outputs):
    """Is the result an answer about the values (`isnan`, a comparison) and not made of them?"""
    return bool(outputs) and all(
        str(getattr(value, "dtype", "")) in ("bool", "torch.bool") for value in outputs
    )


def _same(backend, value, own):
    """Is an array that enters what it was in the program's own run?"""
    if tuple(value.shape) != tuple(own.shape):
        return False
    one, two = backend.numbers(value), backend.numbers(own)
    return bool(((one == two) | ((one != one) & (two != two))).all())


class Monitor:
    def __init__(self, users, policy, settings):
        self.users = users
        self.policy = policy
        self.settings = settings
        self.trace = Trace()
        self.active = not settings.regions
        self.slots = {}  # creation place -> input key
        self.whole_slots = {}  # the same of arrays of whole numbers
        self.whole = {}  # id -> input key of whole numbers, and of what is made of them alone
        self.known = {}  # id -> input key of arrays that are inputs
        self.derived = set()  # ids of arrays made by recorded operations
        self.bad = set()  # ids of arrays with NaN or Inf
        self.chosen = set()  # of these, the infinities that the program put there itself
        self.weights = 0
        self.entering = 0
        self.gradient_watch = None
        self.kept_bytes = 0
        self.taken = {}  # id of a number -> (number, the tensor that item() took it from)
        self.loaders = {}  # place of a loop over a loader -> its number
        self.fetching = 0  # a loader makes a batch: what it reads is no input of its own
        self.own_autocast = False  # the runtime itself enters autocast, not the program
        self.journal = None  # see run/journal.py
        self.widen = False  # arguments of a target function are passed in float64
        self.leaf = None  # (backend, value): an argument that gradients go through, see run/differentiating.py
        self.assigned = []  # (backend, array, its own values) that overrides replaced
        self.overdue = False  # the run's time is up: it ends after the next operation
        self.raised = None  # (exception, failure) of linear algebra that refused a computed matrix

    # Inputs ------------------------------------------------------------------------------------

    def created(self, backend, name, arguments, keywords, value, frame, part=0, called=None):
        """A source call in the user's code made `value`; returns what the program gets."""
        if (
            self.settings.resize is not None
            and not self.settings.gets_data
            and not (backend.is_float(value) and backend.is_weight(value))
        ):
            self.active = False
            value = self.settings.resize.cut(value)
            self.active = True
        whole = not backend.is_float(value) and not sources.is_bytes(value)
        if whole and not whole_numbers.counted(backend, name, value):
            self.derived.add(id(value))
            self.trace.keep.append(value)
            return value
        place = (frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti, part)
        slots = self.whole_slots if whole else self.slots
        key = slots.get(place)
        if key is None:
            key = "%s:%d" % ("whole" if whole else "source", len(slots))
            slots[place] = key
        if not whole or not whole_numbers.constant(name):
            value = self._enter(
                backend, key, "source", name, arguments, keywords, value, frame, called=called
            )
            if whole:
                self.whole[id(value)] = key
        self.derived.add(id(value))
        self.trace.keep.append(value)
        return value

    def draws_with(self, arguments, keywords):
        """The parameters of a random draw, before it is made: the draw may refuse them."""
        for value in flatten(keywords.values(), flatten(arguments, [])):
            producer = self.trace.producers.get(id(value))
            if producer is not None:
                producer.drawn = True

    def batch(self, backend, value, position, frame):
        """A tensor of a loader's batch, made where nobody watched; all batches share the input."""
        place = (frame.f_code.co_filename, frame.f_lineno)
        number = self.loaders.setdefault(place, len(self.loaders))
        value = self._enter(
            backend,
            "batch:%d:%d" % (number, position),
            "batch",
            "DataLoader",
            (),
            {},
            value,
            frame,
            position,
        )
        self.derived.add(id(value))
        self.trace.keep.append(value)
        return value

    def _enter(
        self,
        backend,
        key,
        kind,
        name,
        arguments,
        keywords,
        value,
        frame,
        position=None,
        called=None,
    ):
        trace = self.trace
        if key not in trace.inputs and key in self.settings.infos:
            trace.inputs[key] = self.settings.infos[key]
        if key not in trace.inputs:
            file, line = frame.f_code.co_filename, frame.f_lineno
            low, high, why, frozen = sources.source_range(
                name, arguments, keywords, backend.statistics(value), value, frame
            )
            given = called or self.users.target_name(file, line)
            if position is not None:
                parts = (given or "").split(",")
                given = parts[position] if position < len(parts) else "batch_%d" % position
            if backend.is_float(value) and backend.is_weight(value):
                kind, low, high, frozen = "weight", None, None, None
                why = "made with requires_grad"
            if kind == "entering":
                given = local_name(frame, value) or given
            info = InputInfo(
                key, kind, given or name, name, file, line, backend.copy(value), low, high, why
            )
            info.frozen = bool(frozen)
            info.library = backend.library
            if kind == "source" and sources.distributions(backend, name, value):
                info.distribution, info.low, info.high = True, 0.0, 1.0
                info.why = "probabilities that the program writes down"
            if frozen:
                info.why = frozen
            trace.inputs[key] = info
        info = trace.inputs[key]
        override = self.policy.overrides.get(key)
        if override is not None or (
            self.policy.connect and not info.frozen and backend.is_float(value)
        ):
            chosen = value if override is None else override
            replaced = backend.replace(value, chosen, self, key)
            if replaced is not None:
                value = replaced
        self.known[id(value)] = key
        return value

    def met(self, backend, value, frame):
        """An array nobody saw being made takes part in an operation: a weight or an opaque input."""
        if id(value) in self.derived or id(value) in self.known:
            return
        if getattr(value, "fissure_traced", False):
            # A view of a traced array: what it shows is an input or computed from one.
            self.derived.add(id(value))
            self.trace.keep.append(value)
            return
        self.trace.keep.append(value)
        self.derived.add(id(value))
        if (
            frame is None
            or self.fetching
            or not (backend.is_float(value) or sources.is_bytes(value))
        ):
            return
        if not backend.is_array(value):
            # A NumPy scalar: a number of the program, not data that enters it.
            return
        trace = self.trace
        if backend.is_weight(value):
            key = "weight:%d" % self.weights
            self.weights += 1
            kind, why = "weight", "a parameter of the model"
        else:
            key = "entering:%d" % self.entering
            self.entering += 1
            kind, why = "entering", "enters from outside the traced code"
        if key not in trace.inputs and key in self.settings.infos:
            trace.inputs[key] = self.settings.infos[key]
        if key not in trace.inputs:
            file, line = frame.f_code.co_filename, frame.f_lineno
            low, high, reason, _ = sources.source_range(
                "data", (), {}, backend.statistics(value), value
            )
            name = (
                local_name(frame, value)
                or weight_name(frame, value)
                or backend.given_name(value)
                or key.replace(":", "_")
            )
            trace.inputs[key] = InputInfo(
                key,
                kind,
                name,
                why,
                file,
                line,
                backend.copy(value),
                None if kind == "weight" else low,
                None if kind == "weight" else high,
                why if kind == "weight" else reason,
            )
            trace.inputs[key].library = backend.library
        info = trace.inputs[key]
        if kind == "entering" and not info.frozen and not _same(backend, value, info.value):
            # It follows the inputs: computed from them where nobody watched.
            info.frozen, info.why = True, "computed from other inputs"
        override = None if info.frozen else self.policy.overrides.get(key)
        if override is not None and tuple(override.shape) == tuple(value.shape):
            self.assigned.append((backend, value, backend.copy(value)))
            backend.assign(value, override)
        self.known[id(value)] = key
        if self.policy.connect and backend.can_connect(value):
            trace.leaves[key] = value

    def give_back(self):
        """Arrays that outlive the run (of a module that is executed once) get their values back."""
        self.active = False
        while self.assigned:
            backend, value, own = self.assigned.pop()
            # What is judged after the run is judged by what the run had.
            self.trace.exchanged[id(value)] = backend.copy(value)
            backend.assign(value, own)

    # Operations --------------------------------------------------------------------------------

    def operation(self, backend, name, function, arguments, keywords, swapped, frame, call):
        """Runs one operation through `call` and records it."""
        trace = self.trace
        inputs = flatten(arguments, [])
        if keywords:
            flatten(keywords.values(), inputs)
        for value in inputs:
            self.met(backend, value, frame)
        shadow = self.policy.shadow
        in_place = backend.is_in_place(function)
        bad_before = None
        original = arguments
        if in_place:
            bad_before = any(not backend.finite(value) for value in inputs)
            original = tuple(backend.snapshot(value) for value in arguments)
        prepared = shadow.before(backend, arguments, keywords) if shadow is not None else None
        if self.journal is not None:
            self.journal.place(frame.f_code.co_filename, frame.f_lineno, name, frame.f_code.co_name)
        try:
            output = call()
        except Exception as error:
            refused.note(self, backend, (name, function, arguments, keywords), inputs, frame, error)
            raise
        trace.operations += 1
        operands = arguments
        if swapped and len(arguments) == 2:
            operands = (arguments[1], arguments[0])
        site = Site(frame.f_code.co_filename, frame.f_lineno, name, frame.f_code.co_name)
        node = Node(
            trace.operations,
            name,
            function,
            original,
            keywords,
            operands,
            inputs,
            site,
            backend.library,
        )
        outputs = flatten(output if isinstance(output, (tuple, list)) else (output,), [])
        node.output = outputs[0] if outputs else None
        node.outputs = outputs
        if backend.library == "torch" and node.output is not None:
            node.version = version_of(node.output)
            node.operand_versions = tuple(map(version_of, inputs))
        # Tensors are kept so that their identities stay unique; a long run cannot keep them all.
        keep = len(trace.nodes) < self.policy.node_limit and self.kept_bytes < KEPT_BYTES
        self._judge(backend, node, outputs, bad_before, in_place)
        if not tests(outputs):
            for value in inputs:
                producer = trace.producers.get(id(value))
                if producer is not None and producer is not node:
                    producer.consumed = True
        if keep:
            trace.nodes.append(node)
            for value in outputs:
                trace.producers[id(value)] = node
                trace.keep.append(value)
                self.kept_bytes += backend.count(value) * 8
        for value in outputs:
            self.derived.add(id(value))
        if self.whole:
            whole_numbers.met(self, backend, node, outputs)
        if shadow is not None:
            shadow.after(backend, node, outputs, prepared)
        if self.gradient_watch is not None and keep:
            self.gradient_watch.register(node, outputs, inputs)
        self.reached(backend, node)
        if self.policy.stop_after is not None and trace.operations >= self.policy.stop_after:
            trace.stopped = "operations"
            raise StopRun()
        if self.overdue:
            self.out_of_time(frame)
            raise StopRun()
        return output

    def out_of_time(self, frame):
        """The run is ended by the clock; where the user's code is then."""
        self.trace.stopped = "time"
        while frame is not None and self.trace.place is None:
            code = frame.f_code
            if self.users.owns(code.co_filename):
                self.trace.place = (code.co_filename, frame.f_lineno, code.co_name)
            frame = frame.f_back

    def ended_by(self, error):
        """The program ended with an exception that it did not catch."""
        if self.raised is not None and self.raised[0] is error:
            self.trace.failures.append(self.raised[1])

    def _judge(self, backend, node, outputs, bad_before, in_place):
        bad_output = False
        for value in outputs:
            if backend.is_inexact(value):
                if not backend.finite(value):
                    bad_output = True
                    self.bad.add(id(value))
                elif id(value) in self.bad:
                    self.bad.discard(id(value))
        node.output_bad = bad_output
        if self.bad:
            node.inputs_bad = bad_before if in_place else still_bad(backend, node.inputs, self.bad)
        if bad_output and not in_place:
            # The flag follows objects; a view of a spoiled tensor is a new object.
            node.inputs_bad = any(
                backend.is_inexact(value) and not backend.finite(value) for value in node.inputs
            )
        elif bad_output:
            node.inputs_bad = bad_before
        if bad_output:
            self._chosen(backend, node, outputs)
        for oracle in oracles.AT_OPERATION:
            detail = (
                oracle.check(backend, node)
                if registry.oracle_applies(node.name, oracle.name)
                else None
            )
            if detail:
                self.fail(backend, oracle.name, node, detail)
                break

    def _chosen(self, backend, node, outputs):
        """Infinities that the program writes itself (masks) are values like others: what follows
        from them is judged as if they were finite, and a NaN made of them has a producer."""
        if not node.inputs_bad:
            if oracles.writes_nonfinite(node):
                self.chosen.update(id(value) for value in outputs)
            return
        spoiled = [
            value
            for value in node.inputs
            if backend.is_inexact(value) and not backend.finite(value)
        ]
        if not spoiled or not all(id(value) in self.chosen for value in spoiled):
            return
        if any(backend.has_nan(value) for value in outputs):
            node.inputs_bad = False
        else:
            self.chosen.update(id(value) for value in outputs)

    def fail(self, backend, oracle, node, detail):
        trace = self.trace
        if sum(1 for failure in trace.failures if failure.site == node.site) >= 3:
            return
        domain = oracle == "nonfinite" and not oracles.finite_when_wider(backend, node)
        copies = tuple(backend.snapshot(value) for value in node.arguments)
        keywords = dict((key, backend.snapshot(value)) for key, value in node.keywords.items())
        trace.failures.append(
            Failure(
                oracle,
                node,
                detail,
                copies,
                keywords,
                backend.snapshot(node.output),
                domain,
                max(trace.optimizer_steps, trace.backward_calls),
            )
        )
        if oracle == "nonfinite":
            self._absorbed(backend, node, trace.failures[-1])

    def _absorbed(self, backend, node, failure):
        """Was the failing operand protected by a constant that rounding took away?"""
        level = list(node.inputs)
        for _ in range(4):
            producers = [self.trace.producers.get(id(value)) for value in level]
            level = []
            for producer in producers:
                if producer is None:
                    continue
                detail = oracles.epsilon_absorbed(backend, producer)
                if detail:
                    failure.also.append(("absorbed_epsilon", detail))
                    return
                level.extend(producer.inputs)

    def reached(self, backend, node):
        trace = self.trace
        if not soft_assertions.known(node.name) or node.site is None:
            return
        count = trace.hits.get(node.site, 0) + 1
        trace.hits[node.site] = count
        if count == 1:
            trace.first_hit[node.site] = trace.operations
        wanted = self.policy.aim_sites
        if wanted is not None and node.site in wanted and count <= 2:
            aims = backend.differentiate(node, trace)
            if aims:
                trace.aims.setdefault(node.site, []).extend(aims)

    def divided_by_zero(self, file, line):
        """Plain numbers raise where arrays give Inf: a division in the user's own line."""
        if file is None or not self.active:
            return
        node = Node(
            self.trace.operations, "div", None, (), {}, (), [], Site(file, line, "div"), "math"
        )
        self.fail(
            math_backend.BACKEND,
            "nonfinite",
            node,
            "a division of plain numbers raises ZeroDivisionError",
        )

    # Regions -----------------------------------------------------------------------------------

    def start_region(self):
        self.active = True

    def end_region(self):
        self.active = False
        if self.policy.stop_after is not None or self.policy.connect:
            self.trace.stopped = "region"
            raise StopRun()
