//! From what their rules write to what ours mean by it.
//!
//! Dtypes are numbers there; None is the text "none"; a loop over the first dimension of an index
//! tensor means each of its elements.

use fissure_model::Dtype;

use crate::centaur::dtype_of_number;
use crate::function::Function;
use crate::syntax::{Collection, Expression, Kind, Operator, Rule};
use crate::types::Type;

pub(super) fn translated(rule: Rule) -> Rule {
    let mut params = rule.params;
    let dtype_params: Vec<String> = params
        .iter()
        .filter(|param| param.of == Type::Dtype)
        .map(|param| param.name.clone())
        .collect();
    let texts: Vec<String> = params
        .iter()
        .filter(|param| param.of.alternatives().contains(&Type::Str))
        .map(|param| param.name.clone())
        .collect();
    let mut optional: Vec<String> = Vec::new();
    let is_dtype = |at: &Expression| match &at.kind {
        Kind::Call(Function::Dtype, _) => true,
        Kind::Name(name) => dtype_params.contains(name),
        _ => false,
    };
    let body = rule.body.rewritten(&mut |at| {
        let span = at.span.clone();
        let kind = match at.kind {
            Kind::Binary(left, operator, right) if operator.is_comparison() => {
                compared(*left, operator, *right, &is_dtype, &texts, &mut optional)
            }
            Kind::Quantified {
                quantifier,
                variable,
                over,
                body,
            } => {
                let over = match first_dimension(&over) {
                    Some(tensor) if only_indexes(&body, &variable, tensor) => {
                        let elements = Collection::Elements(Expression::name(tensor));
                        let element = |at: Expression| match &at.kind {
                            Kind::Item(..) => Expression::name(&variable),
                            _ => at,
                        };
                        let tensor = tensor.to_owned();
                        let body = body.rewritten(&mut |at| {
                            if is_item(&at, &tensor, &variable) {
                                element(at)
                            } else {
                                at
                            }
                        });
                        return Expression::new(
                            Kind::Quantified {
                                quantifier,
                                variable: variable.clone(),
                                over: Box::new(elements),
                                body: Box::new(body),
                            },
                            span,
                        );
                    }
                    _ => over,
                };
                Kind::Quantified {
                    quantifier,
                    variable,
                    over,
                    body,
                }
            }
            other => other,
        };
        Expression::new(kind, span)
    });
    for param in &mut params {
        if optional.contains(&param.name) {
            param.of = param.of.clone().optional();
        }
    }
    Rule { params, body }
}

fn compared(
    left: Expression,
    operator: Operator,
    right: Expression,
    is_dtype: &dyn Fn(&Expression) -> bool,
    texts: &[String],
    optional: &mut Vec<String>,
) -> Kind {
    // With the number or the text on the right.
    let (left, operator, right) = match left.kind {
        Kind::Integer(_) | Kind::Text(_) => (right, operator.mirrored(), left),
        _ => (left, operator, right),
    };
    match (&left.kind, &right.kind) {
        (_, Kind::Integer(number)) if is_dtype(&left) => dtypes(left, operator, *number),
        (Kind::Name(name), Kind::Text(text))
            if text == "none"
                && !texts.contains(name)
                && matches!(operator, Operator::Equal | Operator::NotEqual) =>
        {
            optional.push(name.clone());
            let given = Expression::call(Function::Given, vec![left]);
            if operator == Operator::NotEqual {
                given.kind
            } else {
                Kind::Not(Box::new(given))
            }
        }
        _ => Kind::Binary(Box::new(left), operator, Box::new(right)),
    }
}

/// The dtypes whose number compares so, by name.
fn dtypes(term: Expression, operator: Operator, number: i64) -> Kind {
    let named = |dtype: Dtype| Expression::name(dtype.name());
    if let (Operator::Equal | Operator::NotEqual, Some(dtype)) = (operator, dtype_of_number(number))
    {
        return Kind::Binary(Box::new(term), operator, Box::new(named(dtype)));
    }
    let holds = |candidate: i64| {
        crate::number::Number::Int(candidate).compare(operator, crate::number::Number::Int(number))
    };
    let members: Vec<Expression> = (0..)
        .map_while(|candidate| Some((candidate, dtype_of_number(candidate)?)))
        .filter(|(candidate, _)| holds(*candidate))
        .map(|(_, dtype)| named(dtype))
        .collect();
    if members.is_empty() {
        return Kind::Boolean(false);
    }
    Kind::In(Box::new(term), Box::new(Collection::Set(members)))
}

/// The tensor `x` in `[0, shape(x, 0) - 1]`.
fn first_dimension(over: &Collection) -> Option<&str> {
    let Collection::Interval(low, high) = over else {
        return None;
    };
    let Kind::Binary(shape, Operator::Subtract, one) = &high.kind else {
        return None;
    };
    let (Kind::Integer(0), Kind::Integer(1)) = (&low.kind, &one.kind) else {
        return None;
    };
    match &shape.kind {
        Kind::Call(Function::Shape, arguments) => match arguments.as_slice() {
            [of, at] if at.kind == Kind::Integer(0) => match &of.kind {
                Kind::Name(name) => Some(name),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn is_item(at: &Expression, tensor: &str, variable: &str) -> bool {
    match &at.kind {
        Kind::Item(of, index) => {
            of.kind == Kind::Name(tensor.to_owned())
                && index.kind == Kind::Name(variable.to_owned())
        }
        _ => false,
    }
}

/// Does the variable stand nowhere but in `tensor[variable]`?
fn only_indexes(body: &Expression, variable: &str, tensor: &str) -> bool {
    let (mut items, mut mentions) = (0, 0);
    body.walk(&mut |at| {
        items += usize::from(is_item(at, tensor, variable));
        mentions += usize::from(at.kind == Kind::Name(variable.to_owned()));
    });
    items > 0 && items == mentions
}
