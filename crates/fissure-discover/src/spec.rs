//! A description becomes a spec.

use fissure_model::{
    Api, DtypeTerm, Form, Kind, Param, Role, ShapeTerm, Signature, SignatureParam, Spec,
};

use crate::description::{Description, FormDescription, ParamDescription};
use crate::param::{param_of, says_tensor};

/// Overloads that are generated for; the rest of a long list are variants of scalar types.
const FORMS: usize = 8;

/// The spec of `api` from what the library says of it; `None` if it says of no way to call it.
pub fn spec_of(api: &Api, description: &Description) -> Option<Spec> {
    let mut forms: Vec<Form> = Vec::new();
    for form in &description.forms {
        let form = form_of(form, &api.package);
        if !forms.contains(&form) && forms.len() < FORMS {
            forms.push(form);
        }
    }
    let mut forms = forms.into_iter();
    let first = forms.next()?;
    Some(Spec {
        api: Api {
            layer: description.layer,
            path: match &description.callable_path {
                Some(path) => path.clone(),
                None => api.path.clone(),
            },
            ..api.clone()
        },
        params: first.params,
        layer_params: first.layer_params,
        symbols: Vec::new(),
        check_nan: false,
        aliases: description.aliases.clone(),
        source: None,
        rules: None,
        forms: forms.collect(),
        examples: Vec::new(),
    })
}

/// What a parameter gets that may be anything, where there are no tensors to give.
const PLAIN: [Kind; 4] = [Kind::Int, Kind::Float, Kind::Text, Kind::Bool];

/// The spec for a target that works without tensors (no NumPy, no library of its own): parameters
/// get plain values only.
pub fn without_tensors(mut spec: Spec) -> Spec {
    let later = spec
        .forms
        .iter_mut()
        .flat_map(|form| form.params.iter_mut().chain(&mut form.layer_params));
    let params = spec.params.iter_mut().chain(&mut spec.layer_params);
    for hints in params.chain(later).filter_map(|it| it.hints.as_mut()) {
        hints.kinds.retain(|kind| !needs_tensors(kind));
        if hints.kinds.is_empty() {
            hints.kinds = PLAIN.to_vec();
            hints.kinds.push(Kind::List(Some(Box::new(Kind::Int))));
        }
        hints.stated = true;
    }
    spec
}

fn needs_tensors(kind: &Kind) -> bool {
    match kind {
        Kind::Tensor | Kind::SparseTensor | Kind::ArrayLike => true,
        Kind::List(inner) | Kind::Tuple(inner) | Kind::Sequence(inner) => {
            inner.as_deref().is_none_or(needs_tensors)
        }
        _ => false,
    }
}

fn form_of(form: &FormDescription, package: &str) -> Form {
    let exact = form.is_exact();
    let tensor = form.params.iter().find(|param| says_tensor(param));
    let axis_of = tensor.map(|param| param.name.as_str());
    let list = |params: &[ParamDescription]| -> Vec<Param> {
        let mut list: Vec<Param> = params
            .iter()
            .filter(|param| !param.name.is_empty())
            .map(|param| param_of(param, exact, form.keyword_only_call, package, axis_of))
            .collect();
        // Python has required parameters before optional ones, except those that go by name.
        list.sort_by_key(|param| param.role != Role::Required);
        list
    };
    let mut made = Form {
        params: list(&form.params),
        layer_params: list(&form.call_params),
    };
    let order: Vec<String> = made.params.iter().map(|param| param.name.clone()).collect();
    for relation in &form.relations {
        // A parameter follows only one before it, so that nothing goes round in a circle.
        let place = |name: &String| order.iter().position(|known| known == name);
        let Some(first) = relation.params.iter().filter_map(place).min() else {
            continue;
        };
        for (at, param) in made.params.iter_mut().enumerate() {
            if at > first && relation.params.contains(&param.name) {
                relate(param, &relation.kind, &order[first], exact);
            }
        }
    }
    made
}

fn relate(param: &mut Param, kind: &str, first: &str, exact: bool) {
    match kind {
        "same_dtype" if exact && param.constraint.is_empty() => {
            param.constraint.dtypes = vec![DtypeTerm::SameAs(first.to_owned())];
        }
        "same_shape" => {
            if let Some(hints) = &mut param.hints {
                hints.shapes = vec![ShapeTerm::SameAs(first.to_owned())];
            }
        }
        // The sampler makes broadcastable shapes of its own accord.
        _ => {}
    }
}

/// The signature that the first form of a description has: what `inspect` would say if it knew.
pub fn signature_of(description: &Description, library_version: &str) -> Signature {
    let params = description.forms.first().map(|form| {
        let param = |param: &ParamDescription| SignatureParam {
            name: param.name.clone(),
            kind: if form.keyword_only_call && param.kind == "positional_or_keyword" {
                "keyword_only".to_owned()
            } else {
                param.kind.clone()
            },
            default: match (param.required, &param.default) {
                (true, _) => None,
                (false, Some(default)) => Some(default.clone()),
                (false, None) => Some("...".to_owned()),
            },
        };
        form.params.iter().map(param).collect()
    });
    Signature {
        library_version: library_version.to_owned(),
        missing: None,
        callable: true,
        is_class: description.kind == "class",
        params,
    }
}
