"""How many public callables, drawn at random, `fissure fuzz` refuses, and how many it gets a call accepted for.

python3 benches/any-function.py FISSURE LIBRARY VERSION COUNT SEED [flags of fuzz]

VERSION may be a whole requirement where the distribution has another name than the library (tensorflow-cpu==2.21.0).
Names come from `fissure apis LIBRARY --json`; each gets 200 inputs. *Refused*: skipped for another reason than the
deny-list. *Usable*: at least one input accepted.
"""

import json
import random
import re
import subprocess
import sys
import tempfile


def lines(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def shown(reason):
    # TensorFlow says where before it says what.
    return re.sub(r"\{\{.*?\}\} ?", "", reason).rpartition("errors_impl.")[2][:150]


def main(program, library, version, count, seed, flags):
    requirement = version if "==" in version else "%s==%s" % (library, version)
    environment = ["--env", requirement]
    rows = lines([program, "apis", library, "--json"] + environment)
    names = [row["name"] for row in rows if row["left_out"] is None]
    random.Random(seed).shuffle(names)
    drawn = names[:count]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "fuzz"] + drawn + environment
        command += [
            "--max-iter",
            "200",
            "--oracles",
            "nan",
            "--json",
            "--quiet",
            "--workdir",
            folder,
        ]
        (summary,) = lines(command + flags)
    usable, silent = 0, []
    for api in summary["apis"]:
        counts = api["tally"].get("counts", api["tally"])
        if counts.get("accepted", 0) + counts.get("nan", 0) > 0:
            usable += 1
        else:
            silent.append((api["api"]["title"], api["rejections"][:2]))
    refused = [pair for pair in summary["skipped"] if "left out by default" not in pair[1]]
    print(
        "%s %s: %d public callables listed, %d of them can be fuzzed; %d drawn with seed %d: %d refused, %d run, "
        "%d usable"
        % (
            library,
            version,
            len(rows),
            len(names),
            len(drawn),
            seed,
            len(refused),
            len(summary["apis"]),
            usable,
        )
    )
    for title, reason in refused:
        print("refused", title, reason[:160])
    for title, reasons in silent:
        print("nothing accepted", title, [shown(reason[0]) for reason in reasons])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
