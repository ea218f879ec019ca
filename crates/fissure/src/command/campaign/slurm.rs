//! `fissure campaign` on Slurm: submit, status, merge, and what one task does.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use fissure_campaign::slurm::{
    self, DEFAULT_TEMPLATE, Progress, Queue, Resources, SlurmError, Submission, TaskStatus,
};
use fissure_campaign::{CampaignFolder, CampaignPlan, Part, Phase, Task};
use serde_json::json;

use super::args::{CampaignRunArgs, FolderArgs, TaskArgs};
use super::options::shard_of;
use super::run::ShardRun;
use crate::command::campaign;
use crate::command::{report, session};
use crate::console::{notice, warning};
use crate::exit_status::{ExitStatus, usage};

/// Tasks told one by one by `fissure campaign status`.
const TOLD: usize = 10;

pub(super) fn print_template(json: bool) -> anyhow::Result<ExitCode> {
    if json {
        println!("{}", json!({ "template": DEFAULT_TEMPLATE }));
    } else {
        print!("{DEFAULT_TEMPLATE}");
    }
    Ok(ExitStatus::NoFinding.into())
}

/// The phases that this campaign has.
fn phases(plan: &CampaignPlan) -> Vec<Phase> {
    let learns = plan.apis.iter().any(|api| api.learn);
    let wanted = |phase: &Phase| learns || *phase != Phase::Learn;
    Phase::ALL.into_iter().filter(wanted).collect()
}

/// Submits what is neither done nor in the queue.
pub(super) fn submit(
    args: &CampaignRunArgs,
    folder: &CampaignFolder,
    plan: &CampaignPlan,
) -> anyhow::Result<ExitCode> {
    let jobs = slurm::read_jobs(folder.path())?;
    let queue = Queue::ask(&jobs).map_err(as_usage)?;
    let phases = phases(plan);
    let statuses = slurm::statuses(folder.path(), &phases, plan.shards, &jobs, Some(&queue))?;
    let open =
        |status: &&TaskStatus| matches!(status.progress, Progress::Failed(_) | Progress::Open);
    let mut tasks: BTreeSet<Task> = statuses.iter().filter(open).map(|it| it.task).collect();
    let anything = tasks.iter().any(|task| task.phase.is_sharded());
    if anything {
        // What is joined must be joined again.
        tasks.insert(Task {
            phase: Phase::Report,
            shard: 0,
        });
    }
    if tasks.is_empty() {
        print_status(&statuses);
        notice!("fissure: nothing to submit: every task is done, runs or waits");
        return Ok(ExitStatus::NoFinding.into());
    }
    let (template, template_path) = match &args.slurm.template {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| usage(format!("failed to read {}: {error}", path.display())))?;
            (text, path.as_path())
        }
        None => (DEFAULT_TEMPLATE.to_owned(), Path::new("of Fissure itself")),
    };
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let submission = Submission {
        campaign: folder.path(),
        program: &program,
        template: &template,
        template_path,
        resources: Resources {
            partition: args.slurm.partition.clone(),
            time: args.slurm.time.as_deref().map(slurm_time),
            memory: args.slurm.mem.clone(),
            cpus: args
                .slurm
                .cpus
                .or(args.workers.map(|workers| workers as u64)),
        },
    };
    for job in slurm::submit(&submission, &tasks).map_err(as_usage)? {
        println!(
            "job {}: {}, {} task{}",
            job.id,
            job.phase,
            job.shards.len(),
            if job.shards.len() == 1 { "" } else { "s" }
        );
    }
    println!(
        "fissure campaign status {} says how far it is",
        folder.path().display()
    );
    Ok(ExitStatus::NoFinding.into())
}

/// `2h` as Slurm writes it; what Slurm understands itself stays.
fn slurm_time(text: &str) -> String {
    let understood = text.contains(':') || text.contains('-') || text.parse::<u64>().is_ok();
    match crate::duration::duration(text) {
        Ok(time) if !understood => {
            let seconds = time.as_secs().max(1);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
        }
        _ => text.to_owned(),
    }
}

/// What the user can mend ends with the exit code for that.
fn as_usage(error: SlurmError) -> anyhow::Error {
    match error {
        SlurmError::Store(error) => error.into(),
        error => usage(error.to_string()),
    }
}

pub(super) fn status(args: &FolderArgs) -> anyhow::Result<ExitCode> {
    let (run, folder, plan) = campaign::open(&args.folder)?;
    let jobs = slurm::read_jobs(folder.path())?;
    let mut statuses = Vec::new();
    if run.slurm.slurm {
        let queue = match Queue::ask(&jobs) {
            Ok(queue) => Some(queue),
            Err(error) => {
                warning!("{error}");
                None
            }
        };
        let phases = phases(&plan);
        statuses = slurm::statuses(folder.path(), &phases, plan.shards, &jobs, queue.as_ref())?;
    }
    let mut shards = Vec::new();
    for index in 0..plan.shards {
        let shard = shard_of(Some(index as u64), plan.shards)?;
        shards.push(fissure_campaign::shard_progress(&folder.shard(shard))?);
    }
    let total = fissure_campaign::ShardProgress::sum(&shards);
    if args.json {
        let tasks: Vec<_> = statuses.iter().map(task_json).collect();
        println!(
            "{}",
            json!({ "library": plan.package, "seed": plan.seed, "apis": plan.apis.len(),
                    "progress": total, "shards": shards, "tasks": tasks })
        );
        return Ok(ExitStatus::NoFinding.into());
    }
    println!(
        "{}: {} of {} APIs done, {} inputs, {} findings",
        plan.package,
        total.apis_done,
        plan.apis.len(),
        total.inputs,
        total.findings
    );
    print_status(&statuses);
    Ok(ExitStatus::NoFinding.into())
}

