//! `fissure replay` and `fissure bisect` on a library of which there are several releases.

#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod support;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fissure_environment::Surroundings;
use fissure_model::{
    Api, Argument, ConcreteInput, Confidence, Execution, Finding, Intent, Outcome, OutcomeKind,
    Passing, Value, Verdict,
};
use support::{Ran, TestContext, names, run};

/// The library: `{crashes}` says whether this release has the bug.
const LIBRARY: &str = r#"
import ctypes
__version__ = "{version}"
def pool(x):
    if x == 7 and {crashes}:
        ctypes.string_at(0)
    if x < 0:
        raise ValueError("negative")
    return x
"#;

fn library(version: &str, crashes: bool) -> String {
    LIBRARY
        .replace("{version}", version)
        .replace("{crashes}", if crashes { "True" } else { "False" })
}

fn finding(context: &TestContext, function: &str) -> PathBuf {
    let api = Api {
        title: format!("crackedlib.{function}"),
        package: "crackedlib".into(),
        path: format!("crackedlib.{function}"),
        ..Api::default()
    };
    let finding = Finding {
        id: format!("crackedlib.{function}-crash-SIGSEGV-00000000"),
        signature: "planted".into(),
        library_version: "1.4".into(),
        python_version: "3.11.7".into(),
        ..Finding::new(
            api,
            Verdict {
                kind: OutcomeKind::Crash,
                oracle: "fatal-signal".into(),
                confidence: Confidence::Crash,
                detail: "SIGSEGV".into(),
                note: false,
            },
            ConcreteInput {
                number: 0,
                arguments: vec![Argument {
                    name: "x".into(),
                    passing: Passing::Keyword,
                    value: Value::Int(7),
                }],
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: Vec::new(),
            },
            Execution::new(0, Outcome::Crash { signal: 11 }, Duration::ZERO),
        )
    };
    fissure_triage::write_finding(&context.path("run/findings"), &finding).unwrap()
}

fn replay(context: &TestContext, arguments: &[&str]) -> Ran {
    let mut command = context.command();
    command.arg("replay").args(arguments);
    command.args(["--python", "python3", "--pythonpath", "lib"]);
    run(&mut command)
}

