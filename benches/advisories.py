"""Crashes that others have published: how many of them does a short run meet, knowing only the name of the function?

    python3 benches/advisories.py target/release/fissure [--max-time 20s] [--seed 0] [FUNCTION ...]

The functions are those of TensorFlow's security advisories of September 2022, which tell of crashes in 2.9.0 on a CPU
(CVE-2022-35934 to CVE-2022-36026). The environment is made on first use.
"""

import argparse
import json
import os
import subprocess
import tempfile

REQUIREMENT = "tensorflow-cpu==2.9.0"

#: What of `tf.raw_ops` (or of another module, by its whole name) has an advisory.
FUNCTIONS = """
    SobolSample UnbatchGrad AvgPool3DGrad TensorListReserve FractionalAvgPoolGrad BlockLSTMGradV2 LowerBound UpperBound
    QuantizedAvgPool QuantizedAdd AvgPoolGrad Conv2DBackpropInput QuantizedInstanceNorm FakeQuantWithMinMaxVars
    QuantizedBiasAdd QuantizedMatMul QuantizeDownAndShrinkRange QuantizedRelu QuantizedRelu6 FractionalMaxPoolGrad
    SparseBincount ParameterizedTruncatedNormal LRNGrad RaggedBincount DenseBincount
    FakeQuantWithMinMaxVarsPerChannelGradient TensorListScatter TensorListFromTensor SetSize AudioSummaryV2 Conv2D
    EmptyTensorList DrawBoundingBoxes Unbatch RandomPoissonV2 tf.random.gamma FakeQuantWithMinMaxVarsGradient
    RaggedTensorToVariant FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantizeV3 Requantize
""".split()

#: Kinds of findings that show a defect of memory without a crash: what is read does not belong to the arguments.
FOREIGN_MEMORY = ("determinism", "uninitialised", "guard")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("fissure")
    parser.add_argument("functions", nargs="*", default=FUNCTIONS)
    parser.add_argument("--max-time", default="20s")
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()
    crashed = foreign = 0
    for name in options.functions:
        path = name if "." in name else "tf.raw_ops." + name
        found = kinds(options, path)
        crash = any(kind == "crash" for kind, _ in found)
        memory = any(oracle in FOREIGN_MEMORY for _, oracle in found)
        crashed += crash
        foreign += memory and not crash
        print(
            "%-55s %s" % (path, "crash" if crash else "foreign memory" if memory else "-"),
            flush=True,
        )
    count = len(options.functions)
    print(
        "crash in %d of %d, a defect of memory without one in %d more" % (crashed, count, foreign)
    )


def kinds(options, path):
    """The kind and the oracle of each finding of one run."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "run")
        command = [
            options.fissure,
            "fuzz",
            path,
            "--env",
            REQUIREMENT,
            "--total-time",
            options.max_time,
        ]
        command += ["--seed", options.seed, "--output", output, "--quiet"]
        ended = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if ended.returncode not in (0, 1):
            raise SystemExit("%s ended with %d: %s" % (path, ended.returncode, ended.stderr[-500:]))
        found = []
        for name in os.listdir(os.path.join(output, "findings")):
            with open(os.path.join(output, "findings", name, "finding.json")) as file:
                verdict = json.load(file)["verdict"]
            if not verdict.get("note"):
                found.append((verdict["kind"], verdict["oracle"]))
        return found


if __name__ == "__main__":
    main()
