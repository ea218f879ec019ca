//! What is asked of an adapter.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Batch, Pool, PoolOptions};
use fissure_model::{
    Api, Argument, ConcreteInput, Dtype, Execution, Outcome, Passing, TensorData, TensorValue,
    Value, Way,
};

use crate::support::{api, input, run};

const ACCEPTED: Outcome = Outcome::Accepted { nan: false };

/// What a library must be able to do, beyond what all must.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub package: &'static str,
    /// How its version begins.
    pub version: &'static str,
    /// At least so many dtypes can be built.
    pub dtypes: usize,
    pub sparse: bool,
    /// A layer class and the sizes that construct one which takes a 2 × 4 tensor.
    pub layer: Option<(&'static str, &'static [i128])>,
    /// Functions run by its compiler, and are traced by it.
    pub compiles: bool,
    /// A function of one tensor that refuses text.
    pub call: &'static str,
    pub environment: &'static [(&'static str, &'static str)],
}

/// Runs the suite; nothing happens where the library cannot be had, which was already said.
pub(super) fn conforms(python: Option<PathBuf>, expected: &Expected) {
    let Some(python) = python else { return };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    fs::write(
        folders[1].path().join("checks.py"),
        include_str!("checks.py"),
    )
    .unwrap();
    let mut options = PoolOptions::new(&python, expected.package, folders[0].path());
    options.extra_path = vec![folders[1].path().to_owned()];
    options.timeout = Duration::from_secs(60);
    options.environment = expected
        .environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let suite = Suite {
        pool: Pool::start(options).unwrap(),
        expected,
    };
    suite.version_and_dtypes_are_told();
    suite.tensors_arrive_bit_for_bit();
    suite.sparse_tensors_arrays_and_dtypes_arrive();
    suite.what_the_library_lacks_is_not_built();
    suite.nan_is_seen_and_infinity_is_not();
    suite.a_layer_is_constructed_and_called();
    suite.exceptions_are_told();
    suite.crashes_belong_to_their_input_and_successors_work();
    suite.objects_are_described();
    suite.compiled_calls_are_compiled();
}

struct Suite<'a> {
    pool: Pool,
    expected: &'a Expected,
}

