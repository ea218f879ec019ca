"""Defects that others have published: how many of them does a short run meet, knowing only the name of the function?

    python3 benches/published.py target/release/fissure [--max-time 20s] [--seed 0] [--only TEXT] [REQUIREMENT ...]

The functions of TensorFlow 2.9.0 are those of its security advisories of September 2022, which tell of crashes on a CPU
(CVE-2022-35934 to CVE-2022-36026); the others are of issues in the trackers of the libraries, with the release that the
issue names or one near it. Environments are made on first use. Whether a finding is the one that was published is for the
reader: the titles of what was found are printed.
"""

import argparse
import json
import os
import subprocess
import tempfile

#: By requirement, what kind of defect the reports tell of, and the functions.
PUBLISHED = {
    "tensorflow-cpu==2.9.0": {
        "memory": """
    tf.raw_ops.SobolSample tf.raw_ops.UnbatchGrad tf.raw_ops.AvgPool3DGrad tf.raw_ops.TensorListReserve
    tf.raw_ops.FractionalAvgPoolGrad tf.raw_ops.BlockLSTMGradV2 tf.raw_ops.LowerBound tf.raw_ops.UpperBound
    tf.raw_ops.QuantizedAvgPool tf.raw_ops.QuantizedAdd tf.raw_ops.AvgPoolGrad tf.raw_ops.Conv2DBackpropInput
    tf.raw_ops.QuantizedInstanceNorm tf.raw_ops.FakeQuantWithMinMaxVars tf.raw_ops.QuantizedBiasAdd
    tf.raw_ops.QuantizedMatMul tf.raw_ops.QuantizeDownAndShrinkRange tf.raw_ops.QuantizedRelu tf.raw_ops.QuantizedRelu6
    tf.raw_ops.FractionalMaxPoolGrad tf.raw_ops.SparseBincount tf.raw_ops.ParameterizedTruncatedNormal
    tf.raw_ops.LRNGrad tf.raw_ops.RaggedBincount tf.raw_ops.DenseBincount
    tf.raw_ops.FakeQuantWithMinMaxVarsPerChannelGradient tf.raw_ops.TensorListScatter
    tf.raw_ops.TensorListFromTensor tf.raw_ops.SetSize tf.raw_ops.AudioSummaryV2 tf.raw_ops.Conv2D
    tf.raw_ops.EmptyTensorList tf.raw_ops.DrawBoundingBoxes tf.raw_ops.Unbatch tf.raw_ops.RandomPoissonV2
    tf.random.gamma tf.raw_ops.FakeQuantWithMinMaxVarsGradient tf.raw_ops.RaggedTensorToVariant
    tf.raw_ops.FakeQuantWithMinMaxVarsPerChannel tf.raw_ops.QuantizeAndDequantizeV3 tf.raw_ops.Requantize
    """
    },
    "torch==1.13.1": {
        "memory": """
    torch._C._nn.col2im torch._compute_linear_combination torch.histogramdd torch.affine_grid_generator
    torch._euclidean_dist torch._C._nn.multilabel_margin_loss torch._C._linalg.linalg_pinv
    torch._C._linalg.linalg_matmul torch._stack torch.nn.functional.interpolate
    torch._nnpack_spatial_convolution torch._fused_moving_avg_obs_fq_helper
    torch.choose_qparams_optimized torch._grid_sampler_2d_cpu_fallback torch._sobol_engine_ff_
    """,
        "result": "torch.narrow_copy",
    },
    "torch==2.5.1": {
        "memory": """
    torch._fft_c2c torch._fft_r2c torch._C._nn.thnn_conv2d torch.ops.aten._adaptive_avg_pool2d_backward
    torch.as_strided_scatter torch.ops.aten.adaptive_max_pool2d_backward torch.ops.aten.adaptive_max_pool3d_backward
    torch.nn.functional.max_unpool2d torch.linalg.ldl_solve torch.ops.aten.reflection_pad1d
    torch.ops.aten._local_scalar_dense torch.nn.functional.scaled_dot_product_attention
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu torch.ops.aten.convolution_backward
    torch.ops.aten.as_strided torch._scaled_dot_product_attention_math torch.batch_norm_update_stats
    torch.quantized_max_pool2d torch.fused_moving_avg_obs_fake_quant torch._fused_moving_avg_obs_fq_helper
    torch.ops.aten.multi_margin_loss_backward torch.mkldnn_max_pool2d torch.nn.ReplicationPad2d
    """
    },
    "torch==2.12.0": {
        "memory": """
    torch.ops.aten._masked_softmax_backward torch.ops.inductor._reinterpret_tensor torch.nn.functional.embedding_bag
    """,
        "result": "torch.floor_divide torch.remainder",
    },
    "torch==1.11.0": {
        "memory": """
    torch.native_channel_shuffle torch.mkldnn_convolution torch._C._nn.max_pool3d_with_indices torch._C._nn.im2col
    torch._fft_r2c
    """
    },
    "torch==2.1.0": {"memory": "torch._foreach_mul_ torch.div torch._C._nn.replication_pad2d"},
    "torch==2.3.1": {"result": "torch.gather torch.take_along_dim"},
    "torch==2.9.1": {"result": "torch.arange"},
    "tensorflow-cpu==2.16.1": {
        "memory": """
    tf.raw_ops.SparseMatrixZeros tf.raw_ops.FusedPadConv2D tf.raw_ops.FusedResizeAndPadConv2D
    tf.raw_ops.SoftmaxCrossEntropyWithLogits tf.raw_ops.ParallelConcat tf.raw_ops.Unbatch tf.raw_ops.ResizeBicubic
    """
    },
    "tensorflow-cpu==2.21.0": {"result": "tf.reduce_mean tf.math.reduce_std"},
    "jax==0.6.0": {"result": "jax.numpy.linalg.matrix_power"},
}

