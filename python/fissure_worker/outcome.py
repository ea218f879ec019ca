"""From a raised exception to bytes in shared memory, whatever the exception does to resist."""

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


def encode(text):
    return text.encode("utf-8", "backslashreplace").replace(SEPARATOR, b"\\x00")


def describe(error, status):
    """Class, message and (where they are of use) frames, as one piece of bytes."""
    message = message_of(error)
    parts = [encode(name_of(error)), encode(message)]
    if (
        status == FATAL
        or isinstance(error, SystemError)
        or any(word in message for word in SUSPICIOUS)
    ):
        try:
            parts.extend(encode(frame) for frame in frames_of(error))
        except BaseException:
            # Frames are a help, the outcome must not depend on them.
            pass
    return SEPARATOR.join(parts)
