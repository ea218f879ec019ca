"""The program `fissure`: where it is, and one run of it."""

import os
import shutil
import subprocess
import sys
import sysconfig

FOUND = 1
INTERRUPTED = 130


class FissureError(RuntimeError):
    """Fissure could not do what was asked; the text is what it said."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def find_program():
    """Path of the program: `FISSURE_PROGRAM`, beside this interpreter, or on the PATH."""
    named = os.environ.get("FISSURE_PROGRAM")
    if named:
        if not os.path.isfile(named):
            raise FissureError("FISSURE_PROGRAM is %s, and there is no such file" % named)
        return named
    name = "fissure" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = "posix_user" if os.name == "posix" else "nt_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", scheme=user))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found:
        return found
    raise FissureError(
        "the program `fissure` is not beside %s and not on the PATH; install the wheel again, "
        "or name the program in FISSURE_PROGRAM" % sys.executable
    )


def run(arguments, folder=None):
    """Runs the program and returns its standard output; what is wrong becomes a FissureError."""
    command = [find_program()] + [str(argument) for argument in arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode not in (0, FOUND):
        said = done.stderr.strip() or "it said nothing"
        raise FissureError(said, done.returncode)
    return done.stdout
