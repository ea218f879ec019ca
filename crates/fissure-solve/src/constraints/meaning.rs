//! What the terms of a constraint mean for a Python value; the one reading that both the sampler
//! and the checker follow.
//!
//! Each list of a constraint restricts only its own category. Files were extracted by machine and
//! mix statements about alternatives (`int or tuple`), so the reading is the widest that keeps a
//! tensor a tensor:
//! - an enum stands alone: the value is one of its entries, nothing else is asked;
//! - `structure` and `tensor_t` together list the containers; a plain value is one too if rank 0
//!   is among the ranks;
//! - a rank is that of the tensor or of the nested lists, or that of a list's entries;
//! - what a structure says about its entries goes before the list of dtypes;
//! - a dtype object (`torch.dtype`) or a function has no container, rank or range;
//! - no library tensor can be built from text: plain text stands for a tensor of strings.

use fissure_model::{Constraint, Dtype, DtypeFamily, DtypeTerm, Element, Structure, Value};
use fissure_spec::{Kind, ParamHints};

use crate::constraints::expressions::Facts;

/// The type of a plain Python value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaf {
    Bool,
    Int,
    Float,
    Complex,
    Text,
    /// A dtype object.
    Dtype,
    /// A function, a module, a device, …
    Object,
}

impl Leaf {
    pub(crate) fn of(value: &Value) -> Option<Leaf> {
        Some(match value {
            Value::Bool(_) => Leaf::Bool,
            Value::Int(_) => Leaf::Int,
            Value::Float(_) => Leaf::Float,
            Value::Complex { .. } => Leaf::Complex,
            Value::Text(_) | Value::Bytes(_) => Leaf::Text,
            Value::Dtype(_) => Leaf::Dtype,
            Value::Object(_) | Value::Call { .. } => Leaf::Object,
            _ => return None,
        })
    }

    /// The dtype that stands for a plain number in `dtype:&p`.
    pub(crate) fn dtype(self) -> Option<Dtype> {
        Some(match self {
            Leaf::Bool => Dtype::Bool,
            Leaf::Int => Dtype::Int64,
            Leaf::Float => Dtype::Float32,
            Leaf::Complex => Dtype::Complex64,
            Leaf::Text => Dtype::String,
            Leaf::Dtype | Leaf::Object => return None,
        })
    }
}

/// Is a tensor of `dtype` allowed by this term? `facts` are those of the parameter that the term
/// names, if it names one.
pub(crate) fn accepts_dtype(term: &DtypeTerm, dtype: Dtype, facts: Option<&Facts>) -> bool {
    match term {
        DtypeTerm::Exact(exact) => *exact == dtype,
        DtypeTerm::Family(family) => family.contains(dtype),
        DtypeTerm::SameAs(_) => match facts.and_then(|facts| facts.dtype.map(|d| (d, facts.plain)))
        {
            Some((other, false)) => other == dtype,
            Some((other, true)) => same_family(other, dtype),
            None => true,
        },
        DtypeTerm::Scalar => dtype.is_integer() || dtype.is_float(),
        DtypeTerm::DtypeObject | DtypeTerm::Callable => false,
    }
}

fn same_family(left: Dtype, right: Dtype) -> bool {
    left.family() == right.family() || left.is_integer() && right.is_integer()
}

/// Is a plain value of this type allowed by this term?
pub(crate) fn accepts_leaf(term: &DtypeTerm, leaf: Leaf, facts: Option<&Facts>) -> bool {
    let family = |dtype: Dtype| match dtype.family() {
        Some(DtypeFamily::Uint) => Some(DtypeFamily::Int),
        family => family,
    };
    match term {
        DtypeTerm::Exact(exact) => leaf
            .dtype()
            .is_some_and(|dtype| family(dtype) == family(*exact)),
        DtypeTerm::Family(DtypeFamily::Uint) => leaf == Leaf::Int,
        DtypeTerm::Family(family) => leaf.dtype().is_some_and(|dtype| family.contains(dtype)),
        DtypeTerm::DtypeObject => leaf == Leaf::Dtype,
        DtypeTerm::SameAs(_) => match facts.and_then(|facts| facts.dtype) {
            Some(dtype) => leaf.dtype().is_some_and(|leaf| same_family(leaf, dtype)),
            None => true,
        },
        DtypeTerm::Scalar => matches!(leaf, Leaf::Int | Leaf::Float),
        DtypeTerm::Callable => leaf == Leaf::Object,
    }
}

/// Does the constraint say anything about the container?
pub(crate) fn containers_listed(constraint: &Constraint) -> bool {
    !constraint.structures.is_empty() || !constraint.tensors.is_empty()
}

