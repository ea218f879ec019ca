//! One slot of the pool: a thread that takes batches and keeps one worker alive to run them.

mod lifecycle;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use fissure_model::{Execution, Outcome};

use crate::arena::{Access, Arena};
use crate::blame::{Blame, Court};
use crate::connection::Connection;
use crate::coverage::{Hit, SlotCoverage};
use crate::encode::Encoder;
use crate::error::ExecuteError;
use crate::journal::{Journal, Lie, SLOTS};
use crate::options::{Batch, Busy, Event};
use crate::pool::Shared;
use crate::served::Served;
use crate::worker::{Limits, Message, Requested, Stop, Worker};

/// For the first call of an API in a worker, where calls have less time.
const WARM_UP: Duration = Duration::from_secs(5);

/// Why a batch comes back cut short.
#[derive(Debug)]
enum Abort {
    Cancelled,
    Failed(ExecuteError),
}

impl From<ExecuteError> for Abort {
    fn from(error: ExecuteError) -> Self {
        Abort::Failed(error)
    }
}

/// The folder of a slot's workers.
fn folder_name(slot: usize) -> String {
    format!("slot-{slot}")
}

/// Why the journal's word does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// What it says cannot be true.
    Lie(Lie),
    /// The worker ended, and no input had begun.
    NothingRan,
}

pub(crate) struct Slot {
    number: usize,
    shared: Arc<Shared>,
    events: Sender<Event>,
    connection: Option<Connection>,
    worker: Option<Worker>,
    /// The next worker, forked ahead of time once this slot has lost one: then it will lose more,
    /// and forking takes longer than everything else after a crash.
    spare: Option<Requested>,
    lost_before: bool,
    served: Served,
    arena: Arena,
    journal: Journal,
    encoder: Encoder,
    coverage: SlotCoverage,
    sequence: u64,
    /// What calls of the present batch took that had to be ended.
    slow: Duration,
    /// The zygote with this number was found dead.
    stale: Option<u64>,
    folder: PathBuf,
}

impl Slot {
    pub(crate) fn new(
        number: usize,
        shared: Arc<Shared>,
        events: Sender<Event>,
    ) -> Result<Slot, ExecuteError> {
        let arming = shared.options.coverage.as_ref();
        let arming = arming.map_or_else(Default::default, |options| options.arming);
        Ok(Slot {
            number,
            events,
            connection: None,
            worker: None,
            spare: None,
            lost_before: false,
            served: Served::default(),
            arena: Arena::new(
                "fissure-arena",
                shared.options.arena_bytes.next_multiple_of(4096),
                Access::Read,
            )?,
            journal: Journal::new()?,
            encoder: Encoder::default(),
            coverage: SlotCoverage::new(number, arming),
            sequence: 0,
            slow: Duration::ZERO,
            stale: None,
            folder: shared.scratch.join("work").join(folder_name(number)),
            shared,
        })
    }

    /// Takes batches until there will be no more.
    pub(crate) fn serve(mut self, queue: &Receiver<Batch>) {
        while let Ok(batch) = queue.recv() {
            let begin = Instant::now();
            self.shared.set_busy(
                self.number,
                Some(Busy {
                    api: Arc::clone(&batch.api),
                    judging: !batch.oracles.is_empty(),
                    since: begin,
                }),
            );
            let mut executions = Vec::with_capacity(batch.inputs.len());
            let mut hits = Vec::new();
            let mut ran = self.batch(&batch, &mut executions, &mut hits);
            if ran.is_ok() && self.served.is_suspect(&batch.api, &executions) {
                self.end_worker();
                executions.clear();
                ran = self.batch(&batch, &mut executions, &mut hits);
                self.served.look_again(&batch.api, &executions);
            }
            if let Err(Abort::Failed(error)) = ran {
                self.shared.fail(error);
            }
            let busy = begin.elapsed();
            self.shared.set_busy(self.number, None);
            self.shared.count(|statistics| {
                statistics.batches += 1;
                statistics.inputs += executions.len() as u64;
                statistics.busy += busy;
            });
            // Nobody listens any more: the pool is being dropped.
            let _ = self.events.send(Event::Done {
                batch,
                executions,
                hits,
                busy,
            });
        }
        self.retire();
        if let Some(connection) = self.connection.take() {
            self.shared.keep(self.number, connection);
        }
    }

