//! The parameters of an API, and calls written against them.

use std::collections::BTreeMap;

use fissure_model::{
    Argument, ConcreteInput, Intent, Passing, Scalar, Signature, TensorValue, Value,
};
use fissure_rules::{Datum, ElementFact, FactSet, Number, Place, TensorFacts, literal};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub place: Place,
    /// Source text of the default; `None` when the argument is required.
    pub default: Option<String>,
    /// Belongs to the call on the constructed object.
    pub call: bool,
}

/// One call as observed, before its arguments have names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    pub arguments: Vec<Value>,
    pub keywords: BTreeMap<String, Value>,
    #[serde(default)]
    pub call: Option<Box<Observed>>,
}

/// A call: one value for each parameter, `None` where the argument is left out. An argument that
/// equals its default counts as left out, because overloads tell the two apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub values: Vec<Option<Value>>,
}

impl Parameter {
    pub fn default_value(&self) -> Option<Value> {
        literal(self.default.as_deref()?)
    }
}

/// The parameters that calls give, in the order of the signature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(pub Vec<Parameter>);

impl Parameters {
    /// All that the signatures declare, and names that only calls have.
    pub fn declared(
        function: &Signature,
        call: Option<&Signature>,
        method: bool,
        observed: &[Observed],
    ) -> Self {
        let mut found = Vec::new();
        let longest = |of: &dyn Fn(&Observed) -> usize| observed.iter().map(of).max().unwrap_or(0);
        let arguments = longest(&|seen| seen.arguments.len());
        add_declared(&mut found, function, false, method, arguments);
        for seen in observed {
            add_named(&mut found, seen, false);
        }
        if observed.iter().any(|seen| seen.call.is_some()) {
            let arguments =
                longest(&|seen| seen.call.as_ref().map_or(0, |call| call.arguments.len()));
            let mut inner = Vec::new();
            if let Some(call) = call {
                add_declared(&mut inner, call, true, false, arguments);
                inner.retain(|param| param.name != "self");
            }
            for seen in observed.iter().filter_map(|seen| seen.call.as_deref()) {
                add_named(&mut inner, seen, true);
            }
            for param in &mut inner {
                if found.iter().any(|other| other.name == param.name) {
                    // Rules name parameters, so a name stands for one.
                    param.name.push('_');
                }
            }
            found.append(&mut inner);
        }
        let mut params = Parameters(found);
        params.pass_by_name(observed);
        params
    }

    /// What known calls give only by name is passed by name: documentation does not always say
    /// which parameters have no position.
    fn pass_by_name(&mut self, observed: &[Observed]) {
        for inner in [false, true] {
            let parts: Vec<&Observed> = observed
                .iter()
                .filter_map(|seen| {
                    if inner {
                        seen.call.as_deref()
                    } else {
                        Some(seen)
                    }
                })
                .collect();
            let positions = parts.iter().map(|part| part.arguments.len()).max();
            let own = self.0.iter_mut().filter(|param| param.call == inner);
            for (position, param) in own.enumerate() {
                let named = |part: &&Observed| part.keywords.contains_key(&param.name);
                if param.place == Place::Either
                    && positions.is_some_and(|most| position >= most)
                    && parts.iter().any(named)
                {
                    param.place = Place::Keyword;
                }
            }
        }
    }

    /// Names the arguments; `None` when they do not fit the parameters.
    pub fn bind(&self, seen: &Observed) -> Option<Call> {
        let mut values: Vec<Option<Value>> = vec![None; self.0.len()];
        self.bind_part(seen, false, &mut values)?;
        if let Some(call) = &seen.call {
            self.bind_part(call, true, &mut values)?;
        }
        let mut call = Call { values };
        self.leave_out_defaults(&mut call);
        Some(call)
    }

    fn bind_part(&self, seen: &Observed, call: bool, values: &mut [Option<Value>]) -> Option<()> {
        let mut positions = (0..self.0.len()).filter(|at| {
            let param = &self.0[*at];
            param.call == call && param.place != Place::Keyword
        });
        let mut given = seen.arguments.iter();
        while let Some(value) = given.next() {
            let at = positions.next()?;
            if self.0[at].place == Place::Rest {
                let mut rest = vec![value.clone()];
                rest.extend(given.by_ref().cloned());
                // `view((2, 3))` is `view(2, 3)`: one way of writing it is enough.
                values[at] = Some(match rest.as_slice() {
                    [Value::List(items)] => Value::List(items.clone()),
                    _ => Value::List(rest),
                });
            } else {
                values[at] = Some(value.clone());
            }
        }
        for (name, value) in &seen.keywords {
            let at = self.0.iter().position(|param| {
                param.call == call && (param.name == *name || param.name == format!("{name}_"))
            })?;
            values[at] = Some(value.clone());
        }
        Some(())
    }

