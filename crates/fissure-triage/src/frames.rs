//! Where a failure happened: Python and native frames, from logs and exceptions.

use std::sync::LazyLock;

use regex::Regex;

use crate::mask::{mask, short_path};

/// Frames of each sort that go into a signature.
pub(crate) const TOP: usize = 3;
/// What a runtime prints before it aborts is not longer than this.
const RUNTIME_OUTPUT: usize = 4 << 10;

static FAULTHANDLER_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.+)$"#)
        .expect("a constant pattern that the tests use")
});

/// `frame #3: at::native::f(at::Tensor const&) + 0x1c (0x7f… in /…/libtorch_cpu.so)` of PyTorch,
/// `[bt] (3) /…/libmxnet.so(name+0x1c) [0x7f…]` of MXNet.
static NATIVE_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^\s*(?:frame #\d+: (?P<torch>.+?) \+ 0x[0-9a-f]+ \(0x[0-9a-f]+ in .*\)",
        r"|\[bt\] \(\d+\) [^\s(]+\((?P<mxnet>[^)+]+)\+0x[0-9a-f]+\).*)$",
    ))
    .expect("a constant pattern that the tests use")
});

/// What the C and C++ runtimes print before they abort.
static RUNTIME_MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^.*?(?P<text>terminate called .*|what\(\):  .*|pure virtual method called",
        r"|(?:free|malloc|realloc|munmap_chunk|calloc)\(\): .*|double free or corruption.*",
        r"|corrupted (?:size|double-linked list).*|\*\*\* stack smashing detected.*",
        r"|\*\*\* buffer overflow detected.*|Assertion [`'].* failed\.?",
        r"|Check failed: .*|CHECK failed.*)$",
    ))
    .expect("a constant pattern that the tests use")
});

/// Beginnings of native functions that every failure passes through.
pub(crate) const NATIVE_NOISE: &[&str] = &[
    "<unknown function>",
    "PyEval_",
    "PyObject_",
    "Py_",
    "_Py",
    "_start",
    "__clone",
    "__cxa_",
    "__libc_",
    "abort",
    "at::_ops::",
    "c10::Dispatcher",
    "c10::Error::",
    "c10::KernelFunction",
    "c10::detail::torch",
    "c10::impl::",
    "clone",
    "dmlc::LogMessageFatal",
    "gsignal",
    "raise",
    "start_thread",
    "std::rethrow_exception",
    "std::terminate",
];

/// A frame that belongs to Fissure, to the script that shows a finding, or to the interpreter.
fn is_noise(file: &str) -> bool {
    file.starts_with('<') || file.ends_with("/reproduce.py") || file == "reproduce.py"
}

/// The innermost frames of the thread that crashed, from the last report of Python's `faulthandler`
/// in the log, as `file:line function`.
pub(crate) fn crashed_frames(log: &str) -> Vec<String> {
    let Some(report) = log.rfind("Fatal Python error: ") else {
        return Vec::new();
    };
    let report = &log[report..];
    let Some(thread) = report.find("Current thread 0x") else {
        return Vec::new();
    };
    report[thread..]
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| FAULTHANDLER_FRAME.captures(line))
        .filter(|frame| !is_noise(&frame["file"]))
        .take(TOP)
        .map(|frame| {
            format!(
                "{}:{} {}",
                short_path(&frame["file"]),
                &frame["line"],
                &frame["function"]
            )
        })
        .collect()
}

/// The innermost of an exception's frames (which come innermost last), innermost first.
pub(crate) fn raised_frames(frames: &[String]) -> Vec<String> {
    frames
        .iter()
        .rev()
        .filter(|frame| !is_noise(file_of(frame)))
        .take(TOP)
        .map(|frame| short_frame(frame))
        .collect()
}

/// The functions that call each other without end. Which of them was innermost when the limit was
/// hit, and on which line, depends on the depth at which the call began.
pub(crate) fn recursion_cycle(frames: &[String]) -> Vec<String> {
    let mut functions: Vec<String> = frames
        .iter()
        .rev()
        .filter(|frame| !is_noise(file_of(frame)))
        .take(8 * TOP)
        .map(|frame| {
            let function = frame.rsplit(' ').next().unwrap_or(frame);
            format!("{} {function}", short_path(file_of(frame)))
        })
        .collect();
    functions.sort();
    functions.dedup();
    functions.truncate(TOP);
    functions
}

/// `file` of `file:line function`.
fn file_of(frame: &str) -> &str {
    frame.rsplit_once(':').map_or(frame, |(file, _)| file)
}

fn short_frame(frame: &str) -> String {
    let (file, rest) = frame.rsplit_once(':').unwrap_or((frame, ""));
    format!("{}:{rest}", short_path(file))
}

/// The innermost native functions of a stack printed by the library.
pub(crate) fn native_frames(text: &str) -> Vec<String> {
    NATIVE_FRAME
        .captures_iter(text)
        .filter_map(|frame| frame.name("torch").or_else(|| frame.name("mxnet")))
        .map(|function| function.as_str())
        .filter(|function| !NATIVE_NOISE.iter().any(|noise| function.starts_with(noise)))
        .take(TOP)
        .map(|function| mask(without_arguments(function)))
        .collect()
}

