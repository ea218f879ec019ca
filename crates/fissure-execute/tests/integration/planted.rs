//! Every way in which the planted library misbehaves is classified and attributed to its input,
//! and no other input loses its outcome.

use crate::support::{Answer, batch, planted_options, run};
use std::time::Duration;

use fissure_execute::{Batch, Event, Pool, SandboxOptions};
use fissure_model::{Execution, Outcome};

const VALUES: [i128; 9] = [0, 1, 7, 2, 3, 7, 4, 5, 6];

fn planted(function: &str) -> Answer {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    run(&pool, batch(function, &VALUES))
}

/// All inputs have an execution of their number; those with a 7 are returned, the others must
/// have been accepted.
fn sevens(answer: &Answer) -> Vec<&Execution> {
    assert_eq!(answer.executions.len(), VALUES.len());
    let mut sevens = Vec::new();
    for (at, (execution, value)) in answer.executions.iter().zip(VALUES).enumerate() {
        assert_eq!(execution.number, 100 + at as u64);
        if value == 7 {
            sevens.push(execution);
        } else {
            assert_eq!(
                execution.outcome,
                Outcome::Accepted { nan: false },
                "{execution:?}"
            );
        }
    }
    sevens
}

/// The function ends its process: told at once, with its input, and again in the batch.
fn assert_ends(function: &str, outcome: &Outcome) -> Vec<String> {
    let answer = planted(function);
    let sevens = sevens(&answer);
    assert_eq!(answer.abnormal.len(), sevens.len());
    for ((input, told), execution) in answer.abnormal.iter().zip(&sevens) {
        assert_eq!(input.number, execution.number);
        assert_eq!(&told, execution);
        assert_eq!(&execution.outcome, outcome, "{execution:?}");
    }
    sevens
        .iter()
        .map(|execution| execution.log.clone().expect("the process ended"))
        .collect()
}

#[test]
fn a_read_of_address_zero_is_a_crash_with_the_python_stack_in_its_log() {
    for log in assert_ends("segv", &Outcome::Crash { signal: 11 }) {
        assert!(log.contains("Segmentation fault"), "{log}");
        assert!(log.contains("in segv"), "{log}");
    }
}

#[test]
fn other_fatal_signals_are_told_apart() {
    assert_ends("abort", &Outcome::Crash { signal: 6 });
    assert_ends("fpe", &Outcome::Crash { signal: 8 });
    assert_ends("bus", &Outcome::Crash { signal: 7 });
    assert_ends("ill", &Outcome::Crash { signal: 4 });
}

#[test]
fn an_exit_after_the_librarys_own_fault_message_keeps_code_and_message() {
    for log in assert_ends("handler_exit", &Outcome::Exit { code: 255 }) {
        assert!(log.contains("Segmentation fault: 11"), "{log}");
    }
    assert_ends("plain_exit", &Outcome::Exit { code: 3 });
}

#[test]
fn a_hang_that_ignores_sigterm_is_a_timeout() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.timeout = Duration::from_millis(300);
    let pool = Pool::start(options).unwrap();
    for function in ["hang", "endless_flood"] {
        let answer = run(&pool, batch(function, &VALUES));
        for execution in sevens(&answer) {
            assert_eq!(execution.outcome, Outcome::Timeout);
            assert!(
                execution.duration >= Duration::from_millis(300),
                "{:?}",
                execution.duration
            );
            let log = execution.log.as_ref().expect("the process was ended");
            // The flood drowns it.
            let told = log.contains("in hang");
            assert_eq!(told, function == "hang", "the log tells where it hung");
            assert!(log.len() < 70_000, "the flood is cut");
        }
    }
}

#[test]
fn a_memory_hog_is_ended_at_the_limit_also_when_its_child_takes_the_memory() {
    assert_ends("memory_hog", &Outcome::OutOfMemory);
    assert_ends("hog_in_child", &Outcome::OutOfMemory);
}

#[test]
fn memory_that_earlier_inputs_left_is_not_blamed_on_a_later_one() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    // The limit of 256 MiB is passed inside the long batch and between the short ones.
    for values in [
        vec![1; 600],
        vec![1; 100],
        vec![1; 100],
        vec![1; 100],
        vec![1; 100],
    ] {
        let answer = run(&pool, batch("leak", &values));
        assert_eq!(answer.executions.len(), values.len());
        for execution in &answer.executions {
            assert_eq!(execution.outcome, Outcome::Accepted { nan: false });
        }
    }
    assert!(pool.stop().workers_recycled > 0);
}

