"""One accepted call, as oracles see it: build it anew, run it, run it changed, show what came."""

import copy
import inspect
import time

from fissure_worker import functions
from fissure_worker.oracles import compare, foreign, promote
from fissure_worker.oracles.arguments import Arguments, from_parts
from fissure_worker.oracles.referee import Referee

#: Parameters that name dimensions.
AXES = ("dim", "dims", "axis", "axes")
#: Words of a documentation that leaves elements of the result open.
OPEN_ELEMENTS = ("uninitialized", "uninitialised", "not initialized", "filled with random")
#: Characters of what was observed and what was expected.
TEXT_LIMIT = 600
#: `{(path, part): (target, names of its positional parameters)}`: asking for a signature takes longer than a call.
POSITIONAL_NAMES = {}
MOST_NAMES = 256


class Report:
    """Something is wrong, and here is the source that shows it."""

    def __init__(self, detail, observed, expected, source):
        #: Variant and kind of difference, without numbers of this one input.
        self.detail = detail
        self.observed = observed
        self.expected = expected
        #: `def check():` in ordinary library code, with `build()` and `call(…)` given.
        self.source = source

    def plain(self, oracle, observed=None, expected=None):
        return {
            "oracle": oracle,
            "detail": self.detail,
            "observed": compare.short(observed or self.observed, TEXT_LIMIT),
            "expected": compare.short(expected or self.expected, TEXT_LIMIT),
            "check": self.source,
        }


