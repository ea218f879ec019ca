"""Facts about how packages are laid out, as data: which modules and names are not for callers.

Patterns of single functions that are dangerous or useless to call are in `data/deny-list.toml`, which
reaches this side with the request.
"""

#: Modules that hold no interface of their own: older interfaces, tests, typing.
SKIPPED_MODULES = frozenset(
    "compat testing tests test conftest setup typing typing_extensions version pywrap_tensorflow "
    "python core internal f2py distutils __main__ examples benchmarks".split()
)
#: Modules that are left out with everything below them.
SKIPPED_PATHS = frozenset(
    (
        # Operators below their public functions; a package's own ones are listed with the package.
        "torch.ops",
        # Python's own `math`.
        "torch.math",
        # Shown for people who write transformations of JAX itself.
        "jax.interpreters",
        # Without documentation: helpers of PyTorch's own modules.
        "torch.fx.experimental",
        "torch.fx.passes",
        "torch.jit.frontend",
        "torch.jit.annotations",
        "torch.utils.collect_env",
        "torch.utils.data.datapipes.dataframe",
        "torch.multiprocessing.reductions",
        "torch.export.pytree",
        "torch.windows",
    )
)
#: Root package → packages whose objects it shows as its own.
BACKENDS = {
    "torch": (),
    "tensorflow": ("keras", "tensorflow_estimator", "ml_dtypes"),
    "jax": ("jaxlib", "opt_einsum", "ml_dtypes"),
    "mxnet": (),
}
#: Root package → modules that show many of its functions under a second name.
ALIAS_MODULES = {
    "torch": (
        "torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft", "torch.sparse",
        "torch.nn",
    ),
    "jax": ("jax.numpy", "jax.lax", "jax.nn", "jax.numpy.linalg", "jax.scipy.special"),
    "numpy": ("numpy", "numpy.linalg", "numpy.fft"),
}  # fmt: skip
#: Root package → further modules whose functions are made of its operations.
SHOWN_MODULES = {
    "torch": ("torch.nn.utils.rnn", "torch.nn.init", "torch.signal.windows", "torch.nested"),
    "tensorflow": (
        "tensorflow", "tensorflow.nn", "tensorflow.image", "tensorflow.math", "tensorflow.sparse",
        "tensorflow.strings", "tensorflow.linalg", "tensorflow.signal", "tensorflow.io",
        "tensorflow.ragged", "tensorflow.audio", "tensorflow.quantization", "tensorflow.random",
        "tensorflow.bitwise", "tensorflow.keras.layers", "tensorflow.keras.ops",
    ),
}  # fmt: skip
#: Where PyTorch's Python code finds the functions that are not written in Python.
BUILT_IN_MODULES = (
    "torch", "torch._VF", "torch._C._nn", "torch._C._linalg", "torch._C._special", "torch._C._fft",
    "torch._C._nested", "torch._C._sparse",
)  # fmt: skip
#: Classes whose methods take an array as their first argument.
ARRAY_CLASSES = frozenset("Tensor ndarray NDArray Array".split())
#: Namespaces of operators that come with PyTorch itself.
TORCH_NAMESPACES = frozenset(
    "aten prim prims quantized quantized_decomposed profiler inductor _c10d_functional "
    "_c10d_functional_autograd c10d c10d_functional _dtensor debugprims rngprims static_runtime "
    "sparse mkldnn mkldnn_prepacked mkl onednn prepacked xnnpack vulkan vulkan_prepack fbgemm "
    "mps metal cuda nvprims higher_order export _test streams symm_mem flight_recorder "
    "_quantized inductor_prims fsdp cuda_dnn bucketing dtensor torchvision_private _inductor_test "
    "aoti_torch mtia ao nested rocm_quantized tensorexpr torch_cpu_profiler mylib _torch_testing "
    "metal_prepack _nnapi __torch__ internal triton _scaled".split()
)
#: Modules whose functions fetch something over the network.
NETWORK = (
    "tensorflow.keras.datasets",
    "tensorflow.keras.applications",
    "keras.datasets",
    "keras.applications",
    "torch.hub",
)
#: Names of required parameters that want something which cannot be made on the spot.
UNAVAILABLE = {
    "process_group": "needs a process group",
    "world_size": "needs a process group",
    "rpc_backend": "needs a process group",
    "group_key": "needs a process group",
    "communicator": "needs a process group",
    "device_mesh": "needs a group of devices",
    "strategy": "needs a group of devices",
    "dataset": "needs a data set",
    "dataloader": "needs a data set",
    "session": "needs a session of the older interface",
}


def is_private(path):
    return any(part.startswith("_") for part in path.split("."))
