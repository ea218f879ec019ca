//! PyTorch, where it can be had.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Batch, Pool, PoolOptions};
use fissure_model::{Api, ConcreteInput, Dtype, Outcome, TensorData, TensorValue, Value};

use crate::support::{api, input, run};

/// A module beside torch that looks at what arrived.
const CHECKS: &str = r#"
import torch

def bytes_of(tensor):
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist()) if tensor.numel() else b""

def same(tensor, dtype, shape, data):
    assert isinstance(tensor, torch.Tensor), type(tensor)
    assert str(tensor.dtype) == "torch." + dtype, tensor.dtype
    assert tuple(tensor.shape) == tuple(shape), tensor.shape
    assert tensor.is_contiguous() or tensor.layout is not torch.strided
    size = tensor.element_size()
    if tensor.layout is torch.strided and tensor.numel() and not tensor.is_quantized:
        assert tensor.untyped_storage().nbytes() == size * tensor.numel(), "owns its memory"
        tensor.resize_(tensor.numel() + 100)
        tensor.resize_(tuple(shape))
    expected = (data * (1 + tensor.numel() * size // max(1, len(data))))[: tensor.numel() * size]
    assert bytes_of(tensor) == expected, (bytes_of(tensor)[:64], expected[:64])

def same_inside(holder, dtype, shape, data):
    same(holder["k"][0], dtype, shape, data)

def same_array(array, dtype, shape, data):
    assert array.dtype.name == dtype and array.shape == tuple(shape)
    assert array.flags.writeable and array.flags.owndata or array.base is not None
    size = array.nbytes
    assert array.tobytes() == (data * (1 + size // max(1, len(data))))[:size]

def is_dtype(value, text):
    assert value is getattr(torch, text)

def crash_on_write(tensor):
    import ctypes
    ctypes.memset(tensor.data_ptr(), 1, tensor.numel() * tensor.element_size())
    return tensor.sum().item()
"#;

struct Torch {
    pool: Pool,
    _folders: [tempfile::TempDir; 2],
}

fn start(adjust: impl FnOnce(&mut PoolOptions)) -> Option<Torch> {
    let python = fissure_testing::torch_python()?;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    fs::write(folders[1].path().join("checks.py"), CHECKS).unwrap();
    let mut options = PoolOptions::new(&python, "torch", folders[0].path());
    options.extra_path = vec![folders[1].path().to_owned()];
    options.timeout = Duration::from_secs(20);
    adjust(&mut options);
    Some(Torch {
        pool: Pool::start(options).unwrap(),
        _folders: folders,
    })
}

fn batch(api: Arc<Api>, inputs: Vec<ConcreteInput>) -> Batch {
    Batch {
        id: 1,
        api,
        check_nan: false,
        oracles: Arc::default(),
        inputs,
        abandoned: Default::default(),
        slow_calls: None,
    }
}

fn tensor(dtype: Dtype, shape: &[u64], pattern: &[u8]) -> TensorValue {
    TensorValue {
        dtype,
        shape: shape.to_vec(),
        data: TensorData {
            pattern: pattern.into(),
        },
    }
}

/// Bytes that are valid elements of any dtype and differ from one element to the next.
fn pattern(dtype: Dtype, elements: u64) -> Vec<u8> {
    let bytes = elements as usize * dtype.size().unwrap_or(1);
    (0..bytes)
        .map(|at| {
            if dtype == Dtype::Bool {
                (at % 3 == 0).into()
            } else {
                (at % 61) as u8
            }
        })
        .collect()
}

fn sizes(shape: &[u64]) -> Value {
    Value::Tuple(
        shape
            .iter()
            .map(|size| Value::Int((*size).into()))
            .collect(),
    )
}

fn dtypes_with_buffers() -> impl Iterator<Item = Dtype> {
    let absent = [Dtype::Qint16, Dtype::Quint16];
    Dtype::ALL
        .into_iter()
        .filter(move |dtype| dtype.size().is_some() && !absent.contains(dtype))
}

#[test]
fn tensors_of_every_dtype_arrive_bit_for_bit_and_own_their_memory() {
    let Some(torch) = start(|_| {}) else { return };
    let shapes: [&[u64]; 7] = [
        &[],
        &[1],
        &[3, 3],
        &[2, 0, 5],
        &[0],
        &[1, 2, 3, 4, 5],
        &[100, 200],
    ];
    let mut inputs = Vec::new();
    let mut nested = Vec::new();
    for dtype in dtypes_with_buffers() {
        for shape in shapes {
            let elements: u64 = shape.iter().product();
            let mut given = vec![elements, elements.min(7), elements.min(1)];
            given.dedup();
            for given in given {
                let bytes = pattern(dtype, given);
                let value = Value::Tensor(tensor(dtype, shape, &bytes));
                let rest = [
                    ("dtype", Value::Text(dtype.name().into())),
                    ("shape", sizes(shape)),
                    ("data", Value::Bytes(bytes)),
                ];
                let holder = Value::Dict(vec![(
                    Value::Text("k".into()),
                    Value::List(vec![value.clone()]),
                )]);
                inputs.push(input(0, [vec![("tensor", value)], rest.to_vec()].concat()));
                nested.push(input(0, [vec![("holder", holder)], rest.to_vec()].concat()));
            }
        }
    }
    for (name, inputs) in [("same", inputs), ("same_inside", nested)] {
        let answer = run(&torch.pool, batch(api("checks", name), inputs.clone()));
        for (execution, input) in answer.executions.iter().zip(&inputs) {
            let shown = &input.arguments[1..3];
            assert_eq!(
                execution.outcome,
                Outcome::Accepted { nan: false },
                "{shown:?}"
            );
        }
        assert_eq!(answer.executions.len(), inputs.len());
    }
}

#[test]
fn sparse_tensors_arrays_and_dtype_objects_arrive() {
    let Some(torch) = start(|_| {}) else { return };
    let bytes = pattern(Dtype::Float32, 6);
    let about = |dtype: Dtype| {
        vec![
            ("dtype", Value::Text(dtype.name().into())),
            ("shape", sizes(&[2, 3])),
            ("data", Value::Bytes(pattern(dtype, 6))),
        ]
    };
    let sparse = Value::SparseTensor(tensor(Dtype::Float32, &[2, 3], &bytes));
    let answer = run(
        &torch.pool,
        batch(
            api("checks", "same"),
            vec![input(
                0,
                [vec![("tensor", sparse)], about(Dtype::Float32)].concat(),
            )],
        ),
    );
    assert_eq!(
        answer.executions[0].outcome,
        Outcome::Accepted { nan: false }
    );

    let numeric = [
        Dtype::Bool,
        Dtype::Int16,
        Dtype::Uint64,
        Dtype::Float16,
        Dtype::Complex128,
    ];
    let arrays = numeric.map(|dtype| {
        let array = Value::NdArray(tensor(dtype, &[2, 3], &pattern(dtype, 6)));
        input(0, [vec![("array", array)], about(dtype)].concat())
    });
    let answer = run(
        &torch.pool,
        batch(api("checks", "same_array"), arrays.to_vec()),
    );
    for execution in &answer.executions {
        assert_eq!(execution.outcome, Outcome::Accepted { nan: false });
    }

    let dtypes = torch.pool.info().dtypes.clone();
    assert!(dtypes.contains(&Dtype::Float32) && !dtypes.contains(&Dtype::String));
    let inputs: Vec<_> = dtypes
        .iter()
        .map(|dtype| {
            let text = Value::Text(dtype.name().into());
            input(0, vec![("value", Value::Dtype(*dtype)), ("text", text)])
        })
        .collect();
    let answer = run(&torch.pool, batch(api("checks", "is_dtype"), inputs));
    for execution in &answer.executions {
        assert_eq!(execution.outcome, Outcome::Accepted { nan: false });
    }
}

#[test]
fn tensors_that_torch_cannot_have_are_not_built() {
    let Some(torch) = start(|_| {}) else { return };
    let impossible = [
        tensor(Dtype::Qint16, &[2], &[1, 0]),
        tensor(Dtype::String, &[2], b""),
        tensor(Dtype::Float64, &[1 << 60, 1 << 60], &[0; 8]),
        tensor(Dtype::Float64, &[1 << 50], &[0; 8]),
    ];
    let inputs = impossible
        .map(|tensor| input(0, vec![("input", Value::Tensor(tensor))]))
        .to_vec();
    let answer = run(&torch.pool, batch(api("torch", "abs"), inputs));
    for execution in &answer.executions {
        assert!(
            matches!(execution.outcome, Outcome::NotBuilt(_)),
            "{execution:?}"
        );
    }
    assert_eq!(answer.executions.len(), 4);
}

#[test]
fn nan_is_seen_in_results_of_every_kind_and_infinity_is_not() {
    let Some(torch) = start(|_| {}) else { return };
    let values = |values: [f32; 2]| {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Value::Tensor(tensor(Dtype::Float32, &[2], &bytes))
    };
    let cases = [
        ("abs", [1.0, f32::NAN], true),
        ("abs", [1.0, f32::NEG_INFINITY], false),
        // Their sum is NaN, they are not.
        ("neg", [f32::INFINITY, f32::NEG_INFINITY], false),
        ("sqrt", [-1.0, 1.0], true),
        ("sort", [1.0, f32::NAN], true),
        ("isnan", [1.0, f32::NAN], false),
    ];
    for (name, given, expected) in cases {
        let mut asked = batch(
            api("torch", name),
            vec![input(0, vec![("input", values(given))])],
        );
        asked.check_nan = true;
        let answer = run(&torch.pool, asked);
        assert_eq!(
            answer.executions[0].outcome,
            Outcome::Accepted { nan: expected },
            "{name}"
        );
    }
}

#[test]
fn inputs_do_not_see_what_earlier_inputs_did_to_their_tensors() {
    let Some(torch) = start(|_| {}) else { return };
    let value = Value::Tensor(tensor(Dtype::Float32, &[3, 3], &pattern(Dtype::Float32, 9)));
    let mut inputs = Vec::new();
    for number in 0..50 {
        inputs.push(input(number, vec![("tensor", value.clone())]));
    }
    let answer = run(
        &torch.pool,
        batch(api("checks", "crash_on_write"), inputs.clone()),
    );
    assert!(
        answer
            .executions
            .iter()
            .all(|it| matches!(it.outcome, Outcome::Accepted { .. }))
    );
    let about = [
        ("dtype", Value::Text("float32".into())),
        ("shape", sizes(&[3, 3])),
        ("data", Value::Bytes(pattern(Dtype::Float32, 9))),
    ];
    let same = input(0, [vec![("tensor", value)], about.to_vec()].concat());
    let answer = run(&torch.pool, batch(api("checks", "same"), vec![same]));
    assert_eq!(
        answer.executions[0].outcome,
        Outcome::Accepted { nan: false }
    );
}

#[test]
fn a_real_crash_of_torch_is_found_with_its_message() {
    let Some(torch) = start(|_| {}) else { return };
    let inputs = vec![
        input(0, vec![("", Value::Int(0))]),
        input(1, vec![("", Value::Int(11))]),
        input(2, vec![("", Value::Int(0))]),
    ];
    let answer = run(&torch.pool, batch(api("signal", "raise_signal"), inputs));
    assert_eq!(answer.executions[1].outcome, Outcome::Crash { signal: 11 });
    let log = answer.executions[1].log.as_deref().unwrap();
    assert!(
        log.contains("Fatal Python error: Segmentation fault"),
        "{log}"
    );
    assert_eq!(answer.executions.len(), 3);
}

#[test]
fn built_in_functions_are_described_too() {
    let Some(torch) = start(|_| {}) else { return };
    let names = |path: &str| {
        let signature = torch.pool.describe(path).unwrap();
        let params = signature
            .params
            .unwrap_or_else(|| panic!("{path} has parameters"));
        params
            .into_iter()
            .map(|param| param.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("torch.add"), ["input", "other", "alpha", "out"]);
    assert_eq!(
        names("torch.max"),
        ["input", "dim", "keepdim", "out", "other"]
    );
    let zeros = torch.pool.describe("torch.zeros").unwrap().params.unwrap();
    assert_eq!(
        (zeros[0].name.as_str(), zeros[0].kind.as_str()),
        ("size", "var_positional")
    );
    assert_eq!(
        (zeros[1].name.as_str(), zeros[1].kind.as_str()),
        ("out", "keyword_only")
    );
    assert_eq!(zeros[3].default.as_deref(), Some("torch.strided"));
    assert!(names("torch.nn.functional.avg_pool2d").contains(&"kernel_size".to_owned()));
    assert!(names("torch.nn.Linear").contains(&"in_features".to_owned()));
    assert!(torch.pool.describe("torch.nn.Linear").unwrap().is_class);
    assert!(
        torch
            .pool
            .describe("torch.no_such_function")
            .unwrap()
            .missing
            .is_some()
    );
}
