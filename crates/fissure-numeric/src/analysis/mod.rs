//! Call sites and regions of a Python program, from its source.
//!
//! Nothing is executed here. The result says where a program calls unstable functions, in whatever
//! form it wrote them, and which part of the program is marked for the search.

mod location;
pub(crate) mod names;
mod region;
mod sites;
mod syntax;

use std::path::{Path, PathBuf};

use ruff_python_parser::parse_module;

pub use location::{LineIndex, Span};
pub use region::Region;
pub use sites::{Argument, Form, Site};
pub use syntax::SyntaxError;

use crate::registry::Registry;

/// What the source of one Python file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    pub file: PathBuf,
    /// Unstable call sites in the order of the source.
    pub sites: Vec<Site>,
    /// Parts between `start_fuzz()` and `end_fuzz()`; empty when the whole program is meant.
    pub regions: Vec<Region>,
    /// Local name → dotted name, for imports and plain aliases (`F` → `torch.nn.functional`).
    pub imports: std::collections::BTreeMap<String, String>,
}

/// Whether the source of `file`, which is not read, is Python.
pub fn check_syntax(source: &str, file: &Path) -> Result<(), SyntaxError> {
    match parse_module(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(SyntaxError::new(
            source,
            file,
            &LineIndex::new(source),
            &error,
        )),
    }
}

/// Analyses the source of `file`, which is not read.
pub fn analyse(source: &str, file: &Path, registry: &Registry) -> Result<Analysis, SyntaxError> {
    let lines = LineIndex::new(source);
    let module = parse_module(source)
        .map_err(|error| SyntaxError::new(source, file, &lines, &error))?
        .into_syntax();
    let names = names::Names::collect(&module.body, registry);
    let regions = region::collect(&module.body, &names, &lines);
    let mut sites = sites::collect(source, &module.body, &names, &lines, registry);
    for site in &mut sites {
        site.in_region = regions.iter().any(|region| region.contains(site.span.line));
    }
    Ok(Analysis {
        file: file.to_owned(),
        sites,
        regions,
        imports: names.into_imports(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
