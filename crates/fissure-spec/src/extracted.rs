//! A constraint file as it is extracted from an installed library: plain lists of texts, which are
//! written as YAML and, before that, take over what people changed in an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::settings::{YamlError, yaml_value};

/// Keys of a parameter that hold lists of alternatives, in the order in which they are written.
pub const CONSTRAINT_KEYS: [&str; 7] = [
    "tensor_t",
    "structure",
    "dtype",
    "ndim",
    "shape",
    "range",
    "enum",
];
const INPUT_KEYS: [&str; 5] = [
    "required",
    "optional",
    "keyword_only",
    "deprecated",
    "layer",
];

/// The content of one constraint file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractedFile {
    pub title: String,
    pub package: String,
    pub target: String,
    pub version: String,
    pub link: String,
    pub aliases: Vec<String>,
    pub layer_constructor: bool,
    pub inputs: BTreeMap<String, Vec<String>>,
    /// By the parameter's name with its stars.
    pub constraints: BTreeMap<String, ExtractedParam>,
    /// Further keys that people gave the file.
    #[serde(skip)]
    pub others: BTreeMap<String, Json>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtractedParam {
    pub descp: Option<String>,
    pub doc_dtype: Option<String>,
    pub default: Option<String>,
    /// `KEY VALUE | how sure | source: text`, one for each constraint that was extracted.
    pub evidence: Vec<String>,
    /// The lists of [`CONSTRAINT_KEYS`].
    #[serde(flatten)]
    pub lists: BTreeMap<String, Vec<String>>,
}

impl ExtractedFile {
    /// Reads what [`ExtractedFile::to_yaml`] wrote and people may have changed.
    pub fn from_yaml(text: &str) -> Result<ExtractedFile, YamlError> {
        let document = yaml_value(text)?;
        let word = |key: &str| document.get(key).map(plain).unwrap_or_default();
        let mut file = ExtractedFile {
            title: word("title"),
            package: word("package"),
            target: word("target"),
            version: word("version"),
            link: word("link"),
            aliases: texts(document.get("aliases")),
            layer_constructor: document.get("layer_constructor") == Some(&Json::Bool(true)),
            ..ExtractedFile::default()
        };
        let inputs = document.get("inputs").and_then(Json::as_object);
        for (key, names) in inputs.into_iter().flatten() {
            file.inputs.insert(key.clone(), texts(Some(names)));
        }
        let constraints = document.get("constraints").and_then(Json::as_object);
        for (name, entry) in constraints.into_iter().flatten() {
            file.constraints.insert(name.clone(), param(entry));
        }
        let known = [
            "title",
            "package",
            "target",
            "version",
            "link",
            "aliases",
            "layer_constructor",
            "inputs",
            "constraints",
        ];
        for (key, value) in document.as_object().into_iter().flatten() {
            if !known.contains(&key.as_str()) {
                file.others.insert(key.clone(), value.clone());
            }
        }
        Ok(file)
    }

