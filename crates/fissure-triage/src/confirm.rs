//! Does a finding's script fail in a fresh process, and how reliably?

use std::io;
use std::path::Path;
use std::time::Instant;

use fissure_model::{Finding, OutcomeKind, Reproduction};

use crate::error::TriageError;
use crate::failure::report_of;
use crate::script::{CALLING, NOT_REPRODUCED, PEAK_MEMORY, REPRODUCED, script, trials};

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

/// The memory a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLimit {
    Usual,
    /// A multiple of that, to tell a call that needs much from one that never has enough. A runner
    /// that cannot give it answers with [`io::ErrorKind::Unsupported`].
    Larger,
}

/// Starts one process with the script at this path.
pub type ScriptRunner<'a> = dyn FnMut(&Path, MemoryLimit) -> io::Result<ScriptRun> + 'a;

/// Every finding is tried this often: fewer runs give no figure worth printing.
const RUNS: u32 = 3;

/// How often a finding is tried if so many runs are asked for.
pub fn runs(asked: u32) -> u32 {
    asked.max(RUNS)
}

/// Runs the finding's script in fresh processes and notes in the finding how it behaved.
///
/// At least `runs` processes, and at least three, are started. The time limit of a run must leave
/// room for importing the library: a run that ends before the call says nothing about the failure
/// and is not counted, and when it happens again and again, that is an error.
///
/// A finding that was made small and then never fails in a fresh process gets its first input back
/// and is tried again. The script is written into a folder of its own below `folder`. A call that took all memory is tried once more with a larger limit: one that
/// then comes back only needs much, and becomes a note.
pub fn confirm(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    runs: u32,
    folder: &Path,
) -> Result<Reproduction, TriageError> {
    let mut reproduction = try_script(finding, runner, runs, folder)?;
    // A comparing oracle's check was written for the small input: the other one needs its own.
    let restorable = finding.execution.reports.is_empty() || !finding.unshrunk_reports.is_empty();
    let first_reports = std::mem::take(&mut finding.unshrunk_reports);
    if reproduction.failures == 0
        && restorable
        && let Some(unshrunk) = finding.unshrunk.take()
    {
        finding.input = *unshrunk;
        finding.execution.reports = first_reports;
        finding.roles.clear();
        finding.remarks.push(
            "A smaller input failed only in a process that had run others before it.".to_owned(),
        );
        reproduction = try_script(finding, runner, runs, folder)?;
    }
    if finding.verdict.kind == OutcomeKind::Timeout && !reproduction.is_stable() {
        finding.verdict.note = true;
        finding
            .remarks
            .push("The call takes long, and ends: it is slow and does not hang.".to_owned());
    }
    finding.reproduction = Some(reproduction);
    if reproduction.failures > 0 {
        write_plainly(finding, runner, folder)?;
    }
    Ok(reproduction)
}

/// Runs the script of a finding that was confirmed once more, and counts that.
pub fn confirm_once_more(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    folder: &Path,
) -> Result<(), TriageError> {
    let before = finding.reproduction.unwrap_or(Reproduction {
        failures: 0,
        runs: 0,
    });
    let once = try_times(finding, runner, 1, folder)?;
    finding.reproduction = Some(Reproduction {
        failures: before.failures + once.failures,
        runs: before.runs + once.runs,
    });
    Ok(())
}

/// The oracle's check as a few plain lines, if those show the failure in a process of their own.
fn write_plainly(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    folder: &Path,
) -> Result<(), TriageError> {
    let folder = tempfile::Builder::new()
        .tempdir_in(folder)
        .map_err(TriageError::io("create a folder in", folder))?;
    let path = folder.path().join("lines.py");
    let mut found = None;
    for trial in trials(finding) {
        std::fs::write(&path, trial.script()).map_err(TriageError::io("write", &path))?;
        // A run that cannot be made leaves the check as it is.
        let Ok(run) = runner(&path, MemoryLimit::Usual) else {
            break;
        };
        found = trial.shown_by(&run);
        if found.is_some() {
            break;
        }
    }
    let at = report_of(&finding.verdict, &finding.execution).and_then(|report| {
        let reports = &finding.execution.reports;
        reports.iter().position(|one| std::ptr::eq(one, report))
    });
    if let Some(at) = at {
        finding.execution.reports[at].flat = found;
    }
    Ok(())
}

