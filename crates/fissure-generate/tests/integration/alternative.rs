//! A file that the installed version contradicts, and the library's own word beside it.

use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{
    Api, ConcreteInput, Constraint, Kind, Mode, Param, ParamHints, Role, Signature, Spec, Value,
};

fn param(constraint: Constraint, hints: Option<ParamHints>) -> Param {
    Param {
        name: "x".into(),
        role: Role::Required,
        deprecated: false,
        default: None,
        default_text: None,
        doc_dtype: None,
        description: None,
        constraint,
        line: None,
        hints: hints.map(Box::new),
    }
}

fn spec(param: Param) -> Spec {
    Spec {
        api: Api {
            title: "pkg.f".into(),
            package: "pkg".into(),
            path: "pkg.f".into(),
            ..Api::default()
        },
        params: vec![param],
        layer_params: Vec::new(),
        symbols: Vec::new(),
        check_nan: false,
        aliases: Vec::new(),
        source: None,
        rules: None,
        forms: Vec::new(),
        examples: Vec::new(),
    }
}

/// A file that allows one word only.
fn file() -> Spec {
    let constraint = Constraint {
        enums: vec![Value::Text("old".into())],
        ..Constraint::default()
    };
    spec(param(constraint, None))
}

fn library() -> Spec {
    let hints = ParamHints {
        name: "x".into(),
        kinds: vec![Kind::Int],
        stated: true,
        exact: true,
        ..ParamHints::default()
    };
    spec(param(Constraint::default(), Some(hints)))
}

fn signature() -> Signature {
    Signature::of_function("2", None)
}

/// How many of 300 inputs are accepted, and whether the library was asked.
fn run(accepts: fn(&ConcreteInput) -> bool, answers: bool) -> (usize, bool) {
    let options = GenerateOptions {
        mode: Mode::Conform,
        mutate_ratio: 0.0,
        ..GenerateOptions::default()
    };
    let mut generator = Generator::new(&file(), None, options, 3).unwrap();
    let (mut accepted, mut asked) = (0, false);
    for number in 0..300 {
        if generator.asks_the_library() {
            asked = true;
            let (spec, signature) = (library(), signature());
            generator.hear_the_library(answers.then_some((&spec, &signature)));
        }
        let input = generator.generate(number);
        let fine = accepts(&input);
        accepted += usize::from(fine);
        generator.observe(number, fine);
    }
    (accepted, asked)
}

fn takes_numbers(input: &ConcreteInput) -> bool {
    matches!(input.arguments[0].value, Value::Int(_))
}

#[test]
fn where_a_file_is_refused_the_library_is_asked_and_its_word_is_accepted() {
    let (accepted, asked) = run(takes_numbers, true);
    assert!(asked && accepted > 150, "{accepted}");
    let (without, asked) = run(takes_numbers, false);
    assert!(asked && without < accepted, "{without}");
}

#[test]
fn a_file_that_holds_is_followed_and_the_library_is_not_asked() {
    let words = |input: &ConcreteInput| matches!(input.arguments[0].value, Value::Text(_));
    assert_eq!(run(words, true), (300, false));
}
