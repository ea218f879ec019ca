"""Calls that a library without a sample database is known to accept: TensorFlow, JAX, NumPy.

A script of its own with the request and the answer of `seeds.py`. For each API: the examples of its
documentation, run under observation; then calls with small values of the types that names, defaults
and (for TensorFlow's own operations) the registry suggest. What the library accepts is a seed. Each
API is asked in a process of its own, which may crash or hang.
"""

import inspect
import json
import os
import random
import signal
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import seeds_examples
import seeds_library

#: Seconds of computing for one API, calls tried in it, and calls after which it is given up when
#: none was accepted.
SECONDS = 3
TRIALS = 500
HOPELESS = 200
#: Calls after which the next sort of values is tried as well.
PATIENCE = 30

#: Of the shape of a further tensor to that of the first, with weights.
RELATIONS = (("same", 5), ("product", 2), ("broadcast", 1), ("free", 3))
SHAPES = (
    [],
    [3],
    [4],
    [2, 3],
    [3, 3],
    [4, 4],
    [2, 3, 4],
    [2, 4, 4],
    [2, 4, 4, 3],
    [1, 5, 6, 2],
    [2, 3, 3, 3, 2],
)
#: What the names of parameters say.
AXES = "axis axes dim dimension batch_dims axis1 axis2 seq_axis batch_axis feature_axis".split()
SIZES = (
    "shape size sizes dims dimensions newshape output_shape input_shape target_shape block_shape "
    "multiples perm permutation ksize strides dilations reps repetitions window_dimensions "
    "window_strides block_size start_indices limit_indices slice_sizes begin broadcast_dimensions"
).split()
COUNTS = (
    "k n m num depth num_segments num_classes target_height target_width offset_height "
    "offset_width order N M num_lower num_upper num_rows num_columns frame_length frame_step "
    "window_length length rank count shift deg repeats"
).split()
SKIPPED = (
    "name out where device layout precision sharding out_sharding preferred_element_type"
).split()
INDICES = "index indices idx ids labels segment_ids seq_lengths sequence_length lengths".split()
TEXTS = "equation padding method mode compute_type direction".split()
LISTS = "tensors arrays inputs values operands arys xs".split()


