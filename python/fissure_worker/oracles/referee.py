"""Decides whether a difference between two results of one call is the library's fault.

Never its fault: indices (which of two equal elements is the largest is open), rounding of the
kind that the same call in `float64` shows to be ordinary, an overflow that the true result
explains, the way in which NaN and infinities of the input spread through sums, and whatever already
changes when the input changes in its last digits.
"""

from fissure_worker import dtypes
from fissure_worker.oracles import compare, promote

#: Runs with the last digits of the input changed.
PERTURBATIONS = 4
#: How far the input is moved, in units of its last place.
MOVED_BY = 4.0
#: How far, at most, all elements are moved together.
FAR = 2.0**-16
#: A difference of this many times what the perturbations did is still put down to them.
GRACE = 16.0
#: Last digits of the largest number that a function of somebody's may lose.
FEW = 4.0
#: Below this share of the largest number of its type a result does not overflow on the way.
REPRESENTABLE = 1.0 / 16.0


class Referee:
    def __init__(self, call):
        self.call = call
        self._reference = None
        self._asked = False
        self._perturbed = None
        self._perturbed_reference = None

    def disagreement(self, observed, expected, **options):
        for found in compare.differences(observed, expected, **options):
            if not self.excused(found, observed, expected):
                return found
        return None

    def excused(self, found, observed, expected):
        if found.kind in ("structure", "type", "shape", "dtype"):
            return False
        first, second = part(observed, found.path), part(expected, found.path)
        if not compare.is_tensor(first):
            return self.excused_by_perturbation(found, first, second)
        if self.is_index(found.path, first) or self.is_ambiguous():
            return True
        if found.kind == "values" and compare.is_inexact(first):
            if self.excused_by_reference(found.path, first, second):
                return True
        own = not self.call.is_of_library and compare.dtype_name(first) != "bool"
        if found.kind == "values" and own:
            if self.excused_by_floats(first, second):
                return True
        if found.kind in ("nan placement", "inf placement"):
            if self.excused_by_overflow(found.path, first, second) or self.excused_by_input():
                return True
            if not self.call.is_elementwise:
                return self.excused_by_condition(found, first, second)
        return self.excused_by_perturbation(found, first, second)

    def is_index(self, path, leaf):
        """Positions rather than values."""
        if compare.is_inexact(leaf) or compare.dtype_name(leaf) not in ("int64", "int32"):
            return False
        if self.call.has("indices"):
            return True
        fields = getattr(self.call.baseline, "_fields", ())
        return "indices" in fields and bool(path)

    def is_ambiguous(self):
        """Several different results are right."""
        return self.call.has("ambiguous")

    @property
    def reference(self):
        """The result of the same call in `float64`, or None where there is none."""
        if not self._asked:
            self._asked = True
            if not self.call.random:
                self._reference = self.call.promoted_result()
        return self._reference

    def excused_by_reference(self, path, first, second):
        """Both are about as far from the result in `float64`: rounding."""
        reference = self.reference_part(path, first)
        if reference is None:
            return False
        errors = sorted(
            [
                compare.root_mean_square(reference, first),
                compare.root_mean_square(reference, second),
            ]
        )
        rtol, atol = compare.tolerance(first, second)
        size = compare.root_mean_square(reference, reference * 0)
        low = compare.dtype_name(first) in ("float16", "bfloat16")
        factor = 3.0 if low or compare.count(first) < 1000 else 2.0
        return errors[1] <= factor * errors[0] + (atol + rtol * size) / 10.0

    def excused_by_floats(self, first, second):
        """Somebody's function rounds after each of its operations, and may work in `float32` inside, which has not all
        digits of its arguments (`float64`, large whole numbers)."""
        tensors = [tensor for _, tensor in self.call.tensors(self.call.used)] + [second]
        names = [compare.dtype_name(tensor) for tensor in tensors] + ["float32"]
        epsilon = max(dtypes.INEXACT[name].epsilon for name in names if name in dtypes.INEXACT)
        room = FEW * epsilon * max(compare.largest(tensor) for tensor in tensors)
        first, second = (compare.wide(compare.plain(it)[0])[0] for it in (first, second))
        return not bool((abs(first - second) > room).any())

    def reference_part(self, path, like):
        if self.reference is None:
            return None
        reference = part(self.reference, path)
        if not compare.is_tensor(reference) or tuple(reference.shape) != tuple(like.shape):
            return None
        return reference

    def excused_by_overflow(self, path, first, second):
        """Not finite in one of the two where the true result is out of the type's range anyway."""
        name = self.computing_type(first)
        if not self.call.is_elementwise and self.has_huge_input:
            return True
        if dtypes.wider(name) is None:
            return False
        reference = self.reference_part(path, first)
        if reference is None:
            return False
        largest = dtypes.INEXACT[name].largest
        first, second, reference = (
            compare.wide(compare.plain(it)[0])[0] for it in (first, second, reference)
        )
        infinity = float("inf")
        wrong = (abs(first) < infinity) != (abs(second) < infinity)
        return not bool((wrong & (abs(reference) < largest * REPRESENTABLE)).any())

    def computing_type(self, result):
        """The type that a result was computed in: an `out=` may be wider than all that goes in."""
        given = [(place.name, tensor) for place, tensor in self.call.tensors(self.call.used)]
        names = [
            compare.dtype_name(tensor)
            for parameter, tensor in given
            if parameter != "out" and compare.is_inexact(tensor)
        ]
        if not names or all(parameter != "out" for parameter, _ in given):
            return compare.dtype_name(result)
        return max(names, key=lambda name: dtypes.INEXACT[name].largest)

    @property
    def has_huge_input(self):
        """A sum of elements of the input, or in the widest type their product, is out of the type's
        range: where sums and products overflow on the way is a matter of their order."""
        for _, tensor in self.call.tensors(self.call.build()):
            if compare.is_inexact(tensor) and compare.count(tensor):
                size = abs(compare.wide(compare.plain(tensor)[0])[0])
                name = compare.dtype_name(tensor)
                largest = dtypes.INEXACT[name].largest
                if dtypes.wider(name) is None:
                    largest = largest**0.5
                if not bool(size.sum() < largest * REPRESENTABLE):
                    return True
        return False

    def excused_by_input(self):
        """NaN and infinities of the input meet zeros and each other in an order that is nobody's
        promise, unless each element stays by itself."""
        return not self.has_finite_input and not self.call.is_elementwise

    @property
    def has_finite_input(self):
        for _, tensor in self.call.tensors(self.call.build()):
            if compare.is_inexact(tensor) and compare.count(tensor):
                size = abs(compare.wide(compare.plain(tensor)[0])[0])
                if bool((~(size < float("inf"))).any()):
                    return False
        return True

    @property
    def perturbed(self):
        """Results of the call with inputs moved in their last digits."""
        if self._perturbed is None:
            self._perturbed = []
            for attempt in range(PERTURBATIONS):
                arguments = moved(self.call, attempt)
                if arguments is None:
                    break
                result, error = self.call.attempt(arguments)
                self._perturbed.append((result, error))
        return self._perturbed

    @property
    def perturbed_reference(self):
        """The same in `float64`."""
        if self._perturbed_reference is None:
            self._perturbed_reference = []
            for attempt in range(PERTURBATIONS):
                arguments = moved(self.call, attempt)
                if arguments is None:
                    break
                result = promote.promoted_result(self.call, arguments)
                if result is not None:
                    self._perturbed_reference.append((result, None))
        return self._perturbed_reference

    def excused_by_perturbation(self, found, first, second):
        """Whatever differs is no larger than what a change of the last digits does."""
        return is_explained(found, first, second, self.call.baseline, self.perturbed)

    def excused_by_condition(self, found, first, second):
        """The same of a difference from the reference, where the reference moves as well: a matrix that is
        singular to the last digit is not to be told from its neighbours."""
        return self.excused_by_perturbation(found, first, second) or is_explained(
            found, first, second, self.reference, self.perturbed_reference
        )


