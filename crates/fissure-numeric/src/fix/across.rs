//! A fix over two functions: `softmax` where the model ends, `log` where the loss begins.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange};

use super::context::is_atomic;
use super::operation::{Operation, number};
use super::{Fix, TextEdit};
use crate::analysis::names::Names;
use crate::analysis::{Analysis, LineIndex};

/// The class whose objects are a softmax as a layer.
const LAYER: &str = "torch.nn.Softmax";

/// `log_softmax` at the line where the softmax is made, and its result as it is where the logarithm was taken.
///
/// The run has shown that the logarithm at `line` is of the softmax at `origin`, and that nothing else takes
/// it; what is proposed is checked by running it, as every fix is.
pub fn log_of_softmax_elsewhere(
    analysis: &Analysis,
    source: &str,
    line: usize,
    origin: usize,
) -> Option<Fix> {
    let module = ruff_python_parser::parse_module(source).ok()?.into_syntax();
    let mut collector = Calls::default();
    collector.visit_body(&module.body);
    let names = Names::of_imports(&analysis.imports);
    let lines = LineIndex::new(source);
    let stands_on = |range: TextRange, wanted: usize| {
        let first = lines.position(range.start().to_usize()).0;
        let last = lines.position(range.end().to_usize()).0;
        first <= wanted && wanted <= last
    };
    let mut edits: Vec<TextEdit> = Vec::new();
    for expression in &collector.calls {
        let Some(operation) = Operation::of(expression, &names) else {
            continue;
        };
        if operation.name == "softmax"
            && stands_on(expression.range(), origin)
            && let Expr::Call(call) = expression
        {
            edits.extend(renamed(call, "softmax", "log_softmax"));
        }
    }
    if edits.is_empty() {
        edits.push(layer(&collector.calls, &names)?);
    }
    if edits.len() != 1 {
        return None;
    }
    let before = edits.len();
    for expression in &collector.calls {
        let Some(operation) = Operation::of(expression, &names) else {
            continue;
        };
        if operation.name == "log" && stands_on(expression.range(), line) {
            let operand = without_epsilon(operation.operand(0)?);
            let text = source.get(operand.start().to_usize()..operand.end().to_usize())?;
            let text = if is_atomic(operand) {
                text.to_owned()
            } else {
                format!("({text})")
            };
            edits.push(edit(expression.range(), text));
        }
    }
    if edits.len() == before {
        return None;
    }
    edits.sort_by_key(|edit| edit.start);
    // One inside the other is no pair of edits.
    if edits.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return None;
    }
    Some(Fix {
        rule: "log_softmax_across".to_owned(),
        title: format!("log_softmax at line {origin} instead of softmax there and log here"),
        edits,
        explanation:
            "A softmax entry that underflows to 0 has the logarithm -inf; log_softmax never \
                      leaves the log domain. The function that made probabilities gives their \
                      logarithms now; the program takes them nowhere else."
                .to_owned(),
    })
}

/// `log(p + 1e-8)`: the constant was there for the logarithm.
fn without_epsilon(expression: &Expr) -> &Expr {
    if let Expr::BinOp(sum) = expression
        && sum.op == ruff_python_ast::Operator::Add
        && number(&sum.right).is_some_and(|value| (0.0..=1e-3).contains(&value))
    {
        return &sum.left;
    }
    expression
}

/// The one layer of the file that is a softmax, as a layer of logarithms.
fn layer(calls: &[&Expr], names: &Names) -> Option<TextEdit> {
    let mut found = calls.iter().filter_map(|expression| {
        let Expr::Call(call) = expression else {
            return None;
        };
        (names.resolve(&call.func)? == LAYER)
            .then(|| renamed(call, "Softmax", "LogSoftmax"))
            .flatten()
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn renamed(call: &ExprCall, from: &str, to: &str) -> Option<TextEdit> {
    match &*call.func {
        Expr::Attribute(attribute) if attribute.attr.as_str() == from => {
            Some(edit(attribute.attr.range(), to.to_owned()))
        }
        _ => None,
    }
}

fn edit(range: TextRange, text: String) -> TextEdit {
    TextEdit {
        start: range.start().to_usize(),
        end: range.end().to_usize(),
        text,
    }
}

#[derive(Default)]
struct Calls<'a> {
    calls: Vec<&'a Expr>,
}

impl<'a> Visitor<'a> for Calls<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if expression.is_call_expr() {
            self.calls.push(expression);
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::apply;

    fn changed(source: &str, line: usize, origin: usize) -> Option<String> {
        let registry = crate::registry::Registry::embedded();
        let analysis =
            crate::analysis::analyse(source, std::path::Path::new("net.py"), &registry).unwrap();
        let fix = log_of_softmax_elsewhere(&analysis, source, line, origin)?;
        Some(apply(source, &fix))
    }

    const MODEL: &str = "import torch\nimport torch.nn as nn\n\
        class Net(nn.Module):\n    def forward(self, x):\n        return torch.softmax(x, dim=1)\n\
        def loss(p, y):\n    return -(torch.log(p + 1e-8) * y).sum()\n";

    #[test]
    fn the_logarithm_moves_into_the_model() {
        let text = changed(MODEL, 7, 5).unwrap();
        assert!(
            text.contains("return torch.log_softmax(x, dim=1)"),
            "{text}"
        );
        assert!(text.contains("return -(p * y).sum()"), "{text}");
    }

    #[test]
    fn a_layer_of_its_own_is_exchanged() {
        let source = MODEL
            .replace("torch.softmax(x, dim=1)", "self.last(x)")
            .replace("class Net", "last = nn.Softmax(dim=1)\nclass Net");
        let text = changed(&source, 8, 6).unwrap();
        assert!(text.contains("nn.LogSoftmax(dim=1)"), "{text}");
    }

    #[test]
    fn nothing_is_proposed_where_either_half_is_missing() {
        assert_eq!(changed(MODEL, 6, 5), None);
        assert_eq!(changed(MODEL, 7, 4), None);
    }
}
