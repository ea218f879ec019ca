"""`softassertion-cli SCRIPT …`: the command of Soft Assertion Fuzzer, answered by `fissure scan`."""

import os
import sys

from fissure._program import FissureError, find_program


def main():
    try:
        program = find_program()
    except FissureError as error:
        print("softassertion-cli: %s" % error, file=sys.stderr)
        return 3
    # The program sees the name it is called by, and answers as that one.
    os.execv(program, ["softassertion-cli"] + sys.argv[1:])
    return 3