def is_explained(found, first, second, baseline, perturbed):
    """Does what perturbations make of `baseline` explain that `first` is not `second`?"""
    baseline = part(baseline, found.path)
    if not compare.is_tensor(first):
        return any(
            error is not None or part(result, found.path) != baseline for result, error in perturbed
        )
    if not compare.is_tensor(baseline) or tuple(baseline.shape) != tuple(first.shape):
        return False
    rtol, atol = compare.tolerance(baseline)
    first, second, baseline = (
        compare.wide(compare.plain(it)[0])[0] for it in (first, second, baseline)
    )
    infinity = float("inf")
    missing = (first != first) | (second != second)
    missing = missing | ((abs(first) == infinity) != (abs(second) == infinity))
    wrong = ~(abs(first - second) <= atol + rtol * abs(second))
    wrong = wrong & (first != second) & ~((first != first) & (second != second))
    spread = None
    for result, error in perturbed:
        if error is not None:
            return True
        other = part(result, found.path)
        if not compare.is_tensor(other) or tuple(other.shape) != tuple(first.shape):
            return True
        other = compare.wide(compare.plain(other)[0])[0]
        step = abs(other - baseline)
        # NaN or infinite in one run and not in the other: the edge of a domain.
        step[(other != other) != (baseline != baseline)] = float("inf")
        step[step != step] = 0.0
        spread = step if spread is None else compare.maximum(spread, step)
    if spread is None:
        return False
    distance = abs(first - second)
    distance[missing] = float("inf")
    within = (distance <= GRACE * spread) | (spread == float("inf"))
    # No digit of the number is certain: it may as well be none.
    within = within | (missing & (spread >= abs(baseline) / 2.0) & (spread > 0.0))
    return not bool((wrong & ~within).any())


