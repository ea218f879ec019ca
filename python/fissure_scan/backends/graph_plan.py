"""The operations of a TensorFlow 1 graph that lead to some fetches: which of them are the program's, on
which line each was made, and which belong together as parts of one library function."""

from . import graph_operations


def user_frame(op, users):
    """(file, line, scope) of the program's line that made an operation."""
    found = None
    for entry in op.traceback or ():
        if users.owns(entry[0]):
            found = (entry[0], entry[1], entry[2])
    return found


class Plan:
    """The operations that lead to some fetches: those of the program, and those of gradients."""

    _known = {}

    @classmethod
    def of(cls, tf, graph, fetches, users):
        elements = [
            graph.as_graph_element(item) for item in tf.nest.flatten(fetches) if item is not None
        ]
        wanted = tuple(sorted(getattr(element, "op", element).name for element in elements))
        key = (id(graph), wanted)
        held = cls._known.get(key)
        if held is None or held.graph is not graph:
            held = cls(tf, graph, elements, users)
            cls._known = dict(
                (name, plan) for name, plan in cls._known.items() if plan.graph is graph
            )
            cls._known[key] = held
        return held

    def __init__(self, tf, graph, elements, users):
        self.graph = graph
        seen, level = set(), [getattr(element, "op", element) for element in elements]
        while level:
            op = level.pop()
            if op in seen:
                continue
            seen.add(op)
            level.extend(tensor.op for tensor in op.inputs)
            level.extend(op.control_inputs)
        self.ops, self.nodes, self.gradients = [], [], []
        groups = {}  # operation -> the composite that it is a part of
        for op in graph.get_operations():
            if op not in seen or op._get_control_flow_context() is not None or not op.outputs:
                continue
            if any(
                tensor.dtype.base_dtype in (tf.resource, tf.string, tf.variant)
                for tensor in op.outputs
            ):
                continue
            files = [entry[0] for entry in op.traceback or ()]
            place = user_frame(op, users)
            if any("gradients_util" in file or "gradients_impl" in file for file in files):
                self.gradients.append(op)
                continue
            if place is None or any("training" in file or "optimizer" in file for file in files):
                continue
            self.ops.append(op)
            if not graph_operations.silent(op.type) and not graph_operations.passes_on(op.type):
                self._add(op, place, _composite(op, users), groups)
        if not self.gradients and not any(hasattr(element, "op") for element in elements):
            # An initialisation, a save: nothing is computed for the program to see.
            self.nodes = []
        handles = set(op.name for op in seen if op.type in ("VarHandleOp", "VariableV2"))
        self.weights = (
            [
                variable
                for variable in graph.get_collection("trainable_variables")
                if variable.op.name in handles
            ]
            if self.nodes
            else []
        )
        if not any(op.type == "Placeholder" for op in seen) and not self.weights:
            self.nodes = []

    def _add(self, op, place, composite, groups):
        """An operation is a node; the parts of a library function are one node together."""
        if composite is None:
            self.nodes.append(Part(place, None, op))
            return
        makers = [_made_by(tensor.op) for tensor in op.inputs]
        group = Part(place, composite, op)
        for part in [groups[maker] for maker in makers if maker in groups]:
            if part in self.nodes and (part.composite, part.place) == (composite, place):
                # Told where its last operation is, after everything that it needs.
                self.nodes.remove(part)
                group.ops = part.ops + group.ops
        self.nodes.append(group)
        groups.update((member, group) for member in group.ops)

    def tensors(self):
        return [tensor for op in self.ops + self.gradients for tensor in op.outputs]


class Part:
    """One operation, or those of one call of a library function, made on a line of the program."""

    def __init__(self, place, composite, op):
        self.place = place
        self.composite = composite
        self.ops = [op]

    def inputs(self):
        own = set(self.ops)
        found = []
        for op in self.ops:
            for tensor in op.inputs:
                if _made_by(tensor.op) not in own and tensor not in found:
                    found.append(tensor)
        return found


def _made_by(op):
    """The operation behind those that only hand a value on."""
    while graph_operations.passes_on(op.type) and op.inputs:
        op = op.inputs[0].op
    return op


def _composite(op, users):
    """The library function on the program's line that the operation is a part of."""
    entries, last = list(op.traceback or ()), None
    for position, entry in enumerate(entries):
        if users.owns(entry[0]):
            last = position
    for entry in entries[last + 1 :] if last is not None else ():
        name = graph_operations.composite(entry[2])
        if name is not None:
            return name
    return None
