//! The functions and predicates of the language.

/// A function of the language, by what it is called in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Number of dimensions: 0 of a number, 1 of a list of numbers.
    Ndim,
    /// One dimension (`shape(x, i)`, negative from the end), or the list of all (`shape(x)`).
    Shape,
    /// Number of elements.
    Size,
    Dtype,
    /// Smallest element, or the smaller of several numbers.
    Min,
    /// Largest element, or the larger of several numbers.
    Max,
    Abs,
    /// Product of a list of numbers, or of its items from one index to another.
    Product,
    Sum,
    /// The argument was passed and is not None.
    Given,
    /// The shapes of all arguments broadcast together.
    Broadcastable,
    /// The first shape broadcasts to exactly the second.
    BroadcastableTo,
    /// Elements never fall, in the last dimension.
    Sorted,
    /// No element occurs twice.
    Distinct,
    /// The elements are 0, 1, … without gaps, each once.
    Permutation,
    /// One 1 and otherwise 0, in each row of the last dimension.
    OneHot,
    /// Square in the last two dimensions and equal to its transpose.
    Symmetric,
    /// Symmetric, and every eigenvalue is above 0.
    PositiveDefinite,
    /// Every character of the text is one of these.
    Characters,
}

impl Function {
    pub const ALL: [Function; 19] = [
        Function::Ndim,
        Function::Shape,
        Function::Size,
        Function::Dtype,
        Function::Min,
        Function::Max,
        Function::Abs,
        Function::Product,
        Function::Sum,
        Function::Given,
        Function::Broadcastable,
        Function::BroadcastableTo,
        Function::Sorted,
        Function::Distinct,
        Function::Permutation,
        Function::OneHot,
        Function::Symmetric,
        Function::PositiveDefinite,
        Function::Characters,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Function::Ndim => "ndim",
            Function::Shape => "shape",
            Function::Size => "size",
            Function::Dtype => "dtype",
            Function::Min => "min",
            Function::Max => "max",
            Function::Abs => "abs",
            Function::Product => "product",
            Function::Sum => "sum",
            Function::Given => "given",
            Function::Broadcastable => "broadcastable",
            Function::BroadcastableTo => "broadcastable_to",
            Function::Sorted => "sorted",
            Function::Distinct => "distinct",
            Function::Permutation => "permutation",
            Function::OneHot => "one_hot",
            Function::Symmetric => "symmetric",
            Function::PositiveDefinite => "positive_definite",
            Function::Characters => "characters",
        }
    }

    /// `dtype_` is how the first rule files spell `dtype`.
    pub fn from_name(name: &str) -> Option<Function> {
        let name = if name == "dtype_" { "dtype" } else { name };
        Function::ALL
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// How it is written, for messages.
    pub fn usage(self) -> &'static str {
        match self {
            Function::Ndim => "ndim(x)",
            Function::Shape => "shape(x, i) or shape(x)",
            Function::Size => "size(x)",
            Function::Dtype => "dtype(x)",
            Function::Min => "min(x) or min(a, b, …)",
            Function::Max => "max(x) or max(a, b, …)",
            Function::Abs => "abs(n)",
            Function::Product => "product(list) or product(list, first, last)",
            Function::Sum => "sum(list)",
            Function::Given => "given(x)",
            Function::Broadcastable => "broadcastable(a, b, …)",
            Function::BroadcastableTo => "broadcastable_to(a, b)",
            Function::Sorted => "sorted(x)",
            Function::Distinct => "distinct(x)",
            Function::Permutation => "permutation(x)",
            Function::OneHot => "one_hot(x)",
            Function::Symmetric => "symmetric(x)",
            Function::PositiveDefinite => "positive_definite(x)",
            Function::Characters => "characters(text, \"abc\")",
        }
    }

    /// Numbers of arguments it takes.
    pub fn takes(self, arguments: usize) -> bool {
        match self {
            Function::Shape => matches!(arguments, 1 | 2),
            Function::Min | Function::Max => arguments >= 1,
            Function::Product => matches!(arguments, 1 | 3),
            Function::Broadcastable => arguments >= 2,
            Function::BroadcastableTo | Function::Characters => arguments == 2,
            _ => arguments == 1,
        }
    }
}
