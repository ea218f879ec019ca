//! How much a finding is worth to those who maintain the library.

use serde::{Deserialize, Serialize};

use crate::{
    Category, ConcreteInput, Dtype, Finding, Intent, Oracle, OutcomeKind, Passing, TensorValue,
    Value,
};

/// A number beyond this is no ordinary argument.
const LARGE: i128 = 1 << 20;

/// Classes of findings, the most interesting first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interest {
    /// A wrong value for an ordinary input, without a word.
    WrongValue,
    /// A wrong derivative.
    WrongGradient,
    /// The process ends, an internal error or a hang, for an ordinary input.
    Crash,
    /// A shape or dtype that the compiler was promised, and that is not so.
    WrongPromise,
    /// The same as a crash for an input that nobody would write.
    CrashOnAbsurdInput,
    /// What is accepted, and what is said, of empty tensors, rare dtypes and the like.
    Strictness,
}

impl Interest {
    pub const ALL: [Interest; 6] = [
        Interest::WrongValue,
        Interest::WrongGradient,
        Interest::Crash,
        Interest::WrongPromise,
        Interest::CrashOnAbsurdInput,
        Interest::Strictness,
    ];

    /// From 1, the most interesting.
    pub fn rank(self) -> u8 {
        self as u8 + 1
    }

    pub fn label(self) -> &'static str {
        match self {
            Interest::WrongValue => "silent wrong value",
            Interest::WrongGradient => "wrong gradient",
            Interest::Crash => "crash on ordinary input",
            Interest::WrongPromise => "wrong shape or dtype promised to the compiler",
            Interest::CrashOnAbsurdInput => "crash or internal error on absurd input",
            Interest::Strictness => "strictness",
        }
    }
}

impl Finding {
    /// The class of this finding, from its verdict and its (small) input.
    pub fn interest(&self) -> Interest {
        let input = self.oddness();
        match self.verdict.kind {
            OutcomeKind::WrongResult | OutcomeKind::Nan => match self.verdict.oracle {
                _ if input.empty || input.rare_dtype => Interest::Strictness,
                _ if input.large && self.is_about_a_refusal() => Interest::Strictness,
                Oracle::Gradient => Interest::WrongGradient,
                // What was refused was not promised: only the two sides differ in what they take.
                Oracle::Meta if self.is_refusal() => Interest::Strictness,
                Oracle::Meta => Interest::WrongPromise,
                Oracle::Acceptance | Oracle::Rejection | Oracle::Message => Interest::Strictness,
                // It looks at extreme numbers only, which in half precision are ordinary ones.
                Oracle::CoveredUp if !input.half => Interest::Strictness,
                _ if input.not_finite => Interest::Strictness,
                _ => Interest::WrongValue,
            },
            OutcomeKind::Rejected | OutcomeKind::NotBuilt | OutcomeKind::Accepted => {
                Interest::Strictness
            }
            _ if input.large || input.empty || input.broken => Interest::CrashOnAbsurdInput,
            _ => Interest::Crash,
        }
    }
}

impl Finding {
    /// One form of a call says that it does not take the arguments: with a class of exception that is meant for
    /// that. Others are slips.
    fn is_refusal(&self) -> bool {
        let raised = self.verdict.detail.rsplit_once("raises ");
        raised.is_some_and(|(_, class)| ["RuntimeError", "ValueError"].contains(&class))
    }
}

impl Finding {
    /// One way to make the call is refused where another is taken.
    pub(crate) fn is_about_a_refusal(&self) -> bool {
        self.verdict.detail.contains(": raises ")
    }

    /// Nobody would write the input, neither as it was met nor as it was made small.
    pub(crate) fn has_odd_input(&self) -> bool {
        let input = self.oddness();
        input.empty
            || input.rare_dtype
            || input.not_finite
            || input.large
            || input.broken
            || input.nothing
    }

    fn oddness(&self) -> Oddness {
        let mut input = oddness(&self.input);
        if let Some(unshrunk) = &self.unshrunk {
            // Making an input small makes it odd; what was odd before is odd.
            let before = oddness(unshrunk);
            input.empty &= before.empty;
            input.rare_dtype &= before.rare_dtype;
            input.not_finite &= before.not_finite;
            input.large &= before.large;
            input.nothing &= before.nothing;
        }
        input
    }
}

