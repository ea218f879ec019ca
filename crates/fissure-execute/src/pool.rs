//! The pool: slots, their queue, and the zygote they share.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use fissure_model::Signature;

use crate::connection::Connection;
use crate::describer::Describer;
use crate::environment::make_folders;
use crate::error::ExecuteError;
use crate::folder::Folder;
use crate::forked::ForkedScripts;
use crate::interpreter;
use crate::options::{Batch, Busy, Event, PoolOptions, PoolStatistics, TargetInfo};
use crate::slot::Slot;
use crate::zygote::Zygote;

/// Batches that wait, per worker.
const QUEUE_PER_WORKER: usize = 2;
/// For what examples import (`apart.py` has a limit of its own for it).
const IMPORTS: Duration = Duration::from_secs(60);

/// The zygote that a pool and its [`Spares`] share, and what it needs to be started again.
struct Home {
    options: PoolOptions,
    scratch: PathBuf,
    executable: PathBuf,
    zygote: Mutex<(u64, Option<Zygote>)>,
    zygotes_started: AtomicU64,
    /// Sockets of slots that nobody uses for the moment.
    idle: Mutex<HashMap<usize, Connection>>,
    /// Numbers of spare slots that are not in use.
    free: Mutex<BTreeSet<usize>>,
}

impl Home {
    /// The workers', the describer's, and the spare ones: each worker's inputs may have to be made
    /// small and its scripts to be tried.
    fn slots(workers: usize) -> usize {
        3 * workers + 1
    }

    fn connect(&self, slot: usize, stale: Option<u64>) -> Result<Connection, ExecuteError> {
        let mut guard = lock(&self.zygote);
        let (generation, zygote) = &mut *guard;
        let idle = lock(&self.idle).remove(&slot);
        if let Some(mut idle) = idle.filter(|idle| idle.generation == *generation) {
            idle.hear();
            if !idle.is_lost() && stale != Some(*generation) {
                return Ok(idle);
            }
        }
        let usable = zygote.as_mut().filter(|_| stale != Some(*generation));
        if let Some(found) = usable
            && let Some(socket) = found.take_slot(slot)
        {
            return Ok(Connection::new(socket, *generation, found));
        }
        // The old one ends before the new one imports: two at once would need twice the memory.
        drop(zygote.take());
        let slots = Home::slots(self.options.workers);
        let mut new = Zygote::start(&self.options, &self.executable, &self.scratch, slots)?;
        self.zygotes_started.fetch_add(1, Ordering::Relaxed);
        *generation += 1;
        let socket = new
            .take_slot(slot)
            .expect("a new zygote has the sockets of all slots");
        let connection = Connection::new(socket, *generation, &new);
        *zygote = Some(new);
        Ok(connection)
    }

    fn keep(&self, slot: usize, connection: Connection) {
        lock(&self.idle).insert(slot, connection);
    }
}

/// Further workers and scripts from the zygote of a pool, which has imported the library already.
/// What is made of it must end before the pool does.
#[derive(Clone)]
pub struct Spares {
    home: Arc<Home>,
    info: TargetInfo,
}

impl Spares {
    /// A pool of one worker with a time limit of its own.
    pub fn pool(&self, timeout: Duration) -> Result<Pool, ExecuteError> {
        let slot = SpareSlot::take(&self.home)?;
        let options = PoolOptions {
            workers: 1,
            timeout,
            ..self.home.options.clone()
        };
        let folder = Folder::open(&self.home.scratch)
            .map_err(ExecuteError::system("open the scratch folder"))?;
        Pool::of(
            Arc::clone(&self.home),
            options,
            folder,
            self.info.clone(),
            Place::Spare(slot),
        )
    }

    /// One who runs scripts, one after the other.
    pub fn scripts(&self) -> Result<ForkedScripts, ExecuteError> {
        Ok(ForkedScripts::new(SpareSlot::take(&self.home)?))
    }
}

/// The number of a spare slot, for as long as it is in use.
pub(crate) struct SpareSlot {
    home: Arc<Home>,
    number: usize,
}

