//! The loop: learn rules, ask the library where they are wrong, learn again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fissure_execute::Pool;
use fissure_model::{Api, ConcreteInput, Execution};
use fissure_rules::{Datum, Declaration, Evidence, Type};
use fissure_solve::Random;

use crate::core_clock::{Budget, CoreClock};
use crate::cover::Clause;
use crate::error::LearnError;
use crate::evaluate::{self, Evaluation};
use crate::invariants::{self, Invariants};
use crate::llm::{Consultation, LanguageModel};
use crate::mutate::mutate;
use crate::params::{Call, Observed, Parameters};
use crate::runner::{Answer, Runner};
use crate::simplify::without_implied;
use crate::templates;
use crate::typed;
use crate::vocabulary::{Vocabulary, type_of};

#[derive(Clone, Debug)]
pub struct LearnOptions {
    pub seed: u64,
    /// Of one core, for one API; the rules found so far are kept when it is over.
    pub time: Duration,
    /// Calls made from the seeds by one step.
    pub mutants: usize,
    /// Keep a part of the seeds apart and measure precision and recall.
    pub evaluate: bool,
    /// Proposes rules and calls.
    pub model: Option<LanguageModel>,
    /// Z3, which finds rules that others imply; without it they stay.
    pub solver: Option<PathBuf>,
}

impl Default for LearnOptions {
    fn default() -> Self {
        LearnOptions {
            seed: 0,
            time: Duration::from_secs(40),
            mutants: 2400,
            evaluate: false,
            model: None,
            solver: None,
        }
    }
}

/// What was learned about one API.
#[derive(Debug)]
pub struct Learned {
    pub invariants: Invariants,
    pub evaluation: Option<Evaluation>,
    pub executed: u64,
    pub rounds: usize,
    pub time: Duration,
    /// What it took of a core: of the learning thread and of the library's process.
    pub core_time: Duration,
    /// Inputs that ended their process while learning.
    pub crashes: Vec<(ConcreteInput, Execution)>,
    /// Blocks of the library's code that calls reached (module, address), where coverage is taken.
    pub reached: BTreeSet<(u16, u32)>,
    /// Proposals of the language model that were of no use, one sentence each.
    pub remarks: Vec<String>,
}

/// Seeds at most; guesses may be many.
const SEEDS: usize = 400;
/// Seeds that are tried without each of their arguments.
const SHORTENED: usize = 8;
/// Share of the time that neighbours of the seeds may take: calls that end their process are slow.
const EXPLORING: f64 = 0.3;

/// Learns the rules of one API from calls that it is known to accept.
pub fn learn(
    pool: &Pool,
    api: Api,
    observed: &[Observed],
    options: &LearnOptions,
    stop: &AtomicBool,
) -> Result<Learned, LearnError> {
    let budget = Budget {
        clock: CoreClock::start(),
        time: options.time,
    };
    let mut consultation = Consultation::begin(options.model.as_ref(), pool, &api)?;
    let mut observed = [observed, &consultation.calls].concat();
    if observed.is_empty() {
        observed = guesses(pool, &api, options.seed)?;
    }
    let observed = &observed;
    let api = Api {
        layer: api.layer || observed.iter().any(|seen| seen.call.is_some()),
        ..api
    };
    let params = parameters(pool, &api, observed)?;
    let mut calls: Vec<Call> = observed
        .iter()
        .filter_map(|seen| params.bind(seen))
        .collect();
    let mut params = params;
    calls.retain(|call| {
        let data = params.data(call);
        data.iter().all(|datum| type_of(datum).is_some())
    });
    params.keep_given(&mut calls);
    params.relax(&calls);
    let title = api.title.clone();
    let library = format!("{} {}", api.package, pool.info().library_version);
    let mut runner = Runner::new(pool, Arc::new(api), stop);
    let answers = runner.run(&params, &calls)?;
    let seeds: Vec<Call> = calls
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| **answer == Answer::Accepted)
        .map(|(call, _)| call.clone())
        .take(SEEDS)
        .collect();
    if seeds.is_empty() {
        return Err(LearnError::NoSeeds {
            api: title,
            reason: format!("{} were tried", observed.len()),
        });
    }
    let (seeds, apart) = evaluate::split(seeds, &params, options.evaluate);
    let shorter = left_out(&params, &seeds);
    let answers = runner.run(&params, &shorter)?;
    let accepted = shorter.into_iter().zip(answers);
    let accepted = accepted.filter(|(_, answer)| *answer == Answer::Accepted);
    let mut seeds = seeds;
    seeds.extend(accepted.map(|(call, _)| call));
    let types = declared_types(&params, &seeds);
    let declarations: Vec<Declaration> = params
        .0
        .iter()
        .zip(types)
        .map(|(param, of)| Declaration {
            name: param.name.clone(),
            of,
        })
        .collect();
    let mut learner = Learner {
        vocabulary: Vocabulary::new(declarations),
        params,
        runner,
        random: Random::new(Random::key(options.seed, &title), 0),
        seed: options.seed,
        budget: budget.clone(),
        accepted: Vec::new(),
        rejected: Vec::new(),
        kinds: Vec::new(),
        words: Vec::new(),
        kind_of: HashMap::new(),
        seen: HashSet::new(),
        explored: 0,
    };
    learner.runner.limit = Some((budget.clone(), EXPLORING));
    learner.explore(&seeds, options.mutants)?;
    learner.explored = learner.accepted.len();
    learner.runner.limit = Some((budget.clone(), 1.0));
    templates::instantiate(&mut learner.vocabulary, &learner.accepted);
    consultation.offer(&mut learner.vocabulary, &learner.words)?;
    let (clauses, rounds) = learner.refine()?;
    let mut clauses = learner.tighten(clauses)?;
    if let Some(program) = &options.solver {
        clauses = without_implied(program, &learner.vocabulary.params, clauses);
    }
    let (time, core_time) = (budget.clock.wall(), budget.clock.elapsed());
    let invariants = Invariants {
        file: invariants::file(
            &title,
            &library,
            options.seed,
            &learner.params,
            &learner.vocabulary.params,
            &clauses,
            learner.evidence(&clauses),
        ),
    };
    learner.runner.limit = None;
    let evaluation = if options.evaluate {
        Some(evaluate::measure(&mut learner, &clauses, &apart)?)
    } else {
        None
    };
    Ok(Learned {
        invariants,
        evaluation,
        executed: learner.runner.executed,
        rounds,
        time,
        core_time,
        crashes: learner.runner.crashes,
        reached: learner.runner.reached,
        remarks: consultation.remarks,
    })
}

