//! Names that a mistyped one may mean, as the end of a message.

use fissure_discover::suggest;
use fissure_rules::{LibraryError, RuleLibrary};

/// `did you mean …?` in a paragraph of its own; nothing where no name is like it.
pub(crate) fn suggestion<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match suggest(wanted, names).as_slice() {
        [] => String::new(),
        close => format!("\n\ndid you mean {}?", close.join(" or ")),
    }
}

/// The same, of the APIs that have rules.
pub(crate) fn rules_meant(library: &RuleLibrary, wanted: &str) -> Result<String, LibraryError> {
    let titles: Vec<String> = library.find("*")?.into_iter().map(|it| it.title).collect();
    Ok(suggestion(wanted, titles.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_typing_error_is_named_and_another_is_not() {
        let names = ["smoke", "standard", "thorough"];
        assert_eq!(suggestion("standrad", names), "\n\ndid you mean standard?");
        assert_eq!(suggestion("xyz", names), "");
    }
}
