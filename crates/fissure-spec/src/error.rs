//! What can be wrong with a constraint file: errors end its loading, warnings do not.

use std::fmt;
use std::path::PathBuf;

/// A file that cannot be loaded.
#[derive(Debug)]
pub struct SpecError {
    pub path: PathBuf,
    /// From 1; unknown when the file could not be read at all.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
    pub problem: Problem,
}

/// Why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    #[error("is not UTF-8 text")]
    NotUtf8,
    #[error("YAML syntax: {0}")]
    Syntax(String),
    #[error("this is no constraint file: it has none of the keys `title`, `inputs`, `constraints`")]
    NotASpec,
    #[error("the required key `{0}` is missing")]
    MissingKey(String),
    #[error("`{key}` must be {expected}, but is {found}")]
    WrongKind {
        key: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("two parameters are called `{0}`")]
    DuplicateParameter(String),
}

impl Problem {
    /// What the user can do about it.
    pub fn help(&self) -> String {
        match self {
            Problem::Unreadable(_) => "check that the path exists and may be read".into(),
            Problem::NotUtf8 => "save the file as UTF-8".into(),
            Problem::Syntax(_) => {
                "correct the YAML here; texts with `:`, `[`, `*` or `&` need quotes".into()
            }
            Problem::NotASpec => "name a constraint file, or a folder to search for them".into(),
            Problem::MissingKey(key) => match key.as_str() {
                "title" => "add the API's name, such as `title: torch.add`".into(),
                "package" => "add the import name of the library, such as `package: torch`".into(),
                "inputs" => "add `inputs:` with the lists `required:` and `optional:`".into(),
                "constraints" => {
                    "add `constraints:` with one map per parameter (`{}` if none)".into()
                }
                other => format!("add `{other}:`"),
            },
            Problem::WrongKind { expected, .. } => format!("write {expected} here"),
            Problem::DuplicateParameter(name) => format!("list `{name}` once under `inputs`"),
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {} ({})", self.problem, self.problem.help())
    }
}

impl std::error::Error for SpecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// Something in a file that was not understood or is suspicious. The file still loads.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    pub param: Option<String>,
    /// The key of the file it is about (`dtype`, `shape`, `inputs`, …).
    pub key: String,
    pub message: String,
}

impl fmt::Display for Warning {
    /// `path:line: param: message`, one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file.display(), self.line)?;
        if let Some(param) = &self.param {
            write!(f, "{param}: ")?;
        }
        write!(f, "{}: {}", self.key, self.message)
    }
}
