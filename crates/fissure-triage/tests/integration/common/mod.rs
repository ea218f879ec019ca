//! Builders and a Python for the tests of this crate.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fissure_judge::JudgeOptions;
use fissure_model::{
    Api, Argument, ConcreteInput, Dtype, Exception, Execution, Finding, Intent, Outcome, Passing,
    TensorData, TensorValue, Value, Verdict,
};
use fissure_triage::{ScriptEnd, ScriptRun, finding_id, signature};

pub(crate) fn api(path: &str) -> Api {
    Api {
        title: path.into(),
        package: path
            .split('.')
            .next()
            .expect("split gives at least one part")
            .into(),
        path: path.into(),
        version: "1".into(),
        ..Api::default()
    }
}

pub(crate) fn keyword(name: &str, value: Value) -> Argument {
    Argument {
        name: name.into(),
        passing: Passing::Keyword,
        value,
    }
}

pub(crate) fn positional(value: Value) -> Argument {
    Argument {
        name: "args".into(),
        passing: Passing::Positional,
        value,
    }
}

pub(crate) fn input(arguments: Vec<Argument>) -> ConcreteInput {
    ConcreteInput {
        number: 7,
        arguments,
        layer_arguments: None,
        intent: Intent::Conform,
        mutations: Vec::new(),
    }
}

pub(crate) fn tensor(dtype: Dtype, shape: &[u64], pattern: Vec<u8>) -> TensorValue {
    TensorValue {
        dtype,
        shape: shape.to_vec(),
        data: TensorData {
            pattern: pattern.into(),
        },
    }
}

pub(crate) fn floats(shape: &[u64], values: &[f32]) -> TensorValue {
    let bytes = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    tensor(Dtype::Float32, shape, bytes)
}

pub(crate) fn exception(class: &str, message: &str) -> Exception {
    Exception {
        class: class.into(),
        message: message.into(),
        ..Exception::default()
    }
}

pub(crate) fn execution(outcome: Outcome, log: Option<String>) -> Execution {
    Execution {
        log,
        ..Execution::new(7, outcome, Duration::from_millis(3))
    }
}

/// A finding as the pipeline makes it; panics when the judge sees nothing.
pub(crate) fn finding(api: Api, input: ConcreteInput, execution: Execution) -> Finding {
    let options = JudgeOptions { check_nan: true };
    let verdict: Verdict = fissure_judge::judge(&api, &input, &execution, &options)
        .expect("a test's failure is a failure");
    let signature = signature(&api, &verdict, &execution);
    Finding {
        id: finding_id(&api, &verdict, &signature),
        signature: signature.text().to_owned(),
        library_version: "1.0".into(),
        python_version: "3.11.7".into(),
        seed: 1,
        ..Finding::new(api, verdict, input, execution)
    }
}

/// A Python that starts, by the name of its program.
pub(crate) fn python(program: &str) -> Option<PathBuf> {
    let output = Command::new(program)
        .args(["-c", "import sys; print(sys.executable)"])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| {
        PathBuf::from(
            String::from_utf8(output.stdout)
                .expect("a path of text")
                .trim(),
        )
    })
}

/// The oldest Python that scripts must parse in, from the path or from pyenv.
pub(crate) fn oldest_python() -> Option<PathBuf> {
    let versions = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")))?
        .join("versions");
    let from_pyenv = std::fs::read_dir(versions)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("3.7."))
        .find_map(|entry| python(entry.path().join("bin/python3").to_str()?));
    python("python3.7").or(from_pyenv)
}

pub(crate) fn python3() -> PathBuf {
    python("python3").expect("the tests of this crate need python3")
}

/// Long enough for a library to be imported on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a script file with modules from `path`, and ends it after `limit`.
pub(crate) fn run(python: &Path, script: &Path, path: &Path, limit: Duration) -> ScriptRun {
    use std::os::unix::process::ExitStatusExt;

    let log_path = script.with_extension("log");
    let log = std::fs::File::create(&log_path).expect("a test folder is writable");
    let mut child = Command::new(python)
        .arg("-u")
        .arg(script)
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a file handle can be copied"))
        .stderr(log)
        .spawn()
        .expect("python starts");
    let begin = Instant::now();
    let end = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => {
                break match status.signal() {
                    Some(signal) => ScriptEnd::Signal(signal),
                    None => ScriptEnd::Exit(status.code().expect("no signal, so a code")),
                };
            }
            None if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(10)),
            None => {
                child.kill().expect("a child can be killed");
                child.wait().expect("a child can be waited for");
                break ScriptEnd::Timeout;
            }
        }
    };
    let log = std::fs::read(&log_path).expect("the log was just written");
    ScriptRun {
        end,
        log: String::from_utf8_lossy(&log).into_owned(),
    }
}

/// Writes a script into `folder` and runs it.
pub(crate) fn run_text(python: &Path, text: &str, folder: &Path) -> ScriptRun {
    let script = folder.join("reproduce.py");
    std::fs::write(&script, text).expect("a test folder is writable");
    run(python, &script, folder, PATIENCE)
}