/// Calls of an API that nothing is known of.
fn guesses(pool: &Pool, api: &Api, seed: u64) -> Result<Vec<Observed>, LearnError> {
    let signature = pool.describe(&api.path)?;
    let mut random = Random::new(Random::key(seed, &api.title), 1);
    Ok(typed::guess(&signature, is_method(api), &mut random))
}

fn is_method(api: &Api) -> bool {
    api.path.starts_with("torch.Tensor.")
}

/// The parameters as the library declares them, of the call on a constructed object too.
fn parameters(pool: &Pool, api: &Api, observed: &[Observed]) -> Result<Parameters, LearnError> {
    let signature = pool.describe(&api.path)?;
    if let Some(reason) = &signature.missing {
        return Err(LearnError::Missing {
            api: api.title.clone(),
            reason: reason.clone(),
        });
    }
    let call = if api.layer {
        Some(pool.describe(&format!("{}.forward", api.path))?)
    } else {
        None
    };
    Ok(Parameters::declared(
        &signature,
        call.as_ref(),
        is_method(api),
        observed,
    ))
}

/// Seeds without one of their arguments: which parameters may be left out, and when.
fn left_out(params: &Parameters, seeds: &[Call]) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for at in 0..params.0.len() {
        let given = seeds.iter().filter(|call| call.values[at].is_some());
        for call in given.take(SHORTENED) {
            let mut shorter = call.clone();
            shorter.values[at] = None;
            found.push(shorter);
        }
    }
    found
}

/// Every type that a known call gives a parameter.
fn declared_types(params: &Parameters, seeds: &[Call]) -> Vec<Type> {
    let mut types: Vec<Vec<Type>> = vec![Vec::new(); params.0.len()];
    let mut empty_list = vec![false; params.0.len()];
    for call in seeds {
        for (at, datum) in params.data(call).iter().enumerate() {
            match datum {
                Datum::List(items) if items.is_empty() => empty_list[at] = true,
                datum => types[at].extend(type_of(datum)),
            }
        }
    }
    types
        .into_iter()
        .zip(empty_list)
        .map(|(mut types, empty_list)| {
            if empty_list && !types.iter().any(Type::is_sequence) {
                types.push(Type::list(Type::Int));
            }
            if types.is_empty() {
                types.push(Type::None);
            }
            Type::any_of(types)
        })
        .collect()
}

/// Everything known about one API while its rules are learned.
pub(crate) struct Learner<'a> {
    pub vocabulary: Vocabulary,
    pub params: Parameters,
    pub runner: Runner<'a>,
    pub random: Random,
    pub seed: u64,
    pub budget: Budget,
    pub accepted: Vec<Vec<Datum>>,
    pub rejected: Vec<Vec<Datum>>,
    /// Of each rejected input, the number of its kind.
    pub kinds: Vec<u32>,
    /// The library's words for each kind, from the first input of it.
    words: Vec<String>,
    kind_of: HashMap<String, u32>,
    seen: HashSet<String>,
    /// Accepted inputs that are seeds or their neighbours: the first so many.
    pub explored: usize,
}