fn try_script(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    runs: u32,
    folder: &Path,
) -> Result<Reproduction, TriageError> {
    try_times(finding, runner, self::runs(runs), folder)
}

fn try_times(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    wanted: u32,
    folder: &Path,
) -> Result<Reproduction, TriageError> {
    std::fs::create_dir_all(folder).map_err(TriageError::io("create", folder))?;
    let folder = tempfile::Builder::new()
        .tempdir_in(folder)
        .map_err(TriageError::io("create a folder in", folder))?;
    let path = folder.path().join("reproduce.py");
    std::fs::write(&path, script(finding)).map_err(TriageError::io("write", &path))?;
    let mut reproduction = Reproduction {
        failures: 0,
        runs: 0,
    };
    let mut not_reached = 0;
    while reproduction.runs < wanted {
        let begun = Instant::now();
        let run = runner(&path, MemoryLimit::Usual).map_err(TriageError::io("run", &path))?;
        if !reached_call(&run) {
            not_reached += 1;
            if not_reached == RUNS {
                return Err(TriageError::NotReached {
                    end: run.end,
                    log: last_lines(&run.log),
                });
            }
            continue;
        }
        reproduction.runs += 1;
        if finding.verdict.kind == OutcomeKind::Timeout && run.end != ScriptEnd::Timeout {
            // Trying it again would only take as long again.
            break;
        }
        if reproduces(finding.verdict.kind, &run) {
            reproduction.failures += 1;
            if run.end == ScriptEnd::Timeout {
                // The worker may have ended it early, to go on with other calls.
                let duration = &mut finding.execution.duration;
                *duration = begun.elapsed().max(*duration);
            }
            if is_process_end(finding.verdict.kind) {
                // What a reader will see too; the worker's log has Fissure's own frames.
                finding.execution.log = Some(run.log);
            }
        }
    }
    if finding.verdict.kind == OutcomeKind::OutOfMemory && reproduction.failures > 0 {
        try_larger_limit(finding, runner, &path)?;
    }
    Ok(reproduction)
}

/// A call that took all memory: does it only need more?
fn try_larger_limit(
    finding: &mut Finding,
    runner: &mut ScriptRunner<'_>,
    path: &Path,
) -> Result<(), TriageError> {
    let run = match runner(path, MemoryLimit::Larger) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            finding
                .remarks
                .push(format!("It was not tried with more memory: {error}."));
            return Ok(());
        }
        run => run.map_err(TriageError::io("run", path))?,
    };
    if run.end == ScriptEnd::OutOfMemory {
        finding
            .remarks
            .push("It takes more than a larger limit, too.".to_owned());
    } else if run.log.lines().any(|line| line == NOT_REPRODUCED) {
        let peak = run
            .log
            .lines()
            .find_map(|line| line.strip_prefix(PEAK_MEMORY))
            .unwrap_or("more than the limit");
        finding.remarks.push(format!("It needs about {peak}."));
        finding.verdict.note = true;
    }
    Ok(())
}

/// A log of this length may have lost its beginning, and the line before the call with it.
const FLOOD: usize = 32 << 10;

pub(crate) fn reached_call(run: &ScriptRun) -> bool {
    run.log.len() >= FLOOD || run.log.lines().any(|line| line == CALLING)
}

pub(crate) fn last_lines(log: &str) -> String {
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
            OutcomeKind::InternalError
            | OutcomeKind::Fatal
            | OutcomeKind::Nan
            | OutcomeKind::WrongResult,
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
            (OutcomeKind::WrongResult, ScriptEnd::Exit(1), REPRODUCED),
        ] {
            let failed = format!("{CALLING}\n{log}");
            assert!(reproduces(kind, &run(end, &failed)), "{kind} {end:?}");
            let fine = format!("{CALLING}\n{NOT_REPRODUCED}\n");
            assert!(!reproduces(kind, &run(ScriptEnd::Exit(0), &fine)), "{kind}");
        }
    }
}
