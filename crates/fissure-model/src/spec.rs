//! What an API accepts.
//!
//! Each list inside a [`Constraint`] holds alternatives; an empty list means "not constrained".

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Api, Argument, Comparison, Dtype, DtypeFamily, Expression, ParamHints, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub api: Api,
    /// In the order of the file: required, then optional.
    pub params: Vec<Param>,
    /// For a layer: the parameters of the call on the constructed object. Empty when the file does
    /// not say; they may refer to [`Spec::params`] by `&name` and share their symbols.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layer_params: Vec<Param>,
    /// Free shape symbols that the file declares.
    pub symbols: Vec<String>,
    /// The result is to be checked for NaN.
    pub check_nan: bool,
    /// Other titles of the same object.
    pub aliases: Vec<String>,
    /// The file this was read from.
    pub source: Option<PathBuf>,
    /// Rules that hold besides the constraints, or instead of them where [`Spec::params`] is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RuleText>,
    /// Further overloads. An input follows [`Spec::params`] or one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Form>,
    /// Calls that somebody made: in the documentation's examples, in tests. They are tried first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

impl Spec {
    /// Nothing is known from which inputs could be made.
    pub fn is_bare(&self) -> bool {
        self.rules.is_none() && self.params.is_empty() && self.layer_params.is_empty()
    }
}

/// One call that is known to have been made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    pub arguments: Vec<Argument>,
    /// Of a layer: the call on the constructed object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer_arguments: Option<Vec<Argument>>,
}

/// One overload: what [`Spec`] says, for another list of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    pub params: Vec<Param>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layer_params: Vec<Param>,
}

/// A rule file, not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleText {
    pub text: String,
    /// Where it comes from, for people.
    pub origin: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Without stars.
    pub name: String,
    pub role: Role,
    pub deprecated: bool,
    /// The default as a value, where its source text can be understood.
    pub default: Option<Value>,
    /// The default as source text.
    pub default_text: Option<String>,
    /// The documentation's words for the type (`Tensor, optional`).
    pub doc_dtype: Option<String>,
    /// The documentation's description.
    pub description: Option<String>,
    pub constraint: Constraint,
    /// Line of the parameter in the source file, from 1.
    pub line: Option<u32>,
    /// What is only likely: steers the generator and is never checked. Goes before what the words
    /// of [`Param::doc_dtype`] and [`Param::description`] say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Box<ParamHints>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Required,
    Optional,
    /// Optional and only by name.
    KeywordOnly,
    /// `*args`.
    VarPositional,
    /// `**kwargs`.
    VarKeyword,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    pub dtypes: Vec<DtypeTerm>,
    pub structures: Vec<Structure>,
    pub tensors: Vec<TensorKind>,
    pub ndims: Vec<NdimTerm>,
    pub shapes: Vec<ShapeTerm>,
    pub ranges: Vec<Range>,
    pub enums: Vec<Value>,
}

impl Constraint {
    pub fn is_empty(&self) -> bool {
        self == &Constraint::default()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DtypeTerm {
    Exact(Dtype),
    Family(DtypeFamily),
    /// The value is itself a dtype object (`torch.dtype`).
    DtypeObject,
    /// `dtype:&p`: the dtype of another parameter's elements.
    SameAs(String),
    /// A plain number, not a tensor.
    Scalar,
    Callable,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    List(Option<Element>),
    Tuple(Option<Element>),
    /// `tuple:(padH,padW)`: one entry per name, each name a symbol of the call.
    NamedTuple(Vec<String>, Option<Element>),
    /// A list or a tuple.
    Sequence(Option<Element>),
    Dict(Option<Element>, Option<Element>),
    /// A NumPy array (an MXNet array for MXNet).
    NdArray(Option<Element>),
}

/// What a structure contains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    Dtype(DtypeTerm),
    Tensor(TensorKind),
    /// A shape: a list of sizes.
    Shape,
    Structure(Box<Structure>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorKind {
    Dense,
    Sparse,
    /// Rows of different lengths (TensorFlow).
    Ragged,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NdimTerm {
    /// A rank, exact or compared (`>=2`, `n+2`, `>=&signal_ndim+1`).
    Is(Comparison, Expression),
    /// `?`: documented as varying.
    Any,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapeTerm {
    /// `[batch,4,...]`.
    Dims(Vec<Dim>),
    /// `shape:&p`.
    SameAs(String),
    /// `broadcast:&p`: the two shapes broadcast.
    BroadcastWith(String),
    /// `broadcast_to:&p`: the shape broadcasts to that of `p`, which stays as it is.
    BroadcastTo(String),
}

impl ShapeTerm {
    /// The parameter whose shape this one has something to do with as a whole.
    pub fn other(&self) -> Option<&str> {
        match self {
            ShapeTerm::Dims(_) => None,
            ShapeTerm::SameAs(name)
            | ShapeTerm::BroadcastWith(name)
            | ShapeTerm::BroadcastTo(name) => Some(name),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dim {
    /// A size, exact or compared (`4`, `n+2`, `>=1`).
    Is(Comparison, Expression),
    /// Any number of dimensions, none included.
    Ellipsis,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The range holds only for values of these types (`int:[0,inf)`).
    pub only_for: Option<DtypeTerm>,
    pub lower: Bound,
    pub upper: Bound,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    pub at: Expression,
    /// The bound itself belongs to the range.
    pub closed: bool,
}
