//! A rule in plain English.

use crate::function::Function;
use crate::syntax::{Collection, Expression, Kind, Operator, Quantifier, Rule};

/// One sentence that says what the rule asks for.
pub fn explain(rule: &Rule) -> String {
    let sentence = claim(&rule.body);
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => sentence,
    }
}

/// Something that holds or not, as a clause.
fn claim(at: &Expression) -> String {
    match &at.kind {
        Kind::Boolean(true) => "anything goes".to_owned(),
        Kind::Boolean(false) => "nothing is accepted".to_owned(),
        Kind::Name(_) | Kind::Item(..) => format!("{} is true", noun(at)),
        Kind::Not(inner) => match &inner.kind {
            Kind::In(item, over) => format!("{} is not {}", noun(item), among(over)),
            Kind::Call(Function::Given, arguments) => {
                format!("{} is left out or None", noun(&arguments[0]))
            }
            Kind::Name(_) => format!("{} is false", noun(inner)),
            _ => format!("it is not so that {}", claim(inner)),
        },
        Kind::Binary(left, Operator::And, right) => {
            format!("{}, and {}", claim(left), claim(right))
        }
        Kind::Binary(left, Operator::Or, right) => {
            let mut parts = Vec::new();
            alternatives(left, &mut parts);
            alternatives(right, &mut parts);
            format!("either {}", parts.join(", or "))
        }
        Kind::Binary(left, Operator::Implies, right) => {
            format!("if {}, then {}", claim(left), claim(right))
        }
        Kind::Binary(left, operator, right) => comparison(left, *operator, right),
        Kind::In(item, over) => format!("{} is {}", noun(item), among(over)),
        Kind::If(condition, then, other) => {
            let first = format!("if {}, then {}", claim(condition), claim(then));
            match other {
                Some(other) => format!("{first}; otherwise {}", claim(other)),
                None => first,
            }
        }
        Kind::Quantified {
            quantifier,
            variable,
            over,
            body,
        } => {
            let how_many = match quantifier {
                Quantifier::Forall => "every",
                Quantifier::Exists => "some",
            };
            let range = match over.as_ref() {
                Collection::Interval(low, high) => format!("from {} to {}", noun(low), noun(high)),
                other => format!("in {}", members(other)),
            };
            format!("for {how_many} {variable} {range}, {}", claim(body))
        }
        Kind::Call(function, arguments) => predicate(*function, arguments),
        _ => noun(at),
    }
}

fn alternatives(at: &Expression, parts: &mut Vec<String>) {
    match &at.kind {
        Kind::Binary(left, Operator::Or, right) => {
            alternatives(left, parts);
            alternatives(right, parts);
        }
        _ => parts.push(claim(at)),
    }
}

fn comparison(left: &Expression, operator: Operator, right: &Expression) -> String {
    let is_zero = matches!(right.kind, Kind::Integer(0));
    match (&left.kind, operator) {
        (Kind::Binary(number, Operator::Modulo, divisor), Operator::Equal) if is_zero => {
            return format!("{} is divisible by {}", noun(number), noun(divisor));
        }
        (Kind::Call(Function::Ndim, of), Operator::Equal)
            if matches!(right.kind, Kind::Integer(_)) =>
        {
            let many = if matches!(right.kind, Kind::Integer(1)) {
                "dimension"
            } else {
                "dimensions"
            };
            return format!("{} has {} {many}", noun(&of[0]), noun(right));
        }
        (Kind::Call(Function::Dtype, of), Operator::Equal)
            if matches!(right.kind, Kind::Name(_)) =>
        {
            return format!("{} has dtype {}", noun(&of[0]), plain(right));
        }
        (_, Operator::Equal) if matches!(right.kind, Kind::Boolean(_)) => {
            return match &left.kind {
                Kind::Name(_) | Kind::Item(..) => format!("{} is {right}", noun(left)),
                _ => format!("it is {right} that {}", claim(left)),
            };
        }
        _ => {}
    }
    let (left_call, right_call) = (call_of(left), call_of(right));
    if let (Some((Function::Shape | Function::Dtype | Function::Ndim, [a])), Some((other, [b]))) =
        (left_call, right_call)
        && left_call.map(|call| call.0) == Some(other)
        && operator == Operator::Equal
    {
        let what = match other {
            Function::Shape => "shape",
            Function::Dtype => "dtype",
            _ => "number of dimensions",
        };
        return format!("{} and {} have the same {what}", noun(a), noun(b));
    }
    let relation = match operator {
        Operator::NotEqual => "is not",
        Operator::Less => "is below",
        Operator::LessOrEqual => "is at most",
        Operator::Greater => "is above",
        Operator::GreaterOrEqual => "is at least",
        _ => "is",
    };
    format!("{} {relation} {}", noun(left), noun(right))
}

fn call_of(at: &Expression) -> Option<(Function, &[Expression])> {
    match &at.kind {
        Kind::Call(function, arguments) => Some((*function, arguments)),
        _ => None,
    }
}

fn among(over: &Collection) -> String {
    match over {
        Collection::Interval(low, high) => {
            format!("between {} and {}", noun(low), noun(high))
        }
        Collection::Set(items) if items.len() == 1 => plain(&items[0]),
        other => format!("one of {}", members(other)),
    }
}

fn members(over: &Collection) -> String {
    match over {
        Collection::Interval(low, high) => format!("{} to {}", noun(low), noun(high)),
        Collection::Set(items) => list(items.iter().map(plain).collect(), "or"),
        Collection::Elements(of) => noun(of),
    }
}