/// `at::native::f` of `at::native::f(at::Tensor const&)`.
fn without_arguments(function: &str) -> &str {
    match function.find('(') {
        // `(anonymous namespace)::f(…)` begins with a parenthesis of its own.
        Some(at) if at > 0 && !function[at..].starts_with("(anonymous") => &function[..at],
        _ => function,
    }
}

/// The part of a log that belongs to the crash. A worker runs many inputs, and what it wrote for
/// earlier ones stands before it.
pub(crate) fn end_of_log(log: &str) -> &str {
    let report = log.rfind("Fatal Python error: ").unwrap_or(log.len());
    &log[log.floor_char_boundary(report.saturating_sub(RUNTIME_OUTPUT))..]
}

/// What the C and C++ runtimes said before the abort, masked; the last few at most.
pub(crate) fn runtime_messages(log: &str) -> Vec<String> {
    let mut messages: Vec<String> = RUNTIME_MESSAGE
        .captures_iter(log)
        .map(|found| mask(&found["text"]))
        .collect();
    messages.dedup();
    if messages.len() > TOP {
        messages.drain(..messages.len() - TOP);
    }
    messages
}

/// The last thing that the C or C++ runtime said before the abort, as it was said.
pub(crate) fn last_words(log: &str) -> Option<String> {
    let last = RUNTIME_MESSAGE.captures_iter(log).last()?;
    Some(last["text"].trim_start_matches("what():").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"some output
Fatal Python error: Segmentation fault

Thread 0x00007f1e00000001 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait

Current thread 0x00007f1e10dbbb80 (most recent call first):
  File "/opt/lib/python3.11/site-packages/torch/functional.py", line 407 in einsum
  File "/opt/lib/python3.11/site-packages/torch/a.py", line 1 in <lambda>
  File "<fissure>/worker.py", line 90 in run
  File "<fissure>/zygote.py", line 12 in main

Extension modules: numpy (total: 1)
"#;

    #[test]
    fn the_crashed_thread_is_read_without_fissures_own_frames() {
        assert_eq!(
            crashed_frames(LOG),
            ["torch/functional.py:407 einsum", "torch/a.py:1 <lambda>"]
        );
        assert!(crashed_frames("nothing of the sort").is_empty());
    }

    #[test]
    fn native_frames_lose_dispatcher_arguments_and_addresses() {
        let log = "\
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x80 (0x7f12 in /x/libc10.so)
frame #1: c10::detail::torchCheckFail(char const*) + 0x6b (0x7f34 in /x/libc10.so)
frame #2: at::native::pool_out(at::Tensor const&, long) + 0x123 (0x7f56 in /x/libtorch_cpu.so)
frame #3: <unknown function> + 0x5 (0x7f78 in /x/libtorch_cpu.so)
  [bt] (4) /x/libmxnet.so(mxnet::op::Pool+0x12) [0x7f9a]
";
        assert_eq!(
            native_frames(log),
            ["at::native::pool_out", "mxnet::op::Pool"]
        );
    }

    #[test]
    fn the_last_words_are_not_masked() {
        let log = "2.1: F tensor.cc:733] Check failed: 1 == NumElements() (1 vs. 2)Must be one\n\
                   Fatal Python error: Aborted\n";
        let words = "Check failed: 1 == NumElements() (1 vs. 2)Must be one";
        assert_eq!(last_words(log).as_deref(), Some(words));
        let thrown = "terminate called after throwing\n  what():  no 17\n";
        assert_eq!(last_words(thrown).as_deref(), Some("no 17"));
        assert_eq!(last_words("Fatal Python error: Aborted\n"), None);
    }

    #[test]
    fn what_the_runtime_says_before_an_abort_is_found() {
        let log = "x\nterminate called after throwing an instance of 'std::length_error'\n  \
                   what():  vector::_M_default_append 17\nfree(): invalid pointer\n";
        assert_eq!(
            runtime_messages(log),
            [
                "terminate called after throwing an instance of 'std::length_error'",
                "what(): vector::_M_default_append *",
                "free(): invalid pointer"
            ]
        );
    }

    #[test]
    fn what_an_earlier_input_printed_is_not_taken_for_the_crash() {
        let log = format!("free(): invalid size\n{}{LOG}", "é ordinary\n".repeat(1000));
        assert!(runtime_messages(end_of_log(&log)).is_empty());
        assert_eq!(crashed_frames(end_of_log(&log)), crashed_frames(LOG));
        let log = format!("free(): invalid size\n{LOG}");
        assert_eq!(runtime_messages(end_of_log(&log)), ["free(): invalid size"]);
    }

    #[test]
    fn a_recursion_is_the_same_one_wherever_it_hit_the_limit() {
        let frame = |line: u32, name: &str| format!("/a/b/lib/x.py:{line} {name}");
        let ends_in_f = [frame(3, "g"), frame(1, "f"), frame(3, "g"), frame(1, "f")];
        let ends_in_g = [frame(1, "f"), frame(3, "g"), frame(1, "f"), frame(4, "g")];
        assert_eq!(recursion_cycle(&ends_in_f), recursion_cycle(&ends_in_g));
    }
}
