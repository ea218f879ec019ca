//! A checked rule: names resolved, every operation at its type, ready to be evaluated.

use fissure_model::Dtype;

use crate::number::Number;
use crate::syntax::{Declaration, Operator, Quantifier};

/// A rule that type-checks.
#[derive(Clone, Debug)]
pub struct CheckedRule {
    pub params: Vec<Declaration>,
    pub formula: Formula,
}

/// Something that holds or not.
#[derive(Clone, Debug)]
pub enum Formula {
    Constant(bool),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
    If(Box<(Formula, Formula, Formula)>),
    /// Both hold or both do not.
    Alike(Box<(Formula, Formula)>),
    /// A boolean argument has this value.
    Truth(Subject, bool),
    /// `operator` is a comparison.
    Compare(Operator, Term, Term),
    NumberIn(Term, Vec<Number>),
    DtypeIn(DtypeTerm, DtypeSet),
    /// Equal, or (`false`) different.
    DtypeSame(bool, DtypeTerm, DtypeTerm),
    /// A text that is, or (`false`) is not, one of these.
    TextIn(bool, Subject, Vec<String>),
    /// Equal, or (`false`) different values of any one type.
    ValueSame(bool, Subject, Subject),
    SequenceSame(bool, Sequence, Sequence),
    Given(Subject),
    Broadcastable(Vec<Sequence>),
    BroadcastableTo(Sequence, Sequence),
    Fact(ElementFact, Subject),
    Characters(Subject, String),
    /// The variable in `slot` takes every whole number from one end to the other.
    Range {
        quantifier: Quantifier,
        slot: usize,
        low: Term,
        high: Term,
        body: Box<Formula>,
    },
    /// The variable in `slot` takes every item.
    Items {
        quantifier: Quantifier,
        slot: usize,
        of: Sequence,
        body: Box<Formula>,
    },
}

/// A number, or undefined.
#[derive(Clone, Debug)]
pub enum Term {
    Constant(Number),
    Value(Subject),
    Ndim(Subject),
    /// One dimension; a negative index counts from the end.
    Dimension(Box<(Subject, Term)>),
    Size(Subject),
    Length(Subject),
    Minimum(Sequence),
    Maximum(Sequence),
    Least(Vec<Term>),
    Greatest(Vec<Term>),
    Product(Sequence, Option<Box<(Term, Term)>>),
    Sum(Sequence),
    /// `operator` is arithmetic.
    Calculate(Operator, Box<(Term, Term)>),
    Negate(Box<Term>),
    Absolute(Box<Term>),
    If(Box<(Formula, Term, Term)>),
}

/// A value of the input, or inside one.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Position among the rule's parameters.
    Param(usize),
    /// A variable of a quantifier.
    Bound(usize),
    Item(Box<(Subject, Term)>),
}

/// Several numbers or values in a row.
#[derive(Clone, Debug)]
pub enum Sequence {
    Shape(Subject),
    /// The items of a list, the elements of a tensor.
    Of(Subject),
}

#[derive(Clone, Debug)]
pub enum DtypeTerm {
    Constant(Dtype),
    /// The dtype of a tensor, or a dtype argument itself.
    Of(Subject),
}

/// A set of dtypes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DtypeSet(pub u32);

impl DtypeSet {
    pub const ALL: DtypeSet = DtypeSet((1 << Dtype::ALL.len()) - 1);

    pub fn of(dtypes: impl IntoIterator<Item = Dtype>) -> Self {
        DtypeSet(
            dtypes
                .into_iter()
                .fold(0, |bits, dtype| bits | 1 << dtype as u32),
        )
    }

    pub fn contains(self, dtype: Dtype) -> bool {
        self.0 >> dtype as u32 & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = Dtype> {
        Dtype::ALL
            .into_iter()
            .filter(move |dtype| self.contains(*dtype))
    }
}

/// What can hold of a tensor's elements as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementFact {
    Sorted,
    Distinct,
    Permutation,
    OneHot,
    Symmetric,
    PositiveDefinite,
}

impl ElementFact {
    pub const ALL: [ElementFact; 6] = [
        ElementFact::Sorted,
        ElementFact::Distinct,
        ElementFact::Permutation,
        ElementFact::OneHot,
        ElementFact::Symmetric,
        ElementFact::PositiveDefinite,
    ];

    /// Can hold only where the last two dimensions are equal.
    pub fn is_of_square_matrices(self) -> bool {
        matches!(self, ElementFact::Symmetric | ElementFact::PositiveDefinite)
    }

    /// Makes sense of a list of numbers too.
    pub fn fits_lists(self) -> bool {
        matches!(
            self,
            ElementFact::Sorted | ElementFact::Distinct | ElementFact::Permutation
        )
    }
}
