//! Shapes: from the constraint where it speaks, by convention where it does not.

use fissure_model::{Category, Comparison, FillScheme};

use crate::constraints::compiled::{Compared, CompiledDim, CompiledShape, Matched};
use crate::constraints::expressions::Unbound;
use crate::constraints::plan::TensorSlots;
use crate::constraints::sample::{Call, Unsatisfied};

/// How the tensors of one call relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// All have one shape.
    Same,
    /// All dimensions of all tensors are equal, each tensor has its own rank: products of
    /// matrices, convolutions and the like accept this.
    Square,
    /// Shapes that broadcast to one shape.
    Broadcast,
    Independent,
}

pub(crate) const SCHEMES: [Scheme; 4] = [
    Scheme::Same,
    Scheme::Square,
    Scheme::Broadcast,
    Scheme::Independent,
];
pub(crate) const SCHEME_WEIGHTS: [f32; 4] = [4.0, 3.0, 1.0, 0.6];

/// How one tensor relates to the others of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Follow,
    Square,
    /// One dimension, as long as the first dimension of the shared shape.
    First,
    /// One dimension, as long as the second dimension of the shared shape (the channels).
    Second,
    /// One dimension, as long as the last dimension of the shared shape.
    Last,
    /// The shared shape without its second dimension, as class indices are.
    WithoutSecond,
    Independent,
}

pub(crate) const FORMS: [Form; 7] = [
    Form::Follow,
    Form::Square,
    Form::First,
    Form::Second,
    Form::Last,
    Form::WithoutSecond,
    Form::Independent,
];
pub(crate) const FORM_WEIGHTS: [f32; 7] = [6.0, 2.0, 0.3, 0.4, 0.3, 0.3, 0.8];

/// The size of square tensors, with weights.
pub(crate) const SIZES: [(u64, f32); 16] = [
    (1, 1.0),
    (2, 2.0),
    (3, 2.5),
    (4, 2.5),
    (5, 1.0),
    (6, 1.0),
    (7, 0.5),
    (8, 1.5),
    (9, 0.3),
    (15, 0.2),
    (16, 0.4),
    (17, 0.3),
    (32, 0.15),
    (33, 0.15),
    (64, 0.05),
    (0, 0.15),
];

pub(crate) const FILL_WEIGHTS: [f32; 6] = [6.0, 1.5, 1.0, 1.5, 0.6, 0.5];

pub(crate) fn fill_scheme(option: usize, size: u64) -> FillScheme {
    match option {
        0 => FillScheme::Mixed,
        1 => FillScheme::Unit,
        2 => FillScheme::Positive,
        3 => FillScheme::Index(size.max(1)),
        4 => FillScheme::Ones,
        _ => FillScheme::Identity,
    }
}

/// The largest rank that is ever tried.
const MAX_RANK: usize = 8;

