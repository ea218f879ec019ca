//! The small language inside constraint values: expressions, ranks, shapes, intervals.

use fissure_model::{
    Bound, Comparison, Dim, DtypeTerm, Expression, NdimTerm, Operator, Range, ShapeTerm,
};
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, fail, opt, preceded, repeat, separated};
use winnow::error::ContextError;
use winnow::prelude::*;
use winnow::token::{one_of, take_while};

use crate::terms;

type Parsed<T> = Result<T, ContextError>;

/// Brackets and signs nest by recursion; real values have two or three of them.
const MAXIMUM_NESTING: usize = 32;

/// The text of a value that does not follow the grammar, and where reading it stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not understood{}", stopped(.rest))]
pub struct GrammarError {
    pub text: String,
    /// What was left when reading stopped.
    pub rest: String,
}

fn stopped(rest: &str) -> String {
    if rest.is_empty() {
        String::new()
    } else {
        format!(" from `{rest}` on")
    }
}

/// `n+2`, `out/&groups`, `-(d+1)`. Operators apply from left to right.
pub fn parse_expression(text: &str) -> Result<Expression, GrammarError> {
    parse_whole(text, expression)
}

/// `2`, `>=&signal_ndim+1`, `?`.
pub fn parse_ndim(text: &str) -> Result<NdimTerm, GrammarError> {
    if text.trim() == "?" {
        return Ok(NdimTerm::Any);
    }
    parse_whole(
        text,
        compared.map(|(comparison, at)| NdimTerm::Is(comparison, at)),
    )
}

/// `[batch,4,...]`, `[>=1]`, `shape:&logits`, `broadcast:&other`.
pub fn parse_shape(text: &str) -> Result<ShapeTerm, GrammarError> {
    parse_whole(
        text,
        alt((
            preceded(("shape:", multispace0), reference).map(ShapeTerm::SameAs),
            preceded(("broadcast:", multispace0), reference).map(ShapeTerm::BroadcastWith),
            preceded(("broadcast_to:", multispace0), reference).map(ShapeTerm::BroadcastTo),
            delimited(token("["), separated(0.., dim, token(",")), token("]")).map(ShapeTerm::Dims),
        )),
    )
}

/// `[0,inf)`, `(0,1]`, `int:[-1,inf)`.
pub fn parse_range(text: &str) -> Result<Range, GrammarError> {
    let open = text.find(['[', '(']);
    let (only_for, interval) = match open.map(|at| text.split_at(at)) {
        Some((prefix, interval)) if prefix.trim_end().ends_with(':') => {
            let word = prefix.trim_end().trim_end_matches(':').trim();
            let only_for: Option<DtypeTerm> = terms::parse_dtype(word);
            if only_for.is_none() {
                return Err(GrammarError {
                    text: text.to_owned(),
                    rest: text.to_owned(),
                });
            }
            (only_for, interval)
        }
        _ => (None, text),
    };
    let (lower, upper) = parse_whole(interval, interval_bounds).map_err(|error| GrammarError {
        text: text.to_owned(),
        ..error
    })?;
    Ok(Range {
        only_for,
        lower,
        upper,
    })
}

fn parse_whole<'a, T>(
    text: &'a str,
    mut parser: impl Parser<&'a str, T, ContextError>,
) -> Result<T, GrammarError> {
    let unsupported = |rest: &str| GrammarError {
        text: text.to_owned(),
        rest: rest.to_owned(),
    };
    if text.matches(['(', '-']).count() > MAXIMUM_NESTING {
        return Err(unsupported(""));
    }
    let mut rest = text.trim();
    match parser.parse_next(&mut rest) {
        Ok(value) if rest.is_empty() => Ok(value),
        _ => Err(unsupported(rest)),
    }
}

/// A literal with blanks around it.
fn token<'a>(literal: &'static str) -> impl Parser<&'a str, &'a str, ContextError> {
    delimited(multispace0, literal, multispace0)
}