/// The documentation states outright that the argument is an object which constraint lists have no
/// word for; such an object then stands beside what the lists allow.
pub(crate) fn object_kinds(hints: &ParamHints, lists: bool) -> impl Iterator<Item = &Kind> {
    hints.kinds.iter().filter(move |kind| match kind {
        Kind::List(Some(inner)) | Kind::Tuple(Some(inner)) | Kind::Sequence(Some(inner)) => {
            lists
                && (inner.is_object()
                    || matches!(**inner, Kind::Dtype | Kind::Sequence(_) | Kind::List(_)))
        }
        kind => kind.is_object(),
    })
}

/// Does a list of the given kind fit one of the listed structures?
pub(crate) fn structure_matches(structure: &Structure, value: &Value) -> bool {
    match (structure, value) {
        (Structure::List(element), Value::List(items))
        | (Structure::Tuple(element), Value::Tuple(items))
        | (Structure::Sequence(element), Value::List(items) | Value::Tuple(items)) => items
            .iter()
            .all(|item| element_matches(element.as_ref(), item)),
        (Structure::NamedTuple(names, element), Value::Tuple(items)) => {
            items.len() == names.len()
                && items
                    .iter()
                    .all(|item| element_matches(element.as_ref(), item))
        }
        (Structure::Dict(key, entry), Value::Dict(pairs)) => pairs.iter().all(|(left, right)| {
            element_matches(key.as_ref(), left) && element_matches(entry.as_ref(), right)
        }),
        (Structure::NdArray(element), Value::NdArray(array)) => match element {
            Some(Element::Dtype(term)) => accepts_dtype(term, array.dtype, None),
            _ => true,
        },
        _ => false,
    }
}

fn element_matches(element: Option<&Element>, value: &Value) -> bool {
    match element {
        None => true,
        Some(Element::Dtype(term)) => match value {
            Value::Tensor(tensor) | Value::SparseTensor(tensor) | Value::NdArray(tensor) => {
                accepts_dtype(term, tensor.dtype, None)
            }
            // Nested lists, where a rank above 1 is asked for.
            Value::List(items) | Value::Tuple(items) => {
                items.iter().all(|item| element_matches(element, item))
            }
            value => Leaf::of(value).is_some_and(|leaf| accepts_leaf(term, leaf, None)),
        },
        Some(Element::Tensor(_)) => matches!(value, Value::Tensor(_) | Value::SparseTensor(_)),
        Some(Element::Shape) => match value {
            Value::List(items) | Value::Tuple(items) => {
                items.iter().all(|item| element_matches(element, item))
            }
            value => matches!(value, Value::Int(_)),
        },
        Some(Element::Structure(structure)) => structure_matches(structure, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_number_fits_every_width_of_its_family() {
        let exact = |dtype| DtypeTerm::Exact(dtype);
        assert!(accepts_leaf(&exact(Dtype::Float16), Leaf::Float, None));
        assert!(accepts_leaf(&exact(Dtype::Uint8), Leaf::Int, None));
        assert!(!accepts_leaf(&exact(Dtype::Float16), Leaf::Int, None));
        assert!(!accepts_leaf(&exact(Dtype::Int32), Leaf::Bool, None));
        assert!(accepts_leaf(
            &DtypeTerm::Family(DtypeFamily::Numeric),
            Leaf::Float,
            None
        ));
    }

    #[test]
    fn a_tensor_has_the_exact_dtype_of_the_tensor_it_follows() {
        let facts = Facts {
            dtype: Some(Dtype::Float64),
            ..Facts::default()
        };
        let term = DtypeTerm::SameAs("x".into());
        assert!(accepts_dtype(&term, Dtype::Float64, Some(&facts)));
        assert!(!accepts_dtype(&term, Dtype::Float32, Some(&facts)));
        let plain = Facts {
            plain: true,
            ..facts
        };
        assert!(accepts_dtype(&term, Dtype::Float32, Some(&plain)));
        assert!(accepts_dtype(&term, Dtype::Int8, None));
    }

    #[test]
    fn entries_decide_whether_a_structure_fits() {
        let structure = Structure::Tuple(Some(Element::Dtype(DtypeTerm::Family(DtypeFamily::Int))));
        assert!(structure_matches(
            &structure,
            &Value::Tuple(vec![Value::Int(1)])
        ));
        assert!(!structure_matches(
            &structure,
            &Value::Tuple(vec![Value::Float(1.0)])
        ));
        assert!(!structure_matches(
            &structure,
            &Value::List(vec![Value::Int(1)])
        ));
        let named = Structure::NamedTuple(vec!["h".into(), "w".into()], None);
        assert!(!structure_matches(
            &named,
            &Value::Tuple(vec![Value::Int(1)])
        ));
    }
}
