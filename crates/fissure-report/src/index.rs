//! Runs in SQLite, for questions that no report answers. Made anew from the event logs each time:
//! the logs are the truth, this is a copy that can be thrown away.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, params};

use crate::run::Run;

/// Raised when a table changes; in `PRAGMA user_version`.
pub const INDEX_VERSION: i32 = 1;

/// `docs/report.md` describes the tables.
const TABLES: &str = "
CREATE TABLE run (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, folder TEXT NOT NULL, kind TEXT NOT NULL,
  state TEXT NOT NULL, command TEXT NOT NULL, library TEXT NOT NULL, library_version TEXT NOT NULL,
  python_version TEXT NOT NULL, seed TEXT, started TEXT, inputs INTEGER NOT NULL,
  accepted INTEGER NOT NULL, seconds REAL NOT NULL, conforming_percent REAL);
CREATE TABLE api (
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, title TEXT NOT NULL,
  state TEXT NOT NULL, ended TEXT, inputs INTEGER NOT NULL, accepted INTEGER NOT NULL,
  conforming INTEGER, conforming_percent REAL, violating INTEGER, violating_rejected_percent REAL,
  judged INTEGER NOT NULL, busy_seconds REAL NOT NULL, behaviours INTEGER NOT NULL);
CREATE TABLE outcome (api INTEGER NOT NULL REFERENCES api, kind TEXT NOT NULL, inputs INTEGER NOT NULL);
CREATE TABLE rejection (api INTEGER NOT NULL REFERENCES api, reason TEXT NOT NULL, inputs INTEGER NOT NULL);
CREATE TABLE finding (
  run INTEGER NOT NULL REFERENCES run, id TEXT NOT NULL, api TEXT NOT NULL, kind TEXT NOT NULL,
  oracle TEXT NOT NULL, detail TEXT NOT NULL, level TEXT NOT NULL, note INTEGER NOT NULL,
  flaky INTEGER NOT NULL, title TEXT NOT NULL, call TEXT NOT NULL, observed TEXT NOT NULL,
  expected TEXT NOT NULL, failures INTEGER, runs INTEGER, found_after REAL, folder TEXT NOT NULL,
  fingerprint TEXT NOT NULL, PRIMARY KEY (run, id));
CREATE TABLE skipped (run INTEGER NOT NULL REFERENCES run, api TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE rule (
  run INTEGER NOT NULL REFERENCES run, api TEXT NOT NULL, name TEXT NOT NULL, rule TEXT NOT NULL,
  accepted INTEGER, rejected INTEGER, tried INTEGER, reason TEXT);
CREATE TABLE timeline (
  run INTEGER NOT NULL REFERENCES run, seconds REAL NOT NULL, inputs INTEGER NOT NULL,
  accepted INTEGER NOT NULL, rejected INTEGER NOT NULL, other INTEGER NOT NULL,
  found INTEGER NOT NULL, behaviours INTEGER NOT NULL);
";

/// Made when all rows are there.
const INDEXES: &str = "
CREATE INDEX api_of_run ON api (run, title);
CREATE INDEX outcome_of_api ON outcome (api);
CREATE INDEX finding_by_api ON finding (api, kind);
CREATE INDEX finding_by_fingerprint ON finding (fingerprint);
";

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("failed to make a file in {}", folder.display())]
    Folder {
        folder: PathBuf,
        source: std::io::Error,
    },
    #[error("failed to write {}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("failed to write the index")]
    Sqlite(#[from] rusqlite::Error),
}

/// Writes a new index and puts it in the place of the old one in one step: a reader sees the one or
/// the other, and a process that is killed leaves the old one.
pub fn write_index<'a>(path: &Path, runs: impl Iterator<Item = &'a Run>) -> Result<(), IndexError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let file = tempfile::Builder::new()
        .prefix(".index-")
        .tempfile_in(folder)
        .map_err(|source| IndexError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
    let mut connection = Connection::open(file.path())?;
    // Nobody else sees the file yet, and one that is not finished is thrown away. No journal also
    // means no locks, which network file systems do not have.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    connection.pragma_update(None, "user_version", INDEX_VERSION)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    for (run, id) in runs.zip(1..) {
        add_run(&transaction, id, run)?;
    }
    transaction.execute_batch(INDEXES)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)?;
    let written = file.as_file().sync_all();
    written
        .and_then(|()| file.persist(path).map_err(|error| error.error))
        .map_err(|source| IndexError::Write {
            path: path.to_owned(),
            source,
        })?;
    Ok(())
}

