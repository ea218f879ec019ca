//! `fissure compare`: two versions of a library side by side.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

pub(crate) mod args;
mod plan;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use fissure_compare::{Behaviour, CompareError, Event, Kind, Report, compare};

use crate::command::session;
use crate::console::{notice, warning};
use crate::exit_status::{ExitStatus, usage};
pub(crate) use args::CompareArgs;

/// Between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(10);
/// Names of further APIs in a line.
const NAMED: usize = 4;

pub(crate) fn run(args: CompareArgs) -> anyhow::Result<ExitCode> {
    let options = plan::plan(&args)?;
    let stop = session::stop_on_interrupt()?;
    let mut shown = Instant::now();
    let mut tell = |event: Event<'_>| match event {
        Event::Began {
            before,
            after,
            apis,
        } => notice!(
            "fissure: {} {} (Python {}) against {} (Python {}), {apis} APIs, seed {}",
            options.package,
            before.version,
            before.python_version,
            after.version,
            after.python_version,
            options.seed,
        ),
        Event::Found(found) => notice!(
            "found  {} {}: {}",
            found.kind,
            found.api.title,
            found.detail
        ),
        Event::Progress { apis, inputs } if shown.elapsed() > INTERVAL => {
            shown = Instant::now();
            notice!(
                "fissure: {apis} of {} APIs, {inputs} inputs",
                options.subjects.len()
            );
        }
        Event::Progress { .. } => {}
        Event::Phase(what) => notice!("phase  {what}"),
        Event::Warning(text) => warning!("{text}"),
    };
    let report = compare(&options, &stop, &mut tell).map_err(|error| match error {
        CompareError::NoFolder(_) => usage(error.to_string()),
        error => error.into(),
    })?;
    let text = serde_json::to_string_pretty(&report)?;
    let path = options.workdir.join("compare.json");
    std::fs::write(&path, &text).with_context(|| format!("failed to write {}", path.display()))?;
    if args.json {
        println!("{text}");
    } else {
        show(&report, &options.workdir.display().to_string());
    }
    Ok(match report.behaviours.is_empty() {
        true => ExitStatus::NoFinding.into(),
        false => ExitStatus::Findings.into(),
    })
}

fn show(report: &Report, folder: &str) {
    for behaviour in &report.behaviours {
        println!("{}", lines(behaviour, folder));
    }
    if !report.behaviours.is_empty() {
        println!();
    }
    let counts: Vec<String> = Kind::ALL
        .iter()
        .map(|kind| {
            (
                kind,
                report
                    .behaviours
                    .iter()
                    .filter(|it| it.kind == *kind)
                    .count(),
            )
        })
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let changes = match counts.is_empty() {
        true => "nothing changed".to_owned(),
        false => counts.join(", "),
    };
    println!(
        "{} {} → {}: {changes}",
        report.package, report.before.version, report.after.version
    );
    println!(
        "{} APIs, {} inputs in both ({} accepted by both), {} measured, {} sweeps, {} differences explained by \
         rounding or chance, {} known, {} new names, {} left out, {} not reached, {:.0} s",
        report.counts.apis,
        report.counts.inputs,
        report.counts.accepted,
        report.counts.measured,
        report.counts.swept,
        report.counts.explained,
        report.known.len(),
        report.new.len(),
        report.left_out.len(),
        report.unreached.len(),
        report.elapsed.as_secs_f64(),
    );
    println!("everything is in {folder}");
}

fn lines(behaviour: &Behaviour, folder: &str) -> String {
    let also = match behaviour.also.as_slice() {
        [] => String::new(),
        names if names.len() <= NAMED => format!(" (also {})", names.join(", ")),
        names => format!(
            " (also {} and {} more)",
            names[..NAMED].join(", "),
            names.len() - NAMED
        ),
    };
    let script = behaviour
        .script
        .as_ref()
        .map(|script| format!("\n    {folder}/{script}"))
        .unwrap_or_default();
    format!(
        "{:<15} {}: {}{also}\n    {} → {}\n    {}{script}",
        behaviour.kind.name(),
        behaviour.api.title,
        behaviour.detail,
        behaviour.before,
        behaviour.after,
        behaviour.call,
    )
}
