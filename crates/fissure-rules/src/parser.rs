//! Tokens to syntax: precedence climbing, with a limit on nesting, never a panic.

mod types;

use crate::error::{RuleError, nearest};
use crate::function::Function;
use crate::lexer::{Token, tokens};
use crate::syntax::{Collection, Expression, Kind, Operator, Quantifier, Rule, Span};
use crate::types::Type;

/// Rules that people and learners write have less than ten levels; the limit keeps every
/// recursion over a tree within a small stack.
pub const MAXIMUM_DEPTH: usize = 200;

/// How `and` and `or` bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// `and` binds tighter than `or`.
    #[default]
    Usual,
    /// As Centaur reads its own files: both bind alike, from left to right, so that
    /// `a or b and c` is `(a or b) and c`.
    LeftToRight,
}

/// `{x: tensor, …} |= expression`.
pub fn parse_rule(text: &str, precedence: Precedence) -> Result<Rule, RuleError> {
    let mut parser = Parser::new(text, precedence)?;
    let params = parser.declarations()?;
    parser.expect("|=", "between the parameters and what holds for them")?;
    let body = parser.expression(0)?;
    parser.end()?;
    Ok(Rule { params, body })
}

/// An expression alone: the body of a rule.
pub fn parse_expression(text: &str, precedence: Precedence) -> Result<Expression, RuleError> {
    let mut parser = Parser::new(text, precedence)?;
    let expression = parser.expression(0)?;
    parser.end()?;
    Ok(expression)
}

/// `int | list(int)`, `tensor?`.
pub fn parse_type(text: &str) -> Result<Type, RuleError> {
    let mut parser = Parser::new(text, Precedence::Usual)?;
    let of = parser.union()?;
    parser.end()?;
    Ok(of)
}

/// Binding power of comparisons and membership.
const COMPARISON: u8 = 5;
const NOT: u8 = 4;
const SUM: u8 = 6;
const NEGATION: u8 = 8;

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    nesting: usize,
    precedence: Precedence,
}

