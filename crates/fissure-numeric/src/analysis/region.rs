//! The parts of a program that its author marked for the search.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use serde::{Deserialize, Serialize};

use super::location::LineIndex;
use super::names::Names;

/// From the line of `start_fuzz()` to that of `end_fuzz()`.
///
/// Both this program's own import and that of Soft Assertion Fuzzer are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    pub start_line: usize,
    /// Missing when no `end_fuzz()` follows: the region reaches to the end of the program.
    pub end_line: Option<usize>,
}

impl Region {
    pub fn contains(&self, line: usize) -> bool {
        line > self.start_line && self.end_line.is_none_or(|end| line < end)
    }
}

pub(super) fn collect(body: &[Stmt], names: &Names, lines: &LineIndex) -> Vec<Region> {
    let mut collector = Collector {
        names,
        lines,
        marks: Vec::new(),
    };
    collector.visit_body(body);
    let mut regions: Vec<Region> = Vec::new();
    for (line, mark) in collector.marks {
        match mark {
            Mark::Start => {
                // A second start before an end does not open a second region.
                if regions.last().is_none_or(|last| last.end_line.is_some()) {
                    regions.push(Region {
                        start_line: line,
                        end_line: None,
                    });
                }
            }
            Mark::End => {
                if let Some(open) = regions.last_mut().filter(|last| last.end_line.is_none()) {
                    open.end_line = Some(line);
                }
            }
        }
    }
    regions
}

enum Mark {
    Start,
    End,
}

struct Collector<'a> {
    names: &'a Names,
    lines: &'a LineIndex,
    marks: Vec<(usize, Mark)>,
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Expr(expression) = statement
            && let Expr::Call(call) = &*expression.value
            && let Some(full) = self.names.resolve(&call.func)
            && matches!(full.split('.').next(), Some("fissure" | "softassertion"))
        {
            let line = self.lines.span(statement).line;
            match full.rsplit('.').next() {
                Some("start_fuzz") => self.marks.push((line, Mark::Start)),
                Some("end_fuzz") => self.marks.push((line, Mark::End)),
                _ => {}
            }
        }
        walk_stmt(self, statement);
    }
}
