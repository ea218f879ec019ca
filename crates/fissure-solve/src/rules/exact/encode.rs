//! Numbers of a rule as SMT-LIB.

use fissure_rules::{Operator, Sequence, Subject, Term, Type};

use super::symbol::{Alternative, Symbol};
use super::text::{Number, all, choose, equal, integer, select};
use crate::rules::specialise::{Specialised, Unsupported};

/// What a subject turns out to be.
#[derive(Clone)]
pub(super) enum Target<'a> {
    Symbol(&'a Symbol),
    Number(Number),
}

/// Several numbers in a row: as many of the items as `count` says.
#[derive(Clone)]
pub(super) struct Row {
    pub count: String,
    pub items: Vec<Number>,
}

/// Rules over the symbols of an API.
pub(super) struct Encoder<'a> {
    /// The symbols of the rule's own parameters, and the texts each can be.
    pub params: Vec<&'a Symbol>,
    pub texts: Vec<&'a [String]>,
    pub bound: Vec<Target<'a>>,
    /// Quantifiers are unrolled from minus this to this.
    pub farthest: i64,
    /// What must hold for the query to mean what the rules mean.
    pub assumptions: Vec<String>,
}

type Cases<T> = Vec<(String, T)>;

impl<'a> Encoder<'a> {
    pub(super) fn subject(&mut self, subject: &Subject) -> Specialised<Cases<Target<'a>>> {
        Ok(match subject {
            Subject::Param(position) => {
                vec![("true".to_owned(), Target::Symbol(self.params[*position]))]
            }
            Subject::Bound(slot) => match self.bound.get(*slot) {
                Some(target) => vec![("true".to_owned(), target.clone())],
                None => Vec::new(),
            },
            Subject::Item(parts) => {
                let index = self.term(&parts.1)?;
                let mut found = Vec::new();
                for (condition, target) in self.subject(&parts.0)? {
                    let Target::Symbol(symbol) = target else {
                        continue;
                    };
                    for (is, _, alternative) in symbol.cases() {
                        match alternative {
                            Alternative::Items { length, items } => {
                                let (at, inside) = position(&index, length)?;
                                for (number, item) in items.iter().enumerate() {
                                    let here = equal(&at, &number.to_string());
                                    let when =
                                        [condition.clone(), is.clone(), inside.clone(), here];
                                    found.push((all(when), Target::Symbol(item)));
                                }
                            }
                            // One element of a tensor is no unknown of the query.
                            Alternative::Tensor(_) => return Err(Unsupported),
                            _ => {}
                        }
                    }
                }
                found
            }
        })
    }

    pub(super) fn term(&mut self, term: &Term) -> Specialised<Number> {
        Ok(match term {
            Term::Constant(value) => {
                let value = value.as_f64();
                if !value.is_finite() {
                    return Err(Unsupported);
                }
                Number::constant(value)
            }
            Term::Value(subject) => {
                let mut cases = Vec::new();
                for (condition, target) in self.subject(subject)? {
                    match target {
                        Target::Number(number) => cases.push((condition, number)),
                        Target::Symbol(symbol) => {
                            for (is, of, alternative) in symbol.cases() {
                                if let Alternative::Number(name) = alternative {
                                    let number = Number {
                                        whole: *of == Type::Int,
                                        ..Number::whole(name)
                                    };
                                    cases.push((all([condition.clone(), is]), number));
                                }
                            }
                        }
                    }
                }
                Number::of_cases(cases)
            }
            Term::Ndim(subject) => {
                self.over_shapes(subject, |row| Ok(Number::whole(&row.count)))?
            }
            Term::Size(subject) => self.over_shapes(subject, |row| Ok(product(row)))?,
            Term::Dimension(parts) => {
                let index = self.term(&parts.1)?;
                self.over_shapes(&parts.0, |row| item(row, &index))?
            }
            Term::Length(subject) => {
                let mut cases = Vec::new();
                for (condition, target) in self.subject(subject)? {
                    let Target::Symbol(symbol) = target else {
                        continue;
                    };
                    for (is, _, alternative) in symbol.cases() {
                        let when = all([condition.clone(), is]);
                        match alternative {
                            Alternative::Items { length, .. } => {
                                cases.push((when, Number::whole(length)));
                            }
                            Alternative::Text(_) => return Err(Unsupported),
                            _ => {}
                        }
                    }
                }
                Number::of_cases(cases)
            }
            Term::Minimum(of) => self.extreme(of, true)?,
            Term::Maximum(of) => self.extreme(of, false)?,
            Term::Least(terms) => self.best(terms, true)?,
            Term::Greatest(terms) => self.best(terms, false)?,
            Term::Product(of, None) => {
                let rows = self.rows(of)?;
                Number::of_cases(
                    rows.into_iter()
                        .map(|(when, row)| (when, product(&row)))
                        .collect(),
                )
            }
            Term::Product(of, Some(range)) => {
                let ends = (self.term(&range.0)?, self.term(&range.1)?);
                let mut cases = Vec::new();
                for (when, row) in self.rows(of)? {
                    cases.push((when, part_product(&row, &ends.0, &ends.1)?));
                }
                Number::of_cases(cases)
            }
            Term::Sum(of) => {
                let rows = self.rows(of)?;
                Number::of_cases(
                    rows.into_iter()
                        .map(|(when, row)| (when, sum(&row)))
                        .collect(),
                )
            }
            Term::Negate(inner) => {
                let number = self.term(inner)?;
                Number {
                    text: format!("(- {})", number.text),
                    ..number
                }
            }
            Term::Absolute(inner) => {
                let number = self.term(inner)?;
                let text = format!("(ite (< {0} 0) (- {0}) {0})", number.text);
                Number { text, ..number }
            }
            Term::Calculate(operator, sides) => {
                let (left, right) = (self.term(&sides.0)?, self.term(&sides.1)?);
                calculate(*operator, &left, &right)?
            }
            Term::If(parts) => {
                let condition = self.formula(&parts.0)?;
                let (then, other) = (self.term(&parts.1)?, self.term(&parts.2)?);
                let (a, b, whole) = Number::alike(&then, &other);
                Number {
                    text: choose(&condition, &a, &b),
                    whole,
                    defined: choose(&condition, &then.defined, &other.defined),
                }
            }
        })
    }

    fn over_shapes(
        &mut self,
        subject: &Subject,
        ask: impl Fn(&Row) -> Specialised<Number>,
    ) -> Specialised<Number> {
        let mut cases = Vec::new();
        for (when, row) in self.rows(&Sequence::Shape(subject.clone()))? {
            cases.push((when, ask(&row)?));
        }
        Ok(Number::of_cases(cases))
    }

    /// Every row the sequence can be; for [`Sequence::Of`] only lists of numbers.
    pub(super) fn rows(&mut self, sequence: &Sequence) -> Specialised<Cases<Row>> {
        let (subject, is_shape) = match sequence {
            Sequence::Shape(subject) => (subject, true),
            Sequence::Of(subject) => (subject, false),
        };
        let scalar = || Row {
            count: "0".to_owned(),
            items: Vec::new(),
        };
        let mut found = Vec::new();
        for (condition, target) in self.subject(subject)? {
            let symbol = match target {
                Target::Number(_) if is_shape => {
                    found.push((condition, scalar()));
                    continue;
                }
                Target::Number(_) => continue,
                Target::Symbol(symbol) => symbol,
            };
            for (is, _, alternative) in symbol.cases() {
                let when = all([condition.clone(), is]);
                match alternative {
                    Alternative::Tensor(tensor) if is_shape => {
                        let items = tensor.dims.iter().map(Number::whole).collect();
                        let count = tensor.rank.clone();
                        found.push((when, Row { count, items }));
                    }
                    Alternative::Tensor(_) => return Err(Unsupported),
                    Alternative::Items { length, .. } if is_shape => {
                        let items = vec![Number::whole(length)];
                        let count = "1".to_owned();
                        found.push((when, Row { count, items }));
                    }
                    Alternative::Items { length, items } => {
                        let mut numbers = Vec::new();
                        for item in items {
                            match item.alternatives.as_slice() {
                                [(of, Alternative::Number(name))] => numbers.push(Number {
                                    whole: *of == Type::Int,
                                    ..Number::whole(name)
                                }),
                                _ => return Err(Unsupported),
                            }
                        }
                        let count = length.clone();
                        found.push((
                            when,
                            Row {
                                count,
                                items: numbers,
                            },
                        ));
                    }
                    Alternative::Number(_) | Alternative::Bool(_) if is_shape => {
                        found.push((when, scalar()));
                    }
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn extreme(&mut self, of: &Sequence, least: bool) -> Specialised<Number> {
        if let Sequence::Of(subject) = of {
            let mut cases = Vec::new();
            let mut lists = false;
            for (condition, target) in self.subject(subject)? {
                let Target::Symbol(symbol) = target else {
                    continue;
                };
                for (is, _, alternative) in symbol.cases() {
                    match alternative {
                        Alternative::Tensor(tensor) => {
                            let bound = if least { &tensor.low } else { &tensor.high };
                            let number = Number {
                                defined: tensor.is_filled(),
                                ..Number::whole(bound)
                            };
                            cases.push((all([condition.clone(), is]), number));
                        }
                        Alternative::Items { .. } => lists = true,
                        _ => {}
                    }
                }
            }
            if !lists {
                return Ok(Number::of_cases(cases));
            }
            if !cases.is_empty() {
                return Err(Unsupported);
            }
        }
        let rows = self.rows(of)?;
        let best = |row: &Row| {
            let items = row.items.iter().enumerate().map(|(at, item)| Number {
                defined: format!("(< {at} {})", row.count),
                ..item.clone()
            });
            items.reduce(|a, b| better(&a, &b, least, true))
        };
        Ok(Number::of_cases(
            rows.iter()
                .filter_map(|(when, row)| Some((when.clone(), best(row)?)))
                .collect(),
        ))
    }

    fn best(&mut self, terms: &[Term], least: bool) -> Specialised<Number> {
        let mut best: Option<Number> = None;
        for term in terms {
            let next = self.term(term)?;
            best = Some(match best {
                Some(before) => better(&before, &next, least, false),
                None => next,
            });
        }
        best.ok_or(Unsupported)
    }
}

/// The smaller or larger; with `optional` an undefined side is no side.
fn better(a: &Number, b: &Number, least: bool, optional: bool) -> Number {
    let (x, y, whole) = Number::alike(a, b);
    let symbol = if least { "<=" } else { ">=" };
    let first = format!("({symbol} {x} {y})");
    if optional {
        // The items that are there come first, so the first is there if any is.
        let text = choose(&b.defined, &choose(&first, &x, &y), &x);
        return Number {
            text,
            whole,
            defined: a.defined.clone(),
        };
    }
    Number {
        text: choose(&first, &x, &y),
        whole,
        defined: all([a.defined.clone(), b.defined.clone()]),
    }
}

/// The position an index names from the start, and that it is inside.
fn position(index: &Number, count: &str) -> Specialised<(String, String)> {
    if !index.whole {
        return Err(Unsupported);
    }
    let at = match index.text.parse::<u64>() {
        Ok(_) => index.text.clone(),
        Err(_) => choose(
            &format!("(< {} 0)", index.text),
            &format!("(+ {} {count})", index.text),
            &index.text,
        ),
    };
    let inside = format!("(and (<= 0 {at}) (< {at} {count}))");
    Ok((at, all([index.defined.clone(), inside])))
}

pub(super) fn item(row: &Row, index: &Number) -> Specialised<Number> {
    if row.items.is_empty() {
        return Ok(Number::undefined());
    }
    let (at, inside) = position(index, &row.count)?;
    let whole = row.items.iter().all(|item| item.whole);
    let texts: Vec<String> = row
        .items
        .iter()
        .map(|item| {
            if whole {
                item.text.clone()
            } else {
                item.as_real()
            }
        })
        .collect();
    Ok(Number {
        text: select(&texts, &at),
        whole,
        defined: inside,
    })
}

fn folded(row: &Row, word: &str, neutral: f64, taken: impl Fn(usize) -> String) -> Number {
    let whole = row.items.iter().all(|item| item.whole);
    let parts: Vec<String> = row
        .items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let text = if whole {
                item.text.clone()
            } else {
                item.as_real()
            };
            let neutral = Number::constant(neutral);
            let neutral = if whole {
                neutral.text
            } else {
                neutral.as_real()
            };
            choose(&taken(at), &text, &neutral)
        })
        .collect();
    match parts.as_slice() {
        [] => Number::constant(neutral),
        [one] => Number {
            whole,
            ..Number::whole(one)
        },
        several => Number {
            whole,
            ..Number::whole(format!("({word} {})", several.join(" ")))
        },
    }
}

fn product(row: &Row) -> Number {
    folded(row, "*", 1.0, |at| format!("(< {at} {})", row.count))
}

fn sum(row: &Row) -> Number {
    folded(row, "+", 0.0, |at| format!("(< {at} {})", row.count))
}

/// The product from one index to another, both inside unless nothing is there.
fn part_product(row: &Row, first: &Number, last: &Number) -> Specialised<Number> {
    let (from, from_inside) = position(first, &row.count)?;
    let (to, to_inside) = position(last, &row.count)?;
    let inside = folded(row, "*", 1.0, |at| format!("(<= {from} {at} {to})"));
    let nothing = all([
        equal(&row.count, "0"),
        equal(&last.text, &integer(-1)),
        last.defined.clone(),
        first.defined.clone(),
    ]);
    let empty = Number {
        defined: nothing.clone(),
        ..Number::constant(1.0)
    };
    let part = Number {
        defined: all([from_inside, to_inside]),
        ..inside
    };
    Ok(Number::of_cases(vec![
        (nothing, empty),
        ("true".to_owned(), part),
    ]))
}

fn calculate(operator: Operator, left: &Number, right: &Number) -> Specialised<Number> {
    let (a, b, whole) = Number::alike(left, right);
    let both = all([left.defined.clone(), right.defined.clone()]);
    let zero = if whole { "0" } else { "0.0" };
    let divisible = all([both.clone(), format!("(not (= {b} {zero}))")]);
    // SMT-LIB's rest is never negative; ours has the sign of the divisor.
    let positive = match b.parse::<u64>() {
        Ok(_) => "true".to_owned(),
        Err(_) => format!("(< 0 {b})"),
    };
    let floored = choose(
        &positive,
        &format!("(div {a} {b})"),
        &format!("(div (- {a}) (- {b}))"),
    );
    let rest = choose(
        &positive,
        &format!("(mod {a} {b})"),
        &format!("(- (mod (- {a}) (- {b})))"),
    );
    Ok(match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply => Number {
            text: format!("({} {a} {b})", operator.symbol()),
            whole,
            defined: both,
        },
        Operator::Divide => Number {
            text: format!("(/ {} {})", left.as_real(), right.as_real()),
            whole: false,
            defined: divisible,
        },
        Operator::FloorDivide if whole => Number {
            text: floored,
            whole,
            defined: divisible,
        },
        Operator::Modulo if whole => Number {
            text: rest,
            whole,
            defined: divisible,
        },
        Operator::FloorDivide => Number {
            text: format!("(to_int (/ {a} {b}))"),
            whole: true,
            defined: divisible,
        },
        _ => return Err(Unsupported),
    })
}
