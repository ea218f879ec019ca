//! Does a call conform to its spec? Written apart from the sampler, so that each can be tested
//! against the other.

use fissure_model::{Argument, Category, ConcreteInput, DtypeTerm, Role, Spec, TensorKind, Value};

use crate::constraints::compiled::{
    Compared, CompiledDim, CompiledParam, CompiledShape, CompiledSpec, Matched, broadcasts,
};
use crate::constraints::expressions::{Facts, Scope};
use crate::constraints::facts::{facts_of, nested_shape, tensor_of, tensors_inside};
use crate::constraints::fit::{container_fits, dtypes_fit, numbers_fit};
use crate::constraints::meaning::containers_listed;
use crate::constraints::priors::arrays_serve;

/// One category of one parameter that a call does not respect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub param: String,
    pub category: Category,
}

/// The constraints that `input` breaks, in the order of the spec's parameters. Where parameters
/// contradict each other through a shared symbol, the first whose constraint can be given up to
/// reconcile the rest is named.
pub fn conforms(spec: &Spec, input: &ConcreteInput) -> Vec<Broken> {
    Checker::new(spec).check(input)
}

/// [`conforms`] with the spec prepared once.
pub struct Checker {
    params: Vec<CheckedParam>,
    /// How many of them belong to the constructor or function; the rest to the layer's call.
    own: usize,
    symbols: usize,
    /// Whose largest element or value an expression reads.
    read: Vec<bool>,
    /// An array serves wherever the library documents a tensor.
    arrays_serve: bool,
}

struct CheckedParam {
    name: String,
    required: bool,
    default: Option<Value>,
    default_facts: Facts,
    compiled: CompiledParam,
}

/// A thing with a rank and a shape that the constraints speak about.
struct Shaped<'a> {
    param: usize,
    /// Any of these counts as the rank.
    ranks: Vec<f64>,
    shape: Option<Vec<u64>>,
    value: &'a Value,
}

impl Checker {
    pub fn new(spec: &Spec) -> Self {
        let compiled = CompiledSpec::new(spec);
        let read = crate::constraints::plan::read_params(&compiled);
        let params = spec
            .params
            .iter()
            .chain(&spec.layer_params)
            .zip(compiled.params);
        Checker {
            params: params
                .map(|(param, compiled)| CheckedParam {
                    name: param.name.clone(),
                    required: param.role == Role::Required,
                    default: param.default.clone(),
                    default_facts: param
                        .default
                        .as_ref()
                        .map(|v| facts_of(v, true))
                        .unwrap_or_default(),
                    compiled,
                })
                .collect(),
            own: spec.params.len(),
            symbols: compiled.symbols,
            read,
            arrays_serve: arrays_serve(spec.api.tensor_library()),
        }
    }

    pub fn check(&self, input: &ConcreteInput) -> Vec<Broken> {
        let layer = input.layer_arguments.as_deref().unwrap_or_default();
        let mut given: Vec<(usize, &Value)> = Vec::with_capacity(input.arguments.len());
        for (index, param) in self.params.iter().enumerate() {
            let arguments: &[Argument] = if index < self.own {
                &input.arguments
            } else {
                layer
            };
            given.extend(
                arguments
                    .iter()
                    .filter(|a| a.name == param.name)
                    .map(|a| (index, &a.value)),
            );
        }
        let mut facts: Vec<Facts> = self
            .params
            .iter()
            .map(|param| param.default_facts.clone())
            .collect();
        // Of several arguments of one star parameter the first counts.
        for (index, value) in given.iter().rev() {
            facts[*index] = facts_of(value, self.read[*index]);
        }
        let mut broken: Vec<(usize, Category)> = Vec::new();
        let mut shaped = Vec::new();
        for &(index, value) in &given {
            let alone = self.check_alone(index, value, &facts, &mut shaped);
            broken.extend(alone.map(|category| (index, category)));
        }
        self.check_together(&shaped, &facts, &mut broken);
        broken.sort_unstable();
        broken.dedup();
        let mut named: Vec<Broken> = broken
            .into_iter()
            .map(|(index, category)| Broken {
                param: self.params[index].name.clone(),
                category,
            })
            .collect();
        for (index, param) in self.params.iter().enumerate() {
            let called = index < self.own || input.layer_arguments.is_some();
            if param.required && called && !given.iter().any(|(given, _)| *given == index) {
                named.push(Broken {
                    param: param.name.clone(),
                    category: Category::Structure,
                });
            }
        }
        named
    }