/// Dtypes, families and constants stand without quotation marks.
fn plain(at: &Expression) -> String {
    match &at.kind {
        Kind::Name(name) => name.clone(),
        _ => noun(at),
    }
}

fn list(mut words: Vec<String>, before_last: &str) -> String {
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} {before_last} {last}", words.join(", ")),
        None => String::new(),
    }
}

fn predicate(function: Function, arguments: &[Expression]) -> String {
    let first = noun(&arguments[0]);
    match function {
        Function::Given => format!("{first} is given"),
        Function::Broadcastable => {
            let names = arguments.iter().map(noun).collect();
            format!("the shapes of {} broadcast together", list(names, "and"))
        }
        Function::BroadcastableTo => {
            format!("{first} broadcasts to the shape of {}", noun(&arguments[1]))
        }
        Function::Sorted => format!("the elements of {first} never fall"),
        Function::Distinct => format!("no element of {first} occurs twice"),
        Function::Permutation => format!("{first} holds 0, 1, … without gaps, each once"),
        Function::OneHot => format!("each row of {first} holds one 1 and otherwise 0"),
        Function::Symmetric => format!("{first} is symmetric in its last two dimensions"),
        Function::PositiveDefinite => format!("{first} is positive definite"),
        Function::Characters => {
            format!(
                "every character of {first} is one of {}",
                noun(&arguments[1])
            )
        }
        _ => format!("{}({first})", function.name()),
    }
}

/// A value, as a noun phrase.
fn noun(at: &Expression) -> String {
    match &at.kind {
        Kind::Name(name) => format!("`{name}`"),
        Kind::Negate(inner) => format!("minus {}", operand(inner)),
        Kind::Binary(left, operator, right) if operator.is_arithmetic() => {
            let word = match operator {
                Operator::Add => "plus",
                Operator::Subtract => "minus",
                Operator::Multiply => "times",
                Operator::Divide => "divided by",
                Operator::FloorDivide => "divided (rounding down) by",
                _ => "modulo",
            };
            format!("{} {word} {}", operand(left), operand(right))
        }
        Kind::If(condition, then, Some(other)) => format!(
            "({} if {}, otherwise {})",
            noun(then),
            claim(condition),
            noun(other)
        ),
        Kind::Length(of) => format!("the length of {}", noun(of)),
        Kind::Item(of, index) => format!("item {} of {}", noun(index), noun(of)),
        Kind::Call(function, arguments) => call(*function, arguments),
        Kind::Integer(_) | Kind::Float(_) | Kind::Text(_) | Kind::Boolean(_) => at.to_string(),
        _ => format!("whether {}", claim(at)),
    }
}

/// In brackets where a phrase of several words could be read two ways.
fn operand(at: &Expression) -> String {
    match &at.kind {
        Kind::Binary(..) => format!("({})", noun(at)),
        _ => noun(at),
    }
}

fn call(function: Function, arguments: &[Expression]) -> String {
    let first = noun(&arguments[0]);
    let all = || list(arguments.iter().map(noun).collect(), "and");
    match (function, arguments) {
        (Function::Ndim, _) => format!("the number of dimensions of {first}"),
        (Function::Shape, [_, at]) => match at.kind {
            Kind::Integer(-1) => format!("the last dimension of {first}"),
            _ => format!("dimension {} of {first}", noun(at)),
        },
        (Function::Shape, _) => format!("the shape of {first}"),
        (Function::Size, _) => format!("the number of elements of {first}"),
        (Function::Dtype, _) => format!("the dtype of {first}"),
        (Function::Min, [_]) => format!("the smallest element of {first}"),
        (Function::Max, [_]) => format!("the largest element of {first}"),
        (Function::Min, _) => format!("the smallest of {}", all()),
        (Function::Max, _) => format!("the largest of {}", all()),
        (Function::Abs, _) => format!("the absolute value of {first}"),
        (Function::Product, [_, low, high]) => format!(
            "the product of {first} from item {} to item {}",
            noun(low),
            noun(high)
        ),
        (Function::Product, _) => format!("the product of {first}"),
        (Function::Sum, _) => format!("the sum of {first}"),
        _ => format!("whether {}", predicate(function, arguments)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Precedence, parse_rule};

    #[track_caller]
    fn says(rule: &str, expected: &str) {
        let rule = parse_rule(rule, Precedence::Usual).expect("it parses");
        assert_eq!(explain(&rule), expected);
    }

    #[test]
    fn rules_read_as_sentences() {
        says(
            "{x: tensor, n: int} |= ndim(x) = 4 and shape(x, 1) % n = 0",
            "`x` has 4 dimensions, and dimension 1 of `x` is divisible by `n`.",
        );
        says(
            "{x: tensor, y: tensor} |= broadcastable(x, y) and dtype(x) = dtype(y)",
            "The shapes of `x` and `y` broadcast together, and `x` and `y` have the same dtype.",
        );
        says(
            "{i: tensor, x: tensor} |= forall e in i: 0 <= e and e < shape(x, -1)",
            "For every e in `i`, 0 is at most `e`, and `e` is below the last dimension of `x`.",
        );
        says(
            "{b: tensor?, m: str} |= given(b) => m in {\"mean\", \"sum\"} or dtype(b) not in {int}",
            "If `b` is given, then either `m` is one of \"mean\" or \"sum\", or the dtype of `b` is not int.",
        );
        says(
            "{a: int} |= if a > 0 then (a + 1) * 2 = 4 else not a = -1",
            "If `a` is above 0, then (`a` plus 1) times 2 is 4; otherwise it is not so that `a` is -1.",
        );
    }
}
