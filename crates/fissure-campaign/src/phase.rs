//! The phases of a campaign that is divided among the tasks of a cluster, and how far each task is.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::plan::write_whole;
use crate::store::json_text;

/// In the order in which they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Learn,
    Solve,
    Fuzz,
    Oracle,
    Report,
}

impl Phase {
    pub const ALL: [Phase; 5] = [
        Phase::Learn,
        Phase::Solve,
        Phase::Fuzz,
        Phase::Oracle,
        Phase::Report,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Learn => "learn",
            Phase::Solve => "solve",
            Phase::Fuzz => "fuzz",
            Phase::Oracle => "oracle",
            Phase::Report => "report",
        }
    }

    /// Whether every shard has its own task; otherwise there is one for all.
    pub fn is_sharded(self) -> bool {
        self != Phase::Report
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Phase::ALL
            .into_iter()
            .find(|phase| phase.name() == text)
            .ok_or_else(|| format!("there is no phase {text}"))
    }
}

/// One task of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    pub phase: Phase,
    pub shard: usize,
}

/// What a task says of itself, in a file that only it writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    pub state: TaskState,
    pub host: String,
    pub process: u32,
    /// Slurm's name of it.
    pub job: Option<String>,
    pub started: f64,
    pub ended: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    Running,
    Done,
    Failed,
}

impl Task {
    fn path(self, campaign: &Path) -> PathBuf {
        let name = format!("{}-{}.json", self.phase, self.shard);
        campaign.join("tasks").join(name)
    }

    /// What the task has said last; `None`: it never began.
    pub fn read(self, campaign: &Path) -> Result<Option<TaskRecord>, StoreError> {
        let path = self.path(campaign);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(StoreError::at("read", &path))?,
        };
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| StoreError::at("read", &path)(error.into()))
    }

    /// Says that it begins.
    pub fn begin(self, campaign: &Path) -> Result<TaskRecord, StoreError> {
        let record = TaskRecord {
            state: TaskState::Running,
            host: host(),
            process: std::process::id(),
            job: job_name(),
            started: now(),
            ended: None,
            error: None,
        };
        self.write(campaign, &record)?;
        Ok(record)
    }

    /// Says how it ended.
    pub fn end(
        self,
        campaign: &Path,
        mut record: TaskRecord,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        record.state = match error {
            None => TaskState::Done,
            Some(_) => TaskState::Failed,
        };
        record.ended = Some(now());
        record.error = error;
        self.write(campaign, &record)
    }

    fn write(self, campaign: &Path, record: &TaskRecord) -> Result<(), StoreError> {
        let path = self.path(campaign);
        let folder = campaign.join("tasks");
        fs::create_dir_all(&folder).map_err(StoreError::at("make", &folder))?;
        write_whole(&path, &json_text(record, &path)?)
    }
}

fn now() -> f64 {
    // A clock before 1970 is nobody's; the figure is for people.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64())
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_else(|_| "unknown".to_owned())
}

/// `17_3`, when Slurm runs this process.
fn job_name() -> Option<String> {
    let job = std::env::var("SLURM_ARRAY_JOB_ID").ok()?;
    let task = std::env::var("SLURM_ARRAY_TASK_ID").ok()?;
    Some(format!("{job}_{task}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_says_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let task = Task {
            phase: Phase::Fuzz,
            shard: 3,
        };
        assert_eq!(task.read(folder.path()).unwrap(), None);
        let record = task.begin(folder.path()).unwrap();
        let read = task.read(folder.path()).unwrap().unwrap();
        assert_eq!(read.state, TaskState::Running);
        task.end(folder.path(), record, Some("no luck".into()))
            .unwrap();
        let read = task.read(folder.path()).unwrap().unwrap();
        assert_eq!(
            (read.state, read.error.as_deref()),
            (TaskState::Failed, Some("no luck"))
        );
    }

    #[test]
    fn phases_are_read_by_their_names() {
        for phase in Phase::ALL {
            assert_eq!(phase.name().parse(), Ok(phase));
        }
        assert!("lunch".parse::<Phase>().is_err());
    }
}
