//! What learning came to, per API: a file of JSON lines beside the rules, and the table at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use fissure_learn::Learned;
use serde::{Deserialize, Serialize};

use crate::exit_status::usage;

/// The file beside the rules.
const FILE: &str = "learned.jsonl";
/// APIs below this are listed.
const PRECISION: f64 = 0.9;
/// Rejections of drawn inputs that are kept.
const REJECTIONS: usize = 3;

/// One API. A figure is there when it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub api: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(default)]
    pub rules: usize,
    #[serde(default)]
    pub executed: u64,
    #[serde(default)]
    pub rounds: usize,
    #[serde(default)]
    pub seconds: f64,
    /// What learning took of a core; where that is not known, no more than it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    pub precision: f64,
    pub drawn: usize,
    pub recall: f64,
    pub apart: usize,
    /// What the library said to drawn inputs that it rejected, most frequent first.
    pub rejections: Vec<(String, usize)>,
}

impl Record {
    pub(super) fn learned(api: &str, learned: &Learned) -> Self {
        Record {
            api: api.to_owned(),
            failure: None,
            rules: learned.invariants.file.rules.len(),
            executed: learned.executed,
            rounds: learned.rounds,
            seconds: rounded(learned.time),
            core_seconds: Some(rounded(learned.core_time)),
            measured: learned.evaluation.as_ref().map(|it| Measured {
                precision: it.precision(),
                drawn: it.drawn,
                recall: it.recall(),
                apart: it.apart,
                rejections: it.rejections.iter().take(REJECTIONS).cloned().collect(),
            }),
        }
    }

    fn of_a_core(&self) -> f64 {
        self.core_seconds.unwrap_or(self.seconds)
    }

    pub(super) fn failed(api: &str, reason: &str) -> Self {
        Record {
            api: api.to_owned(),
            failure: Some(reason.to_owned()),
            rules: 0,
            executed: 0,
            rounds: 0,
            seconds: 0.0,
            core_seconds: None,
            measured: None,
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}: {} rules, {} calls, {:.1} s ({:.1} of a core)",
            self.api,
            self.rules,
            self.executed,
            self.seconds,
            self.of_a_core()
        )?;
        if let Some(it) = &self.measured {
            write!(
                f,
                ", precision {:.1} % of {}, recall {:.1} % of {}",
                100.0 * it.precision,
                it.drawn,
                100.0 * it.recall,
                it.apart
            )?;
        }
        Ok(())
    }
}

/// All records of a folder, of earlier runs too; the last one of an API counts.
pub(super) struct Table {
    path: PathBuf,
    records: BTreeMap<String, Record>,
}

impl Table {
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(FILE);
        let mut records = BTreeMap::new();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("failed to read {}", path.display()));
            }
        };
        for (number, line) in text.lines().enumerate() {
            let record: Record = serde_json::from_str(line).map_err(|error| {
                usage(format!(
                    "line {} of {}: {error}; remove the file to begin anew",
                    number + 1,
                    path.display()
                ))
            })?;
            records.insert(record.api.clone(), record);
        }
        Ok(Table { path, records })
    }

    /// Appends, so that a kill loses nothing.
    pub(super) fn add(&mut self, record: &Record) -> anyhow::Result<()> {
        self.records.insert(record.api.clone(), record.clone());
        let line = serde_json::to_string(record)? + "\n";
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .with_context(|| format!("failed to write {}", self.path.display()))
    }

    /// The precision that was measured before.
    pub(super) fn precision(&self, api: &str) -> Option<f64> {
        Some(self.records.get(api)?.measured.as_ref()?.precision)
    }

    /// Writes the file anew, one line for each API, in their order.
    pub(super) fn finish(&self) -> anyhow::Result<()> {
        let mut text = String::new();
        for record in self.records.values() {
            text.push_str(&serde_json::to_string(record)?);
            text.push('\n');
        }
        let new = self.path.with_extension("new");
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &self.path))
            .with_context(|| format!("failed to write {}", self.path.display()))
    }

    /// Means over these APIs, those that miss the goals, and those that failed.
    pub(super) fn summary(&self, names: &[String]) -> String {
        let records = || names.iter().filter_map(|name| self.records.get(name));
        let learned: Vec<&Record> = records().filter(|it| it.failure.is_none()).collect();
        let failed: Vec<&Record> = records().filter(|it| it.failure.is_some()).collect();
        let mut lines = vec![format!(
            "{} APIs learned, {} failed, {:.1} core seconds each in the mean, most {:.1}",
            learned.len(),
            failed.len(),
            mean(learned.iter().map(|it| it.of_a_core())),
            learned.iter().map(|it| it.of_a_core()).fold(0.0, f64::max),
        )];
        let mut measured: Vec<(&str, &Measured)> = learned
            .iter()
            .filter_map(|it| Some((it.api.as_str(), it.measured.as_ref()?)))
            .collect();
        if !measured.is_empty() {
            measured.sort_by(|a, b| a.1.precision.total_cmp(&b.1.precision));
            let recalls = measured.iter().filter(|it| it.1.apart > 0);
            lines.push(format!(
                "mean precision {:.2} %, least {:.1} % ({}), {} below {:.0} %; mean recall {:.2} %",
                100.0 * mean(measured.iter().map(|it| it.1.precision)),
                100.0 * measured[0].1.precision,
                measured[0].0,
                measured
                    .iter()
                    .filter(|it| it.1.precision < PRECISION)
                    .count(),
                100.0 * PRECISION,
                100.0 * mean(recalls.map(|it| it.1.recall)),
            ));
            for (api, it) in measured.iter().take_while(|it| it.1.precision < PRECISION) {
                let why = it.rejections.first().map_or("", |(words, _)| words);
                lines.push(format!(
                    "  {api}: precision {:.1} %: {why}",
                    100.0 * it.precision
                ));
            }
        }
        for record in failed {
            let why = record.failure.as_deref().map_or("", |reason| reason);
            lines.push(format!("  {} failed: {why}", record.api));
        }
        lines.join("\n") + "\n"
    }
}

fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(api: &str, precision: f64, recall: f64) -> Record {
        Record {
            measured: Some(Measured {
                precision,
                drawn: 400,
                recall,
                apart: 10,
                rejections: vec![("no".into(), 3)],
            }),
            failure: None,
            ..Record::failed(api, "")
        }
    }

    #[test]
    fn the_last_record_of_an_api_counts_and_the_summary_names_what_is_weak() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::open(folder.path()).unwrap();
        table.add(&record("m.a", 0.5, 1.0)).unwrap();
        table.add(&record("m.b", 0.8, 1.0)).unwrap();
        table.add(&record("m.a", 1.0, 0.9)).unwrap();
        table
            .add(&Record::failed("m.c", "nothing is known"))
            .unwrap();
        let table = Table::open(folder.path()).unwrap();
        table.finish().unwrap();
        let table = Table::open(folder.path()).unwrap();
        assert_eq!(table.precision("m.a"), Some(1.0));
        assert_eq!(table.precision("m.c"), None);
        let names = ["m.a", "m.b", "m.c"].map(str::to_owned);
        let summary = table.summary(&names);
        assert!(summary.contains("2 APIs learned, 1 failed"), "{summary}");
        assert!(summary.contains("mean precision 90.00 %, least 80.0 % (m.b), 1 below"));
        assert!(summary.contains("mean recall 95.00 %"), "{summary}");
        assert!(summary.contains("m.c failed: nothing is known"));
    }

    #[test]
    fn a_damaged_file_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "{\"api\": \"m.a\"}\nnonsense\n").unwrap();
        let error = Table::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("line 2 of"), "{error}");
    }
}
