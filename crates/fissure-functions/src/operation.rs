//! Operations as a scan sees them: `data/functions/operations.toml`.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

/// What an operation does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Every element of its operand, in the same order, in another shape or type.
    Reshapes,
    /// Elements of its operand in other places.
    Moves,
    /// A mean: made of what its operand is made of.
    Averages,
    /// A NaN or Inf in an operand need not reach the result.
    Hides,
    /// Its result is a choice between elements.
    Decides,
    /// Other indices would have picked other elements.
    Selects,
    /// Its result was given or is memory as it was, not computed.
    Given,
    /// A second call gives another result.
    Fresh,
    /// Initialises an array in place.
    Fills,
    /// Fails by magnitude alone, as ordinary arithmetic does.
    Magnitude,
    /// Loses digits by cancellation or rounding.
    #[serde(rename = "loses digits")]
    LosesDigits,
    /// A small error of its operand is a large one of its result.
    Amplifies,
    /// Its operand's bits count, not its value: what wrapped around before it was meant to.
    #[serde(rename = "takes bits")]
    TakesBits,
    /// Fails by magnitude alone, although its region is announced: not steered toward.
    #[serde(rename = "not steered")]
    NotSteered,
    /// As accurate as its matrix is well-conditioned.
    Conditioned,
    /// Squares where the program cannot see it: overflows at the root of the largest number.
    #[serde(rename = "squares inside")]
    SquaresInside,
    /// Gives elements of an array that it is given.
    Picks,
    /// Its operand is any finite number: what goes into it is no probability yet.
    #[serde(rename = "takes logits")]
    TakesLogits,
    /// Its second operand is between 0 and 1: labels, perhaps softened.
    #[serde(rename = "takes labels")]
    TakesLabels,
    /// Combines its operands element by element.
    Arithmetic,
    /// NumPy has the same function of one operand, element by element.
    #[serde(rename = "in NumPy")]
    InNumpy,
    /// On a GPU autocast of torch computes it in float32.
    #[serde(rename = "wide on a GPU")]
    WideOnGpu,
    /// Not negative where its operands are not.
    #[serde(rename = "keeps sign")]
    KeepsSign,
    /// Adds elements of its operand together, whatever it does to them before or after.
    #[serde(rename = "adds up")]
    AddsUp,
    /// True where the first operand is above the second.
    Above,
    /// True where the first operand is below the second.
    Below,
}

impl Role {
    pub const ALL: [Role; 26] = [
        Role::Reshapes,
        Role::Moves,
        Role::Averages,
        Role::Hides,
        Role::Decides,
        Role::Selects,
        Role::Given,
        Role::Fresh,
        Role::Fills,
        Role::Magnitude,
        Role::LosesDigits,
        Role::Amplifies,
        Role::TakesBits,
        Role::NotSteered,
        Role::Conditioned,
        Role::SquaresInside,
        Role::Picks,
        Role::TakesLogits,
        Role::TakesLabels,
        Role::Arithmetic,
        Role::InNumpy,
        Role::WideOnGpu,
        Role::KeepsSign,
        Role::AddsUp,
        Role::Above,
        Role::Below,
    ];
}

/// How an operation makes an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Literal,
    Constant,
    Draw,
    Integers,
    Data,
}

/// The library whose own names are asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Jax,
    TensorFlow,
}

/// One operation, with the names under which running libraries tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    pub name: String,
    /// In any library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jax: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensorflow: Vec<String>,
    /// Types of operations in graphs of TensorFlow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graph: Vec<String>,
    /// Functions of TensorFlow that are one operation, whatever they are made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub composites: Vec<String>,
    #[serde(default, rename = "is", skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The range of what it draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The module of NumPy in which it makes an input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numpy: Option<String>,
}

/// All operations, and what is none.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    rows: Vec<Operation>,
    by_name: HashMap<String, usize>,
    /// By library: no computation.
    unwatched: BTreeMap<String, Vec<String>>,
    /// By library: hands a value on as it is.
    same: BTreeMap<String, Vec<String>>,
    /// By module, or class: the functions of it that are watched, where not all are.
    pub(crate) watched: BTreeMap<String, Vec<String>>,
    /// `modules`: their functions give data.
    pub(crate) data: BTreeMap<String, Vec<String>>,
}

impl Operations {
    pub(crate) fn add(
        &mut self,
        rows: Vec<Operation>,
        unwatched: BTreeMap<String, Vec<String>>,
        same: BTreeMap<String, Vec<String>>,
    ) -> Result<(), (String, String)> {
        for row in rows {
            let index = self.rows.len();
            if self.by_name.insert(row.name.clone(), index).is_some() {
                return Err((row.name, "is listed twice".to_owned()));
            }
            self.rows.push(row);
        }
        self.unwatched.extend(unwatched);
        self.same.extend(same);
        self.check()
    }

    /// No name may mean two operations in one library.
    fn check(&self) -> Result<(), (String, String)> {
        for field in [
            |row: &Operation| row.names.clone(),
            |row: &Operation| row.jax.clone(),
            |row: &Operation| row.tensorflow.clone(),
            |row: &Operation| row.graph.clone(),
            |row: &Operation| row.composites.clone(),
        ] {
            let mut seen: HashMap<String, &str> = HashMap::new();
            for row in &self.rows {
                for name in field(row) {
                    let problem = format!("the name `{name}` already means another operation");
                    if seen.insert(name, &row.name).is_some() {
                        return Err((row.name.clone(), problem));
                    }
                }
            }
        }
        Ok(())
    }

