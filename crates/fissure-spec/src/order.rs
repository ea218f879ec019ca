//! In which order the parameters of a call can be decided.

use fissure_model::{Param, Spec};

use crate::references;

/// Parameters that depend on each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameters depend on each other: {}", circle(.names))]
pub struct Cycle {
    /// Each depends on the next one, the last on the first.
    pub names: Vec<String>,
}

fn circle(names: &[String]) -> String {
    names
        .iter()
        .chain(names.first())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" → ")
}

/// Positions in [`Spec::params`] such that every parameter comes after those its dtype, ndim,
/// shape and range refer to. Among the possible orders, the one nearest to the file's.
pub fn generation_order(spec: &Spec) -> Result<Vec<usize>, Cycle> {
    strict(order(&spec.params))
}

/// The same for [`Spec::layer_params`], which come after all of [`Spec::params`].
pub fn layer_generation_order(spec: &Spec) -> Result<Vec<usize>, Cycle> {
    strict(order(&spec.layer_params))
}

/// An order of [`Spec::params`] even where there are circles, and the circles. Each circle is
/// entered at its first parameter in the file: what that one refers to is not decided yet when its
/// turn comes.
pub fn relaxed_order(spec: &Spec) -> (Vec<usize>, Vec<Cycle>) {
    order(&spec.params)
}

fn strict((order, cycles): (Vec<usize>, Vec<Cycle>)) -> Result<Vec<usize>, Cycle> {
    match cycles.into_iter().next() {
        Some(cycle) => Err(cycle),
        None => Ok(order),
    }
}

fn order(params: &[Param]) -> (Vec<usize>, Vec<Cycle>) {
    let needs: Vec<Vec<usize>> = params
        .iter()
        .map(|param| dependencies(param, params))
        .collect();
    let mut order = Vec::with_capacity(params.len());
    let mut cycles = Vec::new();
    let mut placed = vec![false; params.len()];
    while order.len() < params.len() {
        let ready = (0..params.len())
            .find(|&at| !placed[at] && needs[at].iter().all(|&needed| placed[needed]));
        let at = ready.unwrap_or_else(|| {
            let cycle = find_cycle(&needs, &placed);
            let first = cycle.iter().copied().min().expect("a circle has a member");
            let names = cycle
                .into_iter()
                .map(|at| params[at].name.clone())
                .collect();
            cycles.push(Cycle { names });
            first
        });
        placed[at] = true;
        order.push(at);
    }
    (order, cycles)
}

fn dependencies(param: &Param, params: &[Param]) -> Vec<usize> {
    let mut found = Vec::new();
    references::for_each(&param.constraint, &mut |name| {
        found.extend(params.iter().position(|other| other.name == name));
    });
    found
}

/// Every parameter that is not placed waits for one that is not placed either: following these
/// must come back to a parameter already seen.
fn find_cycle(needs: &[Vec<usize>], placed: &[bool]) -> Vec<usize> {
    let start = placed.iter().position(|placed| !placed);
    let mut path = vec![start.expect("called only while parameters are missing")];
    loop {
        let last = path[path.len() - 1];
        let waits_for = needs[last].iter().copied().find(|&needed| !placed[needed]);
        let next = waits_for.expect("called only when no parameter is ready");
        if let Some(start) = path.iter().position(|&seen| seen == next) {
            path.drain(..start);
            return path;
        }
        path.push(next);
    }
}
