//! A whole constraint file: its keys, its parameters and their order.

use std::path::Path;

use fissure_model::{Api, Dim, Expression, Param, Role, ShapeTerm, Spec};

use crate::error::{Problem, SpecError, Warning};
use crate::grammar::parse_shape;
use crate::order::{generation_order, layer_generation_order};
use crate::param::{self, Listed};
use crate::reader::Reader;
use crate::yaml::{Node, NodeKind};

/// `link`, `outputs`, `exceptions` and `ret_type` document the API; nothing is generated from them.
const KEYS: [&str; 14] = [
    "constraints",
    "inputs",
    "link",
    "package",
    "target",
    "title",
    "version",
    "check_nan",
    "layer_constructor",
    "dependency",
    "aliases",
    "outputs",
    "exceptions",
    "ret_type",
];
/// `layer` is ours: parameters of the call on the constructed object.
const INPUT_KEYS: [&str; 5] = [
    "required",
    "optional",
    "keyword_only",
    "deprecated",
    "layer",
];

/// Whether a document is meant to be a constraint file.
pub(crate) fn is_spec(root: &Node) -> bool {
    ["title", "inputs", "constraints"]
        .into_iter()
        .any(|key| root.get(key).is_some())
}

pub(crate) fn read(path: &Path, root: &Node) -> Result<(Spec, Vec<Warning>), SpecError> {
    let fail = |node: &Node, problem| SpecError {
        path: path.to_owned(),
        line: Some(node.line),
        column: Some(node.column),
        problem,
    };
    let mut reader = Reader::new(path);
    let Some(entries) = root.map().filter(|_| is_spec(root)) else {
        return Err(fail(root, Problem::NotASpec));
    };
    reader.check_keys(entries, None, &KEYS);
    let required = |key: &str| match root.get(key) {
        Some(node) if !node.is_null() => Ok(node),
        Some(node) => Err(fail(node, Problem::MissingKey(key.into()))),
        None => Err(fail(root, Problem::MissingKey(key.into()))),
    };
    let text = |key: &str| {
        let node = required(key)?;
        let wrong = || Problem::WrongKind {
            key: key.into(),
            expected: "a text",
            found: node.kind_name(),
        };
        node.text()
            .map(str::to_owned)
            .ok_or_else(|| fail(node, wrong()))
    };
    let map = |key: &str| {
        let node = required(key)?;
        let wrong = || Problem::WrongKind {
            key: key.into(),
            expected: "a map",
            found: node.kind_name(),
        };
        node.map()
            .map(|entries| (node, entries))
            .ok_or_else(|| fail(node, wrong()))
    };
    let title = text("title")?;
    let package = text("package")?;
    let (inputs, input_entries) = map("inputs")?;
    let (constraints, constraint_entries) = map("constraints")?;
    reader.check_keys(input_entries, None, &INPUT_KEYS);
    reader.package.clone_from(&package);

    let listed = list_params(&mut reader, inputs, constraints, path)?;
    reader.names = listed
        .iter()
        .map(|(_, listed)| listed.name.clone())
        .collect();
    let symbols = declared_symbols(&mut reader, root, constraint_entries);
    warn_unlisted(&mut reader, &listed, constraint_entries);

    let mut params = Vec::new();
    let mut layer_params = Vec::new();
    for (group, listed) in &listed {
        let node = constraint_of(constraints, &listed.name);
        if node.is_none() {
            let message = format!("`{}` has no entry under `constraints`", listed.name);
            reader.warn(listed.line, Some(&listed.name), "inputs", message);
        }
        let param = param::read(&mut reader, listed, node);
        if *group == "layer" {
            layer_params.push(param)
        } else {
            params.push(param)
        }
    }

    let api = Api {
        path: object_path(&title, &package),
        title,
        package,
        version: informative(&mut reader, root, "version"),
        layer: reader.flag(root.get("layer_constructor"), "layer_constructor"),
        ..Api::default()
    };
    check_names(&mut reader, root, &api, &layer_params);
    let aliases = match root.get("aliases") {
        Some(node) => reader
            .texts(node, None, "aliases")
            .into_iter()
            .map(|(text, _)| text)
            .collect(),
        None => Vec::new(),
    };
    let spec = Spec {
        check_nan: reader.flag(root.get("check_nan"), "check_nan"),
        api,
        params,
        layer_params,
        symbols,
        aliases,
        source: Some(path.to_owned()),
        rules: None,
        forms: Vec::new(),
        examples: Vec::new(),
    };
    for result in [generation_order(&spec), layer_generation_order(&spec)] {
        if let Err(cycle) = result {
            let first = spec
                .params
                .iter()
                .chain(&spec.layer_params)
                .find(|param| cycle.names.contains(&param.name));
            let line = first
                .and_then(|param| param.line)
                .unwrap_or(constraints.line);
            reader.warn(
                line,
                first.map(|param| param.name.as_str()),
                "constraints",
                cycle.to_string(),
            );
        }
    }
    Ok((spec, reader.warnings))
}

/// The first word of a title is the name people import the library under (`tf`).
fn object_path(title: &str, package: &str) -> String {
    match title.split_once('.') {
        Some((_, rest)) => format!("{package}.{rest}"),
        None => format!("{package}.{title}"),
    }
}

fn informative(reader: &mut Reader<'_>, root: &Node, key: &str) -> String {
    match root.get(key).and_then(Node::text) {
        Some(text) => text.to_owned(),
        None => {
            reader.warn(root.line, None, key, format!("the key `{key}` is missing"));
            String::new()
        }
    }
}