impl SpareSlot {
    fn take(home: &Arc<Home>) -> Result<SpareSlot, ExecuteError> {
        let number = lock(&home.free).pop_first();
        let number = number.ok_or_else(|| ExecuteError::ForkRefused {
            reason: "every spare slot of the zygote is in use".into(),
        })?;
        Ok(SpareSlot {
            home: Arc::clone(home),
            number,
        })
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn scratch(&self) -> &Path {
        &self.home.scratch
    }

    pub(crate) fn confines_signals(&self) -> bool {
        self.home.options.sandbox.confine_writes
    }

    pub(crate) fn connect(&self, stale: Option<u64>) -> Result<Connection, ExecuteError> {
        self.home.connect(self.number, stale)
    }

    pub(crate) fn keep(&self, connection: Connection) {
        self.home.keep(self.number, connection);
    }
}

impl Drop for SpareSlot {
    fn drop(&mut self) {
        lock(&self.home.free).insert(self.number);
    }
}

/// Whose slots a pool has.
enum Place {
    /// The first ones: it ends the zygote.
    Own,
    Spare(SpareSlot),
}

/// What slots have in common.
pub(crate) struct Shared {
    home: Arc<Home>,
    pub options: PoolOptions,
    pub scratch: PathBuf,
    /// The same, held open from before any target ran.
    pub folder: Folder,
    cancelled: AtomicBool,
    /// Questions are not answered any more.
    silenced: AtomicBool,
    statistics: Mutex<PoolStatistics>,
    /// Number of the first slot.
    first: usize,
    /// What each slot does; `None`: it waits.
    busy: Mutex<Vec<Option<Busy>>>,
    failure: Mutex<Option<ExecuteError>>,
}

impl Shared {
    /// The socket of `slot`. If the zygote with the number `stale` is still the present one, it is
    /// replaced.
    pub(crate) fn connect(
        &self,
        slot: usize,
        stale: Option<u64>,
    ) -> Result<Connection, ExecuteError> {
        self.home.connect(slot, stale)
    }

    /// Takes the socket of a slot that ends, for whoever comes after it.
    pub(crate) fn keep(&self, slot: usize, connection: Connection) {
        self.home.keep(slot, connection);
    }

    /// The slot of whoever answers questions.
    pub(crate) fn describer(&self) -> usize {
        self.home.options.workers
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut PoolStatistics)) {
        change(&mut lock(&self.statistics));
    }

    /// Says what a slot does now.
    pub(crate) fn set_busy(&self, slot: usize, busy: Option<Busy>) {
        if let Some(place) = lock(&self.busy).get_mut(slot - self.first) {
            *place = busy;
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn silenced(&self) -> &AtomicBool {
        &self.silenced
    }

    pub(crate) fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// Remembers the first reason for which the pool cannot go on, and stops it.
    pub(crate) fn fail(&self, error: ExecuteError) {
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
    place: Place,
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
        let slots = Home::slots(options.workers);
        let zygote = Zygote::start(&options, &executable, &scratch, slots)?;
        let info = zygote.info.clone();
        let home = Arc::new(Home {
            options: options.clone(),
            scratch,
            executable,
            zygote: Mutex::new((1, Some(zygote))),
            zygotes_started: AtomicU64::new(1),
            idle: Mutex::default(),
            free: Mutex::new((options.workers + 1..slots).collect()),
        });
        Pool::of(home, options, folder, info, Place::Own)
    }

    fn of(
        home: Arc<Home>,
        options: PoolOptions,
        folder: Folder,
        info: TargetInfo,
        place: Place,
    ) -> Result<Pool, ExecuteError> {
        let workers = options.workers;
        let first = match &place {
            Place::Own => 0,
            Place::Spare(slot) => slot.number,
        };
        let shared = Arc::new(Shared {
            scratch: home.scratch.clone(),
            home,
            options,
            folder,
            cancelled: AtomicBool::new(false),
            silenced: AtomicBool::new(false),
            statistics: Mutex::default(),
            first,
            failure: Mutex::new(None),
            busy: Mutex::new(vec![None; workers]),
        });
        let (queue, batches) = bounded(QUEUE_PER_WORKER * workers);
        let (sender, events) = unbounded();
        let mut threads = Vec::with_capacity(workers);
        for number in first..first + workers {
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
            place,
        })
    }

    /// What one call may take.
    pub fn timeout(&self) -> Duration {
        self.shared.options.timeout
    }

    /// Workers and scripts beside this pool's own, from the same zygote.
    pub fn spares(&self) -> Spares {
        Spares {
            home: Arc::clone(&self.shared.home),
            info: self.info.clone(),
        }
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

    /// Calls of a callable that its documentation makes, as JSON, if running them takes no longer. What they import for
    /// longer is imported once for all that is asked later, so that an answer may take more time.
    pub fn examples(&self, path: &str, limit: Duration) -> Result<Vec<u8>, ExecuteError> {
        let question = format!("examples {} {path}", limit.as_secs_f64());
        lock(&self.describer).ask_apart(&self.shared, &question, 2 * limit + IMPORTS)
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

    /// Lets go of the question under way, and answers none any more.
    pub fn stop_answering(&self) {
        self.shared.silenced.store(true, Ordering::Relaxed);
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
        let zygotes_started = self.shared.home.zygotes_started.load(Ordering::Relaxed);
        PoolStatistics {
            zygotes_started,
            ..*lock(&self.shared.statistics)
        }
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
        lock(&self.describer).end();
        if let Place::Spare(_) = self.place {
            return;
        }
        drop(lock(&self.shared.home.zygote).1.take());
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
