"""Reverse differentiation over the recorded operations.

JAX differentiates functions and TensorFlow what a tape of the program saw; the search needs the
slope of any value that the program computed with respect to any input. So the recorded operations
are gone through backward, each by the library's own derivative of that one operation.
"""

import numpy as np

# Elements and nodes beyond which steering is left to the search without gradients.
LONGEST = 2000


def pull(trace, seeds):
    """Cotangents by id of value, from (value, cotangent) seeds; yields as they arrive.

    (node, outputs' cotangents, (operand, cotangent) pairs) of every node on the way.
    """
    from ..backends import library as backends

    held = {}
    for value, cotangent in seeds:
        _add(held, value, cotangent)
    for node in list(reversed(trace.nodes))[:LONGEST]:
        if not held:
            return
        parts = [held.pop(id(value), None) for value in node.outputs]
        if all(part is None for part in parts):
            continue
        pairs = backends.of(node.library).vjp(node, parts)
        for operand, cotangent in pairs:
            _add(held, operand, cotangent)
        yield node, parts, pairs


def gradients(trace, known, seeds):
    """input key -> gradient (float64) of what the seeds stand for."""
    found = {}

    def arrived(pairs):
        for value, cotangent in pairs:
            key = known.get(id(value))
            if key is not None and tuple(cotangent.shape) == tuple(value.shape):
                found[key] = found.get(key, 0.0) + np.nan_to_num(
                    cotangent.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0
                )

    arrived(seeds)
    for _, _, pairs in pull(trace, seeds):
        arrived(pairs)
    return dict((key, value) for key, value in found.items() if bool((value != 0.0).any()))


def first_bad(trace, results):
    """The operation whose derivative turned a finite gradient of the sum of results into a NaN or Inf."""
    seeds = [(value, np.ones(tuple(value.shape), dtype=np.float32)) for value in results]
    for node, parts, pairs in pull(trace, seeds):
        if all(part is None or bool(np.isfinite(part).all()) for part in parts) and any(
            not bool(np.isfinite(cotangent).all()) for _, cotangent in pairs
        ):
            return node
    return None


def _add(held, value, cotangent):
    identity = id(value)
    held[identity] = held[identity] + cotangent if identity in held else cotangent
