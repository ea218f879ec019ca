//! The files that users of DocTer know, in the work folder of one API.
//!
//! Lines are `<path>, <n>`: a path relative to the work folder and the number of the input. An
//! input that was not kept has `-` for its path, so that counting lines still counts inputs.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_judge::{handled_fault, signal_name};
use fissure_model::{Execution, Intent, Outcome, OutcomeKind};

/// Writes the records of one API. Lines are buffered: call [`Records::flush`] before telling
/// anybody that they are there.
pub struct Records {
    dir: PathBuf,
    files: BTreeMap<String, BufWriter<File>>,
}

impl Records {
    /// Makes the work folder if need be, writes `fuzzing_config` (one `key: value` a line) and
    /// continues records that are already there.
    pub fn open(
        dir: &Path,
        config: &serde_json::Map<String, serde_json::Value>,
    ) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let mut text = String::new();
        for (key, value) in config {
            match value {
                // Words and paths stand as they are in YAML; what could be read otherwise is quoted.
                serde_json::Value::String(value) if is_plain(value) => {
                    text.push_str(&format!("{key}: {value}\n"));
                }
                value => text.push_str(&format!("{key}: {value}\n")),
            }
        }
        fs::write(dir.join("fuzzing_config"), text)?;
        let mut records = Records {
            dir: dir.to_owned(),
            files: BTreeMap::new(),
        };
        // There from the start, as a sign that the folder is a work folder.
        records.file("gen_order")?;
        Ok(records)
    }

    /// Takes inputs out of the records that are in a work folder.
    pub fn forget(dir: &Path, unwanted: impl Fn(u64) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy());
            if !name.is_some_and(|name| name == "gen_order" || name.ends_with("_record")) {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let kept: String = text
                .split_inclusive('\n')
                .filter(|line| {
                    let number = line.trim_end().rsplit(", ").next();
                    let number = number.and_then(|number| number.parse().ok());
                    line.ends_with('\n') && number.is_some_and(|number| !unwanted(number))
                })
                .collect();
            if kept.len() < text.len() {
                fs::write(&path, kept)?;
            }
        }
        Ok(())
    }

    /// Records one input. `input_path` and `script_path` are those of its files, if they were kept.
    pub fn input(
        &mut self,
        number: u64,
        kind: OutcomeKind,
        intent: &Intent,
        input_path: Option<&Path>,
        script_path: Option<&Path>,
        execution: &Execution,
    ) -> io::Result<()> {
        let input = self.relative(input_path);
        let script = script_path.map(|path| self.relative(Some(path)));
        let script = script.as_deref();
        self.line("gen_order", &input, number)?;
        if let Some(script) = script {
            self.line("script_record", script, number)?;
        }
        if is_exception(kind) {
            self.line("exception_record", &input, number)?;
        }
        if is_failure(kind, intent) {
            self.line("failure_record", &input, number)?;
            if let Some(script) = script {
                self.line("failure_script_record", script, number)?;
            }
        }
        if kind == OutcomeKind::Timeout {
            self.line("timeout_record", &input, number)?;
        }
        if let Some(name) = kind_name(kind, execution) {
            self.line(&format!("{name}_record"), &input, number)?;
            if let Some(script) = script {
                self.line(&format!("{name}_script_record"), script, number)?;
            }
        }
        Ok(())
    }

    /// Everything recorded so far is in the files.
    pub fn flush(&mut self) -> io::Result<()> {
        self.files.values_mut().try_for_each(BufWriter::flush)
    }

    /// Writes `fuzz_time` (seconds) and `mutate_op_coverage.csv`, and closes the records.
    pub fn finish(mut self, elapsed: Duration, coverage_csv: &str) -> io::Result<()> {
        self.flush()?;
        fs::write(
            self.dir.join("fuzz_time"),
            format!("{}\n", elapsed.as_secs_f64()),
        )?;
        fs::write(self.dir.join("mutate_op_coverage.csv"), coverage_csv)
    }

    fn line(&mut self, name: &str, path: &str, number: u64) -> io::Result<()> {
        writeln!(self.file(name)?, "{path}, {number}")
    }

    fn file(&mut self, name: &str) -> io::Result<&mut BufWriter<File>> {
        // Two lookups, because a name is copied only for the first line of its file.
        if !self.files.contains_key(name) {
            let path = self.dir.join(name);
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            self.files.insert(name.to_owned(), BufWriter::new(file));
        }
        Ok(self.files.get_mut(name).expect("inserted above"))
    }

    fn relative(&self, path: Option<&Path>) -> String {
        match path {
            None => "-".into(),
            Some(path) => path
                .strip_prefix(&self.dir)
                .unwrap_or(path)
                .to_string_lossy()
                .into_owned(),
        }
    }
}

fn is_exception(kind: OutcomeKind) -> bool {
    matches!(
        kind,
        OutcomeKind::Rejected
            | OutcomeKind::InternalError
            | OutcomeKind::Fatal
            | OutcomeKind::NotBuilt
    )
}

/// Not what the input was made for: a conforming one raised, a violating one was accepted.
fn is_failure(kind: OutcomeKind, intent: &Intent) -> bool {
    match intent {
        Intent::Conform | Intent::Ignore => is_exception(kind),
        Intent::Violate { .. } | Intent::BreakRule { .. } => {
            matches!(kind, OutcomeKind::Accepted | OutcomeKind::Nan)
        }
    }
}

/// DocTer's name for a crash or for one of the outcomes that it files with them.
fn kind_name(kind: OutcomeKind, execution: &Execution) -> Option<&'static str> {
    let by_signal = |name: &str| match name {
        "SIGSEGV" => "Segmentation_fault",
        "SIGFPE" => "Floating_point_exception",
        "SIGBUS" => "Bus_Error",
        "SIGILL" => "Illegal_instruction",
        // Traps and forbidden system calls have no file of their own.
        _ => "Abort",
    };
    match (kind, &execution.outcome) {
        (OutcomeKind::Crash, Outcome::Crash { signal }) => Some(by_signal(&signal_name(*signal))),
        (OutcomeKind::Crash, _) => Some(by_signal(
            execution
                .log
                .as_deref()
                .and_then(handled_fault)
                .unwrap_or("SIGABRT"),
        )),
        (OutcomeKind::Exit, Outcome::Crash { .. }) | (OutcomeKind::OutOfMemory, _) => Some("Kill"),
        (OutcomeKind::Exit, _) => Some("System_Exit"),
        (OutcomeKind::Nan, _) => Some("Nan"),
        (_, Outcome::Fatal(exception)) if exception.class == "SystemExit" => Some("System_Exit"),
        (_, Outcome::Rejected(exception)) if exception.class == "ZeroDivisionError" => {
            Some("Division_By_Zero")
        }
        _ => None,
    }
}

/// Whether a text is a text in YAML without quotes.
fn is_plain(text: &str) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || "_./-".contains(letter);
    let is_word = text.chars().all(word)
        && text.starts_with(|it: char| it.is_alphabetic() || "./".contains(it));
    is_word
        && !matches!(
            text,
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}
