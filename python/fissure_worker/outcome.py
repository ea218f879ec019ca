"""From a raised exception to bytes in shared memory, whatever the exception does to resist."""

import opcode

ACCEPTED = 1
ACCEPTED_NAN = 2
REJECTED = 3
FATAL = 4
NOT_BUILT = 5

MESSAGE_LIMIT = 2048
FRAME_LIMIT = 24
# Words of an internal error: with these the frames are worth their cost.
SUSPICIOUS = ("INTERNAL", "nternal error", "report a bug", "heck failed", "CHECK", "Unknown")
SEPARATOR = b"\0"


def status_of(error):
    """The kind of outcome that an exception is."""
    if isinstance(error, RecursionError) or not isinstance(error, Exception):
        return FATAL
    return REJECTED


def name_of(error):
    try:
        kind = type(error)
        module = kind.__module__
        name = str(kind.__qualname__)
        if isinstance(module, str) and module not in ("builtins", "exceptions"):
            name = module + "." + name
        return name[:200]
    except BaseException:
        return "unnameable exception"


def message_of(error):
    try:
        text = str(error)
        # A subclass of str may lie about slicing and encoding.
        return str.__getitem__(text, slice(0, MESSAGE_LIMIT))
    except BaseException as second:
        return "<no text: __str__ raised %s>" % name_of(second)


def frames_of(error):
    """`file:line function`, innermost last, without Fissure's own."""
    frames = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith("<fissure>"):
            frames.append("%s:%s %s" % (code.co_filename, step.tb_lineno, code.co_name))
            if len(frames) > 4 * FRAME_LIMIT:
                del frames[: 3 * FRAME_LIMIT]
        step = step.tb_next
    return frames[-FRAME_LIMIT:]


#: Raised by Python itself where code does something that it cannot.
MISTAKES = (IndexError, KeyError, AttributeError, ZeroDivisionError)


def is_mistake(error):
    """Is this a slip of the library's own Python code rather than an answer to the caller?

    An assertion without words, a name without a value, and a failing operation in Python code: what a
    function raises with `raise`, and what a function written in C raises, is meant for the caller.
    """
    if isinstance(error, NameError):
        return True
    if isinstance(error, AssertionError):
        return not error.args and innermost(error) is not None
    if not isinstance(error, MISTAKES):
        return False
    step = innermost(error)
    if step is None:
        return False
    name = operation(step)
    return not name.startswith(("RAISE", "RERAISE", "CALL", "PRECALL"))


def innermost(error):
    """The step of the traceback where the error was raised, unless that is Fissure's own code."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or step.tb_frame.f_code.co_filename.startswith("<fissure>"):
        return None
    return step


def operation(step):
    """The name of the bytecode instruction that failed."""
    code = step.tb_frame.f_code.co_code
    return opcode.opname[code[step.tb_lasti]] if 0 <= step.tb_lasti < len(code) else ""


def deserves_frames(error, status, message):
    """Can this outcome become a finding?"""
    if status == FATAL or isinstance(error, SystemError):
        return True
    return any(word in message for word in SUSPICIOUS) or is_mistake(error)


def encode(text):
    return text.encode("utf-8", "backslashreplace").replace(SEPARATOR, b"\\x00")


def describe(error, status, about=None):
    """Class, message, what it is about, and (where they are of use) frames, as one piece of bytes."""
    message = message_of(error)
    parts = [encode(name_of(error)), encode(message), encode(about or "")]
    try:
        if deserves_frames(error, status, message):
            parts.extend(encode(frame) for frame in frames_of(error))
    except BaseException:
        # Frames are a help, the outcome must not depend on them.
        pass
    return SEPARATOR.join(parts)
