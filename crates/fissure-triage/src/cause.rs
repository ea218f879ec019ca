//! What two failures must share to be one cause.
//!
//! A signature tells failures of one API apart as finely as they can be told. One defect, though, is
//! met through a module, a function and a method, is reported by several oracles, and, when it
//! writes where it must not, kills the process somewhere else each time. Each failure here has
//! *cause keys*; failures that share one are one finding.

use fissure_model::{Api, Execution, Finding, Oracle, Outcome, OutcomeKind, Verdict};

use crate::frames::{end_of_log, last_words};
use crate::signature::Signature;

/// Different memory faults of one API from which on they are taken for one corrupted heap.
pub(crate) const FAULTS: usize = 4;

/// Functions of the C library's allocator: a process that dies inside them was corrupted earlier.
const ALLOCATOR: [&str; 14] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "__libc_free",
    "__libc_malloc",
    "_int_malloc",
    "_int_free",
    "_int_realloc",
    "malloc_consolidate",
    "malloc_printerr",
    "unlink_chunk",
    "sysmalloc",
];

/// What the allocator says before it ends the process.
const COMPLAINTS: [&str; 10] = [
    "free(): ",
    "double free or corruption",
    "tcache_thread_shutdown(): ",
    "malloc(): ",
    "malloc_consolidate(): ",
    "corrupted size vs. prev_size",
    "corrupted double-linked list",
    "munmap_chunk(): invalid pointer",
    "realloc(): invalid",
    "*** stack smashing detected ***",
];

/// The operator that an API is a form of: `torch.nn.AvgPool2d`, `torch.nn.functional.avg_pool2d` and
/// `torch.Tensor.avg_pool2d_` are one. By the table of functions where it knows the name, else by
/// the last part of the path as libraries spell modules, functions, methods and in-place methods.
pub(crate) fn operator(api: &Api) -> String {
    let last = api.path.rsplit('.').next().unwrap_or(&api.path);
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|letter| *letter != '_');
        letters.flat_map(char::to_lowercase).collect()
    };
    let known = fissure_functions::functions().find(&api.path);
    let name = known.map_or_else(|| plain(last), |function| plain(&function.name));
    format!("{} {name}", api.package)
}

/// A fault of memory, of which a corrupted heap dies in many ways. `second run: SIGSEGV` is one as well; an
/// abort for which the library gives its reason is none.
pub(crate) fn is_memory_fault(verdict: &Verdict, execution: &Execution) -> bool {
    let signal = verdict.detail.rsplit(": ").next().unwrap_or_default();
    let words = execution
        .log
        .as_deref()
        .map(end_of_log)
        .and_then(last_words);
    let on_purpose = words.is_some_and(|words| !complains(&words));
    verdict.kind == OutcomeKind::Crash
        && ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGTRAP", "SIGILL"].contains(&signal)
        && !(signal == "SIGABRT" && on_purpose)
}

/// What the allocator says.
fn complains(text: &str) -> bool {
    COMPLAINTS.iter().any(|words| text.contains(words))
}

/// The process died of an access out of bounds: inside the allocator or by its word, of what was written before; at a
/// forbidden page; or in a call that went well the first time.
pub(crate) fn is_corrupted(verdict: &Verdict, execution: &Execution) -> bool {
    if !matches!(execution.outcome, Outcome::Crash { .. }) {
        return false;
    }
    let oracles = [Oracle::Determinism, Oracle::Uninitialised, Oracle::Guard];
    if oracles.contains(&verdict.oracle) {
        return true;
    }
    if execution.log.as_deref().is_some_and(complains) {
        return true;
    }
    let inside = |frame: &String| {
        let name = frame.rsplit('!').next().unwrap_or(frame);
        let name = name.split(['+', '(', ' ']).next().unwrap_or(name);
        ALLOCATOR.contains(&name)
    };
    execution.native_frames.iter().take(3).any(inside)
}

/// The keys of one failure. `others` are further reports (oracle, detail) on the same small input.
pub(crate) fn keys(api: &Api, signature: &Signature, others: &[(Oracle, String)]) -> Vec<String> {
    let (mut kind, mut oracle, mut detail) = ("", "", "");
    let mut said = Vec::new();
    let mut note = false;
    for line in signature.text().lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("note", _) => note = true,
            ("kind", text) => kind = text,
            ("oracle", text) => oracle = text,
            ("detail", text) => detail = text,
            // Python frames differ between the forms of one operator.
            ("api" | "at" | "cycle", _) => {}
            _ => said.push(line),
        }
    }
    if oracle == Oracle::Message.as_str() {
        // How a library words its refusals is one matter, whichever function refuses.
        return vec![format!("{}\nmessage {detail}", api.package)];
    }
    if note {
        return Vec::new();
    }
    let operator = operator(api);
    let mut keys: Vec<String> = signature.place().into_iter().collect();
    if oracle.is_empty() {
        // A crash of which nothing else is known says too little about another API.
        if !said.is_empty() {
            keys.push(format!("{operator}\n{kind} {detail}\n{}", said.join("\n")));
        }
    } else {
        keys.push(wrong(&operator, &Oracle::from(oracle), detail));
    }
    for (oracle, detail) in others {
        keys.push(wrong(&operator, oracle, detail));
    }
    if kind == OutcomeKind::Nan.name() {
        // Numbers go in and a NaN comes out: in a wider type, none does.
        keys.push(wrong(&operator, &Oracle::Placement, NAN_PLACEMENT));
    }
    if detail == "SIGFPE"
        && let Some(inside) = said.iter().find(|line| line.starts_with("native "))
    {
        // The function divides itself, whoever calls it: no helper is passed something wrong.
        keys.push(format!("{operator}\n{detail}\n{inside}"));
    }
    if detail == "SIGILL" {
        // The library takes the processor for another one than it is: it does so everywhere.
        keys.push(format!("{}\nillegal instruction", api.package));
    }
    keys
}

