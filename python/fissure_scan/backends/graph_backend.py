"""TensorFlow 1 programs: graphs, placeholders, `Session.run`.

A graph computes nothing while it is built. At each `Session.run` the operations that lead to the
fetches are fetched too and told to the monitor one by one, each at the line of the program that made
it. Inputs are the placeholders that are fed, weights the trainable variables, a `Session.run` is a
step, and slopes come from `tf.gradients`. The steps of the own run are recorded: the search repeats
them with other values in one session instead of building the graph again.
"""

import re

import numpy as np

from . import graph_operations
from ..steer import steering
from ..watch import operations, sources
from .arrays import ArrayBackend
from .graph_plan import Plan, user_frame
from ..watch.monitor import StopRun
from .numpy_backend import ordinary_array, ordinary_asarray, plain
from ..watch.trace import InputInfo

_GRADIENT = re.compile(r"(?:^|/)gradients(?:_\d+)?/(.+?)_grad(?:/|$)")
# Steps of the own run that are kept for the search.
_KEPT_STEPS = 20


class Place:
    """Where the program made an operation, in the form of a frame."""

    def __init__(self, file, line, scope):
        self.f_code = self
        self.co_filename = file
        self.co_name = scope
        self.co_firstlineno = 0
        self.f_lineno = line
        self.f_locals = self.f_globals = {}


class GraphBackend(ArrayBackend):
    """Values of a step are NumPy arrays."""

    library = "tensorflow1"

    def __init__(self):
        super().__init__()
        self.step = None  # the one that goes on
        self.recording = None  # steps of the own run

    def is_array(self, value):
        return isinstance(value, np.ndarray)

    def is_symbolic(self, value):
        return False

    def to_numpy(self, value):
        return plain(value)

    def from_numpy(self, array, dtype_name):
        return ordinary_array(array, dtype=dtype_name, copy=True)

    def wide(self, value):
        return ordinary_asarray(plain(value)).astype(np.float64)

    def in_wide(self, function, arguments, keywords):
        if function is None:
            raise TypeError("an operation without a form in NumPy")
        with np.errstate(all="ignore"):
            return function(*arguments, **keywords)

    def vjp(self, node, cotangents):
        return []

    def differentiate(self, node, trace):
        found = []
        for label, distance, seeds in steering.distances(self, node, trace):
            slopes = {}
            for value, cotangent in seeds:
                for key, slope in self.step.slopes(value, cotangent).items():
                    slopes[key] = slopes.get(key, 0.0) + slope
            found.append((label, distance, slopes))
        return found


BACKEND = GraphBackend()


class Recorded:
    """The steps of the own run and the variables before the first of them."""

    def __init__(self, graph, variables):
        self.graph = graph
        self.variables = variables  # (variable, value)
        self.steps = []  # (fetches, feed)
        self.session = None


