//! Stable rewrites as text edits.
//!
//! A rule recognises an expression that fails in a known way and says what to write instead. Rules
//! only propose: whether a rewrite removes the failure and leaves ordinary results alone is found
//! out by running the edited program. The registry says which rules may help which function, best
//! first.

mod across;
mod assemble;
mod context;
mod operation;
mod rules;
mod scope;

use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

pub use across::log_of_softmax_elsewhere;

use crate::analysis::{Analysis, Site};
use crate::registry::Registry;
use rules::dialect::Dialect;

/// Replaces the bytes from `start` to `end` of a source by `text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// One proposal for one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The rule, as the registry names it.
    pub rule: String,
    pub title: String,
    /// Ascending and without overlap.
    pub edits: Vec<TextEdit>,
    pub explanation: String,
}

impl Fix {
    /// Keeps an operand away from where the function fails instead of computing it another way.
    pub fn is_guard(&self) -> bool {
        self.rule.ends_with("_clamp") || self.rule == "widen" || self.rule == "logit_eps"
    }
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::embedded);

/// The fixes that may help a site, best first; empty when no rule recognises it.
pub fn propose(analysis: &Analysis, site: &Site, source: &str) -> Vec<Fix> {
    let Some(function) = REGISTRY.get(&site.function) else {
        return Vec::new();
    };
    // The analysis parsed the same text, so a parse error means that `source` is another one.
    let Ok(parsed) = ruff_python_parser::parse_module(source) else {
        return Vec::new();
    };
    let module = parsed.into_syntax();
    let Some(context) = context::Context::new(source, &module.body, analysis, site) else {
        return Vec::new();
    };
    let mut fixes: Vec<Fix> = Vec::new();
    if let Some(dialect) = Dialect::of(&context) {
        for (name, rewrite) in rules::dialect::rewrites(&context, dialect) {
            let fix = assemble::assemble(name, std::slice::from_ref(&rewrite), &context);
            fixes.extend(fix.filter(|fix| apply(source, fix) != source));
        }
        return fixes;
    }
    for name in &function.rewrites {
        let at_site = rules::rewrites(name, &context);
        if at_site.is_empty() {
            continue;
        }
        // The same pattern often stands twice in a statement, as in log(p) + log(1 - p).
        let in_statement = rules::rewrites_in_statement(name, &context);
        let singly = at_site.iter().map(std::slice::from_ref);
        for rewrites in singly.chain([in_statement.as_slice()]) {
            let Some(fix) = assemble::assemble(name, rewrites, &context) else {
                continue;
            };
            let repeated = fixes.iter().any(|other| other.edits == fix.edits);
            if !repeated && apply(source, &fix) != source {
                fixes.push(fix);
            }
        }
    }
    fixes
}

/// The source with a fix applied.
pub fn apply(source: &str, fix: &Fix) -> String {
    let mut text = source.to_owned();
    for edit in fix.edits.iter().rev() {
        text.replace_range(edit.start..edit.end, &edit.text);
    }
    text
}

/// A unified diff between two versions of a file, as `git apply` and `patch -p1` read it.
pub fn diff(file: &Path, before: &str, after: &str) -> String {
    // Patches name files from the root of the project.
    let name = file.to_string_lossy();
    let name = name.trim_start_matches('/');
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

#[cfg(test)]
mod tests;
