//! Learning many APIs: each by itself, several at a time, begun again where it was left.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
#![expect(clippy::print_stderr, reason = "says what runs, and warnings")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;
use fissure_execute::{Pool, PoolOptions};
use fissure_learn::{Invariants, LearnError, LearnOptions, Learned, Observed, Seeds, learn};
use fissure_model::{Api, Way};
use serde_json::json;

use super::findings::Findings;
use super::table::{Record, Table};
use fissure_rules::api_named;

/// The APIs to learn, and how.
pub struct Many<'a> {
    pub names: Vec<String>,
    pub seeds: Option<Seeds>,
    /// Calls of the user, of the one API that is named.
    pub own: Vec<Observed>,
    pub options: LearnOptions,
    pub again: bool,
    /// Rules of a lower precision are not kept.
    pub least: f64,
    pub json: bool,
    pub out: &'a Path,
    pub pool: PoolOptions,
    pub findings: Findings,
    pub stop: &'a AtomicBool,
}

/// Pools that may fail in a row before the reason is said to be the library, not one API.
const FAILURES: usize = 3;

impl Many<'_> {
    /// Learns all of them; gives how many findings there are.
    pub fn run(&self, workers: usize) -> anyhow::Result<usize> {
        let table = Mutex::new(Table::open(self.out)?);
        let next = AtomicUsize::new(0);
        let findings = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..workers.min(self.names.len()))
                .map(|worker| {
                    let (table, next, findings) = (&table, &next, &findings);
                    scope.spawn(move || self.work(worker, next, table, findings))
                })
                .collect();
            workers.into_iter().try_for_each(|worker| {
                worker
                    .join()
                    .map_err(|_| anyhow!("a thread that learns has failed"))?
            })
        })?;
        let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
        table.finish()?;
        if !self.json && self.names.len() > 1 {
            print!("{}", table.summary(&self.names));
        }
        Ok(findings.into_inner())
    }

    /// One worker: takes the next name until there is none.
    fn work(
        &self,
        worker: usize,
        next: &AtomicUsize,
        table: &Mutex<Table>,
        findings: &AtomicUsize,
    ) -> anyhow::Result<()> {
        let mut pool: Option<Pool> = None;
        let mut failures = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = self.names.get(number) else {
                break;
            };
            let running = match pool.take() {
                Some(running) => running,
                None => self.start(worker)?,
            };
            if self.is_known(name, &running, &lock(table)) {
                pool = Some(running);
                continue;
            }
            let record = match self.one(name, &running) {
                Ok((api, learned)) => {
                    failures = 0;
                    for remark in &learned.remarks {
                        eprintln!("warning: {name}: {remark}");
                    }
                    let record = Record::learned(name, &learned);
                    self.save(name, &record, &learned, &mut lock(table))?;
                    let found = self.findings.write(&running, &api, &learned)?;
                    findings.fetch_add(found, Ordering::Relaxed);
                    record
                }
                Err(LearnError::Interrupted) => break,
                // It would fail for every other API too.
                Err(error @ LearnError::Model(_)) => return Err(error.into()),
                Err(error) => {
                    eprintln!("warning: {name}: {error}");
                    let record = Record::failed(name, &error.to_string());
                    lock(table).add(&record)?;
                    record
                }
            };
            self.print(number, &record);
            // A pool that stopped is replaced; one API does not end the run.
            if let Some(reason) = running.failure() {
                failures += 1;
                if failures >= FAILURES {
                    return Err(anyhow!("{reason}"));
                }
            } else {
                pool = Some(running);
            }
        }
        if let Some(pool) = pool {
            pool.stop();
        }
        Ok(())
    }

    fn start(&self, worker: usize) -> anyhow::Result<Pool> {
        let scratch = self.pool.scratch.join(worker.to_string());
        Pool::start(PoolOptions {
            scratch,
            ..self.pool.clone()
        })
        .map_err(|error| anyhow!("failed to {error}"))
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.out.join(format!("{name}.rules"))
    }

    /// Keeps what was learned, unless it is worse than what was there or not good enough.
    fn save(
        &self,
        name: &str,
        record: &Record,
        learned: &Learned,
        table: &mut Table,
    ) -> anyhow::Result<()> {
        let precision = record.measured.as_ref().map(|it| it.precision);
        if !self.again && precision.is_some() && table.precision(name) > precision {
            return Ok(());
        }
        table.add(record)?;
        if precision.is_none_or(|precision| precision >= self.least) {
            learned.invariants.save(&self.path(name))?;
        }
        Ok(())
    }

    /// Was the API learned before, with this library and this seed, and measured if it is to be?
    fn is_known(&self, name: &str, pool: &Pool, table: &Table) -> bool {
        if self.again || (self.options.evaluate && table.precision(name).is_none()) {
            return false;
        }
        let library = format!("{} {}", self.pool.package, pool.info().library_version);
        Invariants::load(&self.path(name)).is_ok_and(|known| {
            known.file.seed == Some(self.options.seed)
                && known.file.library.as_deref() == Some(&library)
        })
    }

    fn one(&self, name: &str, pool: &Pool) -> Result<(Api, Learned), LearnError> {
        let mut observed = match &self.seeds {
            Some(seeds) => seeds.of(name)?,
            None => Vec::new(),
        };
        observed.extend(self.own.iter().cloned());
        let api = Api {
            layer: observed.iter().any(|seen| seen.call.is_some()),
            // JAX compiles for every new shape, and rejects calls before that.
            way: if self.pool.package == "jax" {
                Way::Traced
            } else {
                Way::Eager
            },
            ..api_named(name)
        };
        let learned = learn(pool, api.clone(), &observed, &self.options, self.stop)?;
        Ok((api, learned))
    }

    fn print(&self, number: usize, record: &Record) {
        if self.json {
            println!("{}", json!(record));
        } else if record.failure.is_none() {
            println!("[{}/{}] {record}", number + 1, self.names.len());
        }
    }
}

fn lock<'a>(table: &'a Mutex<Table>) -> std::sync::MutexGuard<'a, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