fn word(progress: &Progress) -> (&'static str, &str) {
    match progress {
        Progress::Done => ("done", ""),
        Progress::Running => ("running", ""),
        Progress::Waiting(reason) => ("waiting", reason),
        Progress::Failed(reason) => ("failed", reason),
        Progress::Open => ("open", ""),
    }
}

fn task_json(status: &TaskStatus) -> serde_json::Value {
    let (state, detail) = word(&status.progress);
    json!({ "phase": status.task.phase, "shard": status.task.shard, "state": state, "detail": detail })
}

/// One line per phase, and what failed.
fn print_status(statuses: &[TaskStatus]) {
    let mut phases: BTreeMap<Phase, BTreeMap<&str, usize>> = BTreeMap::new();
    for status in statuses {
        let counts = phases.entry(status.task.phase).or_default();
        *counts.entry(word(&status.progress).0).or_default() += 1;
    }
    for (phase, counts) in phases {
        let counts: Vec<String> = counts
            .iter()
            .map(|(word, n)| format!("{n} {word}"))
            .collect();
        println!("{phase:<7} {}", counts.join(", "));
    }
    let failed: Vec<&TaskStatus> = statuses
        .iter()
        .filter(|status| matches!(status.progress, Progress::Failed(_)))
        .collect();
    for status in failed.iter().take(TOLD) {
        let (_, detail) = word(&status.progress);
        println!(
            "failed: {} of shard {}: {detail}",
            status.task.phase, status.task.shard
        );
    }
    if failed.len() > TOLD {
        println!("and {} more", failed.len() - TOLD);
    }
    if !failed.is_empty() {
        println!("fissure campaign --resume DIR submits them again");
    }
}

pub(super) fn merge(args: &FolderArgs) -> anyhow::Result<ExitCode> {
    let (mut run, folder, plan) = campaign::open(&args.folder)?;
    if plan.shards <= 1 {
        return Err(usage(
            "this campaign has one shard: its folder is a run folder already",
        ));
    }
    run.run.json = args.json;
    let merged = fissure_campaign::merge(&folder, &plan)?;
    for shard in &merged.missing {
        warning!("there is nothing of shard {shard} yet");
    }
    report::write_page(folder.path())?;
    campaign::print_summary(&run, &merged.summary, folder.path())
}

/// One task, as the batch script calls it. Its own exit code says only whether it was done.
pub(super) fn task(args: &TaskArgs) -> anyhow::Result<ExitCode> {
    let (run, folder, plan) = campaign::open(&args.folder)?;
    let phase: Phase = args.phase.parse().map_err(usage)?;
    let task = Task {
        phase,
        shard: args.shard,
    };
    let record = task.begin(folder.path())?;
    let done = do_task(task, &run, &folder, &plan);
    let problem = done.as_ref().err().map(|error| format!("{error:#}"));
    task.end(folder.path(), record, problem)?;
    done.map(|()| ExitStatus::NoFinding.into())
}

fn do_task(
    task: Task,
    args: &CampaignRunArgs,
    folder: &CampaignFolder,
    plan: &CampaignPlan,
) -> anyhow::Result<()> {
    if task.phase == Phase::Report {
        if plan.shards > 1 {
            fissure_campaign::merge(folder, plan)?;
        }
        return report::write_page(folder.path());
    }
    let stop = session::stop_on_interrupt()?;
    let run = ShardRun {
        args,
        folder,
        plan,
        shard: shard_of(Some(task.shard as u64), plan.shards)?,
        part: match task.phase {
            Phase::Oracle => Part::Judge,
            _ => Part::Fuzz,
        },
        stop: &stop,
    };
    let interrupted = match task.phase {
        Phase::Learn => {
            run.learn()?;
            stop.load(std::sync::atomic::Ordering::Relaxed)
        }
        Phase::Solve => {
            run.write_solved()?;
            false
        }
        Phase::Fuzz | Phase::Oracle => {
            run.fuzz(run.read_solved()?, std::time::Instant::now())?
                .interrupted
        }
        Phase::Report => false,
    };
    if interrupted {
        anyhow::bail!("it was interrupted");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_given_to_slurm_as_it_reads_them() {
        assert_eq!(slurm_time("2h"), "02:00:00");
        assert_eq!(slurm_time("90s"), "00:01:30");
        for own in ["30", "1-12:00", "02:00:00"] {
            assert_eq!(slurm_time(own), own);
        }
    }
}
