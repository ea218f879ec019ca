//! Reading Python by its words and brackets: enough for the checks that oracles write.

/// Is this character part of a name?
pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Positions at which `word` stands as a word, outside of string literals, not behind a dot.
pub(super) fn words(text: &str, word: &str) -> Vec<usize> {
    let quoted = quoted(text);
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| {
            let before = text[..*at].chars().next_back();
            let after = text[*at + word.len()..].chars().next();
            !quoted[*at]
                && !before.is_some_and(|it| is_name(it) || it == '.')
                && !after.is_some_and(is_name)
        })
        .collect()
}

pub(super) fn has_word(text: &str, word: &str) -> bool {
    !words(text, word).is_empty()
}

/// For each byte whether it is in a string literal.
fn quoted(text: &str) -> Vec<bool> {
    let mut found = Vec::with_capacity(text.len());
    let mut quote: Option<u8> = None;
    let mut escaped = false;
    for byte in text.bytes() {
        let inside = quote.is_some();
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(open) if byte == open => quote = None,
            None if byte == b'\'' || byte == b'"' => quote = Some(byte),
            _ => {}
        }
        found.push(inside || quote.is_some());
    }
    found
}

/// The parts between commas that are in no bracket and no string.
pub(super) fn split_commas(text: &str) -> Vec<&str> {
    let quoted = quoted(text);
    let mut depth = 0i32;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        if quoted[at] {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found
}

/// Position of the bracket that closes the one at `open`.
pub(super) fn closing(text: &str, open: usize) -> Option<usize> {
    let quoted = quoted(text);
    let mut depth = 0i32;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        if quoted[at] {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// What stands in `name(…)`, when the whole text is that.
pub(super) fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    let at = closing(text, name.len()).filter(|_| rest.starts_with('('))?;
    (at + 1 == text.len()).then(|| &rest[1..rest.len() - 1])
}

/// A name, a call, an index, or a chain of them: needs no parentheses before a dot.
pub(super) fn is_chain(text: &str) -> bool {
    let quoted = quoted(text);
    let mut depth = 0i32;
    for (at, byte) in text.bytes().enumerate() {
        if quoted[at] {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'.' | b'_' => {}
            _ if depth > 0 || byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
    }
    !text.starts_with(|it: char| it.is_ascii_digit())
}

/// `name` and the expression of `name = expression`.
pub(super) fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" = ")?;
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_strings_and_behind_dots_are_none() {
        assert_eq!(words("call(x) + y.call + 'call' + call", "call"), [0, 28]);
        assert!(!has_word("recall(1)", "call"));
    }

    #[test]
    fn commas_in_brackets_and_strings_do_not_part() {
        assert_eq!(
            split_commas("f(a, b), 'x, y', [1, 2][0]"),
            ["f(a, b)", "'x, y'", "[1, 2][0]"]
        );
        assert_eq!(inside("str(a[0](1))", "str"), Some("a[0](1)"));
        assert_eq!(inside("str(a) + str(b)", "str"), None);
    }

    #[test]
    fn a_chain_needs_no_parentheses_and_a_sum_does() {
        assert!(is_chain("torch.ones((2, 3))[0].sum()"));
        assert!(!is_chain("a + b"));
        assert!(!is_chain("3"));
    }
}
