//! What the names of a program stand for.
//!
//! Python decides this at run time; the source decides it for nearly all real programs: imports,
//! plain aliases (`log = torch.log`), and names bound to module objects (`self.softmax =
//! nn.Softmax(dim=1)`). Bindings of one name in different scopes are not told apart.

use std::collections::{BTreeMap, HashMap};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use crate::registry::Registry;

/// The dotted names of a program's local names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    imports: BTreeMap<String, String>,
    /// Name (`act`, `self.softmax`) → canonical functions of the module object bound to it.
    modules: HashMap<String, Vec<String>>,
}

impl Names {
    pub(crate) fn collect(body: &[Stmt], registry: &Registry) -> Names {
        let mut collector = Collector {
            names: Names::default(),
            registry,
        };
        collector.visit_body(body);
        collector.names
    }

    /// The imports alone, for rewriting one statement.
    pub(crate) fn of_imports(imports: &BTreeMap<String, String>) -> Names {
        Names {
            imports: imports.clone(),
            ..Names::default()
        }
    }

    pub(crate) fn imports(&self) -> &BTreeMap<String, String> {
        &self.imports
    }

    pub(crate) fn into_imports(self) -> BTreeMap<String, String> {
        self.imports
    }

    /// The full dotted name of `F.softmax`, `torch.log` or an imported `log`; nothing for a name
    /// that no import or alias explains.
    pub(crate) fn resolve(&self, expression: &Expr) -> Option<String> {
        let written = dotted(expression)?;
        let (first, rest) = match written.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (written.as_str(), None),
        };
        let target = self.imports.get(first)?;
        let full = match rest {
            Some(rest) => format!("{target}.{rest}"),
            None => target.clone(),
        };
        Some(public_name(&full))
    }

    /// The unstable functions behind the call of a name that is bound to a module object.
    pub(crate) fn module_functions(&self, expression: &Expr) -> &[String] {
        dotted(expression)
            .and_then(|name| self.modules.get(&name))
            .map_or(&[], Vec::as_slice)
    }
}

/// `a.b.c` as text, when the expression is nothing but names and dots.
pub(crate) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => {
            Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr))
        }
        _ => None,
    }
}

/// Names that libraries also publish elsewhere, under the name that the registry uses.
fn public_name(full: &str) -> String {
    for (inner, public) in [
        ("torch.nn.modules.activation.", "torch.nn."),
        ("torch.nn.modules.loss.", "torch.nn."),
        ("torch.nn.modules.normalization.", "torch.nn."),
        ("torch.nn.modules.", "torch.nn."),
        ("torch.functional.F.", "torch.nn.functional."),
        ("torch._C._nn.", "torch.nn.functional."),
    ] {
        if let Some(rest) = full.strip_prefix(inner) {
            return format!("{public}{rest}");
        }
    }
    full.to_owned()
}

struct Collector<'a> {
    names: Names,
    registry: &'a Registry,
}

impl Collector<'_> {
    fn bind(&mut self, target: &Expr, value: &Expr) {
        let Some(name) = dotted(target) else { return };
        // `log = torch.log`; a plain copy of a variable resolves to nothing.
        if let Some(full) = self.names.resolve(value) {
            if !name.contains('.') && is_library_name(&full) {
                self.names.imports.insert(name, full);
            }
            return;
        }
        let Expr::Call(call) = value else { return };
        let Some(full) = self.names.resolve(&call.func) else {
            return;
        };
        if full.starts_with("torch.nn.") {
            let functions = self.functions_of_module(call);
            if !functions.is_empty() {
                self.names.modules.insert(name, functions);
            }
        }
    }

    /// The unstable functions inside `nn.Softmax()` or `nn.Sequential(…, nn.Softmax())`.
    fn functions_of_module(&self, call: &ExprCall) -> Vec<String> {
        let mut finder = ModuleFinder {
            names: &self.names,
            registry: self.registry,
            functions: Vec::new(),
        };
        finder.note(call);
        for argument in &call.arguments.args {
            finder.visit_expr(argument);
        }
        finder.functions
    }
}

fn is_library_name(full: &str) -> bool {
    ["torch.", "numpy.", "jax.", "tensorflow."]
        .iter()
        .any(|library| full.starts_with(library))
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let full = alias.name.to_string();
                    match &alias.asname {
                        Some(local) => self.names.imports.insert(local.to_string(), full),
                        None => {
                            let root = full.split('.').next().unwrap_or(&full).to_owned();
                            self.names.imports.insert(root.clone(), root)
                        }
                    };
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import
                    .module
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string);
                for alias in &import.names {
                    let local = alias.asname.as_ref().unwrap_or(&alias.name);
                    if alias.name.as_str() == "*" {
                        self.import_everything(&module);
                    } else {
                        let full = format!("{module}.{}", alias.name);
                        self.names.imports.insert(local.to_string(), full);
                    }
                }
            }
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.bind(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.bind(&assign.target, value);
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

impl Collector<'_> {
    /// `from torch import *`: every name of the registry directly under that module.
    fn import_everything(&mut self, module: &str) {
        let prefix = format!("{module}.");
        let found: Vec<(String, String)> = self
            .registry
            .functions()
            .iter()
            .flat_map(|function| function.aliases())
            .filter_map(|alias| {
                let rest = alias.strip_prefix(&prefix)?;
                (!rest.contains('.')).then(|| (rest.to_owned(), alias.to_owned()))
            })
            .collect();
        self.names.imports.extend(found);
    }
}

struct ModuleFinder<'a> {
    names: &'a Names,
    registry: &'a Registry,
    functions: Vec<String>,
}

impl ModuleFinder<'_> {
    fn note(&mut self, call: &ExprCall) {
        let function = self
            .names
            .resolve(&call.func)
            .and_then(|full| self.registry.lookup(&full).map(|entry| (full, entry)))
            .filter(|(full, entry)| entry.modules.contains(full))
            .map(|(_, entry)| entry.name.clone());
        if let Some(function) = function
            && !self.functions.contains(&function)
        {
            self.functions.push(function);
        }
    }
}

impl<'a> Visitor<'a> for ModuleFinder<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.note(call);
        }
        walk_expr(self, expression);
    }
}
