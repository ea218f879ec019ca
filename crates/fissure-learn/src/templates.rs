//! The statements that are tried, by the types of parameters they are about.

mod pairs;
mod single;
mod triples;
mod windows;

use fissure_rules::{Datum, Type};

use crate::vocabulary::Vocabulary;

pub(crate) use single::fit;

/// One parameter seen as one of its types.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub param: usize,
    pub of: Type,
    pub name: String,
}

impl View {
    /// A number, of one type or of both.
    fn is_number(&self) -> bool {
        self.of
            .alternatives()
            .iter()
            .all(|of| matches!(of, Type::Int | Type::Float))
    }

    /// A number for all dimensions, a list with one for each, or either.
    fn is_sizes(&self) -> bool {
        let one = |of: &Type| *of == Type::Int || *of == Type::list(Type::Int);
        self.of.alternatives().iter().all(one)
    }

    /// The size for dimension `-i`. A list of one item says it for all dimensions.
    fn size(&self) -> String {
        let x = &self.name;
        let of_list = format!("{x}[-min(i, {x}.len)]");
        match &self.of {
            Type::Int => x.clone(),
            Type::List(_) => of_list,
            _ => format!("(if ndim({x}) = 0 then {x} else {of_list})"),
        }
    }

    fn is_list_of(&self, item: &Type) -> bool {
        matches!(&self.of, Type::List(of) if **of == *item)
    }
}

/// Every parameter as each of its types.
pub(crate) fn views(vocabulary: &Vocabulary) -> Vec<View> {
    let mut found = Vec::new();
    for (param, declaration) in vocabulary.params.iter().enumerate() {
        for of in declaration.of.alternatives() {
            found.push(View {
                param,
                of: of.clone(),
                name: vocabulary.name(param),
            });
        }
        // What holds of a number, or of the size of a window, holds whichever way it is written.
        let parts = declaration.of.alternatives();
        for either in [[Type::Int, Type::Float], [Type::Int, Type::list(Type::Int)]] {
            if either.iter().all(|of| parts.contains(of)) {
                found.push(View {
                    param,
                    of: Type::any_of(either),
                    name: vocabulary.name(param),
                });
            }
        }
    }
    found
}

/// Adds all statements about the parameters; constants come from what accepted inputs have.
pub(crate) fn instantiate(vocabulary: &mut Vocabulary, accepted: &[Vec<Datum>]) {
    let views = views(vocabulary);
    for view in &views {
        single::add(vocabulary, view, accepted);
    }
    for a in &views {
        for b in &views {
            if a.param != b.param {
                pairs::add(vocabulary, a, b);
            }
        }
    }
    triples::add(vocabulary, &views);
    windows::add(vocabulary, &views);
}
