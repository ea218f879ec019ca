//! From a rule's rewrite to the edits of a file: dropped assignments, missing imports, order.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::context::{Assignment, Context};
use super::{Fix, TextEdit};

/// What a rule wants to write.
pub(super) struct Rewrite<'a> {
    pub title: String,
    pub explanation: String,
    /// The expression (or statement) that is replaced and its new text.
    pub replaced: TextRange,
    pub text: String,
    /// Edits elsewhere that belong to it.
    pub also: Vec<(TextRange, String)>,
    /// Assignments the rule looked through: dropped when nothing else reads them.
    pub through: Vec<Assignment<'a>>,
}

impl Rewrite<'_> {
    /// Whether the rewrite replaces the site, something around it, or a part of it.
    pub(super) fn concerns(&self, site: TextRange) -> bool {
        self.replaced.contains_range(site)
            || site.contains_range(self.replaced)
            || self
                .through
                .iter()
                .any(|assignment| assignment.statement.contains_range(site))
    }
}

/// One fix of one or several rewrites by the same rule; a rewrite that overlaps an earlier one is
/// left out.
pub(super) fn assemble(rule: &str, rewrites: &[Rewrite<'_>], context: &Context<'_>) -> Option<Fix> {
    let first = rewrites.first()?;
    let mut accepted: Vec<&Rewrite<'_>> = Vec::new();
    for rewrite in rewrites {
        let overlaps = |other: &&Rewrite<'_>| other.replaced.intersect(rewrite.replaced).is_some();
        if !accepted.iter().any(overlaps) {
            accepted.push(rewrite);
        }
    }
    // Two statements in front would define the same name twice.
    let has_helper = |rewrite: &&Rewrite<'_>| {
        let mut ranges = rewrite.also.iter().map(|(range, _)| range);
        ranges.any(|range| range.is_empty())
    };
    if accepted.len() > 1 && accepted.iter().any(has_helper) {
        return None;
    }
    let replaced: Vec<TextRange> = accepted.iter().map(|rewrite| rewrite.replaced).collect();
    let mut edits = Vec::new();
    let mut text = String::new();
    for rewrite in &accepted {
        edits.push(edit(rewrite.replaced, rewrite.text.clone()));
        text.push_str(&rewrite.text);
        text.push('\n');
        for (range, other) in &rewrite.also {
            edits.push(edit(*range, other.clone()));
        }
        for assignment in &rewrite.through {
            if context.is_read_outside(assignment, &replaced) {
                continue;
            }
            if let Some(lines) = whole_lines(context.source, assignment.statement) {
                edits.push(TextEdit {
                    start: lines.start,
                    end: lines.end,
                    text: String::new(),
                });
            }
        }
    }
    edits.extend(missing_imports(&text, context));
    edits.sort_by_key(|edit| (edit.start, edit.end));
    edits.dedup();
    let title = match accepted.len() {
        1 => first.title.clone(),
        count => format!("{} ({count} times in the statement)", first.title),
    };
    Some(Fix {
        rule: rule.to_owned(),
        title,
        edits,
        explanation: first.explanation.clone(),
    })
}

fn edit(range: TextRange, text: String) -> TextEdit {
    TextEdit {
        start: range.start().to_usize(),
        end: range.end().to_usize(),
        text,
    }
}

/// The lines of a statement with their end, if it stands alone on them.
fn whole_lines(source: &str, statement: TextRange) -> Option<std::ops::Range<usize>> {
    let (start, end) = (statement.start().to_usize(), statement.end().to_usize());
    let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = source[end..]
        .find('\n')
        .map_or(source.len(), |newline| end + newline + 1);
    let before = &source[line_start..start];
    let after = source[end..line_end].trim();
    let alone = before.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
    alone.then_some(line_start..line_end)
}

/// `import` lines for libraries that the new text names and the file does not import.
fn missing_imports(text: &str, context: &Context<'_>) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    for (local, full, line) in [
        ("math", "math", "import math\n"),
        ("np", "numpy", "import numpy as np\n"),
        ("torch", "torch", "import torch\n"),
    ] {
        let imported = context
            .names
            .imports()
            .get(local)
            .is_some_and(|target| target == full);
        if names_library(text, local) && !imported {
            let offset = import_offset(context.source, context.module);
            edits.push(TextEdit {
                start: offset,
                end: offset,
                text: line.to_owned(),
            });
        }
    }
    edits
}

fn names_library(text: &str, local: &str) -> bool {
    text.match_indices(local).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + local.len()..].chars().next();
        after == Some('.')
            && before.is_none_or(|letter| !letter.is_alphanumeric() && !"_.".contains(letter))
    })
}

/// Before the first import; without one, behind the docstring.
fn import_offset(source: &str, module: &[Stmt]) -> usize {
    let is_future = |statement: &Stmt| {
        matches!(statement, Stmt::ImportFrom(import)
            if import.module.as_ref().is_some_and(|name| name.as_str() == "__future__"))
    };
    let first_import = module.iter().find(|statement| {
        matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) && !is_future(statement)
    });
    if let Some(import) = first_import {
        return import.start().to_usize();
    }
    let head = module.iter().take_while(|statement| {
        is_future(statement)
            || matches!(statement, Stmt::Expr(text)
                if matches!(&*text.value, Expr::StringLiteral(_)))
    });
    match head.last() {
        Some(last) => {
            let end = last.end().to_usize();
            source[end..]
                .find('\n')
                .map_or(source.len(), |newline| end + newline + 1)
        }
        None => 0,
    }
}
