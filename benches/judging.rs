//! What judging costs: throughput with the default oracles against crash-only, on one worker.
//!
//! Each API is run both ways in turn, with the same inputs, by the loop that `fissure fuzz` uses.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::sync::Arc;

use fissure_benches::{geometric_mean, python, root};
use fissure_campaign::{JudgingOptions, RunOptions, Session, SessionOptions, Source};
use fissure_model::Spec;

/// Inputs per API and run: enough for the share to have settled.
const INPUTS: u64 = 20_000;

fn main() -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let profile = fissure_judge::profile("ci").expect("the default profile exists");
    let comparing: Vec<_> = profile
        .oracles()
        .into_iter()
        .filter(|oracle| oracle.is_comparing())
        .collect();
    let judging = JudgingOptions {
        oracles: comparing.iter().map(|it| it.oracle.clone()).collect(),
        price: comparing.iter().map(|it| it.price).sum(),
        share: profile.share,
        time_share: None,
        ..JudgingOptions::default()
    };
    let folders = [root().join("benches/specs"), root().join("examples/specs")];
    let specs: Vec<Spec> = fissure_spec::load_paths(&folders)
        .loaded
        .into_iter()
        .map(|loaded| loaded.spec)
        // It crashes: what is measured then is how fast a worker is replaced.
        .filter(|spec| !spec.api.title.ends_with("pixel_shuffle"))
        .collect();
    println!(
        "{:<40} {:>11} {:>11} {:>7}",
        "API", "crash-only", "default", "kept"
    );
    let mut ratios = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        let rate = |judging: &JudgingOptions, name: &str| -> anyhow::Result<f64> {
            let folder = scratch.path().join(format!("{at}-{name}"));
            run(spec, judging, &folder)
        };
        let plain = rate(&JudgingOptions::default(), "plain")?;
        let judged = rate(&judging, "judged")?;
        ratios.push(judged / plain);
        println!(
            "{:<40} {plain:>9.0}/s {judged:>9.0}/s {:>5.0} %",
            spec.api.title,
            100.0 * judged / plain
        );
    }
    println!(
        "\nthroughput kept with the default oracles, geometric mean over {} APIs: {:.0} %",
        ratios.len(),
        100.0 * geometric_mean(&ratios)
    );
    Ok(())
}

/// Inputs per second.
fn run(spec: &Spec, judging: &JudgingOptions, folder: &std::path::Path) -> anyhow::Result<f64> {
    let options = RunOptions {
        check_nan: false,
        max_inputs: Some(INPUTS),
        judging: judging.clone(),
        // What is found is not the question here: no oracle's verdict counts, nothing is shrunk and confirmed meanwhile.
        ..RunOptions::new(0, 1)
    };
    let session = SessionOptions {
        include_denied: true,
        ..SessionOptions::new("torch", python()?, folder)
    };
    let session = Session::start(session, options, &Arc::default())?;
    let summary = session.run(Source::Specs(std::slice::from_ref(spec)), &mut |_| {})?;
    let inputs = summary.total().inputs as f64;
    Ok(inputs / summary.apis[0].elapsed.as_secs_f64())
}