    fn leave_out_defaults(&self, call: &mut Call) {
        for (param, value) in self.0.iter().zip(&mut call.values) {
            if value.is_some() && *value == param.default_value() {
                *value = None;
            }
        }
    }

    /// Keeps the parameters that the calls give.
    pub fn keep_given(&mut self, calls: &mut [Call]) {
        let given: Vec<bool> = (0..self.0.len())
            .map(|at| calls.iter().any(|call| call.values[at].is_some()))
            .collect();
        let mut keep = given.iter();
        self.0.retain(|_| keep.next() == Some(&true));
        for call in calls {
            let mut keep = given.iter();
            call.values.retain(|_| keep.next() == Some(&true));
        }
    }

    /// What a known call leaves out may be left out, whatever the signature says: it is that of one
    /// overload.
    pub fn relax(&mut self, calls: &[Call]) {
        for (at, param) in self.0.iter_mut().enumerate() {
            if param.default.is_none() && calls.iter().any(|call| call.values[at].is_none()) {
                param.default = Some("...".into());
            }
        }
    }

    pub fn is_layer(&self) -> bool {
        self.0.iter().any(|param| param.call)
    }

    /// The call as the library gets it; `None` when a gap before a positional argument cannot be
    /// filled.
    pub fn concrete(&self, call: &Call, number: u64) -> Option<ConcreteInput> {
        Some(ConcreteInput {
            number,
            arguments: self.pass(call, false)?,
            layer_arguments: if self.is_layer() {
                Some(self.pass(call, true)?)
            } else {
                None
            },
            intent: Intent::Conform,
            mutations: Vec::new(),
        })
    }

    fn pass(&self, call: &Call, inner: bool) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        let mut gap = false;
        let own = self.0.iter().zip(&call.values);
        for (param, value) in own.filter(|(param, _)| param.call == inner) {
            let mut push = |passing, value: Value| {
                arguments.push(Argument {
                    name: param.name.trim_end_matches('_').to_owned(),
                    passing,
                    value,
                });
            };
            match (value, param.place) {
                // What rules see of an argument that has no default and is not there is None.
                (None, Place::Keyword) if param.default.is_none() => {
                    push(Passing::Keyword, Value::None);
                }
                (None, Place::Keyword) => {}
                (None, Place::Either) if param.default.is_none() && gap => {
                    push(Passing::Keyword, Value::None);
                }
                (None, _) if param.default.is_none() && !gap => {
                    push(Passing::Positional, Value::None);
                }
                (None, _) => gap = true,
                (Some(value), Place::Keyword) => push(Passing::Keyword, value.clone()),
                (Some(value), Place::Either) if gap => push(Passing::Keyword, value.clone()),
                (Some(_), _) if gap => return None,
                (Some(Value::List(items)), Place::Rest) => {
                    for item in items {
                        push(Passing::Positional, item.clone());
                    }
                }
                (Some(value), _) => push(Passing::Positional, value.clone()),
            }
        }
        Some(arguments)
    }

    /// What rules see of a call.
    pub fn data(&self, call: &Call) -> Vec<Datum> {
        self.0
            .iter()
            .zip(&call.values)
            .map(|(param, value)| match value {
                Some(value) => datum(value),
                None => param
                    .default_value()
                    .map_or(Datum::None, |value| datum(&value)),
            })
            .collect()
    }

    /// The call with these values, defaults left out.
    pub fn call_of(&self, values: Vec<Value>) -> Call {
        let values = self.0.iter().zip(values).map(|(param, value)| match value {
            Value::None if param.default.is_some() => None,
            value => Some(value),
        });
        let mut call = Call {
            values: values.collect(),
        };
        self.leave_out_defaults(&mut call);
        call
    }
}

fn add_declared(
    found: &mut Vec<Parameter>,
    signature: &Signature,
    call: bool,
    method: bool,
    arguments: usize,
) {
    let declared = signature.params.as_deref().unwrap_or(&[]);
    if method && declared.first().is_none_or(|first| first.name != "self") {
        found.push(Parameter {
            name: "self".into(),
            place: Place::Positional,
            default: None,
            call,
        });
    }
    for param in declared {
        let place = match param.kind.as_str() {
            "positional_only" => Place::Positional,
            "keyword_only" => Place::Keyword,
            "var_positional" => Place::Rest,
            "var_keyword" => continue,
            _ => Place::Either,
        };
        if found.iter().any(|other| other.name == param.name) {
            continue;
        }
        found.push(Parameter {
            name: param.name.clone(),
            place,
            default: match place {
                Place::Rest => Some("()".into()),
                _ => param.default.clone(),
            },
            call,
        });
    }
    if signature.params.is_none() {
        for at in found.len()..arguments {
            found.push(Parameter {
                name: format!("argument{at}"),
                place: Place::Positional,
                // Nobody knows; what is left out in some call may be left out.
                default: (at > 0).then(|| "...".to_owned()),
                call,
            });
        }
    }
}

