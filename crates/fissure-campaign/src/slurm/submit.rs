//! Submitting what is to be done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Resources, SlurmError, ask, render};
use crate::StoreError;
use crate::phase::{Phase, Task};
use crate::plan::write_whole;
use crate::store::json_text;

const JOBS_FILE: &str = "jobs.json";

/// One job array that was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: u64,
    pub phase: Phase,
    pub shards: Vec<usize>,
}

/// What a submission needs beside the tasks.
pub struct Submission<'a> {
    pub campaign: &'a Path,
    /// The program that tasks run.
    pub program: &'a Path,
    pub template: &'a str,
    /// Where the template came from.
    pub template_path: &'a Path,
    pub resources: Resources,
}

/// Every job of a campaign, in the order of submission.
pub fn read_jobs(campaign: &Path) -> Result<Vec<Job>, StoreError> {
    let path = campaign.join(JOBS_FILE);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(StoreError::at("read", &path))?,
    };
    serde_json::from_slice(&text).map_err(|error| StoreError::at("read", &path)(error.into()))
}

/// Submits tasks that are neither done nor queued, each phase of a shard after the one before.
/// Returns the new jobs.
pub fn submit(submission: &Submission<'_>, tasks: &BTreeSet<Task>) -> Result<Vec<Job>, SlurmError> {
    let logs = submission.campaign.join("slurm");
    fs::create_dir_all(&logs).map_err(StoreError::at("make", &logs))?;
    // Shards that have the same phases before them go through them together.
    let mut chains: BTreeMap<Vec<Phase>, Vec<usize>> = BTreeMap::new();
    let shards: BTreeSet<usize> = tasks.iter().map(|task| task.shard).collect();
    for shard in shards {
        let phases: Vec<Phase> = tasks
            .iter()
            .filter(|task| task.shard == shard && task.phase.is_sharded())
            .map(|task| task.phase)
            .collect();
        if !phases.is_empty() {
            chains.entry(phases).or_default().push(shard);
        }
    }
    let mut jobs = read_jobs(submission.campaign)?;
    let known = jobs.len();
    let mut last: Vec<u64> = Vec::new();
    for (phases, shards) in chains {
        let mut before: Option<u64> = None;
        for phase in phases {
            // The same task of the job before, not all of its tasks.
            let after = before.map(|job| format!("aftercorr:{job}"));
            let id = submission.array(phase, &shards, after)?;
            before = Some(id);
            jobs.push(Job {
                id,
                phase,
                shards: shards.clone(),
            });
            submission.remember(&jobs)?;
        }
        last.extend(before);
    }
    if tasks.iter().any(|task| task.phase == Phase::Report) {
        // Of what there is, even if a task failed: a later resume joins the rest.
        let after = last.iter().map(|job| format!("afterany:{job}"));
        let after: Vec<String> = after.collect();
        let after = (!after.is_empty()).then(|| after.join(","));
        let id = submission.array(Phase::Report, &[0], after)?;
        jobs.push(Job {
            id,
            phase: Phase::Report,
            shards: vec![0],
        });
        submission.remember(&jobs)?;
    }
    Ok(jobs.split_off(known))
}

impl Submission<'_> {
    fn array(
        &self,
        phase: Phase,
        shards: &[usize],
        after: Option<String>,
    ) -> Result<u64, SlurmError> {
        let script = self.campaign.join("slurm").join(format!("{phase}.sh"));
        let text = render(
            self.template,
            self.template_path,
            phase,
            self.program,
            self.campaign,
            &self.resources,
        )?;
        write_whole(&script, text.as_bytes())?;
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--array={}", ranges(shards)),
        ];
        if let Some(after) = after {
            arguments.push(format!("--dependency={after}"));
            // A task that can never begin would wait for ever.
            arguments.push("--kill-on-invalid-dep=yes".to_owned());
        }
        arguments.push(script.to_string_lossy().into_owned());
        let answer = ask("sbatch", &arguments)?;
        // `17` or, on a cluster with several, `17;name`.
        let id = answer.trim().split(';').next().unwrap_or_default();
        id.parse().map_err(|_| SlurmError::Refused {
            program: "sbatch",
            message: format!("its answer is no job: {}", answer.trim()),
        })
    }

    /// Whatever happens next, what was submitted so far is known.
    fn remember(&self, jobs: &[Job]) -> Result<(), StoreError> {
        let path = self.campaign.join(JOBS_FILE);
        write_whole(&path, &json_text(&jobs, &path)?)
    }
}

/// `0-3,7` for ascending numbers.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let text: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    text.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7]), "0-3,7");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[1, 3, 4]), "1,3-4");
    }
}
