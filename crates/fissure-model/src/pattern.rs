//! Patterns of API names, with `*` for any text.

use crate::Spec;

/// The title, or one of its other names, is meant by a pattern with `*`.
pub fn title_matches(pattern: &str, spec: &Spec) -> bool {
    pattern_matches(pattern, &spec.api.title)
        || spec
            .aliases
            .iter()
            .any(|alias| pattern_matches(pattern, alias))
}

/// Glob match with `*` only, without regard to case: constraint files lower-case many titles.
pub fn pattern_matches(pattern: &str, title: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let title = title.to_ascii_lowercase();
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == title;
    };
    let Some(mut remaining) = title.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match remaining.find(part) {
            Some(at) => remaining = &remaining[at + part.len()..],
            None => return false,
        }
    }
    remaining.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_prefixes_suffixes_and_middles() {
        assert!(pattern_matches("torch.hub.*", "torch.hub.load"));
        assert!(!pattern_matches("torch.hub.*", "torch.hubble"));
        assert!(pattern_matches("*.download", "mxnet.gluon.utils.download"));
        assert!(pattern_matches("tf.io.*file*", "tf.io.write_file"));
        assert!(!pattern_matches("torch.save", "torch.saver"));
    }
}