class Graphs:
    """Watches the sessions of one run."""

    def __init__(self, tf, monitor, original, replaying=False):
        self.tf = tf
        self.monitor = monitor
        self.original = original  # Session.run
        self.replaying = replaying
        self.loaded = set()  # weights that have their values of this run

    def run(self, session, fetches, feed_dict=None, *more):
        """`Session.run`, watched."""
        monitor = self.monitor
        feed = dict(feed_dict or {})
        if not monitor.active or not self.replaying and monitor.users.locate(3)[0] is None:
            return self.original(session, fetches, _plain_feed(feed), *more)
        plan = Plan.of(self.tf, session.graph, fetches, monitor.users)
        if plan.nodes:
            if not self.replaying:
                self._record(session, fetches, feed)
            feed = self._entered(session, plan, feed)
            step = Step(self, session, plan, feed)
            BACKEND.step = step
            step.watch()
        result = self.original(session, fetches, _plain_feed(feed), *more)
        self._observed(result)
        return result

    def _record(self, session, fetches, feed):
        held = BACKEND.recording
        if held is None or held.graph is not session.graph:
            variables = session.graph.get_collection("variables")
            try:
                values = self.original(session, variables)
            except self.tf.errors.FailedPreconditionError:
                return
            held = BACKEND.recording = Recorded(session.graph, list(zip(variables, values)))
        if len(held.steps) < _KEPT_STEPS:
            held.steps.append(
                (
                    fetches,
                    dict(
                        (
                            key,
                            ordinary_array(plain(value))
                            if isinstance(value, np.ndarray)
                            else value,
                        )
                        for key, value in feed.items()
                    ),
                )
            )

    def _observed(self, result):
        for value in result if isinstance(result, (list, tuple)) else (result,):
            if isinstance(value, (float, np.floating)):
                self.monitor.trace.observed.append(float(value))

    # Inputs ------------------------------------------------------------------------------------

    def _entered(self, session, plan, feed):
        """The feed with the values of this run; weights are loaded when they are first read."""
        chosen = {}
        for tensor, value in feed.items():
            chosen[tensor] = self._fed(session.graph.as_graph_element(tensor), value)
        for variable in plan.weights:
            key = "weight:" + variable.name
            value = self.monitor.policy.overrides.get(key)
            if value is not None and key not in self.loaded:
                self._load(session, variable, value)
            self.loaded.add(key)
        return chosen

    def _load(self, session, variable, value):
        self.original(
            session,
            variable.initializer,
            {variable.initializer.inputs[1]: value.astype(variable.dtype.base_dtype.name)},
        )

    def _fed(self, tensor, value):
        monitor = self.monitor
        dtype = tensor.dtype.base_dtype.name
        if "float" not in dtype or not hasattr(tensor, "op"):
            return value
        array = ordinary_array(
            plain(value) if isinstance(value, np.ndarray) else value, dtype=dtype
        )
        if array.ndim == 0 or array.size == 0:
            return value
        key = "feed:" + tensor.op.name
        info = monitor.trace.inputs.get(key) or monitor.settings.infos.get(key)
        if info is None:
            info = self._described(key, tensor, array, value)
        monitor.trace.inputs[key] = info
        override = monitor.policy.overrides.get(key)
        if override is not None and override.shape == array.shape:
            array = override.astype(dtype)
        monitor.known[id(array)] = key
        monitor.derived.add(id(array))
        monitor.trace.keep.append(array)
        return array

    def _described(self, key, tensor, array, value):
        monitor = self.monitor
        file, line, _ = user_frame(tensor.op, monitor.users) or ("", 0, "")
        name = monitor.users.target_name(file, line) or tensor.op.name
        low, high, why, _ = sources.source_range("data", (), {}, BACKEND.statistics(array), array)
        for info in _origins(monitor, value):
            if info.low is not None or info.high is not None or (low, high) == (None, None):
                low, high, why = info.low, info.high, info.why
        info = InputInfo(
            key,
            "source",
            name.split(",")[0],
            "placeholder",
            file,
            line,
            array.copy(),
            low,
            high,
            why,
        )
        info.library = BACKEND.library
        for numpy_info in monitor.trace.inputs.values():
            if numpy_info.library == "numpy" and not numpy_info.frozen:
                # What is fed is searched at the placeholder.
                numpy_info.frozen, numpy_info.why = True, "reaches the graph by placeholders"
        return info


def _origins(monitor, value):
    """The NumPy inputs that a fed array shows parts of, unchanged."""
    for _ in range(8):
        info = monitor.trace.inputs.get(monitor.known.get(id(value)))
        if info is not None:
            return [info]
        producer = monitor.trace.producer(value)
        if producer is None or not operations.moved(producer.name) or not producer.inputs:
            break
        value = producer.inputs[0]
    return []


def _plain_feed(feed):
    return dict((key, plain(value)) for key, value in feed.items()) or None


