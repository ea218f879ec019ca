//! What a rule asks for as SMT-LIB.

use fissure_rules::{
    CheckedRule, DtypeSet, DtypeTerm, ElementFact, Formula, Operator, Quantifier, Sequence,
    Subject, Type,
};

use super::encode::{Encoder, Row, Target, item};
use super::symbol::{Alternative, TensorSymbol};
use super::text::{Number, all, any, choose, equal, integer, not, truth};
use crate::rules::specialise::{Specialised, Unsupported};

impl Encoder<'_> {
    /// That the rule speaks of the input, and what it says then.
    pub(super) fn rule(&mut self, rule: &CheckedRule) -> Specialised<(String, String)> {
        let mut speaks = Vec::new();
        for (param, symbol) in rule.params.iter().zip(self.params.clone()) {
            let spoken = param.of.alternatives();
            let mut fitting = Vec::new();
            for (is, of, _) in symbol.cases() {
                let whole_as_float = *of == Type::Int && spoken.contains(&Type::Float);
                if spoken.contains(of) || whole_as_float {
                    fitting.push(is);
                } else if of.is_sequence() && spoken.iter().any(Type::is_sequence) {
                    // Lists of several types of items would have to be asked item by item.
                    let same = |other: &Type| {
                        matches!(of, Type::List(_)) == matches!(other, Type::List(_))
                    };
                    if spoken
                        .iter()
                        .any(|other| other.is_sequence() && same(other))
                    {
                        return Err(Unsupported);
                    }
                }
            }
            speaks.push(any(fitting));
        }
        Ok((all(speaks), self.formula(&rule.formula)?))
    }

    pub(super) fn formula(&mut self, formula: &Formula) -> Specialised<String> {
        Ok(match formula {
            Formula::Constant(value) => truth(*value),
            Formula::Not(inner) => not(&self.formula(inner)?),
            Formula::All(parts) => all(self.each(parts)?),
            Formula::Any(parts) => any(self.each(parts)?),
            Formula::If(parts) => {
                let condition = self.formula(&parts.0)?;
                choose(
                    &condition,
                    &self.formula(&parts.1)?,
                    &self.formula(&parts.2)?,
                )
            }
            Formula::Alike(sides) => equal(&self.formula(&sides.0)?, &self.formula(&sides.1)?),
            Formula::Truth(subject, wanted) => {
                self.over(subject, &|alternative| match alternative {
                    Alternative::Bool(name) if *wanted => Ok(name.clone()),
                    Alternative::Bool(name) => Ok(not(name)),
                    _ => Ok(truth(false)),
                })?
            }
            Formula::Compare(operator, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                compare(*operator, &left, &right)
            }
            Formula::NumberIn(term, numbers) => {
                let value = self.term(term)?;
                any(numbers.iter().map(|number| {
                    compare(Operator::Equal, &value, &Number::constant(number.as_f64()))
                }))
            }
            Formula::DtypeIn(term, set) => self.dtype_in(term, *set)?,
            Formula::DtypeSame(wanted, left, right) => {
                let mut parts = Vec::new();
                for (when, a) in self.dtypes(left)? {
                    for (also, b) in self.dtypes(right)? {
                        let same = equal(&a, &b);
                        let holds = if *wanted { same } else { not(&same) };
                        parts.push(all([when.clone(), also, holds]));
                    }
                }
                any(parts)
            }
            Formula::TextIn(member, subject, wanted) => {
                let texts = self.texts_of(subject)?.to_vec();
                let fitting: Vec<usize> = (0..texts.len())
                    .filter(|at| wanted.contains(&texts[*at]) == *member)
                    .collect();
                self.over(subject, &|alternative| match alternative {
                    Alternative::Text(name) => {
                        Ok(any(fitting.iter().map(|at| equal(name, &at.to_string()))))
                    }
                    _ => Ok(truth(false)),
                })?
            }
            Formula::Given(subject) => self.over(subject, &|alternative| {
                Ok(truth(!matches!(alternative, Alternative::None)))
            })?,
            Formula::SequenceSame(wanted, left, right) => {
                let (left, right) = (self.rows(left)?, self.rows(right)?);
                let mut parts = Vec::new();
                for (when, a) in &left {
                    for (also, b) in &right {
                        let same = same_rows(a, b);
                        let holds = if *wanted { same } else { not(&same) };
                        parts.push(all([when.clone(), also.clone(), holds]));
                    }
                }
                any(parts)
            }
            Formula::Broadcastable(shapes) => {
                let mut rows = Vec::new();
                for shape in shapes {
                    rows.push(self.shape_rows(shape)?);
                }
                let mut parts = Vec::new();
                for (at, left) in rows.iter().enumerate() {
                    for right in &rows[at + 1..] {
                        let mut either = Vec::new();
                        for (when, a) in left {
                            for (also, b) in right {
                                let fits = broadcast(a, b, true)?;
                                either.push(all([when.clone(), also.clone(), fits]));
                            }
                        }
                        parts.push(any(either));
                    }
                }
                all(parts)
            }
            Formula::BroadcastableTo(from, to) => {
                let (from, to) = (self.shape_rows(from)?, self.shape_rows(to)?);
                let mut parts = Vec::new();
                for (when, a) in &from {
                    for (also, b) in &to {
                        let shorter = format!("(<= {} {})", a.count, b.count);
                        let fits = broadcast(a, b, false)?;
                        parts.push(all([when.clone(), also.clone(), shorter, fits]));
                    }
                }
                any(parts)
            }
            Formula::Fact(fact, subject) => {
                let fact = *fact;
                self.over(subject, &|alternative| match alternative {
                    Alternative::Tensor(tensor) => Ok(tensor_fact(fact, tensor)),
                    // Facts of lists are expressible, but nobody has needed an exact answer yet.
                    Alternative::Items { .. } => Err(Unsupported),
                    _ => Ok(truth(false)),
                })?
            }
            Formula::Range {
                quantifier,
                slot,
                low,
                high,
                body,
            } => {
                let (low, high) = (self.term(low)?, self.term(high)?);
                let defined = all([low.defined.clone(), high.defined.clone()]);
                let farthest = self.farthest;
                // Beyond what is unrolled the query would say something else.
                self.assumptions.push(any([
                    not(&defined),
                    format!("(< {} {})", high.text, low.text),
                    format!(
                        "(and (<= {} {}) (<= {} {farthest}))",
                        integer(-farthest),
                        low.text,
                        high.text
                    ),
                ]));
                let mut parts = vec![];
                for value in -farthest..=farthest {
                    let inside = all([
                        compare(Operator::LessOrEqual, &low, &Number::constant(value as f64)),
                        compare(
                            Operator::LessOrEqual,
                            &Number::constant(value as f64),
                            &high,
                        ),
                    ]);
                    if inside == "false" {
                        continue;
                    }
                    let target = Target::Number(Number::constant(value as f64));
                    let body = self.with(*slot, target, body)?;
                    parts.push((inside, body));
                }
                all([defined, quantified(*quantifier, parts)])
            }
            Formula::Items {
                quantifier,
                slot,
                of,
                body,
            } => self.items(*quantifier, *slot, of, body)?,
            Formula::ValueSame(..) | Formula::Characters(..) => return Err(Unsupported),
        })
    }

    fn each(&mut self, parts: &[Formula]) -> Specialised<Vec<String>> {
        parts.iter().map(|part| self.formula(part)).collect()
    }

    /// The formula with the variable in `slot` standing for `target`.
    fn with(&mut self, slot: usize, target: Target<'_>, body: &Formula) -> Specialised<String> {
        let params = self.params.clone();
        let mut bound: Vec<Target<'_>> = self.bound.iter().take(slot).cloned().collect();
        bound.push(target);
        let mut inner = Encoder {
            params,
            texts: self.texts.clone(),
            bound,
            farthest: self.farthest,
            assumptions: Vec::new(),
        };
        let text = inner.formula(body)?;
        let assumptions = std::mem::take(&mut inner.assumptions);
        self.assumptions.extend(assumptions);
        Ok(text)
    }

    fn items(
        &mut self,
        quantifier: Quantifier,
        slot: usize,
        of: &Sequence,
        body: &Formula,
    ) -> Specialised<String> {
        let mut whole = Vec::new();
        if let Sequence::Of(subject) = of {
            for (condition, target) in self.subject(subject)? {
                let Target::Symbol(symbol) = target else {
                    continue;
                };
                for (is, _, alternative) in symbol.cases() {
                    let mut parts = Vec::new();
                    match alternative {
                        Alternative::Tensor(tensor) => {
                            for bound in [&tensor.low, &tensor.high] {
                                let target = Target::Number(Number::whole(bound));
                                parts.push((tensor.is_filled(), self.with(slot, target, body)?));
                            }
                        }
                        Alternative::Items { length, items } => {
                            for (at, item) in items.iter().enumerate() {
                                let there = format!("(< {at} {length})");
                                let body = self.with(slot, Target::Symbol(item), body)?;
                                parts.push((there, body));
                            }
                        }
                        _ => continue,
                    }
                    whole.push(all([condition.clone(), is, quantified(quantifier, parts)]));
                }
            }
            return Ok(any(whole));
        }
        for (when, row) in self.rows(of)? {
            let mut parts = Vec::new();
            for (at, number) in row.items.iter().enumerate() {
                let there = format!("(< {at} {})", row.count);
                let target = Target::Number(number.clone());
                parts.push((there, self.with(slot, target, body)?));
            }
            whole.push(all([when, quantified(quantifier, parts)]));
        }
        Ok(any(whole))
    }

    /// What is said of each alternative that a subject can be.
    fn over(
        &mut self,
        subject: &Subject,
        say: &dyn Fn(&Alternative) -> Specialised<String>,
    ) -> Specialised<String> {
        let mut parts = Vec::new();
        for (condition, target) in self.subject(subject)? {
            match target {
                Target::Number(_) => parts.push(condition),
                Target::Symbol(symbol) => {
                    for (is, _, alternative) in symbol.cases() {
                        parts.push(all([condition.clone(), is, say(alternative)?]));
                    }
                }
            }
        }
        Ok(any(parts))
    }

    fn dtypes(&mut self, term: &DtypeTerm) -> Specialised<Vec<(String, String)>> {
        let subject = match term {
            DtypeTerm::Constant(dtype) => {
                return Ok(vec![(truth(true), (*dtype as u32).to_string())]);
            }
            DtypeTerm::Of(subject) => subject,
        };
        let mut found = Vec::new();
        for (condition, target) in self.subject(subject)? {
            let Target::Symbol(symbol) = target else {
                continue;
            };
            for (is, _, alternative) in symbol.cases() {
                let name = match alternative {
                    Alternative::Tensor(tensor) => &tensor.dtype,
                    Alternative::Dtype(name) => name,
                    _ => continue,
                };
                found.push((all([condition.clone(), is]), name.clone()));
            }
        }
        Ok(found)
    }

    fn dtype_in(&mut self, term: &DtypeTerm, set: DtypeSet) -> Specialised<String> {
        let parts = self.dtypes(term)?.into_iter().map(|(when, name)| {
            let member = any(set
                .iter()
                .map(|dtype| equal(&name, &(dtype as u32).to_string())));
            all([when, member])
        });
        Ok(any(parts))
    }

    fn texts_of(&self, subject: &Subject) -> Specialised<&[String]> {
        match subject {
            Subject::Param(position) => Ok(self.texts[*position]),
            Subject::Item(parts) => self.texts_of(&parts.0),
            Subject::Bound(_) => Err(Unsupported),
        }
    }

    /// The shapes a sequence stands for: a list of numbers is one itself.
    fn shape_rows(&mut self, sequence: &Sequence) -> Specialised<Vec<(String, Row)>> {
        let Sequence::Of(subject) = sequence else {
            return self.rows(sequence);
        };
        let mut listed = false;
        for (_, target) in self.subject(subject)? {
            if let Target::Symbol(symbol) = target {
                listed |= symbol
                    .cases()
                    .any(|(_, _, a)| matches!(a, Alternative::Items { .. }));
            }
        }
        if listed {
            self.rows(sequence)
        } else {
            self.rows(&Sequence::Shape(subject.clone()))
        }
    }
}

