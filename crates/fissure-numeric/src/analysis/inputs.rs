//! Assignments that create the values a search may change.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};

use super::location::{LineIndex, Span};
use super::names::{Names, dotted};

/// How a value comes into the program, which decides how far it may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// `rand`, `randn`, a generator's draw.
    Random,
    /// `tensor([...])`, `np.array(...)`, `from_numpy`.
    Data,
    /// `zeros`, `ones`, `arange`, …
    Constant,
    /// `load`, `loadtxt`, an image.
    File,
    /// A batch of a data loader.
    Batch,
}

/// One such assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputSource {
    /// The assignment's target; several names of an unpacked batch are separate inputs.
    pub name: String,
    /// The resolved name of the call, as in `torch.rand`.
    pub call: String,
    pub kind: SourceKind,
    pub span: Span,
    /// The call as written.
    pub text: String,
}

const RANDOM: &[&str] = &[
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "normal",
    "random",
    "random_sample",
    "uniform",
    "standard_normal",
    "exponential",
    "poisson",
    "gamma",
    "beta",
    "dirichlet",
    "bernoulli",
    "lognormal",
    "laplace",
];
const DATA: &[&str] = &[
    "tensor",
    "as_tensor",
    "from_numpy",
    "array",
    "asarray",
    "FloatTensor",
    "DoubleTensor",
    "HalfTensor",
    "Tensor",
    "frombuffer",
];
const CONSTANT: &[&str] = &[
    "zeros",
    "ones",
    "full",
    "eye",
    "arange",
    "linspace",
    "logspace",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty",
    "identity",
    "geomspace",
];
const FILE: &[&str] = &[
    "load",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "imread",
    "read_image",
];

pub(super) fn collect(
    source: &str,
    body: &[Stmt],
    names: &Names,
    lines: &LineIndex,
) -> Vec<InputSource> {
    let mut collector = Collector {
        source,
        names,
        lines,
        inputs: Vec::new(),
    };
    collector.visit_body(body);
    collector.inputs
}

struct Collector<'a> {
    source: &'a str,
    names: &'a Names,
    lines: &'a LineIndex,
    inputs: Vec<InputSource>,
}

impl Collector<'_> {
    fn assignment(&mut self, target: &Expr, value: &Expr) {
        // `a, b = torch.rand(3), torch.rand(3)` assigns element by element.
        if let (Expr::Tuple(targets), Expr::Tuple(values)) = (target, value)
            && targets.elts.len() == values.elts.len()
        {
            for (target, value) in targets.elts.iter().zip(&values.elts) {
                self.assignment(target, value);
            }
            return;
        }
        if let Some((call, full, kind)) = self.source_call(value) {
            let text = self.source[call.range()].to_owned();
            let span = self.lines.span(call);
            for name in target_names(target) {
                self.inputs.push(InputSource {
                    name,
                    call: full.clone(),
                    kind,
                    span,
                    text: text.clone(),
                });
            }
        }
    }

    /// The source call in a value, looking through what is done to it at once:
    /// `torch.rand(3).to(device)`, `0.1 * torch.randn(3)`, `torch.rand(3) + 1`.
    fn source_call<'e>(&self, value: &'e Expr) -> Option<(&'e ExprCall, String, SourceKind)> {
        match value {
            Expr::Call(call) => {
                if let Some((full, kind)) = self.classify(call) {
                    return Some((call, full, kind));
                }
                match &*call.func {
                    Expr::Attribute(method) => self.source_call(&method.value),
                    _ => None,
                }
            }
            Expr::BinOp(operation) => self
                .source_call(&operation.left)
                .or_else(|| self.source_call(&operation.right)),
            Expr::UnaryOp(operation) => self.source_call(&operation.operand),
            _ => None,
        }
    }

    fn classify(&self, call: &ExprCall) -> Option<(String, SourceKind)> {
        let full = match self.names.resolve(&call.func) {
            Some(full) => full,
            None => match &*call.func {
                Expr::Attribute(method) if self.names.is_generator(&method.value) => {
                    format!("numpy.random.Generator.{}", method.attr)
                }
                _ => return None,
            },
        };
        let (library, last) = (full.split('.').next()?, full.rsplit('.').next()?);
        if !matches!(
            library,
            "torch" | "numpy" | "torchvision" | "PIL" | "imageio" | "cv2"
        ) {
            return None;
        }
        let kind = if RANDOM.contains(&last) {
            SourceKind::Random
        } else if DATA.contains(&last) {
            SourceKind::Data
        } else if CONSTANT.contains(&last) {
            SourceKind::Constant
        } else if FILE.contains(&last) || (library == "PIL" && last == "open") {
            SourceKind::File
        } else {
            return None;
        };
        Some((full, kind))
    }

    /// `for batch, labels in loader` and `for i, (batch, labels) in enumerate(loader)`.
    fn loop_over(&mut self, target: &Expr, iterable: &Expr) {
        let (target, loader) = match iterable {
            Expr::Call(call) if dotted(&call.func).as_deref() == Some("enumerate") => {
                let (Expr::Tuple(pair), Some(inner)) = (target, call.arguments.args.first()) else {
                    return;
                };
                let Some(item) = pair.elts.get(1) else { return };
                (item, inner)
            }
            _ => (target, iterable),
        };
        let directly = matches!(loader, Expr::Call(call)
            if self.names.resolve(&call.func).is_some_and(|full| full.ends_with(".DataLoader")));
        if !directly && !self.names.is_loader(loader) {
            return;
        }
        for name in target_names(target) {
            self.inputs.push(InputSource {
                name,
                call: "torch.utils.data.DataLoader".to_owned(),
                kind: SourceKind::Batch,
                span: self.lines.span(loader),
                text: self.source[loader.range()].to_owned(),
            });
        }
    }
}

fn target_names(target: &Expr) -> Vec<String> {
    match target {
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(target_names).collect(),
        Expr::List(list) => list.elts.iter().flat_map(target_names).collect(),
        Expr::Starred(starred) => target_names(&starred.value),
        other => dotted(other).into_iter().collect(),
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.assignment(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assignment(&assign.target, value);
                }
            }
            Stmt::For(each) => self.loop_over(&each.target, &each.iter),
            _ => {}
        }
        walk_stmt(self, statement);
    }
}
