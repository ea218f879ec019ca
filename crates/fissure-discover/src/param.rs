//! One described parameter becomes one of a spec.

use fissure_model::{
    Bound, Comparison, Constraint, Dtype, DtypeFamily, DtypeTerm, Expression, Kind, NdimTerm,
    Param, ParamHints, Passing, Range, Role, Value,
};
use fissure_spec::{parse_default, parse_library_dtype, parse_shape};
use serde_json::Value as Json;

use crate::description::{ParamDescription, TypeDescription};
use crate::pytree::pytrees;

/// Is it described as a tensor?
pub(crate) fn says_tensor(param: &ParamDescription) -> bool {
    param.types.iter().any(|kind| kind.sort == "tensor")
}

pub(crate) fn param_of(
    described: &ParamDescription,
    exact: bool,
    by_name: bool,
    package: &str,
    axis_of: Option<&str>,
) -> Param {
    let by_name = by_name || described.kind == "keyword_only";
    let role = match described.kind.as_str() {
        "var_positional" => Role::VarPositional,
        "var_keyword" => Role::VarKeyword,
        _ if described.required => Role::Required,
        _ if by_name => Role::KeywordOnly,
        _ => Role::Optional,
    };
    let mut hints = hints_of(described, axis_of);
    hints.exact = exact && hints.stated;
    hints.passing = match role {
        // Required ones come first and in order, so that a position is never wrong, while a
        // schema's name may differ from that of the Python function (`self` and `input`).
        Role::Required if !by_name => Some(Passing::Positional),
        Role::Required | Role::KeywordOnly => Some(Passing::Keyword),
        _ => None,
    };
    let mut constraint = Constraint::default();
    let choices: Vec<Value> = described
        .types
        .iter()
        .filter(|kind| kind.sort != "object")
        .flat_map(|kind| &kind.choices)
        .filter_map(choice)
        .collect();
    if !choices.is_empty() {
        let only = described
            .types
            .iter()
            .all(|kind| !kind.choices.is_empty() || kind.sort == "none");
        if exact && only {
            constraint.enums = choices;
        } else {
            hints.kinds.insert(0, Kind::Ready(choices.clone()));
            hints.choices = choices;
        }
    }
    let expected: Vec<DtypeTerm> = described.types.iter().filter_map(plain_dtype).collect();
    Param {
        name: described.name.clone(),
        role,
        deprecated: false,
        default: described
            .default
            .as_deref()
            .and_then(|text| parse_default(text, package, &expected)),
        default_text: described.default.clone(),
        doc_dtype: None,
        description: None,
        constraint,
        line: None,
        hints: Some(Box::new(hints)),
    }
}

fn hints_of(described: &ParamDescription, axis_of: Option<&str>) -> ParamHints {
    let mut hints = ParamHints {
        name: described.name.clone(),
        // What receives the result must not be alone in saying what it is.
        output: described.name == "out",
        ..ParamHints::default()
    };
    for kind in &described.types {
        match kind.sort.as_str() {
            "none" => hints.none_allowed = true,
            "axis" => {
                hints.axis_of = axis_of.map(str::to_owned);
                hints.kinds.push(Kind::Int);
            }
            "index_tensor" => {
                hints.kinds.push(Kind::Tensor);
                hints.dtypes.push(DtypeTerm::Exact(Dtype::Int64));
                hints.dtypes.push(DtypeTerm::Exact(Dtype::Int32));
                hints.range.get_or_insert_with(|| at_least(0.0));
            }
            _ => hints.kinds.extend(kind_of(kind)),
        }
        let inner = kind.of.as_deref();
        for part in [Some(kind), inner].into_iter().flatten() {
            let dtypes = part.dtypes.iter().flatten();
            for dtype in dtypes.filter_map(|name| parse_library_dtype(name)) {
                let term = DtypeTerm::Exact(dtype);
                if !hints.dtypes.contains(&term) {
                    hints.dtypes.push(term);
                }
            }
            for rank in part.ndim.iter().flatten() {
                let rank = Expression::Number(f64::from(*rank));
                hints.ndims.push(NdimTerm::Is(Comparison::Equal, rank));
            }
            if let Some(least) = part.min_ndim.filter(|_| part.ndim.is_none()) {
                let least = Expression::Number(f64::from(least));
                let term = NdimTerm::Is(Comparison::GreaterOrEqual, least);
                hints.ndims.push(term);
            }
            let shapes = part.shape.iter().chain(&part.shapes);
            for shape in shapes.filter_map(|text| parse_shape(text).ok()) {
                if !hints.shapes.contains(&shape) {
                    hints.shapes.push(shape);
                }
            }
            if part.min.is_some() || part.max.is_some() {
                hints.range = Some(range_of(part));
            }
        }
        hints.length = hints.length.or(kind.length);
        let least = kind.min_length.filter(|least| *least > 0);
        hints.least_length = hints.least_length.or(least);
    }
    hints.kinds.dedup();
    hints.stated = !hints.kinds.is_empty();
    hints
}

