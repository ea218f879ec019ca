//! Scripts of many findings in one plain interpreter: it imports the library once, without anything of Fissure, and each
//! script runs in a fork of it.

use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_execute::{ScriptOptions, run_script};
use fissure_triage::{ScriptEnd, ScriptRun};
use serde::Deserialize;

/// Time that each script has at most.
const EACH: Duration = Duration::from_secs(20);
/// Bytes of each script's output that are kept, from its end, and of the whole answer.
const KEPT: u64 = 48 << 10;
/// The driver, after lines that say `PACKAGE`, `ANSWERS`, `EACH`, `KEPT` and `SCRIPTS`.
const DRIVER: &str = r#"
import importlib
import json
import os
import runpy
import signal
import sys
import time

importlib.import_module(PACKAGE)
answers = open(ANSWERS, "w")
for script in SCRIPTS:
    log = ANSWERS + ".log"
    output = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
    child = os.fork()
    if not child:
        answers.close()
        os.setpgid(0, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        sys.argv = [script]
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="__main__")
        sys.exit(0)
    deadline = time.monotonic() + EACH
    ended = 0
    while not ended and time.monotonic() < deadline:
        time.sleep(0.005)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        end = "timeout"
    elif os.WIFSIGNALED(status):
        end = {"signal": os.WTERMSIG(status)}
    else:
        end = {"exit": os.WEXITSTATUS(status)}
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        pass
    os.lseek(output, max(0, os.fstat(output).st_size - KEPT), os.SEEK_SET)
    text = os.read(output, KEPT).decode("utf-8", "replace")
    os.close(output)
    json.dump({"end": end, "log": text}, answers)
    answers.write("\n")
    answers.flush()
"#;

#[derive(Deserialize)]
struct Answer {
    end: End,
    log: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Exit(i32),
    Signal(i32),
    Timeout,
}

/// Runs each script once. `start`: what the import of the library may take. The answers are those of the first scripts; they
/// are fewer where the interpreter itself came to an end.
pub(crate) fn run_together(
    python: &Path,
    package: &str,
    scripts: &[PathBuf],
    folder: &Path,
    options: &ScriptOptions,
    start: Duration,
) -> io::Result<Vec<ScriptRun>> {
    let work = options.scratch.join("work");
    std::fs::create_dir_all(&work)?;
    // Written by a process that runs code of others: a new file, whatever it holds.
    let answers = tempfile::Builder::new()
        .prefix("answers-")
        .tempfile_in(&work)?;
    let texts: Vec<String> = scripts.iter().map(|path| quoted(path)).collect();
    let mut driver = String::new();
    let _ = write!(
        driver,
        "PACKAGE = {}\nANSWERS = {}\nEACH = {}\nKEPT = {KEPT}\nSCRIPTS = [{}]\n{DRIVER}",
        serde_json::Value::from(package),
        quoted(answers.path()),
        EACH.as_secs(),
        texts.join(", "),
    );
    let path = folder.join("together.py");
    std::fs::write(&path, driver)?;
    let mut options = options.clone();
    options.timeout = start + EACH * u32::try_from(scripts.len()).unwrap_or(u32::MAX);
    // What a fork shares with the interpreter is counted for both.
    options.memory_limit *= 2;
    // However it ended: what is answered by then is known.
    run_script(python, &path, options).map_err(io::Error::other)?;
    let mut text = String::new();
    let most = scripts.len() as u64 * (6 * KEPT + 100);
    answers.as_file().take(most).read_to_string(&mut text)?;
    Ok(read(&text, scripts.len()))
}

/// A path as Python and JSON both write a text. Folders of runs are text (`names.rs` of the command line refuses others).
fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}

fn read(text: &str, scripts: usize) -> Vec<ScriptRun> {
    text.lines()
        .take(scripts)
        .map_while(|line| serde_json::from_str(line).ok())
        .map(|answer: Answer| ScriptRun {
            end: match answer.end {
                End::Exit(code) => ScriptEnd::Exit(code),
                End::Signal(signal) => ScriptEnd::Signal(signal),
                End::Timeout => ScriptEnd::Timeout,
            },
            log: answer.log,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use fissure_execute::SandboxOptions;

    use super::*;

    #[test]
    fn each_script_ends_as_in_an_interpreter_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let texts = [
            "import sys; print(__name__, sys.argv[0].endswith('0.py')); sys.exit(3)",
            "import os, signal; print('going', flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
            "raise ValueError('no')",
            "import sys; sys.stdout.write('x' * 200000 + 'end')",
        ];
        let scripts: Vec<PathBuf> = (0..)
            .zip(texts)
            .map(|(at, text)| {
                let path = folder.path().join(format!("{at}.py"));
                std::fs::write(&path, text).unwrap();
                path
            })
            .collect();
        let options = ScriptOptions {
            timeout: Duration::from_secs(60),
            memory_limit: 1 << 30,
            scratch: folder.path().join("scratch"),
            sandbox: SandboxOptions::default(),
            environment: Vec::new(),
            cancelled: Arc::new(AtomicBool::new(false)),
        };
        let python = Path::new("python3");
        let start = Duration::from_secs(60);
        let runs = run_together(python, "json", &scripts, folder.path(), &options, start).unwrap();
        let ends: Vec<ScriptEnd> = runs.iter().map(|run| run.end).collect();
        assert_eq!(
            ends,
            [
                ScriptEnd::Exit(3),
                ScriptEnd::Signal(11),
                ScriptEnd::Exit(1),
                ScriptEnd::Exit(0)
            ]
        );
        assert_eq!(runs[0].log, "__main__ True\n");
        assert!(runs[1].log.starts_with("going\n"));
        assert!(runs[2].log.contains("ValueError: no"));
        assert!(runs[3].log.ends_with("xend") && runs[3].log.len() as u64 == KEPT);
    }

    #[test]
    fn what_is_no_answer_ends_the_answers() {
        let good = r#"{"end": {"exit": 1}, "log": "a"}"#;
        let text = format!("{good}\n{{\"end\": \"later\"}}\n{good}\n");
        assert_eq!(read(&text, 3).len(), 1);
        assert_eq!(read(&format!("{good}\n{good}\n"), 1).len(), 1);
    }
}
