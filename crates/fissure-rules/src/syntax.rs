//! A rule as it is written: the syntax tree.

use std::ops::Range;

use crate::function::Function;
use crate::types::Type;

/// Bytes of the source text.
pub type Span = Range<usize>;

/// `{name: type, …} |= body`: on every input whose arguments have these types, the body holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub params: Vec<Declaration>,
    pub body: Expression,
}

/// One parameter of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    pub of: Type,
}

/// An expression and where it stands. Two expressions are equal when they say the same, wherever
/// they stand.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: Kind,
    pub span: Span,
    depth: u16,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Integer(i64),
    Float(f64),
    Text(String),
    Boolean(bool),
    /// A parameter, a bound variable or a dtype; the checker knows which.
    Name(String),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
    In(Box<Expression>, Box<Collection>),
    /// Without `else` the condition's failure makes it true.
    If(Box<Expression>, Box<Expression>, Option<Box<Expression>>),
    Quantified {
        quantifier: Quantifier,
        variable: String,
        over: Box<Collection>,
        body: Box<Expression>,
    },
    Call(Function, Vec<Expression>),
    /// `x[e]`
    Item(Box<Expression>, Box<Expression>),
    /// `x.len`
    Length(Box<Expression>),
}

/// What stands after `in`.
#[derive(Clone, Debug, PartialEq)]
pub enum Collection {
    /// `[low, high]`, both included.
    Interval(Expression, Expression),
    /// `{a, b, c}`
    Set(Vec<Expression>),
    /// The items of a list, the elements of a tensor.
    Elements(Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    Forall,
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Implies,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    /// Exact: `7 / 2` is 3.5.
    Divide,
    /// Rounded down: `7 // 2` is 3.
    FloorDivide,
    /// Python's: the result has the sign of the divisor.
    Modulo,
}

impl Operator {
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Operator::Equal
                | Operator::NotEqual
                | Operator::Less
                | Operator::LessOrEqual
                | Operator::Greater
                | Operator::GreaterOrEqual
        )
    }

    /// Orders numbers, unlike `=` and `!=`, which compare anything.
    pub fn is_order(self) -> bool {
        self.is_comparison() && !matches!(self, Operator::Equal | Operator::NotEqual)
    }

    pub fn is_arithmetic(self) -> bool {
        matches!(
            self,
            Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::FloorDivide
                | Operator::Modulo
        )
    }

    /// The comparison that holds with the two sides exchanged.
    pub fn mirrored(self) -> Operator {
        match self {
            Operator::Less => Operator::Greater,
            Operator::LessOrEqual => Operator::GreaterOrEqual,
            Operator::Greater => Operator::Less,
            Operator::GreaterOrEqual => Operator::LessOrEqual,
            other => other,
        }
    }

    /// The comparison that holds, on defined sides, exactly when this one does not.
    pub fn opposite(self) -> Operator {
        match self {
            Operator::Less => Operator::GreaterOrEqual,
            Operator::LessOrEqual => Operator::Greater,
            Operator::Greater => Operator::LessOrEqual,
            Operator::GreaterOrEqual => Operator::Less,
            Operator::Equal => Operator::NotEqual,
            Operator::NotEqual => Operator::Equal,
            other => other,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Implies => "=>",
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
        }
    }
}

impl Expression {
    pub fn new(kind: Kind, span: Span) -> Self {
        let mut depth = 0;
        each_child(&kind, &mut |child| depth = depth.max(child.depth));
        Expression {
            kind,
            span,
            depth: depth.saturating_add(1),
        }
    }

    /// An expression that was not read from a text.
    pub fn made(kind: Kind) -> Self {
        Expression::new(kind, 0..0)
    }

    pub fn name(name: &str) -> Self {
        Expression::made(Kind::Name(name.to_owned()))
    }

    pub fn integer(value: i64) -> Self {
        Expression::made(Kind::Integer(value))
    }

    pub fn binary(left: Expression, operator: Operator, right: Expression) -> Self {
        let span = left.span.start..right.span.end.max(left.span.start);
        let kind = Kind::Binary(Box::new(left), operator, Box::new(right));
        Expression::new(kind, span)
    }

