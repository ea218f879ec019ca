//! What scripts build is what the worker built, in every library; and a crash of each is one when
//! its script runs alone.

use crate::common;

use std::path::Path;

use common::{api, input, keyword, tensor};
use fissure_model::{Argument, ConcreteInput, Dtype, Passing, TensorValue, Value};
use fissure_testing::library_python;
use fissure_triage::{ScriptEnd, script_for_input};

const TENSORFLOW: &str = "tensorflow-cpu==2.21.0";
const JAX: &str = "jax==0.7.1";
const MXNET: &str = "mxnet==1.9.1";

/// Replaces the end of a script: the call gives back its arguments, and their bytes are printed.
const DUMP: &str = r#"
import numpy


def dump(value):
    kind = type(value).__name__
    if kind == "SparseTensor":
        return "sparse " + dump(tensorflow.sparse.to_dense(value))
    if kind == "BCOO":
        return "sparse " + dump(value.todense())
    if getattr(value, "stype", "default") != "default":
        return "sparse " + dump(value.tostype("default"))
    if hasattr(value, "shape") and not isinstance(value, (type, numpy.dtype)):
        dtype = getattr(value.dtype, "name", None) or numpy.dtype(value.dtype).name
        for way in ("asnumpy", "numpy"):
            if hasattr(value, way):
                array = getattr(value, way)()
                break
        else:
            array = numpy.asarray(value)
        return "%s %s %s" % (dtype, list(value.shape), array.tobytes().hex())
    return getattr(value, "name", None) or numpy.dtype(value).name


PACKAGE.echo = lambda **arguments: arguments
lines = ["%s=%s" % (name, dump(value)) for name, value in call().items()]
# At once and last: what the library writes to standard error must not fall into a line.
print("\n" + "\n".join(lines), flush=True)
"#;

fn run(python: &Path, text: &str) -> (ScriptEnd, String) {
    let folder = tempfile::tempdir().unwrap();
    let run = common::run_text(python, text, folder.path());
    (run.end, run.log)
}

fn check(python: &Path, package: &str, dtypes: &[Dtype]) {
    let mut arguments = Vec::new();
    let mut wanted = Vec::new();
    for dtype in dtypes {
        for tensor in tensors(*dtype) {
            let name = format!("t{}", arguments.len());
            wanted.push(format!("{name}={}", shown(&tensor)));
            arguments.push(keyword(&name, Value::Tensor(tensor)));
        }
    }
    let bytes = [0.0_f32, 1.5, 0.0, -2.0].map(f32::to_le_bytes).concat();
    let sparse = tensor(Dtype::Float32, &[2, 2], bytes);
    wanted.push(format!("sparse=sparse {}", shown(&sparse)));
    arguments.push(keyword("sparse", Value::SparseTensor(sparse)));
    for dtype in dtypes {
        wanted.push(format!("d_{dtype}={dtype}"));
        arguments.push(keyword(&format!("d_{dtype}"), Value::Dtype(*dtype)));
    }
    let script = script_for_input(&api(&format!("{package}.echo")), &input(arguments));
    let script = script
        .strip_suffix("print(call())\n")
        .expect("how scripts of inputs end");
    let (end, log) = run(
        python,
        &format!("{script}{}", DUMP.replace("PACKAGE", package)),
    );
    assert_eq!(end, ScriptEnd::Exit(0), "{log}");
    for line in wanted {
        assert!(log.lines().any(|got| got == line), "no {line}\n{log}");
    }
}

/// One for each way of being written.
fn tensors(dtype: Dtype) -> Vec<TensorValue> {
    let size = dtype.size().unwrap();
    let bytes = |elements: usize| -> Vec<u8> {
        let bytes = 0..elements * size;
        match dtype {
            Dtype::Bool => bytes.map(|at| u8::from(at % 3 == 0)).collect(),
            _ => bytes.map(|at| (at * 7 % 61) as u8).collect(),
        }
    };
    vec![
        tensor(dtype, &[], bytes(1)),
        tensor(dtype, &[3], bytes(3)),
        tensor(dtype, &[2, 3], bytes(6)),
        tensor(dtype, &[0, 3], vec![]),
        tensor(dtype, &[5, 5], bytes(1)),
        tensor(dtype, &[7, 11], bytes(3)),
        tensor(dtype, &[10, 20], bytes(200)),
    ]
}

fn shown(tensor: &TensorValue) -> String {
    let length = tensor.byte_len().unwrap() as usize;
    let bytes = tensor.data.pattern.iter().cycle().take(length);
    let data: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    format!("{} {:?} {data}", tensor.dtype, tensor.shape)
}

#[test]
fn tensorflow_tensors_of_every_dtype_come_back_bit_for_bit() {
    let Some(python) = library_python("tensorflow", TENSORFLOW) else {
        return;
    };
    let lacking = [Dtype::String, Dtype::Resource, Dtype::Variant];
    let dtypes: Vec<Dtype> = Dtype::ALL
        .into_iter()
        .filter(|dtype| !lacking.contains(dtype))
        .collect();
    check(&python, "tensorflow", &dtypes);
}

#[test]
fn jax_arrays_of_every_dtype_come_back_bit_for_bit() {
    let Some(python) = library_python("jax", JAX) else {
        return;
    };
    let dtypes = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Float32,
        Dtype::Float8E4m3fn,
        Dtype::Float8E5m2,
        Dtype::Complex64,
    ];
    check(&python, "jax", &dtypes);
}

#[test]
fn mxnet_arrays_of_every_dtype_come_back_bit_for_bit() {
    let Some(python) = library_python("mxnet", MXNET) else {
        return;
    };
    let dtypes = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Int8,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Float32,
        Dtype::Float64,
    ];
    check(&python, "mxnet", &dtypes);
}

/// A layer with its call, as the worker makes it.
fn layer(units: i128, x: TensorValue) -> ConcreteInput {
    let argument = |value| Argument {
        name: String::new(),
        passing: Passing::Positional,
        value,
    };
    ConcreteInput {
        layer_arguments: Some(vec![argument(Value::Tensor(x))]),
        ..input(vec![argument(Value::Int(units))])
    }
}

#[test]
fn layers_of_every_library_are_called_by_their_scripts() {
    let x = || tensor(Dtype::Float32, &[2, 4], vec![0; 32]);
    let cases = [
        ("tensorflow", TENSORFLOW, "tensorflow.keras.layers.Dense"),
        ("mxnet", MXNET, "mxnet.gluon.nn.Dense"),
    ];
    for (package, requirement, path) in cases {
        let Some(python) = library_python(package, requirement) else {
            continue;
        };
        let (end, log) = run(&python, &script_for_input(&api(path), &layer(3, x())));
        assert_eq!(end, ScriptEnd::Exit(0), "{log}");
        assert!(log.contains("[0. 0. 0.]"), "{log}");
    }
}
