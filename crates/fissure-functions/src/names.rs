//! Names of functions: which follow from a listed one, and what a name's words say.

use fissure_model::abbreviated;

/// The modules of PyTorch whose operators have the module's name in front: `torch.ops.aten.linalg_qr`.
const OPERATOR_MODULES: [&str; 3] = ["linalg", "special", "fft"];

/// A name and those that follow from it: the method and the in-place forms of `torch.f`.
pub(crate) fn forms(name: &str) -> Vec<String> {
    let mut found = vec![name.to_owned()];
    let Some((module, last)) = name.rsplit_once('.') else {
        return found;
    };
    if last.starts_with('_') || last.ends_with('_') {
        return found;
    }
    match module {
        "torch" => {
            found.push(format!("torch.{last}_"));
            found.push(format!("torch.Tensor.{last}"));
            found.push(format!("torch.Tensor.{last}_"));
        }
        "torch.nn.functional" => found.push(format!("{name}_")),
        _ => {}
    }
    found
}

/// The name under which the table has what a path leads to: abbreviations of libraries in full, and the
/// operator `torch.ops.aten.linalg_qr.default` as `torch.linalg.qr`.
pub(crate) fn normal(path: &str) -> String {
    if let Some((root, rest)) = path.split_once('.')
        && let Some(full) = abbreviated(root)
    {
        return format!("{full}.{rest}");
    }
    let Some(operator) = path.strip_prefix("torch.ops.aten.") else {
        return path.to_owned();
    };
    let operator = operator.split('.').next().unwrap_or(operator);
    for module in OPERATOR_MODULES {
        let rest = operator.strip_prefix(module);
        if let Some(name) = rest.and_then(|rest| rest.strip_prefix('_')) {
            return format!("torch.{module}.{name}");
        }
    }
    format!("torch.{operator}")
}

/// The words of the last part of a name: `max_pool2d` → max, pool2d; `AdaptiveAvgPool2d` → adaptive, avg,
/// pool2d; `BCEWithLogitsLoss` → bce, with, logits, loss.
pub fn words(path: &str) -> Vec<String> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let characters: Vec<char> = last.chars().collect();
    let mut found = vec![String::new()];
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(at + 1).copied();
        let begins = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
                    // `L1Loss`, but not `Conv2DTranspose` at its `D`.
                    || (before.is_ascii_digit() && after.is_some_and(char::is_lowercase))
            });
        if character == '_' || begins {
            found.push(String::new());
        }
        if character != '_'
            && let Some(word) = found.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// The number of spatial dimensions that a word of a name ends in: 2 for `avg_pool2d`, nothing for
/// `atleast_2d`, where it is a word of its own.
pub fn spatial_word(path: &str) -> Option<usize> {
    words(path).iter().find_map(|word| {
        let stem = word.strip_suffix('d')?;
        let count = stem.chars().last()?.to_digit(10)? as usize;
        ((1..=3).contains(&count) && stem.len() > 1).then_some(count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_in_place_forms_follow_from_a_name() {
        assert_eq!(
            forms("torch.relu"),
            [
                "torch.relu",
                "torch.relu_",
                "torch.Tensor.relu",
                "torch.Tensor.relu_"
            ]
        );
        assert_eq!(forms("torch.linalg.qr"), ["torch.linalg.qr"]);
        assert_eq!(
            forms("torch.Tensor.__add__"),
            ["torch.Tensor.__add__"],
            "an operator has no further forms"
        );
    }

    #[test]
    fn operators_and_abbreviations_lead_to_the_names_of_the_table() {
        assert_eq!(
            normal("torch.ops.aten.linalg_qr.default"),
            "torch.linalg.qr"
        );
        assert_eq!(normal("torch.ops.aten.relu_"), "torch.relu_");
        assert_eq!(normal("tf.math.abs"), "tensorflow.math.abs");
        assert_eq!(normal("mine.np.abs"), "mine.np.abs");
    }

    #[test]
    fn a_name_is_split_into_its_words() {
        assert_eq!(
            words("torch.nn.BCEWithLogitsLoss"),
            ["bce", "with", "logits", "loss"]
        );
        assert_eq!(words("torch.nn.L1Loss"), ["l1", "loss"]);
        assert_eq!(
            words("a.max_pool2d_with_indices"),
            ["max", "pool2d", "with", "indices"]
        );
        assert_eq!(words("a.Conv2DTranspose"), ["conv2d", "transpose"]);
    }

    #[test]
    fn spatial_dimensions_are_the_end_of_a_word_and_not_a_word() {
        for (name, expected) in [
            ("torch.nn.functional.avg_pool2d", Some(2)),
            ("torch.nn.AdaptiveAvgPool3d", Some(3)),
            ("tf.keras.layers.Conv2DTranspose", Some(2)),
            ("torch.nn.functional.max_pool1d_with_indices", Some(1)),
            ("torch.atleast_2d", None),
            ("torch.add", None),
            ("torch.nn.functional.pad", None),
        ] {
            assert_eq!(spatial_word(name), expected, "{name}");
        }
    }
}
