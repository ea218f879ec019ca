"""`python -m fissure …` is `fissure …`."""

import os
import subprocess
import sys

from fissure._program import FissureError, find_program


def main():
    try:
        program = find_program()
    except FissureError as error:
        print("fissure: %s" % error, file=sys.stderr)
        return 3
    command = [program] + sys.argv[1:]
    if os.name == "posix":
        os.execv(program, command)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