/// The kind of a sort; `None` for what says nothing.
fn kind_of(described: &TypeDescription) -> Option<Kind> {
    let inner = || {
        let kind = described.of.as_deref().and_then(kind_of);
        kind.map(Box::new)
    };
    Some(match described.sort.as_str() {
        "tensor" | "index_tensor" => Kind::Tensor,
        "sparse" => Kind::SparseTensor,
        "tensors" => Kind::List(Some(Box::new(Kind::Tensor))),
        "array" => Kind::ArrayLike,
        "int" | "axis" => Kind::Int,
        "float" => Kind::Float,
        "number" => Kind::Number,
        "complex" => Kind::Complex,
        "bool" => Kind::Bool,
        "string" => Kind::Text,
        "dtype" => match ready_dtypes(described) {
            dtypes if dtypes.is_empty() => Kind::Dtype,
            dtypes => Kind::Ready(dtypes),
        },
        "device" => Kind::Device,
        "layout" => Kind::Layout,
        "memory_format" => Kind::MemoryFormat,
        "generator" => Kind::Generator,
        "list" => listed(inner(), Kind::List, Value::List),
        "tuple" => listed(inner(), Kind::Tuple, Value::Tuple),
        "shape" => Kind::Sequence(Some(Box::new(Kind::Int))),
        "dict" => Kind::Dict,
        "ndarray" => Kind::NdArray,
        "path" => Kind::File,
        "bytes" => Kind::Ready(vec![
            Value::Bytes(b"abc".to_vec()),
            Value::Bytes(Vec::new()),
        ]),
        "object" | "module" | "optimizer" if !described.values.is_empty() => {
            Kind::Ready(described.values.clone())
        }
        "object" => {
            let members = described.choices.iter().filter_map(|path| path.as_str());
            let mut values: Vec<Value> =
                members.map(|path| Value::Object(path.to_owned())).collect();
            values.extend(described.instance.clone().map(|path| Value::Call {
                path,
                arguments: Vec::new(),
            }));
            Kind::Ready(values)
        }
        "callable" => Kind::Callable,
        "pytree" => Kind::Ready(pytrees()),
        "module" => Kind::Module,
        "slice" => Kind::Ready(vec![
            slice([None, Some(1), None]),
            slice([Some(1), None, None]),
            slice([None, None, Some(2)]),
        ]),
        _ => return None,
    })
}

/// A list of some kind; of objects that are ready, lists that are.
fn listed(
    inner: Option<Box<Kind>>,
    kind: fn(Option<Box<Kind>>) -> Kind,
    list: fn(Vec<Value>) -> Value,
) -> Kind {
    match inner.as_deref() {
        Some(Kind::Ready(values)) if !values.is_empty() => {
            let single = values.iter().map(|value| list(vec![value.clone()]));
            let several = values.iter().take(3).cloned().collect();
            Kind::Ready(single.chain([list(several)]).collect())
        }
        _ => kind(inner),
    }
}

/// The dtypes that a parameter may be, where that is told.
fn ready_dtypes(described: &TypeDescription) -> Vec<Value> {
    let names = described.dtypes.iter().flatten();
    names
        .filter_map(|name| parse_library_dtype(name))
        .map(Value::Dtype)
        .collect()
}

fn slice(parts: [Option<i128>; 3]) -> Value {
    let part = |part: Option<i128>| part.map_or(Value::None, Value::Int);
    Value::Call {
        path: "builtins.slice".to_owned(),
        arguments: parts.map(part).into(),
    }
}

/// What a plain value of this type is, to read a default by.
fn plain_dtype(described: &TypeDescription) -> Option<DtypeTerm> {
    Some(DtypeTerm::Family(match described.sort.as_str() {
        "int" | "axis" => DtypeFamily::Int,
        "float" => DtypeFamily::Float,
        "bool" => DtypeFamily::Bool,
        "string" => DtypeFamily::String,
        _ => return None,
    }))
}

fn choice(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => Some(match number.as_i64() {
            Some(whole) => Value::Int(whole.into()),
            None => Value::Float(number.as_f64()?),
        }),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Null => Some(Value::None),
        Json::Array(_) | Json::Object(_) => None,
    }
}

fn at_least(least: f64) -> Range {
    Range {
        only_for: None,
        lower: Bound {
            at: Expression::Number(least),
            closed: true,
        },
        upper: Bound {
            at: Expression::Infinity,
            closed: false,
        },
    }
}

fn range_of(described: &TypeDescription) -> Range {
    let bound = |number: Option<f64>, open: bool, other: Expression| Bound {
        at: number.map_or(other, Expression::Number),
        closed: number.is_some() && !open,
    };
    let least = Expression::Negate(Box::new(Expression::Infinity));
    Range {
        only_for: None,
        lower: bound(described.min, described.min_open, least),
        upper: bound(described.max, described.max_open, Expression::Infinity),
    }
}
