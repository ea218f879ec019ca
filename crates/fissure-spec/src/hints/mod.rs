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

use fissure_model::{Kind, Param, ParamHints, Spec};

pub use kind::objects;

/// One entry per parameter, in the order of [`Spec::params`] followed by [`Spec::layer_params`].
pub fn hints(spec: &Spec) -> Vec<ParamHints> {
    spec.params
        .iter()
        .chain(&spec.layer_params)
        .map(|param| param_hints(spec, param))
        .collect()
}

fn param_hints(spec: &Spec, param: &Param) -> ParamHints {
    if let Some(known) = &param.hints {
        let mut hints = ParamHints {
            name: param.name.clone(),
            ..(**known).clone()
        };
        kind::from_name(spec, param, &mut hints);
        if hints.kinds == [Kind::Text] && hints.choices.is_empty() {
            // That it is text is known; which text, only whoever knows the library.
            hints.stated = false;
            library_words::read(spec, param, &mut hints);
            hints.stated = true;
        }
        return hints;
    }
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
