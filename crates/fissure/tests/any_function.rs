//! `fissure fuzz` on functions of which no file says anything: one's own, and any of a library.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Ran, TestContext, names, run};

const MINE: &str = r#"
def scale(values: list, factor: float = 2.0, times: int = 1) -> list:
    """Multiplies every value."""
    if times < 0:
        raise ValueError("times must be non-negative, got %d" % times)
    return [value * factor ** min(times, 3) for value in values if isinstance(value, (int, float))]


class Counter:
    def __init__(self, start: int = 0):
        self.start = start

    def __call__(self, step: int) -> int:
        return self.start + step
"#;

fn summary(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn accepted(summary: &Value) -> f64 {
    let tally = &summary["apis"][0]["tally"];
    let accepted = tally["conforming_accepted"].as_f64().unwrap();
    accepted / tally["conforming"].as_f64().unwrap()
}

#[test]
fn a_function_in_the_current_folder_is_fuzzed_from_its_annotations() {
    let context = TestContext::new();
    context.write("mine.py", MINE);
    let ran = run(context.command().args([
        "fuzz",
        "mine.scale",
        "--max-iter",
        "400",
        "--workdir",
        "out",
        "--json",
    ]));
    let summary = summary(&ran);
    assert_eq!(summary["skipped"], serde_json::json!([]), "{ran:?}");
    assert!(accepted(&summary) >= 0.5, "{}", accepted(&summary));
}

#[test]
fn a_function_of_a_file_and_a_class_of_src_are_fuzzed_too() {
    let context = TestContext::new();
    context.write("tools/mine.py", MINE);
    context.write("src/pack/__init__.py", MINE);
    for target in ["tools/mine.py::scale", "pack.Counter"] {
        let ran = run(context
            .command()
            .args(["fuzz", target, "--max-iter", "200", "--json"])
            .args(["--workdir", &target.replace(['/', ':'], "-")]));
        assert!(accepted(&summary(&ran)) > 0.3, "{target}: {ran:?}");
    }
}

/// Behind a word that nothing says, the source neither; only the user's tests know it.
const GUARDED: &str = r#"
import zlib


def guarded(values: list, word: str) -> float:
    if zlib.crc32(word.encode()) != 1136308350:
        raise ValueError("no")
    return sum(value for value in values if isinstance(value, (int, float)))
"#;

const TESTS: &str = r#"
import mine
import pytest


@pytest.mark.parametrize("count", [1, 2])
def test_guarded(count):
    assert mine.guarded([1.0] * count, "open sesame") == count
"#;

#[test]
fn calls_of_the_users_tests_lead_to_what_nothing_else_says() {
    let context = TestContext::new();
    context.write("mine.py", GUARDED);
    context.write("tests/test_mine.py", TESTS);
    let count = |flags: &[&str]| {
        let ran = run(context
            .command()
            .args(["fuzz", "mine.guarded", "--max-iter", "200", "--json"])
            .args(["--workdir", &format!("out{}", flags.len())])
            .args(flags));
        let counts = &summary(&ran)["apis"][0]["tally"]["counts"];
        counts["accepted"].as_u64().unwrap_or(0)
    };
    assert_eq!(count(&[]), 0);
    assert!(count(&["--observe", "tests"]) > 5);
}

/// Each accepts only what its annotation, or its own source, says.
const RECORDS: &str = r#"
import dataclasses
import typing


@dataclasses.dataclass
class Config:
    width: int
    rate: float = 0.5
    mode: typing.Optional[str] = None


class Point(typing.NamedTuple):
    row: int
    column: int = 1


class Options(typing.TypedDict):
    steps: int
    shrink: float


def with_config(config: Config) -> float:
    return config.width * config.rate


def with_point(point: Point) -> int:
    row, column = point
    return row + column


def with_options(options: Options) -> float:
    return options["steps"] * options["shrink"]


def called(what):
    return what(1)


def spoken(word):
    return word.upper().encode("utf-8", "replace").strip()


def measure(text: str) -> int:
    return len(text.split())


def handed(message):
    return measure(message) + 1
"#;

#[test]
fn records_and_what_the_source_does_with_a_parameter_are_enough() {
    let context = TestContext::new();
    context.write("mine.py", RECORDS);
    for (function, least) in [
        ("with_config", 0.5),
        ("with_point", 0.5),
        ("with_options", 0.5),
        ("called", 0.25),
        ("spoken", 0.5),
        ("handed", 0.5),
    ] {
        let ran = run(context
            .command()
            .args(["fuzz", &format!("mine.{function}"), "--max-iter", "200"])
            .args(["--python", "python3", "--oracles", "nan", "--json"])
            .args(["--workdir", function]));
        let share = accepted(&summary(&ran));
        assert!(share >= least, "{function}: {share} {ran:?}");
    }
}

const CUSTOM: &str = "import torch

@torch.library.custom_op('mine::twice', mutates_args=())
def twice(x: torch.Tensor, times: int) -> torch.Tensor:
    if times < 1:
        raise ValueError('times must be at least 1')
    return x * 2 ** min(times, 4)
";

#[test]
fn what_custom_op_makes_of_a_function_is_fuzzed_by_its_schema() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    context.write("mine.py", CUSTOM);
    let ran = run(context
        .command()
        .args(["fuzz", "mine.twice", "--max-iter", "200", "--json"])
        .args(["--oracles", "nan", "--workdir", "out", "--python"])
        .arg(&python));
    assert!(accepted(&summary(&ran)) >= 0.5, "{ran:?}");
}

