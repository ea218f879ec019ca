//! The arguments of a call under names, and what a check put in their places.

use std::collections::BTreeMap;

use fissure_model::{Api, Argument, ConcreteInput, Passing, Value, Way};

use super::super::literal;
use super::super::writer::Writer;
use super::source::{closing, has_word, is_chain, words};

/// A call up to this length stays on one line.
const LINE: usize = 96;

/// The four parts of the arguments, as checks name them.
pub(super) const PARTS: [&str; 4] = ["layer_arguments", "layer_keywords", "arguments", "keywords"];

/// `keywords` and `'input'`, or `arguments` and `0`.
pub(super) type Key = (&'static str, String);

/// Expressions by place, in the order of the call.
pub(super) type Given = Vec<(Key, String)>;

#[derive(Clone)]
pub(super) struct Slots {
    target: String,
    /// The call is on what `target` gives.
    pub layer: bool,
    /// Statements after the construction of a layer, and after a call.
    pub after_construction: Option<&'static str>,
    /// `name = value` of each argument that has a name.
    pub definitions: Vec<(String, String)>,
    /// As `build()` gives them.
    pub given: Given,
}

impl Slots {
    /// `None` for what has no short form: a call that has to be compiled, names given twice.
    pub(super) fn new(
        writer: &mut Writer,
        api: &Api,
        input: &ConcreteInput,
        check: &str,
    ) -> Option<Slots> {
        if api.way != Way::Eager || writer.dialect.after_call().is_some() {
            return None;
        }
        let target = writer.object(&api.path);
        let mut slots = Slots {
            target,
            layer: input.layer_arguments.is_some(),
            after_construction: writer.dialect.after_construction(),
            definitions: Vec::new(),
            given: Vec::new(),
        };
        slots.take(writer, check, &input.arguments, "arguments", "keywords")?;
        if let Some(layer) = &input.layer_arguments {
            slots.take(writer, check, layer, "layer_arguments", "layer_keywords")?;
        }
        Some(slots)
    }

    fn take(
        &mut self,
        writer: &mut Writer,
        check: &str,
        arguments: &[Argument],
        list: &'static str,
        dictionary: &'static str,
    ) -> Option<()> {
        let mut position = 0;
        for argument in arguments {
            let key = match argument.passing {
                Passing::Positional => {
                    position += 1;
                    (list, (position - 1).to_string())
                }
                Passing::Keyword => (dictionary, argument.name.clone()),
            };
            if self.given.iter().any(|(known, _)| *known == key)
                || argument.passing == Passing::Keyword && !literal::is_keyword_name(&argument.name)
            {
                return None;
            }
            let value = dedented(&writer.value(&argument.value));
            let place = match argument.passing {
                Passing::Positional => format!("{}[{}]", key.0, key.1),
                Passing::Keyword => format!("{}['{}']", key.0, key.1),
            };
            // A list that the check changes is one object from then on.
            let changed =
                matches!(argument.value, Value::List(_) | Value::Dict(_)) && check.contains(&place);
            let expression = if changed || has_tensor(&argument.value) {
                let name = self.name(&argument.name, check, writer);
                self.definitions.push((name.clone(), value));
                name
            } else {
                value
            };
            self.given.push((key, expression));
        }
        Some(())
    }

    /// A name for an argument that neither the check nor a module nor another argument has.
    fn name(&self, wanted: &str, check: &str, writer: &Writer) -> String {
        let usable = literal::is_keyword_name(wanted) && !["args", "kwargs"].contains(&wanted);
        let base = if usable { wanted } else { "x" };
        let taken = |name: &str| {
            has_word(check, name)
                || writer.imports.contains(name)
                || self.definitions.iter().any(|(known, _)| known == name)
                || PARTS.contains(&name)
        };
        let mut name = base.to_owned();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        name
    }

    fn listed(given: &Given, list: &str, dictionary: &str) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut positional: BTreeMap<usize, &String> = BTreeMap::new();
        for ((part, key), expression) in given {
            if *part == list {
                positional.insert(key.parse().unwrap_or(usize::MAX), expression);
            }
        }
        parts.extend(positional.into_values().cloned());
        for ((part, key), expression) in given {
            if *part == dictionary {
                parts.push(format!("{key}={expression}"));
            }
        }
        parts.join(", ")
    }

    /// What stands in the brackets of a call with these arguments.
    pub(super) fn starred(&self, given: &Given, layer: bool) -> String {
        if layer {
            Self::listed(given, "layer_arguments", "layer_keywords")
        } else {
            Self::listed(given, "arguments", "keywords")
        }
    }

    /// The call; of a layer, on a new one.
    pub(super) fn call(&self, given: &Given) -> Option<String> {
        let made = format!("{}({})", self.target, self.starred(given, false));
        if !self.layer {
            return Some(made);
        }
        let on_it = self.starred(given, true);
        (self.after_construction.is_none()).then(|| format!("{made}({on_it})"))
    }

    /// Just the call, as a statement.
    pub(super) fn plain(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.definitions {
            text.push_str(&format!("{name} = {value}\n"));
        }
        let target = format!("{}({})", self.target, self.starred(&self.given, false));
        if self.layer {
            text.push_str(&format!("layer = {target}\n"));
            if let Some(statement) = self.after_construction {
                text.push_str(&format!("{statement}\n"));
            }
            let call = format!("layer({})", self.starred(&self.given, true));
            text.push_str(&broken(&call));
        } else {
            text.push_str(&broken(&target));
        }
        text.push('\n');
        text
    }
}

