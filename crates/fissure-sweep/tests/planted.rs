//! Functions with planted defects are found with their intervals; their correct twins are not.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fissure_sweep::{Event, Exhaustive, Options, Report, exhaustive, sweep};

/// Each function is right, or wrong in the way that its name tells.
const PLANTED: &str = r#"
import os
import torch

def right(x):
    return torch.exp(x)

def wrong_between(x):
    """Off by a thousandth between 3 and 4, in float32 only."""
    y = torch.exp(x)
    return torch.where((x > 3) & (x < 4) & (x.dtype == torch.float32), y * 1.001, y)

def wrong_when_strided(x):
    y = torch.exp(x)
    return y if x.is_contiguous() else torch.where((x > 1) & (x < 1.5), y * 1.01, y)

def overflows_early(x):
    y = torch.exp(x)
    return torch.where((x > 88) & (x.dtype == torch.float32), torch.full_like(y, float("inf")), y)

def nan_inside(x):
    y = torch.exp(x)
    return torch.where((x > -2) & (x < -1) & (x.dtype != torch.float64), torch.full_like(y, float("nan")), y)

def near_a_zero(x):
    """A correct function whose last digits are lost near its zero: nothing is wrong."""
    return torch.log(x)

def large_arguments(x):
    """Its argument is reduced in its own type: the last digit of a large one decides, and nothing is wrong."""
    return torch.sin(x * 0.75)

def ends_the_process(x):
    if x.dtype == torch.float16:
        os.abort()
    return torch.exp(x)

def wrong_on_both_sides(x):
    """One cause, on both sides of zero and with right numbers in between."""
    y = torch.atan(x)
    off = (x.abs() > 2) & (x.abs() < 3) & ((x.abs() < 2.4) | (x.abs() > 2.5))
    return torch.where(off & (x.dtype == torch.float32), y * 1.001, y)

def flushes(x):
    """What is below the normal numbers is taken for zero, of which the logarithm is infinite; nothing is wrong."""
    if x.dtype == torch.float32 and x.is_contiguous():
        x = torch.where(x.abs() < 2**-126, 0 * x, x)
    return torch.log(x)

def steep(x):
    """Two ways to the same, which differ by what the last digit of the argument makes."""
    return torch.exp(64 * torch.log(x.abs())) if x.is_contiguous() else x**64

def steep_and_wrong_when_strided(x):
    return torch.exp(64 * torch.log(x.abs())) if x.is_contiguous() else 1.001 * x**64

def tanh(x):
    """Not odd."""
    return torch.where(x < -0.5, torch.tanh(x) * 0.9, torch.tanh(x))

def hypotenuse(x, y):
    return torch.hypot(x, y)

def hypotenuse_overflows(x, y):
    return torch.sqrt(x * x + y * y)

def product_wrong_when_strided(x, y):
    z = x * y
    return z if x.is_contiguous() else z + (y == 3)

def twice(x):
    return x * 2

def twice_wrong_at_the_edge(x):
    return torch.where(x == torch.iinfo(x.dtype).min, x + 1, x * 2) if not x.is_complex() and x.dtype != torch.int64 else x * 2

def square_of_complex(x):
    return x * x

def square_of_complex_wrong(x):
    return torch.where(x.imag == 3, torch.conj(x * x), x * x) if x.dtype == torch.complex64 else x * x

def wrong_at_five_numbers(x):
    """Neighbours of 3.3, which a sample of the numbers misses."""
    y = torch.exp(x)
    return torch.where((abs(x - 3.3) < 5e-7) & (x.dtype == torch.float32), y * 1.001, y)

def hangs_at_first(x):
    """As on a machine that is busy the first time."""
    import time
    # Shorter than what a part may take, and nothing can be written that the next process sees.
    if time.time() - os.path.getmtime(__file__) < 25:
        time.sleep(600)
    return torch.exp(x)

