//! Accuracy profiles of elementwise functions in both versions.

use std::thread;
use std::time::Duration;

use fissure_model::Api;
use fissure_sweep::{Options, ProfileChange, Report, SweepError, changes, sweep};

use crate::behaviour::{Behaviour, Kind};
use crate::options::{CompareOptions, SideOptions};

/// For one function and type.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sweeps the same functions in both at once, and says what became better or worse.
pub fn sweep_both(
    options: &CompareOptions,
    functions: &[String],
) -> Result<(u64, Vec<Behaviour>), SweepError> {
    let of = |side: &SideOptions| Options {
        python: side.python.clone(),
        library: options.package.clone(),
        functions: functions.to_vec(),
        dtypes: vec!["float16".into(), "bfloat16".into(), "float32".into()],
        count: options.sweep,
        tensors: 1,
        timeout: PATIENCE,
        workers: 1,
        search: side.pythonpath.clone(),
        ..Options::default()
    };
    let (before, after) = (of(&options.before), of(&options.after));
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| sweep(&before, |_| ()));
        let second = sweep(&after, |_| ());
        (first.join(), second)
    });
    let first: Report = first.unwrap_or(Err(SweepError::Silent))?;
    let second = second?;
    let found = changes(&first, &second)
        .into_iter()
        .map(|it| told(options, it));
    let swept = first.profiles.len().min(second.profiles.len());
    Ok((swept as u64, found.collect()))
}

fn told(options: &CompareOptions, change: ProfileChange) -> Behaviour {
    Behaviour {
        api: Api {
            title: change.function.clone(),
            package: options.package.clone(),
            path: change.function.clone(),
            ..Api::default()
        },
        kind: Kind::Accuracy,
        detail: format!("{} {}", change.what, change.dtype),
        before: change.before,
        after: change.after,
        call: change.script,
        inputs: 1,
        also: Vec::new(),
        script: None,
        known: None,
        input: None,
    }
}