fn interval_bounds(input: &mut &str) -> Parsed<(Bound, Bound)> {
    let open = one_of(['[', '(']).parse_next(input)?;
    let lower = expression.parse_next(input)?;
    token(",").parse_next(input)?;
    let upper = expression.parse_next(input)?;
    let close = one_of([']', ')']).parse_next(input)?;
    Ok((
        Bound {
            at: lower,
            closed: open == '[',
        },
        Bound {
            at: upper,
            closed: close == ']',
        },
    ))
}

fn dim(input: &mut &str) -> Parsed<Dim> {
    alt((
        token("...").value(Dim::Ellipsis),
        compared.map(|(by, at)| Dim::Is(by, at)),
    ))
    .parse_next(input)
}

fn compared(input: &mut &str) -> Parsed<(Comparison, Expression)> {
    let comparison = opt(alt((
        token(">=").value(Comparison::GreaterOrEqual),
        token("<=").value(Comparison::LessOrEqual),
        token("!=").value(Comparison::NotEqual),
        token("==").value(Comparison::Equal),
        token("=").value(Comparison::Equal),
        token(">").value(Comparison::Greater),
        token("<").value(Comparison::Less),
    )))
    .parse_next(input)?;
    Ok((
        comparison.unwrap_or(Comparison::Equal),
        expression.parse_next(input)?,
    ))
}

fn expression(input: &mut &str) -> Parsed<Expression> {
    let mut left = term.parse_next(input)?;
    let rest: Vec<(Operator, Expression)> = repeat(0.., (operator, term)).parse_next(input)?;
    // A sum of so many parts is as deep as that, for everybody who walks it.
    if rest.len() > MAXIMUM_NESTING {
        return fail.parse_next(input);
    }
    for (operator, right) in rest {
        left = Expression::Binary(Box::new(left), operator, Box::new(right));
    }
    Ok(left)
}

fn operator(input: &mut &str) -> Parsed<Operator> {
    alt((
        "+".value(Operator::Add),
        "-".value(Operator::Subtract),
        "*".value(Operator::Multiply),
        "/".value(Operator::Divide),
    ))
    .parse_next(input)
}

fn term(input: &mut &str) -> Parsed<Expression> {
    delimited(
        multispace0,
        alt((number, negation, bracketed, named)),
        multispace0,
    )
    .parse_next(input)
}

/// A sign directly before digits belongs to the number, so that printing and reading agree.
fn number(input: &mut &str) -> Parsed<Expression> {
    (
        opt('-'),
        digit1,
        opt(('.', take_while(0.., |c: char| c.is_ascii_digit()))),
        opt((one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1)),
    )
        .take()
        .parse_to()
        .map(|number: f64| match number.is_finite() {
            true => Expression::Number(number),
            // More digits than a number holds mean what `inf` means.
            false if number > 0.0 => Expression::Infinity,
            false => Expression::Negate(Box::new(Expression::Infinity)),
        })
        .parse_next(input)
}

fn negation(input: &mut &str) -> Parsed<Expression> {
    preceded('-', term)
        .map(|inner| match inner {
            Expression::Number(number) => Expression::Number(-number),
            inner => Expression::Negate(Box::new(inner)),
        })
        .parse_next(input)
}

fn bracketed(input: &mut &str) -> Parsed<Expression> {
    delimited('(', expression, ')').parse_next(input)
}

fn named(input: &mut &str) -> Parsed<Expression> {
    if let Some(name) = opt(reference).parse_next(input)? {
        return Ok(Expression::ValueOf(name));
    }
    let word = name.parse_next(input)?;
    let of = opt(preceded(':', reference)).parse_next(input)?;
    match (word, of) {
        ("len", Some(param)) => Ok(Expression::LengthOf(param)),
        ("ndim", Some(param)) => Ok(Expression::NdimOf(param)),
        ("max_value", Some(param)) => Ok(Expression::MaximumOf(param)),
        (_, Some(_)) => fail.parse_next(input),
        ("inf" | "infty" | "infinity", None) => Ok(Expression::Infinity),
        (symbol, None) => Ok(Expression::Symbol(symbol.to_owned())),
    }
}