    /// Takes over what people changed in `earlier`: lists that are not what its own evidence says
    /// was extracted, descriptions, and keys of the file. Gives what was kept, for the user.
    pub fn keep_edits(&mut self, earlier: &ExtractedFile) -> Vec<String> {
        let mut kept = Vec::new();
        for (name, old) in &earlier.constraints {
            let Some(new) = self.constraints.get_mut(name) else {
                continue;
            };
            for key in CONSTRAINT_KEYS {
                let written = old.lists.get(key).map_or(&[][..], Vec::as_slice);
                let extracted = old.extracted(key);
                if same(written, &extracted) {
                    continue;
                }
                kept.push(format!("{name}: {key}"));
                new.lists.remove(key);
                if !written.is_empty() {
                    new.lists.insert(key.to_owned(), written.to_vec());
                }
                // The evidence stays what the library said, so that the edit is seen again.
            }
            // So does what behaviour showed.
            let shown = old.evidence.iter();
            let shown = shown.filter(|line| line.contains(" | behaviour: "));
            for line in shown {
                if !new.evidence.contains(line) {
                    new.evidence.push(line.clone());
                }
            }
            if old.descp.is_some() {
                new.descp.clone_from(&old.descp);
            }
        }
        for (key, value) in &earlier.others {
            kept.push(key.clone());
            self.others.insert(key.clone(), value.clone());
        }
        kept
    }

    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        for (key, value) in [
            ("title", &self.title),
            ("package", &self.package),
            ("target", &self.target),
            ("version", &self.version),
            ("link", &self.link),
        ] {
            let _ = writeln!(out, "{key}: {}", quoted(value));
        }
        if !self.aliases.is_empty() {
            let _ = writeln!(out, "aliases: {}", list(&self.aliases));
        }
        if self.layer_constructor {
            out.push_str("layer_constructor: true\n");
        }
        for (key, value) in &self.others {
            // JSON is YAML.
            let _ = writeln!(out, "{key}: {value}");
        }
        out.push_str("inputs:\n");
        for key in INPUT_KEYS {
            let names = self.inputs.get(key);
            match names {
                Some(names) => {
                    let _ = writeln!(out, "  {key}: {}", list(names));
                }
                None if matches!(key, "required" | "optional") => {
                    let _ = writeln!(out, "  {key}: []");
                }
                None => {}
            }
        }
        if self.constraints.is_empty() {
            out.push_str("constraints: {}\n");
            return out;
        }
        out.push_str("constraints:\n");
        for name in self.order() {
            let _ = writeln!(out, "  {}:", quoted(name));
            self.constraints[name].write(&mut out);
        }
        out
    }

    /// The parameters as `inputs` lists them, then the rest.
    fn order(&self) -> Vec<&String> {
        let listed = INPUT_KEYS.iter().filter_map(|key| self.inputs.get(*key));
        let mut names: Vec<&String> = Vec::new();
        for name in listed.flatten().chain(self.constraints.keys()) {
            if self.constraints.contains_key(name) && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl ExtractedParam {
    /// What the evidence says was extracted under a key.
    fn extracted(&self, key: &str) -> Vec<String> {
        let lines = self.evidence.iter();
        let facts = lines.filter_map(|line| line.split(" | ").next()?.split_once(' '));
        facts
            .filter(|(of, _)| *of == key)
            .map(|(_, value)| value.to_owned())
            .collect()
    }

    fn write(&self, out: &mut String) {
        let mut empty = true;
        for (key, value) in [
            ("descp", &self.descp),
            ("doc_dtype", &self.doc_dtype),
            ("default", &self.default),
        ] {
            if let Some(value) = value {
                let _ = writeln!(out, "    {key}: {}", quoted(value));
                empty = false;
            }
        }
        for key in CONSTRAINT_KEYS {
            if let Some(values) = self.lists.get(key).filter(|values| !values.is_empty()) {
                let _ = writeln!(out, "    {key}: {}", list(values));
                empty = false;
            }
        }
        if !self.evidence.is_empty() {
            out.push_str("    evidence:\n");
            for line in &self.evidence {
                let _ = writeln!(out, "      - {}", quoted(line));
            }
            empty = false;
        }
        if empty {
            // A key without a value is null, which is what an unconstrained parameter has.
            out.pop();
            out.push_str(" {}\n");
        }
    }
}

fn param(entry: &Json) -> ExtractedParam {
    let word = |key: &str| entry.get(key).filter(|value| !value.is_null()).map(plain);
    let mut found = ExtractedParam {
        descp: word("descp"),
        doc_dtype: word("doc_dtype"),
        default: word("default"),
        evidence: texts(entry.get("evidence")),
        lists: BTreeMap::new(),
    };
    for key in CONSTRAINT_KEYS {
        let values = texts(entry.get(key));
        if !values.is_empty() {
            found.lists.insert(key.to_owned(), values);
        }
    }
    found
}

fn same(left: &[String], right: &[String]) -> bool {
    left.len() == right.len() && left.iter().all(|value| right.contains(value))
}

fn texts(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::Array(items)) => items.iter().map(plain).collect(),
        Some(Json::Null) | None => Vec::new(),
        Some(one) => vec![plain(one)],
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        // The words of Python, as these files have them.
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

fn list(values: &[String]) -> String {
    let items: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    format!("[{}]", items.join(", "))
}

/// A scalar that YAML reads back as this text: quoted unless it is a plain word.
fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "._".contains(letter));
    let word = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if plain && !word.contains(&text.to_lowercase().as_str()) {
        return text.to_owned();
    }
    // In single quotes a line break would become a blank.
    let flat: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    format!("'{}'", flat.replace('\'', "''"))
}
