//! A campaign over every API with rules or a constraint file: APIs per hour, inputs per second, what
//! the orchestrator itself needs, two workers against one, and what resuming a long log costs.
//!
//! Needs the program (`cargo build --release -p fissure`) and PyTorch. Constraint files are those in
//! `../shared/data/docter/pytorch`, or in the folder that `FISSURE_BENCH_SPECS` names; without any,
//! APIs with rules are fuzzed. `FISSURE_BENCH_INPUTS` is the number of inputs for each API. With the
//! argument `workers` only workers are compared (`workers 80`: only for the calls of 80 µs), with
//! `whole` only the rest is measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fissure_benches::{median, python, root};
use fissure_campaign::{BatchIndex, EventLog, Record, RunSummary, Stamped, read_events};

/// Events of the long log.
const EVENTS: u64 = 100_000;
/// Turns of one worker and of two.
const ROUNDS: usize = 5;
/// APIs by how long a call takes in the worker, with inputs for each. No call of them hangs and
/// nothing is triaged: neither is what is measured there.
const GROUPS: [(&str, &str, &[&str]); 3] = [
    (
        "calls of about 300 µs",
        "4000",
        &[
            "torch.kron",
            "torch.pca_lowrank",
            "torch.cov",
            "torch.stft",
            "torch.fft.fftn",
        ],
    ),
    (
        "calls of about 80 µs",
        "20000",
        &[
            "torch.linalg.slogdet",
            "torch.linalg.eigh",
            "torch.linalg.det",
            "torch.nn.functional.cosine_similarity",
            "torch.nn.functional.grid_sample",
        ],
    ),
    (
        "calls of about 30 µs",
        "40000",
        &["torch.bmm", "torch.cumsum", "torch.matmul", "torch.sort"],
    ),
];
const SAMPLING: Duration = Duration::from_millis(50);

/// What a finished process used itself; its workers are not its own threads.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    elapsed: f64,
    processor: f64,
    memory_mib: f64,
}

fn main() -> anyhow::Result<()> {
    let program = root().join("target/release/fissure");
    if !program.exists() {
        bail!("build the program first: cargo build --release -p fissure");
    }
    let python = python()?;
    let specs = match std::env::var_os("FISSURE_BENCH_SPECS") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("../shared/data/docter/pytorch"),
    };
    let inputs = std::env::var("FISSURE_BENCH_INPUTS").unwrap_or_else(|_| "150".to_owned());
    let scratch = tempfile::tempdir()?;
    let campaign = |output: &Path, workers: &str, further: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(["campaign", "torch", "--no-learn", "--max-iter", &inputs])
            .args(["--workers", workers, "--quiet", "--json"])
            // What hangs is not what is measured.
            .args(["--timeout", "3s", "--max-hangs", "2"]);
        if specs.is_dir() {
            command.arg("--specs").arg(&specs);
        }
        command
            .arg("--python")
            .arg(&python)
            .arg("--output")
            .arg(output)
            .args(further);
        command
    };
    println!("load of the machine: {}", load()?);
    let only = std::env::args().find(|argument| argument == "whole" || argument == "workers");
    if only.as_deref() != Some("whole") {
        compare_workers(scratch.path(), &campaign)?;
    }
    if only.as_deref() == Some("workers") {
        return Ok(());
    }

    let whole = scratch.path().join("whole");
    let used = measure(&mut campaign(&whole, "2", &[]))?;
    let summary = summary(&whole)?;
    let total = summary.total().inputs as f64;
    let seconds = summary.elapsed.as_secs_f64();
    println!(
        "every API, {inputs} inputs each, 2 workers: {} APIs, {} skipped, {total:.0} inputs, \
         {} findings in {seconds:.0} s",
        summary.apis.len(),
        summary.skipped.len(),
        summary.findings
    );
    println!(
        "  {:.0} APIs/hour, {:.0} inputs/s over all",
        summary.apis.len() as f64 / seconds * 3600.0,
        total / seconds
    );
    println!(
        "  orchestrator: {:.0} MiB at most, {:.1} s of processor time: {:.1} % of one core, \
         {:.1} µs for each input",
        used.memory_mib,
        used.processor,
        100.0 * used.processor / used.elapsed,
        1e6 * used.processor / total
    );

    let short = resume(&program, &whole)?;
    let events = lengthen(&whole)?;
    let long = resume(&program, &whole)?;
    println!(
        "resume: {:.2} s with {events} events in the log, {:.2} s before they were added: \
         {:.2} s for them",
        long.elapsed,
        short.elapsed,
        long.elapsed - short.elapsed
    );
    Ok(())
}