    fn batch(
        &mut self,
        batch: &Batch,
        executions: &mut Vec<Execution>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), Abort> {
        if let (Some(first), Some(connection)) = (batch.inputs.first(), &self.connection)
            && first.number < connection.fresh_inputs
        {
            self.end_worker();
            // The next one will be needed soon, too.
            self.lost_before = true;
        }
        self.slow = Duration::ZERO;
        while executions.len() < batch.inputs.len() {
            let rest = &batch.inputs[executions.len()..];
            let count = self.encoder.fill(rest, self.arena.len(), SLOTS);
            if self.encoder.needed() > self.arena.len() {
                // The new worker maps the new arena.
                self.retire();
                let bytes = self.encoder.needed().next_power_of_two();
                self.arena = Arena::new("fissure-arena", bytes, Access::Read)?;
            }
            self.encoder.write(self.arena.bytes_mut());
            self.part(batch, count, executions, hits)?;
        }
        Ok(())
    }

    /// Runs the `count` inputs that are in the arena.
    fn part(
        &mut self,
        batch: &Batch,
        count: usize,
        executions: &mut Vec<Execution>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), Abort> {
        let first = executions.len();
        let mut start = 0;
        let mut court = Court::default();
        // A journal that lies tells nothing about which of its inputs made it lie: from then on
        // each of them gets a message of its own.
        let mut alone = false;
        while start < count {
            if self.shared.is_cancelled() || batch.is_abandoned() {
                return Err(Abort::Cancelled);
            }
            let end = if alone { start + 1 } else { count };
            let begin = Instant::now();
            let stop = self.run(batch, start, end)?;
            self.coverage.take(first, hits);
            let doubt = self.doubt(start, end, stop);
            if let Some(doubt) = doubt {
                self.renew_lost_memory()?;
                if !alone && end - start > 1 {
                    alone = true;
                    self.abandon_worker();
                    continue;
                }
                if doubt == Doubt::NothingRan && !self.probe(batch)? {
                    // Not the input: even a message without one does not get through.
                    if let Blame::Machine = court.judge(stop, None) {
                        let log = self.take_remains(stop).0;
                        let reason = format!("workers end before they run anything: {log}");
                        return Err(ExecuteError::ForkRefused { reason }.into());
                    }
                    continue;
                }
            }
            let done = match doubt {
                None => self.collect(batch, first, start, end, stop, executions),
                Some(_) => start,
            };
            let culprit = first + done;
            start = done;
            if doubt.is_none() && matches!(stop, Stop::Finished(_) | Stop::Unreached) {
                self.recycle();
                continue;
            }
            self.lost_before = true;
            self.shared.count(|statistics| statistics.workers_lost += 1);
            let duration = self.journal.running_for().min(begin.elapsed());
            self.slow += begin.elapsed();
            let (mut log, native_frames) = self.take_remains(stop);
            let blame = match doubt {
                Some(_) => court.judge_alone(stop, done),
                None => court.judge(stop, self.journal.current()),
            };
            let outcome = match blame {
                Blame::Input(outcome) => outcome,
                Blame::Nobody => continue,
                Blame::Cancelled => return Err(Abort::Cancelled),
                Blame::Machine => {
                    let reason = format!("workers end before they run anything: {log}");
                    return Err(ExecuteError::ForkRefused { reason }.into());
                }
            };
            let Some(input) = batch.inputs.get(culprit) else {
                continue;
            };
            if let Some(Doubt::Lie(Lie(lie))) = doubt {
                log.push_str(&format!(
                    "\n[the record of the process is damaged: {lie}]\n"
                ));
            }
            let mut execution = Execution {
                log: Some(log),
                native_frames,
                ..Execution::new(input.number, outcome, duration)
            };
            if doubt.is_none() {
                self.add_judged(batch, done, &mut execution);
            }
            self.report(batch, culprit, &execution);
            executions.push(execution);
            start += 1;
        }
        Ok(())
    }

    /// Why what the journal says after `stop` is not to be used.
    fn doubt(&self, start: usize, end: usize, stop: Stop) -> Option<Doubt> {
        let finished = match stop {
            Stop::Cancelled | Stop::Unreached => return None,
            Stop::Finished(next) => Some(next),
            _ => None,
        };
        if self.journal.is_lost() || self.arena.is_lost() {
            return Some(Doubt::Lie(Lie("its memory was taken away")));
        }
        if let Err(lie) = self.journal.check(self.sequence, start, end, finished) {
            return Some(Doubt::Lie(lie));
        }
        (finished.is_none() && self.journal.current().is_none()).then_some(Doubt::NothingRan)
    }

