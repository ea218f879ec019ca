//! `--coverage` and `fissure coverage`, on a library in C that the test compiles.

mod support;

use std::process::Command;

use support::TestContext;

const NATIVE: &str = "int steps(int x) {
    volatile int y = 0;
    if (x > 3) y += 1;
    if (x > 1000) y += 2;
    return y;
}
int other(int x) { volatile int y = x; return y; }
";
const MODULE: &str = "import ctypes, os
native = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libnative.so'))
def steps(x: int):
    return native.steps(x)
def other(x: int):
    return native.other(x)
";

/// `None`, said, without a compiler.
fn package() -> Option<TestContext> {
    let context = TestContext::new();
    context.write("package/native.c", NATIVE);
    context.write("package/covered.py", MODULE);
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o", "libnative.so", "native.c"])
        .current_dir(context.path("package"))
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        return Some(context);
    }
    fissure_testing::say("no C compiler here, so native coverage is not tested");
    None
}

fn fuzz(context: &TestContext, api: &str, folder: &str) {
    let mut command = context.command();
    command.args([
        "fuzz",
        api,
        "--max-iter",
        "200",
        "--coverage",
        "--workdir",
        folder,
        "--python",
        "python3",
        "--pythonpath",
        "package",
    ]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("blocks of native code"), "{output:?}");
}

#[test]
fn a_run_with_coverage_names_the_functions_it_reached_and_two_runs_are_compared() {
    let Some(context) = package() else { return };
    fuzz(&context, "covered.steps", "first");
    fuzz(&context, "covered.other", "second");
    let show = |words: &[&str]| {
        let output = context
            .command()
            .arg("coverage")
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = show(&["first"]);
    assert!(
        text.contains("libnative") && text.contains("steps"),
        "{text}"
    );
    assert!(!text.contains("other "), "{text}");
    let both = show(&["first", "second", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(json["apis"].as_array().unwrap().len(), 2, "{both}");
    let difference = show(&["first", "--against", "second"]);
    assert!(
        difference.contains("steps") && difference.contains("other"),
        "{difference}"
    );
}

#[test]
fn a_folder_without_coverage_says_what_to_do() {
    let context = TestContext::new();
    context.write("run/run.json", "{}");
    let output = context
        .command()
        .args(["coverage", "run"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--coverage"), "{text}");
}
