"""The same call gives another result the second time, with more rows beside it, or with two threads.

# What it does

Makes the call twice with the same state of the random generator. If the first dimension is a batch
(found out by trying: overwriting one row of the input changes that row of the result and no other),
makes it with single rows. If tensors are large enough to be shared between threads, makes it with
two threads.

# Why it matters

What cannot be repeated cannot be debugged. A result that depends on the other rows of a batch is
wrong for a server that puts requests of strangers into one batch.

# When it stays silent

- The function returns memory that nobody has written, addresses, times or seeds.
- The difference is rounding by the measure of the same call in `float64`.
- Rows depend on each other or on their position (a normalisation over the batch, `cumsum`, `tril`),
  or an argument may name the first dimension (or, being None, all of them), or the result is not one tensor.
- A single row is refused: a shape can be required.
- Every value of the row alone is that of the batch times or divided by the number of rows: a sum or
  a mean over the batch (`kl_div(…, reduction="batchmean")`).

# Example

```text
torch.foo(x)[2] != torch.foo(x[2:3])[0]
```
"""

from fissure_worker.oracles import compare
from fissure_worker.oracles.call import Report
from fissure_worker.oracles.locality import (
    counts_parts,
    is_dense,
    local,
    local_in_general,
)

PRICE = 8
#: Elements from which PyTorch shares work between threads.
SHARED = 1 << 15


def check(call):
    if call.differs:
        return
    if not call.stable:
        report = second_run(call)
        if report is not None:
            yield report
        return
    if call.random or call.mutates:
        return
    report = single_rows(call) or two_threads(call)
    if report is not None:
        yield report


def second_run(call):
    again, error = call.attempt(call.build())
    if error is not None:
        source = call.variant_source([], None)
        return Report(
            "second run: raises %s" % type(error).__name__,
            repr(error),
            compare.short(call.baseline),
            source,
        )
    found = compare.difference(again, call.baseline)
    if found is None or not has_numbers(call):
        return None
    texts = compare.short(found.observed), compare.short(found.expected)
    source = call.variant_source([], found)
    return Report("second run: " + found.kind, texts[0], texts[1], source)


def has_numbers(call):
    """Numbers go in and come out. What else differs from call to call (classes made anew, identities, counters of the
    process) is no defect."""
    given = any(is_number(value) for _, value in call.used.values())
    return given and any(is_number(value) for _, value in compare.leaves(call.baseline))


def is_number(value):
    """An array of any library, or a plain number."""
    return hasattr(value, "dtype") or isinstance(value, (int, float, complex))


def single_rows(call):
    """Rows of a batch alone."""
    if call.has("about position"):
        return None
    leaf = call.baseline
    # A batch without elements may have 2**33 rows, and going over them would take hours.
    if not is_dense(leaf) or leaf.dim() < 2 or leaf.shape[0] < 3 or not leaf.numel():
        return None
    rows = leaf.shape[0]
    arguments = call.build()
    if names_first_dimension(call, arguments):
        return None
    batched = []
    for place, tensor in call.tensors(arguments):
        if not is_dense(tensor) or tensor.dim() < 2 or tensor.shape[0] != rows:
            continue
        if place.part < 2 and call.is_layer:
            continue
        answer = local(call, place, rows, (1, rows - 1), flat=False)
        if answer is None:
            return None
        if answer:
            batched.append(place)
    if not batched or not local_in_general(call, batched, rows, (1, rows - 1), flat=False):
        return None
    for row in (rows - 1, 0):
        text = "[%d:%d]" % (row, row + 1)
        lines = [place.assignment(arguments, place.expression + text) for place in batched]
        changed = call.build()
        for place in batched:
            changed = changed.replace(place, changed.get(place)[row : row + 1])
        expected = ("%s" + text, lambda result, row=row: rows_of(result, row))
        report = compare_rows(call, lines, changed, expected)
        if report is not None:
            return None if counts_parts(call, batched, flat=False) else report
    return None


def names_first_dimension(call, arguments):
    """Some plain number may mean the first dimension: then rows need not be a batch. Trying alone
    does not tell, because one dominating row hides that a softmax depends on all of them."""
    if call.all_dimensions:
        return True
    ranks = {tensor.dim() for _, tensor in call.tensors(arguments) if compare.is_torch(tensor)}
    firsts = {0} | {-rank for rank in ranks}
    return any(
        isinstance(value, int) and not isinstance(value, bool) and value in firsts
        for _, value in arguments.values()
    )


def compare_rows(call, lines, changed, expected):
    report = call.compare_variant("one row of the batch", lines, changed, None, expected)
    if report is None or "raises" in report.detail or report.detail.endswith(("shape", "type")):
        return None
    if report.detail.endswith("values") and is_scaled(call, changed, expected[1](call.baseline)):
        return None
    return report


def is_scaled(call, changed, expected):
    """The number of rows is a factor of every value: the function takes a sum or a mean over the
    batch by definition. Values that are wrong are not wrong by the same factor."""
    observed, error = call.attempt(changed)
    if error is not None or not compare.is_torch(observed) or not compare.is_inexact(observed):
        return False
    rows = call.baseline.shape[0]
    return any(
        compare.difference(observed * factor, expected) is None for factor in (rows, 1.0 / rows)
    )


def rows_of(result, row):
    return result[row : row + 1]


def two_threads(call):
    sizes = [compare.count(tensor) for _, tensor in call.tensors(call.used)]
    if max(sizes or [0]) < SHARED or not hasattr(call.library, "set_num_threads"):
        return None
    change = ["torch.set_num_threads(2)"]
    call.library.set_num_threads(2)
    try:
        report = call.compare_variant("two threads", change, call.build())
    finally:
        call.library.set_num_threads(1)
    if report is not None:
        report.source = report.source.replace(
            "def check():\n", "def check():\n    torch.set_num_threads(1)\n"
        )
    return report