    /// The bounds of a parameter's range in this call, where it has any that can be known.
    pub fn bounds(&self, param: &str, input: &ConcreteInput) -> (Option<f64>, Option<f64>) {
        let layer = input.layer_arguments.as_deref().unwrap_or_default();
        let Some(index) = self.params.iter().position(|known| known.name == param) else {
            return (None, None);
        };
        let Some(range) = self.params[index].compiled.ranges.first() else {
            return (None, None);
        };
        let facts: Vec<Facts> = self
            .params
            .iter()
            .map(|param| {
                let given = input
                    .arguments
                    .iter()
                    .chain(layer)
                    .find(|a| a.name == param.name);
                let value = given
                    .map(|argument| &argument.value)
                    .or(param.default.as_ref());
                value.map(|value| facts_of(value, true)).unwrap_or_default()
            })
            .collect();
        let interval = range.interval(Scope {
            symbols: &vec![None; self.symbols],
            facts: &facts,
        });
        (
            interval.lower.is_finite().then_some(interval.lower),
            interval.upper.is_finite().then_some(interval.upper),
        )
    }

    /// Checks what needs no symbols: enum, container, dtype. What has a rank goes to `shaped`.
    fn check_alone<'a>(
        &self,
        index: usize,
        value: &'a Value,
        facts: &[Facts],
        shaped: &mut Vec<Shaped<'a>>,
    ) -> impl Iterator<Item = Category> + use<> {
        let param = &self.params[index];
        let compiled = &param.compiled;
        let constraint = &compiled.constraint;
        let mut broken = [None, None];
        if !constraint.enums.is_empty() {
            if !constraint.enums.contains(value) {
                broken[0] = Some(Category::Enum);
            }
            return broken.into_iter().flatten();
        }
        let exempt = match value {
            Value::None => param.default == Some(Value::None),
            Value::Object(_) | Value::Call { .. } => {
                constraint.dtypes.contains(&DtypeTerm::Callable) || constraint.is_empty()
            }
            Value::Dtype(_) => constraint.dtypes.contains(&DtypeTerm::DtypeObject),
            _ => false,
        } || compiled.objects.contains(value);
        if exempt && value.ragged_from().is_none() {
            return broken.into_iter().flatten();
        }
        let scope = Scope {
            symbols: &vec![None; self.symbols],
            facts,
        };
        if containers_listed(constraint)
            && !container_fits(compiled, value, scope)
            && !(self.arrays_serve
                && matches!(value, Value::NdArray(_))
                && constraint.tensors.contains(&TensorKind::Dense))
        {
            broken[0] = Some(Category::Structure);
        }
        let value = value.ragged_from().unwrap_or(value);
        if !dtypes_fit(compiled, value, facts) {
            broken[1] = Some(Category::Dtype);
        }
        if let Some(inside) = tensors_inside(value) {
            for tensor in inside {
                shaped.push(Shaped {
                    param: index,
                    ranks: vec![tensor.shape.len() as f64, 1.0],
                    shape: Some(tensor.shape.clone()),
                    value,
                });
            }
        } else if let Some(tensor) = tensor_of(value) {
            shaped.push(Shaped {
                param: index,
                ranks: vec![tensor.shape.len() as f64],
                shape: Some(tensor.shape.clone()),
                value,
            });
        } else if !matches!(value, Value::Dict(_) | Value::None | Value::Dtype(_)) {
            let shape = nested_shape(value);
            let mut ranks: Vec<f64> = shape.iter().map(|shape| shape.len() as f64).collect();
            // The rank of the entries counts, too.
            if let Some(depth) = ranks.first().copied()
                && depth > 0.0
                && !constraint.structures.is_empty()
            {
                ranks.extend([(depth - 1.0).max(1.0), 0.0]);
            }
            shaped.push(Shaped {
                param: index,
                ranks,
                shape,
                value,
            });
        } else {
            shaped.push(Shaped {
                param: index,
                ranks: vec![],
                shape: None,
                value,
            });
        }
        broken.into_iter().flatten()
    }

    fn check_together(
        &self,
        shaped: &[Shaped],
        facts: &[Facts],
        broken: &mut Vec<(usize, Category)>,
    ) {
        let symbols = vec![None; self.symbols];
        let categories = [Category::Ndim, Category::Shape, Category::Range];
        // First each for itself: what no value of the symbols can mend.
        let mut waived: Vec<(usize, Category)> = Vec::new();
        for one in shaped {
            for category in categories {
                let others: Vec<_> = categories
                    .iter()
                    .filter(|c| **c != category)
                    .map(|c| (one.param, *c))
                    .collect();
                if !self.unify(std::slice::from_ref(one), 0, &symbols, facts, &others) {
                    waived.push((one.param, category));
                }
            }
        }
        // Then all together; give up one more at a time until the rest agree.
        while !self.unify(shaped, 0, &symbols, facts, &waived) {
            let open: Vec<(usize, Category)> = shaped
                .iter()
                .flat_map(|one| categories.map(|category| (one.param, category)))
                .filter(|candidate| !waived.contains(candidate))
                .collect();
            let mending = open.iter().find(|candidate| {
                let more: Vec<_> = waived.iter().chain([*candidate]).copied().collect();
                self.unify(shaped, 0, &symbols, facts, &more)
            });
            match mending.or(open.first()) {
                Some(candidate) => waived.push(*candidate),
                None => break,
            }
        }
        broken.extend(waived);
    }

    /// Is there a value for every symbol such that everything from `at` on fits?
    fn unify(
        &self,
        shaped: &[Shaped],
        at: usize,
        symbols: &[Option<f64>],
        facts: &[Facts],
        waived: &[(usize, Category)],
    ) -> bool {
        let Some(one) = shaped.get(at) else {
            let scope = Scope { symbols, facts };
            return shaped.iter().all(|one| {
                waived.contains(&(one.param, Category::Range))
                    || numbers_fit(&self.params[one.param].compiled, one.value, scope)
            });
        };
        let compiled = &self.params[one.param].compiled;
        let mut options = vec![symbols.to_vec()];
        if !compiled.ndims.is_empty()
            && !one.ranks.is_empty()
            && !waived.contains(&(one.param, Category::Ndim))
        {
            options = Vec::new();
            for term in &compiled.ndims {
                for rank in &one.ranks {
                    bind(term, *rank, symbols, facts, &mut |bound| {
                        options.push(bound.to_vec())
                    });
                }
            }
        }
        if let Some(shape) = &one.shape
            && !compiled.shapes.is_empty()
            && !waived.contains(&(one.param, Category::Shape))
        {
            let mut fitted = Vec::new();
            for bound in &options {
                for term in &compiled.shapes {
                    match term {
                        CompiledShape::Unknown => fitted.push(bound.clone()),
                        CompiledShape::SameAs(other) => {
                            if facts[*other]
                                .shape
                                .as_ref()
                                .is_none_or(|other| other == shape)
                            {
                                fitted.push(bound.clone());
                            }
                        }
                        CompiledShape::Broadcast { other, to } => {
                            let other = facts[*other].shape.as_ref();
                            if other.is_none_or(|other| broadcasts(shape, other, *to)) {
                                fitted.push(bound.clone());
                            }
                        }
                        CompiledShape::Dims(dims) => {
                            align(dims, shape, bound, facts, &mut fitted);
                        }
                    }
                }
            }
            options = fitted;
        }
        // A fit that binds nothing leaves the most freedom to the rest.
        if options.iter().any(|option| option == symbols) {
            return self.unify(shaped, at + 1, symbols, facts, waived);
        }
        options
            .iter()
            .any(|option| self.unify(shaped, at + 1, option, facts, waived))
    }
}

fn bind(
    term: &Compared,
    actual: f64,
    symbols: &[Option<f64>],
    facts: &[Facts],
    found: &mut impl FnMut(&[Option<f64>]),
) {
    match term.matches(actual, Scope { symbols, facts }) {
        Matched::No => {}
        Matched::Yes => found(symbols),
        Matched::With(symbol, value) => {
            let mut bound = symbols.to_vec();
            bound[symbol] = Some(value);
            found(&bound);
        }
    }
}

/// All ways in which `dims` can describe `shape`.
fn align(
    dims: &[CompiledDim],
    shape: &[u64],
    symbols: &[Option<f64>],
    facts: &[Facts],
    found: &mut Vec<Vec<Option<f64>>>,
) {
    match dims {
        [] if shape.is_empty() => found.push(symbols.to_vec()),
        [] => {}
        [CompiledDim::Ellipsis, rest @ ..] => {
            for skip in 0..=shape.len() {
                align(rest, &shape[skip..], symbols, facts, found);
            }
        }
        [CompiledDim::Is(term), rest @ ..] => {
            if let [size, others @ ..] = shape {
                bind(term, *size as f64, symbols, facts, &mut |bound| {
                    align(rest, others, bound, facts, found);
                });
            }
        }
    }
}
