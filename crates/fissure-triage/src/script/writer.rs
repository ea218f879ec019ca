//! Values and calls as Python expressions, and what the script needs for them.

use std::collections::BTreeSet;

use fissure_model::{Api, Argument, ConcreteInput, Passing, Value, Way};

use super::dialect::{Dialect, choose};
use super::{literal, numpy};

/// A call up to this length stays on one line.
const LINE: usize = 88;

/// Collects imports and helper functions while expressions are written.
pub(super) struct Writer {
    pub dialect: &'static dyn Dialect,
    /// Modules to import by name.
    pub imports: BTreeSet<String>,
    /// Modules that may hold an object of the script without being imported by their package.
    pub parts: BTreeSet<String>,
    /// Source of helper functions, in the order in which they were first needed.
    pub helpers: Vec<&'static str>,
}

const IMPOSSIBLE: &str = r#"def cannot_build(what):
    """For a value that no library call makes."""
    raise NotImplementedError("cannot build " + what)
"#;

impl Writer {
    pub(super) fn new(api: &Api) -> Self {
        let mut writer = Writer {
            dialect: choose(api.tensors.as_ref().unwrap_or(&api.package)),
            imports: BTreeSet::new(),
            parts: BTreeSet::new(),
            helpers: Vec::new(),
        };
        writer.import(api.package.split('.').next().unwrap_or(&api.package));
        if let Some(library) = &api.tensors {
            writer.import(library);
        }
        for module in &api.imports {
            writer.import(module);
        }
        writer
    }

    pub(super) fn import(&mut self, module: &str) {
        if !self.imports.contains(module) {
            self.imports.insert(module.to_owned());
        }
    }

    pub(super) fn helper(&mut self, source: &'static str) {
        if !self.helpers.contains(&source) {
            self.helpers.push(source);
        }
    }

    /// An expression that fails with a clear message.
    pub(super) fn impossible(&mut self, what: &str) -> String {
        self.helper(IMPOSSIBLE);
        format!("cannot_build({})", literal::text(what))
    }

    /// `def call(): …`, whose body makes the call as the worker made it.
    pub(super) fn call_function(&mut self, api: &Api, input: &ConcreteInput) -> String {
        let target = self.object(&api.path);
        let mut text = String::from("def call():\n");
        match &input.layer_arguments {
            None => {
                let target = self.by_way(api, &target);
                let call = self.call(&target, &input.arguments);
                self.returned(&call, &mut text);
            }
            Some(arguments) => {
                let call = self.call(&target, &input.arguments);
                self.layer_made(&call, &mut text);
                let layer = self.by_way(api, "layer");
                let call = self.call(&layer, arguments);
                self.returned(&call, &mut text);
            }
        }
        text
    }

    /// What is called in place of `target`, where the worker had it compiled.
    fn by_way(&mut self, api: &Api, target: &str) -> String {
        let dialect = self.dialect;
        match api.way {
            Way::Eager => target.to_owned(),
            Way::Compiled | Way::Traced => dialect.compiled(self, target),
        }
    }

    fn layer_made(&self, call: &str, text: &mut String) {
        text.push_str(&format!("    layer = {call}\n"));
        if let Some(statement) = self.dialect.after_construction() {
            text.push_str(&format!("    {statement}\n"));
        }
    }

    fn returned(&self, call: &str, text: &mut String) {
        match self.dialect.after_call() {
            None => text.push_str(&format!("    return {call}\n")),
            Some(statement) => text.push_str(&format!(
                "    result = {call}\n    {statement}\n    return result\n"
            )),
        }
    }

    /// `def build(): …` and `def call(…): …`, for scripts that make the call several ways.
    pub(super) fn build_functions(&mut self, api: &Api, input: &ConcreteInput) -> String {
        let target = self.object(&api.path);
        let mut text = String::from("def build():\n    \"\"\"The arguments, made anew.\"\"\"\n");
        self.parts_of("arguments", "keywords", &input.arguments, &mut text);
        let Some(layer) = &input.layer_arguments else {
            text.push_str("    return arguments, keywords\n\n\ndef call(arguments, keywords):\n");
            self.returned(&format!("{target}(*arguments, **keywords)"), &mut text);
            return text;
        };
        self.parts_of("layer_arguments", "layer_keywords", layer, &mut text);
        let names = "arguments, keywords, layer_arguments, layer_keywords";
        text.push_str(&format!("    return {names}\n\n\ndef call({names}):\n"));
        self.layer_made(&format!("{target}(*arguments, **keywords)"), &mut text);
        self.returned("layer(*layer_arguments, **layer_keywords)", &mut text);
        text
    }