def sums(x):
    return x.sum()

def twice_(x):
    return x.mul_(2)

def thrice(x):
    return x * 3

def thrice_(x):
    """Wrong where it writes over its argument."""
    return x.copy_(torch.where((x > 1) & (x < 2), x * 3.5, x * 3))

def wrong_on_two_threads(x):
    y = torch.exp(x)
    return torch.where((x > 3) & (x < 4), y * 1.1, y) if torch.get_num_threads() == 2 else y

class Slope(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor):
        context.save_for_backward(x)
        context.factor = factor
        return torch.exp(x)

    @staticmethod
    def backward(context, given):
        (x,) = context.saved_tensors
        wrong = (x > 1) & (x < 2) & (x.dtype != torch.float64)
        return given * torch.where(wrong, context.factor * torch.exp(x), torch.exp(x)), None

def right_slope(x):
    return Slope.apply(x, 1.0)

def wrong_slope(x):
    return Slope.apply(x, 1.5)

def sin(x):
    return torch.sin(x)

def cos(x):
    """Right in all but the last five digits of float64, where nothing is wider."""
    return torch.cos(x) * (1 + 1e-11)

def erf(x):
    return torch.erf(x)

def erfc(x):
    return torch.erfc(x) * (1 + 1e-11)
"#;

fn swept(python: &Path, folder: &Path, functions: &[&str], dtype: &str) -> Report {
    swept_of(python, folder, functions, dtype, 1)
}

fn swept_of(python: &Path, folder: &Path, functions: &[&str], dtype: &str, tensors: u8) -> Report {
    let options = Options {
        python: python.to_owned(),
        library: "torch".into(),
        functions: functions
            .iter()
            .map(|name| format!("planted_sweep.{name}"))
            .collect(),
        dtypes: vec![dtype.to_owned()],
        count: 50_000,
        tensors,
        timeout: Duration::from_secs(300),
        workers: 2,
        search: vec![folder.to_owned()],
        ..Options::default()
    };
    sweep(&options, |_| {}).expect("the sweep runs")
}

fn kinds(report: &Report, name: &str) -> Vec<(String, f64, f64)> {
    let name = format!("planted_sweep.{name}");
    let profile = report.profiles.iter().find(|it| it.function == name);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    profile
        .unwrap_or_else(|| panic!("{name} was not swept: {report:?}"))
        .findings
        .iter()
        .map(|it| (it.kind.clone(), number(&it.from), number(&it.to)))
        .collect()
}

#[test]
fn planted_defects_are_intervals_and_correct_twins_are_silent() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let functions = [
        "right",
        "wrong_between",
        "wrong_when_strided",
        "overflows_early",
        "nan_inside",
        "near_a_zero",
        "large_arguments",
        "wrong_on_both_sides",
        "flushes",
        "steep",
        "steep_and_wrong_when_strided",
        "tanh",
        "sums",
    ];
    let report = swept(&python, folder.path(), &functions, "float32");
    let swept: Vec<&str> = report.profiles.iter().map(|it| &*it.function).collect();
    let asked: Vec<String> = (functions[..functions.len() - 1].iter())
        .map(|name| format!("planted_sweep.{name}"))
        .collect();
    assert_eq!(swept, asked, "two processes, one order");
    let both = kinds(&report, "wrong_on_both_sides");
    assert_eq!(both.len(), 1, "{both:?}");
    let profile = report.profiles.iter().find(|it| it.function == asked[7]);
    assert!(profile.is_some_and(|it| it.findings[0].mirrored));
    for silent in [
        "right",
        "near_a_zero",
        "large_arguments",
        "flushes",
        "steep",
    ] {
        assert_eq!(kinds(&report, silent), [], "{silent}");
    }
    for (name, kind, low, high) in [
        (
            "wrong_between",
            "far from the result in a wider type",
            3.0,
            4.0,
        ),
        (
            "wrong_when_strided",
            "vector and strided code disagree",
            1.0,
            1.5,
        ),
        (
            "overflows_early",
            "another class than in a wider type",
            88.0,
            88.8,
        ),
        (
            "nan_inside",
            "another class than in a wider type",
            -2.0,
            -1.0,
        ),
        (
            "steep_and_wrong_when_strided",
            "vector and strided code disagree",
            -5.0,
            5.0,
        ),
        ("tanh", "not odd", -1e30, 1e39),
    ] {
        let found = kinds(&report, name);
        assert!(!found.is_empty(), "{name}");
        let one = found.iter().find(|it| it.0 == kind);
        let (_, from, to) = one.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!(
            low <= *from && *to <= high || name == "tanh",
            "{name}: {found:?}"
        );
    }
    let skipped: Vec<&str> = report
        .skipped
        .iter()
        .map(|it| it.function.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["planted_sweep.sums"],
        "no function of each element"
    );
}