fn reference(input: &mut &str) -> Parsed<String> {
    preceded('&', name).map(str::to_owned).parse_next(input)
}

fn name<'a>(input: &mut &'a str) -> Parsed<&'a str> {
    (
        take_while(1, |c: char| c.is_alphabetic() || c == '_'),
        take_while(0.., |c: char| c.is_alphanumeric() || c == '_'),
    )
        .take()
        .parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn symbol(name: &str) -> Expression {
        Expression::Symbol(name.into())
    }

    #[test]
    fn operators_apply_from_left_to_right() {
        let parsed = parse_expression("a+2*&b").unwrap();
        let sum = Expression::Binary(
            Box::new(symbol("a")),
            Operator::Add,
            Box::new(Expression::Number(2.0)),
        );
        let expected = Expression::Binary(
            Box::new(sum),
            Operator::Multiply,
            Box::new(Expression::ValueOf("b".into())),
        );
        assert_eq!(parsed, expected);
    }

    #[test]
    fn every_bound_and_dimension_of_the_reference_is_understood_and_prints_back() {
        for text in [
            "0",
            "2",
            "-1",
            "inf",
            "n",
            "n+2",
            "&k",
            "&k+1",
            "ndim:&input",
            "-ndim:&input",
            "-ndim:&sp_input-1",
            "len:&names",
            "max_value:&seq_length",
            "out/&groups",
            "2*n",
            "-(d+1)",
            "1.5",
            "channel_multiplier*in_channels",
            "a-(b-c)",
        ] {
            assert_eq!(parse_expression(text).unwrap().to_string(), text);
        }
        assert_eq!(parse_expression(" n + 2 ").unwrap().to_string(), "n+2");
    }

    #[test]
    fn ranks_are_exact_compared_or_any() {
        let at_least = |at| NdimTerm::Is(Comparison::GreaterOrEqual, at);
        assert_eq!(parse_ndim("?"), Ok(NdimTerm::Any));
        assert_eq!(
            parse_ndim("3"),
            Ok(NdimTerm::Is(Comparison::Equal, Expression::Number(3.0)))
        );
        assert_eq!(parse_ndim(">=2"), Ok(at_least(Expression::Number(2.0))));
        assert!(matches!(
            parse_ndim(">2"),
            Ok(NdimTerm::Is(Comparison::Greater, _))
        ));
        let signal = parse_expression("&signal_ndim+1").unwrap();
        assert_eq!(parse_ndim(">=&signal_ndim+1"), Ok(at_least(signal)));
        assert!(matches!(
            parse_ndim("ndim:&a"),
            Ok(NdimTerm::Is(Comparison::Equal, Expression::NdimOf(_)))
        ));
    }

    #[test]
    fn shapes_have_symbols_comparisons_and_ellipses_anywhere() {
        let dims = |text| match parse_shape(text) {
            Ok(ShapeTerm::Dims(dims)) => dims,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(dims("[]"), []);
        assert_eq!(dims("[...,m,n]").len(), 3);
        assert_eq!(dims("[...,m,n]")[0], Dim::Ellipsis);
        assert_eq!(dims("[batch,...,channels]")[1], Dim::Ellipsis);
        assert_eq!(
            dims("[>=1]"),
            [Dim::Is(Comparison::GreaterOrEqual, Expression::Number(1.0))]
        );
        assert_eq!(dims("[out_channels, in_channels/&groups, kw]").len(), 3);
        assert_eq!(dims("[batch,max_value:&seq_length]").len(), 2);
        assert_eq!(
            parse_shape("shape:&logits"),
            Ok(ShapeTerm::SameAs("logits".into()))
        );
        assert_eq!(
            parse_shape("broadcast:&x"),
            Ok(ShapeTerm::BroadcastWith("x".into()))
        );
        assert_eq!(
            parse_shape("broadcast_to:&x"),
            Ok(ShapeTerm::BroadcastTo("x".into()))
        );
    }

    #[test]
    fn ranges_keep_open_and_closed_ends_and_their_dtype() {
        let range = parse_range("[-ndim:&input,ndim:&input)").unwrap();
        assert!(range.lower.closed && !range.upper.closed);
        assert_eq!(range.upper.at, Expression::NdimOf("input".into()));
        let range = parse_range("int: [ 0 , inf )").unwrap();
        assert_eq!(
            range.only_for,
            Some(DtypeTerm::Family(fissure_model::DtypeFamily::Int))
        );
        assert_eq!(range.upper.at, Expression::Infinity);
        let range = parse_range("torch.float32:[0,1]").unwrap();
        assert_eq!(
            range.only_for,
            Some(DtypeTerm::Exact(fissure_model::Dtype::Float32))
        );
        assert_eq!(
            parse_range("[-(d+1),d]").unwrap().lower.at.to_string(),
            "-(d+1)"
        );
        assert_eq!(
            parse_range("[-1.0,1.0]").unwrap().lower.at,
            Expression::Number(-1.0)
        );
    }

    #[test]
    fn what_is_outside_the_grammar_is_an_error_that_says_where() {
        let error = parse_shape("[n,c,+]").unwrap_err();
        assert_eq!(error.text, "[n,c,+]");
        assert!(error.to_string().contains("is not understood"), "{error}");
        assert!(parse_shape("[batch*prod(&block_shape)]").is_err());
        assert!(parse_range("[0,1").is_err());
        assert!(parse_range("words:[0,1]").is_err());
        assert!(parse_expression("sum:&x").is_err());
        assert!(parse_expression("a b").is_err());
        assert!(parse_expression(&"(".repeat(100_000)).is_err());
        assert!(parse_expression("").is_err());
    }

    #[test]
    fn a_chain_of_fifty_thousand_terms_is_refused_and_not_a_stack_overflow() {
        for joint in ["+", "*", "/"] {
            let text = vec!["a"; 50_000].join(joint);
            assert!(parse_expression(&text).is_err());
            assert!(parse_shape(&format!("[{text}]")).is_err());
        }
        assert!(parse_shape(&format!("[{}]", vec!["a+1"; 100].join(","))).is_ok());
    }

    fn expressions() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[0-9]{1,3}(\\.[0-9])?",
            "[a-z_][a-z0-9_]{0,4}",
            "&[a-z]{1,3}",
            Just("inf".to_owned()),
            "(len|ndim|max_value):&[a-z]{1,3}",
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                (inner.clone(), "[-+*/]", inner.clone()).prop_map(|(l, o, r)| format!("{l}{o}{r}")),
                inner.clone().prop_map(|i| format!("-{i}")),
                inner.prop_map(|i| format!("( {i})")),
            ]
        })
    }

    #[test]
    fn a_number_beyond_all_numbers_is_infinity_and_reads_back() {
        for text in ["1e400", "-1e400", "n+1e400", "--1e999"] {
            let parsed = parse_expression(text).unwrap();
            let printed = parsed.to_string();
            assert_eq!(
                parse_expression(&printed).as_ref(),
                Ok(&parsed),
                "{text} → {printed}"
            );
        }
        assert_eq!(parse_expression("1e400"), Ok(Expression::Infinity));
    }

    proptest! {
        #[test]
        fn printing_a_parsed_expression_parses_back_to_the_same(text in expressions()) {
            let parsed = parse_expression(&text).unwrap();
            let printed = parsed.to_string();
            prop_assert_eq!(parse_expression(&printed).unwrap(), parsed, "{} → {}", text, printed);
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in "\\PC{0,60}") {
            let _ = parse_expression(&text);
            let _ = parse_shape(&text);
            let _ = parse_ndim(&text);
            let _ = parse_range(&text);
        }
    }
}
