//! What is kept of an API's inputs: files of inputs and scripts, and DocTer's records.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_model::{Api, ConcreteInput, Execution, Mode, OutcomeKind};
use fissure_triage::Records;
use serde::Serialize;

use crate::{RunOptions, StoreError};

/// Failing inputs of one API that are kept as files; further ones are recorded without. A function
/// that gives NaN for every other input would fill a disk, and the seed makes each of them again.
const FILES: u64 = 1000;

/// The work folder of one API.
pub(crate) struct Keeper {
    dir: PathBuf,
    records: Records,
    save: bool,
    scripts: bool,
    /// Failing inputs kept as files.
    kept: u64,
}

/// `inputs/N.json`: the call as plain data.
#[derive(Serialize)]
struct InputFile<'a> {
    api: &'a Api,
    input: &'a ConcreteInput,
}

impl Keeper {
    pub(crate) fn open(dir: &Path, api: &Api, options: &RunOptions) -> Result<Self, StoreError> {
        let records = Records::open(dir, &config(dir, api, options)).map_err(at(dir))?;
        Ok(Keeper {
            dir: dir.to_owned(),
            records,
            save: options.save,
            scripts: options.scripts,
            kept: 0,
        })
    }

    /// Takes inputs out of the records of a work folder.
    pub(crate) fn forget(dir: &Path, unwanted: impl Fn(u64) -> bool) -> Result<(), StoreError> {
        if dir.is_dir() {
            Records::forget(dir, unwanted).map_err(at(dir))?;
        }
        Ok(())
    }

    /// Records one input, and keeps it as a file if it failed (and not too many did before it) or
    /// if every input is kept.
    pub(crate) fn keep(
        &mut self,
        api: &Api,
        input: &ConcreteInput,
        execution: &Execution,
    ) -> Result<(), StoreError> {
        let kind = fissure_judge::kind(execution);
        let ordinary = matches!(
            kind,
            OutcomeKind::Accepted | OutcomeKind::Rejected | OutcomeKind::NotBuilt
        );
        let (mut input_path, mut script_path) = (None, None);
        let failing = !ordinary && self.kept < FILES;
        if self.save || failing {
            self.kept += u64::from(failing);
            let text = serde_json::to_string(&InputFile { api, input })
                .expect("an input is plain data and always serialises");
            input_path = Some(self.write("inputs", input.number, "json", &text)?);
        }
        if self.scripts {
            let script = fissure_triage::script_for_input(api, input);
            let path = self.write("scripts", input.number, "py", &script)?;
            // A record names a file from which the input can be had.
            input_path.get_or_insert_with(|| path.clone());
            script_path = Some(path);
        }
        self.records
            .input(
                input.number,
                kind,
                &input.intent,
                input_path.as_deref(),
                script_path.as_deref(),
                execution,
            )
            .map_err(at(&self.dir))
    }

    fn write(
        &self,
        folder: &str,
        number: u64,
        extension: &str,
        text: &str,
    ) -> Result<PathBuf, StoreError> {
        let folder = self.dir.join(folder);
        let path = folder.join(format!("{number:06}.{extension}"));
        match fs::write(&path, text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&folder)
                .and_then(|()| fs::write(&path, text))
                .map_err(at(&path))?,
            written => written.map_err(at(&path))?,
        }
        Ok(path)
    }

    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.records.flush().map_err(at(&self.dir))
    }

    pub(crate) fn finish(self, elapsed: Duration, coverage_csv: &str) -> Result<(), StoreError> {
        self.records
            .finish(elapsed, coverage_csv)
            .map_err(at(&self.dir))
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    StoreError::at("write", path)
}

/// The settings under DocTer's names.
fn config(
    dir: &Path,
    api: &Api,
    options: &RunOptions,
) -> serde_json::Map<String, serde_json::Value> {
    let generate = &options.generate;
    let serde_json::Value::Object(mut config) = serde_json::json!({
        "target": api.title,
        "workdir": dir,
        "mode": generate.mode.to_string(),
        "obey": generate.mode == Mode::Conform,
        "ignore": generate.mode == Mode::Ignore,
        "fuzz_optional_p": generate.optional_ratio,
        "mutate_p": generate.mutate_ratio,
        "guided_mutate": generate.guided_mutation,
        "special_value": generate.special_values,
        "model_test": generate.layer_call,
        "check_nan": options.check_nan,
        "gen_script": options.scripts,
        "save": options.save,
        // There, 0 is no limit of its own and -1 no end.
        "max_iter": options.max_inputs.map_or(-1, |inputs| i64::try_from(inputs).unwrap_or(i64::MAX)),
        "max_time": options.max_time.map_or(0.0, |time| time.as_secs_f64()),
        "seed": options.seed,
    }) else {
        unreachable!("the macro above makes an object")
    };
    config.extend(options.recorded.clone());
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::{Intent, Outcome};

    #[test]
    fn a_function_that_always_fails_does_not_fill_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let api = Api::default();
        let mut keeper = Keeper {
            dir: dir.path().to_owned(),
            records: Records::open(dir.path(), &serde_json::Map::new()).unwrap(),
            save: false,
            scripts: false,
            kept: 0,
        };
        for number in 0..FILES + 5 {
            let input = ConcreteInput {
                number,
                arguments: Vec::new(),
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: Vec::new(),
            };
            let execution = Execution::new(number, Outcome::Timeout, Duration::ZERO);
            keeper.keep(&api, &input, &execution).unwrap();
        }
        let files = fs::read_dir(dir.path().join("inputs")).unwrap().count();
        assert_eq!(files as u64, FILES);
    }

    #[test]
    fn scripts_alone_are_kept_for_every_input_and_named_in_every_record() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper {
            dir: dir.path().to_owned(),
            records: Records::open(dir.path(), &serde_json::Map::new()).unwrap(),
            save: false,
            scripts: true,
            kept: 0,
        };
        let crash = Outcome::Crash { signal: 11 };
        let outcomes = [Outcome::Accepted { nan: false }, crash];
        for (number, outcome) in (0..).zip(outcomes) {
            let input = ConcreteInput {
                number,
                arguments: Vec::new(),
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: Vec::new(),
            };
            let execution = Execution::new(number, outcome, Duration::ZERO);
            keeper.keep(&Api::default(), &input, &execution).unwrap();
        }
        keeper.flush().unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            read("script_record"),
            "scripts/000000.py, 0\nscripts/000001.py, 1\n"
        );
        assert_eq!(
            read("gen_order"),
            "scripts/000000.py, 0\ninputs/000001.json, 1\n"
        );
        let crashes = read("Segmentation_fault_script_record");
        assert_eq!(crashes, "scripts/000001.py, 1\n");
        assert!(dir.path().join("scripts/000000.py").is_file());
    }
}
