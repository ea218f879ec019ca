"""What a program writes goes into a scratch folder, so that running it many times changes nothing.

Files opened for writing, `torch.save`, new folders, removals and renames are redirected into the
scratch folder; a file that was written there is also read from there. The folder is new in every
run. Not seen: processes the program starts, and libraries that write without Python's `open`.
"""

import builtins
import contextlib
import io
import os
import shutil
import sys
import tempfile


# Asked once, before anything is redirected: finding it writes a file.
_TEMPORARY = tempfile.gettempdir()
_COUNT = [0]


class Scratch:
    def __init__(self):
        self._folder = None
        self._open = builtins.open
        self._free = []  # temporary folders the program asked for: they are its own
        self._made = []  # those of them that go when the run ends

    # Paths -------------------------------------------------------------------------------------

    def _inside(self, path):
        return os.path.join(self._folder, os.path.abspath(path).lstrip(os.sep))

    def _path(self, path):
        """The text of a path-like; None for descriptors, devices and what is no path."""
        try:
            text = os.fspath(path)
        except TypeError:
            return None
        if isinstance(text, bytes):
            text = os.fsdecode(text)
        whole = os.path.abspath(text)
        if whole.startswith(("/dev/", "/proc/", "/sys/")) or any(
            whole == folder or whole.startswith(folder + os.sep) for folder in self._free
        ):
            return None
        return text

    def _need_folder(self):
        if self._folder is None:
            _COUNT[0] += 1
            self._folder = os.path.join(_TEMPORARY, "fissure-scan-%d-%d" % (os.getpid(), _COUNT[0]))
            self._mkdir(self._folder, 0o700)

    def reading(self, path):
        """Where a path is to be read from."""
        text = self._path(path)
        if text is None or self._folder is None:
            return path
        copy = self._inside(text)
        return copy if self._exists(copy) else path

    def writing(self, path, keep=False):
        """Where a path is to be written to; with `keep` its present content is there already."""
        text = self._path(path)
        if text is None:
            return path
        self._need_folder()
        copy = self._inside(text)
        parent = os.path.dirname(os.path.abspath(text))
        if not self._exists(os.path.dirname(copy)):
            if not os.path.isdir(parent):
                return path  # fails as it would without us
            self._make(os.path.dirname(copy))
        if keep and not self._exists(copy) and os.path.isfile(text):
            self._copy(text, copy)
        return copy

    def _exists(self, path):
        try:
            self._stat(path)
        except (OSError, ValueError):
            return False
        return True

    def _copy(self, source, target):
        # Not by shutil, whose `open` is the redirected one.
        with self._open(source, "rb") as reader, self._open(target, "wb") as writer:
            writer.write(reader.read())

    def _make(self, folder):
        if not self._exists(folder):
            self._make(os.path.dirname(folder))
            self._mkdir(folder)

    # Replacements ------------------------------------------------------------------------------

    def open(self, file, mode="r", *arguments, **keywords):
        if isinstance(mode, str) and isinstance(file, (str, bytes, os.PathLike)):
            if set(mode) & set("wax+"):
                file = self.writing(file, keep="a" in mode or "+" in mode and "w" not in mode)
            else:
                file = self.reading(file)
        return self._open(file, mode, *arguments, **keywords)

    def stat(self, path, *arguments, **keywords):
        if self._folder is not None and isinstance(path, (str, bytes, os.PathLike)):
            path = self.reading(path)
        return self._stat(path, *arguments, **keywords)

    def mkdir(self, path, *arguments, **keywords):
        text = self._path(path)
        if text is None or keywords.get("dir_fd") is not None or os.path.exists(text):
            return self._mkdir(path, *arguments, **keywords)
        if sys._getframe(1).f_code.co_filename == tempfile.__file__:
            self._mkdir(path, *arguments, **keywords)
            self._free.append(os.path.abspath(text))
            return None
        if os.path.dirname(os.path.abspath(text)) == _TEMPORARY:
            # In the folder for temporary files whole trees are made, listed and linked (`tmp_path` of pytest).
            self._mkdir(path, *arguments, **keywords)
            self._free.append(os.path.abspath(text))
            self._made.append(os.path.abspath(text))
            return None
        self._need_folder()
        self._make(self._inside(text))
        return None

    def _held_open(self, path, keywords):
        """The whole path of a name inside a folder that is held open (`dir_fd`), as `shutil.rmtree`
        removes things; else the path as it is."""
        folder = keywords.get("dir_fd")
        if folder is None:
            return path
        try:
            return os.path.join(os.readlink("/proc/self/fd/%d" % folder), os.fsdecode(path))
        except (OSError, TypeError):
            return path

    def remove(self, path, *arguments, **keywords):
        whole = self._held_open(path, keywords)
        if self._path(whole) is None:
            return self._remove(path, *arguments, **keywords)
        path = whole
        copy = self.reading(path)
        if copy is not path:
            return self._remove(copy)
        if not os.path.lexists(path):
            return self._remove(path)
        return None

    def rename(self, source, target, *arguments, **keywords):
        if not os.path.exists(source):
            return self._rename(source, target)
        if os.path.isdir(source):
            return None
        self._copy(self.reading(source), self.writing(target))
        return None

    @contextlib.contextmanager
    def active(self):
        """Everything is redirected inside."""
        self._stat, self._mkdir = os.stat, os.mkdir
        self._remove, self._rename = os.remove, os.rename
        changes = [
            (builtins, "open", self.open),
            (io, "open", self.open),
            (os, "stat", self.stat),
            (os, "mkdir", self.mkdir),
            (os, "remove", self.remove),
            (os, "unlink", self.remove),
            (os, "rename", self.rename),
            (os, "replace", self.rename),
            (os, "rmdir", self._own(os.rmdir)),
            (shutil, "rmtree", self._own(shutil.rmtree)),
        ]
        torch = sys.modules.get("torch")
        if torch is not None:
            changes += [
                (torch, "save", self._torch_save(torch.save)),
                (torch, "load", self._torch_load(torch.load)),
            ]
        originals = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
        for owner, name, value in changes:
            setattr(owner, name, value)
        try:
            yield self
        finally:
            for owner, name, value in originals:
                setattr(owner, name, value)
            for folder in self._made:
                shutil.rmtree(folder, ignore_errors=True)
            self._free, self._made = [], []
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _own(self, original):
        """Folders are removed only where they are the program's own temporary ones."""

        def remove(path, *arguments, **keywords):
            if self._path(self._held_open(path, keywords)) is None:
                return original(path, *arguments, **keywords)
            return None

        return remove

    def _torch_save(self, original):
        def save(obj, f, *arguments, **keywords):
            if isinstance(f, (str, bytes, os.PathLike)):
                f = self.writing(f)
            return original(obj, f, *arguments, **keywords)

        return save

    def _torch_load(self, original):
        def load(f, *arguments, **keywords):
            if isinstance(f, (str, bytes, os.PathLike)):
                f = self.reading(f)
            return original(f, *arguments, **keywords)

        return load
