//! Native frames of crashes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{
    Batch, Ended, Pool, PoolOptions, SandboxOptions, ScriptOptions, ScriptRun, check_tracing,
    run_script,
};
use fissure_model::{Dtype, Execution, Outcome, TensorData, TensorValue, Value};

use crate::support::{api, input, planted_options, python, run};

/// Ways to crash in native code, and one that is none.
const CRASHES: &str = r#"
import ctypes
import mmap
import os
import signal
import sys
import threading

LIBC = ctypes.CDLL(None)


def two_bugs(x):
    """Both are a bad pointer, found in the same line of Python."""
    sites = [LIBC.strtol, LIBC.qsort]
    sites[x % 2](ctypes.c_void_p(8 + x), ctypes.c_size_t(100), ctypes.c_size_t(8), LIBC.strlen)


def abort(x):
    os.abort()


def abort_in_thread(x):
    thread = threading.Thread(target=os.abort)
    thread.start()
    thread.join()


def call_nothing(x):
    ctypes.CFUNCTYPE(None)(16)()


def generated(x):
    """Code made at run time: saves two registers, then reads address zero."""
    code = b"\x55\x53\x31\xc0\x48\x8b\x00"
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()


def overflow(x):
    sys.setrecursionlimit(10**8)
    nested = []
    for _ in range(10**6):
        nested = [nested]
    repr(nested)


def survive_and_die(x):
    """A fault that is handled, and then an end that has no place in the code."""
    signal.signal(signal.SIGFPE, lambda number, frame: None)
    os.kill(os.getpid(), signal.SIGFPE)
    os.kill(os.getpid(), signal.SIGKILL)


def stop_and_go_on(x):
    """Stopped as by Ctrl-Z; a child lets it go on."""
    own = os.getpid()
    if os.fork() == 0:
        state = b""
        while state not in (b"T", b"t"):
            with open("/proc/%d/stat" % own, "rb") as stream:
                state = stream.read().rpartition(b")")[2].split()[0]
        os.kill(own, signal.SIGCONT)
        os._exit(0)
    os.kill(own, signal.SIGSTOP)
    os.wait()
    return x
"#;

struct Crashes {
    pool: Pool,
    _folders: [tempfile::TempDir; 2],
}

impl Crashes {
    /// `None` where the machine does not allow to look into processes.
    fn start() -> Option<Crashes> {
        if !can_trace() {
            return None;
        }
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        std::fs::write(folders[1].path().join("crashes.py"), CRASHES).unwrap();
        let mut options = planted_options(folders[0].path());
        options.extra_path.push(folders[1].path().to_owned());
        Some(Crashes {
            pool: Pool::start(options).unwrap(),
            _folders: folders,
        })
    }

    fn run(&self, function: &str, values: &[i128]) -> Vec<Execution> {
        let inputs = (0..)
            .zip(values)
            .map(|(number, x)| input(number, vec![("x", Value::Int(*x))]));
        let batch = Batch {
            id: 1,
            api: api("crashes", function),
            check_nan: false,
            oracles: Arc::default(),
            inputs: inputs.collect(),
            abandoned: Default::default(),
            slow_calls: None,
        };
        run(&self.pool, batch).executions
    }
}

fn can_trace() -> bool {
    check_tracing()
        .inspect_err(|error| println!("skipped: processes cannot be traced here: {error}"))
        .is_ok()
}

fn script(folder: &Path, python: &Path, text: &str) -> ScriptRun {
    let path = folder.join("script.py");
    std::fs::write(&path, text).unwrap();
    let options = ScriptOptions {
        timeout: Duration::from_secs(60),
        memory_limit: 8 << 30,
        scratch: folder.join("scratch"),
        sandbox: SandboxOptions::default(),
        environment: Vec::new(),
        cancelled: Default::default(),
    };
    run_script(python, &path, options).unwrap()
}

#[test]
fn two_bugs_in_one_function_have_two_lists_of_frames_whatever_the_inputs() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let executions = crashes.run("two_bugs", &[0, 2, 1, 4, 3, 6, 8, 5, 7, 9]);
    let frames = |parity| {
        let mut lists: Vec<_> = executions
            .iter()
            .zip([0, 0, 1, 0, 1, 0, 0, 1, 1, 1])
            .filter(|(_, of)| *of == parity)
            .map(|(execution, _)| {
                assert_eq!(execution.outcome, Outcome::Crash { signal: 11 });
                execution.native_frames.clone()
            })
            .collect();
        assert_eq!(lists.len(), 5);
        lists.dedup();
        assert_eq!(lists.len(), 1, "one bug: {lists:#?}");
        lists.remove(0)
    };
    let (first, second) = (frames(0), frames(1));
    assert_ne!(first, second);
    for frames in [&first, &second] {
        let module = |name: &str| frames.iter().position(|frame| frame.starts_with(name));
        assert_eq!(module("lib"), Some(0), "innermost first: {frames:#?}");
        assert!(module("_ctypes").is_some(), "the way there: {frames:#?}");
        assert!(module("[").is_none(), "{frames:#?}");
    }
}

