//! Unstable call sites.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Number, Operator, Stmt, UnaryOp};
use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};

use super::location::{LineIndex, Span};
use super::names::{Names, dotted};
use crate::registry::{Function, Registry};

/// How a program wrote the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// `torch.log(x)`, `np.log(x)`
    Function,
    /// `x.log()`
    Method,
    /// `a / b`, `a /= b`
    Operator,
    /// `nn.Softmax(dim=1)`: the object is made here and called elsewhere.
    ModuleClass,
    /// `self.softmax(x)`, where the name is bound to a module object.
    ModuleCall,
}

/// One argument of a site, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// The keyword, for a keyword argument.
    pub name: Option<String>,
    pub text: String,
    pub span: Span,
}

/// One unstable call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The registry's canonical name.
    pub function: String,
    /// The resolved name or the operator: `torch.nn.functional.softmax`, `.log`, `/`.
    pub written: String,
    pub form: Form,
    pub span: Span,
    /// The statement that holds the call.
    pub statement: Span,
    pub text: String,
    /// A method's receiver and an operator's left operand come first.
    pub arguments: Vec<Argument>,
    /// Qualified name of the enclosing function, if any: `Model.forward`.
    pub enclosing_function: Option<String>,
    pub enclosing_class: Option<String>,
    /// What the statement assigns to.
    pub target: Option<String>,
    pub in_loop: bool,
    pub in_branch: bool,
    /// Inside a region that the author marked.
    pub in_region: bool,
    /// False for ordinary arithmetic, which is watched but not worth announcing.
    pub announced: bool,
}

pub(super) fn collect(
    source: &str,
    body: &[Stmt],
    names: &Names,
    lines: &LineIndex,
    registry: &Registry,
) -> Vec<Site> {
    let mut collector = Collector {
        source,
        names,
        lines,
        registry,
        sites: Vec::new(),
        scope: Vec::new(),
        statement: None,
        target: None,
        loops: 0,
        branches: 0,
    };
    collector.visit_body(body);
    let mut sites = collector.sites;
    // Outer calls come before the calls in their arguments.
    sites.sort_by_key(|site| (site.span.start, std::cmp::Reverse(site.span.end)));
    sites
}

struct Collector<'a> {
    source: &'a str,
    names: &'a Names,
    lines: &'a LineIndex,
    registry: &'a Registry,
    sites: Vec<Site>,
    scope: Vec<Scope>,
    statement: Option<Span>,
    target: Option<String>,
    loops: usize,
    branches: usize,
}

struct Scope {
    name: String,
    is_class: bool,
}

impl<'a> Collector<'a> {
    fn push(
        &mut self,
        function: &Function,
        written: String,
        form: Form,
        node: &impl Ranged,
        arguments: Vec<Argument>,
    ) {
        let span = self.lines.span(node);
        let qualified = |until: usize| {
            let parts: Vec<&str> = self.scope[..until]
                .iter()
                .map(|scope| scope.name.as_str())
                .collect();
            parts.join(".")
        };
        let last_function = self.scope.iter().rposition(|scope| !scope.is_class);
        let last_class = self.scope.iter().rposition(|scope| scope.is_class);
        self.sites.push(Site {
            function: function.name.clone(),
            written,
            form,
            span,
            statement: self.statement.unwrap_or(span),
            text: self.source[node.range()].to_owned(),
            arguments,
            enclosing_function: last_function.map(|index| qualified(index + 1)),
            enclosing_class: last_class.map(|index| qualified(index + 1)),
            target: self.target.clone(),
            in_loop: self.loops > 0,
            in_branch: self.branches > 0,
            in_region: false,
            announced: !function.is_arithmetic(),
        });
    }

    fn argument(&self, name: Option<String>, expression: &Expr) -> Argument {
        Argument {
            name,
            text: self.source[expression.range()].to_owned(),
            span: self.lines.span(expression),
        }
    }