class Step:
    """One `Session.run`, looked into before it happens."""

    def __init__(self, graphs, session, plan, feed):
        self.graphs = graphs
        self.session = session
        self.plan = plan
        self.feed = feed
        self.values = {}  # tensor -> array
        self.tensors = {}  # id of an array -> tensor
        self._slopes = {}  # tensor -> (placeholder, [(key, gradient tensor)])

    def watch(self):
        graphs, plan = self.graphs, self.plan
        tensors = plan.tensors()
        fetched = graphs.original(self.session, tensors, _plain_feed(self.feed))
        fed = dict(
            (self.session.graph.as_graph_element(tensor), value)
            for tensor, value in self.feed.items()
        )
        weights = dict((variable.op.name, "weight:" + variable.name) for variable in plan.weights)
        for tensor, value in zip(tensors, fetched):
            self._hold(tensor, fed.get(tensor, value), weights)
        nodes = {}
        for part in plan.nodes:
            node = self._operation(part)
            for op in part.ops:
                nodes[op.name] = node
        if plan.gradients:
            self._gradients(nodes)

    def _hold(self, tensor, value, weights):
        """The value of a tensor; operations that only hand it on share the object."""
        monitor = self.graphs.monitor
        op = tensor.op
        value = value if isinstance(value, np.ndarray) else ordinary_asarray(value)
        if graph_operations.passes_on(op.type) and op.inputs and op.inputs[0] in self.values:
            value = self.values[op.inputs[0]]
        elif graph_operations.passes_on(op.type) or op.type == "VariableV2":
            source = op if op.type == "VariableV2" else op.inputs[0].op
            key = weights.get(source.name)
            if key is not None:
                self._weight(key, source, value)
        self.values[tensor] = value
        self.tensors.setdefault(id(value), tensor)
        if id(value) not in monitor.known:
            monitor.derived.add(id(value))
        monitor.trace.keep.append(value)

    def _weight(self, key, op, value):
        monitor = self.graphs.monitor
        info = monitor.trace.inputs.get(key) or monitor.settings.infos.get(key)
        if info is None:
            file, line, _ = user_frame(op, monitor.users) or ("", 0, "")
            name = monitor.users.target_name(file, line) or op.name
            info = InputInfo(
                key,
                "weight",
                name,
                "a variable of the graph",
                file,
                line,
                value.copy(),
                None,
                None,
                "a variable of the graph",
            )
            info.library = BACKEND.library
        monitor.trace.inputs[key] = info
        monitor.known[id(value)] = key
        monitor.derived.add(id(value))

    def _operation(self, part):
        monitor, op = self.graphs.monitor, part.ops[-1]
        inputs = list(op.inputs) if part.composite is None else part.inputs()
        operands = [
            _number(self.values[tensor], tensor) for tensor in inputs if tensor in self.values
        ]
        if len(operands) != len(inputs):
            return None
        if part.composite is None:
            name = graph_operations.canonical(op.type)
            function, operands, keywords = graph_operations.call_of(op, operands)
        else:
            name, function, keywords = part.composite, None, {}
            operands = [
                value
                for value in operands
                if isinstance(value, np.ndarray) and value.dtype.kind == "f"
            ]
        outputs = tuple(self.values[tensor] for tensor in op.outputs)
        monitor.operation(
            BACKEND,
            name,
            function,
            tuple(operands),
            keywords,
            False,
            Place(*part.place),
            lambda: outputs if len(outputs) > 1 else outputs[0],
        )
        return monitor.trace.nodes[-1] if monitor.trace.nodes else None

    def _gradients(self, nodes):
        """A backward pass: its first NaN or Inf, where everything before is finite."""
        monitor = self.graphs.monitor
        trace = monitor.trace
        trace.passed_backward()
        bad = [
            op
            for op in self.plan.gradients
            if any(not BACKEND.finite(self.values[tensor]) for tensor in op.outputs)
        ]
        if bad and monitor.policy.watch_gradients:
            trace.gradient_bad = True
            for op in bad:
                found = _GRADIENT.search(op.name)
                node = nodes.get(found.group(1)) if found else None
                if node is not None and not trace.failures:
                    monitor.fail(
                        BACKEND,
                        "gradient_nonfinite",
                        node,
                        "the value of %s is finite, its gradient is not" % node.name,
                    )
                    break
        limit = monitor.policy.backward_limit
        if limit is not None and trace.backward_calls >= limit:
            trace.stopped = "training steps"
            raise StopRun()

    def slopes(self, value, cotangent):
        """input key -> slope of a value at the inputs, by `tf.gradients`."""
        tf, graph = self.graphs.tf, self.session.graph
        tensor = self.tensors.get(id(value))
        if tensor is None or graph.finalized:
            return {}
        key = self.graphs.monitor.known.get(id(value))
        if key is not None:
            return {key: cotangent}
        inputs = [
            (name, self.tensors[identity])
            for identity, name in self.graphs.monitor.known.items()
            if identity in self.tensors
        ]
        held = self._slopes.get(tensor)
        if held is None:
            with graph.as_default():
                seed = tf.compat.v1.placeholder(tensor.dtype.base_dtype)
                found = tf.gradients([tensor], [place for _, place in inputs], grad_ys=[seed])
            held = self._slopes[tensor] = (
                seed,
                [
                    (name, gradient)
                    for (name, _), gradient in zip(inputs, found)
                    if gradient is not None and not isinstance(gradient, tf.IndexedSlices)
                ],
            )
        seed, pairs = held
        feed = dict(_plain_feed(self.feed) or {})
        feed[seed] = cotangent.astype(tensor.dtype.base_dtype.name)
        values = self.graphs.original(self.session, [gradient for _, gradient in pairs], feed)
        result = {}
        for (name, _), slope in zip(pairs, values):
            slope = np.nan_to_num(slope.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
            if slope.any():
                result[name] = result.get(name, 0.0) + slope
        return result


def _number(value, tensor):
    """Constants without axes are plain numbers, as the program wrote them."""
    if value.ndim == 0 and tensor.op.type == "Const" and value.dtype.kind in "fiu":
        return value.item()
    return value


def replay(held, tf, monitor, original):
    """The recorded steps with the values of a policy, in the own run's graph."""
    graphs = Graphs(tf, monitor, original, replaying=True)
    if held.session is None:
        held.session = tf.compat.v1.Session(graph=held.graph)
    with held.graph.as_default():
        for variable, value in held.variables:
            graphs._load(held.session, variable, value)
        for fetches, feed in held.steps:
            graphs.run(held.session, fetches, feed)