    pub fn rows(&self) -> &[Operation] {
        &self.rows
    }

    pub fn has(&self, name: &str, role: Role) -> bool {
        self.by_name
            .get(name)
            .is_some_and(|&index| self.rows[index].roles.contains(&role))
    }

    /// The operation that any library calls so, or the name itself.
    pub fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        let mut rows = self.rows.iter();
        let row = rows.find(|row| row.names.iter().any(|it| it == name));
        row.map_or(name, |row| row.name.as_str())
    }

    /// The operation that a name of a library's function means; nothing where no row speaks of it.
    pub fn called(&self, dialect: Dialect, name: &str) -> Option<&str> {
        let has = |names: &[String]| names.iter().any(|it| it == name);
        let own = |row: &&Operation| match dialect {
            Dialect::Jax => has(&row.jax),
            Dialect::TensorFlow => has(&row.tensorflow),
        };
        let rows = || self.rows.iter();
        let composite = || rows().find(|row| has(&row.composites));
        let composite = (dialect == Dialect::TensorFlow).then(composite).flatten();
        composite
            .or_else(|| rows().find(own))
            .or_else(|| rows().find(|row| has(&row.names)))
            .map(|row| row.name.as_str())
    }

    /// For `fissure_scan/watch/operations.py`, in the words of the file.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "operation": self.rows,
            "unwatched": self.unwatched,
            "watched": self.watched,
            "same": self.same,
            "data": self.data,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions;

    /// One operation that has the property, and one that looks like it and has not.
    const EXAMPLES: [(Role, &str, &str); 26] = [
        (Role::Reshapes, "unsqueeze", "gather"),
        (Role::Moves, "gather", "scatter"),
        (Role::Averages, "mean", "sum"),
        (Role::Hides, "clamp", "clone"),
        (Role::Decides, "argmax", "max"),
        (Role::Selects, "index_select", "index_fill"),
        (Role::Given, "full_like", "exp"),
        (Role::Fresh, "dropout", "softmax"),
        (Role::Fills, "xavier_uniform", "bernoulli"),
        (Role::Magnitude, "layer_norm", "log_softmax"),
        (Role::LosesDigits, "sub", "mul"),
        (Role::Amplifies, "rsqrt", "square"),
        (Role::TakesBits, "remainder", "sub"),
        (Role::NotSteered, "outer", "inner"),
        (Role::Conditioned, "cholesky", "norm"),
        (Role::SquaresInside, "var", "square"),
        (Role::Picks, "permutation", "randint"),
        (Role::TakesLogits, "softmax", "log"),
        (Role::TakesLabels, "binary_cross_entropy", "mse_loss"),
        (Role::Arithmetic, "mul", "matmul"),
        (Role::InNumpy, "log", "logit"),
        (Role::WideOnGpu, "exp", "exp2"),
        (Role::KeepsSign, "add", "sub"),
        (Role::AddsUp, "cumsum", "cumprod"),
        (Role::Above, "gt", "max"),
        (Role::Below, "lt", "min"),
    ];

    #[test]
    fn each_role_is_held_by_an_operation_and_not_by_one_that_looks_like_it() {
        let operations = functions().operations();
        for (role, has, has_not) in EXAMPLES {
            assert!(operations.has(has, role), "{has} {role:?}");
            assert!(!operations.has(has_not, role), "{has_not} {role:?}");
        }
        assert_eq!(EXAMPLES.map(|it| it.0), Role::ALL);
    }

    #[test]
    fn a_name_means_what_its_library_means_by_it() {
        let operations = functions().operations();
        for (dialect, name, expected) in [
            (Dialect::TensorFlow, "reduce_sum", Some("sum")),
            (Dialect::TensorFlow, "moments", Some("var")),
            (Dialect::TensorFlow, "log_sigmoid", Some("logsigmoid")),
            (Dialect::Jax, "logistic", Some("sigmoid")),
            (Dialect::Jax, "select", Some("where")),
            (Dialect::TensorFlow, "select", None),
            (Dialect::Jax, "inv", Some("inverse")),
            (Dialect::Jax, "softplus", None),
        ] {
            assert_eq!(operations.called(dialect, name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_any_library_is_the_operation_that_it_means() {
        let operations = functions().operations();
        for (name, expected) in [("amax", "max"), ("max", "max"), ("nobody", "nobody")] {
            assert_eq!(operations.canonical(name), expected);
        }
    }

    #[test]
    fn a_name_with_two_meanings_is_refused() {
        let row = |name: &str| -> Operation {
            toml::from_str(&format!("name = \"{name}\"\nnames = [\"same\"]\n")).unwrap()
        };
        let mut operations = Operations::default();
        let problem = operations
            .add(
                vec![row("one"), row("two")],
                BTreeMap::new(),
                BTreeMap::new(),
            )
            .expect_err("`same` means both");
        assert!(problem.1.contains("`same`"), "{problem:?}");
        let twice = Operations::default().add(
            vec![row("one"), row("one")],
            BTreeMap::new(),
            BTreeMap::new(),
        );
        assert!(twice.is_err());
        assert!(toml::from_str::<Operation>("name = \"a\"\nis = [\"round\"]").is_err());
    }
}
