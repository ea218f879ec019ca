//! What is likely about an argument, where nothing is certain.

use serde::{Deserialize, Serialize};

use crate::{DtypeTerm, NdimTerm, Passing, Range, ShapeTerm, Value};

/// The sort of a documented argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Tensor,
    SparseTensor,
    NdArray,
    Int,
    Float,
    Complex,
    Bool,
    /// An integer or a float.
    Number,
    Text,
    List(Option<Box<Kind>>),
    Tuple(Option<Box<Kind>>),
    /// A list or a tuple; also "iterable".
    Sequence(Option<Box<Kind>>),
    Dict,
    /// Anything a tensor can be made from: a number, nested lists, an array.
    ArrayLike,
    /// A dtype object of the library.
    Dtype,
    Device,
    Layout,
    MemoryFormat,
    /// A random generator object.
    Generator,
    /// A function.
    Callable,
    /// A neural-network module.
    Module,
    /// A path or an open file.
    File,
    /// One of these values of the library.
    Ready(Vec<Value>),
    /// A named class that cannot be made from plain data (`ProcessGroup`).
    Other(String),
}

impl Kind {
    pub fn is_tensor(&self) -> bool {
        matches!(self, Kind::Tensor | Kind::SparseTensor)
    }

    /// An object of the library or the language that lists of element types and structures have no word for.
    pub fn is_object(&self) -> bool {
        matches!(
            self,
            Kind::Device
                | Kind::Layout
                | Kind::MemoryFormat
                | Kind::Generator
                | Kind::Callable
                | Kind::Module
                | Kind::Ready(_)
        )
    }
}

/// Soft knowledge about one parameter. Empty fields mean that the documentation does not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParamHints {
    /// The parameter's name, as in [`Param::name`].
    pub name: String,
    /// What the argument is, likeliest first.
    pub kinds: Vec<Kind>,
    /// `kinds` is a type stated outright (`int or tuple`), not inferred from prose: a constraint
    /// that allows only other kinds is likely noise of the extraction.
    pub stated: bool,
    /// Element types of the tensor, of the entries or of the number.
    pub dtypes: Vec<DtypeTerm>,
    /// Possible ranks of the tensor.
    pub ndims: Vec<NdimTerm>,
    /// Possible shapes of the tensor; symbols are shared by all parameters of the spec.
    pub shapes: Vec<ShapeTerm>,
    /// Bounds of the number, of the entries or of the tensor's elements.
    pub range: Option<Range>,
    /// Number of entries of a list or tuple.
    pub length: Option<usize>,
    /// Number of entries that a list has at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_length: Option<usize>,
    /// The value names an axis of this parameter's tensor: from `-ndim` to `ndim - 1`.
    pub axis_of: Option<String>,
    /// The values the prose lists (`'none' | 'mean' | 'sum'`).
    pub choices: Vec<Value>,
    /// Receives the result (`out`): best left away.
    pub output: bool,
    /// The documentation says the argument may be None or left away.
    pub none_allowed: bool,
    /// `kinds` comes from a source for machines (a schema, a registry, an annotation): other kinds
    /// are hardly worth a try.
    pub exact: bool,
    /// By position or by name, where the source says.
    pub passing: Option<Passing>,
}