#[derive(Default)]
struct Oddness {
    /// A tensor without elements.
    empty: bool,
    rare_dtype: bool,
    half: bool,
    not_finite: bool,
    /// A number that no ordinary call has.
    large: bool,
    /// An argument of the wrong type, on purpose.
    broken: bool,
    /// `None` by position, or an empty list, for an argument.
    nothing: bool,
}

fn oddness(input: &ConcreteInput) -> Oddness {
    let mut odd = Oddness {
        broken: matches!(
            &input.intent,
            Intent::Violate {
                category: Category::Dtype | Category::Structure,
                ..
            }
        ),
        ..Oddness::default()
    };
    let layer = input.layer_arguments.iter().flatten();
    for argument in input.arguments.iter().chain(layer) {
        odd.nothing |= match &argument.value {
            // As a keyword it is mostly the default.
            Value::None => argument.passing == Passing::Positional,
            Value::List(items) | Value::Tuple(items) => items.is_empty(),
            _ => false,
        };
        argument.value.walk(&mut |value| match value {
            Value::Int(number) => odd.large |= number.unsigned_abs() >= LARGE.unsigned_abs(),
            Value::Float(number) => {
                odd.not_finite |= !number.is_finite();
                odd.large |= number.is_finite() && number.abs() >= LARGE as f64;
            }
            Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
                odd.empty |= tensor.shape.contains(&0);
                odd.rare_dtype |= is_rare(tensor);
                odd.half |= tensor.dtype == Dtype::Float16;
            }
            _ => {}
        });
    }
    odd
}

fn is_rare(tensor: &TensorValue) -> bool {
    !matches!(
        tensor.dtype,
        Dtype::Float32
            | Dtype::Float64
            | Dtype::Float16
            | Dtype::Bfloat16
            | Dtype::Int64
            | Dtype::Int32
            | Dtype::Int16
            | Dtype::Int8
            | Dtype::Complex128
            | Dtype::Uint8
            | Dtype::Bool
            | Dtype::Complex64
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Api, Argument, Confidence, Execution, Outcome, Verdict};

    fn finding(kind: OutcomeKind, oracle: Oracle, value: Value) -> Finding {
        let input = ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "n".into(),
                passing: Passing::Positional,
                value,
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: vec![],
        };
        Finding::new(
            Api::default(),
            Verdict {
                kind,
                oracle,
                confidence: Confidence::Numeric,
                detail: String::new(),
                note: false,
            },
            input,
            Execution::new(0, Outcome::Timeout, Duration::ZERO),
        )
    }

    #[test]
    fn a_wrong_value_comes_before_a_crash_and_a_crash_of_an_absurd_number_far_behind() {
        let wrong = finding(OutcomeKind::WrongResult, Oracle::Layout, Value::Int(3));
        let crash = finding(OutcomeKind::Crash, Oracle::FatalSignal, Value::Int(3));
        let absurd = finding(OutcomeKind::Crash, Oracle::FatalSignal, Value::Int(1 << 40));
        assert!(wrong.interest() < crash.interest());
        assert_eq!(absurd.interest(), Interest::CrashOnAbsurdInput);
        assert_eq!((wrong.interest().rank(), absurd.interest().rank()), (1, 5));
        assert!(!absurd.is_note());
    }

    #[test]
    fn a_layout_that_is_refused_beside_an_absurd_number_is_a_note() {
        let refused = |detail: &str, value| {
            let mut found = finding(OutcomeKind::WrongResult, Oracle::Layout, value);
            found.verdict.detail = detail.into();
            found.is_note()
        };
        let raises = "every second element of x: raises RuntimeError";
        assert!(refused(raises, Value::Int(1 << 57)));
        assert!(!refused(raises, Value::Int(3)));
        assert!(!refused(
            "every second element of x: values",
            Value::Int(1 << 57)
        ));
    }

    #[test]
    fn how_odd_arguments_are_refused_is_a_note_and_how_ordinary_ones_are_is_not() {
        let refused = |value| finding(OutcomeKind::WrongResult, Oracle::Message, value).is_note();
        assert!(refused(Value::None));
        assert!(refused(Value::List(Vec::new())));
        assert!(refused(Value::Int(1 << 62)));
        assert!(!refused(Value::Int(3)));
    }
}
