//! What rules ask of each parameter: elements, facts, indices, texts.

use fissure_rules::{ElementFact, Formula, Sequence, Subject, Term};

use crate::rules::BoundRule;
use crate::rules::outline::Interest;

/// What is asked of the parameters of one rule, and the texts it compares them with.
#[derive(Default)]
pub(crate) struct Asked {
    pub interests: Vec<Interest>,
    pub texts: Vec<Vec<String>>,
    /// Alphabets that texts are restricted to.
    pub alphabets: Vec<Vec<String>>,
}

impl Asked {
    /// What one rule asks of its own parameters.
    pub(crate) fn of(bound: &BoundRule) -> Asked {
        let own = bound.rule.params.len();
        let mut asked = Asked {
            interests: vec![Interest::default(); own],
            texts: vec![Vec::new(); own],
            alphabets: vec![Vec::new(); own],
        };
        ask(&bound.rule.formula, &mut asked);
        asked
    }
}

/// Walks a formula; what it asks is added for the parameters it asks it of.
fn ask(formula: &Formula, asked: &mut Asked) {
    match formula {
        Formula::Constant(_) => {}
        Formula::Not(inner) => ask(inner, asked),
        Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| ask(part, asked)),
        Formula::If(parts) => {
            ask(&parts.0, asked);
            ask(&parts.1, asked);
            ask(&parts.2, asked);
        }
        Formula::Alike(sides) => {
            ask(&sides.0, asked);
            ask(&sides.1, asked);
        }
        Formula::Compare(_, left, right) => {
            ask_term(left, asked);
            ask_term(right, asked);
        }
        Formula::NumberIn(term, _) => ask_term(term, asked),
        Formula::TextIn(_, subject, texts) => {
            if let Some(param) = param_of(subject) {
                asked.texts[param].extend(texts.iter().cloned());
            }
            ask_subject(subject, asked);
        }
        Formula::Characters(subject, alphabet) => {
            if let Some(param) = param_of(subject) {
                asked.alphabets[param].push(alphabet.clone());
            }
            ask_subject(subject, asked);
        }
        Formula::Truth(subject, _) | Formula::Given(subject) => ask_subject(subject, asked),
        Formula::ValueSame(_, left, right) => {
            ask_subject(left, asked);
            ask_subject(right, asked);
        }
        Formula::DtypeIn(..) | Formula::DtypeSame(..) => {}
        Formula::SequenceSame(_, left, right) | Formula::BroadcastableTo(left, right) => {
            ask_subject(subject_of(left), asked);
            ask_subject(subject_of(right), asked);
        }
        Formula::Broadcastable(shapes) => {
            shapes
                .iter()
                .for_each(|shape| ask_subject(subject_of(shape), asked));
        }
        Formula::Fact(fact, subject) => {
            if let Some(param) = param_of(subject) {
                let interest = &mut asked.interests[param];
                if !interest.facts.contains(fact) {
                    interest.facts.push(*fact);
                }
                interest.elements |= *fact == ElementFact::Permutation;
            }
        }
        Formula::Range {
            low, high, body, ..
        } => {
            ask_index(low, asked);
            ask_index(high, asked);
            ask(body, asked);
        }
        Formula::Items { of, body, .. } => {
            ask_elements(of, asked);
            ask(body, asked);
        }
    }
}

fn ask_term(term: &Term, asked: &mut Asked) {
    match term {
        Term::Constant(_) => {}
        Term::Value(subject)
        | Term::Ndim(subject)
        | Term::Size(subject)
        | Term::Length(subject) => ask_subject(subject, asked),
        Term::Dimension(parts) => {
            ask_subject(&parts.0, asked);
            ask_index(&parts.1, asked);
        }
        Term::Minimum(of) | Term::Maximum(of) => ask_elements(of, asked),
        Term::Sum(of) => ask_subject(subject_of(of), asked),
        Term::Product(of, range) => {
            ask_subject(subject_of(of), asked);
            if let Some(range) = range {
                ask_index(&range.0, asked);
                ask_index(&range.1, asked);
            }
        }
        Term::Least(terms) | Term::Greatest(terms) => {
            terms.iter().for_each(|term| ask_term(term, asked));
        }
        Term::Calculate(_, sides) => {
            ask_term(&sides.0, asked);
            ask_term(&sides.1, asked);
        }
        Term::Negate(inner) | Term::Absolute(inner) => ask_term(inner, asked),
        Term::If(parts) => {
            ask(&parts.0, asked);
            ask_term(&parts.1, asked);
            ask_term(&parts.2, asked);
        }
    }
}

fn ask_subject(subject: &Subject, asked: &mut Asked) {
    if let Subject::Item(parts) = subject {
        ask_subject(&parts.0, asked);
        ask_index(&parts.1, asked);
    }
}

/// Every number that an index is calculated from is decided with the structure.
fn ask_index(term: &Term, asked: &mut Asked) {
    match term {
        Term::Value(Subject::Param(param)) => asked.interests[*param].index = true,
        Term::Calculate(_, sides) => {
            ask_index(&sides.0, asked);
            ask_index(&sides.1, asked);
        }
        Term::Negate(inner) | Term::Absolute(inner) => ask_index(inner, asked),
        Term::Least(terms) | Term::Greatest(terms) => {
            terms.iter().for_each(|term| ask_index(term, asked));
        }
        Term::If(parts) => {
            ask(&parts.0, asked);
            ask_index(&parts.1, asked);
            ask_index(&parts.2, asked);
        }
        other => ask_term(other, asked),
    }
}

fn ask_elements(of: &Sequence, asked: &mut Asked) {
    if let Sequence::Of(subject) = of {
        ask_subject(subject, asked);
        if let Some(param) = param_of(subject) {
            asked.interests[param].elements = true;
        }
    }
}

fn subject_of(sequence: &Sequence) -> &Subject {
    match sequence {
        Sequence::Shape(subject) | Sequence::Of(subject) => subject,
    }
}

/// The parameter that a subject is, or is an item of.
fn param_of(subject: &Subject) -> Option<usize> {
    match subject {
        Subject::Param(param) => Some(*param),
        Subject::Item(parts) => param_of(&parts.0),
        Subject::Bound(_) => None,
    }
}
