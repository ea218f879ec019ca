//! The pool: slots, their queue, and the zygote they share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use fissure_model::Signature;

use crate::connection::Connection;
use crate::describer::Describer;
use crate::environment::make_folders;
use crate::error::ExecuteError;
use crate::folder::Folder;
use crate::interpreter;
use crate::options::{Batch, Busy, Event, PoolOptions, PoolStatistics, TargetInfo};
use crate::slot::Slot;
use crate::zygote::Zygote;

/// Batches that wait, per worker.
const QUEUE_PER_WORKER: usize = 2;

/// What slots have in common.
pub struct Shared {
    pub options: PoolOptions,
    pub scratch: PathBuf,
    /// The same, held open from before any target ran.
    pub folder: Folder,
    executable: PathBuf,
    cancelled: AtomicBool,
    zygote: Mutex<(u64, Option<Zygote>)>,
    statistics: Mutex<PoolStatistics>,
    /// What each slot does; `None`: it waits.
    busy: Mutex<Vec<Option<Busy>>>,
    failure: Mutex<Option<ExecuteError>>,
}

impl Shared {
    /// The socket of `slot`. If the zygote with the number `stale` is still the present one, it is
    /// replaced.
    pub fn connect(&self, slot: usize, stale: Option<u64>) -> Result<Connection, ExecuteError> {
        let mut guard = lock(&self.zygote);
        let (generation, zygote) = &mut *guard;
        let usable = zygote.as_mut().filter(|_| stale != Some(*generation));
        if let Some(found) = usable
            && let Some(socket) = found.take_slot(slot)
        {
            return Ok(Connection::new(socket, *generation, found));
        }
        // The old one ends before the new one imports: two at once would need twice the memory.
        drop(zygote.take());
        let slots = self.options.workers + 1;
        let mut new = Zygote::start(&self.options, &self.executable, &self.scratch, slots)?;
        self.count(|statistics| statistics.zygotes_started += 1);
        *generation += 1;
        let socket = new
            .take_slot(slot)
            .expect("a new zygote has the sockets of all slots");
        let connection = Connection::new(socket, *generation, &new);
        *zygote = Some(new);
        Ok(connection)
    }

    pub fn count(&self, change: impl FnOnce(&mut PoolStatistics)) {
        change(&mut lock(&self.statistics));
    }

    /// Says what a slot does now.
    pub fn set_busy(&self, slot: usize, busy: Option<Busy>) {
        if let Some(place) = lock(&self.busy).get_mut(slot) {
            *place = busy;
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Remembers the first reason for which the pool cannot go on, and stops it.
    pub fn fail(&self, error: ExecuteError) {
        lock(&self.failure).get_or_insert(error);
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Worker processes that run inputs. Dropping it ends all of them.
pub struct Pool {
    shared: Arc<Shared>,
    info: TargetInfo,
    queue: Option<Sender<Batch>>,
    events: Receiver<Event>,
    threads: Vec<JoinHandle<()>>,
    describer: Mutex<Describer>,
}

impl Pool {
    /// Imports the library and gets ready to run.
    pub fn start(mut options: PoolOptions) -> Result<Pool, ExecuteError> {
        options.workers = options.workers.max(1);
        let executable = interpreter::find(&options.python)?;
        let scratch = make_folders(&options.scratch)
            .map_err(ExecuteError::system("make the scratch folder"))?;
        let folder =
            Folder::open(&scratch).map_err(ExecuteError::system("open the scratch folder"))?;
        let workers = options.workers;
        let zygote = Zygote::start(&options, &executable, &scratch, workers + 1)?;
        let info = zygote.info.clone();
        let shared = Arc::new(Shared {
            options,
            scratch,
            folder,
            executable,
            cancelled: AtomicBool::new(false),
            zygote: Mutex::new((1, Some(zygote))),
            statistics: Mutex::new(PoolStatistics {
                zygotes_started: 1,
                ..Default::default()
            }),
            failure: Mutex::new(None),
            busy: Mutex::new(vec![None; workers]),
        });
        let (queue, batches) = bounded(QUEUE_PER_WORKER * workers);
        let (sender, events) = unbounded();
        let mut threads = Vec::with_capacity(workers);
        for number in 0..workers {
            let slot = Slot::new(number, Arc::clone(&shared), sender.clone())?;
            let batches = batches.clone();
            let thread = thread::Builder::new()
                .name(format!("slot-{number}"))
                .spawn(move || slot.serve(&batches))
                .map_err(ExecuteError::system("start a thread"))?;
            threads.push(thread);
        }
        let describer = Mutex::new(Describer::new()?);
        Ok(Pool {
            shared,
            info,
            queue: Some(queue),
            events,
            threads,
            describer,
        })
    }

    /// The library as it was found at the start.
    pub fn info(&self) -> &TargetInfo {
        &self.info
    }

    /// What the library says about the object with a dotted path. An object that is not there is
    /// an answer, not an error.
    pub fn describe(&self, path: &str) -> Result<Signature, ExecuteError> {
        lock(&self.describer).describe(&self.shared, path)
    }

    /// All that the library tells of a callable, every overload of it, as JSON.
    pub fn discover(&self, path: &str) -> Result<Vec<u8>, ExecuteError> {
        lock(&self.describer).ask(&self.shared, &format!("discover {path}"))
    }

    /// What there is beside an object that is not there: the full names of the members of the
    /// longest part of the path that exists.
    pub fn neighbours(&self, path: &str) -> Result<Vec<String>, ExecuteError> {
        let answer = lock(&self.describer).ask(&self.shared, &format!("neighbours {path}"))?;
        serde_json::from_slice(&answer).map_err(|error| ExecuteError::Describe {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Hands over a batch; waits while two per worker are waiting already.
    pub fn submit(&self, batch: Batch) {
        if let Some(queue) = &self.queue {
            queue
                .send(batch)
                .expect("slots take batches as long as the pool lives");
        }
    }

    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    /// Ends the batches under way soon; they and the waiting ones come back cut short.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Why batches come back cut short although nobody cancelled.
    pub fn failure(&self) -> Option<String> {
        lock(&self.shared.failure).as_ref().map(ToString::to_string)
    }

    /// What each worker does; `None`: it waits.
    pub fn busy(&self) -> Vec<Option<Busy>> {
        lock(&self.shared.busy).clone()
    }

    pub fn statistics(&self) -> PoolStatistics {
        *lock(&self.shared.statistics)
    }

    /// Ends all processes. Batches under way are cut short.
    pub fn stop(mut self) -> PoolStatistics {
        self.end();
        self.statistics()
    }

    fn end(&mut self) {
        self.cancel();
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // A slot that panicked has nothing left to end.
            let _ = thread.join();
        }
        lock(&self.describer).retire();
        drop(lock(&self.shared.zygote).1.take());
        for folder in ["work", "tmp"] {
            // What cannot be removed stays in a folder that is named scratch.
            let _ = self.shared.folder.remove(folder);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves counters and handles that are still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
