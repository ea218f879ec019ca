"""A limit of time for what runs in the process itself."""

import contextlib
import signal


class TooLong(BaseException):
    """Not an `Exception`, so that what is run does not catch it."""


@contextlib.contextmanager
def limited(seconds):
    """Ends the block when the time is over, where Python gets to hear of it."""

    def ring(number, frame):
        raise TooLong()

    try:
        before = signal.signal(signal.SIGALRM, ring)
    except ValueError:
        # Not the main thread.
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except TooLong:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