#[test]
fn functions_that_harm_the_worker_but_return_are_accepted_and_nothing_is_lost() {
    for function in [
        "output_flood",
        "close_descriptors",
        "leave_children",
        "fork_and_return",
        "sticky_result",
        "endless_thread",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let pool = Pool::start(planted_options(scratch.path())).unwrap();
        for _ in 0..3 {
            let answer = run(&pool, batch(function, &VALUES));
            for execution in sevens(&answer) {
                assert_eq!(
                    execution.outcome,
                    Outcome::Accepted { nan: false },
                    "{function}"
                );
            }
        }
        let statistics = pool.stop();
        assert_eq!(
            (statistics.inputs, statistics.batches),
            (27, 3),
            "{function}"
        );
    }
}

#[test]
fn a_thread_that_crashes_after_the_call_is_the_crash_of_its_input() {
    assert_ends("late_thread_crash", &Outcome::Crash { signal: 11 });
}

#[test]
fn a_crash_while_the_result_is_let_go_is_the_crash_of_its_input() {
    assert_ends("crash_in_destructor", &Outcome::Crash { signal: 11 });
}

#[test]
fn exceptions_are_rejections_with_readable_text_whatever_they_do() {
    for (function, class, text) in [
        ("reject", "ValueError", "x must not be 7"),
        (
            "undecodable_text",
            "ValueError",
            "caf\\udce9 \\udcff\\x00end",
        ),
        ("huge_text", "ValueError", "yyyy"),
        (
            "unprintable_exception",
            "planted.Unprintable",
            "__str__ raised RuntimeError",
        ),
        ("internal_assert", "RuntimeError", "INTERNAL ASSERT FAILED"),
    ] {
        let answer = planted(function);
        for execution in sevens(&answer) {
            let Outcome::Rejected(exception) = &execution.outcome else {
                panic!("{function}: {execution:?}")
            };
            assert_eq!(exception.class, class);
            assert!(
                exception.message.contains(text),
                "{function}: {exception:?}"
            );
            assert!(exception.message.len() <= 4 * 2048, "{function}");
            assert_eq!(
                exception.frames.is_empty(),
                function != "internal_assert",
                "{function}"
            );
        }
        assert_eq!(answer.abnormal, []);
    }
}

#[test]
fn frames_name_the_library_and_not_fissure() {
    let answer = planted("internal_assert");
    for execution in sevens(&answer) {
        let Outcome::Rejected(exception) = &execution.outcome else {
            panic!("{execution:?}")
        };
        assert_eq!(exception.frames.len(), 1, "{exception:?}");
        assert!(exception.frames[0].contains("planted.py:"), "{exception:?}");
        assert!(
            exception.frames[0].ends_with(" internal_assert"),
            "{exception:?}"
        );
    }
}

#[test]
fn a_slip_of_the_library_has_frames_and_a_refusal_of_the_same_class_has_none() {
    for (function, slipped) in [("slip_of_the_library", true), ("refuses_an_index", false)] {
        let answer = planted(function);
        for execution in sevens(&answer) {
            let Outcome::Rejected(exception) = &execution.outcome else {
                panic!("{function}: {execution:?}")
            };
            assert_eq!(exception.class, "IndexError");
            assert_eq!(!exception.frames.is_empty(), slipped, "{exception:?}");
        }
    }
}

#[test]
fn exits_recursions_and_interrupts_are_fatal_exceptions() {
    for (function, class) in [
        ("system_exit", "SystemExit"),
        ("endless_recursion", "RecursionError"),
        ("interrupt", "KeyboardInterrupt"),
    ] {
        let answer = planted(function);
        let sevens = sevens(&answer);
        assert_eq!(answer.abnormal.len(), sevens.len(), "{function}");
        for execution in sevens {
            let Outcome::Fatal(exception) = &execution.outcome else {
                panic!("{function}: {execution:?}")
            };
            assert_eq!(exception.class, class);
        }
    }
}

#[test]
fn a_nan_deep_in_a_result_is_seen_only_when_asked() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    for check_nan in [true, false] {
        let mut asked = batch("not_a_number", &VALUES);
        asked.check_nan = check_nan;
        for execution in sevens(&run(&pool, asked)) {
            assert_eq!(execution.outcome, Outcome::Accepted { nan: check_nan });
        }
    }
}

