//! Asks the library about APIs before their first turn, on a thread of its own: answers import modules and run examples
//! of the documentation, and the workers do not wait for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::index::ApiIndex;
use crossbeam_channel::{Receiver, Sender, bounded};
use fissure_execute::{ExecuteError, Pool};
use fissure_model::Signature;

/// APIs that are asked about before anybody needs the answers.
pub(super) const AHEAD: usize = 12;

/// One API, and how much there is to ask.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub at: ApiIndex,
    pub path: String,
    /// Nothing is known of it: everything is asked.
    pub whole: bool,
    /// What running the examples of its documentation may take.
    pub patience: Duration,
}

/// What running the examples of an API's documentation may take, and where many APIs wait for their first turn.
pub(super) const EXAMPLES: Duration = Duration::from_secs(60);
pub(super) const EXAMPLES_OF_MANY: Duration = Duration::from_millis(1500);

/// What the library says of one API.
pub(super) struct Answers {
    pub signature: Result<Signature, ExecuteError>,
    /// Its overloads and the calls of its examples, as JSON; `None` where they were not asked for, or
    /// the question ended the process.
    pub description: Option<Vec<u8>>,
    pub examples: Option<Vec<u8>>,
}

#[derive(Default)]
struct State {
    /// What an API under way waits for.
    urgent: VecDeque<Question>,
    wanted: VecDeque<Question>,
    asking: Option<ApiIndex>,
    ready: HashMap<ApiIndex, Answers>,
    closed: bool,
}

pub(super) struct Scout {
    state: Mutex<State>,
    changed: Condvar,
    /// Something is ready.
    sender: Sender<()>,
    news: Receiver<()>,
}

impl Scout {
    pub(super) fn new() -> Scout {
        let (sender, news) = bounded(1);
        Scout {
            state: Mutex::default(),
            changed: Condvar::new(),
            sender,
            news,
        }
    }

    /// Told whenever there is an answer.
    pub(super) fn news(&self) -> &Receiver<()> {
        &self.news
    }

    /// What will be needed next, in this order, in place of what was wanted before.
    pub(super) fn want(&self, questions: impl Iterator<Item = Question>) {
        let mut state = self.lock();
        let wanted = questions
            .filter(|one| !state.ready.contains_key(&one.at) && state.asking != Some(one.at))
            .collect();
        state.wanted = wanted;
        self.changed.notify_one();
    }

    /// Asks this before everything else, once.
    pub(super) fn ask_first(&self, question: Question) {
        let mut state = self.lock();
        let asked = state.asking == Some(question.at)
            || state.ready.contains_key(&question.at)
            || state.urgent.iter().any(|one| one.at == question.at);
        if !asked {
            state.urgent.push_back(question);
            self.changed.notify_one();
        }
    }

    /// Whether there are answers for an API.
    pub(super) fn has(&self, at: ApiIndex) -> bool {
        self.lock().ready.contains_key(&at)
    }

    /// The answers for an API, once they are there.
    pub(super) fn take(&self, at: ApiIndex) -> Option<Answers> {
        self.lock().ready.remove(&at)
    }

    /// Nothing more will be asked.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Asks until it is closed.
    pub(super) fn serve(&self, pool: &Pool) {
        while let Some(question) = self.next() {
            let answers = ask(pool, &question);
            let mut state = self.lock();
            state.asking = None;
            state.ready.insert(question.at, answers);
            drop(state);
            // A full channel has told it already.
            let _ = self.sender.try_send(());
        }
    }

    fn next(&self) -> Option<Question> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            let first = state.urgent.pop_front();
            if let Some(question) = first.or_else(|| state.wanted.pop_front()) {
                state.asking = Some(question.at);
                return Some(question);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of it is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the scout and lets go of the question under way, however the run ends.
pub(super) struct Closing<'a> {
    pub scout: &'a Scout,
    pub pool: &'a Pool,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.scout.close();
        self.pool.stop_answering();
    }
}

fn ask(pool: &Pool, question: &Question) -> Answers {
    let signature = pool.describe(&question.path);
    let exists = signature
        .as_ref()
        .is_ok_and(|found| found.missing.is_none() && found.callable);
    let whole = question.whole && exists;
    // A worker that died of a question leaves the signature, which it has answered before.
    let description = whole.then(|| pool.discover(&question.path).ok()).flatten();
    let examples = whole
        .then(|| pool.examples(&question.path, question.patience).ok())
        .flatten();
    Answers {
        signature,
        description,
        examples,
    }
}
