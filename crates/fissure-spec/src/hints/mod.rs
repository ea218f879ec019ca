//! What the documentation's own words say about a parameter.
//!
//! The constraint lists of a file were extracted by machine and leave much open; the phrases they
//! were extracted from (`doc_dtype`, `descp`) often say more. What is read here is *soft*: it never
//! becomes part of a [`Spec`], it only steers the generator where the constraints are silent, or
//! where they contradict a type that the documentation states outright.

mod description;
mod kind;
mod library_words;
mod phrase;
mod shape_words;
mod value_words;

use fissure_model::{DtypeTerm, NdimTerm, Param, Range, ShapeTerm, Spec, Value};

pub use kind::Kind;

/// Soft knowledge about one parameter. Empty fields mean that the documentation does not say.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The value names an axis of this parameter's tensor: from `-ndim` to `ndim - 1`.
    pub axis_of: Option<String>,
    /// The values the prose lists (`'none' | 'mean' | 'sum'`).
    pub choices: Vec<Value>,
    /// Receives the result (`out`): best left away.
    pub output: bool,
    /// The documentation says the argument may be None or left away.
    pub none_allowed: bool,
}

/// One entry per parameter, in the order of [`Spec::params`] followed by [`Spec::layer_params`].
pub fn hints(spec: &Spec) -> Vec<ParamHints> {
    spec.params
        .iter()
        .chain(&spec.layer_params)
        .map(|param| param_hints(spec, param))
        .collect()
}

fn param_hints(spec: &Spec, param: &Param) -> ParamHints {
    let mut hints = ParamHints {
        name: param.name.clone(),
        ..ParamHints::default()
    };
    if let Some(text) = &param.doc_dtype {
        phrase::read(text, &mut hints);
        if spec.api.package == "mxnet" {
            library_words::own_arrays(text, &mut hints.kinds);
        }
        hints.stated = !hints.kinds.is_empty();
    }
    kind::from_name(spec, param, &mut hints);
    library_words::read(spec, param, &mut hints);
    description::read(spec, param, &mut hints);
    hints
}
