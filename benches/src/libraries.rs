//! The constraint files of other libraries, run as `fissure fuzz` would run them but without triage.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use fissure_campaign::DenyList;
use fissure_execute::{Batch, Event, Pool, PoolOptions};
use fissure_generate::{GenerateOptions, Generator};
use fissure_model::{ConcreteInput, Execution, Outcome, Spec};

/// A library in one version, and the folder of constraint files written for it.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    pub package: &'static str,
    pub requirement: &'static str,
    pub files: &'static str,
}

/// Each library in the version its files were written for, then in a current one.
pub const LIBRARIES: [Library; 6] = [
    Library {
        package: "torch",
        requirement: "torch==1.5.0",
        files: "pytorch",
    },
    Library {
        package: "torch",
        requirement: "torch==2.15.0",
        files: "pytorch",
    },
    Library {
        package: "tensorflow",
        requirement: "tensorflow-cpu==2.1.0",
        files: "tensorflow",
    },
    Library {
        package: "tensorflow",
        requirement: "tensorflow-cpu==2.21.0",
        files: "tensorflow",
    },
    Library {
        package: "mxnet",
        requirement: "mxnet==1.6.0",
        files: "mxnet",
    },
    Library {
        package: "mxnet",
        requirement: "mxnet==1.9.1",
        files: "mxnet",
    },
];

impl Library {
    pub fn pool(&self, scratch: &std::path::Path, workers: usize) -> anyhow::Result<Pool> {
        let python = fissure_testing::library_python(self.package, self.requirement)
            .with_context(|| format!("{} is needed", self.requirement))?;
        Ok(Pool::start(PoolOptions {
            workers,
            timeout: Duration::from_secs(5),
            ..PoolOptions::new(python, self.package, scratch)
        })?)
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        fissure_testing::shared(&format!("data/docter/{}", self.files))
            .context("no constraint files beside the checkout")
    }

    /// The spec of one title, as `fissure fuzz` reads it. Files are named after their titles, most
    /// of them in lower case.
    pub fn spec(&self, title: &str) -> anyhow::Result<Spec> {
        let folder = self.folder()?;
        let named = [title.to_owned(), title.to_lowercase()];
        let paths: Vec<PathBuf> = named
            .iter()
            .map(|name| folder.join(format!("{name}.yaml")))
            .filter(|path| path.is_file())
            .collect();
        let loaded = fissure_spec::load_paths(&paths).loaded;
        let spec = loaded
            .into_iter()
            .map(|loaded| loaded.spec)
            .find(|spec| spec.api.title == title)
            .with_context(|| format!("no constraint file for {title}"))?;
        Ok(fissure_spec::repair(&spec).0)
    }

    /// Its specs, read as `fissure fuzz` reads them, without those that are never run unasked.
    pub fn specs(&self) -> anyhow::Result<Vec<Spec>> {
        let folder = self.folder()?;
        let denied = DenyList::built_in();
        let loaded = fissure_spec::load_paths(&[folder]).loaded.into_iter();
        Ok(loaded
            .map(|loaded| loaded.spec)
            .filter(|spec| denied.check(&spec.api.title).is_none())
            .map(|spec| fissure_spec::repair(&spec).0)
            .collect())
    }
}

/// Inputs in a batch: few at first, so that feedback comes early.
fn batch_len(index: u64) -> u64 {
    8 << (index / 8).min(5)
}

/// Runs the first `most` inputs of an API in the batches of a real run, feeding outcomes back,
/// until `watch` has seen enough or workers hang too often.
pub fn run_api(
    pool: &Pool,
    spec: &Spec,
    options: GenerateOptions,
    seed: u64,
    most: u64,
    mut watch: impl FnMut(&ConcreteInput, &Execution) -> bool,
) -> anyhow::Result<()> {
    const HANGS: u32 = 3;
    let signature = pool.describe(&spec.api.path)?;
    let mut generator = Generator::new(spec, Some(&signature), options, seed)?;
    let api = Arc::new(spec.api.clone());
    let (mut number, mut hangs) = (0, 0);
    for index in 0.. {
        let end = (number + batch_len(index)).min(most);
        if number == end || hangs >= HANGS {
            break;
        }
        let inputs: Vec<ConcreteInput> = (number..end).map(|n| generator.generate(n)).collect();
        number = end;
        pool.submit(Batch {
            id: index,
            api: api.clone(),
            check_nan: false,
            oracles: Arc::default(),
            inputs: inputs.clone(),
            abandoned: Default::default(),
            slow_calls: None,
        });
        let executions = loop {
            if let Event::Done { executions, .. } = pool.events().recv()? {
                break executions;
            }
        };
        for (input, execution) in inputs.iter().zip(&executions) {
            let accepted = matches!(execution.outcome, Outcome::Accepted { .. });
            generator.observe(input.number, accepted);
            hangs += u32::from(matches!(execution.outcome, Outcome::Timeout));
            if !watch(input, execution) {
                return Ok(());
            }
        }
    }
    Ok(())
}