const NAN_PLACEMENT: &str = "nan placement";

/// The key of a wrong result: what was compared, whatever of its elements came out wrong. Which of them
/// are NaN or infinite is a matter of the values, and a function that one layout of its input misleads
/// is misled by others.
fn wrong(operator: &str, oracle: &Oracle, detail: &str) -> String {
    let special = [NAN_PLACEMENT, "inf placement"];
    let variant = special.iter().find_map(|end| detail.strip_suffix(end));
    let compared = match (oracle, detail.rsplit_once(": ")) {
        (Oracle::Layout, Some((_, what))) if variant.is_none() => what.to_owned(),
        (Oracle::Layout, _) => "values".to_owned(),
        (Oracle::Sweep, _) => swept(detail).to_owned(),
        // On the `meta` device and as fake tensors: the same prediction.
        (Oracle::Meta, Some((_, what))) => what.to_owned(),
        // In a longer tensor, one place further on, or alone: an element that depends on where it stands.
        (Oracle::KernelPath, Some((_, what))) if variant.is_none() => what.to_owned(),
        (Oracle::KernelPath, _) => "values".to_owned(),
        (Oracle::CoveredUp, _) => "values".to_owned(),
        // A value out of the range breaks the order, too.
        (Oracle::Contract, _) if BROKEN_VALUES.contains(&detail) => "values".to_owned(),
        _ => variant.map_or_else(|| detail.to_owned(), |variant| format!("{variant}values")),
    };
    format!("{operator}\nwrong {} {compared}", question(oracle))
}

/// What the oracle of properties says of numbers.
const BROKEN_VALUES: [&str; 2] = ["out of its range", "not rising"];

/// Oracles that ask the same question have one name for it.
fn question(oracle: &Oracle) -> String {
    match oracle {
        Oracle::Reference64 | Oracle::Placement | Oracle::CoveredUp => "in a wider type".to_owned(),
        other => other.to_string(),
    }
}

/// What a sweep says of an error that is no matter of digits.
const ORDINARY: &str = " for ordinary numbers";

/// What a sweep compared, whatever the element type: against a wider type, an interval that overflows, one that is
/// flushed to zero and one that is only far off are one formula.
fn swept(detail: &str) -> &str {
    let question = detail
        .rsplit_once(", ")
        .map_or(detail, |(question, _)| question);
    let of_itself = question.contains("disagree") || question.starts_with("not ");
    match of_itself || question.starts_with("outside") {
        true => question.trim_end_matches(ORDINARY),
        // What loses digits somewhere may be another formula than what is plainly wrong in one type.
        false if question.ends_with(ORDINARY) => "plain values",
        false => "values",
    }
}

/// Reads what is not its own: told by a forbidden page, by fresh memory, and by results that are
/// others each time.
fn reads_foreign_memory(finding: &Finding) -> bool {
    let verdict = &finding.verdict;
    match verdict.oracle {
        Oracle::Guard | Oracle::Uninitialised => true,
        Oracle::Determinism => verdict.detail.starts_with("second run"),
        _ => false,
    }
}

/// Whether other failures may be found to be this one. A note proves nothing about another API, unless it is about the
/// words of the library.
pub(crate) fn speaks_for_others(finding: &Finding) -> bool {
    !finding.is_note() || finding.verdict.oracle == Oracle::Message
}

/// The keys of a finding that was written.
pub(crate) fn keys_of(finding: &Finding) -> Vec<String> {
    let mut keys = keys(
        &finding.api,
        &Signature::of_finding(finding),
        &finding.also_by,
    );
    let (verdict, execution) = (&finding.verdict, &finding.execution);
    if is_memory_fault(verdict, execution) && is_corrupted(verdict, execution) {
        keys.push(heap(&finding.api));
    }
    if !finding.is_note() && reads_foreign_memory(finding) {
        keys.push(format!("{}\nforeign memory", operator(&finding.api)));
    }
    keys
}

