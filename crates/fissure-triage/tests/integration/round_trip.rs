//! Every value in a script comes back bit for bit.

#![expect(clippy::print_stderr, reason = "a skipped test says why")]

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{api, floats, input, keyword, tensor};
use fissure_model::{ConcreteInput, Dtype, TensorValue, Value};
use fissure_triage::{ScriptEnd, script_for_input};

/// Replaces the end of a script: the call gives back its arguments, and their bytes are printed.
const DUMP: &str = r#"
def dump(value):
    if hasattr(value, "is_sparse") and value.is_sparse:
        return "sparse " + dump(value.to_dense())
    if hasattr(value, "is_quantized") and value.is_quantized:
        return str(value.dtype).split(".")[1] + " of " + dump(value.int_repr())
    if hasattr(value, "numpy"):
        shape = list(value.shape)
        flat = value.reshape(-1)
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        return "%s %s %s" % (str(value.dtype).split(".")[1], shape, data.hex())
    if hasattr(value, "tobytes"):
        return "%s %s %s" % (value.dtype.name, list(value.shape), value.tobytes().hex())
    return repr(value)


PACKAGE.echo = lambda **arguments: arguments
for name, value in call().items():
    print(name + "=" + dump(value))
"#;

/// The lines that the values of a call come back as.
fn echo(python: &Path, package: &str, call: &ConcreteInput) -> BTreeMap<String, String> {
    let script = script_for_input(&api(&format!("{package}.echo")), call);
    let script = script
        .strip_suffix("print(call())\n")
        .expect("how scripts of inputs end");
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{script}{}", DUMP.replace("PACKAGE", package));
    let run = common::run_text(python, &text, folder.path());
    let end_of_log = run
        .log
        .lines()
        .rev()
        .take(20)
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(
        run.end,
        ScriptEnd::Exit(0),
        "last lines first:\n{end_of_log}"
    );
    run.log
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn expected(tensor: &TensorValue, dtype: Dtype) -> String {
    let bytes = tensor.byte_len().unwrap() as usize;
    let data: String = tensor
        .data
        .pattern
        .iter()
        .cycle()
        .take(bytes)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{dtype} {:?} {data}", tensor.shape)
}

/// Bytes that look random and are the same in each run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

/// Tensors of one dtype that take every way of being written.
fn shapes_and_patterns(dtype: Dtype) -> Vec<TensorValue> {
    let size = dtype.size().unwrap();
    let bytes = |elements: usize| match dtype {
        Dtype::Bool => noise(elements).into_iter().map(|byte| byte & 1).collect(),
        _ => noise(elements * size),
    };
    let mut tensors = vec![
        tensor(dtype, &[], bytes(1)),
        tensor(dtype, &[3], bytes(3)),
        tensor(dtype, &[2, 3, 4], bytes(24)),
        tensor(dtype, &[0, 3], vec![]),
        tensor(dtype, &[5, 5], bytes(1)),
        tensor(dtype, &[7, 11], bytes(3)),
        tensor(dtype, &[10, 20], bytes(200)),
        tensor(dtype, &[1000], bytes(300)),
    ];
    let specials: Vec<u8> = match dtype {
        Dtype::Float16 => [0x7e00u16, 0x7c00, 0xfc00, 0x8000, 1, 0x7bff, 0x7e01]
            .iter()
            .flat_map(|bits| bits.to_le_bytes())
            .collect(),
        Dtype::Bfloat16 => [0x7fc0u16, 0x7f80, 0xff80, 0x8000, 1, 0x7f7f, 0xffc1]
            .iter()
            .flat_map(|bits| bits.to_le_bytes())
            .collect(),
        Dtype::Float32 | Dtype::Complex64 => [f32::NAN, f32::INFINITY, -0.0, 1e-45, f32::MAX, 0.1]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        Dtype::Float64 | Dtype::Complex128 => {
            [f64::NAN, f64::INFINITY, -0.0, 5e-324, f64::MAX, 0.1]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        }
        _ => [vec![0; size], vec![0xff; size]].concat(),
    };
    if dtype != Dtype::Bool {
        let length = (specials.len() / size) as u64;
        tensors.push(tensor(dtype, &[length], specials.clone()));
        for special in specials.chunks_exact(size) {
            tensors.push(tensor(dtype, &[2, 3], special.to_vec()));
            tensors.push(tensor(dtype, &[], special.to_vec()));
        }
    }
    tensors
}

/// Sends the tensors through one script and compares what comes back.
fn check(python: &Path, package: &str, tensors: &[TensorValue], wrap: fn(TensorValue) -> Value) {
    let arguments = tensors
        .iter()
        .enumerate()
        .map(|(at, tensor)| keyword(&format!("t{at}"), wrap(tensor.clone())))
        .collect();
    let echoed = echo(python, package, &input(arguments));
    for (at, tensor) in tensors.iter().enumerate() {
        assert_eq!(echoed[&format!("t{at}")], expected(tensor, tensor.dtype));
    }
}

/// Element types of ordinary numbers.
fn plain_dtypes() -> impl Iterator<Item = Dtype> {
    let all = Dtype::ALL.into_iter();
    all.filter(|dtype| dtype.size().is_some() && dtype.family().is_some())
}

#[test]
fn torch_tensors_of_every_dtype_come_back_bit_for_bit() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let dtypes = plain_dtypes();
    let tensors: Vec<TensorValue> = dtypes.flat_map(shapes_and_patterns).collect();
    check(&python, "torch", &tensors, Value::Tensor);
}

