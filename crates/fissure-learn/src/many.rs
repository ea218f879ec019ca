//! Learning many APIs: each by itself, several at a time, whatever one of them does.
//!
//! The one implementation behind `fissure learn` and `fissure campaign`. What comes of each API is
//! told at once, with the calls that ended their process and the remarks; a mistake of ours in one
//! API is a failure of that API only.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fissure_execute::{Pool, PoolOptions};
use fissure_model::{Api, Way};
use fissure_rules::api_named;

use crate::{LearnError, LearnOptions, Learned, Observed, Seeds, learn};

/// APIs whose calls are asked for at a time: asking costs an import of the library and its samples,
/// and nothing is learned meanwhile.
const GROUP: usize = 8;
/// Pools that may fail in a row before the reason is said to be the library, not one API.
const FAILURES: usize = 3;
/// A call of JAX costs as much as many of the others.
const JAX_MUTANTS: usize = 4;
const TICK: Duration = Duration::from_millis(100);

/// Where calls come from that the library is known to accept.
#[derive(Clone, Debug)]
pub enum KnownCalls {
    /// Collected already; `None` when the library has no sample database.
    Collected(Option<Seeds>),
    /// Asked of the library, a group of APIs at a time, so many calls for each.
    Asked(usize),
}

/// The APIs to learn, and how.
#[derive(Clone, Debug)]
pub struct Many {
    pub names: Vec<String>,
    pub calls: KnownCalls,
    /// Calls of the user, of the one API that is named.
    pub own: Vec<Observed>,
    pub options: LearnOptions,
    /// How the library is started; the scratch folder is divided among the learners.
    pub pool: PoolOptions,
    /// APIs learned at the same time, each on one core.
    pub workers: usize,
    /// When what is under way is broken off.
    pub deadline: Option<Instant>,
}

/// What came of one API. Told from the thread that learned it.
pub enum LearnEvent<'a> {
    Learned {
        /// Position among the names.
        number: usize,
        name: &'a str,
        api: &'a Api,
        learned: &'a Learned,
        /// Still running: for what is asked about the crashes.
        pool: &'a Pool,
    },
    Failed {
        number: usize,
        name: &'a str,
        reason: String,
        /// The library has nothing of this name.
        missing: bool,
        /// What it has beside it, where it is missing.
        neighbours: Vec<String>,
    },
}

/// Who decides what is learned, and hears of it.
pub trait Observer<E>: Sync {
    /// Asked before an API is learned: is it still wanted?
    fn wanted(&self, _name: &str, _pool: &Pool) -> bool {
        true
    }

    fn observe(&self, event: LearnEvent<'_>) -> Result<(), E>;
}

impl Many {
    /// Learns all of them, until the deadline or `stop`. An error of the observer ends it.
    pub fn run<E>(&self, observer: &(impl Observer<E> + ?Sized), stop: &AtomicBool) -> Result<(), E>
    where
        E: From<LearnError> + Send,
    {
        let next = AtomicUsize::new(0);
        let over = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let learners: Vec<_> = (0..self.workers.min(self.names.len()))
                .map(|worker| {
                    let (next, over) = (&next, &over);
                    scope.spawn(move || self.work(worker, next, over, observer))
                })
                .collect();
            while learners.iter().any(|learner| !learner.is_finished()) {
                let late = self
                    .deadline
                    .is_some_and(|deadline| Instant::now() >= deadline);
                if late || stop.load(Ordering::Relaxed) {
                    over.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(TICK);
            }
            learners.into_iter().try_for_each(|learner| {
                let ended = learner.join();
                ended.unwrap_or_else(|_| Err(LearnError::Fault.into()))
            })
        })
    }

