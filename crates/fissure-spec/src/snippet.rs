//! An error drawn under the line it is about.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::error::SpecError;

/// The error with the line of its file, a caret under the place, and what to do about it. Without
/// the file's text only the message. `styled` adds the colours of a terminal.
pub fn render(error: &SpecError, styled: bool) -> String {
    let renderer = if styled {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let path = error.path.display().to_string();
    let title = error.problem.to_string();
    let help = Level::HELP.message(error.problem.help());
    let text = std::fs::read(&error.path).unwrap_or_else(|_| Vec::new());
    let text = String::from_utf8_lossy(&text);
    let group = match error.line.and_then(|line| place(&text, line, error.column)) {
        Some(span) => Level::ERROR.primary_title(&title).element(
            Snippet::source(text.as_ref())
                .path(path)
                .annotation(AnnotationKind::Primary.span(span)),
        ),
        None => {
            let named = format!("{path}: {title}");
            return renderer.render(&[Level::ERROR.primary_title(named.as_str()).element(help)]);
        }
    };
    renderer.render(&[group.element(help)])
}

/// The bytes from the column to the end of the word there, at least one.
fn place(text: &str, line: u32, column: Option<u32>) -> Option<std::ops::Range<usize>> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column.unwrap_or(1)).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(start..)?.split('\n').next()?;
    if rest.is_empty() && start >= text.len() {
        return (start > 0).then(|| start - 1..start);
    }
    let from = rest
        .char_indices()
        .nth(column)
        .map_or(rest.len(), |(at, _)| at);
    let word = rest[from..]
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len() - from);
    let first = rest[from..].chars().next().map_or(0, char::len_utf8);
    Some(start + from..start + from + word.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_file;

    #[test]
    fn the_caret_stands_under_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.yaml");
        std::fs::write(
            &path,
            "title: a.b\npackage: a\nconstraints: {}\ninputs: wrong\n",
        )
        .unwrap();
        let text = render(&load_file(&path).unwrap_err(), false);
        assert!(
            text.contains("error: `inputs` must be a map, but is a text"),
            "{text}"
        );
        assert!(text.contains("4 | inputs: wrong"), "{text}");
        assert!(text.contains("        ^^^^^"), "{text}");
        assert!(text.contains("help: write a map here"), "{text}");
    }

    #[test]
    fn errors_without_a_place_are_drawn_too() {
        let error = load_file(std::path::Path::new("no/such.yaml")).unwrap_err();
        let text = render(&error, false);
        assert!(
            text.contains("error: no/such.yaml: cannot be read"),
            "{text}"
        );
        let folder = tempfile::tempdir().unwrap();
        for body in ["", "\n", "a: [", "a: [\n", "é: [ü, \"", "a:\n\t- b\n"] {
            let path = folder.path().join("bad.yaml");
            std::fs::write(&path, body).unwrap();
            let text = render(&load_file(&path).unwrap_err(), false);
            assert!(text.starts_with("error: "), "{body:?}: {text}");
        }
    }
}