    /// Whether a new worker answers a message without inputs.
    fn probe(&mut self, batch: &Batch) -> Result<bool, ExecuteError> {
        self.abandon_worker();
        let stop = self.run(batch, 0, 0)?;
        self.abandon_worker();
        Ok(matches!(stop, Stop::Finished(_)))
    }

    /// Ends a worker that is not to be used again.
    fn abandon_worker(&mut self) {
        self.end_worker();
        self.lost_before = true;
    }

    /// Shared memory that is gone is replaced, and what was in the arena is written again.
    fn renew_lost_memory(&mut self) -> Result<(), ExecuteError> {
        if !self.journal.is_lost() && !self.arena.is_lost() {
            return Ok(());
        }
        self.stop_worker();
        let spare = self.spare.take();
        if let (Some(spare), Some(connection)) = (spare, &mut self.connection)
            && let Ok(mut worker) = spare.claim(connection)
        {
            worker.end(connection, Stop::Cancelled);
        }
        self.journal = Journal::new()?;
        self.arena = Arena::new("fissure-arena", self.arena.len(), Access::Read)?;
        self.encoder.write(self.arena.bytes_mut());
        Ok(())
    }

    /// One message to one worker.
    fn run(&mut self, batch: &Batch, start: usize, end: usize) -> Result<Stop, ExecuteError> {
        self.ensure_worker()?;
        self.sequence += 1;
        self.served.note(&batch.api);
        let (Some(worker), Some(connection)) = (&mut self.worker, &mut self.connection) else {
            unreachable!("ensure_worker leaves a worker and its connection");
        };
        worker.output.forget();
        let message = Message {
            sequence: self.sequence,
            start,
            end,
            check_nan: batch.check_nan,
            way: batch.api.way,
            rearm: self.coverage.begin_message(
                &batch.api.path,
                batch.oracles.is_empty().then_some(batch.id),
            ),
            table: self.encoder.table(),
            path: &batch.api.path,
            oracles: &batch.oracles,
        };
        let options = &self.shared.options;
        // A run that ends by a count gives the same outcomes whatever ran in a worker before.
        let warms_up = batch.slow_calls.is_some() && self.served.warms_up(&batch.api);
        let limits = Limits {
            timeout: options.timeout,
            first_call: warms_up.then_some(WARM_UP),
            slow_calls: batch.slow_calls.map(|all| all.saturating_sub(self.slow)),
            baseline: connection.baseline,
            memory: options.memory_limit,
            cancelled: self.shared.cancelled(),
        };
        let stop = worker.run(connection, &self.journal, message, limits);
        if warms_up && start < end {
            let took = self.journal.result(start).map(|(_, took)| took);
            self.served.warmed_up(&batch.api, took);
        }
        if let Stop::ZygoteLost = stop {
            self.lose_zygote();
        }
        Ok(stop)
    }

    /// Moves finished results out of the journal; returns the first input without one.
    fn collect(
        &self,
        batch: &Batch,
        first: usize,
        start: usize,
        count: usize,
        stop: Stop,
        executions: &mut Vec<Execution>,
    ) -> usize {
        let end = match stop {
            Stop::Unreached => start,
            Stop::Finished(next) => next.clamp(start, count),
            // The input that the journal names is not over even if its result is there: it was
            // being cleaned up after.
            _ => self
                .journal
                .current()
                .map_or(start, |current| current.clamp(start, count)),
        };
        for index in start..end {
            let Some((outcome, duration)) = self.journal.result(index) else {
                return index;
            };
            let input = &batch.inputs[first + index];
            let mut execution = Execution::new(input.number, outcome, duration);
            self.add_judged(batch, index, &mut execution);
            if let Outcome::Fatal(_) = execution.outcome {
                self.report(batch, first + index, &execution);
            }
            executions.push(execution);
        }
        end
    }

    /// Adds what oracles said of input `index` of the arena, if any were asked.
    fn add_judged(&self, batch: &Batch, index: usize, execution: &mut Execution) {
        if !batch.oracles.is_empty()
            && let Some(judged) = self.journal.judged(index)
        {
            judged.add_to(execution);
        }
    }

    fn report(&self, batch: &Batch, index: usize, execution: &Execution) {
        let input = Box::new(batch.inputs[index].clone());
        let event = Event::Abnormal {
            batch: batch.id,
            input,
            execution: execution.clone(),
        };
        // Nobody listens any more: the pool is being dropped.
        let _ = self.events.send(event);
    }
}
