//! APIs that come under way, wait for their turn and end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::Pool;
use fissure_generate::Generator;
use fissure_model::{Api, ConcreteInput, with_version};

use super::pace;
use super::scout::{self, Answers, Question};
use super::{CampaignError, Run, Source};
use crate::guide::Guide;
use crate::index::ApiIndex;
use crate::keep::Keeper;
use crate::lane::{self, Lane};
use crate::record::Record;
use crate::restore::RestoredLane;
use crate::slow_calls::SlowCalls;
use crate::{Part, RunEvent, RunOptions, StoreError};

/// Turns that every API gets in the time that is left, if all show something new.
const ROUNDS: f64 = 3.0;
/// Part of the time that the first turns may take.
const FIRST_ROUND: f64 = 0.8;
const SHORTEST_TURN: Duration = Duration::from_millis(200);
const LONGEST_TURN: Duration = Duration::from_secs(60);
/// Every so many turns, one goes to an API that showed nothing new.
const STALE_TURN: u64 = 4;

/// One API more than there are workers is under way, so that one that waits (for feedback, for the watchdog) leaves
/// nobody idle. Under coverage a worker that turns to another API arms thousands of blocks again, which costs more than
/// waiting.
pub(super) fn most(options: &RunOptions, pool: &Pool) -> usize {
    options.workers + usize::from(pool.info().modules.is_empty())
}

