"""What the installed library says about one of its objects. Runs in a forked worker: looking an
object up can import modules, and an import can do anything.
"""

import inspect
import json

from fissure_worker import documented
from fissure_worker.build import resolve
from fissure_worker.outcome import message_of, name_of

TEXT_LIMIT = 200
#: Bytes of one answer: what fits one message of the socket.
ANSWER_LIMIT = 60000


def default_text(value):
    try:
        text = repr(value)
    except BaseException as error:
        return "<no text: __repr__ raised %s>" % name_of(error)
    return text[:TEXT_LIMIT]


def from_signature(signature):
    return [
        {
            "name": parameter.name,
            "kind": parameter.kind.name.lower(),
            "default": None
            if parameter.default is inspect.Parameter.empty
            else default_text(parameter.default),
        }
        for parameter in signature.parameters.values()
    ]


def is_vague(found):
    """Whatever it gets it hands on: `*args, **kwargs` says nothing about what that may be."""
    return bool(found) and all(parameter["kind"].startswith("var_") for parameter in found)


def parameters(adapter, target):
    """What Python knows; else what the documentation says; else what the adapter knows. Keywords that the documentation
    leaves out are added from the library's own declarations."""
    known = None
    try:
        known = from_signature(inspect.signature(target))
        if not is_vague(known):
            return known
    except (TypeError, ValueError):
        pass
    found = documented.parameters(target)
    if found is None:
        signature = adapter.signature(target)
        found = None if signature is None else from_signature(signature)
    declared = adapter.declared(target)
    if found is None:
        found = declared
    elif declared is not None and not any(one["kind"] == "var_keyword" for one in found):
        # Most operators have a form with `out` that Python does not reach.
        names = {one["name"] for one in found} | {"out"}
        found.extend(
            one for one in declared if one["kind"] == "keyword_only" and one["name"] not in names
        )
    return known if found is None else found


def describe(adapter, path):
    answer = {
        "library_version": adapter.version(),
        "missing": None,
        "callable": False,
        "is_class": False,
        "params": None,
    }
    try:
        target = resolve(path)
        answer["callable"] = callable(target)
        answer["is_class"] = isinstance(target, type)
        answer["params"] = parameters(adapter, target)
        if adapter.by_name_only(path):
            for parameter in answer["params"] or ():
                if parameter["kind"] == "positional_or_keyword":
                    parameter["kind"] = "keyword_only"
    except BaseException as error:
        # `resolve` tells in words what no import has brought.
        told = isinstance(error, AttributeError) and isinstance(error.__cause__, ImportError)
        name = "" if told else name_of(error) + ": "
        answer["missing"] = name + message_of(error)
    return json.dumps(answer).encode("ascii")


def discovered(adapter, path):
    """All that is known of a callable; `{"problem": …}` when finding out failed."""
    try:
        from fissure_worker import discover

        answer = discover.describe(path)
    except BaseException as error:
        answer = {"path": path, "problem": "%s: %s" % (name_of(error), message_of(error))}
    text = json.dumps(answer)
    while len(text) > ANSWER_LIMIT and len(answer.get("forms") or ()) > 1:
        answer["forms"] = answer["forms"][: len(answer["forms"]) // 2]
        text = json.dumps(answer)
    return text.encode("ascii")


def examples(path, seconds):
    """Calls that the documentation of a callable makes. They are made in a fork: examples switch things on and off (eager
    mode, dumps, policies), and whoever is asked next must not suffer from it."""
    from fissure_worker import apart
    from fissure_worker.discover import description
    from fissure_worker.discover.examples import examples_of

    def answer():
        found = examples_of(path, description.find(path))
        text = json.dumps(found)
        while len(text) > ANSWER_LIMIT:
            # The longest says no more than the others.
            found.remove(max(found, key=lambda one: len(json.dumps(one))))
            text = json.dumps(found)
        return text.encode("ascii")

    return apart.answered(answer, seconds) or b"[]"


def neighbours(path):
    """Full names of the public members of the longest part of a path that exists."""
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        prefix = ".".join(parts[:length])
        try:
            names = dir(resolve(prefix))
        except BaseException:
            continue
        names = [prefix + "." + name for name in names if not name.startswith("_")]
        text = json.dumps(names)
        while len(text) > ANSWER_LIMIT:
            names = names[: len(names) // 2]
            text = json.dumps(names)
        return text.encode("ascii")
    return b"[]"


def serve(adapter, channel):
    """Answers questions until the other side closes: a path, or a word, perhaps a number, and a path."""
    while True:
        message = channel.recv(65536)
        if not message:
            return
        words, _, path = message.decode("utf-8").rpartition(" ")
        question, _, number = words.partition(" ")
        if question == "discover":
            channel.send(discovered(adapter, path))
        elif question == "examples":
            channel.send(examples(path, float(number)))
        elif question == "neighbours":
            channel.send(neighbours(path))
        else:
            channel.send(describe(adapter, path))
