//! One function, as the files of the table describe it.

use serde::{Deserialize, Serialize};

use crate::Property;
use crate::names::forms;

/// The mathematical range of a function's result; a missing side is unbounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The condition on the other arguments under which it holds; without one it always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

macro_rules! words {
    ($(#[$comment:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$comment])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum $name { $(#[serde(rename = $text)] $variant,)* }
    };
}

words!(Monotone { Rising = "rising", });
words!(Parity { Odd = "odd", Even = "even", });
words!(Algebra { Idempotent = "idempotent", Involution = "involution", Commutative = "commutative", });
words!(Sums { One = "one", ExpOne = "exp one", });
words!(ResultIs {
    Uninitialised = "uninitialised",
    Random = "random",
    Varies = "varies",
    Indices = "indices",
    Unordered = "unordered",
    Ambiguous = "ambiguous",
    Sorted = "sorted",
});
words!(Writes { Index = "index", });
words!(About { Position = "position", Layout = "layout", Dtype = "dtype", });
words!(Cost { Superlinear = "superlinear", Waits = "waits", });
words!(Gradient { Restricted = "restricted", });
words!(Complex { Linear = "linear", });
words!(Method { OtherReceiver = "other receiver", });

/// A function of one or more libraries, with all its names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Canonical.
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub torch: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numpy: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensorflow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jax: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mxnet: Vec<String>,
    /// Number of tensors that it combines element by element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elementwise: Option<u8>,
    /// What it computes, in the words of mpmath, with `x` for the element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    monotone: Option<Monotone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parity: Option<Parity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    algebra: Vec<Algebra>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sums: Option<Sums>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    result: Vec<ResultIs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writes: Option<Writes>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    about: Vec<About>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gradient: Option<Gradient>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    complex: Option<Complex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<Method>,
    /// Dimensions of the operands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand_rank: Option<usize>,
    /// Spatial dimensions; zero: the name looks like it, and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spatial: Option<usize>,
    /// Tensors that an object of its class is called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_with: Option<usize>,
}

/// What the names of a field begin with, and the field.
type Field = (&'static str, fn(&Function) -> &[String]);

const FIELDS: [Field; 6] = [
    ("torch.", |function| &function.torch),
    ("torch.", |function| &function.modules),
    ("numpy.", |function| &function.numpy),
    ("tensorflow.", |function| &function.tensorflow),
    ("jax.", |function| &function.jax),
    ("mxnet.", |function| &function.mxnet),
];

/// A library whose functions the table lists: in it only exact names count.
pub(crate) fn is_listed_library(root: &str) -> bool {
    FIELDS
        .iter()
        .any(|(prefix, _)| prefix.strip_suffix('.') == Some(root))
}

impl Function {
    pub fn has(&self, property: Property) -> bool {
        let result = |it| self.result.contains(&it);
        let algebra = |it| self.algebra.contains(&it);
        let about = |it| self.about.contains(&it);
        match property {
            Property::Elementwise => self.elementwise.is_some(),
            Property::Rising => self.monotone == Some(Monotone::Rising),
            Property::Odd => self.parity == Some(Parity::Odd),
            Property::Even => self.parity == Some(Parity::Even),
            Property::Idempotent => algebra(Algebra::Idempotent),
            Property::Involution => algebra(Algebra::Involution),
            Property::Commutative => algebra(Algebra::Commutative),
            Property::SumsToOne => self.sums.is_some(),
            Property::Uninitialised => result(ResultIs::Uninitialised),
            Property::Random => result(ResultIs::Random),
            Property::Varies => result(ResultIs::Varies),
            Property::Indices => result(ResultIs::Indices),
            Property::Unordered => result(ResultIs::Unordered),
            Property::Ambiguous => result(ResultIs::Ambiguous),
            Property::Sorted => result(ResultIs::Sorted),
            Property::WritesIndex => self.writes.is_some(),
            Property::AboutPosition => about(About::Position),
            Property::AboutLayout => about(About::Layout),
            Property::AboutDtype => about(About::Dtype),
            Property::Superlinear => self.cost == Some(Cost::Superlinear),
            Property::Waits => self.cost == Some(Cost::Waits),
            Property::RestrictedGradient => self.gradient.is_some(),
            Property::LinearComplex => self.complex.is_some(),
            Property::OtherReceiver => self.method.is_some(),
        }
    }

    /// The names that the table lists, with what each must begin with.
    pub fn listed(&self) -> impl Iterator<Item = (&str, &'static str)> {
        FIELDS
            .iter()
            .flat_map(|(prefix, names)| names(self).iter().map(|name| (name.as_str(), *prefix)))
    }

    /// Every name of it in PyTorch, the forms that follow from those listed included; classes aside.
    pub fn torch_names(&self) -> Vec<String> {
        self.torch.iter().flat_map(|name| forms(name)).collect()
    }

    /// Every name, in all libraries.
    pub fn all_names(&self) -> Vec<String> {
        self.listed().flat_map(|(name, _)| forms(name)).collect()
    }
}