#[test]
fn a_function_that_ends_the_process_is_noted_and_the_next_is_swept() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let report = swept(
        &python,
        folder.path(),
        // The first and the third belong to one process.
        &["ends_the_process", "near_a_zero", "right"],
        "float16",
    );
    let crashed: Vec<&str> = report
        .crashes
        .iter()
        .map(|it| it.function.as_str())
        .collect();
    assert_eq!(crashed, ["planted_sweep.ends_the_process"]);
    assert!(report.crashes[0].how.contains("signal: 6"), "{report:?}");
    assert_eq!(kinds(&report, "right"), []);
    let profile = &report.profiles[0];
    assert!(
        profile.worst.is_some_and(|worst| worst < 1.0),
        "{profile:?}"
    );
    assert_eq!(
        profile.elements, 63_490,
        "all numbers of the type, NaN aside"
    );
}

#[test]
fn pairs_complex_and_whole_numbers_are_tried_on_grids() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let told = |functions: &[&str], dtype: &str, tensors| -> Vec<Vec<String>> {
        let report = swept_of(&python, folder.path(), functions, dtype, tensors);
        assert_eq!(report.profiles.len(), functions.len(), "{report:?}");
        let kinds = |it: &fissure_sweep::Profile| {
            it.findings.iter().map(|found| found.kind.clone()).collect()
        };
        report.profiles.iter().map(kinds).collect()
    };
    let class = "another class than in a wider type".to_owned();
    let pairs = [
        "hypotenuse",
        "hypotenuse_overflows",
        "product_wrong_when_strided",
    ];
    let found = told(&pairs, "float32", 2);
    assert!(found[0].is_empty(), "{found:?}");
    assert!(found[1].contains(&class), "{found:?}");
    assert!(
        found[2].contains(&"vector and strided code disagree".to_owned()),
        "{found:?}"
    );
    let found = told(&["twice", "twice_wrong_at_the_edge"], "int8", 1);
    assert!(found[0].is_empty(), "{found:?}");
    assert_eq!(found[1], ["another number than in 64 bits"]);
    let found = told(
        &["square_of_complex", "square_of_complex_wrong"],
        "complex64",
        1,
    );
    assert!(found[0].is_empty(), "{found:?}");
    assert_eq!(found[1], ["far from the result in a wider type"]);
}

