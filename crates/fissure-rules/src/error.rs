//! What is wrong with a rule, and where.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::syntax::Span;

/// A rule that cannot be read or does not make sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The place in the text that was read.
    pub span: Span,
}

impl RuleError {
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        RuleError {
            message: message.into(),
            help: None,
            span,
        }
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error in a text of which the rule is the part that starts at `offset`.
    pub fn moved(mut self, offset: usize) -> Self {
        self.span = self.span.start + offset..self.span.end + offset;
        self
    }

    /// Line and column from 1, in characters.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = &source[..boundary(source, self.span.start)];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// The error under the line of `source` it is about. `styled` adds the colours of a terminal.
    pub fn render(&self, source: &str, path: &str, styled: bool) -> String {
        let renderer = if styled {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let start = boundary(source, self.span.start);
        let end = boundary(source, self.span.end.max(start));
        let group = Level::ERROR.primary_title(self.message.as_str()).element(
            Snippet::source(source)
                .path(path)
                .annotation(AnnotationKind::Primary.span(start..end)),
        );
        match &self.help {
            Some(help) => renderer.render(&[group.element(Level::HELP.message(help.as_str()))]),
            None => renderer.render(&[group]),
        }
    }
}

/// The nearest character boundary at or before `at`.
fn boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// ` (did you mean …?)` material: the candidate that looks most like `word`.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