fn add_named(found: &mut Vec<Parameter>, seen: &Observed, call: bool) {
    for name in seen.keywords.keys() {
        if found.iter().all(|param| param.name != *name) {
            found.push(Parameter {
                name: name.clone(),
                place: Place::Keyword,
                default: Some("...".into()),
                call,
            });
        }
    }
}

/// Square matrices of at most so many elements are known to be symmetric or positive definite.
const MATRIX: u64 = 1024;

/// What rules see of a value. Of a tensor's elements only their bounds, and of square matrices what
/// an identity has too: that is what a generated input can have.
pub(crate) fn datum(value: &Value) -> Datum {
    match value {
        Value::List(items) | Value::Tuple(items) => Datum::List(items.iter().map(datum).collect()),
        Value::Tensor(tensor) => Datum::Tensor(tensor_facts(tensor)),
        other => Datum::from(other),
    }
}

fn tensor_facts(tensor: &TensorValue) -> TensorFacts {
    let mut facts = TensorFacts::new(tensor.dtype, tensor.shape.clone());
    let mut bounds: Option<(f64, f64)> = None;
    for scalar in tensor.pattern_scalars() {
        let number = match scalar {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
            Scalar::Complex(..) => return facts,
        };
        bounds = Some(match bounds {
            None => (number, number),
            Some((low, high)) => (low.min(number), high.max(number)),
        });
    }
    if tensor.elements() != Some(0) {
        let whole = tensor.dtype.integer_limits().is_some();
        let number = |value: f64| {
            if whole {
                Number::Int(value as i64)
            } else {
                Number::Float(value)
            }
        };
        facts.bounds = bounds.map(|(low, high)| (number(low), number(high)));
    }
    if let [.., rows, columns] = tensor.shape[..]
        && rows == columns
        && tensor.elements().is_some_and(|elements| elements <= MATRIX)
    {
        let known = TensorFacts::from(tensor).facts;
        let fillable = [ElementFact::Symmetric, ElementFact::PositiveDefinite];
        facts.facts = FactSet::of(fillable.into_iter().filter(|fact| known.contains(*fact)));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::SignatureParam;

    fn signature(params: &[(&str, &str, Option<&str>)]) -> Signature {
        Signature::of_function(
            "1",
            Some(
                params
                    .iter()
                    .map(|(name, kind, default)| SignatureParam {
                        name: (*name).into(),
                        kind: (*kind).into(),
                        default: default.map(Into::into),
                    })
                    .collect(),
            ),
        )
    }

    fn observed(arguments: Vec<Value>, keywords: &[(&str, Value)]) -> Observed {
        Observed {
            arguments,
            keywords: keywords
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            call: None,
        }
    }

    #[test]
    fn an_argument_equal_to_its_default_is_left_out_and_a_gap_is_passed_by_name() {
        let signature = signature(&[
            ("input", "positional_or_keyword", None),
            ("dim", "positional_or_keyword", Some("None")),
            ("keepdim", "positional_or_keyword", Some("False")),
        ]);
        let seen = observed(
            vec![Value::Int(3)],
            &[("keepdim", Value::Bool(true)), ("dim", Value::None)],
        );
        let params = Parameters::declared(&signature, None, false, std::slice::from_ref(&seen));
        let call = params.bind(&seen).unwrap();
        assert_eq!(
            call.values,
            [Some(Value::Int(3)), None, Some(Value::Bool(true))]
        );
        let concrete = params.concrete(&call, 0).unwrap();
        assert_eq!(concrete.arguments[1].name, "keepdim");
        assert_eq!(concrete.arguments[1].passing, Passing::Keyword);
        assert_eq!(params.data(&call)[1], Datum::None);
    }

    #[test]
    fn remaining_positional_arguments_are_one_list() {
        let signature = signature(&[
            ("equation", "positional_or_keyword", None),
            ("operands", "var_positional", None),
        ]);
        let seen = observed(
            vec![Value::Text("i,i".into()), Value::Int(1), Value::Int(2)],
            &[],
        );
        let params = Parameters::declared(&signature, None, false, std::slice::from_ref(&seen));
        let call = params.bind(&seen).unwrap();
        assert_eq!(
            call.values[1],
            Some(Value::List(vec![Value::Int(1), Value::Int(2)]))
        );
        assert_eq!(params.concrete(&call, 0).unwrap().arguments.len(), 3);
        let unknown = observed(vec![], &[("other", Value::Int(1))]);
        assert_eq!(params.bind(&unknown), None);
    }
}