impl Learner<'_> {
    fn has_declared_types(&self, data: &[Datum]) -> bool {
        let declared = &self.vocabulary.params;
        data.iter()
            .zip(declared)
            .all(|(datum, declared)| datum.is(&declared.of))
    }

    /// Runs calls and remembers what was not known. Gives how many were accepted, of how many that
    /// got an answer.
    pub(crate) fn ask(&mut self, calls: &[Call]) -> Result<(Vec<bool>, usize), LearnError> {
        let answers = self.runner.run(&self.params, calls)?;
        let mut accepted = Vec::new();
        let mut known = 0;
        for (call, answer) in calls.iter().zip(answers) {
            accepted.push(answer == Answer::Accepted);
            known += usize::from(answer != Answer::Unknown);
            let data = self.params.data(call);
            if !self.has_declared_types(&data) || !self.seen.insert(format!("{data:?}")) {
                continue;
            }
            match answer {
                Answer::Accepted => self.accepted.push(data),
                Answer::Rejected(message) => {
                    let kind = self.kind(&message);
                    self.kinds.push(kind);
                    self.rejected.push(data);
                }
                Answer::Unknown => {}
            }
        }
        Ok((accepted, known))
    }

    fn kind(&mut self, message: &str) -> u32 {
        let masked = mask(message);
        let words = &mut self.words;
        *self.kind_of.entry(masked).or_insert_with(|| {
            words.push(message.lines().next().map_or("", |line| line).to_owned());
            (words.len() - 1) as u32
        })
    }

    /// The seeds, their neighbours, and the neighbours of accepted neighbours.
    fn explore(&mut self, seeds: &[Call], mutants: usize) -> Result<(), LearnError> {
        self.ask(seeds)?;
        let mut bases = seeds.to_vec();
        for _ in 0..3 {
            let mut calls: Vec<Call> = Vec::with_capacity(mutants / 3);
            for _ in 0..mutants / 3 {
                let base = self.random.index(bases.len());
                calls.push(mutate(&bases[base], seeds, &mut self.random));
            }
            calls.retain(|call| self.has_declared_types(&self.params.data(call)));
            let (accepted, _) = self.ask(&calls)?;
            let good = calls.into_iter().zip(accepted);
            bases.extend(good.filter(|(_, accepted)| *accepted).map(|(call, _)| call));
        }
        Ok(())
    }

    /// What speaks for each rule.
    pub(crate) fn evidence(&self, clauses: &[Clause]) -> Vec<Evidence> {
        let breaks = |clause: &Clause, input: &[Datum]| {
            clause.rule.rule.answer(input, &clause.rule.binding) == fissure_rules::Answer::Broken
        };
        let only_broken = |input: &[Datum]| {
            let mut broken = (0..clauses.len()).filter(|at| breaks(&clauses[*at], input));
            match (broken.next(), broken.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            }
        };
        let mut kinds: Vec<HashMap<u32, u64>> = vec![HashMap::new(); clauses.len()];
        for (input, kind) in self.rejected.iter().zip(&self.kinds) {
            if let Some(only) = only_broken(input) {
                *kinds[only].entry(*kind).or_insert(0) += 1;
            }
        }
        let mut forbidden = vec![0; clauses.len()];
        for input in &self.accepted {
            if let Some(only) = only_broken(input) {
                forbidden[only] += 1;
            }
        }
        let evidence = clauses.iter().zip(kinds).zip(forbidden);
        evidence
            .map(|((clause, kinds), forbidden)| {
                let satisfy = |input: &&Vec<Datum>| !breaks(clause, input);
                let rejected: u64 = kinds.values().sum();
                let most = kinds.iter().max_by_key(|(kind, count)| (**count, **kind));
                Evidence {
                    accepted: Some(self.accepted.iter().filter(satisfy).count() as u64),
                    rejected: Some((rejected, rejected + forbidden)),
                    reason: most.map(|(kind, _)| self.words[*kind as usize].clone()),
                }
            })
            .collect()
    }
}

/// The message without what belongs to one input: numbers and quoted words.
fn mask(message: &str) -> String {
    let mut masked = String::with_capacity(message.len());
    let mut digits = false;
    for letter in message.chars().take(160) {
        if letter.is_ascii_digit() {
            if !digits {
                masked.push('#');
            }
            digits = true;
        } else {
            digits = false;
            masked.push(letter);
        }
    }
    masked
}
