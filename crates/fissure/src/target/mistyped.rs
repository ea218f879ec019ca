//! Libraries that are to be installed, and whose name is rather a slip of the fingers.

use fissure_environment::{COMPATIBILITY, Requirement, known_packages, meant_by};
use fissure_model::abbreviated;

use crate::exit_status::usage;

/// A name that is almost that of a known library, or that people use for it, is rather an error than another package, and
/// what bears such names in an index is not always harmless. Who means it says its version.
pub(crate) fn refuse_mistyped(requirement: &Requirement) -> anyhow::Result<()> {
    let name = requirement.distribution.as_str();
    let known: Vec<&str> = known_packages()
        .chain(COMPATIBILITY.iter().map(|line| line.distribution))
        .collect();
    let near = || {
        let near = known.iter().find(|known| is_one_edit_apart(name, known));
        near.copied()
    };
    let short = || abbreviated(name).and_then(|full| full.split('.').next());
    match meant_by(name).or_else(short).or_else(near) {
        Some(meant) if !known.contains(&name) && requirement.pinned().is_none() => {
            Err(usage(format!(
                "{name} is not a library that Fissure knows\n\ndid you mean {meant}? To install {name} all the \
                 same, give its version: {name}==VERSION"
            )))
        }
        _ => Ok(()),
    }
}

/// One letter more, one less, another, or two that changed places.
fn is_one_edit_apart(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[same..], &right[same..]);
    if left.is_empty() && right.is_empty() {
        return false;
    }
    let after = |text: &[u8], skipped: usize| text.get(skipped..).map(<[u8]>::to_vec);
    let swapped = left.len() > 1
        && right.len() > 1
        && (left[0], left[1]) == (right[1], right[0])
        && after(left, 2) == after(right, 2);
    swapped
        || after(left, 1) == after(right, 1)
        || after(left, 1).as_deref() == Some(right)
        || after(right, 1).as_deref() == Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_in_a_known_name_is_refused_and_another_package_is_not() {
        for name in [
            "trch", "toorch", "torhc", "tarch", "numpi", "jaxx", "pytorch", "np",
        ] {
            assert!(refuse_mistyped(&name.parse().unwrap()).is_err(), "{name}");
        }
        for name in ["torch", "torchvision", "numpyro", "scipy", "trch==0.2.0"] {
            assert!(refuse_mistyped(&name.parse().unwrap()).is_ok(), "{name}");
        }
        let refused = refuse_mistyped(&"pytorch".parse().unwrap()).unwrap_err();
        assert!(
            refused.to_string().contains("did you mean torch?"),
            "{refused}"
        );
    }
}
