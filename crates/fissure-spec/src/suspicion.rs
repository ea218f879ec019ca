//! Values that parse but cannot be meant: words of a sentence that the extraction took for values.

use std::collections::HashSet;

use fissure_model::{Comparison, Dim, Expression, NdimTerm, ShapeTerm, Value};

/// Words that occur in sentences about values, never as values of an option.
const PROSE: [&str; 24] = [
    "starts", "with", "also", "if", "provided", "must", "match", "returned", "the", "is", "are",
    "be", "or", "and", "not", "should", "will", "when", "of", "to", "which", "where", "that",
    "given",
];

/// Words for sorts of things: as the only "dimension" they describe the argument, not its shape.
const SORTS: [&str; 16] = [
    "tensor",
    "tensors",
    "vector",
    "scalar",
    "matrix",
    "sparsetensor",
    "list",
    "tuple",
    "array",
    "ndarray",
    "int",
    "float",
    "string",
    "bool",
    "shape",
    "none",
];

/// Why a shape is not one, if so.
pub(crate) fn shape(term: &ShapeTerm) -> Option<String> {
    let ShapeTerm::Dims(dims) = term else {
        return None;
    };
    let symbols = dims.iter().filter_map(|dim| match dim {
        Dim::Is(Comparison::Equal, Expression::Symbol(name)) => Some(name.as_str()),
        _ => None,
    });
    for name in symbols {
        if dims.len() == 1 && SORTS.contains(&name.to_lowercase().as_str()) {
            return Some(format!(
                "`{name}` is a word for a sort of value, not a size"
            ));
        }
        if name.split('_').any(|word| PROSE.contains(&word)) && name.matches('_').count() >= 2 {
            return Some(format!("`{name}` is a phrase, not a size"));
        }
    }
    None
}

/// Why a rank is not one, if so. A symbol is at home in a rank when it is a single letter, is
/// declared, or is also a symbol of some shape.
pub(crate) fn ndim(term: &NdimTerm, symbols: &HashSet<String>) -> Option<String> {
    match term {
        NdimTerm::Is(_, Expression::Symbol(name))
            if name.chars().count() > 1 && !symbols.contains(name) =>
        {
            Some(format!(
                "`{name}` is a word, not a rank: no shape or `dependency` names it"
            ))
        }
        _ => None,
    }
}

/// What there is to know about an enum before judging its entries.
pub(crate) struct EnumContext<'a> {
    pub param: &'a str,
    pub names: &'a HashSet<String>,
    pub default: Option<&'a Value>,
    /// The dtype list allows text, or says nothing.
    pub text_allowed: bool,
    pub text_stated: bool,
    /// The documentation's words for the type.
    pub doc_dtype: Option<&'a str>,
}

/// For each entry, why it cannot be meant, if so.
pub(crate) fn enums(values: &[Value], context: &EnumContext<'_>) -> Vec<Option<String>> {
    let words: Vec<&str> = values.iter().filter_map(word).collect();
    let others = values
        .iter()
        .filter(|value| !matches!(value, Value::Text(_) | Value::None))
        .count();
    let prose = words.iter().find(|word| PROSE.contains(word));
    let only_names = !words.is_empty() && words.iter().all(|word| context.names.contains(*word));
    values
        .iter()
        .map(|value| {
            let word = word(value)?;
            // A word that the documentation quotes as a possible value is one.
            let quoted = format!("'{word}'");
            let listed = context.doc_dtype.is_some_and(|text| text.contains(&quoted));
            if listed || context.default == Some(value) {
                return None;
            }
            if let Some(prose) = prose {
                return Some(format!(
                    "`{prose}` shows that the list is a sentence, not values"
                ));
            }
            if word == context.param && !context.text_stated {
                return Some("it is the parameter's own name".into());
            }
            if only_names {
                return Some("it is the name of a parameter".into());
            }
            if is_class_name(word) {
                return Some("it is the name of a class".into());
            }
            if words.len() == 1 && others == 0 && !context.text_stated {
                return Some("a single word for a parameter that is not known to take text".into());
            }
            if words.contains(&context.param) && !context.text_allowed {
                return Some("it stands beside the parameter's own name".into());
            }
            None
        })
        .collect()
}

fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// `RaggedTensor`, `Stream`, `ValueError`.
fn is_class_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first.is_ascii_uppercase())
        && chars
            .next()
            .is_some_and(|second| second.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.len() > 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{parse_ndim, parse_shape};

    fn judged(
        param: &str,
        words: &[&str],
        names: &[&str],
        stated: bool,
        allowed: bool,
    ) -> Vec<bool> {
        let values: Vec<Value> = words
            .iter()
            .map(|word| {
                if *word == "None" {
                    Value::None
                } else {
                    Value::Text((*word).into())
                }
            })
            .collect();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let context = EnumContext {
            param,
            names: &names,
            default: None,
            text_allowed: allowed,
            text_stated: stated,
            doc_dtype: None,
        };
        enums(&values, &context)
            .iter()
            .map(Option::is_some)
            .collect()
    }

    #[test]
    fn words_of_a_sentence_are_no_enum() {
        assert_eq!(
            judged(
                "input",
                &["data_format", "starts", "with"],
                &[],
                false,
                true
            ),
            [true; 3]
        );
        assert_eq!(
            judged("version", &["also", "if", "provided"], &[], false, false),
            [true; 3]
        );
    }

    #[test]
    fn names_of_parameters_are_no_enum() {
        assert_eq!(
            judged("dtype", &["dtype"], &["dtype"], false, false),
            [true]
        );
        assert_eq!(
            judged("out", &["None", "out"], &["out"], false, true),
            [false, true]
        );
        assert_eq!(
            judged(
                "cell",
                &["batch_size", "inputs"],
                &["batch_size", "inputs"],
                true,
                true
            ),
            [true; 2]
        );
        let own = judged(
            "function",
            &["activation", "function", "hidden"],
            &[],
            false,
            false,
        );
        assert_eq!(own, [true; 3]);
    }

    #[test]
    fn ordinary_options_are_kept() {
        assert_eq!(
            judged("mode", &["clip", "raise", "wrap"], &["mode"], false, true),
            [false; 3]
        );
        assert_eq!(
            judged("padding", &["SAME", "VALID"], &["padding"], true, true),
            [false; 2]
        );
        assert_eq!(
            judged("format", &["checkpoint"], &["format"], true, true),
            [false]
        );
        assert_eq!(
            judged("norm", &["batch", "null", "valid"], &[], false, false),
            [false; 3]
        );
    }

    #[test]
    fn word_shapes_and_word_ranks_are_suspicious() {
        for text in [
            "[tensor]",
            "[vector]",
            "[sparsetensor]",
            "[tuple_of_integers,n]",
        ] {
            assert!(shape(&parse_shape(text).unwrap()).is_some(), "{text}");
        }
        for text in [
            "[batch]",
            "[n,tensor]",
            "[...]",
            "[other_feature_dims]",
            "[]",
        ] {
            assert!(shape(&parse_shape(text).unwrap()).is_none(), "{text}");
        }
        let symbols = HashSet::from(["rank".to_owned()]);
        assert!(ndim(&parse_ndim("must").unwrap(), &symbols).is_some());
        for text in ["n", "rank", "n+2", "3", "?"] {
            assert!(
                ndim(&parse_ndim(text).unwrap(), &symbols).is_none(),
                "{text}"
            );
        }
    }
}
