//! What the functions of a program accept, for a target such as `losses.py::focal_loss`.

use ruff_python_ast::{Expr, ParameterWithDefault, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};

use super::location::LineIndex;

/// One function or method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// `focal_loss`, `Model.forward`, `outer.inner`.
    pub qualified_name: String,
    /// The class, for a method.
    pub class: Option<String>,
    pub line: usize,
    pub end_line: usize,
    pub parameters: Vec<Parameter>,
    /// The annotation of the result, as written.
    pub returns: Option<String>,
    pub docstring: Option<String>,
    pub decorators: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    PositionalOnly,
    Ordinary,
    VariadicPositional,
    KeywordOnly,
    VariadicKeyword,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterKind,
    /// The type hint, as written.
    pub annotation: Option<String>,
    /// The default value, as written.
    pub default: Option<String>,
}

pub(super) fn collect(source: &str, body: &[Stmt], lines: &LineIndex) -> Vec<Signature> {
    let mut signatures = Vec::new();
    Collector { source, lines }.walk(body, "", None, &mut signatures);
    signatures
}

struct Collector<'a> {
    source: &'a str,
    lines: &'a LineIndex,
}

impl Collector<'_> {
    fn walk(&self, body: &[Stmt], prefix: &str, class: Option<&str>, found: &mut Vec<Signature>) {
        for statement in body {
            match statement {
                Stmt::FunctionDef(function) => {
                    let qualified_name = format!("{prefix}{}", function.name);
                    found.push(self.signature(function, qualified_name.clone(), class));
                    self.walk(&function.body, &format!("{qualified_name}."), None, found);
                }
                Stmt::ClassDef(definition) => {
                    let name = format!("{prefix}{}", definition.name);
                    self.walk(&definition.body, &format!("{name}."), Some(&name), found);
                }
                // Functions may be defined under a condition, in a `try` or a `with`.
                Stmt::If(branch) => {
                    self.walk(&branch.body, prefix, class, found);
                    for clause in &branch.elif_else_clauses {
                        self.walk(&clause.body, prefix, class, found);
                    }
                }
                Stmt::Try(attempt) => {
                    self.walk(&attempt.body, prefix, class, found);
                    self.walk(&attempt.orelse, prefix, class, found);
                }
                Stmt::With(with) => self.walk(&with.body, prefix, class, found),
                _ => {}
            }
        }
    }

    fn signature(
        &self,
        function: &StmtFunctionDef,
        qualified_name: String,
        class: Option<&str>,
    ) -> Signature {
        let span = self.lines.span(function);
        Signature {
            qualified_name,
            class: class.map(str::to_owned),
            line: self.lines.span(&function.name).line,
            end_line: span.end_line,
            parameters: self.parameters(&function.parameters),
            returns: function
                .returns
                .as_deref()
                .map(|annotation| self.text(annotation)),
            docstring: docstring(&function.body),
            decorators: function
                .decorator_list
                .iter()
                .map(|decorator| self.text(&decorator.expression))
                .collect(),
        }
    }

    fn parameters(&self, parameters: &Parameters) -> Vec<Parameter> {
        let with_default = |kind: ParameterKind| {
            move |parameter: &ParameterWithDefault| Parameter {
                name: parameter.parameter.name.to_string(),
                kind,
                annotation: parameter
                    .parameter
                    .annotation
                    .as_deref()
                    .map(|hint| self.text(hint)),
                default: parameter.default.as_deref().map(|value| self.text(value)),
            }
        };
        let variadic = |kind: ParameterKind| {
            move |parameter: &ruff_python_ast::Parameter| Parameter {
                name: parameter.name.to_string(),
                kind,
                annotation: parameter.annotation.as_deref().map(|hint| self.text(hint)),
                default: None,
            }
        };
        let positional_only = parameters.posonlyargs.iter();
        let mut list: Vec<Parameter> = positional_only
            .map(with_default(ParameterKind::PositionalOnly))
            .collect();
        let ordinary = parameters.args.iter();
        list.extend(ordinary.map(with_default(ParameterKind::Ordinary)));
        let rest = parameters.vararg.as_deref();
        list.extend(rest.map(variadic(ParameterKind::VariadicPositional)));
        let keyword_only = parameters.kwonlyargs.iter();
        list.extend(keyword_only.map(with_default(ParameterKind::KeywordOnly)));
        let keywords = parameters.kwarg.as_deref();
        list.extend(keywords.map(variadic(ParameterKind::VariadicKeyword)));
        list
    }

    fn text(&self, expression: &Expr) -> String {
        self.source[expression.range()].to_owned()
    }
}

fn docstring(body: &[Stmt]) -> Option<String> {
    let Stmt::Expr(first) = body.first()? else {
        return None;
    };
    let Expr::StringLiteral(text) = &*first.value else {
        return None;
    };
    Some(text.value.to_str().trim().to_owned())
}
