//! What a learned rule can be made of: small statements about one or a few parameters, each with
//! the inputs that break it.

use std::collections::HashSet;

use fissure_rules::{Answer, Datum, Declaration, Precedence, Type, check, parse_rule};
use fissure_solve::rules::BoundRule;

use crate::bits::Bits;

/// A statement about parameters that have certain types; silent where they have others.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// Parameters by position, rising, and the type the statement is about.
    pub header: Vec<(usize, Type)>,
    pub body: String,
    /// The opposite, where every term always has a value.
    pub negation: Option<String>,
    /// How much a reader has to take in.
    pub cost: u32,
    pub rule: BoundRule,
    pub broken_accepted: Bits,
    pub broken_rejected: Bits,
}

/// All statements about the parameters of one API.
pub(crate) struct Vocabulary {
    pub params: Vec<Declaration>,
    pub atoms: Vec<Atom>,
    texts: HashSet<String>,
}

impl Vocabulary {
    pub(crate) fn new(params: Vec<Declaration>) -> Self {
        Vocabulary {
            params,
            atoms: Vec::new(),
            texts: HashSet::new(),
        }
    }

    /// The parameter's name as it stands in rules.
    pub(crate) fn name(&self, param: usize) -> String {
        // The printer leaves out backticks that are not needed.
        format!("`{}`", self.params[param].name)
    }

    /// Adds a statement; one that does not type-check says nothing and is left out.
    pub(crate) fn add(
        &mut self,
        views: &[(usize, &Type)],
        body: String,
        negation: Option<String>,
        cost: u32,
    ) {
        let mut header: Vec<(usize, Type)> = Vec::new();
        for (param, of) in views {
            if header.iter().all(|(other, _)| other != param) {
                header.push((*param, (*of).clone()));
            }
        }
        header.sort_by_key(|(param, _)| *param);
        let text = self.text(&header, &body);
        if self.texts.contains(&text) {
            return;
        }
        if let Some(rule) = self.bound(&text) {
            self.texts.insert(text);
            self.atoms.push(Atom {
                header,
                body,
                negation,
                cost,
                rule,
                broken_accepted: Bits::default(),
                broken_rejected: Bits::default(),
            });
        }
    }

    /// Adds a statement and its opposite, each the other's condition.
    pub(crate) fn add_both(
        &mut self,
        views: &[(usize, &Type)],
        body: &str,
        negation: &str,
        cost: u32,
    ) {
        self.add(views, body.to_owned(), Some(negation.to_owned()), cost);
        self.add(views, negation.to_owned(), Some(body.to_owned()), cost);
    }

    fn text(&self, header: &[(usize, Type)], body: &str) -> String {
        let declared: Vec<String> = header
            .iter()
            .map(|(param, of)| format!("{}: {of}", self.name(*param)))
            .collect();
        format!("{{{}}} |= {body}", declared.join(", "))
    }

    /// The rule that at least one of the statements holds; `None` when they are about different
    /// types of one parameter.
    pub(crate) fn either(&self, atoms: &[usize]) -> Option<(String, BoundRule)> {
        let mut header: Vec<(usize, Type)> = Vec::new();
        for atom in atoms {
            for (param, of) in &self.atoms[*atom].header {
                match header.iter().find(|(other, _)| other == param) {
                    Some((_, other)) if other != of => return None,
                    Some(_) => {}
                    None => header.push((*param, of.clone())),
                }
            }
        }
        header.sort_by_key(|(param, _)| *param);
        // What can be a condition stands in front; the dearest statement is what the rule is about.
        let mut conditions: Vec<&str> = Vec::new();
        let mut rest: Vec<usize> = atoms.to_vec();
        rest.sort_by_key(|atom| {
            let atom = &self.atoms[*atom];
            (atom.negation.is_none(), atom.header.len(), atom.cost)
        });
        while rest.len() > 1
            && let Some(negation) = &self.atoms[rest[0]].negation
        {
            conditions.push(negation);
            rest.remove(0);
        }
        // A type that is excluded is said by the header alone.
        let bodies: Vec<String> = rest
            .iter()
            .filter(|atom| self.atoms[**atom].body != "false")
            .map(|atom| format!("({})", self.atoms[*atom].body))
            .collect();
        let conditions: Vec<String> = conditions.iter().map(|text| format!("({text})")).collect();
        let condition = conditions.join(" and ");
        let body = match (conditions.is_empty(), bodies.is_empty()) {
            (true, true) => "false".to_owned(),
            (true, false) => bodies.join(" or "),
            (false, true) => format!("not ({condition})"),
            (false, false) => format!("({condition}) => ({})", bodies.join(" or ")),
        };
        let text = self.text(&header, &body);
        let rule = self.bound(&text)?;
        Some((text, rule))
    }

    fn bound(&self, text: &str) -> Option<BoundRule> {
        let rule = parse_rule(text, Precedence::Usual);
        debug_assert!(rule.is_ok(), "a template is no rule: {text}");
        let checked = check(&rule.ok()?).ok()?;
        BoundRule::by_name(checked, &self.params)
    }

    /// Asks all statements about inputs they have not seen: those from the given number on.
    pub(crate) fn observe(&mut self, accepted: &[Vec<Datum>], rejected: &[Vec<Datum>]) {
        for atom in &mut self.atoms {
            let Atom {
                rule,
                broken_accepted,
                broken_rejected,
                ..
            } = atom;
            for (inputs, broken) in [(accepted, broken_accepted), (rejected, broken_rejected)] {
                for input in &inputs[broken.length()..] {
                    broken.push(rule.rule.answer(input, &rule.binding) == Answer::Broken);
                }
            }
        }
    }
}

/// The types of a value, most general last; `None` for what no rule can speak about.
pub(crate) fn type_of(datum: &Datum) -> Option<Type> {
    Some(match datum {
        Datum::None => Type::None,
        Datum::Bool(_) => Type::Bool,
        Datum::Int(_) => Type::Int,
        Datum::Float(_) => Type::Float,
        Datum::Text(_) => Type::Str,
        Datum::Dtype(_) => Type::Dtype,
        Datum::Tensor(_) => Type::Tensor,
        Datum::List(items) | Datum::Tuple(items) => {
            let mut types = Vec::new();
            for item in items {
                types.push(type_of(item)?);
            }
            if types.is_empty() {
                // Any list; whoever asks knows what its items would be.
                types.push(Type::Int);
            }
            Type::list(Type::any_of(types))
        }
        Datum::Other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_become_a_condition_where_one_can_be() {
        let declaration = |name: &str, of| Declaration {
            name: name.into(),
            of,
        };
        let mut vocabulary = Vocabulary::new(vec![
            declaration("x", Type::Tensor),
            declaration("size", Type::any_of([Type::Int, Type::Tensor])),
        ]);
        vocabulary.add_both(&[(0, &Type::Tensor)], "ndim(`x`) = 3", "ndim(`x`) != 3", 1);
        vocabulary.add(&[(1, &Type::Int)], "`size` > 0".into(), None, 1);
        vocabulary.add(&[(1, &Type::Tensor)], "ndim(`size`) = 0".into(), None, 1);
        vocabulary.add(&[(1, &Type::Tensor)], "`size`.len = 0".into(), None, 1);
        assert_eq!(vocabulary.atoms.len(), 4);
        let (text, _) = vocabulary.either(&[1, 2]).unwrap();
        assert_eq!(
            parse_rule(&text, Precedence::Usual).unwrap().to_string(),
            "{x: tensor, size: int} |= ndim(x) = 3 => size > 0"
        );
        assert!(vocabulary.either(&[2, 3]).is_none(), "two types of one");
    }
}
