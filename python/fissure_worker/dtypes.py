"""Facts about element types, by name. The Rust side has its own in `fissure-model/src/dtype.rs`."""


class Dtype:
    def __init__(self, largest, smallest, epsilon, wider, tolerance):
        #: Finite, of one part for complex types.
        self.largest = largest
        #: The smallest normal number.
        self.smallest = smallest
        #: Distance from 1 to the next number.
        self.epsilon = epsilon
        #: The widest type of its kind, or None for that type itself.
        self.wider = wider
        #: (relative, absolute), as `torch.testing` has them.
        self.tolerance = tolerance


#: Lower precision first.
INEXACT = {
    "float8_e5m2": Dtype(57344.0, 2.0**-14, 2.0**-2, "float64", (0.25, 1e-2)),
    "float8_e4m3fn": Dtype(448.0, 2.0**-6, 2.0**-3, "float64", (0.13, 1e-2)),
    "bfloat16": Dtype(3.3895313892515355e38, 2.0**-126, 2.0**-7, "float64", (1.6e-2, 1e-5)),
    "float16": Dtype(65504.0, 2.0**-14, 2.0**-10, "float64", (1e-3, 1e-5)),
    "complex32": Dtype(65504.0, 2.0**-14, 2.0**-10, "complex128", (1e-3, 1e-5)),
    "float32": Dtype(3.4028234663852886e38, 2.0**-126, 2.0**-23, "float64", (1.3e-6, 1e-5)),
    "complex64": Dtype(3.4028234663852886e38, 2.0**-126, 2.0**-23, "complex128", (1.3e-6, 1e-5)),
    "float64": Dtype(1.7976931348623157e308, 2.0**-1022, 2.0**-52, None, (1e-7, 1e-7)),
    "complex128": Dtype(1.7976931348623157e308, 2.0**-1022, 2.0**-52, None, (1e-7, 1e-7)),
}

#: Whole numbers of every width; without `bool`, with which nothing is computed.
INTEGERS = frozenset("int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())


def least_precise(names):
    """The facts of the least precise of some types; None without any that is inexact."""
    for name, dtype in INEXACT.items():
        if name in names:
            return dtype
    return None


def wider(name):
    """The widest type of its kind where this is not it, else None."""
    dtype = INEXACT.get(name)
    return None if dtype is None else dtype.wider
