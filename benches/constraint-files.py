"""How much of what constraint files allow the installed library accepts, over a random sample of files.

python3 benches/constraint-files.py FISSURE FOLDER ENVIRONMENT COUNT SEED [flags of fuzz]

ENVIRONMENT is what --env takes (tensorflow-cpu==2.21.0). Each file gets 300 inputs that obey it, without boundary cases
(--mutate-p 0). Files whose API the environment does not have, or that the deny-list leaves out, are counted and not run. *Nothing*: no input accepted.
"""

import json
import os
import random
import subprocess
import sys
import tempfile


def main(program, folder, environment, count, seed, flags):
    files = sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    random.Random(seed).shuffle(files)
    paths = [os.path.join(folder, name) for name in files[:count]]
    with tempfile.TemporaryDirectory() as out:
        command = [program, "fuzz"] + paths + ["--env", environment, "--mode", "conform"]
        command += [
            "--max-iter",
            "300",
            "--mutate-p",
            "0",
            "--oracles",
            "nan",
            "--json",
            "--quiet",
            "--output",
            out,
        ]
        done = subprocess.run(
            command + flags, stdout=subprocess.PIPE, universal_newlines=True, check=False
        )
    summary = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    rates, nothing = [], []
    for api in summary["apis"]:
        counts = api["tally"].get("counts", api["tally"])
        tried = sum(counts.values())
        accepted = counts.get("accepted", 0) + counts.get("nan", 0)
        if tried:
            rates.append((accepted / tried, api["api"]["title"], api["rejections"][:2]))
        if not accepted:
            nothing.append(api["api"]["title"])
    mean = sum(rate for rate, *_ in rates) / max(1, len(rates))
    print(
        "%s: %d files drawn with seed %d: %d run, mean acceptance %.1f %%, nothing accepted: %d (%.0f %%)"
        % (
            environment,
            len(paths),
            seed,
            len(rates),
            100 * mean,
            len(nothing),
            100 * len(nothing) / max(1, len(rates)),
        )
    )
    for rate, title, reasons in sorted(rates):
        if rate < 0.5:
            print("%5.1f %% %s %s" % (100 * rate, title, [reason[0][-150:] for reason in reasons]))
    for title, reason in summary["skipped"]:
        print("not run", title, reason[:120])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