impl Run<'_> {
    /// Keeps as many APIs under way as there should be.
    pub(super) fn open_lanes(&mut self) -> Result<(), CampaignError> {
        self.look_ahead();
        let most = most(self.options, self.pool);
        while self.lanes.len() < most {
            let Some(at) = self.next_to_open() else {
                if !self.waiting.is_empty() && self.lanes.len() >= self.options.workers {
                    // Everybody is busy: a second turn would only keep the first ones waiting.
                    break;
                }
                match self.next_turn() {
                    Some((at, mut lane)) => {
                        lane.begin_turn(self.turn_length());
                        self.lanes.insert(at, lane);
                        continue;
                    }
                    None => break,
                }
            };
            let answers = self.scout.take(at);
            let api = Arc::clone(&self.apis[at]);
            let mut restored = self.restored.take(at);
            let weight = self.options.division.weight(at);
            restored.keep_whole(lane::share(self.options.max_inputs, weight));
            if !restored.judged_again.is_empty() {
                let judged = std::mem::take(&mut restored.judged_again);
                self.folder.append(&Record::Again { at, judged })?;
            }
            let done = match self.options.division.part {
                Part::Fuzz => restored.finished.take().or_else(|| restored.fuzzed.take()),
                Part::All | Part::Judge => restored.finished.take(),
            };
            if let Some(summary) = done {
                (self.observer)(RunEvent::Finished { summary: &summary });
                self.finished.push((at, *summary));
                continue;
            }
            match self.prepare(at, restored, answers)? {
                Ok(lane) => {
                    self.folder.append(&Record::Started {
                        at,
                        api: api.title.clone(),
                    })?;
                    self.lanes.insert(at, lane);
                }
                Err(reason) => self.skip(at, reason)?,
            }
        }
        Ok(())
    }

    /// The next API of those that have not had a turn. By the clock, one of which the library has something to say yet
    /// is passed over for a while.
    fn next_to_open(&mut self) -> Option<ApiIndex> {
        let ahead = if self.takes_turns { scout::AHEAD } else { 1 };
        let open = |at: &ApiIndex| self.scout.has(*at) || !self.is_asked_about(*at);
        let index = self.waiting.iter().take(ahead).position(open)?;
        self.waiting.remove(index)
    }

    /// Tells the scout what will be needed next.
    fn look_ahead(&mut self) {
        let next = self.waiting.front().map(|at| (*at, self.waiting.len()));
        if next == std::mem::replace(&mut self.looked_ahead, next) {
            return;
        }
        let next = self.waiting.iter().filter(|at| self.is_asked_about(**at));
        let questions = next.take(scout::AHEAD).map(|at| Question {
            at: *at,
            path: self.apis[*at].path.clone(),
            whole: self.is_discovered(*at),
            patience: self.patience_for_examples(),
        });
        self.scout.want(questions);
    }

    /// What running the examples of an API's documentation may take.
    pub(super) fn patience_for_examples(&self) -> Duration {
        match self.takes_turns {
            true => scout::EXAMPLES_OF_MANY,
            false => scout::EXAMPLES,
        }
    }

    /// Whether the library has to say something before the API's first turn.
    fn is_asked_about(&self, at: ApiIndex) -> bool {
        let denied = || {
            let title = &self.apis[at].title;
            self.deny_list
                .is_some_and(|list| list.check(title).is_some())
        };
        !self.restored.is_finished(at)
            && !self.options.division.left_out.contains_key(&at)
            && !denied()
    }

    /// Whose turn is next: mostly one that showed something new in its last, now and then one that
    /// did not.
    fn next_turn(&mut self) -> Option<(ApiIndex, Lane)> {
        self.picked += 1;
        let fresh = self.parked.iter().position(|(_, lane)| !lane.is_stale());
        let index = match fresh {
            Some(index) if !self.picked.is_multiple_of(STALE_TURN) => index,
            _ => 0,
        };
        self.parked.remove(index)
    }

    /// How long a turn is: all of them get several in the time that is left.
    fn turn_length(&self) -> Duration {
        if let Some(turn) = self.options.turn {
            return turn;
        }
        let end = self.fuzzing_ends().unwrap_or(LONGEST_TURN);
        let rest = end.saturating_sub(self.clock.elapsed());
        let together = (self.options.workers + 1) as f64;
        let apis = (self.parked.len() + self.lanes.len()).max(1) as f64;
        rest.mul_f64(together / (apis * ROUNDS))
            .clamp(SHORTEST_TURN, LONGEST_TURN)
    }

    /// Time that each API gets for its first turn, if all of them are to have one.
    fn first_share(&self) -> Duration {
        let Some(end) = self.fuzzing_ends() else {
            return LONGEST_TURN;
        };
        let rest = end.saturating_sub(self.clock.elapsed());
        let together = (self.options.workers + 1) as f64;
        let apis = (self.waiting.len() + self.lanes.len() + 1) as f64;
        rest.mul_f64(FIRST_ROUND * together / apis)
    }

    /// The time is up for those that had no turn: thousands, perhaps, of which one line is told.
    pub(super) fn leave_unreached(&mut self) -> Result<(), CampaignError> {
        const NAMED: usize = 3;
        let unreached = std::mem::take(&mut self.waiting);
        let Some(first) = unreached.front() else {
            return Ok(());
        };
        let named = unreached.iter().take(NAMED);
        let named: Vec<&str> = named.map(|at| self.apis[*at].title.as_str()).collect();
        let message = match unreached.len() {
            1 => format!("{} was not reached in the time", self.apis[*first].title),
            count => format!(
                "{count} APIs were not reached in the time ({}, …; all of them in summary.json)",
                named.join(", ")
            ),
        };
        (self.observer)(RunEvent::Warning { message });
        for at in unreached {
            self.note_skipped(at, "the time for the whole run was up".to_owned())?;
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, at: ApiIndex, reason: String) -> Result<(), CampaignError> {
        self.note_skipped(at, reason.clone())?;
        let api = &self.apis[at];
        (self.observer)(RunEvent::Skipped { api, reason });
        Ok(())
    }

    fn note_skipped(&mut self, at: ApiIndex, reason: String) -> Result<(), CampaignError> {
        let api = Arc::clone(&self.apis[at]);
        self.folder.append(&Record::Skipped {
            at,
            api: api.title.clone(),
            reason: reason.clone(),
        })?;
        self.summary.skipped.push((api.title.clone(), reason));
        Ok(())
    }

    /// A lane for the API, or the reason why there is none.
    fn prepare(
        &mut self,
        at: ApiIndex,
        restored: RestoredLane,
        answers: Option<Answers>,
    ) -> Result<Result<Lane, String>, CampaignError> {
        let api = Arc::clone(&self.apis[at]);
        if let Some(denied) = self.deny_list.and_then(|list| list.check(&api.title)) {
            return Ok(Err(format!(
                "left out by default: it {} (--include-denied fuzzes it)",
                denied.reason
            )));
        }
        let division = &self.options.division;
        if let Some(reason) = division.left_out.get(&at) {
            return Ok(Err(reason.clone()));
        }
        if division.part == Part::Judge && restored.fuzzed.is_none() {
            return Ok(Err("its inputs have not run".to_owned()));
        }
        let Some(answers) = answers else {
            return Ok(Err("the library was not asked about it".to_owned()));
        };
        let signature = answers.signature.map_err(CampaignError::Execute)?;
        if let Some(why) = &signature.missing {
            self.summary.missing += 1;
            let library = with_version(&api.package, &signature.library_version);
            return Ok(Err(format!(
                "not in {library}: {why}{}",
                self.meant(&api.path)
            )));
        }
        if !signature.callable {
            self.summary.missing += 1;
            return Ok(Err(self.not_callable(&api.path)));
        }
        let discovered = match answers.description {
            _ if !self.is_discovered(at) => None,
            told => {
                self.discovered(at, &signature, told.as_deref(), answers.examples.as_deref())?
            }
        };
        if let Some((spec, _)) = &discovered {
            self.apis[at] = Arc::new(spec.api.clone());
        }
        let api = Arc::clone(&self.apis[at]);
        let (discovered, signature) = match discovered {
            Some((spec, signature)) => (Some(spec), signature),
            None => (None, signature),
        };
        let spec = discovered.clone().or_else(|| self.spec(at).cloned());
        let lane = match self.source {
            Source::Saved(saved) => Lane::again(api, saved[at].inputs.clone(), self.options),
            Source::Specs(specs) => match Generator::new(
                spec.as_ref().unwrap_or(&specs[at]),
                Some(&signature),
                self.generate_options(discovered.is_some()),
                self.options.seed,
            ) {
                Ok(generator) => {
                    if generator.left_constraints_aside() {
                        (self.observer)(RunEvent::Warning {
                            message: format!(
                                "{}: its constraint file and its rules have no input in common; \
                                 the rules alone are used",
                                api.title
                            ),
                        });
                    }
                    let keeper = self.keeper(at, &restored)?;
                    let weight = self.options.division.weight(at);
                    let mut lane = Lane::new(
                        api,
                        spec.as_ref().unwrap_or(&specs[at]),
                        generator,
                        keeper,
                        restored,
                        weight,
                        self.options,
                    );
                    if let Some(guide) = self.guide(&lane.api)? {
                        lane.follow(guide);
                    }
                    let lanes = most(self.options, self.pool);
                    lane.take_part_of_time(pace::part_of_each(
                        self.options,
                        self.apis.len(),
                        lanes,
                    ));
                    if !self.is_counted() {
                        let limit = self.pool.timeout();
                        let first = match self.takes_turns {
                            true => self.first_share(),
                            false => limit,
                        };
                        lane.limit_slow_calls(SlowCalls::new(limit, first));
                    }
                    if self.takes_turns {
                        lane.take_turns(weight, self.first_share());
                    }
                    if let Some((batch, spec)) = self.switches.remove(&at) {
                        let options = self.options.generate.clone();
                        let seed = self.options.seed;
                        let made = Generator::new(&spec, Some(&signature), options, seed);
                        if let Ok(generator) = made {
                            lane.switch_to(generator, Some(batch));
                        }
                        self.learned.insert(at, spec);
                    }
                    lane
                }
                Err(error) => return Ok(Err(error.to_string())),
            },
        };
        (self.observer)(RunEvent::Started {
            api: &lane.api,
            signature: &signature,
        });
        Ok(Ok(lane))
    }

    /// What makes inputs of those that were kept, where that is wanted.
    fn guide(&self, api: &Api) -> Result<Option<Guide>, StoreError> {
        let seeds: Vec<ConcreteInput> = self.options.corpus.of(&api.path).cloned().collect();
        if !self.options.guide && seeds.is_empty() {
            return Ok(None);
        }
        let run = self.folder.path();
        Guide::new(
            api,
            self.options.seed,
            seeds.into_iter(),
            self.options.guide.then_some(run),
        )
        .map(Some)
        .map_err(StoreError::at("write", run))
    }

    /// Who records the inputs of an API, unless they are recorded already.
    fn keeper(&self, at: ApiIndex, restored: &RestoredLane) -> Result<Option<Keeper>, StoreError> {
        if self.options.division.part == Part::Judge {
            return Ok(None);
        }
        let folder = self.api_folder(at);
        if self.options.resume {
            // What was recorded of batches that run again would be there twice.
            Keeper::forget(&folder, |number| !restored.holds(number))?;
        }
        Keeper::open(&folder, &self.apis[at], self.options).map(Some)
    }

    /// DocTer's users know one work folder per API; overloads of one title get one each.
    fn api_folder(&self, at: ApiIndex) -> PathBuf {
        if self.apis.len() == 1 {
            return self.folder.path().to_owned();
        }
        let title = &self.apis[at].title;
        let earlier = self.apis[..at.get()]
            .iter()
            .filter(|api| api.title == *title)
            .count();
        let name = fissure_triage::file_name_part(title);
        let apis = self.folder.path().join("apis");
        match earlier {
            0 => apis.join(&*name),
            n => apis.join(format!("{name}-{}", n + 1)),
        }
    }

    pub(super) fn close_lanes(&mut self) -> Result<(), CampaignError> {
        let over: Vec<ApiIndex> = self
            .lanes
            .iter()
            .filter(|(_, lane)| lane.is_waiting_for_turn())
            .map(|(at, _)| *at)
            .collect();
        for at in over {
            if let Some(mut lane) = self.lanes.remove(&at) {
                lane.end_turn();
                self.parked.push_back((at, lane));
            }
        }
        let finished: Vec<ApiIndex> = self
            .lanes
            .iter()
            .filter(|(_, lane)| lane.is_finished())
            .map(|(at, _)| *at)
            .collect();
        if !finished.is_empty() {
            self.confirm_seen(|_, at, _, _| finished.contains(&at))?;
        }
        for at in finished {
            if let Some(lane) = self.lanes.remove(&at) {
                let summary = lane.summary();
                if let Some(message) = self.staleness(at, &summary) {
                    (self.observer)(RunEvent::Warning { message });
                }
                lane.close()?;
                let told = Box::new(summary.clone());
                self.folder.append(&match self.options.division.part {
                    Part::Fuzz => Record::Fuzzed { at, summary: told },
                    Part::All | Part::Judge => Record::Finished { at, summary: told },
                })?;
                (self.observer)(RunEvent::Finished { summary: &summary });
                self.finished.push((at, summary));
            }
        }
        Ok(())
    }
}
