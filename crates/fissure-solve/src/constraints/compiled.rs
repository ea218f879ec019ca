//! The constraints of a spec with all names resolved.

use fissure_model::{
    Bound, Comparison, Constraint, Dim, DtypeTerm, NdimTerm, Param, Range, ShapeTerm, Spec, Value,
};
use fissure_spec::{ParamHints, objects};

use crate::constraints::expressions::{Facts, Names, Scope, Term, Unbound, compare};
use crate::constraints::meaning::object_kinds;

/// One parameter's constraint, ready to be sampled and checked.
#[derive(Clone, Debug)]
pub(crate) struct CompiledParam {
    pub constraint: Constraint,
    pub hints: ParamHints,
    /// For each dtype term: the parameter it names.
    pub dtype_sources: Vec<Option<usize>>,
    /// Empty: any rank.
    pub ndims: Vec<Compared>,
    /// Empty: any shape.
    pub shapes: Vec<CompiledShape>,
    pub ranges: Vec<CompiledRange>,
    /// What the documentation says where the lists are silent; never checked.
    pub soft: Soft,
    /// Ready objects of a kind that the documentation states and the lists have no word for.
    pub objects: Vec<Value>,
}

/// The documentation's words, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Soft {
    pub ndims: Vec<Compared>,
    pub shapes: Vec<CompiledShape>,
    pub range: Option<CompiledRange>,
    pub axis_of: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Compared(pub Comparison, pub Term);

#[derive(Clone, Debug)]
pub(crate) enum CompiledShape {
    Dims(Vec<CompiledDim>),
    SameAs(usize),
    /// Broadcasts with the shape of that parameter; to it, where `to`.
    Broadcast {
        other: usize,
        to: bool,
    },
    /// The shape of a parameter that does not exist; restricts nothing.
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) enum CompiledDim {
    Is(Compared),
    Ellipsis,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledRange {
    pub only_for: Option<DtypeTerm>,
    pub lower: (Term, bool),
    pub upper: (Term, bool),
}

/// An interval of numbers; an end that is not known is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub lower: f64,
    pub lower_closed: bool,
    pub upper: f64,
    pub upper_closed: bool,
}

impl Interval {
    pub(crate) fn contains(self, value: f64) -> bool {
        let above = value > self.lower
            || value == self.lower && self.lower_closed
            || self.lower == f64::NEG_INFINITY;
        let below = value < self.upper
            || value == self.upper && self.upper_closed
            || self.upper == f64::INFINITY;
        above && below && !value.is_nan()
    }
}

impl CompiledRange {
    pub(crate) fn interval(&self, scope: Scope) -> Interval {
        Interval {
            lower: self.lower.0.evaluate(scope).unwrap_or(f64::NEG_INFINITY),
            lower_closed: self.lower.1,
            upper: self.upper.0.evaluate(scope).unwrap_or(f64::INFINITY),
            upper_closed: self.upper.1,
        }
    }
}

/// What follows for the symbols when a size is compared with a term.
pub(crate) enum Matched {
    No,
    Yes,
    /// If this symbol has this value.
    With(usize, f64),
}

impl Compared {
    pub(crate) fn matches(&self, actual: f64, scope: Scope) -> Matched {
        let Compared(comparison, term) = self;
        match term.unbound(scope) {
            Unbound::Unknowable | Unbound::Many(_) => Matched::Yes,
            Unbound::One(symbol) if *comparison == Comparison::Equal => {
                match term.solve(scope, actual) {
                    Some(value) => Matched::With(symbol, value),
                    None => Matched::No,
                }
            }
            // Some value of the symbol satisfies any other comparison.
            Unbound::One(_) => Matched::Yes,
            Unbound::None => match term.evaluate(scope) {
                Some(value) if !compare(actual, *comparison, value) => Matched::No,
                _ => Matched::Yes,
            },
        }
    }
}

