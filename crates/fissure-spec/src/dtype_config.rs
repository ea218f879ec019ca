//! DocTer's dtype configuration: which element types of a library are to be generated.

use std::path::Path;

use fissure_model::{Dtype, DtypeFamily, DtypeTerm};

use crate::error::{Problem, SpecError, Warning};
use crate::load::parse_file;
use crate::reader::Reader;
use crate::terms::parse_dtype;
use crate::yaml::Node;

/// A flat map from a library's element types to NumPy's. A type without a NumPy name exists all
/// the same and is built through the library.
#[derive(Clone, Debug, PartialEq)]
pub struct DtypeConfig {
    rows: Vec<DtypeRow>,
    /// Rows that were not understood.
    pub warnings: Vec<Warning>,
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct DtypeRow {
    /// The library's name (`tf.bfloat16`).
    pub name: String,
    /// The element type; `None` for `torch.dtype`, which names the type of dtype objects.
    pub dtype: Option<Dtype>,
    /// The file gives a NumPy counterpart.
    pub in_numpy: bool,
}

impl DtypeConfig {
    pub fn load(path: &Path) -> Result<DtypeConfig, SpecError> {
        let root = parse_file(path)?;
        let Some(entries) = root.map() else {
            return Err(SpecError {
                path: path.to_owned(),
                line: Some(root.line),
                column: Some(root.column),
                problem: Problem::WrongKind {
                    key: "the dtype configuration".into(),
                    expected: "a map from library dtypes to NumPy dtypes",
                    found: root.kind_name(),
                },
            });
        };
        let mut reader = Reader::new(path);
        let mut rows = Vec::new();
        for (key, value) in entries {
            let name = key.text().unwrap_or(key.kind_name());
            match parse_dtype(name) {
                Some(DtypeTerm::Exact(dtype)) => rows.push(row(name, Some(dtype), value)),
                Some(DtypeTerm::Family(DtypeFamily::Bool)) => {
                    rows.push(row(name, Some(Dtype::Bool), value))
                }
                Some(DtypeTerm::Family(DtypeFamily::String)) => {
                    rows.push(row(name, Some(Dtype::String), value));
                }
                Some(DtypeTerm::DtypeObject) => rows.push(row(name, None, value)),
                _ => reader.warn(key.line, None, name, "no known dtype; the row is ignored"),
            }
        }
        Ok(DtypeConfig {
            rows,
            warnings: reader.warnings,
        })
    }

    /// The element types to generate, each once, in the order of the file.
    pub fn dtypes(&self) -> Vec<Dtype> {
        let mut dtypes = Vec::new();
        for dtype in self.rows.iter().filter_map(|row| row.dtype) {
            if !dtypes.contains(&dtype) {
                dtypes.push(dtype);
            }
        }
        dtypes
    }

    pub fn rows(&self) -> &[DtypeRow] {
        &self.rows
    }

    /// Whether a document found in a folder is such a file: flat, and mostly dtypes.
    pub(crate) fn is_one(root: &Node) -> bool {
        let Some(entries) = root.map() else {
            return false;
        };
        let known = entries
            .iter()
            .filter(|(key, _)| key.text().and_then(parse_dtype).is_some())
            .count();
        entries.iter().all(|(_, value)| value.text().is_some()) && known * 2 > entries.len()
    }
}

fn row(name: &str, dtype: Option<Dtype>, value: &Node) -> DtypeRow {
    DtypeRow {
        name: name.to_owned(),
        dtype,
        in_numpy: !value.is_null(),
    }
}