impl Call<'_> {
    /// A size as a tester would choose it.
    pub(super) fn dim(&mut self) -> u64 {
        let roll = self.random.below(if self.small { 70 } else { 100 });
        match roll {
            0..=64 => 1 + self.random.below(if self.small { 3 } else { 8 }),
            65..=69 => 1,
            70..=81 => 2 + self.random.below(3),
            82..=91 => *self.random.pick(&[3, 5, 7, 9, 15, 16, 17, 31, 32, 33]),
            92 | 93 => 0,
            94..=97 => 8 + self.random.below(25),
            98 => 1 + self.random.below(4),
            _ => *self
                .random
                .pick(&[63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025]),
        }
    }

    /// The shape of a tensor of parameter `index`.
    pub(super) fn tensor_shape(&mut self, index: usize) -> Result<Vec<u64>, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let compiled = &param.compiled;
        if !compiled.shapes.is_empty() {
            return self.constrained_shape(index, 0);
        }
        if !compiled.ndims.is_empty() {
            let rank = self.constrained_rank(index, 0)?;
            return Ok(self.free_shape(&param.tensor, Some(rank)));
        }
        let soft = &compiled.soft;
        if !soft.shapes.is_empty() && self.random.chance(0.8) {
            let alternative = self.random.index(soft.shapes.len());
            let saved = self.symbols.clone();
            if let Some(shape) =
                self.shape_of_term(&soft.shapes[alternative], &param.tensor, 0, index)
            {
                return Ok(shape);
            }
            self.symbols = saved;
        }
        if !soft.ndims.is_empty() && self.random.chance(0.85) {
            let drawn = self.choose(param.tensor.rank);
            for rank in [drawn].into_iter().chain(0..=MAX_RANK) {
                if soft.ndims.iter().any(|term| self.fits(term, rank as f64)) {
                    return Ok(self.free_shape(&param.tensor, Some(rank)));
                }
            }
        }
        Ok(self.free_shape(&param.tensor, None))
    }

    /// One of the listed shapes, with at least `least` dimensions.
    pub(super) fn constrained_shape(
        &mut self,
        index: usize,
        least: usize,
    ) -> Result<Vec<u64>, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let shapes = &param.compiled.shapes;
        let first = self.choose(param.alternative);
        let saved = self.symbols.clone();
        for step in 0..shapes.len() {
            let term = &shapes[(first + step) % shapes.len()];
            if let Some(shape) = self.shape_of_term(term, &param.tensor, least, index)
                && self.bind_rank(index, shape.len())
            {
                return Ok(shape);
            }
            self.symbols.clone_from(&saved);
        }
        Err(Unsatisfied {
            param: index,
            category: Category::Shape,
        })
    }

    fn shape_of_term(
        &mut self,
        term: &CompiledShape,
        slots: &TensorSlots,
        least: usize,
        index: usize,
    ) -> Option<Vec<u64>> {
        match term {
            CompiledShape::Unknown => Some(self.free_shape(slots, None)),
            CompiledShape::SameAs(other) => match self.facts[*other].shape.clone() {
                Some(shape) => (shape.len() >= least).then_some(shape),
                None => Some(self.free_shape(slots, None)),
            },
            CompiledShape::Broadcast { other, to } => {
                let Some(shape) = self.facts[*other].shape.clone() else {
                    return Some(self.free_shape(slots, None));
                };
                let shape = self.broadcast_shape(shape, *to);
                (shape.len() >= least).then_some(shape)
            }
            CompiledShape::Dims(dims) => {
                let fixed = dims
                    .iter()
                    .filter(|dim| matches!(dim, CompiledDim::Is(_)))
                    .count();
                let ellipses = dims.len() - fixed;
                let mut extra = 0;
                if ellipses > 0 {
                    let params = &self.plan.params[index].compiled;
                    let wanted = self.random.index(4);
                    extra = [wanted, 0, 1, 2, 3, 4, 5].into_iter().find(|extra| {
                        fixed + extra >= least
                            && params.allows_rank((fixed + extra) as f64, self.scope())
                    })?;
                } else if fixed < least {
                    return None;
                }
                let mut shape = Vec::with_capacity(fixed + extra);
                for dim in dims {
                    match dim {
                        CompiledDim::Is(term) => shape.push(self.dim_of_term(term)?),
                        CompiledDim::Ellipsis => {
                            // Several ellipses: the first takes all.
                            for _ in 0..std::mem::take(&mut extra) {
                                let size = self.dim();
                                shape.push(size);
                            }
                        }
                    }
                }
                Some(shape)
            }
        }
    }

    /// A shape that broadcasts with another one: mostly the same, here and there one of a dimension,
    /// fewer dimensions or, unless it must broadcast `to` the other, more of them.
    fn broadcast_shape(&mut self, mut shape: Vec<u64>, to: bool) -> Vec<u64> {
        if self.random.chance(0.6) {
            return shape;
        }
        for size in &mut shape {
            if self.random.chance(0.3) {
                *size = 1;
            } else if !to && *size == 1 && self.random.chance(0.3) {
                *size = self.dim();
            }
        }
        match self.random.index(4) {
            0 if !shape.is_empty() => {
                let dropped = self.random.index(shape.len() + 1);
                shape.drain(..dropped);
            }
            1 if !to && shape.len() < MAX_RANK => {
                let size = self.dim();
                shape.insert(0, size);
            }
            _ => {}
        }
        shape
    }

    /// A size that satisfies `term`, binding its symbols as needed.
    fn dim_of_term(&mut self, compared: &Compared) -> Option<u64> {
        let Compared(comparison, term) = compared;
        for _ in 0..8 {
            match term.unbound(self.scope()) {
                Unbound::Unknowable => return Some(self.dim()),
                Unbound::Many(symbol) => self.bind_small(symbol),
                Unbound::One(symbol) if *comparison == Comparison::Equal => {
                    let size = self.dim();
                    match term.solve(self.scope(), size as f64) {
                        Some(value) if value >= 0.0 => {
                            self.symbols[symbol] = Some(value);
                            return Some(size);
                        }
                        _ => self.bind_small(symbol),
                    }
                }
                Unbound::One(symbol) => self.bind_small(symbol),
                Unbound::None => break,
            }
        }
        let value = term.evaluate(self.scope())?;
        let near = self.random.below(5) as f64;
        let size = match comparison {
            Comparison::Equal => value,
            Comparison::GreaterOrEqual => value.ceil().max(0.0) + near,
            Comparison::Greater => value.floor().max(-1.0) + 1.0 + near,
            Comparison::LessOrEqual => (value.floor() - near).max(0.0),
            Comparison::Less => (value.ceil() - 1.0 - near).max(0.0),
            Comparison::NotEqual => {
                let size = self.dim() as f64;
                if size == value { size + 1.0 } else { size }
            }
        };
        let fits = size >= 0.0
            && size.fract() == 0.0
            && size <= 4_294_967_296.0
            && crate::constraints::expressions::compare(size, *comparison, value);
        fits.then_some(size as u64)
    }

    /// Gives a symbol a value as of a small dimension.
    pub(super) fn bind_small(&mut self, symbol: usize) {
        let value = 1 + self.random.below(8);
        self.symbols[symbol] = Some(value as f64);
    }

    fn fits(&self, term: &Compared, actual: f64) -> bool {
        !matches!(term.matches(actual, self.scope()), Matched::No)
    }

    /// A rank that the constraint allows, at least `least`.
    pub(super) fn constrained_rank(
        &mut self,
        index: usize,
        least: usize,
    ) -> Result<usize, Unsatisfied> {
        let plan = self.plan;
        let param = &plan.params[index];
        let drawn = self.choose(param.tensor.rank);
        for rank in [drawn].into_iter().chain(0..=MAX_RANK) {
            if rank >= least && self.bind_rank(index, rank) {
                return Ok(rank);
            }
        }
        Err(Unsatisfied {
            param: index,
            category: Category::Ndim,
        })
    }

    /// Does the rank fit? Binds a symbol if it only fits so.
    pub(super) fn bind_rank(&mut self, index: usize, rank: usize) -> bool {
        let plan = self.plan;
        let ndims = &plan.params[index].compiled.ndims;
        if ndims.is_empty() {
            return true;
        }
        let mut with = None;
        for term in ndims {
            match term.matches(rank as f64, self.scope()) {
                Matched::Yes => return true,
                Matched::With(symbol, value) if value >= 0.0 => with = Some((symbol, value)),
                _ => {}
            }
        }
        if let Some((symbol, value)) = with {
            self.symbols[symbol] = Some(value);
        }
        with.is_some()
    }

    /// A shape that nothing constrains but perhaps its rank.
    pub(super) fn free_shape(&mut self, slots: &TensorSlots, rank: Option<usize>) -> Vec<u64> {
        let form = FORMS[self.choose(slots.form)];
        let shared = self.shared_shape.clone();
        let at = |index: usize| shared.get(index).copied();
        let shape = match form {
            Form::First => vec![at(0).unwrap_or(self.size)],
            Form::Second => vec![at(1).unwrap_or(self.size)],
            Form::Last => vec![shared.last().copied().unwrap_or(self.size)],
            Form::WithoutSecond => {
                let mut shape = shared;
                if shape.len() > 1 {
                    shape.remove(1);
                }
                shape
            }
            Form::Square => {
                let rank = rank.unwrap_or_else(|| self.choose(slots.rank));
                vec![self.size; rank]
            }
            Form::Independent => {
                let rank = rank.unwrap_or_else(|| self.choose(slots.rank));
                (0..rank).map(|_| self.dim()).collect()
            }
            Form::Follow => match self.scheme {
                Scheme::Same => shared,
                Scheme::Square => {
                    let rank = rank.unwrap_or_else(|| self.choose(slots.rank));
                    vec![self.size; rank]
                }
                Scheme::Broadcast => {
                    let drop = if self.random.chance(0.3) {
                        self.random.index(shared.len() + 1)
                    } else {
                        0
                    };
                    let mut shape = shared[drop..].to_vec();
                    for size in &mut shape {
                        if self.random.chance(0.25) {
                            *size = 1;
                        }
                    }
                    shape
                }
                Scheme::Independent => {
                    let rank = rank.unwrap_or_else(|| self.choose(slots.rank));
                    (0..rank).map(|_| self.dim()).collect()
                }
            },
        };
        match rank {
            Some(rank) if shape.len() > rank => shape[shape.len() - rank..].to_vec(),
            Some(rank) if shape.len() < rank => {
                let mut padded = vec![self.size; rank - shape.len()];
                padded.extend(shape);
                padded
            }
            _ => shape,
        }
    }
}