    fn arguments(&self, receiver: Option<&Expr>, call: &ExprCall) -> Vec<Argument> {
        let mut list: Vec<Argument> = receiver
            .into_iter()
            .chain(call.arguments.args.iter())
            .map(|expression| self.argument(None, expression))
            .collect();
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map(ToString::to_string);
            list.push(self.argument(name, &keyword.value));
        }
        list
    }

    fn call(&mut self, call: &ExprCall) {
        let registry = self.registry;
        if let Some(full) = self.names.resolve(&call.func) {
            let Some(function) = registry.lookup(&full) else {
                return;
            };
            if function.modules.contains(&full) {
                let arguments = self.arguments(None, call);
                self.push(function, full, Form::ModuleClass, call, arguments);
            } else if (function.name != "cast" || self.casts_to_integer(&full, call))
                && !divides_by_number(function, call.arguments.args.get(1))
            {
                let arguments = self.arguments(None, call);
                self.push(function, full, Form::Function, call, arguments);
            }
            return;
        }
        let modules = self.names.module_functions(&call.func);
        if !modules.is_empty() {
            for name in modules {
                if let Some(function) = registry.get(name) {
                    let arguments = self.arguments(None, call);
                    let written = self.source[call.func.range()].to_owned();
                    self.push(function, written, Form::ModuleCall, call, arguments);
                }
            }
            return;
        }
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        // `self.log(...)` is a method of the program's own class, not of a tensor.
        if matches!(&*method.value, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls"))
            || self.names.resolve(&method.value).is_some()
            || matches!(&*method.value, Expr::StringLiteral(_) | Expr::FString(_))
        {
            return;
        }
        if let Some(function) = self.method_function(method.attr.as_str(), call)
            && !divides_by_number(function, call.arguments.args.first())
        {
            let arguments = self.arguments(Some(&method.value), call);
            let written = format!(".{}", method.attr);
            self.push(function, written, Form::Method, call, arguments);
        }
    }

    /// The function behind a method call; casts depend on the type they are asked for.
    fn method_function(&self, method: &str, call: &ExprCall) -> Option<&'a Function> {
        let function = self.registry.method(method)?;
        if !matches!(method, "to" | "type" | "astype") {
            return Some(function);
        }
        let types: Vec<String> = call
            .arguments
            .args
            .iter()
            .chain(call.arguments.keywords.iter().map(|keyword| &keyword.value))
            .filter_map(|argument| self.type_name(argument))
            .collect();
        if types.iter().any(|name| is_integer_type(name)) {
            Some(function)
        } else if types.iter().any(|name| name == "float16" || name == "half") {
            self.registry.get("cast_half")
        } else {
            None
        }
    }

    /// `np.uint8(x)` casts; `np.array(x, dtype=np.uint8)` does unless `x` is written out.
    fn casts_to_integer(&self, full: &str, call: &ExprCall) -> bool {
        if is_integer_type(full.rsplit('.').next().unwrap_or(full)) {
            return true;
        }
        let literal = matches!(
            call.arguments.args.first(),
            None | Some(Expr::List(_) | Expr::Tuple(_) | Expr::NumberLiteral(_))
        );
        !literal
            && call
                .arguments
                .find_argument_value("dtype", 1)
                .and_then(|argument| self.type_name(argument))
                .is_some_and(|name| is_integer_type(&name))
    }

    fn type_name(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            other => {
                let full = self.names.resolve(other).or_else(|| dotted(other))?;
                full.rsplit('.').next().map(str::to_owned)
            }
        }
    }

    fn operator(&mut self, symbol: &str, left: &Expr, right: &Expr, node: &impl Ranged) {
        let Some(function) = self.registry.operator(symbol) else {
            return;
        };
        if is_text(left) || is_text(right) {
            return;
        }
        let harmless = match symbol {
            "/" | "/=" => is_number_other_than_zero(right) || is_count(right),
            "//" | "%" => is_number_other_than_zero(right) || is_count(right) || is_count(left),
            "**" => is_number(left) && is_number(right),
            _ => false,
        };
        if harmless {
            return;
        }
        let arguments = vec![self.argument(None, left), self.argument(None, right)];
        let written = symbol.to_owned();
        self.push(function, written, Form::Operator, node, arguments);
    }

    fn within(&mut self, name: &str, is_class: bool, visit: impl FnOnce(&mut Self)) {
        self.scope.push(Scope {
            name: name.to_owned(),
            is_class,
        });
        // A function's body does not run where it is defined.
        let loops = std::mem::take(&mut self.loops);
        let branches = std::mem::take(&mut self.branches);
        visit(self);
        self.loops = loops;
        self.branches = branches;
        self.scope.pop();
    }
}