def part(result, path):
    """The part of a result that a path such as `[1]['x']` leads to."""
    if not path:
        return result
    return eval("result" + path, {"result": result})


def moved(call, attempt):
    """The arguments with every inexact tensor changed in its last digits; None without any."""
    torch = None
    arguments = call.build()
    found = False
    largest = 0.0
    if attempt == 3 and not call.is_elementwise:
        # What is added to a large number loses the digits that the large one has no room for.
        largest = max([mean_size(tensor) for _, tensor in call.tensors(arguments)] or [0.0])
    for place, tensor in call.tensors(arguments):
        if not compare.is_torch(tensor) or compare.dtype_name(tensor) not in dtypes.INEXACT:
            continue
        if torch is None:
            import torch

            generator = torch.Generator()
            generator.manual_seed(attempt)
        if str(tensor.layout) != "torch.strided" or tensor.numel() == 0:
            continue
        found = True
        step = MOVED_BY * dtypes.INEXACT[compare.dtype_name(tensor)].epsilon
        if attempt < 2:
            sign = torch.randint(0, 2, tensor.shape, generator=generator) * 2 - 1
        else:
            # All in one direction and further: random signs average away in a sum, and what a sum
            # rounds away, a power of it brings back.
            sign = 1 if attempt == 2 else -1
            step = max(step, min(16.0 * step, FAR))
        with torch.no_grad():
            values = compare.wide(tensor)[0]
            change = values * (step * sign)
            if attempt % 2:
                size = max(mean_size(tensor), largest)
                change = change + step / 4.0 * size * sign
            changed = (values + change).to(tensor.dtype)
        arguments = arguments.replace(place, changed)
    return arguments if found else None


def mean_size(tensor):
    """The mean magnitude of a tensor's finite elements; 0 where it has none."""
    if not compare.is_inexact(tensor) or not compare.count(tensor):
        return 0.0
    size = abs(compare.wide(compare.plain(tensor)[0])[0])
    size = size[size < float("inf")]
    return float(size.mean()) if compare.count(size) else 0.0
