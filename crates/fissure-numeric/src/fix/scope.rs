//! What one pass over a function or a file collects for the rules.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, ExprContext, Stmt, StmtAugAssign};
use ruff_text_size::{Ranged, TextRange};

use crate::analysis::names::{Names, dotted};

/// `name = value`.
#[derive(Clone, Copy)]
pub(super) struct Assignment<'a> {
    pub name: &'a str,
    pub statement: TextRange,
    pub value: &'a Expr,
}

/// `self.softmax = nn.Softmax(dim=1)`, anywhere in the file.
pub(super) struct ModuleObject<'a> {
    pub name: String,
    /// The resolved name of the class.
    pub class: String,
    pub made_by: &'a ExprCall,
    /// How often the file calls the object.
    pub calls: usize,
}

pub(super) fn module_objects<'a>(module: &'a [Stmt], names: &Names) -> Vec<ModuleObject<'a>> {
    let mut collector = ModuleCollector {
        names,
        objects: Vec::new(),
        called: Vec::new(),
    };
    collector.visit_body(module);
    let mut objects = collector.objects;
    for object in &mut objects {
        let calls = collector.called.iter().filter(|name| **name == object.name);
        object.calls = calls.count();
    }
    objects
}

struct ModuleCollector<'n, 'a> {
    names: &'n Names,
    objects: Vec<ModuleObject<'a>>,
    called: Vec<String>,
}

impl<'a> Visitor<'a> for ModuleCollector<'_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Assign(assign) = statement
            && let [target] = assign.targets.as_slice()
            && let Expr::Call(made_by) = &*assign.value
            && let Some(class) = self.names.resolve(&made_by.func)
            && class.starts_with("torch.nn.")
            && let Some(name) = dotted(target)
        {
            self.objects.push(ModuleObject {
                name,
                class,
                made_by,
                calls: 0,
            });
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.called.extend(dotted(&call.func));
        }
        walk_expr(self, expression);
    }
}

/// The body of the innermost function around a range, and the parameters of the functions around.
pub(super) fn innermost_scope(
    body: &[Stmt],
    range: TextRange,
    parameters: Vec<String>,
) -> (&[Stmt], Vec<String>) {
    let mut finder = FunctionFinder {
        range,
        body,
        parameters,
    };
    finder.visit_body(body);
    (finder.body, finder.parameters)
}

/// Whether the statement of this range can have another one in front of it: no header of a loop or
/// branch.
pub(super) fn is_simple_statement(module: &[Stmt], range: TextRange) -> bool {
    let mut finder = StatementFinder {
        range,
        is_simple: false,
    };
    finder.visit_body(module);
    finder.is_simple
}

struct StatementFinder {
    range: TextRange,
    is_simple: bool,
}

impl<'a> Visitor<'a> for StatementFinder {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if statement.range() == self.range {
            self.is_simple = matches!(
                statement,
                Stmt::Assign(_)
                    | Stmt::AnnAssign(_)
                    | Stmt::AugAssign(_)
                    | Stmt::Return(_)
                    | Stmt::Expr(_)
            );
        } else if statement.range().contains_range(self.range) {
            walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, _expression: &'a Expr) {}
}

struct FunctionFinder<'a> {
    range: TextRange,
    body: &'a [Stmt],
    parameters: Vec<String>,
}

impl<'a> Visitor<'a> for FunctionFinder<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if !statement.range().contains_range(self.range) {
            return;
        }
        if let Stmt::FunctionDef(function) = statement {
            self.body = &function.body;
            self.parameters.extend(
                function
                    .parameters
                    .iter()
                    .map(|parameter| parameter.name().to_string()),
            );
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, _expression: &'a Expr) {}
}

#[derive(Default)]
pub(super) struct ScopeCollector<'a> {
    pub expressions: Vec<&'a Expr>,
    pub augmented: Vec<&'a StmtAugAssign>,
    pub stores: Vec<(String, TextRange)>,
    pub assignments: Vec<Assignment<'a>>,
    pub loads: Vec<(String, TextRange)>,
}

impl<'a> Visitor<'a> for ScopeCollector<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                if let [Expr::Name(target)] = assign.targets.as_slice() {
                    self.assignments.push(Assignment {
                        name: target.id.as_str(),
                        statement: assign.range,
                        value: &assign.value,
                    });
                }
            }
            Stmt::AugAssign(assign) => {
                self.augmented.push(assign);
                // An augmented assignment also reads its target.
                if let Expr::Name(target) = &*assign.target {
                    self.loads.push((target.id.to_string(), target.range));
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            let entry = (name.id.to_string(), name.range);
            match name.ctx {
                ExprContext::Load => self.loads.push(entry),
                _ => self.stores.push(entry),
            }
        }
        self.expressions.push(expression);
        walk_expr(self, expression);
    }
}

#[derive(Default)]
pub(super) struct NameCollector {
    pub loads: Vec<String>,
}

impl<'a> Visitor<'a> for NameCollector {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            self.loads.push(name.id.to_string());
        }
        walk_expr(self, expression);
    }
}

pub(super) struct LibraryFinder<'a> {
    pub names: &'a Names,
    pub torch: bool,
    pub numpy: bool,
}

impl<'a> Visitor<'a> for LibraryFinder<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Some(full) = self.names.resolve(expression) {
            self.torch |= full.starts_with("torch");
            self.numpy |= full.starts_with("numpy");
        }
        if let Expr::Call(call) = expression {
            for keyword in &call.arguments.keywords {
                match keyword.arg.as_ref().map(|name| name.as_str()) {
                    Some("axis" | "keepdims") => self.numpy = true,
                    Some("dim" | "keepdim") => self.torch = true,
                    _ => {}
                }
            }
        }
        walk_expr(self, expression);
    }
}
