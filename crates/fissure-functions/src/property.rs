//! The questions that can be asked of a function.

/// What a function is or does; the words of `data/functions/README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    Elementwise,
    Rising,
    Odd,
    Even,
    Idempotent,
    Involution,
    Commutative,
    SumsToOne,
    Uninitialised,
    Random,
    Varies,
    Indices,
    Unordered,
    Ambiguous,
    Sorted,
    WritesIndex,
    AboutPosition,
    AboutLayout,
    AboutDtype,
    Superlinear,
    Waits,
    RestrictedGradient,
    LinearComplex,
    OtherReceiver,
}

impl Property {
    pub const ALL: [Property; 24] = [
        Property::Elementwise,
        Property::Rising,
        Property::Odd,
        Property::Even,
        Property::Idempotent,
        Property::Involution,
        Property::Commutative,
        Property::SumsToOne,
        Property::Uninitialised,
        Property::Random,
        Property::Varies,
        Property::Indices,
        Property::Unordered,
        Property::Ambiguous,
        Property::Sorted,
        Property::WritesIndex,
        Property::AboutPosition,
        Property::AboutLayout,
        Property::AboutDtype,
        Property::Superlinear,
        Property::Waits,
        Property::RestrictedGradient,
        Property::LinearComplex,
        Property::OtherReceiver,
    ];

    /// As Python asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Property::Elementwise => "elementwise",
            Property::Rising => "rising",
            Property::Odd => "odd",
            Property::Even => "even",
            Property::Idempotent => "idempotent",
            Property::Involution => "involution",
            Property::Commutative => "commutative",
            Property::SumsToOne => "sums to one",
            Property::Uninitialised => "uninitialised",
            Property::Random => "random",
            Property::Varies => "varies",
            Property::Indices => "indices",
            Property::Unordered => "unordered",
            Property::Ambiguous => "ambiguous",
            Property::Sorted => "sorted",
            Property::WritesIndex => "writes index",
            Property::AboutPosition => "about position",
            Property::AboutLayout => "about layout",
            Property::AboutDtype => "about dtype",
            Property::Superlinear => "superlinear",
            Property::Waits => "waits",
            Property::RestrictedGradient => "restricted gradient",
            Property::LinearComplex => "linear complex",
            Property::OtherReceiver => "other receiver",
        }
    }
}
