"""Makes a failing input as close to the program's own data as it can be and still fail."""

import numpy as np


def shrink(failure, overrides, by_key, failures, is_note, over):
    """Fewer inputs, then a shorter way from the own data, then fewer changed elements.

    `by_key` has the variables, `failures` are those of a run with other values, `is_note`
    says which are not worth more, `over` ends it.
    """
    site, oracle = failure.site, failure.oracle
    # A gradient failure comes after the forward pass, a forward failure must stay before training.
    if failure.after_steps > 0 and oracle != "gradient_nonfinite":
        return overrides
    spent = [0]

    def fails(candidate):
        spent[0] += 1
        return any(other.site == site and other.oracle == oracle for other in failures(candidate))

    current = dict(overrides)
    for key in sorted(current):
        if len(current) > 1 and not over():
            fewer = dict((name, value) for name, value in current.items() if name != key)
            if fails(fewer):
                current = fewer
    current = _shorter(current, by_key, fails, over, spent)
    if is_note(failure, current):
        # Nobody replays a note: which of its elements matter is not worth the runs.
        return _plainer(current, by_key, fails)
    return _plainer(_sparser(current, by_key, fails, over, spent), by_key, fails)


def _plainer(current, by_key, fails):
    """Zeros instead of values that are next to nothing, where they do the same."""
    plain = dict(
        (key, np.where(np.abs(value) < by_key[key].tiny(), 0.0, value))
        for key, value in current.items()
    )
    same = all((plain[key] == value).all() for key, value in current.items())
    allowed = all(by_key[key].low is None or by_key[key].low <= 0.0 for key in current)
    return plain if not same and allowed and fails(plain) else current


def _shorter(current, by_key, fails, over, spent):
    """Bisection between the own data (passes) and the failing data, in the scale of the values."""

    def between(share):
        mixed = {}
        for key, value in current.items():
            own = by_key[key].own
            mixed[key] = (
                by_key[key].settle(own + (value - own) * share)
                if value.shape == own.shape
                else value
            )
        return mixed

    low, high = 0.0, 1.0
    for step in range(10):
        if over() or spent[0] > 24:
            break
        # Far values are first approached in powers of ten: the way spans many magnitudes.
        middle = (
            high / 10.0 if low == 0.0 and step < 6 and _far(current, by_key) else (low + high) / 2.0
        )
        if fails(between(middle)):
            high = middle
        else:
            low = middle
        if low > 0.0 and (high - low) / high < 0.05:
            break
    return between(high) if high < 1.0 else current


def _far(current, by_key):
    for key, value in current.items():
        variable = by_key[key]
        if value.size and float(np.abs(value).max()) > 100.0 * variable.scale:
            return True
    return False


def _sparser(current, by_key, fails, over, spent):
    """Gives elements back to the own data, half of the changed ones at a time."""
    for key in sorted(current):
        own = by_key[key].own
        if own.shape != current[key].shape or own.size > 100000:
            continue
        for _ in range(8):
            changed = np.flatnonzero(current[key].ravel() != own.ravel())
            if changed.size <= 1 or over() or spent[0] > 40:
                break
            reduced = None
            for half in (changed[: changed.size // 2], changed[changed.size // 2 :]):
                values = current[key].copy()
                flat = values.reshape(-1)
                flat[half] = own.reshape(-1)[half]
                attempt = dict(current)
                attempt[key] = values
                if fails(attempt):
                    reduced = attempt
                    break
            if reduced is None:
                break
            current = reduced
    return current
