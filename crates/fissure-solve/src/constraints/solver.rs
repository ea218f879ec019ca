//! The sampler as others see it: a plan, what was learned, and the inputs still waiting for
//! feedback.

use std::collections::VecDeque;

use fissure_model::{
    AbstractArgument, AbstractInput, Category, Intent, Passing, Role, Signature, Spec,
};

use crate::constraints::passing::PassingPlan;
use crate::constraints::plan::{Include, Plan, PlanError, PlanOptions};
use crate::constraints::preferences::{Preferences, Trace};
use crate::constraints::sample::{Call, Unsatisfied};
use crate::constraints::violate::all_violable;
use crate::random::Random;

/// Inputs whose choices are remembered until their outcome is known.
const REMEMBERED: usize = 16_384;
/// Draws before a plan or an input is given up.
const ATTEMPTS: u64 = 32;

/// Proposals after which a constraint that was never broken alone is left in peace.
const HOPELESS: u32 = 64;

struct Violable {
    param: usize,
    category: Category,
    proposals: u32,
    exact: u32,
}

/// Draws abstract inputs of one API.
pub struct Solver {
    plan: Plan,
    preferences: Preferences,
    violable: Vec<Violable>,
    /// Which of them the last proposal is about.
    proposed: usize,
    waiting: VecDeque<(u64, Trace)>,
    /// A conforming input for the rare case that a draw finds none.
    fallback: AbstractInput,
}

impl Solver {
    pub fn new(
        spec: &Spec,
        signature: Option<&Signature>,
        options: &PlanOptions,
        key: [u8; 32],
    ) -> Result<Solver, PlanError> {
        let (mut plan, mut preferences) = Plan::new(spec, signature, options)?;
        let fallback = loop {
            match trial(&plan, &mut preferences, key) {
                Ok(input) => break input,
                Err(failure) => give_up(&mut plan, failure)?,
            }
        };
        // An optional parameter may still be impossible where the trial left it away.
        for index in 0..plan.params.len() {
            if let Include::Sometimes(_) = plan.params[index].include
                && !possible(&plan, &mut preferences, key, index)
            {
                plan.params[index].include = Include::Never;
            }
        }
        let violable = all_violable(&plan)
            .into_iter()
            .map(|(param, category)| Violable {
                param,
                category,
                proposals: 0,
                exact: 0,
            })
            .collect();
        Ok(Solver {
            plan,
            preferences,
            violable,
            proposed: 0,
            waiting: VecDeque::new(),
            fallback,
        })
    }

    /// A conforming input. Its choices wait for [`Solver::observe`] under `number`.
    pub fn conform(&mut self, number: u64, random: &mut Random) -> AbstractInput {
        match draw(&self.plan, &mut self.preferences, random, None, true) {
            Ok(input) => {
                if self.waiting.len() == REMEMBERED {
                    self.waiting.pop_front();
                }
                self.waiting
                    .push_back((number, self.preferences.trace().clone()));
                input
            }
            Err(_) => self.fallback.clone(),
        }
    }

    /// An input meant to break one category of one parameter; `None` when this draw found none.
    /// The caller checks it, tells [`Solver::judge_violation`] and asks again.
    pub fn violate(&mut self, random: &mut Random) -> Option<AbstractInput> {
        if self.violable.is_empty() {
            return None;
        }
        self.proposed = random.index(self.violable.len());
        let violable = &mut self.violable[self.proposed];
        violable.proposals += 1;
        let (index, category) = (violable.param, violable.category);
        self.preferences.begin(random, true);
        let mut call = Call::begin(&self.plan, &mut self.preferences, random, false);
        let mut input = call.draw(Some(index)).ok()?;
        let param = &self.plan.params[index];
        let arguments = if index < self.plan.own {
            &mut input.arguments
        } else {
            input.layer_arguments.as_mut()?
        };
        let argument = arguments
            .iter_mut()
            .find(|argument| argument.name == param.name)?;
        argument.value = call.broken(index, category, argument.value.clone())?;
        input.intent = Intent::Violate {
            param: param.name.clone(),
            category,
        };
        Some(input)
    }

    /// Did the last proposal break exactly what it was meant to?
    pub fn judge_violation(&mut self, exact: bool) {
        let Some(violable) = self.violable.get_mut(self.proposed) else {
            return;
        };
        violable.exact += u32::from(exact);
        if violable.exact == 0 && violable.proposals >= HOPELESS {
            self.violable.swap_remove(self.proposed);
        }
    }