fn is_integer_type(name: &str) -> bool {
    matches!(
        name,
        "uint8"
            | "int8"
            | "uint16"
            | "int16"
            | "uint32"
            | "int32"
            | "uint64"
            | "int64"
            | "byte"
            | "short"
            | "int"
            | "long"
            | "ByteTensor"
            | "CharTensor"
            | "ShortTensor"
            | "IntTensor"
            | "LongTensor"
    )
}

fn is_text(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::StringLiteral(_) | Expr::FString(_) | Expr::BytesLiteral(_)
    )
}

fn number(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(value) => value.to_string().parse().ok(),
            Number::Float(value) => Some(*value),
            Number::Complex { .. } => None,
        },
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => {
            number(&operation.operand).map(|value| -value)
        }
        _ => None,
    }
}

fn is_number(expression: &Expr) -> bool {
    number(expression).is_some()
}

fn is_number_other_than_zero(expression: &Expr) -> bool {
    number(expression).is_some_and(|value| value != 0.0)
}

/// A division by a number that is written out cannot be by zero.
fn divides_by_number(function: &Function, divisor: Option<&Expr>) -> bool {
    let divides = |rule: &String| rule == "denominator_clamp";
    (function.name != "reciprocal" && function.rewrites.iter().any(divides))
        && divisor.is_some_and(is_number_other_than_zero)
}

/// `len(x)`, `x.size(0)`, `x.shape[0]`: counts of elements, which the search does not move.
fn is_count(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => name.id.as_str() == "len",
            Expr::Attribute(method) => {
                matches!(method.attr.as_str(), "size" | "numel" | "dim" | "nelement")
            }
            _ => false,
        },
        Expr::Subscript(subscript) => {
            matches!(&*subscript.value, Expr::Attribute(attribute) if attribute.attr.as_str() == "shape")
        }
        _ => false,
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let outer_statement = self.statement;
        let outer_target = self.target.take();
        if !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            self.statement = Some(self.lines.span(statement));
        }
        match statement {
            Stmt::FunctionDef(function) => {
                for decorator in &function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&function.parameters);
                self.within(function.name.as_str(), false, |inner| {
                    inner.visit_body(&function.body);
                });
            }
            Stmt::ClassDef(class) => {
                self.within(class.name.as_str(), true, |inner| {
                    inner.visit_body(&class.body);
                });
            }
            Stmt::Assign(assign) => {
                self.target = assign
                    .targets
                    .first()
                    .map(|target| self.source[target.range()].to_owned());
                walk_stmt(self, statement);
            }
            Stmt::AnnAssign(assign) => {
                self.target = Some(self.source[assign.target.range()].to_owned());
                walk_stmt(self, statement);
            }
            Stmt::AugAssign(assign) => {
                self.target = Some(self.source[assign.target.range()].to_owned());
                let symbol = match assign.op {
                    Operator::Div => "/",
                    Operator::Pow => "**",
                    Operator::MatMult => "@",
                    Operator::FloorDiv => "//",
                    Operator::Mod => "%",
                    _ => "",
                };
                if !symbol.is_empty() {
                    self.operator(symbol, &assign.target, &assign.value, assign);
                }
                walk_stmt(self, statement);
            }
            Stmt::For(each) => {
                self.visit_expr(&each.iter);
                self.loops += 1;
                self.visit_body(&each.body);
                self.loops -= 1;
                self.visit_body(&each.orelse);
            }
            Stmt::While(repeat) => {
                self.loops += 1;
                self.visit_expr(&repeat.test);
                self.visit_body(&repeat.body);
                self.loops -= 1;
                self.visit_body(&repeat.orelse);
            }
            Stmt::If(branch) => {
                self.visit_expr(&branch.test);
                self.branches += 1;
                self.visit_body(&branch.body);
                for clause in &branch.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
                self.branches -= 1;
            }
            _ => walk_stmt(self, statement),
        }
        self.statement = outer_statement;
        self.target = outer_target;
    }

    fn visit_annotation(&mut self, _annotation: &'a Expr) {
        // A type hint computes nothing.
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Call(call) => self.call(call),
            Expr::BinOp(operation) => {
                let symbol = operation.op.as_str();
                self.operator(symbol, &operation.left, &operation.right, operation);
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.loops += 1;
                walk_expr(self, expression);
                self.loops -= 1;
                return;
            }
            Expr::If(_) => {
                self.branches += 1;
                walk_expr(self, expression);
                self.branches -= 1;
                return;
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}
