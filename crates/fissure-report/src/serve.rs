//! A dashboard that follows a run: the report's page, fed by the server as the run goes on.
//!
//! It reads; the one thing it can be asked to do is to run a finding's script again, and that only
//! with the token that the address on the terminal carries. Bound to anything but loopback, nothing
//! is answered without it.

mod guard;
mod metrics;
mod pages;
mod routes;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::run::{Run, RunError, RunReader};

pub use guard::Token;

/// How often the run is looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// What became of a finding's script that was run again.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayAnswer {
    /// `still fails`, `fixed`, …
    pub outcome: String,
    pub detail: String,
}

/// Runs the script in this folder of a finding again.
pub type Replayer = dyn Fn(&Path) -> Result<ReplayAnswer, String> + Send + Sync;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{0} is in use by another program: choose another --port (0 takes a free one)")]
    InUse(SocketAddr),
    #[error("failed to listen on {address}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("failed to serve")]
    Serve(#[source] io::Error),
}

pub struct Server {
    pub folder: PathBuf,
    pub address: SocketAddr,
    pub token: Token,
    pub replayer: Box<Replayer>,
}

/// Counts that tell a page what to ask for anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Seen {
    events: u64,
    findings: usize,
    /// Changes when the run was begun anew.
    generation: u64,
}

/// What all requests share.
struct Shared {
    folder: PathBuf,
    /// `None` until the run begins.
    run: Mutex<Option<RunReader>>,
    seen: watch::Sender<Seen>,
    pages: pages::Pages,
    token: Token,
    /// Only those with the token get an answer at all.
    closed: bool,
    replayer: Box<Replayer>,
    /// One script at a time: each may take all the memory it is allowed.
    replaying: tokio::sync::Mutex<()>,
}

impl Shared {
    fn run(&self) -> MutexGuard<'_, Option<RunReader>> {
        // Whoever panicked was only reading.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something of the run, if it has begun.
    fn with_run<T>(&self, look: impl FnOnce(&Run) -> T) -> Option<T> {
        self.run().as_ref().map(|reader| look(reader.run()))
    }

    /// Looks at the folder once and tells the pages what is new.
    fn follow(&self) {
        let mut run = self.run();
        let anew = match run.as_mut().map(RunReader::refresh) {
            Some(Ok(_)) => false,
            // The log became shorter: the run was begun anew.
            Some(Err(_)) => true,
            None => true,
        };
        if anew {
            // A folder that is not yet the one of a run stays an empty page.
            *run = RunReader::open(&self.folder).ok();
        }
        let counts = run.as_ref().map(|reader| {
            let run = reader.run();
            (run.totals.events, run.findings.len())
        });
        drop(run);
        let Some((events, findings)) = counts else {
            return;
        };
        self.seen.send_if_modified(|seen| {
            let now = Seen {
                events,
                findings,
                generation: seen.generation + u64::from(anew),
            };
            let changed = *seen != now;
            *seen = now;
            changed
        });
    }
}

/// Serves until `stop` is done. `ready` hears the address when the first request can come.
pub async fn serve(
    server: Server,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    if !server.folder.is_dir() {
        return Err(RunError::Missing(server.folder).into());
    }
    let run = match RunReader::open(&server.folder) {
        Ok(reader) => Some(reader),
        Err(RunError::NoRun(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let address = server.address;
    let listener = TcpListener::bind(address).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            ServeError::InUse(address)
        } else {
            ServeError::Listen { address, source }
        }
    })?;
    let local = listener.local_addr().map_err(ServeError::Serve)?;
    let shared = Arc::new(Shared {
        folder: server.folder,
        run: Mutex::new(run),
        seen: watch::Sender::new(Seen::default()),
        pages: pages::Pages::default(),
        token: server.token,
        closed: !address.ip().is_loopback(),
        replayer: server.replayer,
        replaying: tokio::sync::Mutex::new(()),
    });
    let follower = tokio::spawn(follow(Arc::clone(&shared)));
    ready(local);
    let serving = axum::serve(listener, routes::router(shared));
    // Pages that follow the run never end their connection: not waited for.
    let result = tokio::select! {
        result = serving => result.map_err(ServeError::Serve),
        () = stop => Ok(()),
    };
    follower.abort();
    result
}

async fn follow(shared: Arc<Shared>) {
    let mut interval = tokio::time::interval(INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let shared = Arc::clone(&shared);
        // Reading and parsing block.
        if tokio::task::spawn_blocking(move || shared.follow())
            .await
            .is_err()
        {
            break;
        }
    }
}