fn quantified(quantifier: Quantifier, parts: Vec<(String, String)>) -> String {
    match quantifier {
        Quantifier::Forall => all(parts
            .into_iter()
            .map(|(there, body)| any([not(&there), body]))),
        Quantifier::Exists => any(parts.into_iter().map(|(there, body)| all([there, body]))),
    }
}

fn compare(operator: Operator, left: &Number, right: &Number) -> String {
    let (a, b, _) = Number::alike(left, right);
    let holds = match operator {
        Operator::Equal => equal(&a, &b),
        Operator::NotEqual => not(&equal(&a, &b)),
        other => format!("({} {a} {b})", other.symbol()),
    };
    all([left.defined.clone(), right.defined.clone(), holds])
}

fn same_rows(a: &Row, b: &Row) -> String {
    let longest = a.items.len().max(b.items.len());
    let mut parts = vec![equal(&a.count, &b.count)];
    for at in 0..longest {
        let beyond = format!("(<= {} {at})", a.count);
        match (a.items.get(at), b.items.get(at)) {
            (Some(x), Some(y)) => parts.push(any([beyond, compare(Operator::Equal, x, y)])),
            _ => parts.push(beyond),
        }
    }
    all(parts)
}

/// Dimensions from the end are the same or 1; with `both` the second may be the 1 too.
fn broadcast(a: &Row, b: &Row, both: bool) -> Specialised<String> {
    let mut parts = Vec::new();
    for back in 1..=a.items.len().min(b.items.len()) as i64 {
        let index = Number::constant(-back as f64);
        let (x, y) = (item(a, &index)?, item(b, &index)?);
        let one = Number::constant(1.0);
        let mut fits = vec![
            not(&x.defined),
            not(&y.defined),
            compare(Operator::Equal, &x, &y),
            compare(Operator::Equal, &x, &one),
        ];
        if both {
            fits.push(compare(Operator::Equal, &y, &one));
        }
        parts.push(any(fits));
    }
    Ok(all(parts))
}

fn tensor_fact(fact: ElementFact, tensor: &TensorSymbol) -> String {
    let named = tensor.facts.iter().find(|(known, _)| *known == fact);
    let Some((_, name)) = named else {
        return truth(false);
    };
    if !matches!(fact, ElementFact::Symmetric | ElementFact::PositiveDefinite) {
        return name.clone();
    }
    let square = (2..=tensor.dims.len()).map(|rank| {
        let is = equal(&tensor.rank, &rank.to_string());
        all([is, equal(&tensor.dims[rank - 1], &tensor.dims[rank - 2])])
    });
    all([name.clone(), any(square)])
}