impl Parser {
    fn new(text: &str, precedence: Precedence) -> Result<Self, RuleError> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
            nesting: 0,
            precedence,
        })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1.clone()
    }

    fn previous_end(&self) -> usize {
        self.at
            .checked_sub(1)
            .map_or(0, |before| self.tokens[before].1.end)
    }

    /// The next token; the end stays the next token for ever.
    fn next(&mut self) -> (Token, Span) {
        let found = self.tokens[self.at].clone();
        if found.0 != Token::End {
            self.at += 1;
        }
        found
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, symbol: &'static str, place: &str) -> Result<(), RuleError> {
        if self.take(symbol) {
            return Ok(());
        }
        let message = format!("expected `{symbol}` {place}, found {}", self.found());
        Err(RuleError::new(message, self.span()))
    }

    fn found(&self) -> String {
        match self.peek() {
            Token::Integer(value) => format!("`{value}`"),
            Token::Float(value) => format!("`{value}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Word(word) | Token::Quoted(word) => format!("`{word}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".to_owned(),
        }
    }

    fn end(&mut self) -> Result<(), RuleError> {
        if *self.peek() == Token::End {
            return Ok(());
        }
        let error = RuleError::new(
            format!("expected the end of the rule, found {}", self.found()),
            self.span(),
        );
        Err(match self.peek() {
            Token::Word(word) if word == "implies" => error.with_help("write `=>`"),
            Token::Word(_) | Token::Integer(_) | Token::Quoted(_) => {
                error.with_help("is an operator missing before it?")
            }
            Token::Symbol("|") => error.with_help("write `or`"),
            _ => error,
        })
    }

    fn deeper(&mut self) -> Result<(), RuleError> {
        self.nesting += 1;
        if self.nesting > MAXIMUM_DEPTH / 2 {
            return Err(too_deep(self.span()));
        }
        Ok(())
    }

    fn identifier(&mut self, what: &str) -> Result<(String, Span), RuleError> {
        match self.peek().clone() {
            Token::Word(name) | Token::Quoted(name) => Ok((name, self.next().1)),
            Token::Symbol(word) if word.starts_with(char::is_alphabetic) => Err(RuleError::new(
                format!("expected {what}, but `{word}` is a word of the language"),
                self.span(),
            )
            .with_help(format!("write the name in backticks: `{word}`"))),
            _ => Err(RuleError::new(
                format!("expected {what}, found {}", self.found()),
                self.span(),
            )),
        }
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Expression, RuleError> {
        self.deeper()?;
        let mut left = self.operand()?;
        loop {
            left = if let Some((operator, power, right_power)) = self.operator(least) {
                self.next();
                let right = self.expression(right_power)?;
                if power == COMPARISON {
                    self.comparison(left, operator, right)?
                } else {
                    Expression::binary(left, operator, right)
                }
            } else if let Some(negated) = self.membership(least) {
                let over = self.collection()?;
                let span = left.span.start..self.previous_end();
                let inside = Kind::In(Box::new(left), Box::new(over));
                let inside = Expression::new(inside, span.clone());
                if negated {
                    Expression::new(Kind::Not(Box::new(inside)), span)
                } else {
                    inside
                }
            } else {
                break;
            };
            if left.depth() > MAXIMUM_DEPTH {
                return Err(too_deep(left.span));
            }
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// `a < b < c` says `a < b and b < c`.
    fn comparison(
        &mut self,
        left: Expression,
        operator: Operator,
        mut right: Expression,
    ) -> Result<Expression, RuleError> {
        let mut whole = Expression::binary(left, operator, right.clone());
        while let Some((operator, COMPARISON, power)) = self.operator(COMPARISON) {
            self.next();
            let next = self.expression(power)?;
            let link = Expression::binary(right, operator, next.clone());
            whole = Expression::binary(whole, Operator::And, link);
            right = next;
            if whole.depth() > MAXIMUM_DEPTH {
                return Err(too_deep(whole.span));
            }
        }
        Ok(whole)
    }

    /// The operator here, its binding power, and the least power of its right side.
    fn operator(&self, least: u8) -> Option<(Operator, u8, u8)> {
        let Token::Symbol(symbol) = self.peek() else {
            return None;
        };
        let alike = self.precedence == Precedence::LeftToRight;
        let (operator, power) = match *symbol {
            "=>" => (Operator::Implies, 1),
            "or" => (Operator::Or, if alike { 3 } else { 2 }),
            "and" => (Operator::And, 3),
            "=" => (Operator::Equal, COMPARISON),
            "!=" => (Operator::NotEqual, COMPARISON),
            "<" => (Operator::Less, COMPARISON),
            "<=" => (Operator::LessOrEqual, COMPARISON),
            ">" => (Operator::Greater, COMPARISON),
            ">=" => (Operator::GreaterOrEqual, COMPARISON),
            "+" => (Operator::Add, SUM),
            "-" => (Operator::Subtract, SUM),
            "*" => (Operator::Multiply, 7),
            "/" => (Operator::Divide, 7),
            "//" => (Operator::FloorDivide, 7),
            "%" => (Operator::Modulo, 7),
            _ => return None,
        };
        // Implication associates to the right, all others to the left.
        let right = if operator == Operator::Implies {
            power
        } else {
            power + 1
        };
        (power >= least).then_some((operator, power, right))
    }

    /// Consumes `in`, `not in`; says whether it was negated.
    fn membership(&mut self, least: u8) -> Option<bool> {
        if least > COMPARISON {
            return None;
        }
        if self.take("in") {
            return Some(false);
        }
        if self.take("∉") {
            return Some(true);
        }
        let follows = self.tokens.get(self.at + 1).map(|(token, _)| token);
        if *self.peek() == Token::Symbol("not") && follows == Some(&Token::Symbol("in")) {
            self.at += 2;
            return Some(true);
        }
        None
    }

    fn collection(&mut self) -> Result<Collection, RuleError> {
        if self.take("[") {
            let low = self.expression(0)?;
            self.expect(",", "between the two ends of the interval")
                .map_err(|error| error.with_help("a set of values is written {1, 2, 3}"))?;
            let high = self.expression(0)?;
            self.expect("]", "after the upper end of the interval")
                .map_err(|error| error.with_help("a set of values is written {1, 2, 3}"))?;
            return Ok(Collection::Interval(low, high));
        }
        if self.take("{") {
            return Ok(Collection::Set(self.arguments("}", "of the set")?));
        }
        Ok(Collection::Elements(self.expression(SUM)?))
    }

    /// Expressions up to the closing bracket, at least one.
    fn arguments(
        &mut self,
        close: &'static str,
        place: &str,
    ) -> Result<Vec<Expression>, RuleError> {
        let mut items = vec![self.expression(0)?];
        while !self.take(close) {
            if !self.take(",") {
                let message = format!(
                    "expected `,` or `{close}` after an item {place}, found {}",
                    self.found()
                );
                return Err(RuleError::new(message, self.span()));
            }
            items.push(self.expression(0)?);
        }
        Ok(items)
    }

    fn operand(&mut self) -> Result<Expression, RuleError> {
        let (token, span) = self.next();
        let mut operand = match token {
            Token::Integer(value) => Expression::new(Kind::Integer(integer(value, &span)?), span),
            Token::Float(value) => Expression::new(Kind::Float(value), span),
            Token::Text(text) => Expression::new(Kind::Text(text), span),
            Token::Quoted(name) => Expression::new(Kind::Name(name), span),
            Token::Word(word) if *self.peek() == Token::Symbol("(") => self.call(&word, span)?,
            Token::Word(word) => Expression::new(Kind::Name(word), span),
            Token::Symbol("true") => Expression::new(Kind::Boolean(true), span),
            Token::Symbol("false") => Expression::new(Kind::Boolean(false), span),
            Token::Symbol("inf") => Expression::new(Kind::Float(f64::INFINITY), span),
            Token::Symbol("(") => {
                let inner = self.expression(0)?;
                self.expect(")", "to close the bracket")?;
                Expression::new(inner.kind, span.start..self.previous_end())
            }
            Token::Symbol("not") => {
                let inner = self.expression(NOT)?;
                let span = span.start..inner.span.end;
                return Ok(Expression::new(Kind::Not(Box::new(inner)), span));
            }
            Token::Symbol("-") => match *self.peek() {
                Token::Integer(value) => {
                    let whole = span.start..self.next().1.end;
                    Expression::new(Kind::Integer(negative(value, &whole)?), whole)
                }
                Token::Float(value) => {
                    let whole = span.start..self.next().1.end;
                    Expression::new(Kind::Float(-value), whole)
                }
                Token::Symbol("inf") => {
                    let whole = span.start..self.next().1.end;
                    Expression::new(Kind::Float(f64::NEG_INFINITY), whole)
                }
                _ => {
                    let inner = self.expression(NEGATION)?;
                    let span = span.start..inner.span.end;
                    return Ok(inner.negated(span));
                }
            },
            Token::Symbol("if") => return self.conditional(span),
            Token::Symbol("forall") => return self.quantified(Quantifier::Forall, span),
            Token::Symbol("exists") => return self.quantified(Quantifier::Exists, span),
            Token::End => {
                return Err(RuleError::new(
                    "the rule ends where a value is expected",
                    span,
                ));
            }
            Token::Symbol(symbol) => {
                let message = format!("expected a value, found `{symbol}`");
                return Err(RuleError::new(message, span));
            }
        };
        loop {
            let start = operand.span.start;
            let kind = if self.take("[") {
                let at = self.expression(0)?;
                self.expect("]", "after the index")?;
                Kind::Item(Box::new(operand), Box::new(at))
            } else if self.take(".") {
                match self.next() {
                    (Token::Word(word), _) if word == "len" => Kind::Length(Box::new(operand)),
                    (_, span) => {
                        let message = "expected `len` after the dot";
                        return Err(RuleError::new(message, span)
                            .with_help("x.len is the number of items of x"));
                    }
                }
            } else {
                return Ok(operand);
            };
            operand = Expression::new(kind, start..self.previous_end());
            if operand.depth() > MAXIMUM_DEPTH {
                return Err(too_deep(operand.span));
            }
        }
    }

    fn call(&mut self, word: &str, span: Span) -> Result<Expression, RuleError> {
        let Some(function) = Function::from_name(word) else {
            let error = RuleError::new(format!("unknown function `{word}`"), span);
            let help = match (
                other_name(word),
                nearest(word, Function::ALL.map(Function::name)),
            ) {
                (Some(ours), _) => format!("write {ours}"),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => {
                    let names = Function::ALL.map(Function::name);
                    format!("functions are {}", names.join(", "))
                }
            };
            return Err(error.with_help(help));
        };
        self.expect("(", "after the function")?;
        let arguments = self.arguments(")", &format!("of `{word}`"))?;
        let whole = span.start..self.previous_end();
        if !function.takes(arguments.len()) {
            let message = format!(
                "`{}` does not take {} argument{}",
                function.name(),
                arguments.len(),
                if arguments.len() == 1 { "" } else { "s" }
            );
            let help = format!("it is written {}", function.usage());
            return Err(RuleError::new(message, whole).with_help(help));
        }
        Ok(Expression::new(Kind::Call(function, arguments), whole))
    }

    fn conditional(&mut self, span: Span) -> Result<Expression, RuleError> {
        let condition = self.expression(0)?;
        self.expect("then", "after the condition")?;
        let then = self.expression(0)?;
        let other = if self.take("else") {
            Some(Box::new(self.expression(0)?))
        } else {
            None
        };
        let kind = Kind::If(Box::new(condition), Box::new(then), other);
        Ok(Expression::new(kind, span.start..self.previous_end()))
    }

    fn quantified(&mut self, quantifier: Quantifier, span: Span) -> Result<Expression, RuleError> {
        let (variable, _) = self.identifier("the name of the variable")?;
        self.expect("in", "after the variable")
            .map_err(|error| error.with_help("it is written forall i in [0, ndim(x) - 1]: …"))?;
        let over = self.collection()?;
        self.expect(":", "before what holds for each value")?;
        let body = self.expression(0)?;
        let kind = Kind::Quantified {
            quantifier,
            variable,
            over: Box::new(over),
            body: Box::new(body),
        };
        Ok(Expression::new(kind, span.start..self.previous_end()))
    }
}

/// What other languages call it.
fn other_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "rank" | "dim" | "dims" => "ndim(x)",
        "len" | "length" => "x.len",
        "numel" | "count" => "size(x)",
        "prod" => "product(l)",
        "is_none" => "not given(x)",
        "any" => "exists e in x: …",
        "all" => "forall e in x: …",
        _ => return None,
    })
}

fn too_deep(span: Span) -> RuleError {
    RuleError::new("the rule is nested too deeply", span).with_help(format!(
        "at most {MAXIMUM_DEPTH} levels are read; split the rule"
    ))
}

fn integer(value: u128, span: &Span) -> Result<i64, RuleError> {
    i64::try_from(value).map_err(|_| too_large(&value.to_string(), span))
}

fn negative(value: u128, span: &Span) -> Result<i64, RuleError> {
    i128::try_from(value)
        .ok()
        .and_then(|value| i64::try_from(-value).ok())
        .ok_or_else(|| too_large(&format!("-{value}"), span))
}

fn too_large(number: &str, span: &Span) -> RuleError {
    RuleError::new(format!("the number {number} is too large"), span.clone())
        .with_help("whole numbers have at most 64 bits")
}