class Search:
    """Draws calls of one API, and prefers the sorts of values that were accepted."""

    def __init__(self, library, function, parameters, registry, seed):
        self.library = library
        self.function = function
        self.parameters = parameters
        self.registry = registry
        self.random = random.Random(seed)
        self.sorts = {p.name: self.sorts_of(p) for p in parameters}
        self.won = {}
        self.relation, self.first = "same", True
        self.words = seeds_examples.words(function)

    def sorts_of(self, parameter):
        """What to try, the likeliest first."""
        name, default = parameter.name, parameter.default
        known = self.registry.get(name)
        if known is not None:
            return [known]
        if parameter.kind is parameter.VAR_POSITIONAL:
            return ["tensor"]
        if name in AXES:
            return ["axis", "axes"]
        if isinstance(default, bool):
            return ["bool"]
        if isinstance(default, int):
            return ["int"]
        if isinstance(default, float):
            return ["float"]
        if isinstance(default, str):
            return ["text"]
        if isinstance(default, (tuple, list)):
            return ["sizes"]
        if name in SIZES:
            return ["sizes", "int"]
        if name in COUNTS:
            return ["int", "tensor"]
        if name == "dtype" or name.endswith(("_type", "dtype")):
            return ["dtype"]
        if name in LISTS:
            return ["tensors", "tensor"]
        if name in INDICES:
            return ["index", "tensor"]
        if name in TEXTS:
            return ["text", "int"]
        return ["tensor", "index", "int", "float", "tensors", "sizes", "text"]

    def shape(self, base):
        """The shape of the next tensor of a call, in the call's relation to the first one."""
        first, self.first = self.first, False
        if first or self.relation == "same":
            return list(base)
        if self.relation == "product" and len(base) > 1:
            return list(base[:-2]) + [base[-1], self.random.choice((1, 2, 3, base[-2]))]
        if self.relation == "broadcast" and base:
            return list(base[self.random.randrange(len(base)) :])
        return list(self.random.choice(SHAPES))

    def value(self, sort, name, base, dtype):
        pick = self.random
        if isinstance(sort, tuple):
            return sort[0](self, base, dtype)
        if sort == "tensor":
            return self.library.tensor(self.shape(base), dtype, pick)
        if sort == "index":
            shape = pick.choice((base[:1] or [3], [3], self.shape(base)))
            return self.library.index(shape, pick)
        if sort == "tensors":
            count = pick.randrange(1, 4)
            return [self.library.tensor(base, dtype, pick) for _ in range(count)]
        if sort == "axis":
            rank = max(len(base), 1)
            return pick.randrange(-rank, rank)
        if sort == "axes":
            rank = max(len(base), 1)
            return sorted(pick.sample(range(rank), pick.randrange(1, rank + 1)))
        if sort == "sizes":
            if pick.random() < 0.3:
                return list(base)
            if pick.random() < 0.2:
                return [1] * len(base)
            length = pick.choice((len(base), len(base), 1, 2, 4))
            if pick.random() < 0.25:
                return pick.sample(range(length), length)
            return [pick.choice((1, 1, 2, 3)) for _ in range(length)]
        if sort == "int":
            return pick.choice((0, 1, 1, 2, 2, 3, 4))
        if sort == "float":
            return pick.choice((0.0, 0.5, 1.0, 2.0, 0.1))
        if sort == "bool":
            return pick.random() < 0.5
        if sort == "dtype":
            return self.library.dtype(self.library.some_dtype(pick))
        return pick.choice(self.words)

    def sort(self, name, trial):
        """A sort that won before, or one of the list: later ones only when earlier ones failed."""
        won = self.won.get(name)
        if won and self.random.random() < 0.9:
            return self.random.choice(won)
        options = self.sorts[name]
        if options[0] == "axis":
            return self.random.choice(options)
        if won:
            return won[0]
        return self.random.choice(options[: 1 + trial // PATIENCE])

    def draw(self, trial, optional):
        base = list(self.random.choice(SHAPES))
        dtype = self.library.some_dtype(self.random)
        relations, weights = zip(*RELATIONS)
        self.relation = self.random.choices(relations, weights)[0]
        self.first = True
        arguments, keywords, sorts = [], {}, {}
        for parameter in self.parameters:
            name = parameter.name
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            required = parameter.default is parameter.empty
            if name in SKIPPED:
                if required:
                    return None
                continue
            if not required and (not optional or self.random.random() < 0.6):
                continue
            sort = sorts[name] = self.sort(name, trial)
            own = dtype if self.random.random() < 0.85 else self.library.some_dtype(self.random)
            if parameter.kind is parameter.VAR_POSITIONAL:
                count = self.random.randrange(1, 4)
                arguments.extend(self.value(sort, name, base, own) for _ in range(count))
            elif required and parameter.kind is not parameter.KEYWORD_ONLY and not self.registry:
                arguments.append(self.value(sort, name, base, own))
            else:
                keywords[name] = self.value(sort, name, base, own)
        return arguments, keywords, sorts

    def run(self, most):
        found, known = [], set()
        deadline = time.process_time() + SECONDS
        for trial in range(TRIALS):
            if len(found) >= most or time.process_time() > deadline:
                break
            if trial > HOPELESS and not found:
                break
            try:
                drawn = self.draw(trial, optional=trial % 2 == 1 and bool(found))
                if drawn is None:
                    break
                arguments, keywords, sorts = drawn
                if not self.library.accepts(self.function, arguments, keywords):
                    continue
                call = self.library.call(arguments, keywords)
            except Exception:
                continue
            for name, sort in sorts.items():
                won = self.won.setdefault(name, [])
                # Once a tensor is known to serve, a number that serves too is no other parameter.
                if not won or (sort in ("axis", "axes") and sort not in won):
                    won.append(sort)
            text = json.dumps(call, sort_keys=True)
            if text not in known and all(sort in self.won[name] for name, sort in sorts.items()):
                known.add(text)
                found.append(call)
        return found


def calls_of(library, path, request):
    function = library.resolve(path)
    parameters = list(inspect.signature(function).parameters.values())
    registry = library.registry(path)
    search = Search(library, function, parameters, registry, path)
    found = search.run(request["most"])
    tensors = {name for name, won in search.won.items() if "tensor" in won or "index" in won}
    for arguments, keywords in seeds_examples.observed(library, path, function):
        try:
            # Said outright is not other than left out, and `out=None` would be a parameter.
            keywords = {name: value for name, value in keywords.items() if value is not None}
            while arguments and arguments[-1] is None:
                arguments.pop()
            arguments, keywords = library.as_tensors(parameters, tensors, arguments, keywords)
            if library.accepts(function, arguments, keywords):
                found.append(library.call(arguments, keywords))
        except Exception:
            # Arguments that are no plain data, or no longer what the example made.
            continue
    return found


def ask(library, path, request):
    """In a process of its own: the calls of one API into its file; their number."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        count = 0
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            signal.alarm(40 * SECONDS)
            found = calls_of(library, path, request)
            name = path_name(library, path) + ".jsonl"
            with open(os.path.join(request["folder"], name), "w") as file:
                for call in found:
                    file.write(json.dumps(call) + "\n")
            count = len(found)
        except BaseException:
            count = 0
        os.write(writer, str(count).encode())
        os._exit(0)
    os.close(writer)
    text = b""
    while True:
        piece = os.read(reader, 64)
        if not piece:
            break
        text += piece
    os.close(reader)
    os.waitpid(child, 0)
    return int(text or b"0")


def path_name(library, path):
    return library.short + path[len(library.name) :]


def main():
    request = json.loads(os.environ["FISSURE_SEEDS"])
    warnings.simplefilter("ignore")
    library = seeds_library.choose(request["package"])
    counts = {}
    for path in library.apis(request["apis"]):
        names_only = request["most"] == 0
        count = 0 if names_only else ask(library, path, request)
        if count or names_only:
            counts[path_name(library, path)] = count
    with open(os.path.join(request["folder"], "index.json"), "w") as file:
        json.dump(counts, file)


if __name__ == "__main__":
    main()
