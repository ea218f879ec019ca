//! The documentation allows an argument, and the call refuses it.
//!
//! # What it does
//!
//! Reports an ordinary exception for an input that keeps every constraint of a trusted
//! specification.
//!
//! # Why it matters
//!
//! Somebody who follows the documentation to the letter is turned away: the documentation lacks a
//! rule, or the check is too strict.
//!
//! # When it stays silent
//!
//! - The specification is not trusted for this API. An element type that it names outright, refused
//!   for want of a kernel, is still a note, one for each parameter and type.
//! - The input carries boundary cases besides.
//! - The message says that something is not implemented or not supported: an honest limit.
//! - The exception is a lack of memory.
//!
//! # Example
//!
//! ```text
//! torch.foo(torch.ones(0))   # documented: any shape; ValueError: empty tensor
//! ```

use fissure_model::{
    ConcreteInput, Confidence, Dtype, DtypeTerm, Execution, Intent, Oracle, Outcome, OutcomeKind,
    Spec, Value, Verdict,
};

/// An honest limit, in lower case.
const LIMITS: [&str; 6] = [
    "not implemented",
    "not supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "memory",
];

pub(crate) fn judge(input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    let (Outcome::Rejected(exception), Intent::Conform) = (&execution.outcome, &input.intent)
    else {
        return None;
    };
    let message = exception.message.to_lowercase();
    let honest = exception.class == "NotImplementedError"
        || exception.class == "MemoryError"
        || LIMITS.iter().any(|words| message.contains(words));
    if honest || !input.mutations.is_empty() {
        return None;
    }
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: Oracle::Rejection,
        confidence: Confidence::Documentation,
        detail: exception.class.clone(),
        note: false,
    })
}

/// How libraries say that they have nothing for an element type, in lower case.
const NO_KERNEL: [&str; 6] = [
    "not implemented for",
    "not supported for",
    "no kernel",
    "could not find device",
    "unsupported dtype",
    "not in the list of allowed values",
];

/// An element type that the specification names is refused for want of a kernel: worth a note.
pub(crate) fn stated(spec: &Spec, input: &ConcreteInput, execution: &Execution) -> Option<Verdict> {
    let (Outcome::Rejected(exception), Intent::Conform) = (&execution.outcome, &input.intent)
    else {
        return None;
    };
    if spec.params.is_empty() {
        return None;
    }
    let message = exception.message.to_lowercase();
    let lacks = NO_KERNEL.iter().any(|words| message.contains(words));
    if !lacks || !input.mutations.is_empty() {
        return None;
    }
    let words: Vec<&str> = message
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .collect();
    let layer = input.layer_arguments.iter().flatten();
    let (name, dtype) = input.arguments.iter().chain(layer).find_map(|argument| {
        let Value::Tensor(tensor) = &argument.value else {
            return None;
        };
        let mut params = spec.params.iter().chain(&spec.layer_params);
        let param = params.find(|param| param.name == argument.name)?;
        let stated = &param.constraint.dtypes;
        let named = stated.contains(&DtypeTerm::Exact(tensor.dtype));
        let refused = spellings(tensor.dtype)
            .iter()
            .any(|name| words.contains(&name.as_str()));
        (named && refused).then(|| (argument.name.clone(), tensor.dtype))
    })?;
    Some(Verdict {
        kind: OutcomeKind::WrongResult,
        oracle: Oracle::Rejection,
        confidence: Confidence::Documentation,
        detail: format!("{dtype} of {name} documented, and no kernel"),
        note: true,
    })
}

/// What messages call an element type: its name, that of C, that of TensorFlow's enumeration.
fn spellings(dtype: Dtype) -> Vec<String> {
    let own = dtype.to_string();
    let of_c = match dtype {
        Dtype::Float16 => "half",
        Dtype::Float32 => "float",
        Dtype::Float64 => "double",
        Dtype::Int8 => "char",
        Dtype::Int16 => "short",
        Dtype::Int32 => "int",
        Dtype::Int64 => "long",
        Dtype::Uint8 => "byte",
        _ => own.as_str(),
    };
    vec![
        of_c.to_owned(),
        format!("dt_{of_c}"),
        format!("dt_{own}"),
        own.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use fissure_model::{
        Api, Argument, Constraint, Exception, Param, Passing, Role, TensorData, TensorValue,
    };

    use super::*;

    fn called(documented: Dtype, given: Dtype, message: &str) -> Option<Verdict> {
        let constraint = Constraint {
            dtypes: vec![DtypeTerm::Exact(documented)],
            ..Constraint::default()
        };
        let param = Param {
            name: "x".into(),
            role: Role::Required,
            deprecated: false,
            default: None,
            default_text: None,
            doc_dtype: None,
            description: None,
            constraint,
            line: None,
            hints: None,
        };
        let spec = Spec {
            api: Api::default(),
            params: vec![param],
            layer_params: Vec::new(),
            symbols: Vec::new(),
            check_nan: false,
            aliases: Vec::new(),
            source: None,
            rules: None,
            forms: Vec::new(),
            examples: Vec::new(),
        };
        let pattern = vec![0; given.size().unwrap()].into();
        let input = ConcreteInput {
            number: 0,
            arguments: vec![Argument {
                name: "x".into(),
                passing: Passing::Positional,
                value: Value::Tensor(TensorValue {
                    dtype: given,
                    shape: vec![1],
                    data: TensorData { pattern },
                }),
            }],
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        };
        let refused = Outcome::Rejected(Exception {
            class: "RuntimeError".into(),
            message: message.into(),
            ..Exception::default()
        });
        let execution = Execution::new(0, refused, std::time::Duration::ZERO);
        stated(&spec, &input, &execution)
    }

    #[test]
    fn a_documented_type_without_a_kernel_is_noted_and_an_undocumented_one_is_not() {
        let message = "\"erfinv\" not implemented for 'Half'";
        let found = called(Dtype::Float16, Dtype::Float16, message).unwrap();
        assert!(found.note);
        assert_eq!(called(Dtype::Float32, Dtype::Float16, message), None);
        // Another reason, and a type that the message does not speak of.
        let other = "expected a positive number";
        assert_eq!(called(Dtype::Float16, Dtype::Float16, other), None);
        assert_eq!(called(Dtype::Int64, Dtype::Int64, message), None);
    }
}
