//! `import fissure`, `python -m fissure` and the pytest plugin; `tests/wheel/run` installs them from the
//! wheel.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{TestContext, run};

/// Functions of a user: one that is right, one that a number above 100 crashes.
const OPERATIONS: &str = "\
def good(x: int):
    return x + 1


def bad(x: int):
    if x > 100:
        import ctypes
        ctypes.string_at(0)
    return x
";

const TESTS: &str = "\
import operations
import pytest


@pytest.mark.fissure(target=operations.good, max_inputs=60)
def test_good():
    assert operations.good(1) == 2


@pytest.mark.fissure(target=operations.bad, max_inputs=300)
def test_bad():
    pass


def test_through_the_fixture(fissure_fuzz):
    assert not fissure_fuzz(operations.good, max_inputs=60)


@pytest.mark.fissure
def test_without_a_target():
    pass


@pytest.mark.fissure(max_inputs=60)
def halved(n: int):
    return n // 2


@pytest.mark.fissure(max_inputs=300)
def bad_too(n: int):
    return operations.bad(n)


def no_test(n: int):
    return operations.bad(n)


def test_that_has_nothing_to_do_with_it():
    pass
";

fn python(context: &TestContext) -> Command {
    let mut command = Command::new("python3");
    command
        .current_dir(context.path(""))
        .env("FISSURE_PROGRAM", env!("CARGO_BIN_EXE_fissure"))
        .env("PYTHONPATH", fissure_testing::root().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn text(output: &Output) -> String {
    let both = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[test]
fn a_function_is_fuzzed_from_python_and_findings_are_objects() {
    let context = TestContext::new();
    context.write("operations.py", OPERATIONS);
    context.write(
        "use.py",
        "import fissure, operations\n\
         assert not fissure.fuzz(operations.good, max_inputs=60)\n\
         result = fissure.fuzz(operations.bad, max_inputs=300, output='kept')\n\
         first, = result\n\
         assert (first.api, first.kind) == ('operations.bad', 'crash'), first\n\
         assert first.call.startswith('operations.bad(x='), first.call\n\
         assert 'ctypes' not in first.script and 'operations' in first.script\n\
         assert '<pre>' in result._repr_html_() and 'crash' in repr(first)\n\
         assert fissure.start_fuzz() is None and fissure.end_fuzz() is None\n\
         print(result)\n",
    );
    let output = python(&context).arg("use.py").output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 finding in 300 inputs, kept"), "{said}");
    assert!(context.path("kept/findings").is_dir());
}

#[test]
fn what_no_other_process_could_import_is_refused_with_what_to_do() {
    let context = TestContext::new();
    context.write(
        "use.py",
        "import fissure\n\
         def outer():\n    def inner(x): return x\n    return inner\n\
         for function in (outer(), lambda x: x):\n\
         \x20   try:\n        fissure.fuzz(function)\n\
         \x20   except fissure.FissureError as error:\n        print(error)\n",
    );
    let output = python(&context).arg("use.py").output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("the top of a module").count(), 2, "{said}");
}

#[test]
fn python_m_fissure_is_fissure_with_its_exit_code() {
    let context = TestContext::new();
    let version = python(&context)
        .args(["-m", "fissure", "--version"])
        .output()
        .unwrap();
    assert!(text(&version).starts_with("fissure "), "{version:?}");
    let wrong = python(&context)
        .args(["-m", "fissure", "--no-such"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// A folder of a virtual environment with these packages, or why there is none.
fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let step = |command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(text(&output)),
        Err(error) => Err(error.to_string()),
    };
    step(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let python = folder.join("bin/python");
    step(
        Command::new(&python)
            .args(["-m", "pip", "install", "-q"])
            .args(packages),
    )?;
    Ok(python)
}

#[test]
fn marked_tests_fail_with_the_smallest_call_and_a_crash_ends_one_test_only() {
    let context = TestContext::new();
    let python_of = match environment(&context.path("venv"), &["pytest"]) {
        Ok(python) => python,
        Err(why) => {
            return fissure_testing::say(&format!(
                "pytest cannot be had, so its plugin is not tried: {why}"
            ));
        }
    };
    context.write("operations.py", OPERATIONS);
    context.write("test_operations.py", TESTS);
    let mut command = python(&context);
    let environment: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = Command::new(python_of);
    command.current_dir(context.path("")).envs(environment);
    let output = command
        .args(["-m", "pytest", "-q", "-p", "fissure.pytest_plugin"])
        .output()
        .unwrap();
    let said = text(&output);
    assert!(said.contains("3 failed, 4 passed"), "{said}");
    assert!(said.contains("operations.bad(x="), "{said}");
    assert!(said.contains("replay: fissure replay "), "{said}");
    assert!(said.contains("bad_too(n="), "{said}");
    assert!(said.contains("the mark names no function"), "{said}");
    assert!(context.path(".fissure").is_dir());
}

#[test]
fn what_an_earlier_session_found_is_tried_first_and_forgotten_when_it_is_mended() {
    let context = TestContext::new();
    context.write("operations.py", OPERATIONS);
    context.write(
        "use.py",
        "import fissure, operations\n\
         print(fissure.still_failing('kept'))\n\
         assert fissure.fuzz(operations.bad, max_inputs=300, output='kept')\n\
         print(fissure.still_failing('kept'))\n\
         source = open('operations.py').read()\n\
         open('operations.py', 'w').write(source.replace('x > 100', 'False'))\n\
         print(fissure.still_failing('kept'))\n",
    );
    let output = python(&context).arg("use.py").output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("None\n"), "{said}");
    assert!(
        said.contains("1 finding of an earlier run still there"),
        "{said}"
    );
    assert!(said.trim_end().ends_with("None"), "{said}");
}

#[test]
fn the_hook_says_what_it_cannot_scan_and_fails_for_nothing_else() {
    let context = TestContext::new();
    context.write("broken.py", "import no_such_module\n");
    let output = python(&context)
        .args([
            "-c",
            "import sys; from fissure._pre_commit import main; sys.exit(main(sys.argv[1:]))",
        ])
        .args(["broken.py", "--python", "python3"])
        .output()
        .unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("broken.py: not scanned"), "{said}");
}

/// The project of someone who uses pytest: the code in `src`, data from fixtures and parameters.
const CONFTEST: &str = "import sys, pathlib, pytest, numpy\n\
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'src'))\n\n\
    @pytest.fixture\ndef logits():\n    return numpy.random.normal(size=4)\n";
const LOSSES: &str = "import numpy as np\n\ndef unstable(x):\n    e = np.exp(x)\n    return e / e.sum()\n\n\
    def stable(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()\n";
const LOSS_TESTS: &str = "import pytest\nfrom losses import stable, unstable\n\n\
    def test_stable(logits):\n    assert abs(stable(logits).sum() - 1) < 1e-6\n\n\
    class TestGroup:\n    @pytest.mark.parametrize('least', [0, 1])\n    \
    def test_sum(self, logits, tmp_path, least):\n        (tmp_path / 'a').mkdir()\n        \
    assert len(list(tmp_path.iterdir())) == 1\n        assert unstable(logits).sum() > least - 1\n";

#[test]
fn a_scan_runs_tests_as_pytest_does() {
    let context = TestContext::new();
    let python = match environment(&context.path("venv"), &["pytest", "numpy"]) {
        Ok(python) => python,
        Err(why) => {
            return fissure_testing::say(&format!(
                "pytest cannot be had, so tests are not scanned: {why}"
            ));
        }
    };
    context.write("pyproject.toml", "[project]\nname = 'losses'\n");
    context.write("src/losses.py", LOSSES);
    context.write("tests/conftest.py", CONFTEST);
    context.write("tests/test_losses.py", LOSS_TESTS);
    let scan = |target: &str| {
        let mut command = context.command();
        run(command
            .args(["scan", target, "--total-time", "30s", "--python"])
            .arg(&python))
    };
    let ran = scan("tests/test_losses.py::TestGroup::test_sum[1]");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("losses.py:4 exp"), "{ran:?}");
    // In a module that the tests import.
    assert!(ran.stdout.contains("fix (checked)"), "{ran:?}");
    let silent = scan("tests/test_losses.py::test_stable");
    assert_eq!(silent.code, Some(0), "{silent:?}");
    let missing = scan("tests/test_losses.py::test_elsewhere");
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let said = missing.stdout + &missing.stderr;
    assert!(said.contains("pytest finds no such test"), "{said}");
}
