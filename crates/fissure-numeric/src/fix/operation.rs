//! One view of an operation, whether it is written as a function, a method or an operator.

use ruff_python_ast::{Expr, ExprCall, Number, Operator, UnaryOp};

use crate::analysis::names::Names;
use crate::registry::elsewhere;

/// `torch.sum(x, dim=1)`, `x.sum(1)` and `np.sum(x, axis=1)` all have the name `sum`.
pub(super) struct Operation<'a> {
    pub name: String,
    /// A method's receiver and an operator's left operand come first.
    pub operands: Vec<&'a Expr>,
    pub keywords: Vec<(&'a str, &'a Expr)>,
    pub is_numpy: bool,
}

impl<'a> Operation<'a> {
    pub(super) fn of(expression: &'a Expr, names: &Names) -> Option<Operation<'a>> {
        match expression {
            Expr::Call(call) => {
                let mut operands: Vec<&Expr> = Vec::new();
                let (name, is_numpy) = if let Some(full) = names.resolve(&call.func) {
                    let library = full.split('.').next()?;
                    let name = match library {
                        "torch" | "numpy" => full.rsplit('.').next()?,
                        _ => elsewhere::short_name(&full)?,
                    };
                    (name.to_owned(), library == "numpy")
                } else if let Expr::Attribute(method) = &*call.func
                    && !is_own_object(&method.value)
                {
                    operands.push(&method.value);
                    (method.attr.to_string(), false)
                } else {
                    return None;
                };
                operands.extend(call.arguments.args.iter());
                let keywords = call
                    .arguments
                    .keywords
                    .iter()
                    .filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str(), &keyword.value)))
                    .collect();
                Some(Operation {
                    name: canonical(&name).to_owned(),
                    operands,
                    keywords,
                    is_numpy,
                })
            }
            Expr::BinOp(operation) => {
                let name = match operation.op {
                    Operator::Add => "add",
                    Operator::Sub => "sub",
                    Operator::Mult => "mul",
                    Operator::Div => "div",
                    Operator::Pow => "pow",
                    Operator::MatMult => "matmul",
                    _ => return None,
                };
                Some(Operation {
                    name: name.to_owned(),
                    operands: vec![&operation.left, &operation.right],
                    keywords: Vec::new(),
                    is_numpy: false,
                })
            }
            Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => Some(Operation {
                name: "neg".to_owned(),
                operands: vec![&operation.operand],
                keywords: Vec::new(),
                is_numpy: false,
            }),
            _ => None,
        }
    }

    /// The call of an object made by `nn.Softmax(dim=1)`: its class gives the function and the
    /// arguments of the class are keywords of the call.
    pub(super) fn of_module(
        call: &'a ExprCall,
        class: &str,
        made_by: &'a ExprCall,
    ) -> Option<Operation<'a>> {
        let name = match class {
            "torch.nn.Softmax" => "softmax",
            "torch.nn.Sigmoid" => "sigmoid",
            "torch.nn.BCELoss" => "binary_cross_entropy",
            "torch.nn.NLLLoss" => "nll_loss",
            _ => return None,
        };
        let keywords = made_by.arguments.keywords.iter();
        let mut keywords: Vec<(&str, &Expr)> = keywords
            .filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str(), &keyword.value)))
            .collect();
        if let (Some(first), "softmax") = (made_by.arguments.args.first(), name) {
            keywords.push(("dim", first));
        }
        Some(Operation {
            name: name.to_owned(),
            operands: call.arguments.args.iter().collect(),
            keywords,
            is_numpy: false,
        })
    }

    pub(super) fn operand(&self, position: usize) -> Option<&'a Expr> {
        self.operands.get(position).copied()
    }

    /// The operand at a position, or the keyword argument of that name.
    pub(super) fn argument(&self, position: usize, keywords: &[&str]) -> Option<&'a Expr> {
        self.operand(position).or_else(|| {
            let found = self
                .keywords
                .iter()
                .find(|(name, _)| keywords.contains(name));
            found.map(|&(_, value)| value)
        })
    }

    /// The dimension that a reduction or a softmax works along.
    pub(super) fn dimension(&self) -> Option<&'a Expr> {
        self.argument(1, &["dim", "axis"])
    }

    /// Whether a reduction keeps the dimension it works along.
    pub(super) fn keeps_dimension(&self) -> bool {
        let value = self.argument(2, &["keepdim", "keepdims"]);
        matches!(value, Some(Expr::BooleanLiteral(literal)) if literal.value)
    }

    pub(super) fn mentions(&self, keywords: &[&str]) -> bool {
        self.keywords
            .iter()
            .any(|(name, _)| keywords.contains(name))
    }
}

/// `self.log(...)` is a method of the program's own class, not of a tensor.
fn is_own_object(receiver: &Expr) -> bool {
    matches!(receiver, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls"))
}

fn canonical(name: &str) -> &str {
    match name {
        "divide" | "true_divide" => "div",
        "power" | "float_power" => "pow",
        "multiply" => "mul",
        "subtract" => "sub",
        "arccos" => "acos",
        "arcsin" => "asin",
        "arctanh" => "atanh",
        "arccosh" => "acosh",
        "arctan2" => "atan2",
        "expit" => "sigmoid",
        "negative" => "neg",
        // In-place forms compute the same.
        other => other
            .strip_suffix('_')
            .filter(|base| !base.ends_with('_'))
            .unwrap_or(other),
    }
}

/// The value of a number written out, with its sign.
pub(super) fn number(expression: &Expr) -> Option<f64> {
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
