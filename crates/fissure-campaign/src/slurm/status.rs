//! How far the tasks of a campaign are: their own files, and what Slurm says of the rest.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Job, Queue, QueueState};
use crate::StoreError;
use crate::phase::{Phase, Task, TaskState};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    Running,
    /// With the reason that Slurm gives.
    Waiting(String),
    /// It began, or was to begin, and will not end by itself.
    Failed(String),
    /// Nobody was asked to do it.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatus {
    pub task: Task,
    pub progress: Progress,
}

/// Every task of a campaign. Without a queue (no Slurm here) what has begun counts as running.
pub fn statuses(
    campaign: &Path,
    phases: &[Phase],
    shards: usize,
    jobs: &[Job],
    queue: Option<&Queue>,
) -> Result<Vec<TaskStatus>, StoreError> {
    // The last job that a task was given to.
    let mut given: BTreeMap<Task, u64> = BTreeMap::new();
    for job in jobs {
        for shard in &job.shards {
            let phase = job.phase;
            given.insert(
                Task {
                    phase,
                    shard: *shard,
                },
                job.id,
            );
        }
    }
    let mut statuses = Vec::new();
    for phase in phases {
        let tasks = if phase.is_sharded() { shards } else { 1 };
        for shard in 0..tasks {
            let task = Task {
                phase: *phase,
                shard,
            };
            let job = given.get(&task);
            let state = job.and_then(|job| queue?.state(*job, shard));
            let progress = progress(task, campaign, job.is_some(), queue.is_some(), state)?;
            statuses.push(TaskStatus { task, progress });
        }
    }
    Ok(statuses)
}

fn progress(
    task: Task,
    campaign: &Path,
    given: bool,
    asked: bool,
    state: Option<&QueueState>,
) -> Result<Progress, StoreError> {
    let record = task.read(campaign)?;
    if record
        .as_ref()
        .is_some_and(|it| it.state == TaskState::Done)
    {
        return Ok(Progress::Done);
    }
    let told = record.as_ref().and_then(|it| it.error.clone());
    Ok(match (state, record) {
        (Some(QueueState::Running), _) => Progress::Running,
        (Some(QueueState::Waiting(reason)), _) => Progress::Waiting(reason.clone()),
        (Some(QueueState::Ended(how)), _) => Progress::Failed(told.unwrap_or_else(|| how.clone())),
        (None, Some(record)) if record.state == TaskState::Running => match asked {
            true => Progress::Failed("its process is gone".to_owned()),
            false => Progress::Running,
        },
        (None, Some(_)) => Progress::Failed(told.unwrap_or_default()),
        (None, None) if given && asked => Progress::Failed("it never began".to_owned()),
        (None, None) if given => Progress::Waiting(String::new()),
        (None, None) => Progress::Open,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_whose_process_is_gone_has_failed_and_one_that_said_so_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let task = |shard| Task {
            phase: Phase::Fuzz,
            shard,
        };
        task(0).begin(folder.path()).unwrap();
        let record = task(1).begin(folder.path()).unwrap();
        task(1).end(folder.path(), record, None).unwrap();
        let jobs = [Job {
            id: 5,
            phase: Phase::Fuzz,
            shards: vec![0, 1, 2],
        }];
        let queue = Queue::default();
        let found = statuses(folder.path(), &[Phase::Fuzz], 4, &jobs, Some(&queue)).unwrap();
        let found: Vec<Progress> = found.into_iter().map(|one| one.progress).collect();
        assert_eq!(
            found,
            [
                Progress::Failed("its process is gone".into()),
                Progress::Done,
                Progress::Failed("it never began".into()),
                Progress::Open,
            ]
        );
    }
}