    /// One learner: takes one group of APIs after the other.
    fn work<E: From<LearnError>>(
        &self,
        worker: usize,
        next: &AtomicUsize,
        over: &Arc<AtomicBool>,
        observer: &(impl Observer<E> + ?Sized),
    ) -> Result<(), E> {
        let group = match self.calls {
            KnownCalls::Collected(_) => 1,
            KnownCalls::Asked(_) => GROUP,
        };
        let mut pool: Option<Pool> = None;
        let mut failures = 0;
        while !over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(names) = self.names.chunks(group).nth(number) else {
                break;
            };
            let seeds = match self.seeds(worker, number, names, over) {
                Ok(seeds) => seeds,
                Err(_) if over.load(Ordering::Relaxed) => break,
                // The other APIs do not need them.
                Err(error) => {
                    for (within, name) in names.iter().enumerate() {
                        observer.observe(LearnEvent::Failed {
                            number: number * group + within,
                            name,
                            reason: error.to_string(),
                            missing: false,
                            neighbours: Vec::new(),
                        })?;
                    }
                    continue;
                }
            };
            for (within, name) in names.iter().enumerate() {
                let number = number * group + within;
                let running = match pool.take() {
                    Some(running) => running,
                    None => self.start(worker)?,
                };
                if !observer.wanted(name, &running) {
                    pool = Some(running);
                    continue;
                }
                let learned = guarded(|| self.one(name, seeds.as_ref(), &running, over));
                match learned {
                    Ok((api, learned)) => {
                        failures = 0;
                        observer.observe(LearnEvent::Learned {
                            number,
                            name,
                            api: &api,
                            learned: &learned,
                            pool: &running,
                        })?;
                    }
                    Err(LearnError::Interrupted) => return Ok(()),
                    // It would fail for every other API too.
                    Err(error @ LearnError::Model(_)) => return Err(error.into()),
                    Err(error) => {
                        let missing = matches!(error, LearnError::Missing { .. });
                        let beside = || running.neighbours(&api_named(name).path);
                        let neighbours = missing.then(|| beside().unwrap_or_default());
                        observer.observe(LearnEvent::Failed {
                            number,
                            name,
                            reason: error.to_string(),
                            missing,
                            neighbours: neighbours.unwrap_or_default(),
                        })?;
                    }
                }
                // A pool that stopped is replaced; one API does not end the run.
                match running.failure() {
                    None => pool = Some(running),
                    Some(reason) => {
                        failures += 1;
                        if failures >= FAILURES {
                            return Err(LearnError::Stopped(reason).into());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn seeds(
        &self,
        worker: usize,
        number: usize,
        names: &[String],
        over: &Arc<AtomicBool>,
    ) -> Result<Option<Seeds>, LearnError> {
        match &self.calls {
            KnownCalls::Collected(seeds) => Ok(seeds.clone()),
            KnownCalls::Asked(most) => {
                let folder = self.pool.scratch.join(format!("{worker}-samples-{number}"));
                let (python, package) = (&self.pool.python, &self.pool.package);
                Seeds::from_database(python, package, &folder, Some(names), *most, over).map(Some)
            }
        }
    }

    fn start(&self, worker: usize) -> Result<Pool, LearnError> {
        Ok(Pool::start(PoolOptions {
            scratch: self.pool.scratch.join(worker.to_string()),
            ..self.pool.clone()
        })?)
    }

    fn one(
        &self,
        name: &str,
        seeds: Option<&Seeds>,
        pool: &Pool,
        over: &AtomicBool,
    ) -> Result<(Api, Learned), LearnError> {
        let mut observed = match seeds {
            Some(seeds) => seeds.of(name)?,
            None => Vec::new(),
        };
        observed.extend(self.own.iter().cloned());
        let jax = self.pool.package == "jax";
        let api = Api {
            layer: observed.iter().any(|seen| seen.call.is_some()),
            // JAX compiles for every new shape, and rejects calls before that.
            way: if jax { Way::Traced } else { Way::Eager },
            ..api_named(name)
        };
        let options = LearnOptions {
            mutants: if jax {
                self.options.mutants / JAX_MUTANTS
            } else {
                self.options.mutants
            },
            ..self.options.clone()
        };
        let learned = learn(pool, api.clone(), &observed, &options, over)?;
        Ok((api, learned))
    }
}

/// A panic in one API is that API's failure.
fn guarded<T>(one: impl FnOnce() -> Result<T, LearnError>) -> Result<T, LearnError> {
    catch_unwind(AssertUnwindSafe(one)).unwrap_or(Err(LearnError::Fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_one_api_is_the_failure_of_that_api() {
        let outcome = guarded::<()>(|| panic!("a mistake of ours"));
        assert!(matches!(outcome, Err(LearnError::Fault)));
        assert!(guarded(|| Ok(3)).is_ok_and(|number| number == 3));
    }
}
