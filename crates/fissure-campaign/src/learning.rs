//! Learning beside fuzzing: rules are used as soon as they are there.
//!
//! A thread of its own learns the APIs of which no rules are known, writes each rule file when it is
//! complete, and tells the run, which switches that API to the rules at a batch that the event log
//! names. Calls that ended their process while learning are judged like every other failure.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use fissure_execute::Pool;
use fissure_learn::{LearnError, LearnEvent, Many, Observer};
use fissure_model::{ConcreteInput, Execution, Spec};
use fissure_rules::RuleLibrary;

/// What could not be learned, and why: not tried again.
const FAILED_FILE: &str = "failed.json";
/// Why an API has no rules that the time did not suffice for.
pub const LATE: &str = "it was not learned in the time for learning";

/// What came of learning one API.
#[derive(Debug)]
pub struct LearnedApi {
    pub title: String,
    /// Its rules, or why there are none.
    pub spec: Result<Box<Spec>, String>,
    /// Calls that ended their process, and how.
    pub crashes: Vec<(ConcreteInput, Execution)>,
    /// One sentence each.
    pub remarks: Vec<String>,
}

/// The APIs to learn, how, and where their rules go.
#[derive(Clone, Debug)]
pub struct Learning {
    pub many: Many,
    /// One rule file per API.
    pub out: PathBuf,
}

/// A learner at work. Dropping it ends it.
pub struct Learner {
    /// What it has been asked to learn.
    titles: BTreeSet<String>,
    news: Receiver<LearnedApi>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), LearnError>>>,
}

/// The rule file of an API.
pub fn rules_of(out: &Path, title: &str) -> PathBuf {
    out.join(format!("{title}.rules"))
}

/// The rules that were learned of an API, as a spec.
pub fn learned_spec(out: &Path, title: &str) -> Option<Spec> {
    let path = rules_of(out, title);
    let mut sheets = RuleLibrary::only(&path).find("*").ok()?;
    path.is_file()
        .then(|| sheets.pop())
        .flatten()
        .map(|sheet| sheet.into_spec())
}

/// What could not be learned, and why.
pub fn failures(out: &Path) -> Result<BTreeMap<String, String>, LearnError> {
    let path = out.join(FAILED_FILE);
    let file = |source| LearnError::File {
        action: "read",
        path: path.clone(),
        source,
    };
    match std::fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| file(error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(file(error)),
    }
}

fn write_failures(out: &Path, failed: &BTreeMap<String, String>) -> Result<(), LearnError> {
    let path = out.join(FAILED_FILE);
    let text = serde_json::to_vec_pretty(failed).expect("plain data always serialises");
    std::fs::write(&path, text).map_err(|source| LearnError::File {
        action: "write",
        path,
        source,
    })
}

impl Learning {
    /// Learns what is not learned yet, until its deadline; tells `hear` what came of each API.
    pub fn run(
        mut self,
        stop: &AtomicBool,
        hear: impl Fn(LearnedApi) + Sync,
    ) -> Result<(), LearnError> {
        std::fs::create_dir_all(&self.out).map_err(|source| LearnError::File {
            action: "make",
            path: self.out.clone(),
            source,
        })?;
        let failed = failures(&self.out)?;
        self.many
            .names
            .retain(|name| !rules_of(&self.out, name).exists() && !failed.contains_key(name));
        let keeper = Keeper {
            out: &self.out,
            failed: Mutex::new(failed),
            hear,
        };
        self.many.run(&keeper, stop)?;
        let late = self
            .many
            .deadline
            .is_some_and(|deadline| std::time::Instant::now() >= deadline);
        if late {
            // A resumed campaign does not begin to learn again.
            let mut failed = keeper.failed.lock().unwrap_or_else(PoisonError::into_inner);
            for name in &self.many.names {
                if !rules_of(&self.out, name).exists() {
                    let known = failed.entry(name.clone());
                    known.or_insert_with(|| LATE.to_owned());
                }
            }
            write_failures(&self.out, &failed)?;
        }
        Ok(())
    }

    /// Learns on a thread of its own.
    pub fn start(self) -> Learner {
        let (sender, news) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let halt = Arc::clone(&stop);
        let sender: Mutex<Sender<LearnedApi>> = Mutex::new(sender);
        let titles = self.many.names.iter().cloned().collect();
        let thread = std::thread::spawn(move || {
            self.run(&halt, |learned| {
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
                // A run that is over does not want to know.
                let _ = sender.send(learned);
            })
        });
        Learner {
            titles,
            news,
            stop,
            thread: Some(thread),
        }
    }
}

impl Learner {
    /// Whether rules of an API may come.
    pub(crate) fn learns(&self, title: &str) -> bool {
        self.titles.contains(title)
    }

    /// What has been learned since this was last asked.
    pub fn poll(&self) -> Option<LearnedApi> {
        self.news.try_recv().ok()
    }

    /// Why it ended before its time, if it did. Nothing more is learned then.
    pub fn failure(&mut self) -> Option<String> {
        if !self.thread.as_ref()?.is_finished() {
            return None;
        }
        match self.thread.take()?.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(LearnError::Fault.to_string()),
        }
    }

    /// May there be news?
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Learner {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it has learned is written.
            let _ = thread.join();
        }
    }
}

struct Keeper<'a, H> {
    out: &'a Path,
    failed: Mutex<BTreeMap<String, String>>,
    hear: H,
}

impl<H: Fn(LearnedApi) + Sync> Observer<LearnError> for Keeper<'_, H> {
    fn observe(&self, event: LearnEvent<'_>) -> Result<(), LearnError> {
        match event {
            LearnEvent::Learned { name, learned, .. } => {
                learned.invariants.save(&rules_of(self.out, name))?;
                (self.hear)(LearnedApi {
                    title: name.to_owned(),
                    spec: learned_spec(self.out, name)
                        .map(Box::new)
                        .ok_or_else(|| "its rules cannot be read again".to_owned()),
                    crashes: learned.crashes.clone(),
                    remarks: learned.remarks.clone(),
                });
            }
            LearnEvent::Failed { name, reason, .. } => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.insert(name.to_owned(), reason.clone());
                write_failures(self.out, &failed)?;
                drop(failed);
                (self.hear)(LearnedApi {
                    title: name.to_owned(),
                    spec: Err(reason),
                    crashes: Vec::new(),
                    remarks: Vec::new(),
                });
            }
        }
        Ok(())
    }

    fn wanted(&self, name: &str, _pool: &Pool) -> bool {
        !rules_of(self.out, name).exists()
    }
}