#: Oracles whose findings show a defect of memory without a crash: what is read or written does not belong to the arguments.
FOREIGN_MEMORY = ("determinism", "uninitialised", "guard")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("fissure")
    parser.add_argument("requirements", nargs="*", metavar="REQUIREMENT")
    parser.add_argument("--max-time", default="20s")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", default="", help="names that contain this")
    options = parser.parse_args()
    for requirement in options.requirements or PUBLISHED:
        met = tried = 0
        for kind, names in PUBLISHED[requirement].items():
            for name in filter(lambda name: options.only in name, names.split()):
                tried += 1
                found = findings(options, requirement, name)
                seen = sorted({how for how in map(shows, found) if how == kind or kind == "memory"})
                met += any(how == "crash" or how == kind for how in seen)
                print("%-58s %s" % (name, ", ".join(seen) or "-"), flush=True)
                for verdict in found:
                    print("    %s: %s" % (shows(verdict) or "-", verdict["title"]), flush=True)
        print("%s: %d of %d" % (requirement, met, tried), flush=True)


def shows(verdict):
    """What kind of defect a finding tells of."""
    if verdict["kind"] == "crash":
        return "crash"
    return "memory" if verdict["oracle"] in FOREIGN_MEMORY else "result"


def findings(options, requirement, name):
    """The verdicts of one run, notes left out."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "run")
        command = [options.fissure, "fuzz", name, "--env", requirement]
        command += ["--total-time", options.max_time, "--seed", options.seed]
        command += ["--output", output, "--quiet"]
        ended = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if ended.returncode not in (0, 1):
            raise SystemExit("%s ended with %d: %s" % (name, ended.returncode, ended.stderr[-500:]))
        found = []
        for entry in sorted(os.listdir(os.path.join(output, "findings"))):
            with open(os.path.join(output, "findings", entry, "finding.json")) as file:
                verdict = json.load(file)["verdict"]
            if not verdict["note"]:
                with open(os.path.join(output, "findings", entry, "issue.md")) as file:
                    found.append(dict(verdict, title=file.readline().strip("# \n")))
        return found


if __name__ == "__main__":
    main()
