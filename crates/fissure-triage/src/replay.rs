//! Does a finding still hold, with another version of the library perhaps?

use std::io;
use std::path::Path;

use fissure_model::{Finding, OutcomeKind, Verdict};
use serde::Serialize;

use crate::confirm::{ScriptEnd, ScriptRun, last_lines, reached_call, reproduces};
use crate::error::TriageError;
use crate::script::NOT_REPRODUCED;

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", content = "what", rename_all = "kebab-case")]
pub enum Replay {
    /// As it was.
    StillFails,
    /// The call now gives this instead.
    Fixed(String),
    /// The same in a version older than the one it was found in: it broke later.
    NotYetBroken(String),
    /// It fails in another way.
    Changed(String),
    /// Nothing can be said, and why.
    CannotRun(String),
}

impl Replay {
    pub fn name(&self) -> &'static str {
        match self {
            Replay::StillFails => "still fails",
            Replay::Fixed(_) => "fixed",
            Replay::NotYetBroken(_) => "not yet broken",
            Replay::Changed(_) => "changed",
            Replay::CannotRun(_) => "cannot run",
        }
    }

    /// In a few words, without the name.
    pub fn detail(&self) -> &str {
        match self {
            Replay::StillFails => "",
            Replay::Fixed(text)
            | Replay::NotYetBroken(text)
            | Replay::Changed(text)
            | Replay::CannotRun(text) => text,
        }
    }

    /// The same as said of a version that came before the one the failure was found in.
    pub fn in_an_older_version(self) -> Replay {
        match self {
            Replay::Fixed(text) => Replay::NotYetBroken(text),
            other => other,
        }
    }

    /// There is a failure to see.
    pub fn fails(&self) -> bool {
        matches!(self, Replay::StillFails | Replay::Changed(_))
    }
}

/// A finding that did not fail every time is run this often before it counts as fixed.
const RUNS_OF_FLAKY: u32 = 5;
/// A script that does not end although its finding is no hang is run so often before that counts:
/// on a crowded machine the import alone may have taken the time.
const RUNS_OF_SLOW: u32 = 3;

/// Runs the script of a finding, as it lies in its folder, until it fails; once if the finding was
/// stable.
pub fn replay(
    finding: &Finding,
    script: &Path,
    runner: &mut dyn FnMut(&Path) -> io::Result<ScriptRun>,
) -> Result<Replay, TriageError> {
    let runs = match finding.reproduction {
        Some(tried) if !tried.is_stable() => RUNS_OF_FLAKY,
        _ => 1,
    };
    let mut last = Replay::CannotRun("it was not run".to_owned());
    let (mut tried, mut slow) = (0, 0);
    while tried < runs {
        let run = runner(script).map_err(TriageError::io("run", script))?;
        last = replay_script(&finding.verdict, &run);
        if run.end == ScriptEnd::Timeout && finding.verdict.kind != OutcomeKind::Timeout {
            slow += 1;
            if slow < RUNS_OF_SLOW {
                continue;
            }
        }
        if !matches!(last, Replay::Fixed(_)) {
            break;
        }
        tried += 1;
    }
    Ok(last)
}

/// What one run of a finding's script says about it.
pub fn replay_script(verdict: &Verdict, run: &ScriptRun) -> Replay {
    if !reached_call(run) {
        return Replay::CannotRun(reason(run));
    }
    if reproduces(verdict.kind, run) {
        return match run.end {
            ScriptEnd::Signal(signal) if verdict.kind == OutcomeKind::Crash => {
                let name = fissure_judge::signal_name(signal);
                if verdict.detail.starts_with(&*name) {
                    Replay::StillFails
                } else {
                    Replay::Changed(format!("dies of {name}, it was {}", verdict.detail))
                }
            }
            _ => Replay::StillFails,
        };
    }
    let observed = run
        .log
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("observed: "))
        .unwrap_or("nothing");
    let finished = run.log.lines().any(|line| line == NOT_REPRODUCED);
    if run.end != ScriptEnd::Exit(0) || !finished {
        return Replay::Changed(ending(run));
    }
    if cannot_be_called(observed) {
        return Replay::CannotRun(observed.to_owned());
    }
    if verdict.kind == OutcomeKind::WrongResult && observed.starts_with("raised ") {
        return Replay::Changed(observed.to_owned());
    }
    Replay::Fixed(observed.to_owned())
}