#[test]
fn a_name_that_is_not_there_ends_with_the_one_that_was_meant() {
    let context = TestContext::new();
    context.write("mine.py", MINE);
    let ran =
        run(context
            .command()
            .args(["fuzz", "mine.scael", "--max-iter", "10", "--workdir", "out"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("did you mean mine.scale?"), "{ran:?}");
}

#[test]
fn the_same_seed_gives_the_same_inputs_also_when_rejections_are_repaired() {
    let inputs = |workers: &str| {
        let context = TestContext::new();
        context.write("mine.py", MINE);
        let ran = run(context
            .command()
            .args([
                "fuzz",
                "mine.scale",
                "--max-iter",
                "600",
                "--workdir",
                "out",
                "--save",
            ])
            .args(["--workers", workers, "--seed", "3"]));
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let folder = context.path("out/inputs");
        let read = |name: &String| std::fs::read(folder.join(name)).unwrap();
        names(&folder).iter().map(read).collect::<Vec<_>>()
    };
    let one = inputs("1");
    assert_eq!(one.len(), 600);
    assert!(one == inputs("2"), "two workers change nothing");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let below = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &below);
        } else {
            std::fs::copy(&path, &below).unwrap();
        }
    }
}

#[test]
fn both_bugs_of_the_example_operator_are_found_by_its_reference_and_made_small() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let context = TestContext::new();
    let example = fissure_testing::root().join("examples/own-operator");
    copy(&example, &context.path("project"));
    let ran = run(context
        .command()
        .current_dir(context.path("project"))
        .args([
            "fuzz",
            "--max-iter",
            "400",
            "--oracles",
            "nan",
            "--workdir",
            "out",
            "--python",
        ])
        .arg(&python));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let out = context.path("project/out");
    let folders: Vec<_> = ["torch", "windowed"]
        .iter()
        .flat_map(|package| {
            let findings = out.join(package).join("findings");
            names(&findings)
                .into_iter()
                .map(move |name| findings.join(name))
        })
        .filter(|folder| folder.join("finding.json").is_file())
        .collect();
    for api in ["torch.ops.windowed.window_sum", "windowed.ops.window_mean"] {
        let found = folders.iter().find(|folder| {
            let text = std::fs::read_to_string(folder.join("finding.json")).unwrap();
            text.contains(api) && text.contains("own-reference")
        });
        let folder = found.unwrap_or_else(|| panic!("{api}: {ran:?}"));
        let script = std::fs::read_to_string(folder.join("reproduce.py")).unwrap();
        assert!(script.contains("windowed.reference"), "{script}");
        assert!(script.len() < 6000, "small: {script}");
    }
}

#[test]
fn a_package_of_ones_own_runs_in_an_interpreter_that_has_what_it_imports() {
    if fissure_testing::torch_python().is_none() {
        return;
    }
    let context = TestContext::new();
    context.write("mypkg/__init__.py", "");
    // Only the module imports the library, the package does not.
    context.write(
        "mypkg/ops.py",
        "import torch\n\n\
         def window_sum(x: torch.Tensor, width: int) -> torch.Tensor:\n    \
             if width < 1:\n        raise ValueError('width must be positive')\n    \
             return x.unfold(-1, width, 1).sum(-1)\n",
    );
    let ran = run(context
        .command()
        .args([
            "fuzz",
            "mypkg.ops.window_sum",
            "--max-iter",
            "400",
            "--json",
        ])
        .args(["--offline", "--workdir", "out"]));
    assert!(ran.stderr.contains("using torch "), "{ran:?}");
    assert!(accepted(&summary(&ran)) >= 0.5, "{ran:?}");
}

