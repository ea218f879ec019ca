//! `kill -9` of a worker, of the zygote and of the orchestrator itself.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{batch, planted_options, run};
use fissure_execute::{Batch, Event, Pool, PoolOptions, SandboxOptions};
use fissure_model::{Execution, Outcome};
use rustix::process::{Pid, Signal, kill_process};

/// Set for a copy of this test program that plays the orchestrator and is killed.
const VICTIM: &str = "FISSURE_TEST_VICTIM_SCRATCH";

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let text = text.expect("the kernel lists children");
    text.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

fn alive(pid: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = status
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// The warden stands above the zygote and has its environment.
fn is_warden(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|it| *it == 0).any(|it| it == b"-I")
}

/// Processes whose environment leads below `scratch`, the whole tree of a pool without its warden.
fn processes_of(scratch: &std::path::Path) -> Vec<u32> {
    let Ok(scratch) = fs::canonicalize(scratch) else {
        return Vec::new();
    };
    let home = format!("HOME={}", scratch.join("home").display());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ"));
        alive(*pid)
            && !is_warden(*pid)
            && environment
                .is_ok_and(|text| text.split(|it| *it == 0).any(|it| it == home.as_bytes()))
    })
    .collect()
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs slow inputs, calls `disturb` with the process of the zygote in the middle, and returns all
/// executions.
fn run_disturbed(disturb: impl FnOnce(u32)) -> (Vec<Execution>, u64) {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.sandbox = SandboxOptions {
        confine_writes: false,
        cut_network: false,
    };
    let pool = Pool::start(options).unwrap();
    let values: Vec<i128> = (0..40).collect();
    let slow = Batch {
        api: crate::support::api("planted", "slow"),
        ..batch("slow", &values)
    };
    pool.submit(slow);
    // The zygote has no children before its first worker, and is itself a child of ours.
    let mut zygote = None;
    wait_until("a worker runs", || {
        zygote = processes_of(scratch.path())
            .into_iter()
            .find(|pid| !children(*pid).is_empty());
        zygote.is_some()
    });
    std::thread::sleep(Duration::from_millis(200));
    disturb(zygote.unwrap());
    match pool.events().recv_timeout(Duration::from_secs(60)).unwrap() {
        Event::Abnormal { execution, .. } => panic!("{execution:?}"),
        Event::Done { executions, .. } => {
            assert_eq!(pool.failure(), None);
            (executions, pool.stop().zygotes_started)
        }
    }
}

#[test]
fn calls_that_are_not_quick_share_their_time_and_quick_ones_are_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let options = PoolOptions {
        timeout: Duration::from_secs(30),
        ..planted_options(scratch.path())
    };
    let pool = Pool::start(options).unwrap();
    // A quick one first: what it imports does not make others slow. All of the time for slow calls goes into the next two.
    let limited = Batch {
        slow_calls: Some(Duration::from_secs(1)),
        ..batch("slow_tenths", &[0, 6, 20, 20, 0])
    };
    let executions = run(&pool, limited).executions;
    let ended: Vec<bool> = executions
        .iter()
        .map(|execution| execution.outcome == Outcome::Timeout)
        .collect();
    assert_eq!(ended, [false, false, true, true, false]);
    let executions = run(&pool, batch("slow_tenths", &[6, 20, 20, 0])).executions;
    let accepted = |execution: &Execution| matches!(execution.outcome, Outcome::Accepted { .. });
    assert!(
        executions.iter().all(accepted),
        "without it, each has the whole limit"
    );
}

#[test]
fn a_killed_worker_is_replaced_and_every_input_has_its_outcome() {
    let (executions, zygotes) = run_disturbed(|zygote| kill(children(zygote)[0]));
    assert_eq!(executions.len(), 40);
    assert!(
        executions
            .iter()
            .all(|it| it.outcome == Outcome::Accepted { nan: false })
    );
    assert_eq!(zygotes, 1);
}

#[test]
fn a_killed_zygote_is_replaced_and_every_input_has_its_outcome() {
    let (executions, zygotes) = run_disturbed(kill);
    assert_eq!(executions.len(), 40);
    assert!(
        executions
            .iter()
            .all(|it| it.outcome == Outcome::Accepted { nan: false })
    );
    assert_eq!(zygotes, 2);
}

#[test]
fn no_process_is_left_when_a_pool_is_stopped_or_dropped() {
    for stop in [true, false] {
        let scratch = tempfile::tempdir().unwrap();
        let pool = Pool::start(planted_options(scratch.path())).unwrap();
        pool.submit(batch("leave_children", &[7]));
        pool.submit(batch("hang", &[7]));
        std::thread::sleep(Duration::from_millis(300));
        assert!(processes_of(scratch.path()).len() >= 2);
        if stop {
            pool.stop();
        } else {
            drop(pool);
        }
        wait_until("all processes are gone", || {
            processes_of(scratch.path()).is_empty()
        });
    }
}

#[test]
fn children_left_behind_are_killed_while_the_run_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    run(&pool, batch("leave_children", &[1, 7, 2]));
    // The zygote and its worker remain.
    wait_until("the three children are gone", || {
        processes_of(scratch.path()).len() == 2
    });
    run(&pool, batch("fine", &[1]));
}

#[test]
fn no_process_is_left_when_the_orchestrator_is_killed() {
    let scratch = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killing::the_victim", "--include-ignored"])
        .env(VICTIM, scratch.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The zygote, two workers, three children of each.
    wait_until("all hang", || processes_of(scratch.path()).len() == 9);
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until("all processes are gone", || {
        processes_of(scratch.path()).is_empty()
    });
}

#[test]
#[ignore = "plays the orchestrator in the test above"]
fn the_victim() {
    let Some(scratch) = std::env::var_os(VICTIM) else {
        return;
    };
    let mut options = planted_options(scratch.as_ref());
    options.timeout = Duration::from_secs(600);
    options.workers = 2;
    let pool = Pool::start(options).unwrap();
    // Children in sessions of their own, below workers that never come back.
    pool.submit(batch("leave_children_and_hang", &[7]));
    pool.submit(batch("leave_children_and_hang", &[7]));
    std::thread::sleep(Duration::from_secs(600));
}
