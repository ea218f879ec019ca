"""Linear algebra raises where other functions give NaN.

A matrix that the program computed (a covariance, a kernel) and that has no inverse or factor is a failure
of the program; one that came in as it is, is what the caller asked for. It counts when the program
does not catch the exception.
"""

from . import operations
from .trace import Failure, Node, Site


def note(monitor, backend, operation, inputs, frame, error):
    """Remembers that an operation raised; `Monitor.ended_by` says whether that ended the program."""
    name, function, arguments, keywords = operation
    if not operations.has(name, "conditioned") or not inputs:
        return
    if any(
        backend.is_float(value) and (id(value) in monitor.known or not backend.finite(value))
        for value in inputs
    ):
        return
    trace = monitor.trace
    site = Site(frame.f_code.co_filename, frame.f_lineno, name, frame.f_code.co_name)
    index = trace.operations + 1
    node = Node(
        index, name, function, arguments, keywords, arguments, inputs, site, backend.library
    )
    failure = Failure(
        "nonfinite",
        node,
        "%s of a finite matrix raises %s: %s"
        % (name, type(error).__name__, str(error).split("\n")[0][:160]),
        tuple(backend.snapshot(value) for value in arguments),
        dict((key, backend.snapshot(value)) for key, value in keywords.items()),
        domain=True,
        after_steps=max(trace.optimizer_steps, trace.backward_calls),
    )
    failure.raises = True
    monitor.raised = (error, failure)
