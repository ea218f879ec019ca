//! What the condition of a failing check asks for, as `fissure_worker/conditions.py` writes it.

use fissure_model::Dtype;

use super::{Sort, Want};

/// Larger sizes are not made.
const LARGEST: u64 = 4096;

/// `axis=-1,4`, `rank=3`, `shape=2,3`, `number=3,4`, `least=0`, `most=5`, `dtype=int64`, `word=mean`, `sort=list`,
/// `ordered=1`.
pub(super) fn condition(clause: &str) -> Option<Want> {
    let (what, value) = clause.split_once('=')?;
    Some(match what {
        "axis" => {
            let (at, size) = value.split_once(',')?;
            let (at, size) = (at.parse().ok()?, size.parse().ok()?);
            (size <= LARGEST).then_some(Want::Axis { at, size })?
        }
        "rank" => Want::Rank(vec![value.parse().ok().filter(|rank| *rank <= 8)?]),
        "shape" => {
            let sizes = value.split(',').filter(|size| !size.is_empty());
            let sizes: Vec<u64> = sizes.map(str::parse).collect::<Result<_, _>>().ok()?;
            let elements = sizes
                .iter()
                .try_fold(1_u64, |all, size| all.checked_mul(*size))?;
            (sizes.len() <= 8 && elements <= LARGEST * LARGEST).then_some(Want::Shape(sizes))?
        }
        "number" => {
            let (from, to) = value.split_once(',')?;
            let (from, to) = (from.parse().ok()?, to.parse().ok()?);
            Want::Number { from, to }
        }
        "least" => Want::AtLeast(value.parse().ok()?),
        "most" => Want::AtMost(value.parse().ok()?),
        "dtype" => {
            let dtype: Dtype = value.parse().ok()?;
            let to = vec![dtype];
            Want::Dtype { from: None, to }
        }
        "word" => Want::Word(value.to_owned()),
        "ordered" => Want::Ordered,
        "sort" => Want::Sort(match value {
            "int" => Sort::Int,
            "float" => Sort::Float,
            "bool" => Sort::Bool,
            "text" => Sort::Text,
            "list" => Sort::List,
            "tuple" => Sort::Tuple,
            "dict" => Sort::Dict,
            "tensor" => Sort::Tensor,
            "array" => Sort::Array,
            _ => return None,
        }),
        _ => return None,
    })
}