fn check_names(reader: &mut Reader<'_>, root: &Node, api: &Api, layer_params: &[Param]) {
    let target = informative(reader, root, "target");
    informative(reader, root, "link");
    let line = root.get("target").map_or(root.line, |node| node.line);
    if !target.is_empty() && api.path.rsplit('.').next() != Some(target.as_str()) {
        let message = format!(
            "`{target}` is not the last part of the title `{}`",
            api.title
        );
        reader.warn(line, None, "target", message);
    }
    if !api.layer && !layer_params.is_empty() {
        let message = "`layer` inputs are used only with `layer_constructor: true`";
        reader.warn(
            root.get("inputs").map_or(root.line, |node| node.line),
            None,
            "inputs",
            message,
        );
    }
}

type Group = &'static str;

/// The parameters in the order of a call, each with the list it came from.
fn list_params(
    reader: &mut Reader<'_>,
    inputs: &Node,
    constraints: &Node,
    path: &Path,
) -> Result<Vec<(Group, Listed)>, SpecError> {
    let mut lists = Vec::new();
    for group in INPUT_KEYS {
        let names = match inputs.get(group) {
            Some(node) => {
                if node.map().is_some() {
                    return Err(SpecError {
                        path: path.to_owned(),
                        line: Some(node.line),
                        column: Some(node.column),
                        problem: Problem::WrongKind {
                            key: format!("inputs.{group}"),
                            expected: "a list of parameter names",
                            found: node.kind_name(),
                        },
                    });
                }
                reader.texts(node, None, "inputs")
            }
            None => {
                if matches!(group, "required" | "optional") {
                    let message = format!("the list `{group}` is missing; taken as empty");
                    reader.warn(inputs.line, None, "inputs", message);
                }
                Vec::new()
            }
        };
        lists.push((group, names));
    }
    let in_list = |wanted: &str, name: &str| {
        lists
            .iter()
            .any(|(group, names)| *group == wanted && names.iter().any(|(text, _)| text == name))
    };
    let mut listed: Vec<(Group, Listed)> = Vec::new();
    for (group, names) in &lists {
        for (text, line) in names {
            let also_elsewhere = listed.iter().any(|(_, seen)| seen.name == bare(text));
            if also_elsewhere && matches!(*group, "keyword_only" | "deprecated") {
                continue;
            }
            if also_elsewhere {
                return Err(SpecError {
                    path: path.to_owned(),
                    line: Some(*line),
                    column: None,
                    problem: Problem::DuplicateParameter(bare(text).to_owned()),
                });
            }
            let role = match (star_role(text), *group) {
                (Some(role), _) => role,
                (None, "required" | "layer") => Role::Required,
                (None, _) if in_list("keyword_only", text) => Role::KeywordOnly,
                (None, _) => Role::Optional,
            };
            if role == Role::Required && in_list("keyword_only", text) {
                let message = "required and keyword-only; taken as required";
                reader.warn(*line, Some(text), "inputs", message);
            }
            let line = constraint_key(constraints, bare(text)).map_or(*line, |key| key.line);
            let deprecated = in_list("deprecated", text);
            listed.push((
                *group,
                Listed {
                    name: bare(text).to_owned(),
                    role,
                    deprecated,
                    line,
                },
            ));
        }
    }
    Ok(listed)
}

fn bare(name: &str) -> &str {
    name.trim_matches('*')
}

fn star_role(name: &str) -> Option<Role> {
    match name {
        _ if name.starts_with("**") => Some(Role::VarKeyword),
        // Once, a file writes the star behind the name.
        _ if name.starts_with('*') || name.ends_with('*') => Some(Role::VarPositional),
        _ => None,
    }
}

fn constraint_key<'a>(constraints: &'a Node, name: &str) -> Option<&'a Node> {
    let entries = constraints.map()?;
    let (key, _) = entries
        .iter()
        .rev()
        .find(|(key, _)| key.text().map(bare) == Some(name))?;
    Some(key)
}

fn constraint_of<'a>(constraints: &'a Node, name: &str) -> Option<&'a Node> {
    let entries = constraints.map()?;
    let (_, value) = entries
        .iter()
        .rev()
        .find(|(key, _)| key.text().map(bare) == Some(name))?;
    Some(value)
}

fn warn_unlisted(reader: &mut Reader<'_>, listed: &[(Group, Listed)], entries: &[(Node, Node)]) {
    let mut seen = std::collections::HashSet::new();
    for (key, _) in entries {
        let Some(name) = key.text() else { continue };
        if !seen.insert(name) {
            reader.warn(
                key.line,
                Some(name),
                "constraints",
                "constrained twice; the last one counts",
            );
        }
        if !listed.iter().any(|(_, listed)| listed.name == bare(name)) {
            let message = "constrained, but not listed under `inputs`; left out";
            reader.warn(key.line, Some(name), "constraints", message);
        }
    }
}

/// The symbols of `dependency`; the reader also learns those that shapes use.
fn declared_symbols(reader: &mut Reader<'_>, root: &Node, entries: &[(Node, Node)]) -> Vec<String> {
    let declared: Vec<String> = match root.get("dependency") {
        Some(node) => reader
            .texts(node, None, "dependency")
            .into_iter()
            .map(|(text, _)| text)
            .collect(),
        None => Vec::new(),
    };
    reader.symbols.extend(declared.iter().cloned());
    for (_, constraint) in entries {
        let Some(NodeKind::List(shapes)) = constraint.get("shape").map(|node| &node.kind) else {
            continue;
        };
        for text in shapes.iter().filter_map(Node::text) {
            let Ok(ShapeTerm::Dims(dims)) = parse_shape(text) else {
                continue;
            };
            for dim in dims {
                if let Dim::Is(_, Expression::Symbol(name)) = dim {
                    reader.symbols.insert(name);
                }
            }
        }
    }
    declared
}
