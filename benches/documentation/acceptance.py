"""How many conforming inputs the library accepts from extracted constraint files alone, before and after repair.

    python3 benches/documentation/acceptance.py FISSURE LIBRARY VERSION COUNT SEED [--keep DIR] [--show] [--only before]

Extracts the package, draws COUNT files at random from the modules of `MODULES`, runs `fissure fuzz --generator
constraints --mode conform` with 60 inputs each, then `fissure specs repair` (with the same seed) and the same run
again on the repaired files. Prints the mean share of accepted inputs over the callables and how many have none.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

#: Modules whose callables compute; files, threads, devices and training loops are elsewhere.
MODULES = {
    "torch": "torch torch.nn torch.nn.functional torch.Tensor torch.linalg torch.fft torch.special".split(),
    "tensorflow": (
        "tf tf.math tf.nn tf.linalg tf.image tf.strings tf.signal tf.sparse tf.raw_ops tf.random tf.bitwise "
        "tf.sets tf.ragged tf.keras.layers tf.keras.losses tf.keras.ops tf.quantization"
    ).split(),
    "jax": "jax.numpy jax.lax jax.nn jax.scipy.special jax.scipy.stats jax.numpy.linalg jax.numpy.fft jax.random".split(),
    "numpy": "numpy numpy.linalg numpy.fft numpy.random numpy.ma numpy.polynomial.polynomial".split(),
}  # fmt: skip
INPUTS = 60


def run(command, check=True):
    done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=False)
    if check and done.returncode not in (0, 1):
        sys.exit("%s ended with %d" % (" ".join(command[:4]), done.returncode))
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def rates(program, folder, environment, seed):
    """{title: (share of accepted inputs, first reasons of rejection)}"""
    with tempfile.TemporaryDirectory() as work:
        flags = ["--generator", "constraints", "--mode", "conform", "--mutate-p", "0"]
        flags += ["--max-iter", str(INPUTS), "--oracles", "nan", "--seed", str(seed)]
        flags += ["--json", "--quiet", "--workdir", work]
        (summary,) = run([program, "fuzz", folder] + environment + flags)
    found = {}
    for api in summary["apis"]:
        counts = api["tally"].get("counts", api["tally"])
        total = sum(counts.values()) or 1
        accepted = counts.get("accepted", 0) + counts.get("nan", 0)
        found[api["api"]["title"]] = (accepted / total, api["rejections"][:2])
    for title, reason in summary["skipped"]:
        found[title] = (None, [[reason, 1]])
    return found


def tell(name, found, show):
    shares = [share for share, _ in found.values() if share is not None]
    skipped = len(found) - len(shares)
    none = sum(1 for share in shares if share == 0)
    mean = 100 * sum(shares) / max(1, len(shares))
    print(
        "%s: %d callables run, %d skipped: %.1f %% accepted in the mean, %d without an accepted input"
        % (name, len(shares), skipped, mean, none),
        flush=True,
    )
    if show:
        for title, (share, reasons) in sorted(found.items(), key=lambda it: it[1][0] or 0):
            if share is None or share < 0.85:
                print(
                    "  %s %s" % ("skipped" if share is None else "%3.0f %%" % (100 * share), title)
                )
                for reason in reasons:
                    print("        %s  (%s)" % (" ".join(str(reason[0]).split())[:230], reason[1]))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("library")
    arguments.add_argument("version")
    arguments.add_argument("count", type=int)
    arguments.add_argument("seed", type=int)
    arguments.add_argument("--keep", help="folder in which the files stay")
    arguments.add_argument("--show", action="store_true", help="what is below 85 %% and why")
    arguments.add_argument("--only", choices=("before",), help="no repair")
    options = arguments.parse_args()
    environment = ["--env", "%s==%s" % (options.library, options.version)]
    package = options.library.replace("-cpu", "")
    folder = options.keep or tempfile.mkdtemp()
    every, drawn, repaired = (os.path.join(folder, one) for one in ("every", "drawn", "repaired"))
    if not os.path.isdir(every):
        command = [options.program, "specs", "extract", package, "--out", every, "--json"]
        run(command + environment)
    titles = sorted(name[: -len(".yaml")] for name in os.listdir(every) if name.endswith(".yaml"))
    titles = [title for title in titles if title.rpartition(".")[0] in MODULES[package]]
    chosen = random.Random(options.seed).sample(titles, min(options.count, len(titles)))
    for one in (drawn, repaired):
        shutil.rmtree(one, ignore_errors=True)
        os.makedirs(one)
    for title in chosen:
        shutil.copy(os.path.join(every, title + ".yaml"), drawn)
    print(
        "%s %s: %d of %d files drawn with seed %d"
        % (options.library, options.version, len(chosen), len(titles), options.seed)
    )
    tell("extracted", rates(options.program, drawn, environment, options.seed), options.show)
    if options.only != "before":
        command = [options.program, "specs", "repair", drawn, "--output", repaired, "--json"]
        lines = run(command + environment + ["--seed", str(options.seed)])
        with open(os.path.join(folder, "repair.jsonl"), "w") as stream:
            stream.writelines(json.dumps(line) + "\n" for line in lines)
        tell("repaired", rates(options.program, repaired, environment, options.seed), options.show)
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
