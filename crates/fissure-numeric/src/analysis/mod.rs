//! Call sites, input sources and regions of a Python program, from its source.
//!
//! Nothing is executed here. The result says where a program calls unstable functions, in whatever
//! form it wrote them, which assignments create the values the search may change, which part of the
//! program is marked for the search, and what its functions accept.

mod inputs;
mod location;
pub(crate) mod names;
mod region;
mod signature;
mod sites;
mod syntax;

use std::path::{Path, PathBuf};

use ruff_python_parser::parse_module;
use serde::{Deserialize, Serialize};

pub use inputs::{InputSource, SourceKind};
pub use location::{LineIndex, Span};
pub use region::Region;
pub use signature::{Parameter, ParameterKind, Signature};
pub use sites::{Argument, Form, Site};
pub use syntax::SyntaxError;

use crate::registry::Registry;

/// What the source of one Python file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    pub file: PathBuf,
    /// Unstable call sites in the order of the source.
    pub sites: Vec<Site>,
    /// Assignments that create values the search may change.
    pub inputs: Vec<InputSource>,
    /// Parts between `start_fuzz()` and `end_fuzz()`; empty when the whole program is meant.
    pub regions: Vec<Region>,
    /// Every function and method.
    pub signatures: Vec<Signature>,
    /// Local name → dotted name, for imports and plain aliases (`F` → `torch.nn.functional`).
    pub imports: std::collections::BTreeMap<String, String>,
}

impl Analysis {
    /// The function or method with this qualified name (`focal_loss`, `Model.forward`).
    pub fn signature(&self, qualified_name: &str) -> Option<&Signature> {
        self.signatures
            .iter()
            .find(|signature| signature.qualified_name == qualified_name)
    }
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
        inputs: inputs::collect(source, &module.body, &names, &lines),
        regions,
        signatures: signature::collect(source, &module.body, &lines),
        imports: names.into_imports(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