/// The name of a value in its JSON form.
fn name_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("a plain enum serialises as its name, not {other:?}"),
    }
}

fn add_run(to: &Transaction<'_>, id: i64, run: &Run) -> rusqlite::Result<()> {
    let info = &run.info;
    to.execute(
        "INSERT INTO run VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)",
        params![
            id,
            info.name,
            info.folder.display().to_string(),
            name_of(&info.kind),
            name_of(&info.state),
            info.command,
            info.library,
            info.library_version,
            info.python_version,
            // SQLite's integers have a sign.
            info.seed.map(|seed| seed.to_string()),
            info.started,
            whole(run.totals.inputs),
            whole(run.totals.accepted),
            run.totals.seconds,
            run.totals.conforming_percent,
        ],
    )?;
    add_apis(to, id, run)?;
    add_findings(to, id, run)?;
    let mut insert = to.prepare("INSERT INTO skipped VALUES (?1,?2,?3)")?;
    for one in &run.skipped {
        insert.execute(params![id, one.api, one.reason])?;
    }
    let mut insert = to.prepare("INSERT INTO rule VALUES (?1,?2,?3,?4,?5,?6,?7,?8)")?;
    for rule in &run.rules {
        insert.execute(params![
            id,
            rule.api,
            rule.name,
            rule.rule,
            rule.accepted.map(whole),
            rule.rejected.map(whole),
            rule.tried.map(whole),
            rule.reason,
        ])?;
    }
    let mut insert = to.prepare("INSERT INTO timeline VALUES (?1,?2,?3,?4,?5,?6,?7,?8)")?;
    for point in &run.timeline.points {
        insert.execute(params![
            id,
            point.seconds,
            whole(point.inputs),
            whole(point.accepted),
            whole(point.rejected),
            whole(point.other),
            whole(point.found),
            whole(point.reached.behaviours),
        ])?;
    }
    Ok(())
}

fn add_apis(to: &Transaction<'_>, run_id: i64, run: &Run) -> rusqlite::Result<()> {
    let mut insert = to.prepare(
        "INSERT INTO api (run,title,state,ended,inputs,accepted,conforming,conforming_percent,\
         violating,violating_rejected_percent,judged,busy_seconds,behaviours) \
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
    )?;
    let mut outcome = to.prepare("INSERT INTO outcome VALUES (?1,?2,?3)")?;
    let mut rejection = to.prepare("INSERT INTO rejection VALUES (?1,?2,?3)")?;
    for api in &run.apis {
        insert.execute(params![
            run_id,
            api.title,
            name_of(&api.state),
            api.end,
            whole(api.inputs),
            whole(api.accepted),
            api.conforming.map(whole),
            api.conforming_percent,
            api.violating.map(whole),
            api.violating_rejected_percent,
            whole(api.judged),
            api.busy_seconds,
            whole(api.reached.behaviours),
        ])?;
        let api_id = to.last_insert_rowid();
        for (kind, count) in &api.outcomes {
            outcome.execute(params![api_id, kind, whole(*count)])?;
        }
        for (reason, count) in &api.rejections {
            rejection.execute(params![api_id, reason, whole(*count)])?;
        }
    }
    Ok(())
}

fn add_findings(to: &Transaction<'_>, run_id: i64, run: &Run) -> rusqlite::Result<()> {
    let mut insert = to.prepare(
        "INSERT INTO finding VALUES \
         (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)",
    )?;
    for finding in &run.findings {
        insert.execute(params![
            run_id,
            finding.id,
            finding.api,
            finding.kind,
            finding.oracle,
            finding.detail,
            finding.level.name(),
            finding.note,
            finding.flaky,
            finding.title,
            finding.call,
            finding.observed,
            finding.expected,
            finding.reproduction.map(|tried| tried.failures),
            finding.reproduction.map(|tried| tried.runs),
            finding.found_after,
            finding.folder,
            finding.fingerprint,
        ])?;
    }
    Ok(())
}

/// SQLite's integers have a sign; no count of ours comes near its end.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