impl CompiledParam {
    fn new<'a>(
        param: &'a Param,
        hints: &'a ParamHints,
        package: &str,
        names: &mut Names<'a>,
    ) -> Self {
        let constraint = &param.constraint;
        let dtype_sources = constraint
            .dtypes
            .iter()
            .map(|term| match term {
                DtypeTerm::SameAs(name) => names.param(name),
                _ => None,
            })
            .collect();
        let soft = Soft {
            ndims: compile_ndims(&hints.ndims, names),
            shapes: hints
                .shapes
                .iter()
                .map(|term| compile_shape(term, names))
                .collect(),
            range: hints
                .range
                .as_ref()
                .map(|range| compile_range(range, names)),
            axis_of: hints.axis_of.as_ref().and_then(|name| names.param(name)),
        };
        CompiledParam {
            dtype_sources,
            soft,
            objects: object_kinds(hints, constraint.is_empty())
                .flat_map(|kind| objects(kind, package))
                .collect(),
            ndims: compile_ndims(&constraint.ndims, names),
            shapes: constraint
                .shapes
                .iter()
                .map(|term| compile_shape(term, names))
                .collect(),
            ranges: constraint
                .ranges
                .iter()
                .map(|range| compile_range(range, names))
                .collect(),
            constraint: constraint.clone(),
            hints: hints.clone(),
        }
    }

    /// The facts of the parameter that the dtype term at `index` names.
    pub(crate) fn dtype_facts<'a>(&self, index: usize, facts: &'a [Facts]) -> Option<&'a Facts> {
        self.dtype_sources[index].map(|param| &facts[param])
    }

    /// Is this rank allowed, for some value of the symbols?
    pub(crate) fn allows_rank(&self, rank: f64, scope: Scope) -> bool {
        self.ndims.is_empty()
            || self
                .ndims
                .iter()
                .any(|term| !matches!(term.matches(rank, scope), Matched::No))
    }

    /// Rank 0 is listed outright: a plain number is meant too.
    pub(crate) fn allows_plain(&self, scope: Scope) -> bool {
        !self.ndims.is_empty() && self.allows_rank(0.0, scope)
    }
}

fn compile_ndims<'a>(terms: &'a [NdimTerm], names: &mut Names<'a>) -> Vec<Compared> {
    if terms.contains(&NdimTerm::Any) {
        return Vec::new();
    }
    let mut compiled = Vec::new();
    for term in terms {
        if let NdimTerm::Is(comparison, expression) = term {
            compiled.push(Compared(*comparison, names.term(expression)));
        }
    }
    compiled
}

fn compile_shape<'a>(term: &'a ShapeTerm, names: &mut Names<'a>) -> CompiledShape {
    match term {
        ShapeTerm::SameAs(name) => names
            .param(name)
            .map_or(CompiledShape::Unknown, CompiledShape::SameAs),
        ShapeTerm::BroadcastWith(name) | ShapeTerm::BroadcastTo(name) => {
            let to = matches!(term, ShapeTerm::BroadcastTo(_));
            names
                .param(name)
                .map_or(CompiledShape::Unknown, |other| CompiledShape::Broadcast {
                    other,
                    to,
                })
        }
        ShapeTerm::Dims(dims) => {
            let compile = |dim: &'a Dim, names: &mut Names<'a>| match dim {
                Dim::Ellipsis => CompiledDim::Ellipsis,
                Dim::Is(comparison, expression) => {
                    CompiledDim::Is(Compared(*comparison, names.term(expression)))
                }
            };
            CompiledShape::Dims(dims.iter().map(|dim| compile(dim, names)).collect())
        }
    }
}

/// Do two shapes broadcast, to the second where `to`?
pub(crate) fn broadcasts(shape: &[u64], other: &[u64], to: bool) -> bool {
    if to && shape.len() > other.len() {
        return false;
    }
    let pairs = shape.iter().rev().zip(other.iter().rev());
    pairs
        .into_iter()
        .all(|(size, other)| size == other || *size == 1 || (!to && *other == 1))
}

fn compile_range<'a>(range: &'a Range, names: &mut Names<'a>) -> CompiledRange {
    let mut bound = |bound: &'a Bound| (names.term(&bound.at), bound.closed);
    CompiledRange {
        only_for: range.only_for.clone(),
        lower: bound(&range.lower),
        upper: bound(&range.upper),
    }
}

/// All parameters of a spec, those of the layer's own call after the others.
pub(crate) struct CompiledSpec {
    pub params: Vec<CompiledParam>,
    pub symbols: usize,
}

impl CompiledSpec {
    pub(crate) fn new(spec: &Spec) -> Self {
        let params = || spec.params.iter().chain(&spec.layer_params);
        let mut names = Names {
            params: params().map(|param| param.name.as_str()).collect(),
            symbols: vec![],
        };
        let hints = fissure_spec::hints(spec);
        let params = params()
            .zip(&hints)
            .map(|(param, hints)| {
                CompiledParam::new(param, hints, spec.api.tensor_library(), &mut names)
            })
            .collect();
        CompiledSpec {
            params,
            symbols: names.symbols.len(),
        }
    }
}
