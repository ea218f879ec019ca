//! The table as a whole: reading, checking, looking up.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use rust_embed::RustEmbed;
use serde::Deserialize;

use crate::function::is_listed_library;
use crate::names::normal;
use crate::{Function, Object, Operation, Operations, Property, Twin, Unstable};

#[derive(RustEmbed)]
#[folder = "../../data/functions"]
#[include = "*.toml"]
struct Embedded;

/// Why a table is refused.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("failed to read {file} of the table of functions: {error}")]
    Syntax {
        file: String,
        error: Box<toml::de::Error>,
    },
    #[error("function `{function}`: {problem}")]
    Invalid { function: String, problem: String },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    function: Vec<Function>,
    #[serde(default)]
    unstable: Vec<Unstable>,
    #[serde(default)]
    twin: Vec<Twin>,
    #[serde(default)]
    operation: Vec<Operation>,
    #[serde(default)]
    object: Vec<Object>,
    #[serde(default)]
    unwatched: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    watched: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    same: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    data: BTreeMap<String, Vec<String>>,
}

/// Everything that is known about functions.
#[derive(Clone, Debug, Default)]
pub struct Table {
    functions: Vec<Function>,
    unstable: Vec<Unstable>,
    twins: Vec<Twin>,
    operations: Operations,
    objects: Vec<Object>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
}

/// The table that ships with the program.
pub fn functions() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::read(embedded()).expect("the embedded table is valid: a test reads the same files")
    });
    &TABLE
}

fn embedded() -> BTreeMap<String, String> {
    let files = Embedded::iter().filter_map(|path| {
        let file = Embedded::get(&path)?;
        let text = String::from_utf8_lossy(&file.data).into_owned();
        Some((path.to_string(), text))
    });
    files.collect()
}

impl Table {
    /// Reads and checks files, given as texts by their names.
    pub fn read(files: BTreeMap<String, String>) -> Result<Table, TableError> {
        let mut table = Table::default();
        for (file, text) in files {
            let read: File = toml::from_str(&text).map_err(|error| TableError::Syntax {
                file: file.clone(),
                error: Box::new(error),
            })?;
            for function in read.function {
                table.insert(function)?;
            }
            table.unstable.extend(read.unstable);
            table.twins.extend(read.twin);
            table.objects.extend(read.object);
            let added = (table.operations).add(read.operation, read.unwatched, read.same);
            added.map_err(|(function, problem)| TableError::Invalid { function, problem })?;
            table.operations.watched.extend(read.watched);
            table.operations.data.extend(read.data);
        }
        table.check_unstable()?;
        Ok(table)
    }

    fn insert(&mut self, function: Function) -> Result<(), TableError> {
        let refuse = |problem: String| TableError::Invalid {
            function: function.name.clone(),
            problem,
        };
        let index = self.functions.len();
        if function.listed().next().is_none() {
            return Err(refuse("has no name in any library".to_owned()));
        }
        for (name, prefix) in function.listed() {
            if !name.starts_with(prefix) {
                let problem = format!("the name `{name}` does not start with `{prefix}`");
                return Err(refuse(problem));
            }
        }
        if let Some(range) = &function.range
            && let (Some(low), Some(high)) = (range.low, range.high)
            && low >= high
        {
            return Err(refuse(format!("the range [{low}, {high}] is empty")));
        }
        for (name, _) in function.listed() {
            if let Some(other) = self.by_path.insert(name.to_owned(), index) {
                let other = &self.functions[other].name;
                let problem = format!("the name `{name}` already belongs to `{other}`");
                return Err(refuse(problem));
            }
        }
        // A form that follows gives way to a name that is listed, wherever that stands.
        if self.by_name.insert(function.name.clone(), index).is_some() {
            return Err(refuse("is listed twice".to_owned()));
        }
        self.functions.push(function);
        Ok(())
    }

    fn check_unstable(&mut self) -> Result<(), TableError> {
        for (index, function) in self.functions.iter().enumerate() {
            for form in function.all_names() {
                self.by_path.entry(form).or_insert(index);
            }
        }
        let mut seen: HashMap<&str, &str> = HashMap::new();
        for entry in &self.unstable {
            let refuse = |problem: String| TableError::Invalid {
                function: entry.name.clone(),
                problem,
            };
            if let Some(problem) = entry.problem() {
                return Err(refuse(problem));
            }
            for name in &entry.functions {
                if !self.by_name.contains_key(name) {
                    return Err(refuse(format!("there is no function `{name}`")));
                }
                if let Some(other) = seen.insert(name, &entry.name) {
                    return Err(refuse(format!("`{name}` is part of `{other}` too")));
                }
            }
        }
        let mut names: Vec<&str> = self.unstable.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TableError::Invalid {
                function: pair[0].to_owned(),
                problem: "is listed twice".to_owned(),
            });
        }
        Ok(())
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub fn unstable(&self) -> &[Unstable] {
        &self.unstable
    }

    pub fn twins(&self) -> &[Twin] {
        &self.twins
    }

    /// What rejections miss, with the calls that make it.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// What a scan sees.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// By canonical name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name).map(|&index| &self.functions[index])
    }

    /// By a dotted path, as `torch.nn.functional.relu_`. A path outside the libraries of the table is the
    /// function whose canonical name its last part is.
    pub fn find(&self, path: &str) -> Option<&Function> {
        let path = normal(path);
        if let Some(&index) = self.by_path.get(&path) {
            return Some(&self.functions[index]);
        }
        let root = path.split('.').next().unwrap_or(&path);
        if is_listed_library(root) {
            return None;
        }
        self.get(path.rsplit('.').next()?.trim_end_matches('_'))
    }

    pub fn has(&self, path: &str, property: Property) -> bool {
        self.find(path)
            .is_some_and(|function| function.has(property))
    }
}

/// The part of the table that workers need, for `fissure_worker/functions.py`; in the words of the files.
pub fn worker_json() -> &'static str {
    static JSON: LazyLock<String> = LazyLock::new(|| {
        let table = functions();
        serde_json::json!({"function": table.functions(), "twin": table.twins()}).to_string()
    });
    &JSON
}

#[cfg(test)]
mod tests;
