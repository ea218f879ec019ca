"""Correct calls that look like defects: no oracle says a word. `python silent.py ROOT`."""

import torch
from harness import judged, judged_made, tell

from fissure_worker.oracles.arguments import Arguments

INFINITY = float("inf")
NAN = float("nan")
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e30, -1e30, 1e-45])
TIES = torch.tensor([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]])
X = torch.randn(4, 5)
#: Two of its rows are equal: the determinant is 0.
NO_RANK = torch.tensor(
    [
        [1.0, -2.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 1.0, 0.0, 1.0, 0.0],
    ]
)
ROWS = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
ONE = torch.tensor([0.0] * 4 + [1.0] + [0.0] * 7)
WHOLE = torch.tensor([[1, 0, 0], [0, 0, 0]])
CENTRED = torch.tensor([[1.0], [1.0], [0.0], [-4.0]], dtype=torch.float16)
SINGULAR = torch.tensor([[5.0, 6.0, 7.0], [3.0, 4.0, 5.0], [1.0, 1.0, 1.0]])
#: Which row is taken after the first ones is a matter of rounding.
PIVOTS = torch.zeros(11, 10)
PIVOTS[0, 1:5] = PIVOTS[7, 1:5] = torch.tensor([5.0, 6.0, 7.0, 1.0])
PIVOTS[7, 4] = 0.0
PIVOTS[9] = torch.tensor([6.0, 7.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
PIVOTS[[1, 7, 10], 0] = torch.tensor([5.0, 1.0, 1.0])
PIVOTS[6, 9] = 1.0

#: The oracle, the function, its arguments, and why there is nothing to report.
CASES = [
    ("contract", "torch.sigmoid", [SPECIAL], "NaN of a NaN"),
    ("contract", "torch.softmax", [SPECIAL.half(), 0], "a row with NaN"),
    ("contract", "torch.nn.functional.cosine_similarity", [X, X], "a few last digits above 1"),
    ("contract", "torch.maximum", [SPECIAL, SPECIAL.flip(0)], "NaN in either argument"),
    ("contract", "torch.sort", [SPECIAL], "NaN is last"),
    ("contract", "torch.sort", [TIES], "which of two equal elements comes first"),
    ("contract", "torch.exp", [SPECIAL * 1e4], "overflow"),
    ("contract", "torch.cos", [torch.tensor([200, 3], dtype=torch.uint8)], "no negative numbers"),
    ("contract", "torch.var", [torch.zeros(1)], "no degrees of freedom"),
    ("contract", "torch.Tensor.gcd_", [torch.tensor([4]), torch.tensor(6)], "the shape written to"),
    ("contract", "torch.Tensor.hypot_", [X, X.double()], "the type written to"),
    ("contract", "torch.Tensor.logical_not_", [X], "the type written to"),
    ("forms", "torch.nn.functional.dropout", [X], "random numbers"),
    ("forms", "torch.empty", [[3]], "memory that nobody has written"),
    ("forms", "torch.where", [X > 0, X, -X], "the method has another first argument"),
    (
        "forms",
        "torch.nn.functional.batch_norm",
        [X, torch.zeros(5), torch.ones(5), None, None, True],
        "running statistics are there to change",
    ),
    ("forms", "torch.normal", [X, X.abs()], "another function than the in-place one"),
    ("forms", "right.subtracts_in_place", [X], "in place in every element type"),
    ("forms", "torch.nn.init.constant", [X, 3.0], "an old name of the form in place"),
    ("meta", "torch.nonzero", [X], "the data decide the shape"),
    ("meta", "torch.unique", [X], "the data decide the shape"),
    ("meta", "torch.masked_select", [X, X > 0], "the data decide the shape"),
    ("meta", "torch.zeros", [[3]], "no tensor among the arguments"),
    ("meta", "right.reads_its_address", [X], "native code would read address 0"),
    ("determinism", "right.up_to_here", [ROWS, ROWS], "the place of a row decides"),
    ("gradient", "torch.relu", [torch.zeros(3)], "not differentiable at 0"),
    ("gradient", "torch.abs", [torch.zeros(3)], "not differentiable at 0"),
    ("gradient", "torch.amax", [TIES, 1], "ties"),
    ("gradient", "torch.median", [TIES], "ties"),
    ("gradient", "torch.round", [torch.tensor([0.5, 1.5])], "at a step"),
    ("gradient", "torch.sqrt", [torch.zeros(3)], "infinite derivative"),
    ("gradient", "torch.log", [torch.tensor([-1.0, 2.0])], "NaN"),
    ("gradient", "torch.linalg.cholesky", [torch.eye(3)], "a function of one triangle"),
    ("gradient", "torch.nn.functional.dropout", [X], "random numbers"),
    ("gradient", "torch.argmax", [X], "no derivative"),
    ("gradient", "right.less_its_narrow_mean", [X.double()], "float32 on the way"),
    ("gradient", "right.product_in_bfloat16", [X, X[:2]], "bfloat16 on the way"),
    ("kernel-path", "right.less_its_narrow_mean", [WHOLE], "a mean that is cut to 0"),
    ("kernel-path", "torch.isin", [ONE, 1.0 - 2.0 * ONE], "one of these among those"),
    ("kernel-path", "right.with_positions", [X], "positions are added"),
    ("layout", "right.less_its_narrow_mean", [WHOLE << 31], "whole numbers in float32"),
    ("layout", "right.less_its_narrow_mean", [torch.rand(40, 50).double()], "float32 on the way"),
    ("covered-up", "torch.nn.functional.mish", [X * 1e20], "the overflow is in a branch not taken"),
    ("covered-up", "torch.nn.functional.softplus", [X * 1e20], "the result is right"),
    ("covered-up", "torch.exp", [X * 1e20], "the infinity is there to be seen"),
    ("derivatives", "torch.relu", [torch.zeros(3)], "a kink"),
    ("derivatives", "torch.abs", [X], "a second derivative of zero"),
    ("derivatives", "torch.nn.functional.softplus", [X], "all formulas agree"),
    ("derivatives", "torch.matmul", [X, X.T], "all formulas agree"),
    ("derivatives", "torch.cumprod", [X, 1], "all formulas agree"),
    ("derivatives", "torch.exp", [X * 1j], "complex numbers"),
    ("derivatives", "torch.nn.functional.softplus", [X[:2, :3]], "whole matrices"),
    ("derivatives", "torch.Tensor.bfloat16", [X], "a type in which nothing is computed"),
    ("derivatives", "torch.as_strided_copy", [X, (2,), (1,), 0], "about memory"),
    ("derivatives", "torch.take", [X, torch.tensor([3, 1])], "indices beside"),
    ("derivatives", "torch.linalg.cholesky", [torch.eye(3)], "a function of one triangle"),
    ("guard", "torch.exp", [X], "nothing beyond the elements is read"),
    (
        "guard",
        "torch.nn.functional.conv1d",
        [torch.randn(2, 3, 9), torch.randn(4, 3, 3)],
        "nothing beyond",
    ),
    ("sweep", "right.slow_wave", [X], "three times the largest number overflows"),
    ("reference64", "torch.linalg.inv_ex", [SINGULAR], "singular up to the last digit"),
    ("reference64", "right.less_its_mean", [CENTRED], "digits of the difference of two numbers"),
    (
        "reference64",
        "torch.masked.logaddexp",
        [torch.tensor(242787491614593), torch.tensor(0.0, dtype=torch.bfloat16)],
        "whole numbers that were rounded as floats",
    ),
    (
        "reference64",
        "torch.distributions.utils.probs_to_logits",
        [torch.tensor([0.0, 1.0])],
        "bounds that follow from the element type",
    ),
    ("layout", "torch.linalg.inv_ex", [SINGULAR], "singular up to the last digit"),
    ("layout", "torch.linalg.slogdet", [NO_RANK], "the logarithm of a determinant of 0"),
    ("reference64", "torch.linalg.lu", [PIVOTS], "which of two pivots is taken"),
    ("reference", "torch.sign", [SPECIAL], "known difference: NaN"),
    (
        "reference",
        "torch.Tensor.where",
        [torch.tensor([1]), torch.tensor([False]), torch.tensor([2])],
        "the method's object is not the first argument",
    ),
    ("reference", "torch.heaviside", [SPECIAL, SPECIAL], "known difference: NaN"),
    ("reference", "torch.exp", [X.bfloat16()], "a type that NumPy lacks"),
    ("reference", "torch.cosh", [torch.tensor(100, dtype=torch.int8)], "float16 in NumPy"),
    ("reference", "torch.sum", [(X * 1000).half()], "rounding of float16"),
    ("reference", "torch.sum", [X * 1e30, 0], "rounding of huge numbers"),
    ("reference", "torch.cos", [torch.tensor([2**31 - 1])], "float32 does not hold the number"),
    ("reference", "torch.sort", [TIES], "which of two equal elements comes first"),
    ("reference", "torch.cumsum", [torch.tensor(1.0), 0], "known difference: no dimensions"),
    (
        "reference",
        "torch.add",
        [X, torch.tensor(1.0, dtype=torch.float64)],
        "types combine differently",
    ),
    (
        "determinism",
        "torch.nn.functional.kl_div",
        [X, X.softmax(1), None, False, "batchmean"],
        "divided by the rows",
    ),
    ("kernel-path", "torch.roll", [torch.randn(7), 7], "the identity for this length only"),
    ("kernel-path", "torch.roll", [X, 40], "the identity for this length only"),
    ("kernel-path", "torch.expand_copy", [torch.randn(1, 2), [1, 2]], "a size is an argument"),
    (
        "kernel-path",
        "torch.nn.functional.normalize",
        [torch.tensor([1.0, -1.0]), 0.0, 0],
        "it counts its elements",
    ),
    ("device", "torch.exp", [X], "no accelerator here"),
    ("jit", "torch.nn.functional.dropout", [X], "random numbers"),
    ("jit", "torch.Tensor.tolist", [X], "not a tensor"),
    ("memory-growth", "torch.zeros", [[1 << 26]], "the arguments ask for it"),
    ("memory-growth", "right.fills_a_cache", [X], "growth that stops"),
    ("uninitialised", "torch.empty", [[3]], "its purpose"),
    ("uninitialised", "torch.empty_like", [X], "its purpose"),
    ("uninitialised", "torch.Tensor.new_empty", [X, [5]], "its purpose"),
    ("uninitialised", "torch.nn.functional.dropout", [X], "random numbers"),
    ("uninitialised", "torch.cumsum", [X, 0], "nothing is read that was not written"),
    ("uninitialised", "torch.linalg.svd", [X], "nothing is read that was not written"),
    ("performance", "torch.exp", [X], "below a millisecond"),
    ("performance", "right.slow_everywhere", [X], "slow in every precision"),
]

for oracle, path, arguments, why in CASES:
    library, _, function = path.rpartition(".")
    tell(oracle, path, why, judged(oracle, library, function, arguments))

oracle, path, why = "placement", "torch.special.legendre_polynomial_p", "beyond what it computes in"
wide_out = {"out": torch.tensor(0.0, dtype=torch.float64)}
arguments = [torch.tensor(-1e7), torch.tensor(8.9)]
library, _, function = path.rpartition(".")
tell(oracle, path, why, judged(oracle, library, function, arguments, keywords=wide_out))


def fused():
    """Arguments of which one has random weights."""
    modules = [torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()]
    return Arguments(modules, {}, ([torch.ones(1, 2, 3)], {}))


for oracle in ("determinism", "layout", "guard"):
    path, why = "torch.nn.intrinsic.ConvReLU2d", "an argument with random weights"
    tell(oracle, path, why, judged_made(oracle, path, fused))


def cell():
    """A layer that quantises its input by the largest number of the batch."""
    batch = torch.zeros(3, 4)
    batch[:, 3] = torch.tensor([-1.0, 1.0, 1.0])
    return Arguments([4, 1], {}, ([batch], {}))


def with_gradient():
    return Arguments([torch.zeros(2, 2).requires_grad_()], {})


path, why = "torch.autograd.graph.get_gradient_edge", "each is the beginning of a graph"
tell("layout", path, why, judged_made("layout", path, with_gradient))

path, why = "torch.ao.nn.quantized.dynamic.RNNCell", "rows that share a scale"
tell("determinism", path, why, judged_made("determinism", path, cell))

for oracle in ("determinism", "uninitialised"):
    path, why = "torch.ao.nn.quantized.dynamic.Linear", "weights that somebody else fills"
    quantised = Arguments([2, 2], {}, ([torch.ones(1, 2)], {}))
    tell(oracle, path, why, judged_made(oracle, path, lambda: quantised))
