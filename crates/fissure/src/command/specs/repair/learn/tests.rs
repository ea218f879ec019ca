use std::path::Path;

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{Mode, TensorValue, Value};
use fissure_solve::Checker;

use super::*;

/// A library with one function, by the words in which it refuses.
struct Library(fn(&ConcreteInput) -> Result<(), &'static str>);

fn spec_of(file: &ExtractedFile) -> Option<fissure_model::Spec> {
    let loaded = fissure_spec::load_text(Path::new("f.yaml"), &file.to_yaml());
    loaded.ok().map(|loaded| loaded.spec)
}

impl Observes for Library {
    fn observe(&mut self, file: &ExtractedFile, _: bool) -> Vec<Seen> {
        let options = GenerateOptions {
            mode: Mode::Conform,
            mutate_ratio: 0.0,
            repair: false,
            ..GenerateOptions::default()
        };
        let spec = spec_of(file).unwrap();
        let Ok(mut made) = Generator::new(&spec, None, options, 7) else {
            return Vec::new();
        };
        let inputs = (0..96).map(|number| made.generate(number));
        let each = inputs.map(|input| {
            let words = (self.0)(&input)
                .err()
                .map(|words| format!("ValueError: {words}"));
            Seen {
                refused: words.as_ref().map(|words| format!("f(…): {words}")),
                words,
                input,
            }
        });
        each.collect()
    }

    fn breaks(&self, file: &ExtractedFile, seen: &[Seen]) -> Option<Vec<bool>> {
        let checker = Checker::new(&spec_of(file)?);
        Some(
            seen.iter()
                .map(|one| !checker.check(&one.input).is_empty())
                .collect(),
        )
    }
}

/// What is learned of a function of two tensors and an integer.
fn learned(
    accepts: fn(&ConcreteInput) -> Result<(), &'static str>,
) -> Vec<(String, String, String)> {
    let text = "title: torch.f
package: torch
target: f
version: '1'
link: none
inputs: {required: [x, y, k], optional: []}
constraints:
  x: {tensor_t: [torch.tensor]}
  y: {tensor_t: [torch.tensor]}
  k: {dtype: [int], ndim: ['0']}
";
    let mut file = ExtractedFile::from_yaml(text).unwrap();
    let found = learn(&mut file, &mut Library(accepts));
    for one in &found {
        let param = &file.constraints[&one.param];
        assert_eq!(param.lists[&one.key], one.values);
        let line = param.evidence.last().unwrap();
        assert!(
            line.starts_with("added ") && line.contains("| behaviour: "),
            "{line}"
        );
    }
    let each = found.into_iter();
    each.map(|one| (one.param, one.key, one.values.join(" ")))
        .collect()
}

fn or_no(accepted: bool) -> Result<(), &'static str> {
    if accepted { Ok(()) } else { Err("no") }
}

fn argument<'a>(input: &'a ConcreteInput, name: &str) -> &'a Value {
    let mut given = input.arguments.iter();
    &given.find(|argument| argument.name == name).unwrap().value
}

fn tensor<'a>(input: &'a ConcreteInput, name: &str) -> &'a TensorValue {
    match argument(input, name) {
        Value::Tensor(tensor) => tensor,
        other => panic!("{other:?}"),
    }
}

fn texts(found: &[(String, String, String)]) -> Vec<[&str; 3]> {
    found.iter().map(|(a, b, c)| [a.as_str(), b, c]).collect()
}

#[test]
fn a_rank_that_the_library_asks_for_is_added() {
    let found = learned(|input| or_no(tensor(input, "x").shape.len() == 2));
    assert_eq!(texts(&found).last(), Some(&["x", "ndim", "2"]), "{found:?}");
}

#[test]
fn shapes_that_must_broadcast_are_told_from_shapes_that_must_be_equal() {
    fn broadcast(input: &ConcreteInput) -> Result<(), &'static str> {
        let (x, y) = (&tensor(input, "x").shape, &tensor(input, "y").shape);
        let mut pairs = x.iter().rev().zip(y.iter().rev());
        or_no(pairs.all(|(a, b)| a == b || *a == 1 || *b == 1))
    }
    assert_eq!(texts(&learned(broadcast)), [["y", "shape", "broadcast:&x"]]);
    let equal = learned(|input| or_no(tensor(input, "x").shape == tensor(input, "y").shape));
    assert_eq!(
        texts(&equal).last(),
        Some(&["y", "shape", "shape:&x"]),
        "{equal:?}"
    );
}

#[test]
fn bounds_of_numbers_are_added() {
    let found = learned(|input| or_no(matches!(argument(input, "k"), Value::Int(k) if *k >= 0)));
    assert_eq!(texts(&found), [["k", "range", "[0,inf)"]]);
}

#[test]
fn element_types_that_are_refused_are_left_out_and_others_stay() {
    let found = learned(|input| or_no(!tensor(input, "x").dtype.is_integer()));
    let last = found.last().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("x", "dtype"));
    assert!(
        last.2.contains("torch.float32") && !last.2.contains("int"),
        "{found:?}"
    );
    let equal = learned(|input| or_no(tensor(input, "x").dtype == tensor(input, "y").dtype));
    assert_eq!(texts(&equal), [["y", "dtype", "dtype:&x"]]);
}

#[test]
fn refusals_that_no_constraint_explains_teach_nothing() {
    assert_eq!(texts(&learned(|_| Ok(()))), <[[&str; 3]; 0]>::default());
    assert_eq!(texts(&learned(|_| Err("no"))), <[[&str; 3]; 0]>::default());
    let by_chance = learned(|input| or_no(input.number * 2_654_435_761 % 97 < 40));
    assert_eq!(texts(&by_chance), <[[&str; 3]; 0]>::default());
}

#[test]
fn each_check_is_learned_by_its_own_words_though_nothing_is_accepted() {
    let found = learned(|input| {
        let [Value::Tensor(x), Value::Tensor(y)] = ["x", "y"].map(|name| argument(input, name))
        else {
            return Err("x and y must be tensors");
        };
        let (x, y) = (&x.shape, &y.shape);
        if x.len() != 3 {
            return Err("x must have * dimensions");
        }
        if y.len() != 1 {
            return Err("y must have * dimensions");
        }
        if y[0] != x[1] {
            return Err("y should have * elements");
        }
        Err("not on this machine")
    });
    let found = texts(&found);
    assert_eq!(
        found,
        [
            ["x", "ndim", "3"],
            ["y", "ndim", "1"],
            ["y", "shape", "[s_y]"]
        ]
    );
}

#[test]
fn words_that_come_at_random_are_explained_by_nothing() {
    let found = learned(|input| match input.number * 2_654_435_761 % 97 {
        0..40 => Err("now and then"),
        40..80 => Err("at other times"),
        _ => Ok(()),
    });
    assert_eq!(texts(&found), <[[&str; 3]; 0]>::default());
}
