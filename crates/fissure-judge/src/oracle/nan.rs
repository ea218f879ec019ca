//! Which NaN is worth asking the oracle `nan` (`python/fissure_worker/oracles/nan.py`, whose docstring is
//! its page) for: a cheap look at the input, before the call is made again in another precision.

use fissure_functions::{Property, functions};
use fissure_model::{Api, ConcreteInput, Confidence, Dtype, Oracle, OutcomeKind, Verdict};

use crate::input_facts::{any_number, any_single_number, has_empty_tensor};

/// A setting beyond this is no sensible exponent, factor or temperature.
const LARGE_SETTING: f64 = 1024.0;

/// Nothing in the input explains a NaN: its numbers are finite and of ordinary size.
pub(crate) fn is_suspicious(api: &Api, input: &ConcreteInput) -> bool {
    // What holds no number at all (`None`, a text) asks for none back.
    any_number(input, |_, _| true)
        && !(functions().has(&api.path, Property::Uninitialised)
            || has_empty_tensor(input)
            || any_number(input, is_odd)
            || any_single_number(input, |number| number.abs() > LARGE_SETTING))
}

pub(crate) fn judge(api: &Api, input: &ConcreteInput) -> Option<Verdict> {
    is_suspicious(api, input).then(|| Verdict {
        kind: OutcomeKind::Nan,
        oracle: Oracle::Nan,
        confidence: Confidence::Numeric,
        detail: "NaN".into(),
        note: false,
    })
}

/// Not finite, or its square or its reciprocal is not.
fn is_odd(dtype: Dtype, number: f64) -> bool {
    // Integers become float32 as soon as they meet a float.
    let largest = dtype.float_max().unwrap_or_else(|| f32::MAX.into());
    let magnitude = number.abs();
    !magnitude.is_finite()
        || magnitude > largest.sqrt()
        || (magnitude > 0.0 && magnitude < largest.recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_odd_by_the_measure_of_its_own_type() {
        assert!(is_odd(Dtype::Float16, 300.0));
        assert!(!is_odd(Dtype::Float32, 300.0));
        assert!(is_odd(Dtype::Float32, 1e20));
        assert!(!is_odd(Dtype::Float64, 1e20));
        assert!(is_odd(Dtype::Float32, 1e-40));
        assert!(!is_odd(Dtype::Float32, 0.0));
        assert!(is_odd(Dtype::Float64, f64::NAN));
    }
}
