//! Time that learning takes of a core, not of the day: on a busy machine the two differ by a factor,
//! and a limit in seconds of the day would cut learning short where the machine is slow, not where
//! the API is hard.

use std::path::Path;
use std::time::{Duration, Instant};

/// The kernel counts in hundredths of a second, on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// Counts the processor time of the thread that asks and of the processes it started, with theirs.
#[derive(Clone, Debug)]
pub(crate) struct CoreClock {
    wall: Instant,
    /// `None` where the kernel does not tell; then seconds of the day count.
    begin: Option<Duration>,
}

impl CoreClock {
    /// Starts counting; asked by the thread that learns.
    pub(crate) fn start() -> Self {
        CoreClock {
            wall: Instant::now(),
            begin: thread_time(),
        }
    }

    /// Since the start. A process that ended unseen is not counted, so this is a lower bound, and
    /// never more than the time that passed.
    pub(crate) fn elapsed(&self) -> Duration {
        let wall = self.wall.elapsed();
        match (self.begin, thread_time()) {
            (Some(begin), Some(now)) => now.saturating_sub(begin).min(wall),
            _ => wall,
        }
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }
}

/// What learning one API may take.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub clock: CoreClock,
    /// Of a core.
    pub time: Duration,
}

/// How many times its core time learning may last: calls that hang or sleep take no core.
const LASTING: f64 = 10.0;

impl Budget {
    /// The share that is gone; 1 when it is over.
    pub(crate) fn spent(&self) -> f64 {
        let time = self.time.as_secs_f64();
        let core = self.clock.elapsed().as_secs_f64() / time;
        let wall = self.clock.wall().as_secs_f64() / (time * LASTING);
        core.max(wall)
    }
}

fn thread_time() -> Option<Duration> {
    let thread = Path::new("/proc/thread-self");
    let own = times(&std::fs::read_to_string(thread.join("stat")).ok()?)?;
    let children = std::fs::read_to_string(thread.join("children")).ok()?;
    let started: Duration = children.split_whitespace().map(process_time).sum();
    Some(own.0 + started)
}

/// Of a process, those it has waited for, and those it has still running. One that has just ended
/// counts nothing.
fn process_time(process: &str) -> Duration {
    let folder = Path::new("/proc").join(process);
    let Some((own, ended)) = std::fs::read_to_string(folder.join("stat"))
        .ok()
        .and_then(|stat| times(&stat))
    else {
        return Duration::ZERO;
    };
    let mut total = own + ended;
    let threads = std::fs::read_dir(folder.join("task"));
    for thread in threads.into_iter().flatten().flatten() {
        if let Ok(children) = std::fs::read_to_string(thread.path().join("children")) {
            total += children.split_whitespace().map(process_time).sum();
        }
    }
    total
}

/// Own time, and that of children that were waited for, from a line of `stat`.
fn times(stat: &str) -> Option<(Duration, Duration)> {
    // The name of the program stands in brackets and may hold anything.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let ticks = |first: usize| -> Option<Duration> {
        let both: u32 = fields
            .get(first..first + 2)?
            .iter()
            .map(|field| field.parse::<u32>())
            .sum::<Result<u32, _>>()
            .ok()?;
        Some(TICK * both)
    };
    Some((ticks(11)?, ticks(13)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_program_with_an_odd_name_is_read() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 5";
        let (own, ended) = times(stat).unwrap();
        assert_eq!(own, Duration::from_secs(2));
        assert_eq!(ended, Duration::from_millis(500));
        assert!(times("7 (a) S 1").is_none());
    }

    #[test]
    fn waiting_costs_nothing_and_a_process_that_was_started_counts() {
        if thread_time().is_none() {
            fissure_testing::say("skipped: this kernel does not tell the processes of a thread");
            return;
        }
        let clock = CoreClock::start();
        std::thread::sleep(Duration::from_millis(300));
        assert!(clock.elapsed() < Duration::from_millis(200));
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let limit = Instant::now() + Duration::from_secs(60);
        while clock.elapsed() < Duration::from_millis(250) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        let counted = clock.elapsed();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(counted >= Duration::from_millis(250), "{counted:?}");
    }
}