#[test]
fn a_choice_that_the_library_refuses_is_dropped_from_its_file_and_a_right_file_stays() {
    let context = TestContext::new();
    context.write(
        "mine.py",
        "def pick(mode):\n    if mode not in ('a', 'b'):\n        raise ValueError('no such mode')\n    return mode\n",
    );
    let file = |choices: &str| {
        format!(
            "title: mine.pick\npackage: mine\ntarget: pick\nversion: '1'\nlink: x\n\
             inputs:\n  required: [mode]\n  optional: []\n\
             constraints:\n  mode:\n    dtype: [string]\n    enum: [{choices}]\n    evidence:\n      \
             - 'enum c | 0.85 | documentation: a, b or c'\n"
        )
    };
    context.write("wrong/mine.pick.yaml", &file("a, b, c"));
    context.write("right/mine.pick.yaml", &file("a, b"));
    let repair = |folder: &str| {
        let mut command = context.command();
        run(command.args(["specs", "repair", folder, "--pythonpath", "."]))
    };
    let ran = repair("wrong");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("mode: enum c dropped"), "{ran:?}");
    assert!(ran.stdout.contains("no such mode"), "{ran:?}");
    let sentence = "documentation bug: documentation: a, b or c";
    assert!(ran.stdout.contains(sentence), "{ran:?}");
    let text = std::fs::read_to_string(context.path("wrong/mine.pick.yaml")).unwrap();
    assert!(text.contains("enum: [a, b]"), "{text}");

    let before = std::fs::read_to_string(context.path("right/mine.pick.yaml")).unwrap();
    let ran = repair("right");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("dropped"), "{ran:?}");
    let after = std::fs::read_to_string(context.path("right/mine.pick.yaml")).unwrap();
    assert_eq!(before, after);
}

/// One function per style of documentation. The first promises a choice that it refuses and does not
/// say that it refuses a flag; the others keep what they say.
const DOCUMENTED: &str = r#"
def _look_up(mode):
    return {"a": 1, "b": 2}[mode]


def _checked(flag):
    if flag:
        raise ValueError("not yet")
    return 0


def google(mode, flag=False):
    """Google's style.

    Args:
        mode (str): one of 'a', 'b' or 'c'.
        flag (bool): Whether it is done.
    """
    return _look_up(mode) + _checked(flag)


def numpy_style(mode):
    """NumPy's style.

    Parameters
    ----------
    mode : {'a', 'b'}
        How.
    """
    return _look_up(mode)


def rest(mode):
    """Sphinx's style.

    :param mode: one of 'a' or 'b'
    :type mode: str
    """
    return _look_up(mode)


def torch_style(mode="a"):
    """torch_style(mode='a') -> int

    Args:
        mode (str, optional): ``'a'`` | ``'b'``. Default: ``'a'``
    """
    return _look_up(mode)
"#;

#[test]
fn a_planted_documentation_bug_is_told_and_what_the_library_shows_is_added() {
    let context = TestContext::new();
    context.write("mine.py", DOCUMENTED);
    // The package is in the folder that the command runs in.
    let mut command = context.command();
    let ran = run(command.args(["specs", "extract", "mine", "--out", "specs"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for name in ["google", "numpy_style", "rest", "torch_style"] {
        let text = std::fs::read_to_string(context.path(&format!("specs/mine.{name}.yaml")));
        let text = text.unwrap();
        assert!(text.contains("enum: [a, b"), "{text}");
    }
    let mut command = context.command();
    let ran = run(command.args(["specs", "repair", "specs"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("mine.google: mode: enum c dropped"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("mine.google: flag: enum False added"),
        "{ran:?}"
    );
    assert_eq!(
        ran.stdout.matches("documentation bug: ").count(),
        1,
        "{ran:?}"
    );
    // Another extraction keeps what was repaired, with its evidence.
    let mut command = context.command();
    let ran = run(command.args(["specs", "extract", "mine", "--out", "specs", "--update"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(context.path("specs/mine.google.yaml")).unwrap();
    assert!(
        text.contains("enum: [a, b]") && text.contains("added enum False"),
        "{text}"
    );
}
