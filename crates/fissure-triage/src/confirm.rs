//! Does a finding's script fail in a fresh process, and how reliably?

use std::io;
use std::path::Path;

use fissure_model::{Finding, OutcomeKind, Reproduction};

use crate::error::TriageError;
use crate::script::{CALLING, NOT_REPRODUCED, REPRODUCED, script};

/// How the process that ran a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    Exit(i32),
    Signal(i32),
    Timeout,
    OutOfMemory,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRun {
    pub end: ScriptEnd,
    /// The end of what it wrote to standard output and error.
    pub log: String,
}

/// After a run that does not fail, the script is tried this often in all.
const RUNS_WHEN_FLAKY: u32 = 3;

/// Runs the finding's script in fresh processes and notes in the finding how it behaved.
///
/// `runner` starts one process with the script at this path. At least `runs` of them (and at least
/// one) are started; when one does not fail, at least three, so that a flaky failure is labelled
/// with a figure worth printing. The time limit of a run must leave room for importing the library:
/// a run that ends before the call says nothing about the failure and is not counted, and when it
/// happens again and again, that is an error.
pub fn confirm(
    finding: &mut Finding,
    runner: &mut dyn FnMut(&Path) -> io::Result<ScriptRun>,
    runs: u32,
) -> Result<Reproduction, TriageError> {
    let folder = tempfile::Builder::new()
        .prefix("fissure-confirm-")
        .tempdir()
        .map_err(TriageError::io("create a folder in", &std::env::temp_dir()))?;
    let path = folder.path().join("reproduce.py");
    std::fs::write(&path, script(finding)).map_err(TriageError::io("write", &path))?;
    let mut wanted = runs.max(1);
    let mut reproduction = Reproduction {
        failures: 0,
        runs: 0,
    };
    let mut not_reached = 0;
    while reproduction.runs < wanted {
        let run = runner(&path).map_err(TriageError::io("run", &path))?;
        if !reached_call(&run) {
            not_reached += 1;
            if not_reached == RUNS_WHEN_FLAKY {
                return Err(TriageError::NotReached {
                    end: run.end,
                    log: last_lines(&run.log),
                });
            }
            continue;
        }
        reproduction.runs += 1;
        if reproduces(finding.verdict.kind, &run) {
            reproduction.failures += 1;
            if finding.execution.log.is_none() && is_process_end(finding.verdict.kind) {
                finding.execution.log = Some(run.log);
            }
        } else {
            wanted = wanted.max(RUNS_WHEN_FLAKY);
        }
    }
    finding.reproduction = Some(reproduction);
    Ok(reproduction)
}

/// A log of this length may have lost its beginning, and the line before the call with it.
const FLOOD: usize = 32 << 10;

fn reached_call(run: &ScriptRun) -> bool {
    run.log.len() >= FLOOD || run.log.lines().any(|line| line == CALLING)
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

pub(crate) fn is_process_end(kind: OutcomeKind) -> bool {
    matches!(
        kind,
        OutcomeKind::Crash | OutcomeKind::Exit | OutcomeKind::OutOfMemory
    )
}

/// The script reached the call and ended the way a failure of this kind ends.
///
/// A crash counts whatever its signal: memory that was overwritten shows as one signal here and as
/// another there.
pub fn reproduces(kind: OutcomeKind, run: &ScriptRun) -> bool {
    if !reached_call(run) {
        return false;
    }
    let says = |result: &str| run.log.lines().any(|line| line == result);
    match (kind, run.end) {
        (OutcomeKind::Crash, ScriptEnd::Signal(signal)) => fissure_judge::is_fault(signal),
        (OutcomeKind::Crash, ScriptEnd::Exit(_)) => {
            !says(NOT_REPRODUCED) && fissure_judge::handled_fault(&run.log).is_some()
        }
        (OutcomeKind::Exit, ScriptEnd::Exit(_)) => !says(NOT_REPRODUCED),
        (OutcomeKind::Exit, ScriptEnd::Signal(_)) => true,
        (OutcomeKind::Timeout, ScriptEnd::Timeout) => true,
        (OutcomeKind::OutOfMemory, ScriptEnd::OutOfMemory) => true,
        (
            OutcomeKind::InternalError | OutcomeKind::Fatal | OutcomeKind::Nan,
            ScriptEnd::Exit(1),
        ) => says(REPRODUCED),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(end: ScriptEnd, log: &str) -> ScriptRun {
        ScriptRun {
            end,
            log: log.into(),
        }
    }

    #[test]
    fn a_script_that_could_not_even_start_reproduces_nothing() {
        let broken = run(
            ScriptEnd::Exit(1),
            "Traceback (most recent call last):\nImportError: no torch\n",
        );
        for kind in OutcomeKind::ALL {
            assert!(!reproduces(kind, &broken), "{kind}");
        }
    }

    #[test]
    fn a_script_that_was_still_importing_when_its_time_was_up_confirms_no_hang() {
        assert!(!reproduces(
            OutcomeKind::Timeout,
            &run(ScriptEnd::Timeout, "torch 2.9.1\n")
        ));
        assert!(reproduces(
            OutcomeKind::Timeout,
            &run(ScriptEnd::Timeout, CALLING)
        ));
        let flood = "x".repeat(FLOOD);
        assert!(reproduces(
            OutcomeKind::Timeout,
            &run(ScriptEnd::Timeout, &flood)
        ));
    }

    #[test]
    fn each_kind_is_recognised_by_its_own_end() {
        for (kind, end, log) in [
            (OutcomeKind::Crash, ScriptEnd::Signal(11), ""),
            (
                OutcomeKind::Crash,
                ScriptEnd::Exit(255),
                "Segmentation fault: 11\n",
            ),
            (OutcomeKind::Exit, ScriptEnd::Exit(0), ""),
            (OutcomeKind::Timeout, ScriptEnd::Timeout, ""),
            (OutcomeKind::OutOfMemory, ScriptEnd::OutOfMemory, ""),
            (OutcomeKind::InternalError, ScriptEnd::Exit(1), REPRODUCED),
            (OutcomeKind::Nan, ScriptEnd::Exit(1), REPRODUCED),
            (OutcomeKind::Fatal, ScriptEnd::Exit(1), REPRODUCED),
        ] {
            let failed = format!("{CALLING}\n{log}");
            assert!(reproduces(kind, &run(end, &failed)), "{kind} {end:?}");
            let fine = format!("{CALLING}\n{NOT_REPRODUCED}\n");
            assert!(!reproduces(kind, &run(ScriptEnd::Exit(0), &fine)), "{kind}");
        }
    }
}