    /// Two statements: the positional arguments as a list, the others as a dictionary.
    fn parts_of(&mut self, list: &str, dictionary: &str, given: &[Argument], text: &mut String) {
        let mut positional = Vec::new();
        let mut keywords: Vec<String> = Vec::new();
        for argument in given {
            let value = self.value(&argument.value);
            match argument.passing {
                Passing::Positional => positional.push(value),
                Passing::Keyword => {
                    keywords.push(format!("{}: {value}", literal::text(&argument.name)));
                }
            }
        }
        for (name, open, parts, close) in [
            (list, '[', positional, ']'),
            (dictionary, '{', keywords, '}'),
        ] {
            let line = format!("    {name} = {open}{}{close}\n", parts.join(", "));
            if line.len() <= LINE && !line.trim_end().contains('\n') {
                text.push_str(&line);
                continue;
            }
            text.push_str(&format!("    {name} = {open}\n"));
            for part in parts {
                text.push_str(&format!("        {part},\n"));
            }
            text.push_str(&format!("    {close}\n"));
        }
    }

    fn call(&mut self, target: &str, arguments: &[Argument]) -> String {
        let mut parts = Vec::with_capacity(arguments.len());
        for argument in arguments
            .iter()
            .filter(|one| one.passing == Passing::Positional)
        {
            parts.push(self.value(&argument.value));
        }
        let keywords: Vec<&Argument> = arguments
            .iter()
            .filter(|one| one.passing == Passing::Keyword)
            .collect();
        for (at, argument) in keywords.iter().enumerate() {
            // A name given twice is an error in source text; a dictionary keeps the last.
            if keywords[at + 1..]
                .iter()
                .any(|later| later.name == argument.name)
            {
                continue;
            }
            let value = self.value(&argument.value);
            parts.push(if literal::is_keyword_name(&argument.name) {
                format!("{}={value}", argument.name)
            } else {
                format!("**{{{}: {value}}}", literal::text(&argument.name))
            });
        }
        let line = format!("{target}({})", parts.join(", "));
        if line.len() <= LINE && !line.contains('\n') {
            return line;
        }
        let mut text = format!("{target}(\n");
        for part in parts {
            text.push_str("        ");
            text.push_str(&part);
            text.push_str(",\n");
        }
        text.push_str("    )");
        text
    }

    /// An object by its dotted path.
    pub(super) fn object(&mut self, path: &str) -> String {
        if !literal::is_path(path) {
            return self.impossible(&format!("the object {path}"));
        }
        let package = path.split('.').next().unwrap_or(path);
        self.import(package);
        if let Some((parent, _)) = path.rsplit_once('.')
            && parent != package
            && !self.dialect.loaded_modules().contains(&parent)
            && !self.parts.contains(parent)
        {
            self.parts.insert(parent.to_owned());
        }
        path.to_owned()
    }

    pub(super) fn value(&mut self, value: &Value) -> String {
        match value {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => literal::float(*number),
            Value::Complex { re, im } => literal::complex(*re, *im),
            Value::Text(text) => literal::text(text),
            Value::Bytes(bytes) => literal::bytes(bytes),
            Value::List(items) => format!("[{}]", self.values(items)),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", self.values(items)),
            Value::Tuple(items) => format!("({})", self.values(items)),
            Value::Dict(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| format!("{}: {}", self.value(key), self.value(value)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Value::Tensor(tensor) => {
                let dialect = self.dialect;
                dialect.tensor(self, tensor)
            }
            Value::SparseTensor(tensor) => {
                let dialect = self.dialect;
                dialect.sparse(self, tensor)
            }
            Value::NdArray(tensor) => numpy::array(self, tensor),
            Value::Dtype(dtype) => {
                let dialect = self.dialect;
                dialect.dtype(self, *dtype)
            }
            Value::Object(path) => self.object(path),
            Value::Call { path, arguments } => {
                let target = self.object(path);
                format!("{target}({})", self.values(arguments))
            }
        }
    }

    fn values(&mut self, values: &[Value]) -> String {
        values
            .iter()
            .map(|value| self.value(value))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