class Call:
    """A call whose arguments can be made as often as one likes.

    Every run begins with the same state of the library's random generator, so that a layer gets
    the same random weights each time.
    """

    def __init__(self, path, target, adapter, library, maker):
        self.path = path
        self.target = target
        self.adapter = adapter
        self.library = library
        #: Its results are handed on as arrays of NumPy.
        self.is_foreign = foreign.is_foreign(library)
        #: Returns new `Arguments` that share no memory with others.
        self.maker = maker
        self.teller = None
        #: Called before every run, so that a watchdog can time each by itself.
        self.pulse = None
        self.baseline = None
        #: What the first run raised, or None.
        self.error = None
        self.seconds = 0.0
        #: The run moves the random generator, if only to make a layer's weights.
        self.draws = False
        #: The call itself moves the random generator, the making of its layer aside.
        self.draws_in_call = False
        #: Making the arguments moves it (a module among them has random weights); None: not known yet.
        self.draws_in_build = None
        self._cache = {}
        self.referee = Referee(self)

    # Building and running.

    def build(self):
        """New arguments, with the same values each time."""
        if self.draws_in_build is False:
            return self.maker()
        self.seed()
        if self.draws_in_build:
            return self.maker()
        before = self.generator_state()
        arguments = self.maker()
        self.draws_in_build = moved(before, self.generator_state())
        return arguments

    def first(self, arguments):
        """The baseline. Raises nothing that is an ordinary exception."""
        self.seed()
        begin = time.perf_counter()
        between = before = self.generator_state()
        try:
            if arguments.layer is None:
                self.baseline = self.target(*arguments.positional, **arguments.keywords)
            else:
                layer = self.target(*arguments.positional, **arguments.keywords)
                between = self.generator_state()
                positional, keywords = arguments.layer
                self.baseline = layer(*positional, **keywords)
        except Exception as error:
            self.error = error
        after = self.generator_state()
        self.seconds = time.perf_counter() - begin
        if self.is_foreign:
            self.baseline = foreign.native(self.baseline)
        self.draws = moved(before, after)
        self.draws_in_call = moved(between, after)
        self._cache["used"] = arguments
        return self.baseline

    def run(self, arguments, seed=True, change_layer=None):
        """The result of the call; `change_layer` gets the layer before it is called."""
        result = self.plain_run(arguments, seed, change_layer)
        return foreign.native(result) if self.is_foreign else result

    def plain_run(self, arguments, seed=False, change_layer=None):
        """The result as the library gives it."""
        if self.pulse is not None:
            self.pulse()
        if seed:
            self.seed()
        result = self.target(*arguments.positional, **arguments.keywords)
        if arguments.layer is not None:
            if change_layer is not None:
                result = change_layer(result)
            result = result(*arguments.layer[0], **arguments.layer[1])
        return result

    def attempt(self, arguments, **options):
        """(result, None), or (None, what was raised)."""
        try:
            return self.run(arguments, **options), None
        except Exception as error:
            return None, error

    def seed(self):
        if self.is_foreign:
            foreign.seed(self.library)
            return
        generator = getattr(self.library, "default_generator", None)
        if generator is not None:
            generator.manual_seed(0)

    def generator_state(self):
        generator = getattr(self.library, "default_generator", None)
        return None if generator is None else generator.get_state()

    # What is known about it.

    def has(self, word):
        """The table of functions says this of it."""
        function = self.function
        return function is not None and word in function.properties

    @property
    def function(self):
        """Its row in the table of functions, or None."""
        if "function" not in self._cache:
            self._cache["function"] = functions.find(self.path, self.target)
        return self._cache["function"]

    @property
    def is_layer(self):
        return self.used.layer is not None

    @property
    def used(self):
        """The arguments of the first run, as that run left them."""
        return self._cache["used"]

    @property
    def random(self):
        """The result is not a function of the arguments: random numbers, or memory that nobody
        has written."""
        if self.differs or self.draws_in_call or self.has_generator or not self.stable:
            return True
        return self.is_foreign and not self.is_repeatable

    @property
    def is_repeatable(self):
        """The same once more without a new seed: for libraries whose generators nobody can read."""
        if "repeatable" not in self._cache:
            again, error = self.attempt(self.build(), seed=False)
            same = error is None and compare.difference(again, self.baseline, exact=True) is None
            self._cache["repeatable"] = same
        return self._cache["repeatable"]

    @property
    def differs(self):
        """Documented to give something else each time."""
        if self.has("uninitialised") or self.has("varies"):
            return True
        if self.adapter is not None and self.adapter.has_state(self.path):
            return True
        text = (getattr(self.target, "__doc__", None) or "").lower()
        return any(words in text for words in OPEN_ELEMENTS)

    @property
    def has_generator(self):
        """Random numbers may come from a generator among the arguments, whose state is the same in
        every run."""
        values = self.used.values(self.parameter)
        return any(type(value).__name__ == "Generator" for _, value in values)

    @property
    def stable(self):
        """A second run gives the very same."""
        if "stable" not in self._cache:
            again, error = self.attempt(self.build())
            same = error is None and compare.difference(again, self.baseline, exact=True) is None
            self._cache["stable"] = same
        return self._cache["stable"]

    @property
    def has_defined_weights(self):
        """What is called has no weights, or the same ones whenever it is made, whatever was in the memory that they got."""
        if not self.is_layer:
            return True
        if "weights" not in self._cache:
            from fissure_worker.oracles import uninitialised

            self._cache["weights"] = not uninitialised.leaves_weights_open(self)
        return self._cache["weights"]

    @property
    def is_of_library(self):
        """A library's own function, not one that somebody wrote with it."""
        return self.path.partition(".")[0] in functions.LIBRARIES

    @property
    def is_elementwise(self):
        """Each element of the result depends on the elements at its own place only."""
        if "elementwise" not in self._cache:
            # Asked only once two results differ, so the module is there.
            from fissure_worker.oracles import kernel_path

            self._cache["elementwise"] = kernel_path.elementwise_places(self) is not None
        return self._cache["elementwise"]

    @property
    def mutates(self):
        """Places of tensors that the call changed."""
        if "mutates" not in self._cache:
            fresh = self.build()
            changed = []
            for place, tensor in self.tensors(self.used):
                if compare.difference(tensor, fresh.get(place), exact=True) is not None:
                    changed.append(place)
            self._cache["mutates"] = changed
        return self._cache["mutates"]

    def tensors(self, arguments):
        """Tensors of the arguments: `[(place, tensor)]`."""
        found = arguments.values(self.parameter)
        return [(place, value) for place, value in found if compare.is_tensor(value)]

    def parameter(self, part, key):
        """Name of the parameter that a positional argument is for."""
        if isinstance(key, str):
            return key
        names = self.positional_names(part)
        return names[key] if key < len(names) else None

    def positional_names(self, part):
        """Names of the positional parameters of a part of the call; the same for every input of an API."""
        known, names = POSITIONAL_NAMES.get((self.path, part), (None, ()))
        if known is not self.target:
            target = self.target
            if part >= 2:
                target = getattr(target, "forward", None)
            names = positional_names(target, self.adapter, skip=1 if part >= 2 else 0)
            if len(POSITIONAL_NAMES) >= MOST_NAMES:
                POSITIONAL_NAMES.clear()
            POSITIONAL_NAMES[self.path, part] = (self.target, names)
        return names

    @property
    def all_dimensions(self):
        """A parameter that names dimensions is None, given or by default: then all of them are meant."""
        given = {}
        for part, values in enumerate(self.used.parts()):
            items = values.items() if isinstance(values, dict) else enumerate(values)
            for key, value in items:
                given[self.parameter(part, key)] = value
        for target in (self.target, getattr(self.target, "forward", None)):
            signature = signature_of(target, self.adapter)
            for name, it in signature.parameters.items() if signature else ():
                given.setdefault(name, it.default)
        return any(name in AXES and value is None for name, value in given.items())

    def promoted_result(self):
        """The result in `float64`, or None where there is none."""
        return promote.promoted_result(self)

    def disagreement(self, observed, expected=None, **options):
        """The first difference that counts (see `Referee`), or None."""
        expected = self.baseline if expected is None else expected
        return self.referee.disagreement(observed, expected, **options)

    # Telling.

    def announce(self, detail, source):
        """Before a run that might end the process: what to report if it does."""
        if self.teller is not None:
            self.teller(detail, source)

    @property
    def names(self):
        """The parts of the arguments, as a check source writes them."""
        if self.is_layer:
            return "arguments, keywords, layer_arguments, layer_keywords"
        return "arguments, keywords"

    def source(self, lines):
        """A check source. In its lines `{build}` makes the arguments, `{call}` is the call."""
        root = self.path.split(".")[0]
        text = ["def check():"]
        seeding = "torch.manual_seed(0)"
        seeded = [
            part
            for part, draws in (("{call}", self.draws), ("{build}", self.draws_in_build))
            if draws
        ]
        if root != "torch" and any("torch." in line for line in lines) or seeded:
            text.append("    import torch")
        call = "call(%s)" % self.names
        if self.is_foreign:
            text.extend("    " + line for line in foreign.SOURCE)
            lines = [line.replace("{call}", "native({traced})") for line in lines]
        for line in lines:
            indent = line[: len(line) - len(line.lstrip())]
            if any(part in line for part in seeded):
                text.append("    %s%s" % (indent, seeding))
            line = line.replace("{build}", "%s = build()" % self.names)
            text.append("    " + line.replace("{call}", call).replace("{traced}", call))
        return "\n".join(text) + "\n"

    def plain_source(self):
        """Just the call, twice: for what happens outside any variant."""
        if "plain" not in self._cache:
            lines = [
                "for _ in range(2):",
                "    {build}",
                "    {call}",
                "return False, 'a result', 'a result'",
            ]
            self._cache["plain"] = self.source(lines)
        return self._cache["plain"]

    def variant_source(self, change, difference, observed="%s", expected="%s"):
        """The usual source: the call as it is, the call after the statements `change`, and the
        lines of `difference` (None: the variant raises or ends the process). `observed` and
        `expected` say what is done to the two results before they are compared."""
        path = difference.path if difference is not None else ""
        lines = ["{build}", "expected = " + expected % ("{call}" + path), "{build}"]
        lines.extend(change)
        if difference is not None:
            lines.append("observed = " + observed % ("{call}" + path))
            lines.extend(difference.lines)
        else:
            lines.extend(
                [
                    "try:",
                    "    observed = " + observed % "{call}",
                    "except Exception as error:",
                    "    return True, repr(error), str(expected)",
                    "return False, str(observed), str(expected)",
                ]
            )
        return self.source(lines)

    def compare_variant(
        self, detail, change, arguments, observed=None, expected=None, stricter=None
    ):
        """Runs a variant; the report if its result differs from the baseline, or None.

        `change`: statements that make the variant's arguments, the same as was done to
        `arguments`. `observed`, `expected`: (source with `%s`, function) done to the results.
        `stricter`: of two results that agree within rounding, the difference that rounding does not explain, or None.
        """
        sources = [pair[0] if pair else "%s" for pair in (observed, expected)]
        raising = self.variant_source(change, None, *sources)
        self.announce(detail, raising)
        result, error = self.attempt(arguments)
        if error is not None:
            if not compare.is_unsupported(error):
                text = "%s: raises %s" % (detail, type(error).__name__)
                return Report(text, repr(error), compare.short(self.baseline), raising)
            return None
        baseline = self.baseline
        try:
            result = observed[1](result) if observed else result
            baseline = expected[1](baseline) if expected else baseline
        except (IndexError, RuntimeError, TypeError, ValueError):
            # The results are not of the form in which they could be compared.
            return None
        found = self.disagreement(result, baseline)
        if found is None and stricter is not None:
            found = stricter(result, baseline)
        if found is None:
            return None
        source = self.variant_source(change, found, *sources)
        texts = compare.short(found.observed), compare.short(found.expected)
        return Report("%s: %s" % (detail, found.kind), texts[0], texts[1], source)

    def verify(self, source):
        """Runs a check source as a script would: `(reproduced, observed, expected)`."""
        root = self.path.split(".")[0]
        namespace = {
            # As in a script: code that functions of the source are handed to looks for it.
            "__name__": "__main__",
            root: importable(root, self.library),
            "build": lambda: self.build().parts(),
            "call": lambda *parts: self.plain_run(from_parts(parts)),
        }
        exec(compile(source, "<check>", "exec"), namespace)
        try:
            reproduced, observed, expected = namespace["check"]()
        except Exception as error:
            # The variant does not even run in the form a person would get: nothing is shown.
            return False, repr(error), ""
        return bool(reproduced), observed, expected


def moved(before, after):
    """Two states of a random generator are not the same."""
    return before is not None and not before.equal(after)


def importable(root, library):
    try:
        return __import__(root)
    except ImportError:
        return library


def signature_of(target, adapter):
    """A callable's signature, or None where nobody knows it."""
    if target is None:
        return None
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return adapter.signature(target) if adapter is not None else None


def positional_names(target, adapter, skip):
    """Names of positional parameters; empty where nobody knows them."""
    signature = signature_of(target, adapter)
    if signature is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, it in signature.parameters.items() if it.kind in kinds]
    return names[skip:]


def plain_call(target, positional, keywords, layer=None, path=None, library=None):
    """A call from ordinary Python values, without workers and arenas: for tests and controls."""
    given = Arguments(list(positional), dict(keywords), layer)

    def maker():
        return from_parts(copy.deepcopy(given.parts()))

    if library is None:
        import torch as library
    if path is None:
        path = "%s.%s" % (target.__module__, getattr(target, "__name__", "call"))
    call = Call(path, target, None, library, maker)
    call.first(call.build())
    return call