/// The exception says that this version of the library has no such function, parameter or type,
/// which is no word about the failure.
fn cannot_be_called(observed: &str) -> bool {
    let Some(error) = observed.strip_prefix("raised ") else {
        return false;
    };
    (error.starts_with("AttributeError: ") && error.contains("has no attribute"))
        || (error.starts_with("TypeError: ") && error.contains("unexpected keyword argument"))
        || (error.starts_with("TypeError: ") && error.contains("invalid keyword argument"))
        || error.starts_with("NotImplementedError: cannot build")
}

fn reason(run: &ScriptRun) -> String {
    match run.end {
        ScriptEnd::Timeout => "the library was not imported in time".to_owned(),
        ScriptEnd::OutOfMemory => "the library needs more memory than the limit".to_owned(),
        _ => last_lines(&run.log)
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .map_or_else(|| ending(run), str::to_owned),
    }
}

fn ending(run: &ScriptRun) -> String {
    match run.end {
        ScriptEnd::Exit(code) => format!("the script ended with code {code}"),
        ScriptEnd::Signal(signal) => format!("dies of {}", fissure_judge::signal_name(signal)),
        ScriptEnd::Timeout => "does not end".to_owned(),
        ScriptEnd::OutOfMemory => "takes all memory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{CALLING, REPRODUCED};
    use fissure_model::Confidence;

    fn verdict(kind: OutcomeKind, detail: &str) -> Verdict {
        Verdict {
            kind,
            oracle: fissure_model::Oracle::default(),
            confidence: Confidence::Crash,
            detail: detail.into(),
            note: false,
        }
    }

    fn run(end: ScriptEnd, log: &str) -> ScriptRun {
        ScriptRun {
            end,
            log: format!("{CALLING}\n{log}\n"),
        }
    }

    #[test]
    fn a_crash_that_is_an_exception_now_is_fixed() {
        let crash = verdict(OutcomeKind::Crash, "SIGFPE");
        let log = format!("observed: raised RuntimeError: stride too large\n{NOT_REPRODUCED}");
        assert_eq!(
            replay_script(&crash, &run(ScriptEnd::Exit(0), &log)),
            Replay::Fixed("raised RuntimeError: stride too large".into())
        );
    }

    #[test]
    fn another_signal_another_end_or_an_exception_from_a_check_is_a_change() {
        let crash = verdict(OutcomeKind::Crash, "SIGFPE");
        assert_eq!(
            replay_script(&crash, &run(ScriptEnd::Signal(8), "")),
            Replay::StillFails
        );
        for end in [
            ScriptEnd::Signal(11),
            ScriptEnd::Timeout,
            ScriptEnd::Exit(3),
        ] {
            let outcome = replay_script(&crash, &run(end, ""));
            assert!(matches!(outcome, Replay::Changed(_)), "{outcome:?}");
        }
        let wrong = verdict(OutcomeKind::WrongResult, "values");
        let raised = format!("observed: raised RuntimeError: no\n{NOT_REPRODUCED}");
        assert_eq!(
            replay_script(&wrong, &run(ScriptEnd::Exit(0), &raised)),
            Replay::Changed("raised RuntimeError: no".into())
        );
        assert_eq!(
            replay_script(&wrong, &run(ScriptEnd::Exit(1), REPRODUCED)),
            Replay::StillFails
        );
    }

    #[test]
    fn a_function_that_is_not_there_or_a_library_that_does_not_import_says_nothing() {
        let crash = verdict(OutcomeKind::Crash, "SIGFPE");
        let log = format!(
            "observed: raised AttributeError: module 'x' has no attribute 'y'\n{NOT_REPRODUCED}"
        );
        let missing = replay_script(&crash, &run(ScriptEnd::Exit(0), &log));
        assert_eq!(missing.name(), "cannot run");
        let broken = ScriptRun {
            end: ScriptEnd::Exit(1),
            log: "Traceback (most recent call last):\nImportError: libc is too old\n\n".into(),
        };
        assert_eq!(
            replay_script(&crash, &broken),
            Replay::CannotRun("ImportError: libc is too old".into())
        );
    }
}
