//! What must hold for every text and every tree.

use fissure_rules::{
    Collection, Declaration, Expression, Function, Kind, Operator, Precedence, Quantifier, Rule,
    Type, check, parse_expression, parse_rule, parse_type,
};
use proptest::prelude::*;

const OPERATORS: [Operator; 15] = [
    Operator::Implies,
    Operator::Or,
    Operator::And,
    Operator::Equal,
    Operator::NotEqual,
    Operator::Less,
    Operator::LessOrEqual,
    Operator::Greater,
    Operator::GreaterOrEqual,
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::FloorDivide,
    Operator::Modulo,
];

fn leaf() -> impl Strategy<Value = Expression> {
    prop_oneof![
        any::<i64>().prop_map(Expression::integer),
        (-5i64..20).prop_map(Expression::integer),
        prop_oneof![any::<f64>(), Just(f64::INFINITY)]
            .prop_filter("NaN has no literal", |value| !value.is_nan())
            .prop_map(|value| Expression::made(Kind::Float(value))),
        "[^`\r]{0,6}".prop_map(|text| Expression::made(Kind::Text(text))),
        any::<bool>().prop_map(|value| Expression::made(Kind::Boolean(value))),
        "[a-z_][a-z0-9_]{0,4}|forall|then|len|min|float32|é|a b|1x"
            .prop_map(|name| Expression::name(&name)),
    ]
}

fn collection(
    inner: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = Collection> {
    prop_oneof![
        (inner.clone(), inner.clone()).prop_map(|(low, high)| Collection::Interval(low, high)),
        prop::collection::vec(inner.clone(), 1..4).prop_map(Collection::Set),
        inner.prop_map(Collection::Elements),
    ]
}

fn expressions() -> impl Strategy<Value = Expression> {
    leaf().prop_recursive(6, 60, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (inner.clone(), 0..OPERATORS.len(), inner.clone())
                .prop_map(|(left, at, right)| Expression::binary(left, OPERATORS[at], right)),
            1 => inner.clone().prop_map(|inner| inner.negated(0..0)),
            1 => boxed().prop_map(|inner| Expression::made(Kind::Not(inner))),
            1 => (boxed(), boxed()).prop_map(|(of, at)| Expression::made(Kind::Item(of, at))),
            1 => boxed().prop_map(|of| Expression::made(Kind::Length(of))),
            2 => (boxed(), boxed(), prop::option::of(boxed()))
                .prop_map(|(c, then, other)| Expression::made(Kind::If(c, then, other))),
            2 => (boxed(), collection(inner.clone()))
                .prop_map(|(item, over)| Expression::made(Kind::In(item, Box::new(over)))),
            2 => (any::<bool>(), collection(inner.clone()), boxed()).prop_map(|(all, over, body)| {
                Expression::made(Kind::Quantified {
                    quantifier: if all { Quantifier::Forall } else { Quantifier::Exists },
                    variable: "i".to_owned(),
                    over: Box::new(over),
                    body,
                })
            }),
            2 => (0..Function::ALL.len(), prop::collection::vec(inner.clone(), 1..4)).prop_filter_map(
                "the function takes that many",
                |(at, arguments)| {
                    let function = Function::ALL[at];
                    function.takes(arguments.len()).then(|| Expression::call(function, arguments))
                }
            ),
        ]
    })
}

fn types() -> impl Strategy<Value = Type> {
    let plain = (0..Type::PLAIN.len()).prop_map(|at| Type::PLAIN[at].1.clone());
    plain.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(|of| Type::Tuple(Box::new(of))),
            prop::collection::vec(inner, 2..4).prop_map(Type::any_of),
        ]
    })
}

/// Pieces of the language in any order: most are almost a rule.
fn nearly_rules() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,3}",
        "[0-9]{1,20}",
        Just("{x: tensor, n: int} |= ".to_owned()),
        "(ndim|shape|dtype_|min|product|given)\\(x",
        "( |\\(|\\)|\\[|\\]|\\{|\\}|,|:|\\.len|\"|`|#|\n)",
        "( and | or |=>| not |∀i ∈ |∃|if | then | else |≠|≤|−|×|⊎| in |%|//)",
        "\\PC",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_printed_parses_back_to_the_same_tree(expression in expressions()) {
        let printed = expression.to_string();
        let parsed = parse_expression(&printed, Precedence::Usual);
        prop_assert_eq!(parsed.as_ref(), Ok(&expression), "{}", printed);
        prop_assert_eq!(parsed.map(|parsed| parsed.to_string()), Ok(printed));
    }

    #[test]
    fn a_printed_type_parses_back_to_the_same_type(of in types()) {
        prop_assert_eq!(parse_type(&of.to_string()), Ok(of));
    }

    #[test]
    fn checking_any_tree_gives_an_answer(body in expressions()) {
        let params = [("a", Type::Tensor), ("b", Type::Int), ("c", Type::list(Type::Int))]
            .map(|(name, of)| Declaration { name: name.to_owned(), of });
        let rule = Rule { params: params.to_vec(), body };
        if let Ok(checked) = check(&rule) {
            checked.holds(&[]);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,80}") {
        let _ = parse_rule(&text, Precedence::Usual);
        let _ = parse_expression(&text, Precedence::LeftToRight);
        let _ = parse_type(&text);
    }

    #[test]
    fn almost_rules_do_not_make_the_parser_panic_and_errors_lie_inside(text in nearly_rules()) {
        for result in [
            parse_rule(&text, Precedence::Usual).and_then(|rule| check(&rule).map(|_| ())),
            parse_expression(&text, Precedence::LeftToRight).map(|_| ()),
        ] {
            if let Err(error) = result {
                prop_assert!(error.span.end <= text.len(), "{:?}", error);
                error.render(&text, "here", false);
                error.position(&text);
            }
        }
    }
}

#[test]
fn deep_and_long_rules_are_errors_not_overflows() {
    for text in [
        "(".repeat(100_000),
        "-".repeat(100_000),
        "not ".repeat(100_000),
        "x and ".repeat(100_000) + "x",
        "1 < ".repeat(100_000) + "1",
        "x".to_owned() + &"[0]".repeat(100_000),
        "if ".repeat(100_000),
        "a => ".repeat(100_000) + "a",
        "x in ".repeat(100_000) + "x",
        "forall i in x: ".repeat(100_000) + "true",
    ] {
        let error = parse_expression(&text, Precedence::Usual).expect_err("too deep");
        assert!(error.message.contains("nested too deeply"), "{error}");
    }
    assert!(parse_type(&("list(".repeat(100_000))).is_err());
}

#[test]
fn precedence_is_ours_or_theirs() {
    let parse = |precedence| parse_expression("a or b and c", precedence).expect("it parses");
    assert_eq!(parse(Precedence::Usual).to_string(), "a or b and c");
    assert_eq!(parse(Precedence::LeftToRight).to_string(), "(a or b) and c");
}
