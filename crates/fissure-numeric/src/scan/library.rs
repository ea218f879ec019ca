//! Which libraries a program computes with, from what it imports.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_parser::parse_module;

/// An array library that the runtime can watch. NumPy is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    Torch,
    Tensorflow,
    Jax,
}

impl Library {
    /// The package that is imported.
    pub fn package(self) -> &'static str {
        match self {
            Library::Torch => "torch",
            Library::Tensorflow => "tensorflow",
            Library::Jax => "jax",
        }
    }

    /// The library behind an imported top-level package; packages built on one count too.
    fn behind(package: &str) -> Option<Library> {
        match package {
            "torch" | "torchvision" | "torchaudio" | "pytorch_lightning" | "lightning" => {
                Some(Library::Torch)
            }
            "tensorflow" | "keras" | "tf_keras" | "tensorflow_probability" => {
                Some(Library::Tensorflow)
            }
            "jax" | "flax" | "optax" | "equinox" | "haiku" | "chex" => Some(Library::Jax),
            _ => None,
        }
    }
}

/// The libraries that a source imports, anywhere in it. A source that does not parse names none:
/// its error is reported elsewhere.
pub fn imported(source: &str) -> BTreeSet<Library> {
    let mut finder = Finder::default();
    if let Ok(parsed) = parse_module(source) {
        finder.visit_body(&parsed.into_syntax().body);
    }
    finder.found
}

#[derive(Default)]
struct Finder {
    found: BTreeSet<Library>,
}

impl Finder {
    fn note(&mut self, module: &str) {
        let top = module.split('.').next().unwrap_or(module);
        self.found.extend(Library::behind(top));
    }
}

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.note(alias.name.as_str());
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                if let Some(module) = &import.module {
                    self.note(module.as_str());
                }
            }
            _ => walk_stmt(self, statement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_name_the_libraries_wherever_they_stand() {
        let source = "import numpy as np\ndef f():\n    from jax import numpy as jnp\n";
        assert_eq!(imported(source), BTreeSet::from([Library::Jax]));
        assert_eq!(
            imported("import tensorflow.compat.v1 as tf"),
            BTreeSet::from([Library::Tensorflow])
        );
        assert_eq!(
            imported("from keras import layers\nimport torch.nn as nn"),
            BTreeSet::from([Library::Torch, Library::Tensorflow])
        );
    }

    #[test]
    fn a_word_in_a_comment_is_no_import() {
        assert!(imported("# like torch.log\nimport numpy").is_empty());
    }
}
