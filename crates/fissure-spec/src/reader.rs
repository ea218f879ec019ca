//! What reading one file needs everywhere: its name, its parameters, its warnings.

use std::collections::HashSet;
use std::path::Path;

use crate::error::Warning;
use crate::yaml::{Node, NodeKind};

/// Collects what is odd while a file is read.
pub(crate) struct Reader<'a> {
    pub file: &'a Path,
    /// Names of all parameters, without stars.
    pub names: HashSet<String>,
    /// Free shape symbols that the file declares.
    pub symbols: HashSet<String>,
    pub package: String,
    pub warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a Path) -> Reader<'a> {
        Reader {
            file,
            names: HashSet::new(),
            symbols: HashSet::new(),
            package: String::new(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn warn(
        &mut self,
        line: u32,
        param: Option<&str>,
        key: &str,
        message: impl Into<String>,
    ) {
        self.warnings.push(Warning {
            file: self.file.to_owned(),
            line,
            param: param.map(str::to_owned),
            key: key.to_owned(),
            message: message.into(),
        });
    }

    /// Warns about keys that occur twice or that are none of `known`.
    pub(crate) fn check_keys(&mut self, map: &[(Node, Node)], param: Option<&str>, known: &[&str]) {
        let mut seen = HashSet::new();
        for (key, _) in map {
            let Some(text) = key.text() else {
                self.warn(
                    key.line,
                    param,
                    "key",
                    format!("{} as a key is ignored", key.kind_name()),
                );
                continue;
            };
            if !seen.insert(text) {
                self.warn(
                    key.line,
                    param,
                    text,
                    "the key is repeated; the last one counts",
                );
            } else if !known.contains(&text) {
                self.warn(key.line, param, text, "unknown key, ignored");
            }
        }
    }

    /// The texts of a list; a single text counts as a list of one. What is no text is warned about.
    pub(crate) fn texts(
        &mut self,
        node: &Node,
        param: Option<&str>,
        key: &str,
    ) -> Vec<(String, u32)> {
        let items = match &node.kind {
            _ if node.is_null() => return Vec::new(),
            NodeKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::new();
        for item in items {
            match item.text() {
                Some(text) => texts.push((text.to_owned(), item.line)),
                None => {
                    let found = item.kind_name();
                    self.warn(
                        item.line,
                        param,
                        key,
                        format!("expected a text, found {found}; ignored"),
                    );
                }
            }
        }
        texts
    }

    /// A `true` or `false`; anything else is a warning and counts as `false`.
    pub(crate) fn flag(&mut self, node: Option<&Node>, key: &str) -> bool {
        let Some(node) = node else { return false };
        match node.text() {
            Some("true" | "True") => true,
            Some("false" | "False") => false,
            _ => {
                self.warn(
                    node.line,
                    None,
                    key,
                    "expected `true` or `false`; read as `false`",
                );
                false
            }
        }
    }
}
