//! A source that is not valid Python.

use std::path::{Path, PathBuf};

use ruff_python_parser::ParseError;

use super::location::LineIndex;

/// The first syntax error of a file; displays the line and a caret under the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{}: {message}\n    {source_line}\n    {caret}", file.display(), column + 1)]
pub struct SyntaxError {
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 0, in bytes.
    pub column: usize,
    pub message: String,
    /// The text of the line, without its end.
    pub source_line: String,
    /// Spaces and `^`, to stand below `source_line`.
    pub caret: String,
}

impl SyntaxError {
    pub(super) fn new(
        source: &str,
        file: &Path,
        lines: &LineIndex,
        error: &ParseError,
    ) -> SyntaxError {
        // An error at the very end of the source points behind the last line break.
        let offset = error.location.start().to_usize();
        let offset = offset.min(source.trim_end().len());
        let (line, column) = lines.position(offset);
        let source_line = source.lines().nth(line - 1).unwrap_or("").to_owned();
        let width = source_line
            .char_indices()
            .take_while(|&(index, _)| index < column)
            .count();
        // Tabs stay tabs, so that the caret stands where the terminal shows the place.
        let padding: String = source_line
            .chars()
            .take(width)
            .map(|character| if character == '\t' { '\t' } else { ' ' })
            .collect();
        SyntaxError {
            file: file.to_owned(),
            line,
            column,
            message: error.error.to_string(),
            caret: format!("{padding}^"),
            source_line,
        }
    }
}
