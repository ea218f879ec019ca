//! The terms of a spec as text, in the notation of constraint files.

use fissure_model::{
    Bound, Comparison, Dim, DtypeTerm, Element, NdimTerm, Range, ShapeTerm, Structure, TensorKind,
    Value,
};

pub fn dtype(term: &DtypeTerm) -> String {
    match term {
        DtypeTerm::Exact(dtype) => dtype.to_string(),
        DtypeTerm::Family(family) => format!("any {family}"),
        DtypeTerm::DtypeObject => "dtype object".into(),
        DtypeTerm::SameAs(name) => format!("dtype:&{name}"),
        DtypeTerm::Scalar => "scalar".into(),
        DtypeTerm::Callable => "callable".into(),
    }
}

pub fn structure(term: &Structure) -> String {
    let of = |word: &str, inner: &Option<Element>| match inner {
        Some(inner) => format!("{word}({})", element(inner)),
        None => word.to_owned(),
    };
    match term {
        Structure::List(inner) => of("list", inner),
        Structure::Tuple(inner) => of("tuple", inner),
        Structure::NamedTuple(names, inner) => {
            format!("{}:({})", of("tuple", inner), names.join(","))
        }
        Structure::Sequence(inner) => of("sequence", inner),
        Structure::NdArray(inner) => of("ndarray", inner),
        Structure::Dict(None, None) => "dict".into(),
        Structure::Dict(key, value) => {
            let text = |part: &Option<Element>| part.as_ref().map_or("?".into(), element);
            format!("dict({}:{})", text(key), text(value))
        }
    }
}

fn element(term: &Element) -> String {
    match term {
        Element::Dtype(term) => dtype(term),
        Element::Tensor(kind) => tensor(*kind).into(),
        Element::Shape => "shape".into(),
        Element::Structure(inner) => structure(inner),
    }
}

pub fn tensor(kind: TensorKind) -> &'static str {
    match kind {
        TensorKind::Dense => "tensor",
        TensorKind::Sparse => "sparse tensor",
        TensorKind::Ragged => "ragged tensor",
    }
}

pub fn ndim(term: &NdimTerm) -> String {
    match term {
        NdimTerm::Any => "?".into(),
        NdimTerm::Is(Comparison::Equal, at) => at.to_string(),
        NdimTerm::Is(comparison, at) => format!("{comparison}{at}"),
    }
}

pub fn shape(term: &ShapeTerm) -> String {
    match term {
        ShapeTerm::SameAs(name) => format!("shape:&{name}"),
        ShapeTerm::BroadcastWith(name) => format!("broadcast:&{name}"),
        ShapeTerm::BroadcastTo(name) => format!("broadcast_to:&{name}"),
        ShapeTerm::Dims(dims) => {
            let dims: Vec<String> = dims
                .iter()
                .map(|dim| match dim {
                    Dim::Ellipsis => "...".into(),
                    Dim::Is(Comparison::Equal, at) => at.to_string(),
                    Dim::Is(comparison, at) => format!("{comparison}{at}"),
                })
                .collect();
            format!("[{}]", dims.join(","))
        }
    }
}

pub fn range(range: &Range) -> String {
    let open = |bound: &Bound| if bound.closed { '[' } else { '(' };
    let close = |bound: &Bound| if bound.closed { ']' } else { ')' };
    let prefix = range
        .only_for
        .as_ref()
        .map_or(String::new(), |term| format!("{}:", dtype(term)));
    let (lower, upper) = (&range.lower, &range.upper);
    format!(
        "{prefix}{}{},{}{}",
        open(lower),
        lower.at,
        upper.at,
        close(upper)
    )
}

/// A value as Python would write it.
pub fn value(value: &Value) -> String {
    let joined = |items: &[Value]| items.iter().map(self::value).collect::<Vec<_>>().join(", ");
    match value {
        Value::None => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "nan".into(),
        Value::Float(number) => format!("{number:?}"),
        Value::Complex { re, im } => format!("complex({re:?}, {im:?})"),
        Value::Text(text) => format!("'{}'", text.escape_debug()),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::List(items) => format!("[{}]", joined(items)),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", joined(items)),
        Value::Tuple(items) => format!("({})", joined(items)),
        Value::Dict(pairs) => {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(key, value)| format!("{}: {}", self::value(key), self::value(value)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::Tensor(data) => format!("tensor of {} {:?}", data.dtype, data.shape),
        Value::SparseTensor(data) => format!("sparse tensor of {} {:?}", data.dtype, data.shape),
        Value::NdArray(data) => format!("array of {} {:?}", data.dtype, data.shape),
        Value::Dtype(dtype) => format!("dtype {dtype}"),
        Value::Object(path) => path.clone(),
        Value::Call { path, arguments } => format!("{path}({})", joined(arguments)),
    }
}
