//! `fissure campaign`: learns the APIs of which nothing is known.

#![expect(clippy::print_stderr, reason = "says what is learned")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use fissure_execute::{Pool, PoolOptions};
use fissure_learn::{LearnError, LearnOptions, Seeds, learn};
use fissure_model::Api;

/// Time for one call while learning.
const CALL: Duration = Duration::from_secs(4);
/// Calls of each API that the library's sample database is asked for.
const SEEDS: usize = 60;
/// APIs whose calls are asked for at a time: asking costs an import of the library and its samples,
/// and nothing is learned meanwhile.
const GROUP: usize = 8;
/// What could not be learned, and why: not tried again.
const FAILED_FILE: &str = "failed.json";
/// Why an API is left out that the time did not suffice for.
pub const LATE: &str = "it was not learned in the time for learning";
const TICK: Duration = Duration::from_millis(100);

/// The APIs to learn, and how.
pub struct Learning<'a> {
    pub names: Vec<&'a str>,
    pub package: &'a str,
    pub python: &'a Path,
    /// Where the rules go.
    pub out: &'a Path,
    pub options: LearnOptions,
    /// Time for all of them.
    pub total: Duration,
    pub workers: usize,
    pub quiet: bool,
    pub stop: &'a Arc<AtomicBool>,
}

/// The rule file of an API.
pub fn rules_of(out: &Path, name: &str) -> PathBuf {
    out.join(format!("{name}.rules"))
}

/// What could not be learned, and why.
pub fn failures(out: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = out.join(FAILED_FILE);
    match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text)
            .with_context(|| format!("{} cannot be understood", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| format!("failed to read {}", path.display())),
    }
}

fn write_failures(out: &Path, failed: &BTreeMap<String, String>) -> anyhow::Result<()> {
    let path = out.join(FAILED_FILE);
    std::fs::write(&path, serde_json::to_vec_pretty(failed)?)
        .with_context(|| format!("failed to write {}", path.display()))
}

impl Learning<'_> {
    /// Learns what is not learned yet, until the time is up.
    pub fn run(&self) -> anyhow::Result<()> {
        std::fs::create_dir_all(self.out)
            .with_context(|| format!("failed to make {}", self.out.display()))?;
        let failed = Mutex::new(failures(self.out)?);
        let names: Vec<&str> = {
            let failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            let open = |name: &&str| {
                !rules_of(self.out, name).exists() && !failed.contains_key::<str>(name)
            };
            self.names.iter().copied().filter(open).collect()
        };
        let (next, over) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let deadline = Instant::now() + self.total;
        let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
        std::thread::scope(|scope| {
            let learners: Vec<_> = (0..self.workers.min(names.len()))
                .map(|worker| {
                    let (names, next, over, failed) = (&names, &next, &over, &failed);
                    let scratch = scratch.path().join(worker.to_string());
                    scope.spawn(move || self.work(&scratch, names, next, over, failed))
                })
                .collect();
            while learners.iter().any(|learner| !learner.is_finished()) {
                if Instant::now() >= deadline || self.stop.load(Ordering::Relaxed) {
                    over.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(TICK);
            }
            learners.into_iter().try_for_each(|learner| {
                let ended = learner.join();
                ended.map_err(|_| anyhow!("a thread that learns has failed"))?
            })
        })?;
        if Instant::now() >= deadline {
            // A resumed campaign does not begin to learn again.
            let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
            let late = names
                .iter()
                .filter(|name| !rules_of(self.out, name).exists());
            for name in late {
                let known = failed.entry((*name).to_owned());
                known.or_insert_with(|| LATE.to_owned());
            }
            write_failures(self.out, &failed)?;
        }
        Ok(())
    }

    /// Takes one group of APIs after the other.
    fn work(
        &self,
        scratch: &Path,
        names: &[&str],
        next: &AtomicUsize,
        over: &Arc<AtomicBool>,
        failed: &Mutex<BTreeMap<String, String>>,
    ) -> anyhow::Result<()> {
        let note = |name: &str, reason: String| {
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.insert(name.to_owned(), reason);
            write_failures(self.out, &failed)
        };
        let mut pool = None;
        while !over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = names.chunks(GROUP).nth(number) else {
                break;
            };
            let asked: Vec<String> = group.iter().map(|name| (*name).to_owned()).collect();
            let folder = scratch.join(format!("samples-{number}"));
            let (package, asked) = (self.package, Some(asked.as_slice()));
            let seeds = Seeds::from_database(self.python, package, &folder, asked, SEEDS, over);
            let seeds = match seeds {
                Ok(seeds) => seeds,
                Err(_) if over.load(Ordering::Relaxed) => break,
                // The other APIs do not need them.
                Err(error) => {
                    group
                        .iter()
                        .try_for_each(|name| note(name, error.to_string()))?;
                    continue;
                }
            };
            for (within, name) in group.iter().enumerate() {
                let running = match pool.take() {
                    Some(running) => running,
                    None => self.start(&scratch.join("pool"))?,
                };
                // A mistake of ours in one API does not end the campaign either.
                let learned =
                    catch_unwind(AssertUnwindSafe(|| self.one(name, &seeds, &running, over)));
                let Ok(learned) = learned else {
                    note(name, "learning it failed (a fault of Fissure)".to_owned())?;
                    continue;
                };
                match learned {
                    Ok(rules) => {
                        if !self.quiet {
                            eprintln!(
                                "learn  {}/{} {name}: {rules} rules",
                                number * GROUP + within + 1,
                                names.len()
                            );
                        }
                    }
                    Err(LearnError::Interrupted) => return Ok(()),
                    Err(error) => note(name, error.to_string())?,
                }
                // One that stopped is replaced: one API does not end the campaign.
                pool = Some(running).filter(|pool| pool.failure().is_none());
            }
        }
        Ok(())
    }

    fn start(&self, scratch: &Path) -> anyhow::Result<Pool> {
        Pool::start(PoolOptions {
            timeout: CALL,
            ..PoolOptions::new(self.python, self.package, scratch)
        })
        .map_err(|error| anyhow!("failed to {error}"))
    }

    /// Learns one API, and gives the number of its rules.
    fn one(
        &self,
        name: &str,
        seeds: &Seeds,
        pool: &Pool,
        over: &AtomicBool,
    ) -> Result<usize, LearnError> {
        let observed = seeds.of(name)?;
        let api = Api {
            title: name.to_owned(),
            package: self.package.to_owned(),
            path: name.to_owned(),
            layer: observed.iter().any(|seen| seen.call.is_some()),
            ..Api::default()
        };
        let learned = learn(pool, api, &observed, &self.options, over)?;
        learned.invariants.save(&rules_of(self.out, name))?;
        Ok(learned.invariants.file.rules.len())
    }
}