    pub fn call(function: Function, arguments: Vec<Expression>) -> Self {
        Expression::made(Kind::Call(function, arguments))
    }

    /// Of a number the number with the other sign, so that `-1` is one literal.
    pub fn negated(self, span: Span) -> Self {
        let kind = match self.kind {
            Kind::Integer(value) if value != i64::MIN => Kind::Integer(-value),
            Kind::Float(value) => Kind::Float(-value),
            _ => Kind::Negate(Box::new(self)),
        };
        Expression::new(kind, span)
    }

    /// Levels of nesting.
    pub fn depth(&self) -> usize {
        self.depth.into()
    }

    /// Calls `visit` on this expression and on every expression inside it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
        visit(self);
        each_child(&self.kind, &mut |child| child.walk(visit));
    }

    pub(crate) fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
        each_child(&self.kind, visit);
    }

    /// The same expression with every part replaced by what `change` makes of it, inside first.
    pub fn rewritten(self, change: &mut dyn FnMut(Expression) -> Expression) -> Self {
        let span = self.span.clone();
        let boxed = |part: Box<Expression>, change: &mut dyn FnMut(Expression) -> Expression| {
            Box::new(part.rewritten(change))
        };
        let collection =
            |part: Box<Collection>, change: &mut dyn FnMut(Expression) -> Expression| {
                Box::new(match *part {
                    Collection::Interval(low, high) => {
                        Collection::Interval(low.rewritten(change), high.rewritten(change))
                    }
                    Collection::Set(items) => Collection::Set(
                        items
                            .into_iter()
                            .map(|item| item.rewritten(change))
                            .collect(),
                    ),
                    Collection::Elements(of) => Collection::Elements(of.rewritten(change)),
                })
            };
        let kind = match self.kind {
            leaf @ (Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Boolean(_)
            | Kind::Name(_)) => leaf,
            Kind::Not(inner) => Kind::Not(boxed(inner, change)),
            Kind::Negate(inner) => Kind::Negate(boxed(inner, change)),
            Kind::Binary(left, operator, right) => {
                Kind::Binary(boxed(left, change), operator, boxed(right, change))
            }
            Kind::In(item, over) => Kind::In(boxed(item, change), collection(over, change)),
            Kind::If(condition, then, other) => Kind::If(
                boxed(condition, change),
                boxed(then, change),
                other.map(|other| boxed(other, change)),
            ),
            Kind::Quantified {
                quantifier,
                variable,
                over,
                body,
            } => Kind::Quantified {
                quantifier,
                variable,
                over: collection(over, change),
                body: boxed(body, change),
            },
            Kind::Call(function, arguments) => Kind::Call(
                function,
                arguments
                    .into_iter()
                    .map(|argument| argument.rewritten(change))
                    .collect(),
            ),
            Kind::Item(of, at) => Kind::Item(boxed(of, change), boxed(at, change)),
            Kind::Length(of) => Kind::Length(boxed(of, change)),
        };
        change(Expression::new(kind, span))
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

fn each_child<'a>(kind: &'a Kind, visit: &mut dyn FnMut(&'a Expression)) {
    match kind {
        Kind::Integer(_) | Kind::Float(_) | Kind::Text(_) | Kind::Boolean(_) | Kind::Name(_) => {}
        Kind::Not(inner) | Kind::Negate(inner) | Kind::Length(inner) => visit(inner),
        Kind::Binary(left, _, right) | Kind::Item(left, right) => {
            visit(left);
            visit(right);
        }
        Kind::In(item, over) => {
            visit(item);
            each_of_collection(over, visit);
        }
        Kind::If(condition, then, other) => {
            visit(condition);
            visit(then);
            if let Some(other) = other {
                visit(other);
            }
        }
        Kind::Quantified { over, body, .. } => {
            each_of_collection(over, visit);
            visit(body);
        }
        Kind::Call(_, arguments) => arguments.iter().for_each(visit),
    }
}

fn each_of_collection<'a>(over: &'a Collection, visit: &mut dyn FnMut(&'a Expression)) {
    match over {
        Collection::Interval(low, high) => {
            visit(low);
            visit(high);
        }
        Collection::Set(items) => items.iter().for_each(visit),
        Collection::Elements(of) => visit(of),
    }
}