impl Suite<'_> {
    fn run(&self, api: Arc<Api>, check_nan: bool, inputs: Vec<ConcreteInput>) -> Vec<Execution> {
        let count = inputs.len();
        let batch = Batch {
            id: 1,
            api,
            check_nan,
            oracles: Arc::default(),
            inputs,
            abandoned: Default::default(),
            slow_calls: None,
        };
        let executions = run(&self.pool, batch).executions;
        assert_eq!(executions.len(), count);
        executions
    }

    fn check(&self, function: &str, inputs: Vec<ConcreteInput>) {
        let executions = self.run(api("checks", function), false, inputs.clone());
        for (execution, input) in executions.iter().zip(&inputs) {
            let shown: Vec<_> = input.arguments.iter().take(3).collect();
            assert_eq!(execution.outcome, ACCEPTED, "{function}: {shown:?}");
        }
    }

    fn dtypes(&self) -> Vec<Dtype> {
        self.pool.info().dtypes.clone()
    }

    fn version_and_dtypes_are_told(&self) {
        let info = self.pool.info();
        assert!(
            info.library_version.starts_with(self.expected.version),
            "{}",
            info.library_version
        );
        assert!(
            info.dtypes.len() >= self.expected.dtypes,
            "{:?}",
            info.dtypes
        );
        for always in [Dtype::Bool, Dtype::Uint8, Dtype::Int32, Dtype::Float32] {
            assert!(info.dtypes.contains(&always), "{always}");
        }
    }

    fn tensors_arrive_bit_for_bit(&self) {
        let shapes: [&[u64]; 7] = [
            &[],
            &[1],
            &[3, 3],
            &[2, 0, 5],
            &[0],
            &[1, 2, 3, 4, 5],
            &[100, 60],
        ];
        let mut plain = Vec::new();
        let mut nested = Vec::new();
        for dtype in self.dtypes() {
            for shape in shapes {
                let elements: u64 = shape.iter().product();
                let mut given = vec![elements, elements.min(7), elements.min(1)];
                given.dedup();
                for given in given {
                    let bytes = pattern(dtype, given);
                    let value = Value::Tensor(tensor(dtype, shape, &bytes));
                    plain.push(case("tensor", value.clone(), dtype, shape, &bytes));
                    let holder = Value::Dict(vec![
                        (text("list"), Value::List(vec![value.clone()])),
                        (
                            text("tuple"),
                            Value::Tuple(vec![Value::None, Value::List(vec![value])]),
                        ),
                    ]);
                    nested.push(case("holder", holder, dtype, shape, &bytes));
                }
            }
        }
        self.check("same", plain);
        self.check("same_inside", nested);
    }

    fn sparse_tensors_arrays_and_dtypes_arrive(&self) {
        if self.expected.sparse {
            let bytes: Vec<u8> = [0.0_f32, 1.5, 0.0, 0.0, -2.0, 0.0]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            let value = Value::SparseTensor(tensor(Dtype::Float32, &[2, 3], &bytes));
            let case = case("tensor", value, Dtype::Float32, &[2, 3], &bytes);
            self.check("same_sparse", vec![case]);
        }
        let arrays = [
            Dtype::Bool,
            Dtype::Int16,
            Dtype::Uint64,
            Dtype::Float16,
            Dtype::Complex128,
        ]
        .map(|dtype| {
            let bytes = pattern(dtype, 6);
            let value = Value::NdArray(tensor(dtype, &[2, 3], &bytes));
            case("array", value, dtype, &[2, 3], &bytes)
        });
        self.check("same_array", arrays.to_vec());
        let dtypes = self.dtypes().into_iter().map(|dtype| {
            let arguments = vec![("value", Value::Dtype(dtype)), ("text", text(dtype.name()))];
            input(0, arguments)
        });
        self.check("is_dtype", dtypes.collect());
    }

    fn what_the_library_lacks_is_not_built(&self) {
        let known = self.dtypes();
        let inputs: Vec<ConcreteInput> = Dtype::ALL
            .into_iter()
            .filter(|dtype| !known.contains(dtype))
            .map(|dtype| Value::Tensor(tensor(dtype, &[2], &pattern(dtype, 2))))
            .chain([
                Value::Tensor(tensor(Dtype::Float32, &[1 << 60, 1 << 60], &[0; 4])),
                Value::Object(format!("{}.no_such_thing", self.expected.package)),
            ])
            .map(|value| input(0, vec![("value", value)]))
            .collect();
        for execution in self.run(api("checks", "identity"), false, inputs.clone()) {
            let Outcome::NotBuilt(exception) = &execution.outcome else {
                panic!("{execution:?}");
            };
            assert!(!exception.class.is_empty());
        }
    }

    fn nan_is_seen_and_infinity_is_not(&self) {
        let mut inputs = Vec::new();
        let mut wanted = Vec::new();
        for dtype in self.dtypes() {
            let Some((nan, infinity)) = special(dtype) else {
                continue;
            };
            for (bits, nan) in [(nan, true), (infinity, false)] {
                let mut bytes = pattern(dtype, 1);
                bytes.extend_from_slice(&bits);
                let value = Value::Tensor(tensor(dtype, &[2], &bytes));
                inputs.push(input(0, vec![("value", value)]));
                wanted.push((dtype, Outcome::Accepted { nan }));
            }
        }
        assert!(wanted.len() >= 4, "{wanted:?}");
        let executions = self.run(api("checks", "identity"), true, inputs);
        for (execution, (dtype, wanted)) in executions.iter().zip(wanted) {
            assert_eq!(execution.outcome, wanted, "{dtype}");
        }
        let plain = [
            (Value::Float(f64::NAN), true),
            (Value::Float(1.0), false),
            (text("nan"), false),
        ];
        for (value, nan) in plain {
            let inputs = vec![input(0, vec![("value", value)])];
            let executions = self.run(api("checks", "identity"), true, inputs);
            assert_eq!(executions[0].outcome, Outcome::Accepted { nan });
        }
    }

    fn a_layer_is_constructed_and_called(&self) {
        let (path, sizes) = self.expected.layer.unwrap_or(("checks.Layer", &[2]));
        let fine = Value::Tensor(tensor(Dtype::Float32, &[2, 4], &pattern(Dtype::Float32, 8)));
        let layer = |sizes: &[i128], x: Value| ConcreteInput {
            layer_arguments: Some(vec![Argument {
                name: String::new(),
                passing: Passing::Positional,
                value: x,
            }]),
            ..input(
                0,
                sizes.iter().map(|size| ("", Value::Int(*size))).collect(),
            )
        };
        let inputs = vec![layer(sizes, fine.clone()), layer(&[-1, -1, -1], fine)];
        let executions = self.run(at(path), true, inputs);
        assert_eq!(executions[0].outcome, ACCEPTED, "{path}");
        assert!(
            matches!(executions[1].outcome, Outcome::Rejected(_)),
            "{:?}",
            executions[1]
        );
    }

    fn exceptions_are_told(&self) {
        let fine = Value::Tensor(tensor(Dtype::Float32, &[2], &pattern(Dtype::Float32, 2)));
        let name = match self.expected.package {
            "torch" => "input",
            "mxnet" => "data",
            // By position: NumPy's own functions take no names.
            "jax" | "numpy" => "",
            _ => "x",
        };
        let inputs = vec![
            input(0, vec![(name, fine)]),
            input(0, vec![(name, text("no tensor"))]),
            input(0, vec![("no_such_parameter", Value::Int(1))]),
        ];
        let executions = self.run(at(self.expected.call), true, inputs);
        assert_eq!(executions[0].outcome, ACCEPTED);
        for execution in &executions[1..] {
            let Outcome::Rejected(exception) = &execution.outcome else {
                panic!("{execution:?}");
            };
            assert!(!exception.class.is_empty() && !exception.message.is_empty());
        }
    }

    fn crashes_belong_to_their_input_and_successors_work(&self) {
        let values = [1, 7, 2, 7, 3];
        let inputs = || {
            values
                .iter()
                .map(|value| input(0, vec![("value", Value::Int(*value))]))
                .collect()
        };
        let executions = self.run(api("checks", "crash"), false, inputs());
        for (execution, value) in executions.iter().zip(values) {
            let expected = if value == 7 {
                Outcome::Crash { signal: 11 }
            } else {
                ACCEPTED
            };
            assert_eq!(execution.outcome, expected);
        }
        let log = executions[1].log.as_deref().unwrap_or_default();
        assert!(
            log.contains("Fatal Python error: Segmentation fault"),
            "{log}"
        );
        let executions = self.run(api("checks", "leave"), false, inputs());
        assert_eq!(executions[1].outcome, Outcome::Exit { code: 255 });
        assert_eq!(executions[2].outcome, ACCEPTED);
    }

    fn compiled_calls_are_compiled(&self) {
        let value = || Value::Tensor(tensor(Dtype::Float32, &[2], &pattern(Dtype::Float32, 2)));
        let holder = || Value::List(vec![Value::None, value()]);
        let of = |way, number| {
            let arguments = vec![
                ("value", value()),
                ("holder", holder()),
                ("text", text("plain")),
                ("number", Value::Int(number)),
            ];
            let api = Api {
                way,
                ..(*api("checks", "inside_the_compiler")).clone()
            };
            self.run(Arc::new(api), false, vec![input(0, arguments)])
                .remove(0)
                .outcome
        };
        for way in [Way::Compiled, Way::Traced] {
            match (self.expected.compiles, of(way, 1)) {
                (true, outcome) => assert_eq!(outcome, ACCEPTED, "{way:?}"),
                // MXNet compiles layers only.
                (false, outcome) => assert_ne!(outcome, ACCEPTED, "{way:?}"),
            }
        }
        assert!(matches!(
            of(Way::Eager, 1),
            Outcome::Rejected(exception) if exception.message.contains("not compiled")
        ));
        if self.expected.compiles {
            assert!(matches!(
                of(Way::Compiled, 7),
                Outcome::Rejected(exception) if exception.message.contains("seven")
            ));
        }
    }

    fn objects_are_described(&self) {
        let signature = self.pool.describe(self.expected.call).unwrap();
        assert!(signature.callable && signature.missing.is_none());
        assert!(
            signature.params.is_some_and(|params| !params.is_empty()),
            "{}",
            self.expected.call
        );
        let missing = format!("{}.no_such_thing", self.expected.package);
        let signature = self.pool.describe(&missing).unwrap();
        assert!(signature.missing.is_some());
    }
}

