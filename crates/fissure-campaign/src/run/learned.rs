//! Rules that are learned beside the run.

use fissure_generate::Generator;
use fissure_model::Spec;

use super::{CampaignError, Run, Source};
use crate::index::{ApiIndex, BatchIndex};
use crate::lane::SequencePart;
use crate::learning::{LearnedApi, failures, learned_spec};
use crate::record::Record;
use crate::{Part, RunEvent};

impl Run<'_> {
    /// What is known of an API by now.
    pub(super) fn spec(&self, at: ApiIndex) -> Option<&Spec> {
        match self.source {
            Source::Specs(specs) => self.learned.get(&at).or_else(|| specs.get(at.get())),
            Source::Saved(_) => None,
        }
    }

    /// Takes what earlier processes have learned, and lets APIs wait of which nothing is known.
    pub(super) fn begin_learning(&mut self) -> Result<(), CampaignError> {
        let (Source::Specs(specs), Some(folder)) = (self.source, self.rules_folder.clone()) else {
            return Ok(());
        };
        let failed = failures(&folder).unwrap_or_default();
        for (at, spec) in ApiIndex::each(specs) {
            if let Some(known) = learned_spec(&folder, &spec.api.title) {
                let from = self.restored.rules_from(at);
                match from {
                    // It switches where it did before.
                    Some(batch) if batch > BatchIndex::FIRST => {
                        self.switches.insert(at, (batch, known));
                    }
                    _ => {
                        self.learned.insert(at, known);
                        self.tell_rules(at, BatchIndex::FIRST)?;
                    }
                }
            } else if spec.is_bare()
                && self.limit.is_none()
                && !failed.contains_key(&spec.api.title)
                && self
                    .learner
                    .as_ref()
                    .is_some_and(|learner| learner.learns(&spec.api.title))
            {
                // Its inputs are counted: they are made of the rules. By the clock, it is fuzzed at
                // once from what the library says of it, and of the rules when they are there.
                let index = self.waiting.iter().position(|waiting| *waiting == at);
                if let Some(index) = index {
                    self.waiting.remove(index);
                }
                self.unlearned.insert(at);
            }
        }
        Ok(())
    }

    /// The log says from which batch on inputs are made of the rules.
    fn tell_rules(&mut self, at: ApiIndex, batch: BatchIndex) -> Result<(), CampaignError> {
        let api = self.apis[at].title.clone();
        self.folder.append(&Record::Rules { at, api, batch })?;
        Ok(())
    }

    /// Uses what was learned since this was last asked.
    pub(super) fn hear_learner(&mut self) -> Result<(), CampaignError> {
        while let Some(learned) = self.learner.as_ref().and_then(|learner| learner.poll()) {
            self.hear(learned)?;
        }
        let Some(learner) = &mut self.learner else {
            self.give_up_learning();
            return Ok(());
        };
        if !learner.is_running() {
            let failure = learner.failure();
            // It may have told something just before it ended.
            while let Some(learned) = self.learner.as_ref().and_then(|learner| learner.poll()) {
                self.hear(learned)?;
            }
            self.learner = None;
            if let Some(reason) = failure {
                (self.observer)(RunEvent::Warning {
                    message: format!("nothing more is learned: {reason}"),
                });
            }
            self.give_up_learning();
        }
        Ok(())
    }

    /// APIs that still wait for rules will have none: what the library says of them is enough.
    pub(super) fn give_up_learning(&mut self) {
        self.waiting.extend(std::mem::take(&mut self.unlearned));
    }

    fn hear(&mut self, news: LearnedApi) -> Result<(), CampaignError> {
        let Some(at) = ApiIndex::of(&self.apis, |api| api.title == news.title) else {
            return Ok(());
        };
        for (input, execution) in &news.crashes {
            self.look(
                at,
                input,
                execution,
                SequencePart::of_batch(BatchIndex::FIRST),
            )?;
        }
        for remark in news.remarks {
            (self.observer)(RunEvent::Warning {
                message: format!("{}: {remark}", news.title),
            });
        }
        let spec = match news.spec {
            Ok(spec) => *spec,
            Err(_) => {
                if self.unlearned.remove(&at) {
                    self.waiting.push_back(at);
                }
                return Ok(());
            }
        };
        if self.options.division.part == Part::Judge {
            return Ok(());
        }
        (self.observer)(RunEvent::Learned {
            api: &self.apis[at],
            rules: spec.rules.as_ref().map_or(0, |rules| {
                rules
                    .text
                    .lines()
                    .filter(|line| line.starts_with("rule "))
                    .count()
            }),
        });
        let waits = self.waiting.contains(&at) || self.unlearned.remove(&at);
        if waits {
            self.learned.insert(at, spec);
            self.waiting.retain(|waiting| *waiting != at);
            // Its first turn comes next.
            self.waiting.push_front(at);
            return self.tell_rules(at, BatchIndex::FIRST);
        }
        let signature = self.pool.describe(&self.apis[at].path);
        let signature = signature.map_err(CampaignError::Execute)?;
        let options = self.options.generate.clone();
        let made = Generator::new(&spec, Some(&signature), options, self.options.seed);
        let parked = self.parked.iter_mut();
        let lane = match self.lanes.get_mut(&at) {
            Some(lane) => Some(lane),
            None => parked
                .filter(|(of, _)| *of == at)
                .map(|(_, lane)| lane)
                .next(),
        };
        if let (Some(lane), Ok(generator)) = (lane, made) {
            let batch = lane.switch_to(generator, None);
            self.learned.insert(at, spec);
            self.tell_rules(at, batch)?;
        }
        Ok(())
    }
}