/// Every bit pattern of the small floating types, as far as a literal can say it.
#[test]
fn every_small_float_comes_back_from_its_literal() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let two_bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let one_byte: Vec<u8> = (0..=u8::MAX).collect();
    let mut tensors = Vec::new();
    for (dtype, bytes) in [
        (Dtype::Float16, &two_bytes),
        (Dtype::Bfloat16, &two_bytes),
        (Dtype::Float8E4m3fn, &one_byte),
        (Dtype::Float8E5m2, &one_byte),
    ] {
        for chunk in bytes.chunks_exact(32 * dtype.size().unwrap()) {
            tensors.push(tensor(dtype, &[32], chunk.to_vec()));
        }
    }
    check(&python, "torch", &tensors, Value::Tensor);
}

#[test]
fn quantized_and_sparse_tensors_and_library_objects_come_back() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let sparse = floats(&[2, 2], &[0.0, 1.5, 0.0, -2.0]);
    let quantized = tensor(Dtype::Qint8, &[2, 2], vec![1, 0xff, 0x80, 0x7f]);
    let device = Value::Call {
        path: "torch.device".into(),
        arguments: vec![Value::Text("cpu".into())],
    };
    let echoed = echo(
        &python,
        "torch",
        &input(vec![
            keyword("sparse", Value::SparseTensor(sparse.clone())),
            keyword("quantized", Value::Tensor(quantized.clone())),
            keyword("dtype", Value::Dtype(Dtype::Bfloat16)),
            keyword("layout", Value::Object("torch.strided".into())),
            keyword("device", device),
            keyword("array", Value::NdArray(floats(&[2], &[1.0, -0.0]))),
        ]),
    );
    assert_eq!(
        echoed["sparse"],
        format!("sparse {}", expected(&sparse, Dtype::Float32))
    );
    assert_eq!(
        echoed["quantized"],
        format!("qint8 of {}", expected(&quantized, Dtype::Int8))
    );
    assert_eq!(echoed["dtype"], "torch.bfloat16");
    assert_eq!(echoed["layout"], "torch.strided");
    assert_eq!(echoed["device"], "device(type='cpu')");
    assert_eq!(echoed["array"], "float32 [2] 0000803f00000080");
}

#[test]
fn numpy_arrays_of_every_dtype_come_back_bit_for_bit() {
    let candidates = [Some(common::python3()), fissure_testing::torch_python()];
    let has_numpy = |python: &std::path::PathBuf| {
        let folder = tempfile::tempdir().unwrap();
        common::run_text(python, "import numpy\n", folder.path()).end == ScriptEnd::Exit(0)
    };
    let Some(python) = candidates.into_iter().flatten().find(has_numpy) else {
        eprintln!("skipped: neither python3 nor the environment with torch has NumPy");
        return;
    };
    let foreign = [Dtype::Bfloat16, Dtype::Float8E4m3fn, Dtype::Float8E5m2];
    let dtypes = plain_dtypes().filter(|dtype| !foreign.contains(dtype));
    let tensors: Vec<TensorValue> = dtypes.flat_map(shapes_and_patterns).collect();
    check(&python, "platform", &tensors, Value::NdArray);
}

#[test]
fn plain_values_come_back_as_python_shows_them() {
    let text = |text: &str| Value::Text(text.into());
    let echoed = echo(
        &common::python3(),
        "platform",
        &input(vec![
            keyword("none", Value::None),
            keyword("truth", Value::Bool(true)),
            keyword("huge", Value::Int(i128::MIN)),
            keyword("nan", Value::Float(f64::NAN)),
            keyword("minus", Value::Float(f64::NEG_INFINITY)),
            keyword("tiny", Value::Float(-5e-324)),
            keyword("wide", Value::Float(1e300)),
            keyword(
                "complex",
                Value::Complex {
                    re: -0.0,
                    im: f64::INFINITY,
                },
            ),
            keyword("text", text("\"'\\\n\0é🦀")),
            keyword("bytes", Value::Bytes(vec![0, b'"', b'\\', 255])),
            keyword(
                "nested",
                Value::Tuple(vec![Value::List(vec![Value::Tuple(vec![])])]),
            ),
            keyword("dict", Value::Dict(vec![(text("k"), Value::Int(-1))])),
            keyword("from", text("a reserved word")),
            keyword("odd name", Value::Int(1)),
            keyword("twice", Value::Int(1)),
            keyword("twice", Value::Int(2)),
        ]),
    );
    for (name, shown) in [
        ("none", "None"),
        ("truth", "True"),
        ("huge", "-170141183460469231731687303715884105728"),
        ("nan", "nan"),
        ("minus", "-inf"),
        ("tiny", "-5e-324"),
        ("wide", "1e+300"),
        ("complex", "(-0+infj)"),
        ("text", "'\"\\'\\\\\\n\\x00é🦀'"),
        ("bytes", "b'\\x00\"\\\\\\xff'"),
        ("nested", "([()],)"),
        ("dict", "{'k': -1}"),
        ("from", "'a reserved word'"),
        ("odd name", "1"),
        ("twice", "2"),
    ] {
        assert_eq!(echoed[name], shown, "{name}");
    }
}
