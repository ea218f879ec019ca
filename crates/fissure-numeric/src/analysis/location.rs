//! Lines and columns of byte offsets.

use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};

/// A part of a source file: lines count from 1, columns and byte offsets from 0.
///
/// Columns count bytes of UTF-8, as Python's own `ast` and tracebacks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
    pub start: usize,
    pub end: usize,
}

/// Finds the line of a byte offset.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub fn new(source: &str) -> LineIndex {
        // Python ends a line at a line feed, a carriage return, or both together.
        let bytes = source.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(offset, &byte)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(offset + 1) != Some(&b'\n'))
        });
        let mut starts = vec![0];
        starts.extend(ends.map(|(offset, _)| offset + 1));
        LineIndex { starts }
    }

    /// Line from 1 and column from 0.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        (line, offset - self.starts[line - 1])
    }

    pub(crate) fn span(&self, node: &impl Ranged) -> Span {
        let (start, end) = (node.start().to_usize(), node.end().to_usize());
        let (line, column) = self.position(start);
        let (end_line, end_column) = self.position(end);
        Span {
            line,
            column,
            end_line,
            end_column,
            start,
            end,
        }
    }
}