#[test]
fn all_numbers_show_what_a_sample_misses_and_parts_that_are_kept_are_not_done_again() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let functions = ["right", "wrong_at_five_numbers"];
    let sampled = swept(&python, folder.path(), &functions, "float32");
    for name in functions {
        assert_eq!(kinds(&sampled, name), [], "{name}");
    }
    // The numbers from 2 to 8 are one of 256 parts.
    let kept = Exhaustive {
        folder: folder.path().join("kept"),
        shard: (193, 256),
    };
    let options = Options {
        python,
        library: "torch".into(),
        functions: functions.map(|it| format!("planted_sweep.{it}")).into(),
        timeout: Duration::from_secs(300),
        workers: 2,
        search: vec![folder.path().to_owned()],
        ..Options::default()
    };
    let run = || {
        let (mut parts, mut missing) = (0, Vec::new());
        let report = exhaustive(&options, &kept, |event| match event {
            Event::Part { .. } => parts += 1,
            Event::Unfinished { missing: left, .. } => missing.push(left),
            Event::Swept(_) | Event::Crashed(_) => {}
        });
        let report = report.expect("the sweep runs");
        assert!(report.crashes.is_empty() && report.skipped.is_empty());
        (parts, missing)
    };
    assert_eq!(run(), (2, vec![255, 255]));
    assert_eq!(run(), (0, vec![255, 255]), "what is kept is not done again");
    let part = |name: &str| {
        let file = kept.folder.join(format!("planted_sweep.{name}/192.json"));
        let text = fs::read_to_string(file).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    assert_eq!(part("right")["findings"], serde_json::json!([]));
    assert_eq!(part("right")["elements"], 1 << 24);
    let found = part("wrong_at_five_numbers");
    let finding = &found["findings"][0];
    assert_eq!(finding["kind"], "far from the result in a wider type");
    assert_eq!(finding["count"], 5, "{found}");
}

#[test]
fn other_forms_threads_and_derivatives_are_compared_and_float64_has_a_reference() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let wrong = [
        ("thrice", "in place and out of place disagree", 1.0, 2.0),
        (
            "wrong_on_two_threads",
            "one thread and two disagree",
            3.0,
            4.0,
        ),
        (
            "wrong_slope",
            "derivative: far from the result in a wider type",
            1.0,
            2.0,
        ),
    ];
    for dtype in ["bfloat16", "float32"] {
        let functions = [
            "twice",
            "thrice",
            "wrong_on_two_threads",
            "right_slope",
            "wrong_slope",
        ];
        let report = swept(&python, folder.path(), &functions, dtype);
        for silent in ["twice", "right_slope"] {
            assert_eq!(kinds(&report, silent), [], "{silent} {dtype}");
        }
        for (name, kind, low, high) in wrong {
            let found = kinds(&report, name);
            assert_eq!(found.len(), 1, "{name} {dtype}: {found:?}");
            assert_eq!(found[0].0, kind, "{name} {dtype}");
            assert!(found[0].1 >= low && found[0].2 <= high, "{found:?}");
        }
    }
    // The extended type of the processor, and the formula of the table.
    let functions = ["sin", "cos", "erf", "erfc"];
    let report = swept(&python, folder.path(), &functions, "float64");
    for (right, wrong) in [("sin", "cos"), ("erf", "erfc")] {
        assert_eq!(kinds(&report, right), [], "{right}");
        let found = kinds(&report, wrong);
        let far = |it: &(String, f64, f64)| it.0 == "far from the result in a wider type";
        assert!(found.iter().any(far), "{wrong}: {found:?}");
    }
}

#[test]
fn a_part_that_takes_too_long_is_tried_again_with_more_time() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planted_sweep.py"), PLANTED).unwrap();
    let kept = Exhaustive {
        folder: folder.path().join("kept"),
        shard: (193, 256),
    };
    let options = Options {
        python,
        library: "torch".into(),
        functions: vec!["planted_sweep.hangs_at_first".into()],
        timeout: Duration::from_secs(30),
        workers: 2,
        search: vec![folder.path().to_owned()],
        ..Options::default()
    };
    let mut parts = 0;
    let report = exhaustive(&options, &kept, |event| {
        parts += usize::from(matches!(event, Event::Part { .. }));
    });
    assert!(report.expect("the sweep runs").crashes.is_empty());
    assert_eq!(parts, 1);
    let file = kept.folder.join("planted_sweep.hangs_at_first/192.json");
    let part: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(part["elements"], 1 << 24);
}