/// The key of all memory faults of an API whose heap is corrupted.
pub(crate) fn heap(api: &Api) -> String {
    format!("heap {}", api.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::Confidence;

    fn died(detail: &str, oracle: Oracle, log: &str) -> (Verdict, Execution) {
        let verdict = Verdict {
            kind: OutcomeKind::Crash,
            oracle,
            confidence: Confidence::Crash,
            detail: detail.into(),
            note: false,
        };
        let mut execution = Execution::new(0, Outcome::Crash { signal: 6 }, Default::default());
        execution.log = Some(log.into());
        (verdict, execution)
    }

    #[test]
    fn an_abort_with_a_reason_is_no_fault_of_memory_and_a_call_that_dies_the_second_time_is() {
        let (verdict, run) = died(
            "SIGABRT",
            Oracle::FatalSignal,
            "Check failed: 1 == dims()\n",
        );
        assert!(!is_memory_fault(&verdict, &run));
        for words in [
            "free(): invalid size\n",
            "free(): corrupted unsorted chunks\n",
        ] {
            let (verdict, run) = died("SIGABRT", Oracle::FatalSignal, words);
            assert!(is_memory_fault(&verdict, &run) && is_corrupted(&verdict, &run));
        }
        let (verdict, run) = died("second run: values: SIGSEGV", Oracle::Determinism, "");
        assert!(is_memory_fault(&verdict, &run) && is_corrupted(&verdict, &run));
        let (verdict, run) = died("a page behind: SIGSEGV", Oracle::Guard, "");
        assert!(is_memory_fault(&verdict, &run) && is_corrupted(&verdict, &run));
        let (verdict, run) = died("SIGSEGV", Oracle::FatalSignal, "");
        assert!(is_memory_fault(&verdict, &run) && !is_corrupted(&verdict, &run));
    }

    #[test]
    fn a_division_by_zero_in_one_function_is_one_cause_whoever_calls_it() {
        let api = Api {
            path: "torch.pixel_shuffle".into(),
            package: "torch".into(),
            ..Api::default()
        };
        let keys_of = |detail: &str, frames: [&str; 2]| {
            let mut finding = Finding::new(
                api.clone(),
                died(detail, Oracle::FatalSignal, "").0,
                fissure_model::ConcreteInput {
                    number: 0,
                    arguments: Vec::new(),
                    layer_arguments: None,
                    intent: fissure_model::Intent::Conform,
                    mutations: Vec::new(),
                },
                Execution::new(0, Outcome::Crash { signal: 8 }, Default::default()),
            );
            finding.signature = format!(
                "api torch.pixel_shuffle\nkind crash\ndetail {detail}\nnative {}\nnative {}",
                frames[0], frames[1]
            );
            keys(&api, &Signature::of_finding(&finding), &[])
        };
        let share =
            |first: &[String], second: &[String]| first.iter().any(|key| second.contains(key));
        let dense = keys_of("SIGFPE", ["check_shapes", "dense"]);
        assert!(share(
            &dense,
            &keys_of("SIGFPE", ["check_shapes", "sparse"])
        ));
        assert!(!share(&dense, &keys_of("SIGFPE", ["other", "dense"])));
        let read = keys_of("SIGSEGV", ["copy", "dense"]);
        assert!(!share(&read, &keys_of("SIGSEGV", ["copy", "sparse"])));
    }

    #[test]
    fn oracles_that_compare_with_a_wider_type_ask_one_question() {
        let key = |oracle, detail| wrong("torch pdist", &oracle, detail);
        let far = key(Oracle::Reference64, "values");
        assert_eq!(far, key(Oracle::Placement, "inf placement"));
        assert_eq!(far, key(Oracle::CoveredUp, "covered up"));
        assert_ne!(far, key(Oracle::Layout, "transposed: values"));
        let meta = key(Oracle::Meta, "meta: dtype");
        assert_eq!(meta, key(Oracle::Meta, "fake tensors: dtype"));
        assert_ne!(meta, key(Oracle::Meta, "meta: shape"));
        let moved = key(Oracle::KernelPath, "shifted: values");
        assert_eq!(moved, key(Oracle::KernelPath, "longer: nan placement"));
        assert_ne!(moved, key(Oracle::KernelPath, "alone: raises"));
    }

    #[test]
    fn a_sweep_over_several_types_is_one_cause_and_another_question_is_another() {
        let key = |detail: &str| wrong("torch gelu", &Oracle::Sweep, detail);
        let far = key("far from the result in a wider type, float16");
        assert_eq!(far, key("zero for a normal number, bfloat16"));
        assert_ne!(far, key("vector and strided code disagree, float16"));
        assert_ne!(far, key("not odd, float16"));
        let plain = key("far from the result in a wider type for ordinary numbers, bfloat16");
        assert_ne!(far, plain);
        assert_eq!(
            plain,
            key("another class than in a wider type for ordinary numbers, float16")
        );
    }
}
