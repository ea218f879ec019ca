//! What `fissure learn` keeps and shows of each API that is learned.

#![expect(clippy::print_stdout, reason = "a command prints its result")]
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fissure_campaign::COVERAGE_FILE;
use fissure_coverage::{BlockSet, CoverageRecord, ModuleRecord};
use fissure_execute::Pool;
use fissure_learn::{Invariants, LearnEvent, Learned, Observer};
use serde_json::json;

use super::findings::Findings;
use super::table::{Record, Table};
use crate::console::warning;
use crate::exit_status::ExitStatus;
use crate::suggestion::suggestion;

/// Writes the rules and the table, and counts findings.
pub(super) struct Keeper<'a> {
    pub names: &'a [String],
    pub package: &'a str,
    pub seed: u64,
    pub evaluate: bool,
    pub again: bool,
    /// Rules of a lower precision are not kept.
    pub least: f64,
    pub json: bool,
    pub out: &'a Path,
    pub findings: Findings,
    pub table: Mutex<Table>,
    /// What calls reached of the library's code, as soon as any did.
    pub coverage: Mutex<Option<CoverageRecord>>,
    pub found: AtomicUsize,
    pub learned: AtomicUsize,
    pub failed: AtomicUsize,
    /// Of these, names that the library does not have.
    pub missing: AtomicUsize,
}

impl Observer<anyhow::Error> for Keeper<'_> {
    fn wanted(&self, name: &str, pool: &Pool) -> bool {
        !self.is_known(name, pool, &self.table())
    }

    fn observe(&self, event: LearnEvent<'_>) -> anyhow::Result<()> {
        match event {
            LearnEvent::Learned {
                number,
                name,
                api,
                learned,
                pool,
            } => {
                for remark in &learned.remarks {
                    warning!("{name}: {remark}");
                }
                self.learned.fetch_add(1, Ordering::Relaxed);
                let record = Record::learned(name, learned);
                self.save(name, &record, learned)?;
                self.cover(name, &pool.info().modules, learned)?;
                let found = self.findings.write(pool, api, learned)?;
                self.found.fetch_add(found, Ordering::Relaxed);
                self.print(number, &record);
            }
            LearnEvent::Failed {
                number,
                name,
                reason,
                missing,
                neighbours,
            } => {
                self.missing
                    .fetch_add(usize::from(missing), Ordering::Relaxed);
                let meant = suggestion(name, neighbours.iter().map(String::as_str));
                warning!("{name}: {reason}{meant}");
                self.failed.fetch_add(1, Ordering::Relaxed);
                let record = Record::failed(name, &reason);
                self.table().add(&record)?;
                self.print(number, &record);
            }
        }
        Ok(())
    }
}

impl Keeper<'_> {
    /// The table at the end, and what the exit code says: where every API that was tried failed, 2 if the library has
    /// none of them, else 3.
    pub(super) fn finish(self) -> anyhow::Result<ExitStatus> {
        let table = self
            .table
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        table.finish()?;
        if !self.json && self.names.len() > 1 {
            print!("{}", table.summary(self.names));
        }
        let failed = self.failed.into_inner();
        Ok(if self.found.into_inner() > 0 {
            ExitStatus::Findings
        } else if self.learned.into_inner() == 0 && failed > 0 {
            match failed == self.missing.into_inner() {
                true => ExitStatus::Usage,
                false => ExitStatus::Failure,
            }
        } else {
            ExitStatus::NoFinding
        })
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.out.join(format!("{name}.rules"))
    }

    /// Keeps what was learned, unless it is worse than what was there or not good enough.
    fn save(&self, name: &str, record: &Record, learned: &Learned) -> anyhow::Result<()> {
        let mut table = self.table();
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

    /// Adds what the calls of an API reached to the file that `fissure coverage` reads.
    fn cover(&self, name: &str, modules: &[ModuleRecord], learned: &Learned) -> anyhow::Result<()> {
        if learned.reached.is_empty() {
            return Ok(());
        }
        let path = self.out.join(COVERAGE_FILE);
        let failed = |error| anyhow::anyhow!("failed to {error}");
        let mut kept = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = CoverageRecord::new(modules.to_vec());
        let mut blocks = vec![BlockSet::new(); modules.len()];
        for (module, block) in &learned.reached {
            if let Some(own) = blocks.get_mut(usize::from(*module)) {
                own.insert(*block);
            }
        }
        record.set_api(name, &blocks);
        // What an earlier run into the same folder reached stays, as its rules do.
        let earlier = match kept.take() {
            Some(earlier) => Some(earlier),
            None if path.exists() => CoverageRecord::load(&path).ok(),
            None => None,
        };
        if let Some(mut earlier) = earlier
            && earlier.merge(&record).is_ok()
        {
            record = earlier;
        }
        record.save(&path).map_err(failed)?;
        *kept = Some(record);
        Ok(())
    }

    /// Was the API learned before, with this library and this seed, and measured if it is to be?
    fn is_known(&self, name: &str, pool: &Pool, table: &Table) -> bool {
        if self.again || (self.evaluate && table.precision(name).is_none()) {
            return false;
        }
        let library = format!("{} {}", self.package, pool.info().library_version);
        Invariants::load(&self.path(name)).is_ok_and(|known| {
            known.file.seed == Some(self.seed) && known.file.library.as_deref() == Some(&library)
        })
    }

    fn print(&self, number: usize, record: &Record) {
        if self.json {
            println!("{}", json!(record));
        } else if record.failure.is_none() {
            println!("[{}/{}] {record}", number + 1, self.names.len());
        }
    }
}
