//! The result holds a NaN that the input does not explain.
//!
//! # What it does
//!
//! With `--check-nan` (or `check_nan: true` in a spec), reports a call that returned a NaN although
//! its numbers were finite and of ordinary size.
//!
//! # Why it matters
//!
//! A NaN spreads: one of them in a layer turns a whole model into NaN, without any error, often
//! hours into training.
//!
//! # When it stays silent
//!
//! - A number of the input is NaN or infinite already.
//! - A number is so large that its square overflows its type (about 1.8e19 for `float32`, 256 for
//!   `float16`), or so small that its reciprocal does: an overflow on the way explains the NaN.
//! - A number that stands alone (not inside a tensor) is beyond 1024: as an exponent or a factor it
//!   makes anything overflow.
//! - A tensor has no elements (the mean of nothing is NaN by definition).
//! - The function is undefined for some arguments by definition (`log`, `sqrt`, `acos`, a division,
//!   a standard deviation of one element, …) or returns memory that nobody has written (`empty`).
//!
//! # Example
//!
//! ```python
//! layer = torch.nn.LayerNorm(4, eps=-1.0)
//! layer(torch.ones(2, 4))  # NaN: eps was accepted without a look
//! ```

use fissure_model::{Api, ConcreteInput, Confidence, Dtype, OutcomeKind, Verdict};

use crate::input_facts::{any_number, any_single_number, has_empty_tensor};

/// A setting beyond this is no sensible exponent, factor or temperature.
const LARGE_SETTING: f64 = 1024.0;

/// Last parts of names (without trailing underscore) of functions whose domain is a part of the
/// reals, or whose result is uninitialised.
const PARTIAL: &[&str] = &[
    "GaussianNLLLoss",
    "KLDivLoss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LocalResponseNorm",
    "PoissonNLLLoss",
    "acos",
    "acosh",
    "addcdiv",
    "arccos",
    "arccosh",
    "arcsin",
    "arctanh",
    "asin",
    "atanh",
    "corrcoef",
    "cov",
    "digamma",
    "div",
    "divide",
    "divide_no_nan",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "erfinv",
    "float_power",
    "floor_divide",
    "floordiv",
    "floormod",
    "fmod",
    "gaussian_nll_loss",
    "igamma",
    "igammac",
    "kl_div",
    "lgamma",
    "local_response_norm",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_ndtr",
    "logdet",
    "logit",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "mod",
    "multigammaln",
    "mvlgamma",
    "ndtri",
    "new_empty",
    "poisson_nll_loss",
    "polygamma",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "renorm",
    "resize",
    "resize_as",
    "rsqrt",
    "slogdet",
    "sqrt",
    "std",
    "std_mean",
    "true_divide",
    "truediv",
    "var",
    "var_mean",
    "xlog1py",
    "xlogy",
    "zeta",
];

pub fn judge(api: &Api, input: &ConcreteInput) -> Option<Verdict> {
    let name = api
        .path
        .rsplit('.')
        .next()
        .unwrap_or(&api.path)
        .trim_end_matches('_');
    let explained = PARTIAL.contains(&name)
        || has_empty_tensor(input)
        || any_number(input, is_odd)
        || any_single_number(input, |number| number.abs() > LARGE_SETTING);
    (!explained).then(|| Verdict {
        kind: OutcomeKind::Nan,
        oracle: "nan".into(),
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
    fn the_list_of_partial_functions_is_sorted_and_without_repeats() {
        assert!(PARTIAL.is_sorted_by(|left, right| left < right));
    }

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