/// A long call on several lines.
pub(super) fn broken(line: &str) -> String {
    if line.len() <= LINE || line.contains('\n') || line.starts_with(' ') {
        return line.to_owned();
    }
    let Some(open) = line.find('(') else {
        return line.to_owned();
    };
    match closing(line, open) {
        Some(end) if end + 1 == line.len() => {
            let parts: Vec<String> = super::source::split_commas(&line[open + 1..end])
                .into_iter()
                .map(|part| format!("    {part},\n"))
                .collect();
            format!("{}(\n{})", &line[..open], parts.concat())
        }
        _ => line.to_owned(),
    }
}

/// The places that a text names: start, end, key.
pub(super) fn places(text: &str) -> Vec<(usize, usize, Key)> {
    let mut found = Vec::new();
    for part in PARTS {
        for at in words(text, part) {
            let open = at + part.len();
            if !text[open..].starts_with('[') {
                continue;
            }
            let Some(end) = closing(text, open) else {
                continue;
            };
            let key = text[open + 1..end].trim_matches(['\'', '"']);
            found.push((at, end + 1, (part, key.to_owned())));
        }
    }
    found.sort_by_key(|(start, ..)| *start);
    found
}

/// The text with the expressions of the places that it names; `None` for a place that there is not.
pub(super) fn filled(text: &str, given: &Given) -> Option<String> {
    let mut result = String::new();
    let mut last = 0;
    for (start, end, key) in places(text) {
        let (_, expression) = given.iter().find(|(known, _)| *known == key)?;
        result.push_str(&text[last..start]);
        if is_chain(expression) || !text[end..].starts_with(['.', '[', ' ']) {
            result.push_str(expression);
        } else {
            result.push_str(&format!("({expression})"));
        }
        last = end;
    }
    result.push_str(&text[last..]);
    Some(result)
}

fn has_tensor(value: &Value) -> bool {
    match value {
        Value::Tensor(_) | Value::SparseTensor(_) | Value::NdArray(_) => true,
        Value::List(items) | Value::Tuple(items) => items.iter().any(has_tensor),
        Value::Dict(pairs) => pairs.iter().any(|(_, value)| has_tensor(value)),
        Value::Call { arguments, .. } => arguments.iter().any(has_tensor),
        _ => false,
    }
}

/// Literals are written for the body of a function.
fn dedented(text: &str) -> String {
    text.replace("\n            ", "\n    ")
        .replace("\n        ", "\n")
}
