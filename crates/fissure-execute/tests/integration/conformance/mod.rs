//! One suite that every library's adapter passes.

mod suite;

use std::path::PathBuf;

use fissure_testing::{library_python, old_library_python, torch_python};

use suite::{Expected, conforms};

#[test]
fn torch_passes_the_conformance_suite() {
    conforms(torch_python(), &TORCH);
}

#[test]
fn torch_1_5_passes_the_conformance_suite() {
    let expected = Expected {
        version: "1.5.0",
        dtypes: 10,
        ..TORCH
    };
    conforms(old("torch", "torch==1.5.0"), &expected);
}

#[test]
fn tensorflow_passes_the_conformance_suite() {
    conforms(
        library_python("tensorflow", "tensorflow-cpu==2.21.0"),
        &TENSORFLOW,
    );
}

#[test]
fn tensorflow_2_1_passes_the_conformance_suite() {
    let expected = Expected {
        version: "2.1.0",
        ..TENSORFLOW
    };
    conforms(old("tensorflow", "tensorflow-cpu==2.1.0"), &expected);
}

#[test]
fn jax_passes_the_conformance_suite() {
    conforms(library_python("jax", JAX), &JAX_NARROW);
}

#[test]
fn jax_with_64_bits_passes_the_conformance_suite() {
    let expected = Expected {
        dtypes: 15,
        environment: &[("JAX_ENABLE_X64", "1")],
        ..JAX_NARROW
    };
    conforms(library_python("jax", JAX), &expected);
}

#[test]
fn mxnet_passes_the_conformance_suite() {
    conforms(library_python("mxnet", "mxnet==1.9.1"), &MXNET);
}

#[test]
fn mxnet_with_its_threaded_engine_passes_the_conformance_suite() {
    let expected = Expected {
        environment: &[("MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice")],
        ..MXNET
    };
    conforms(library_python("mxnet", "mxnet==1.9.1"), &expected);
}

#[test]
fn mxnet_1_6_passes_the_conformance_suite() {
    let expected = Expected {
        version: "1.6.0",
        dtypes: 8,
        ..MXNET
    };
    conforms(old("mxnet", "mxnet==1.6.0"), &expected);
}

#[test]
fn numpy_passes_the_conformance_suite() {
    conforms(library_python("numpy", "numpy"), &NUMPY);
}

fn old(package: &str, requirement: &str) -> Option<PathBuf> {
    old_library_python(package, requirement)
}

const JAX: &str = "jax==0.7.1";

const TORCH: Expected = Expected {
    package: "torch",
    version: "2.9.1",
    dtypes: 12,
    sparse: true,
    layer: Some(("torch.nn.Linear", &[4, 3])),
    call: "torch.abs",
    ..NUMPY
};

const TENSORFLOW: Expected = Expected {
    package: "tensorflow",
    version: "2.21.0",
    dtypes: 20,
    sparse: true,
    layer: Some(("tensorflow.keras.layers.Dense", &[3])),
    compiles: true,
    call: "tensorflow.raw_ops.Abs",
    ..NUMPY
};

const JAX_NARROW: Expected = Expected {
    package: "jax",
    version: "0.7.1",
    dtypes: 11,
    sparse: true,
    compiles: true,
    call: "jax.numpy.abs",
    ..NUMPY
};

const MXNET: Expected = Expected {
    package: "mxnet",
    version: "1.9.1",
    dtypes: 9,
    sparse: true,
    layer: Some(("mxnet.gluon.nn.Dense", &[3])),
    call: "mxnet.nd.abs",
    ..NUMPY
};

const NUMPY: Expected = Expected {
    package: "numpy",
    version: "",
    dtypes: 14,
    sparse: false,
    layer: None,
    compiles: false,
    call: "numpy.abs",
    environment: &[],
};
