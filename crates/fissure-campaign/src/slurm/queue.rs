//! What Slurm knows of jobs.

use std::collections::HashMap;

use super::{Job, SlurmError, ask};

/// How Slurm sees a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// With the reason that Slurm gives.
    Waiting(String),
    Running,
    /// With Slurm's word for how.
    Ended(String),
}

/// Slurm's answer: by job and number in the array.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    states: HashMap<(u64, usize), QueueState>,
}

impl Queue {
    /// Asks `squeue`, then `scontrol` for what has left the queue lately, then `sacct` where the
    /// cluster keeps accounts.
    pub fn ask(jobs: &[Job]) -> Result<Queue, SlurmError> {
        let mut queue = Queue::default();
        let listed = ask(
            "squeue",
            &[
                "--noheader",
                "--array",
                "--me",
                "--states=all",
                "--format=%F|%K|%T|%r",
            ]
            .map(String::from),
        )?;
        queue.take_squeue(&listed);
        let unknown = |queue: &Queue, job: &Job| {
            let mut shards = job.shards.iter();
            shards.any(|shard| !queue.states.contains_key(&(job.id, *shard)))
        };
        for job in jobs
            .iter()
            .filter(|job| unknown(&queue, job))
            .collect::<Vec<_>>()
        {
            let words = ["--oneliner", "show", "job"].map(String::from);
            // A job that Slurm has forgotten is no error: its tasks have their own files.
            if let Ok(shown) = ask("scontrol", &[&words[..], &[job.id.to_string()]].concat()) {
                queue.take_scontrol(&shown);
            }
        }
        let forgotten: Vec<String> = jobs
            .iter()
            .filter(|job| unknown(&queue, job))
            .map(|job| job.id.to_string())
            .collect();
        if !forgotten.is_empty() {
            let words = [
                "--noheader",
                "--allocations",
                "--parsable2",
                "--format=JobID,State",
            ];
            let mut arguments: Vec<String> = words.map(String::from).to_vec();
            arguments.push(format!("--jobs={}", forgotten.join(",")));
            // Many clusters keep no accounts.
            if let Ok(told) = ask("sacct", &arguments) {
                queue.take_sacct(&told);
            }
        }
        Ok(queue)
    }

    pub fn state(&self, job: u64, shard: usize) -> Option<&QueueState> {
        self.states.get(&(job, shard))
    }

    fn take_squeue(&mut self, text: &str) {
        for line in text.lines() {
            let mut fields = line.trim().splitn(4, '|');
            let mut next = || fields.next().unwrap_or_default();
            let (job, task, state, reason) = (next(), next(), next(), next());
            self.put(job, task, state, reason);
        }
    }

    fn take_scontrol(&mut self, text: &str) {
        for line in text.lines() {
            let field = |name: &str| {
                line.split_whitespace()
                    .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
                    .unwrap_or_default()
            };
            self.put(
                field("ArrayJobId"),
                field("ArrayTaskId"),
                field("JobState"),
                field("Reason"),
            );
        }
    }

    fn take_sacct(&mut self, text: &str) {
        for line in text.lines() {
            let (name, state) = line.trim().split_once('|').unwrap_or_default();
            let (job, task) = name.split_once('_').unwrap_or_default();
            self.put(job, task, state, "");
        }
    }

    fn put(&mut self, job: &str, task: &str, state: &str, reason: &str) {
        let (Ok(job), Ok(task)) = (job.parse(), task.parse()) else {
            return;
        };
        // `CANCELLED by 0`
        let word = state.split_whitespace().next().unwrap_or_default();
        let state = match word {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "SUSPENDED" => {
                QueueState::Waiting(reason.to_owned())
            }
            "RUNNING" | "CONFIGURING" | "COMPLETING" | "STAGE_OUT" | "SIGNALING" => {
                QueueState::Running
            }
            "" => return,
            ended => QueueState::Ended(ended.to_ascii_lowercase()),
        };
        self.states.entry((job, task)).or_insert(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_squeue_are_understood() {
        let mut queue = Queue::default();
        queue.take_squeue("17|0|RUNNING|None\n17|1|PENDING|Resources\n18|N/A|RUNNING|None\n\n");
        assert_eq!(queue.state(17, 0), Some(&QueueState::Running));
        let waiting = QueueState::Waiting("Resources".into());
        assert_eq!(queue.state(17, 1), Some(&waiting));
        assert_eq!(queue.state(18, 0), None);
    }

    #[test]
    fn the_lines_of_scontrol_and_sacct_are_understood() {
        let mut queue = Queue::default();
        queue.take_scontrol(
            "JobId=21 ArrayJobId=17 ArrayTaskId=2 JobName=x UserId=root(0) JobState=FAILED \
             Reason=NonZeroExitCode Dependency=(null)\n",
        );
        assert_eq!(
            queue.state(17, 2),
            Some(&QueueState::Ended("failed".into()))
        );
        queue.take_sacct("17_3|CANCELLED by 0\n17_2|COMPLETED\n");
        let cancelled = QueueState::Ended("cancelled".into());
        assert_eq!(queue.state(17, 3), Some(&cancelled));
        assert_eq!(
            queue.state(17, 2),
            Some(&QueueState::Ended("failed".into()))
        );
    }
}