#[test]
fn a_worker_that_is_killed_twice_on_one_input_is_a_crash_by_signal_nine() {
    let answer = planted("kill_itself");
    for execution in sevens(&answer) {
        assert_eq!(execution.outcome, Outcome::Crash { signal: 9 });
    }
}

#[test]
fn a_zygote_that_an_input_kills_is_replaced_and_the_input_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.sandbox = SandboxOptions {
        confine_writes: false,
        cut_network: false,
    };
    let pool = Pool::start(options).unwrap();
    let answer = run(&pool, batch("kill_parent", &VALUES));
    for execution in sevens(&answer) {
        assert_eq!(execution.outcome, Outcome::Crash { signal: 9 });
    }
    assert_eq!(pool.failure(), None);
    // Each of the two inputs is tried twice.
    assert_eq!(pool.stop().zygotes_started, 5);
}

#[test]
fn two_workers_survive_everything_at_once_and_lose_nothing() {
    let functions = [
        "fine",
        "segv",
        "abort",
        "plain_exit",
        "close_descriptors",
        "leave_children",
        "fork_and_return",
        "late_thread_crash",
        "endless_thread",
        "crash_in_destructor",
        "system_exit",
        "interrupt",
        "kill_itself",
        "reject",
        "output_flood",
        "leak",
    ];
    let scratch = tempfile::tempdir().unwrap();
    let mut options = planted_options(scratch.path());
    options.workers = 2;
    let pool = Pool::start(options).unwrap();
    let mut expected: Vec<(u64, &str)> = Vec::new();
    std::thread::scope(|scope| {
        for (id, function) in (0..).zip(functions.repeat(2)) {
            expected.push((id, function));
        }
        let batches = expected.clone();
        let pool = &pool;
        scope.spawn(move || {
            for (id, function) in batches {
                pool.submit(Batch {
                    id,
                    ..batch(function, &VALUES)
                });
            }
        });
        while !expected.is_empty() {
            let Event::Done {
                batch, executions, ..
            } = pool
                .events()
                .recv_timeout(Duration::from_secs(120))
                .unwrap()
            else {
                continue;
            };
            let (_, function) = expected.remove(
                expected
                    .iter()
                    .position(|(id, _)| *id == batch.id)
                    .expect("once for each batch"),
            );
            let answer = Answer {
                abnormal: Vec::new(),
                executions,
            };
            let bad = sevens(&answer)
                .iter()
                .all(|it| it.outcome != Outcome::Accepted { nan: false });
            let harmless = [
                "fine",
                "close_descriptors",
                "leave_children",
                "fork_and_return",
            ]
            .into_iter()
            .chain(["endless_thread", "output_flood", "leak"]);
            assert_eq!(
                bad,
                !harmless.into_iter().any(|it| it == function),
                "{function}"
            );
        }
    });
    assert_eq!(pool.failure(), None);
    assert_eq!(pool.stop().inputs, 32 * VALUES.len() as u64);
}

#[test]
fn a_worker_that_leaves_because_of_a_thread_is_not_the_fault_of_the_input_that_it_did_not_read() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    // The worker takes its time to leave: the next message is sent to one that will not read it.
    for function in ["slow_to_leave", "fine", "slow_to_leave", "fine"] {
        let answer = run(&pool, batch(function, &[7]));
        let [execution] = &answer.executions[..] else {
            panic!("{answer:?}");
        };
        assert_eq!(
            execution.outcome,
            Outcome::Accepted { nan: false },
            "{function}: {execution:?}"
        );
    }
    let statistics = pool.stop();
    assert!(statistics.workers_started >= 3, "{statistics:?}");
}

#[test]
fn what_one_api_spoils_is_not_taken_for_a_rejection_by_the_next() {
    let scratch = tempfile::tempdir().unwrap();
    let pool = Pool::start(planted_options(scratch.path())).unwrap();
    let values: Vec<i128> = (0..30).collect();
    for function in ["spoil", "spoilt", "spoil", "spoilt"] {
        let answer = run(&pool, batch(function, &values));
        let outcomes = answer.executions.iter();
        let accepted = outcomes.filter(|one| matches!(one.outcome, Outcome::Accepted { .. }));
        assert_eq!(accepted.count(), values.len(), "{function}: {answer:?}");
    }
}