#[test]
fn a_finding_still_fails_until_the_library_is_mended() {
    let context = TestContext::new();
    let folder = finding(&context, "pool");
    context.write("lib/crackedlib.py", &library("1.4", true));
    let ran = replay(&context, &["run"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("1 still fails"), "{ran:?}");

    context.write("lib/crackedlib.py", &library("1.5", false));
    let ran = replay(&context, &[folder.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told[0]["status"], "fixed", "{told}");
    assert_eq!(told[0]["found_in"], "1.4");

    context.write("lib/crackedlib.py", &library("1.3", false));
    let ran = replay(&context, &["run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("1 not yet broken"), "{ran:?}");
}

#[test]
fn a_finding_of_a_package_of_ones_own_is_run_again_from_anywhere() {
    let context = TestContext::new();
    context.write(
        "own/mine.py",
        "def f(x: int):\n    raise SystemError('\\x1b[31m')\n",
    );
    let mut fuzz = context.command();
    fuzz.current_dir(context.path("own"));
    fuzz.args(["fuzz", "mine.f", "--python", "python3", "--max-iter", "8"]);
    let ran = run(fuzz.args(["--workdir", "../run", "--quiet"]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = run(context
        .command()
        .args(["replay", "run", "--python", "python3"]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("1 still fails"), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    let found = names(&context.path("run/findings"));
    let script = context
        .path("run/findings")
        .join(&found[0])
        .join("reproduce.py");
    let ran = run(Command::new("python3").arg(script).current_dir("/"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn another_failure_is_a_change_and_a_missing_function_cannot_be_run() {
    let context = TestContext::new();
    finding(&context, "pool");
    let aborting = library("1.5", true).replace("ctypes.string_at(0)", "__import__('os').abort()");
    context.write("lib/crackedlib.py", &aborting);
    let ran = replay(&context, &["run/findings"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout.contains("dies of SIGABRT, it was SIGSEGV"),
        "{ran:?}"
    );

    let context = TestContext::new();
    finding(&context, "gone");
    context.write("lib/crackedlib.py", &library("1.5", true));
    let ran = replay(&context, &["run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("1 cannot run"), "{ran:?}");
    assert!(ran.stdout.contains("has no attribute"), "{ran:?}");
}

#[test]
fn what_is_no_finding_is_a_usage_error() {
    let context = TestContext::new();
    context.write("empty/file.txt", "");
    for path in ["no-such-folder", "empty"] {
        let ran = replay(&context, &[path]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(path), "{ran:?}");
    }
}

/// Releases of the library as wheels in a folder, without an index.
fn wheels(context: &TestContext, releases: &[(&str, bool)]) -> PathBuf {
    let folder = context.path("wheels");
    std::fs::create_dir_all(&folder).unwrap();
    for (version, crashes) in releases {
        let module = context.write(&format!("source/{version}.py"), &library(version, *crashes));
        let program = "import sys, zipfile\n\
            folder, version, module = sys.argv[1:]\n\
            info = 'crackedlib-%s.dist-info/' % version\n\
            with zipfile.ZipFile('%s/crackedlib-%s-py3-none-any.whl' % (folder, version), 'w') as it:\n    \
            it.write(module, 'crackedlib.py')\n    \
            it.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: crackedlib\\nVersion: %s\\n' % version)\n    \
            it.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n    \
            it.writestr(info + 'RECORD', '')\n";
        let status = Command::new("python3")
            .args(["-c", program])
            .arg(&folder)
            .arg(version)
            .arg(module)
            .status()
            .unwrap();
        assert!(status.success());
    }
    folder
}

/// A PATH with one Python and one uv, so that no time goes into asking every interpreter of the
/// machine and into installing uv; `None` when there is no uv to borrow or no pip to list releases.
fn few_programs(context: &TestContext) -> Option<PathBuf> {
    let surroundings = Surroundings::from_process().unwrap();
    let ours = surroundings.root.join("tools/uv/bin/uv");
    let uv = surroundings
        .find_program("uv")
        .or_else(|| surroundings.find_program(ours))?;
    let python = surroundings.find_program("python3")?;
    let python = fissure_environment::probe(&surroundings, &python, "pip").ok()?;
    let programs = context.path("programs");
    std::fs::create_dir_all(&programs).unwrap();
    symlink(uv, programs.join("uv")).unwrap();
    symlink(&python.executable, programs.join("python3")).unwrap();
    python.has_pip.then_some(programs)
}

fn bisect(context: &TestContext, folder: &Path, versions: &str) -> Command {
    let mut command = context.command();
    command
        .args(["bisect", folder.to_str().unwrap(), "--versions", versions])
        .args(["--package", "crackedlib", "--json"])
        .env("FISSURE_HOME", context.path("fissure-home"))
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", context.path("wheels"));
    command
}

#[test]
fn the_releases_in_which_a_failure_came_and_went_are_found() {
    let context = TestContext::new();
    let Some(programs) = few_programs(&context) else {
        eprintln!("skipped: there is no uv here, or python3 has no pip");
        return;
    };
    let folder = finding(&context, "pool");
    wheels(
        &context,
        &[
            ("1.2", false),
            ("1.3", true),
            ("1.4", true),
            ("1.5", false),
            ("3.0", true),
        ],
    );
    let ran = run(bisect(&context, &folder, "1.0..1.5")
        .env("PATH", programs)
        .env("HOME", context.path("home")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&told["first_bad"], &told["first_good"]),
        (&"1.3".into(), &"1.5".into()),
        "{told}"
    );
    let left = names(&context.path("fissure-home/environments"));
    assert!(
        !left.iter().any(|name| name.starts_with("crackedlib")),
        "{left:?}"
    );
}

#[test]
fn a_range_that_cannot_be_read_is_a_usage_error() {
    let context = TestContext::new();
    let folder = finding(&context, "pool");
    for versions in ["2.0", "a..b", "..2.0", "2.0.."] {
        let ran = run(&mut bisect(&context, &folder, versions));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("--versions"), "{ran:?}");
    }
}
