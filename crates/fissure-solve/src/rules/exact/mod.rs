//! Exact answers about rules, from Z3: is a rule implied by others, which rules contradict each
//! other, which input breaks only this one.
//!
//! All ranks and alternatives are in one query. Within the limits of ranks and lengths the answers
//! hold for inputs of every size: dimensions and numbers are unbounded here. Z3 runs as a process,
//! whose program the caller names; the sampler needs none of this.

mod encode;
mod formula;
mod symbol;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use easy_smt::{Context, ContextBuilder, Response};
use fissure_rules::{Datum, Declaration};

use self::encode::Encoder;
use self::symbol::{Declarations, Symbol};
use self::text::{all, any, equal, not};
use crate::rules::BoundRule;
use crate::rules::outline::Limits;
use crate::rules::structure::named_texts;

#[derive(Debug, thiserror::Error)]
pub enum ExactError {
    #[error("failed to talk to the solver: {0}")]
    Solver(#[from] std::io::Error),
    #[error("rule number {rule} asks for something that has no exact translation")]
    Untranslatable { rule: usize },
    #[error("the solver's answer is not understood: {0}")]
    Answer(String),
}

/// What the solver says.
#[derive(Clone, Debug, PartialEq)]
pub enum Exactly<T> {
    Yes(T),
    No,
    /// It gave up before its time limit.
    Unknown,
}

/// Rules that cannot hold together, so few that without any one of them the others can; `No` when
/// all together can.
pub fn contradiction(
    program: &Path,
    params: &[Declaration],
    rules: &[BoundRule],
    limits: &Limits,
    milliseconds: u32,
) -> Result<Exactly<Vec<usize>>, ExactError> {
    let ask = |kept: &[usize]| {
        let kept: Vec<BoundRule> = kept.iter().map(|rule| rules[*rule].clone()).collect();
        ExactSolver::new(program, params, &kept, limits, milliseconds)?.contradiction()
    };
    let all: Vec<usize> = (0..rules.len()).collect();
    let mut against = match ask(&all)? {
        Exactly::Yes(core) => core,
        other => return Ok(other),
    };
    let mut at = 0;
    while at < against.len() {
        let mut fewer = against.clone();
        fewer.remove(at);
        match ask(&fewer)? {
            Exactly::Yes(core) => against = core.into_iter().map(|rule| fewer[rule]).collect(),
            Exactly::No | Exactly::Unknown => at += 1,
        }
    }
    Ok(Exactly::Yes(against))
}

/// The rules of one API before a solver.
pub struct ExactSolver {
    context: Context,
    symbols: Vec<Symbol>,
    texts: Vec<Vec<String>>,
    unknowns: Vec<(String, &'static str)>,
    /// Of each rule: that it speaks of the input, and what it says then.
    rules: Vec<(String, String)>,
}

/// The values of all unknowns, as numbers and as the solver wrote them.
#[derive(Default)]
struct Solution {
    numbers: HashMap<String, f64>,
    texts: HashMap<String, String>,
}

impl ExactSolver {
    /// Starts the solver. `milliseconds` limits each question.
    pub fn new(
        program: &Path,
        params: &[Declaration],
        rules: &[BoundRule],
        limits: &Limits,
        milliseconds: u32,
    ) -> Result<Self, ExactError> {
        let texts = named_texts(params.len(), rules);
        let mut declarations = Declarations::default();
        let symbols: Vec<Symbol> = params
            .iter()
            .zip(&texts)
            .enumerate()
            .map(|(at, (param, texts))| {
                declarations.symbol(&format!("p{at}"), &param.of, texts.len(), limits)
            })
            .collect();
        let mut encoded = Vec::new();
        let mut assumptions = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            let mut encoder = Encoder {
                params: rule.binding.iter().map(|param| &symbols[*param]).collect(),
                texts: rule
                    .binding
                    .iter()
                    .map(|param| texts[*param].as_slice())
                    .collect(),
                bound: Vec::new(),
                farthest: limits.maximum_rank.max(limits.maximum_length) as i64 + 1,
                assumptions: Vec::new(),
            };
            let translated = encoder.rule(&rule.rule);
            encoded.push(translated.map_err(|_| ExactError::Untranslatable { rule: number })?);
            assumptions.append(&mut encoder.assumptions);
        }
        let time_limit = OsString::from(format!("-t:{milliseconds}"));
        let arguments = [OsString::from("-smt2"), OsString::from("-in"), time_limit];
        let mut context = ContextBuilder::new()
            .solver(program)
            .solver_args(arguments)
            .build()?;
        for name in [":produce-models", ":produce-unsat-cores"] {
            let on = context.true_();
            context.set_option(name, on)?;
        }
        for (name, sort) in &declarations.unknowns {
            let sort = context.atom(*sort);
            context.declare_const(name.as_str(), sort)?;
        }
        for fact in declarations.facts.iter().chain(&assumptions) {
            let fact = context.atom(fact.as_str());
            context.assert(fact)?;
        }
        Ok(ExactSolver {
            context,
            symbols,
            texts,
            unknowns: declarations.unknowns,
            rules: encoded,
        })
    }

    /// An input that satisfies all rules but `broken`, and breaks that one.
    pub fn breaking(&mut self, broken: usize) -> Result<Exactly<Vec<Datum>>, ExactError> {
        self.context.push()?;
        let answer = self.ask_breaking(broken);
        self.context.pop()?;
        answer
    }