fn at(path: &str) -> Arc<Api> {
    let (package, name) = path.split_once('.').expect("a dotted path");
    api(package, name)
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn case(name: &str, value: Value, dtype: Dtype, shape: &[u64], bytes: &[u8]) -> ConcreteInput {
    let sizes = shape.iter().map(|size| Value::Int((*size).into()));
    input(
        0,
        vec![
            (name, value),
            ("dtype", text(dtype.name())),
            ("shape", Value::Tuple(sizes.collect())),
            ("data", Value::Bytes(bytes.to_vec())),
        ],
    )
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
        .map(|at| match dtype {
            Dtype::Bool => (at % 3 == 0).into(),
            Dtype::String => b'a' + (at % 20) as u8,
            _ => (at % 61) as u8,
        })
        .collect()
}

/// A NaN and an infinity (or the largest number, where there is none) as bytes.
fn special(dtype: Dtype) -> Option<(Vec<u8>, Vec<u8>)> {
    Some(match dtype {
        Dtype::Float16 => (vec![0x00, 0x7e], vec![0x00, 0x7c]),
        Dtype::Bfloat16 => (vec![0xc0, 0x7f], vec![0x80, 0x7f]),
        Dtype::Float32 => (
            f32::NAN.to_le_bytes().to_vec(),
            f32::INFINITY.to_le_bytes().to_vec(),
        ),
        Dtype::Float64 => (
            f64::NAN.to_le_bytes().to_vec(),
            f64::NEG_INFINITY.to_le_bytes().to_vec(),
        ),
        Dtype::Float8E4m3fn => (vec![0x7f], vec![0x7e]),
        Dtype::Float8E5m2 => (vec![0x7e], vec![0x7c]),
        Dtype::Complex64 => (
            [1.0_f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat(),
            [f32::INFINITY.to_le_bytes(), 0.0_f32.to_le_bytes()].concat(),
        ),
        Dtype::Complex128 => (
            [f64::NAN.to_le_bytes(), 0.0_f64.to_le_bytes()].concat(),
            [1.0_f64.to_le_bytes(), f64::INFINITY.to_le_bytes()].concat(),
        ),
        _ => return None,
    })
}