#[test]
fn an_abort_is_seen_in_every_thread_and_where_it_was_called() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let mut outermost = Vec::new();
    for function in ["abort", "abort_in_thread"] {
        for execution in crashes.run(function, &[1, 2]) {
            assert_eq!(execution.outcome, Outcome::Crash { signal: 6 });
            let frames = execution.native_frames;
            // A handler raises it again; that is not the place.
            let aborts = frames.iter().filter(|frame| frame.ends_with("!abort"));
            assert_eq!(aborts.count(), 1, "{frames:#?}");
            assert!(
                !frames.iter().any(|frame| frame.contains("faulthandler")),
                "{frames:#?}"
            );
            outermost.push(frames.last().cloned());
        }
    }
    assert_eq!(outermost[0], outermost[1]);
    assert_eq!(outermost[2], outermost[3]);
    assert_ne!(outermost[0], outermost[2], "another thread began elsewhere");
}

#[test]
fn who_called_is_seen_behind_code_of_which_nothing_is_known() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let mut functions = vec![("call_nothing", "[no code]")];
    if cfg!(target_arch = "x86_64") {
        functions.push(("generated", "[generated code]"));
    }
    for (function, innermost) in functions {
        let executions = crashes.run(function, &[1]);
        assert_eq!(executions[0].outcome, Outcome::Crash { signal: 11 });
        let frames = &executions[0].native_frames;
        assert_eq!(frames[0], innermost);
        // Some builds of Python have libffi inside.
        assert!(
            ["libffi", "_ctypes"]
                .iter()
                .any(|module| frames[1].starts_with(module)),
            "{frames:#?}"
        );
    }
}

#[test]
fn a_stack_that_overflows_is_the_cycle_of_its_functions_at_any_depth() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let executions = crashes.run("overflow", &[1]);
    if let Outcome::Crash { .. } = executions[0].outcome {
        let worker = &executions[0].native_frames;
        assert_eq!(worker[0], "[stack overflow]");
        assert!((2..64).contains(&worker.len()), "{worker:#?}");
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{CRASHES}\n[overflow(1) for _ in (1,)]\n");
        let script = script(folder.path(), &python(), &text);
        assert_eq!(&script.native_frames, worker);
    } else {
        println!("skipped: this Python limits its recursion in C");
    }
}

#[test]
fn an_end_that_is_no_crash_has_no_frames() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let executions = crashes.run("survive_and_die", &[1]);
    assert_eq!(executions[0].outcome, Outcome::Crash { signal: 9 });
    assert_eq!(executions[0].native_frames, Vec::<String>::new());

    let executions = crashes.run("stop_and_go_on", &[1]);
    assert_eq!(executions[0].outcome, Outcome::Accepted { nan: false });
}

#[test]
fn a_script_shows_the_place_that_a_worker_shows() {
    let Some(crashes) = Crashes::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let worker = &crashes.run("two_bugs", &[0])[0].native_frames;
    let text = format!("{CRASHES}\ntwo_bugs(2)\n");
    let runs = [0, 1].map(|_| script(folder.path(), &python(), &text));
    for run in &runs {
        assert_eq!(run.ended, Ended::Signal(11));
        assert_eq!(run.native_frames[..4], worker[..4]);
        assert!(run.log.contains("in two_bugs"), "{}", run.log);
    }
    assert_eq!(runs[0].native_frames, runs[1].native_frames);

    let run = script(folder.path(), &python(), "import os\nos._exit(3)\n");
    assert_eq!((run.ended, run.native_frames), (Ended::Exit(3), Vec::new()));
}

#[test]
fn a_division_by_zero_in_torch_shows_its_function() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    if !can_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::start(PoolOptions::new(&python, "torch", folder.path())).unwrap();
    let tensor = TensorValue {
        dtype: Dtype::Float32,
        shape: vec![1; 4],
        data: TensorData {
            pattern: vec![0; 4].into(),
        },
    };
    let arguments = vec![
        ("input", Value::Tensor(tensor)),
        ("upscale_factor", Value::Int(1 << 32)),
    ];
    let batch = Batch {
        id: 1,
        api: api("torch", "pixel_shuffle"),
        check_nan: false,
        oracles: Arc::default(),
        inputs: vec![input(0, arguments.clone()), input(1, arguments)],
        abandoned: Default::default(),
        slow_calls: None,
    };
    let executions = run(&pool, batch).executions;
    if executions[0].outcome != (Outcome::Crash { signal: 8 }) {
        println!("skipped: this torch no longer divides by zero");
        return;
    }
    let frames = &executions[0].native_frames;
    let innermost = &frames[..2];
    assert!(
        innermost.iter().any(|frame| {
            frame.starts_with("libtorch_cpu!at::native::") && frame.contains("pixel_shuffle")
        }),
        "{frames:#?}"
    );
    assert_eq!(frames, &executions[1].native_frames);
}
