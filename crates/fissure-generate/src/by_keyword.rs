//! Arguments that the library takes by keyword only, as its own refusals say.
//!
//! A compiled function often tells nothing of its parameters until it is called: "takes 1 positional argument but 2 were
//! given". How an argument is passed is no part of what rules and constraints say, so all later inputs follow.

use std::sync::LazyLock;

use fissure_model::{Argument, ConcreteInput, Passing};
use fissure_solve::Random;
use regex::Regex;

use crate::repair::{Want, Wish};

static TOO_MANY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(\w+)\(\) takes (?:from \d+ to |at most |exactly )?(\d+) (?:positional )?arguments? (?:but |\()(\d+)(?: positional arguments?.*?)?(?: (?:was|were))? given",
    )
    .expect("a fixed pattern is valid")
});

/// Share of inputs that are left as they are: another overload may take more.
const LEFT: f64 = 0.05;

/// How many positional arguments the call of this input may have, where a refusal says that it has too many.
pub(crate) fn fewer(message: &str, input: &ConcreteInput) -> Option<Want> {
    let said = TOO_MANY.captures(message)?;
    let (taken, given): (usize, usize) = (said[2].parse().ok()?, said[3].parse().ok()?);
    let layer = &input.layer_arguments;
    let called = layer.is_some() && !matches!(&said[1], "__init__" | "__new__");
    let arguments = match layer {
        Some(layer) if called => layer,
        _ => &input.arguments,
    };
    // Python counts the object itself among both numbers.
    let most = positional(arguments).checked_sub(given.checked_sub(taken)?)?;
    (given > taken).then_some(Want::Positional { most, called })
}

/// What was said so far, of the function (or the making of an object) and of the call on the object.
#[derive(Default)]
pub(crate) struct ByKeyword([Option<usize>; 2]);

impl ByKeyword {
    pub(crate) fn learn(&mut self, wishes: &[Wish]) {
        for wish in wishes {
            if let Want::Positional { most, called } = wish.want {
                let known = &mut self.0[usize::from(called)];
                *known = Some(known.map_or(most, |before| before.min(most)));
            }
        }
    }

    /// Passes by keyword what is too much by position and has a name of its own.
    pub(crate) fn pass(&self, input: &mut ConcreteInput, random: &mut Random) {
        if self.0 == [None; 2] || random.chance(LEFT) {
            return;
        }
        let both = [Some(&mut input.arguments), input.layer_arguments.as_mut()];
        for (arguments, most) in both.into_iter().zip(self.0) {
            let (Some(arguments), Some(most)) = (arguments, most) else {
                continue;
            };
            let names: Vec<String> = arguments.iter().map(|it| it.name.clone()).collect();
            let own = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
            let too_many = arguments
                .iter_mut()
                .filter(|argument| argument.passing == Passing::Positional)
                .skip(most)
                .filter(|argument| own(&argument.name));
            too_many.for_each(|argument| argument.passing = Passing::Keyword);
        }
    }
}

fn positional(arguments: &[Argument]) -> usize {
    let mut placed = arguments.iter().map(|argument| argument.passing);
    placed
        .by_ref()
        .filter(|passing| *passing == Passing::Positional)
        .count()
}

#[cfg(test)]
mod tests {
    use fissure_model::{Intent, Value};

    use super::*;

    fn input(names: &[&str]) -> ConcreteInput {
        let argument = |name: &&str| Argument {
            name: (*name).into(),
            passing: Passing::Positional,
            value: Value::Int(1),
        };
        ConcreteInput {
            number: 0,
            arguments: names.iter().map(argument).collect(),
            layer_arguments: None,
            intent: Intent::Conform,
            mutations: Vec::new(),
        }
    }

    fn passed(said: &str, names: &[&str]) -> Vec<Passing> {
        let mut input = input(names);
        let mut known = ByKeyword::default();
        let want = fewer(said, &input);
        let wish = |want| Wish { about: None, want };
        known.learn(&want.map(wish).into_iter().collect::<Vec<_>>());
        let mut random = Random::new(Random::key(1, "k"), 0);
        known.pass(&mut input, &mut random);
        input.arguments.iter().map(|it| it.passing).collect()
    }

    #[test]
    fn what_is_too_much_by_position_goes_by_keyword_from_then_on() {
        use Passing::{Keyword, Positional};
        let said = "linalg_vander() takes 1 positional argument but 2 were given";
        assert_eq!(passed(said, &["x", "N"]), [Positional, Keyword]);
        let said = "f() takes from 1 to 2 positional arguments but 3 positional arguments (and 1 keyword-only argument) were given";
        assert_eq!(
            passed(said, &["a", "b", "c"]),
            [Positional, Positional, Keyword]
        );
        // A method: the object is counted too.
        let said = "Layer.__init__() takes 2 positional arguments but 3 were given";
        assert_eq!(passed(said, &["a", "b"]), [Positional, Keyword]);
    }

    #[test]
    fn other_refusals_and_arguments_without_a_name_of_their_own_change_nothing() {
        use Passing::Positional;
        let said = "f() missing 1 required positional argument: 'x'";
        assert_eq!(passed(said, &["a", "b"]), [Positional; 2]);
        let said = "f() takes 1 positional argument but 3 were given";
        assert_eq!(passed(said, &["a", "args", "args"]), [Positional; 3]);
    }
}