    fn ask_breaking(&mut self, broken: usize) -> Result<Exactly<Vec<Datum>>, ExactError> {
        for at in 0..self.rules.len() {
            let (speaks, says) = &self.rules[at];
            let holds = if at == broken {
                all([speaks.clone(), not(says)])
            } else {
                any([not(speaks), says.clone()])
            };
            let holds = self.context.atom(holds);
            self.context.assert(holds)?;
        }
        Ok(match self.context.check()? {
            Response::Sat => Exactly::Yes(self.solution()?),
            Response::Unsat => Exactly::No,
            Response::Unknown => Exactly::Unknown,
        })
    }

    /// Does the rule hold wherever all others do? Then it says nothing new.
    pub fn implied(&mut self, rule: usize) -> Result<Exactly<()>, ExactError> {
        Ok(match self.breaking(rule)? {
            Exactly::Yes(_) => Exactly::No,
            Exactly::No => Exactly::Yes(()),
            Exactly::Unknown => Exactly::Unknown,
        })
    }

    /// Rules that cannot hold together, if there are such; not always the fewest.
    pub fn contradiction(&mut self) -> Result<Exactly<Vec<usize>>, ExactError> {
        self.context.push()?;
        let answer = self.ask_contradiction();
        self.context.pop()?;
        answer
    }

    fn ask_contradiction(&mut self) -> Result<Exactly<Vec<usize>>, ExactError> {
        for (number, (speaks, says)) in self.rules.iter().enumerate() {
            let holds = self.context.atom(any([not(speaks), says.clone()]));
            let named = self.context.named(format!("rule{number}"), holds);
            self.context.assert(named)?;
        }
        match self.context.check()? {
            Response::Sat => return Ok(Exactly::No),
            Response::Unknown => return Ok(Exactly::Unknown),
            Response::Unsat => {}
        }
        let core = self.context.get_unsat_core()?;
        let core = self.context.display(core).to_string();
        let mut rules: Vec<usize> = core
            .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
            .filter_map(|name| name.strip_prefix("rule")?.parse().ok())
            .collect();
        rules.sort_unstable();
        Ok(Exactly::Yes(rules))
    }

    /// Different inputs, one after the other, each excluded from the next question: what the
    /// sampler is measured against. Ends after `count` or when `time` is up.
    pub fn inputs(&mut self, count: usize, time: Duration) -> Result<Vec<Vec<Datum>>, ExactError> {
        self.context.push()?;
        let found = self.ask_inputs(count, Instant::now() + time);
        self.context.pop()?;
        found
    }

    fn ask_inputs(&mut self, count: usize, end: Instant) -> Result<Vec<Vec<Datum>>, ExactError> {
        for (speaks, says) in &self.rules {
            let holds = self.context.atom(any([not(speaks), says.clone()]));
            self.context.assert(holds)?;
        }
        let mut found = Vec::new();
        while found.len() < count && Instant::now() < end {
            if self.context.check()? != Response::Sat {
                break;
            }
            let solution = self.values()?;
            found.push(self.data(&solution.numbers));
            let mut decisive = Vec::new();
            for symbol in &self.symbols {
                symbol.decisive(&solution.numbers, &mut decisive);
            }
            let same = decisive
                .iter()
                .map(|name| equal(name, &solution.texts[*name]));
            let another = not(&all(same));
            let another = self.context.atom(another);
            self.context.assert(another)?;
        }
        Ok(found)
    }

    fn solution(&mut self) -> Result<Vec<Datum>, ExactError> {
        let solution = self.values()?;
        Ok(self.data(&solution.numbers))
    }

    fn data(&self, numbers: &HashMap<String, f64>) -> Vec<Datum> {
        let symbols = self.symbols.iter().zip(&self.texts);
        symbols
            .map(|(symbol, texts)| symbol.datum(numbers, texts))
            .collect()
    }

    /// The value of every unknown.
    fn values(&mut self) -> Result<Solution, ExactError> {
        let names: Vec<_> = self
            .unknowns
            .iter()
            .map(|(name, _)| self.context.atom(name.as_str()))
            .collect();
        let values = self.context.get_value(names)?;
        let mut solution = Solution::default();
        for ((name, _), (_, value)) in self.unknowns.iter().zip(values) {
            let text = self.context.display(value).to_string();
            let Some(number) = parse_value(&text) else {
                return Err(ExactError::Answer(text));
            };
            solution.numbers.insert(name.clone(), number);
            solution.texts.insert(name.clone(), text);
        }
        Ok(solution)
    }
}

/// `5`, `(- 5)`, `2.5`, `(/ 1.0 3.0)`, `(- (/ 1.0 3.0))`, `true`.
fn parse_value(text: &str) -> Option<f64> {
    match text {
        "true" => return Some(1.0),
        "false" => return Some(0.0),
        _ => {}
    }
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    else {
        return text.parse().ok();
    };
    if let Some(rest) = inner.strip_prefix("- ") {
        return Some(-parse_value(rest.trim())?);
    }
    let rest = inner.strip_prefix("/ ")?.trim();
    // The first operand ends at the first blank outside brackets.
    let mut depth = 0;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c == ' '
    })?;
    Some(parse_value(&rest[..end])? / parse_value(rest[end..].trim())?)
}
