//! One version: a worker pool that several threads share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use fissure_execute::{Batch, Event, ExecuteError, Pool, PoolOptions};
use fissure_model::{Api, ConcreteInput, Execution, Oracle, Outcome};

/// What an input that ends its process, or runs into a limit, counts towards [`MOST_STRIKES`]. One that hangs is told, and
/// costs as much time as thousands that do not: there is no second.
const ENDED: u32 = 1;
const LIMIT: u32 = MOST_STRIKES;
/// After so many a batch is left: an API whose inputs all hang must not hold up the others.
const MOST_STRIKES: u32 = 12;

/// A batch under way.
struct Asked {
    answer: Sender<Vec<Execution>>,
    abandoned: Arc<AtomicBool>,
    strikes: u32,
}

type Waiting = Arc<Mutex<HashMap<u64, Asked>>>;

pub(crate) struct Side {
    pool: Pool,
    next: AtomicU64,
    waiting: Waiting,
    router: Option<JoinHandle<()>>,
}

impl Side {
    pub(crate) fn start(options: PoolOptions) -> Result<Side, ExecuteError> {
        let pool = Pool::start(options)?;
        let waiting = Waiting::default();
        let router = std::thread::spawn({
            let waiting = Arc::clone(&waiting);
            let events = pool.events().clone();
            move || route(&events, &waiting)
        });
        Ok(Side {
            pool,
            next: AtomicU64::new(1),
            waiting,
            router: Some(router),
        })
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Hands inputs over; their executions come in one piece, fewer than inputs when the pool ended.
    pub(crate) fn submit(
        &self,
        api: &Arc<Api>,
        modules: &Arc<[Oracle]>,
        inputs: Vec<ConcreteInput>,
    ) -> Receiver<Vec<Execution>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, receiver) = bounded(1);
        let abandoned = Arc::new(AtomicBool::new(false));
        let asked = Asked {
            answer,
            abandoned: Arc::clone(&abandoned),
            strikes: 0,
        };
        lock(&self.waiting).insert(id, asked);
        self.pool.submit(Batch {
            id,
            api: Arc::clone(api),
            check_nan: false,
            oracles: Arc::clone(modules),
            inputs,
            abandoned,
            slow_calls: None,
        });
        receiver
    }

    /// Ends all processes.
    pub(crate) fn stop(self) {
        let Side {
            pool,
            router,
            waiting,
            ..
        } = self;
        pool.stop();
        lock(&waiting).clear();
        if let Some(router) = router {
            // It ends with the pool's last event.
            let _ = router.join();
        }
    }
}

fn route(events: &Receiver<Event>, waiting: &Waiting) {
    for event in events {
        match event {
            Event::Done {
                batch, executions, ..
            } => {
                if let Some(asked) = lock(waiting).remove(&batch.id) {
                    // Who no longer listens does not want it.
                    let _ = asked.answer.send(executions);
                }
            }
            Event::Abnormal {
                batch, execution, ..
            } => {
                if let Some(asked) = lock(waiting).get_mut(&batch) {
                    let limit =
                        matches!(execution.outcome, Outcome::Timeout | Outcome::OutOfMemory);
                    asked.strikes += if limit { LIMIT } else { ENDED };
                    if asked.strikes >= MOST_STRIKES {
                        asked.abandoned.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic elsewhere leaves a table that is still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
