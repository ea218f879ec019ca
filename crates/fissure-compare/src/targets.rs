//! From an API to its inputs: what the first version says of it, where no file does.

use std::sync::Arc;

use fissure_discover::{Description, from_signature, signature_of, spec_of, without_tensors};
use fissure_execute::Pool;
use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Api, Dtype, Signature, Spec};

/// Bytes of all tensors of one input: small ones show the same and cost less.
const TENSOR_BYTES: u64 = 1 << 20;

/// What can be called, or why not.
pub(crate) enum Prepared {
    Ready(Arc<Api>, Box<Generator>),
    /// The first version does not have it.
    New,
    LeftOut(String),
}

/// The generator of an API.
pub(crate) fn prepare(pool: &Pool, spec: &Spec, dtypes: &[Dtype], seed: u64) -> Prepared {
    let signature = match pool.describe(&spec.api.path) {
        Ok(signature) => signature,
        Err(error) => return Prepared::LeftOut(format!("failed to {error}")),
    };
    if signature.missing.is_some() {
        return Prepared::New;
    }
    if !signature.callable {
        return Prepared::LeftOut("it is not callable".into());
    }
    let (spec, signature, discovered) = match spec.is_bare() {
        false => (spec.clone(), signature, false),
        true => match discovered(pool, spec, &signature) {
            Some((spec, signature)) => (spec, signature, true),
            None => (spec.clone(), signature, false),
        },
    };
    let options = GenerateOptions {
        max_tensor_bytes: TENSOR_BYTES,
        special_values: true,
        // What both versions can make.
        dtypes: (discovered && !dtypes.is_empty()).then(|| dtypes.to_vec()),
        ..GenerateOptions::default()
    };
    match Generator::new(&spec, Some(&signature), options, seed) {
        Ok(generator) => Prepared::Ready(Arc::new(spec.api), Box::new(generator)),
        Err(error) => Prepared::LeftOut(error.to_string()),
    }
}

fn discovered(pool: &Pool, spec: &Spec, signature: &Signature) -> Option<(Spec, Signature)> {
    let api = &spec.api;
    let description = pool
        .discover(&api.path)
        .ok()
        .and_then(|answer| Description::from_json(&answer).ok())
        .filter(|description| !description.forms.is_empty())
        .unwrap_or_else(|| from_signature(&api.path, signature));
    let mut found = spec_of(api, &description)?;
    if pool.info().dtypes.is_empty() {
        found = without_tensors(found);
    }
    let signature = signature_of(&description, &signature.library_version);
    Some((found, signature))
}

/// Is the name there?
pub(crate) fn is_there(pool: &Pool, path: &str) -> bool {
    // A library that cannot answer is asked again by the call itself.
    pool.describe(path).is_ok_and(|it| it.missing.is_none())
}
