//! The types of parameters.

use std::fmt;

/// What a parameter can be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Tensor,
    Int,
    Float,
    Bool,
    Dtype,
    Str,
    /// The argument is left out, or is None.
    None,
    List(Box<Type>),
    Tuple(Box<Type>),
    /// At least two alternatives, none of them a union itself, none twice.
    Union(Vec<Type>),
}

impl Type {
    /// The names of the types that have no part.
    pub const PLAIN: [(&'static str, Type); 7] = [
        ("tensor", Type::Tensor),
        ("int", Type::Int),
        ("float", Type::Float),
        ("bool", Type::Bool),
        ("dtype", Type::Dtype),
        ("str", Type::Str),
        ("none", Type::None),
    ];

    pub fn list(of: Type) -> Type {
        Type::List(Box::new(of))
    }

    pub fn optional(self) -> Type {
        Type::any_of([self, Type::None])
    }

    /// The union of the types: flat, each alternative once, in the order of their first mention,
    /// `none` last.
    pub fn any_of(types: impl IntoIterator<Item = Type>) -> Type {
        let mut alternatives: Vec<Type> = Vec::new();
        for part in types {
            let parts = match part {
                Type::Union(parts) => parts,
                plain => vec![plain],
            };
            for part in parts {
                if !alternatives.contains(&part) {
                    alternatives.push(part);
                }
            }
        }
        alternatives.sort_by_key(|part| *part == Type::None);
        match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Type::Union(alternatives),
        }
    }

    /// The alternatives of a union; a type that is no union is its own only one.
    pub fn alternatives(&self) -> &[Type] {
        match self {
            Type::Union(parts) => parts,
            plain => std::slice::from_ref(plain),
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Type::Int | Type::Float)
    }

    pub fn is_sequence(&self) -> bool {
        matches!(self, Type::List(_) | Type::Tuple(_))
    }

    /// May the argument be left out?
    pub fn allows_none(&self) -> bool {
        self.alternatives().contains(&Type::None)
    }

    /// What an item of the sequence is; a type that is no sequence has none.
    pub fn item(&self) -> Option<&Type> {
        match self {
            Type::List(of) | Type::Tuple(of) => Some(of),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::List(of) => write!(f, "list({of})"),
            Type::Tuple(of) => write!(f, "tuple({of})"),
            Type::Union(parts) => match parts.as_slice() {
                [one, Type::None] => write!(f, "{one}?"),
                parts => {
                    for (position, part) in parts.iter().enumerate() {
                        let separator = if position == 0 { "" } else { " | " };
                        write!(f, "{separator}{part}")?;
                    }
                    Ok(())
                }
            },
            plain => {
                let name = Type::PLAIN
                    .iter()
                    .find(|(_, of)| of == plain)
                    .map_or("?", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_flat_and_names_none_last() {
        let union = Type::any_of([Type::Int.optional(), Type::list(Type::Int), Type::Int]);
        assert_eq!(union.to_string(), "int | list(int) | none");
        assert_eq!(Type::Tensor.optional().to_string(), "tensor?");
        assert_eq!(Type::any_of([Type::Int, Type::Int]), Type::Int);
    }
}
