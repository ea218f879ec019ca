"""Fissure from Python: fuzz and scan your own functions, and mark what belongs to a scan.

    import fissure

    result = fissure.fuzz(my_function, max_inputs=500)
    result.findings[0].call          # the smallest call that fails
    print(result)                    # or look at it in a notebook

Everything here starts the program `fissure`, which came with this package; see docs/python.md.
"""

from fissure._program import FissureError, find_program
from fissure._references import reference, reference_of
from fissure._results import Finding, Result
from fissure._run import fuzz, scan, still_failing

__version__ = "0.1.0"
__all__ = [
    "Finding",
    "FissureError",
    "Result",
    "end_fuzz",
    "find_program",
    "fuzz",
    "reference",
    "reference_of",
    "scan",
    "start_fuzz",
    "still_failing",
]


def start_fuzz(*_arguments, **_keywords):
    """From here on a scan changes inputs. Outside a scan it does nothing."""


def end_fuzz(*_arguments, **_keywords):
    """Up to here a scan changes inputs. Outside a scan it does nothing."""
