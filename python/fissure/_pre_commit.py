"""`fissure-pre-commit [OPTION …] FILE …`: scans the files of a commit, one after the other.

The hook fails where something was found. A file that cannot be run by itself says so and does not
keep a commit from being made.
"""

import subprocess
import sys

from fissure._program import FissureError, find_program

# Seconds for a file where no option says otherwise: people wait for a commit.
TIME = "20s"
# Exit codes of a scan that do not keep a commit from being made, and what they mean.
NO_VERDICT = {2: "not scanned", 4: "scanned in part, nothing found there"}


def main(words):
    try:
        program = find_program()
    except FissureError as error:
        print("fissure-pre-commit: %s" % error, file=sys.stderr)
        return 3
    files = [word for word in words if word.endswith((".py", ".pyw"))]
    options = [word for word in words if word not in files]
    if "--total-time" not in options:
        options += ["--total-time", TIME]
    worst = 0
    for name in files:
        code = subprocess.run([program, "scan", "--quiet", name] + options, check=False).returncode
        if code in NO_VERDICT:
            print("%s: %s" % (name, NO_VERDICT[code]))
        else:
            worst = max(worst, code)
    return worst
