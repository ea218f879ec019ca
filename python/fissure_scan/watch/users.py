"""Which frames belong to the user, and the names the user gave to values."""

import ast
import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# As code objects name it, which need not be the normal form of the path.
_AS_LOADED = os.path.dirname(os.path.dirname(__file__))

# Code of optimizers: what it computes is not the program's own computation.
_OPTIMIZERS = tuple(os.sep + part + os.sep for part in ("optim", "optimizers", "optax")) + (
    "autograd" + os.sep,
)


class UserFiles:
    """Decides whether code belongs to the program under scan (its file, its folder)."""

    def __init__(self, root, files, packages=()):
        self._root = os.path.abspath(root) + os.sep
        self._files = set(os.path.abspath(name) for name in files)
        # The package of the target is the user's wherever it is installed.
        self._packages = tuple(os.path.abspath(folder) + os.sep for folder in packages)
        self._known = {}
        self._targets = {}

    def same(self, one, other):
        return bool(one) and bool(other) and os.path.realpath(one) == os.path.realpath(other)

    def owns(self, filename):
        answer = self._known.get(filename)
        if answer is None:
            path = os.path.abspath(filename)
            # Compiled extensions name their sources by relative paths that exist nowhere here, frozen modules
            # (`<frozen runpy>`) and evaluated text by words.
            answer = not filename.startswith("<") and (
                path in self._files
                or bool(self._packages)
                and path.startswith(self._packages)
                or (
                    os.path.isabs(filename)
                    and path.startswith(self._root)
                    and not path.startswith(_HERE)
                    and "site-packages" not in path
                    and "dist-packages" not in path
                    and not path.startswith(os.path.dirname(os.__file__))
                )
            )
            self._known[filename] = answer
        return answer

    def written(self, filename):
        """A file that the user wrote here, not one of an installed package that is scanned."""
        return self.owns(filename) and "site-packages" not in os.path.abspath(filename)

    def locate(self, depth):
        """(user frame, direct, in_optimizer) seen from `depth` frames up; frame None when no user
        code is on the stack. `direct`: nothing but the interceptor stands between."""
        frame = sys._getframe(depth)
        direct = True
        optimizer = False
        while frame is not None:
            filename = frame.f_code.co_filename
            if self.owns(filename):
                return frame, direct, optimizer
            if "overrides.py" not in filename and not filename.startswith(_AS_LOADED):
                direct = False
                if any(part in filename for part in _OPTIMIZERS):
                    optimizer = True
            frame = frame.f_back
        return None, False, optimizer

    def target_name(self, filename, line):
        """The name assigned on that line of the source, if the line is an assignment."""
        names = self._targets.get(filename)
        if names is None:
            names = _assignment_targets(filename)
            self._targets[filename] = names
        return names.get(line)


def _assignment_targets(filename):
    try:
        with open(filename, encoding="utf-8") as handle:
            tree = ast.parse(handle.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        elif isinstance(node, ast.For):
            # Only the line of the loop itself; what stands inside has names of its own.
            text = _target_text(node.target)
            if text:
                names.setdefault(node.lineno, _loop_names(node, text))
            continue
        else:
            continue
        text = _target_text(targets[0])
        if text:
            for line in range(node.lineno, (getattr(node, "end_lineno", None) or node.lineno) + 1):
                names.setdefault(line, text)
    return names


def _loop_names(loop, text):
    """The names of a loop; the counter of `enumerate` is none of the batch's."""
    if getattr(getattr(loop.iter, "func", None), "id", None) == "enumerate":
        return text.partition(",")[2] or text
    return text


def _target_text(target):
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = [_target_text(item) for item in target.elts]
        return ",".join(part for part in parts if part)
    if isinstance(target, ast.Subscript):
        return _target_text(target.value)
    return None


def weight_name(frame, value):
    """The name of a parameter inside a module that the frame can see: `model.hidden.weight`."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for name, held in list(space.items()):
                if isinstance(held, torch.nn.Module):
                    for path, parameter in held.named_parameters():
                        if parameter is value:
                            owner = type(held).__name__ if name == "self" else name
                            return "%s.%s" % (owner, path)
        frame = frame.f_back
    return None


def local_name(frame, value):
    """The variable of a frame that holds exactly this object."""
    for name, held in frame.f_locals.items():
        if held is value:
            return name
    for name, held in frame.f_globals.items():
        if held is value and not name.startswith("__"):
            return name
    return None