    /// Can any constraint of this API be broken on purpose?
    pub fn can_violate(&self) -> bool {
        !self.violable.is_empty()
    }

    /// An input that follows the parameter list and nothing else.
    pub fn ignore(&mut self, optional_ratio: f64, random: &mut Random) -> AbstractInput {
        self.preferences.begin(random, false);
        let mut call = Call::begin(&self.plan, &mut self.preferences, random, false);
        let mut arguments = Vec::new();
        let mut layer_arguments = Vec::new();
        for &index in &self.plan.order {
            let param = &self.plan.params[index];
            let optional = matches!(param.role, Role::Optional | Role::KeywordOnly);
            if param.role == Role::VarKeyword
                || param.passing == PassingPlan::Impossible
                || optional && !call.random.chance(optional_ratio)
            {
                continue;
            }
            let passing = match param.passing {
                PassingPlan::Fixed(passing) => passing,
                PassingPlan::Open | PassingPlan::Impossible => Passing::Keyword,
            };
            let argument = AbstractArgument {
                name: param.name.clone(),
                passing,
                value: call.anything(),
            };
            let own = index < self.plan.own;
            if own {
                &mut arguments
            } else {
                &mut layer_arguments
            }
            .push(argument);
        }
        if self.plan.layer.is_some() {
            layer_arguments.push(AbstractArgument {
                name: "input".into(),
                passing: Passing::Positional,
                value: call.anything(),
            });
        }
        arguments.sort_by_key(|argument: &AbstractArgument| argument.passing == Passing::Keyword);
        let called = self.plan.layer.is_some() || !layer_arguments.is_empty();
        AbstractInput {
            arguments,
            layer_arguments: called.then_some(layer_arguments),
            intent: Intent::Ignore,
        }
    }

    /// The outcome of this input, the last one drawn, will not be learned from.
    pub fn forget(&mut self, number: u64) {
        if self
            .waiting
            .back()
            .is_some_and(|(waiting, _)| *waiting == number)
        {
            self.waiting.pop_back();
        }
    }

    /// Learns from the outcome of a conforming input. Numbers come in rising order; one that is
    /// skipped is forgotten.
    pub fn observe(&mut self, number: u64, accepted: bool) {
        while let Some((waiting, _)) = self.waiting.front() {
            if *waiting > number {
                return;
            }
            let Some((waiting, trace)) = self.waiting.pop_front() else {
                return;
            };
            if waiting == number {
                self.preferences.learn(trace, accepted);
                return;
            }
        }
    }
}

fn draw(
    plan: &Plan,
    preferences: &mut Preferences,
    random: &mut Random,
    forced: Option<usize>,
    learned: bool,
) -> Result<AbstractInput, Unsatisfied> {
    let mut last = Unsatisfied::TOO_LARGE;
    for attempt in 0..ATTEMPTS {
        // What was learned can itself lead into a corner, so later draws do without it.
        preferences.begin(random, learned && attempt < ATTEMPTS / 2);
        let small = last == Unsatisfied::TOO_LARGE && attempt > 0;
        match Call::begin(plan, preferences, random, small).draw(forced) {
            Ok(input) => return Ok(input),
            Err(failure) => last = failure,
        }
    }
    Err(last)
}

fn trial(
    plan: &Plan,
    preferences: &mut Preferences,
    key: [u8; 32],
) -> Result<AbstractInput, Unsatisfied> {
    let mut result = Err(Unsatisfied::TOO_LARGE);
    for stream in 0..ATTEMPTS {
        let mut random = Random::new(key, u64::MAX - stream);
        result = draw(plan, preferences, &mut random, None, false);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn possible(plan: &Plan, preferences: &mut Preferences, key: [u8; 32], index: usize) -> bool {
    (0..ATTEMPTS / 4).any(|stream| {
        let mut random = Random::new(key, u64::MAX - ATTEMPTS - stream);
        draw(plan, preferences, &mut random, Some(index), false).is_ok()
    })
}

/// An impossible optional parameter is left away from now on; an impossible required one ends it.
fn give_up(plan: &mut Plan, failure: Unsatisfied) -> Result<(), PlanError> {
    let Some(param) = plan.params.get_mut(failure.param) else {
        return Err(PlanError::TooLarge {
            limit: plan.max_tensor_bytes,
        });
    };
    if let Include::Sometimes(_) = param.include {
        param.include = Include::Never;
        return Ok(());
    }
    Err(PlanError::Unsatisfiable {
        param: param.name.clone(),
        category: failure.category.to_string(),
    })
}