/// One worker, two workers, and, for what the machine itself gives, two campaigns of one worker each
/// side by side. In turn, because the machine is not the same from one minute to the next.
fn compare_workers(
    scratch: &Path,
    campaign: &(dyn Fn(&Path, &str, &[&str]) -> Command + Sync),
) -> anyhow::Result<()> {
    let wanted = std::env::args()
        .skip_while(|argument| argument != "workers")
        .nth(1);
    for (name, inputs, apis) in GROUPS {
        if wanted
            .as_ref()
            .is_some_and(|wanted| !name.contains(wanted.as_str()))
        {
            continue;
        }
        let mut further = vec!["--max-iter", inputs, "--oracles", "fatal-signal"];
        apis.iter().for_each(|api| further.extend(["--api", api]));
        let rate = |label: &str, round: usize, workers: &str| {
            let output = scratch.join(format!("{label}-{round}"));
            measure(&mut campaign(&output, workers, &further))?;
            let summary = summary(&output)?;
            anyhow::Ok(summary.total().inputs as f64 / summary.elapsed.as_secs_f64())
        };
        let (mut ratios, mut ceilings) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let one = rate(&format!("{name}-one"), round, "1")?;
            let two = rate(&format!("{name}-two"), round, "2")?;
            let side_by_side: f64 = std::thread::scope(|scope| {
                let programs = ["left", "right"].map(|side| {
                    let label = format!("{name}-{side}");
                    let rate = &rate;
                    scope.spawn(move || rate(&label, round, "1"))
                });
                programs
                    .into_iter()
                    .map(|program| program.join().expect("a measuring thread does not panic"))
                    .sum::<anyhow::Result<f64>>()
            })?;
            println!(
                "{name}: one worker {one:.0} inputs/s, two {two:.0} ({:.2} times), two programs \
                 side by side {side_by_side:.0} ({:.2} times)",
                two / one,
                side_by_side / one
            );
            ratios.push(two / one);
            ceilings.push(side_by_side / one);
        }
        println!(
            "{name}: median: two workers {:.2} times one, two programs {:.2} times",
            median(ratios),
            median(ceilings)
        );
    }
    Ok(())
}

/// Resumes a campaign that is done: all that is left to do is to find that out.
fn resume(program: &Path, campaign: &Path) -> anyhow::Result<Used> {
    let mut command = Command::new(program);
    command
        .args(["campaign", "--quiet", "--json", "--resume"])
        .arg(campaign);
    measure(&mut command)
}

/// Adds batches of APIs that are done, until the log is long.
fn lengthen(campaign: &Path) -> anyhow::Result<u64> {
    let records: Vec<Record> = read_events(campaign)?;
    let mut batches: Vec<Record> = records
        .iter()
        .filter(|record| matches!(record, Record::Batch { .. }))
        .cloned()
        .collect();
    let mut log = EventLog::open(campaign)?;
    let mut events = records.len() as u64;
    while events < EVENTS {
        for record in &mut batches {
            if let Record::Batch {
                index, rejections, ..
            } = record
            {
                *index = BatchIndex::new(index.get() + 1_000_000);
                // A log tells each reason once.
                rejections.new.clear();
            }
            log.append(&Stamped::now(&*record))?;
            events += 1;
        }
    }
    log.sync()?;
    Ok(events)
}

fn summary(campaign: &Path) -> anyhow::Result<RunSummary> {
    let text = std::fs::read(campaign.join("summary.json"))?;
    Ok(serde_json::from_slice(&text)?)
}

fn load() -> anyhow::Result<String> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    Ok(text.split(' ').next().unwrap_or_default().to_owned())
}

/// Runs a command and watches what it uses itself.
fn measure(command: &mut Command) -> anyhow::Result<Used> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut used = Used::default();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // It may end between the two lines; the last sample counts.
        if let Ok(sample) = sample(&process) {
            used = sample;
        }
        std::thread::sleep(SAMPLING);
    };
    used.elapsed = started.elapsed().as_secs_f64();
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("{command:?} ended with {status}");
    }
    Ok(used)
}

/// Processor time and greatest memory so far.
fn sample(process: &Path) -> anyhow::Result<Used> {
    let stat = std::fs::read_to_string(process.join("stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("stat has no name")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    let status = std::fs::read_to_string(process.join("status"))?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .context("no peak of memory")?;
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    Ok(Used {
        elapsed: 0.0,
        // Linux counts in hundredths of a second on every machine that it tells users about.
        processor: ticks as f64 / 100.0,
        memory_mib: kib / 1024.0,
    })
}
