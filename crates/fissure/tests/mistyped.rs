//! Names with a slip of the fingers: exit code 2, and what was probably meant.

mod support;

use support::{Ran, TestContext, run};

const SMALL: &str = "def shift(n: int):\n    return n + 1\n\n\ndef turn(n: int):\n    return -n\n";

fn means(ran: &Ran, meant: &str) {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let said = ran.stdout.clone() + &ran.stderr;
    assert!(
        said.contains(&format!("did you mean {meant}")),
        "{meant}: {said}"
    );
}

#[test]
fn names_of_a_package_are_checked_by_every_command() {
    let context = TestContext::new();
    context.write("small.py", SMALL);
    context.write("parts/__init__.py", "");
    context.write("parts/turns.py", SMALL);
    let try_it = |arguments: &[&str]| {
        run(context
            .command()
            .args(arguments)
            .args(["--python", "python3"]))
    };
    means(&try_it(&["apis", "small.shfit"]), "small.shift");
    means(&try_it(&["apis", "parts.turn"]), "parts.turns");
    means(
        &try_it(&[
            "campaign",
            "small",
            "--api",
            "small.shfit",
            "--total-time",
            "5s",
        ]),
        "small.shift",
    );
    means(&try_it(&["fuzz", "./small.py:shift"]), "./small.py::shift");
    // What is there is listed.
    let listed = try_it(&["apis", "parts.turns", "--names"]);
    assert_eq!(listed.stdout.lines().count(), 2, "{listed:?}");
    let pattern = try_it(&["apis", "small", "*nothing*", "--names"]);
    assert_eq!((pattern.code, &*pattern.stdout), (Some(0), ""));
}

#[test]
fn a_part_of_a_command_names_the_whole() {
    let context = TestContext::new();
    let try_it = |arguments: &[&str]| run(context.command().args(arguments));
    means(
        &try_it(&["explain", "torch.add"]),
        "`fissure rules explain`",
    );
    means(&try_it(&["extract", "numpy"]), "`fissure specs extract`");
}

#[test]
fn a_mistyped_library_is_not_looked_for_on_the_index() {
    let context = TestContext::new();
    let ran = run(context
        .command()
        .args(["fuzz", "numpy.linalg.svd", "--env", "nunpy"]));
    means(&ran, "numpy?");
    assert!(!ran.stderr.contains("looking for"), "{ran:?}");
}

#[test]
fn soft_assertions_are_known_by_name() {
    let context = TestContext::new();
    for arguments in [["train", "lgo"], ["train", "torch.lgo"]] {
        let ran = run(context.command().args(arguments));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("needs --oracle"), "{ran:?}");
    }
    means(&run(context.command().args(["train", "lgo"])), "log");
    means(
        &run(context.command().args(["assertions", "show", "lgo"])),
        "log",
    );
}

#[test]
fn a_file_that_is_not_there_is_not_told_as_an_import_that_fails() {
    let context = TestContext::new();
    let Some(python) = fissure_testing::library_python("numpy", "numpy==2.4.6") else {
        return;
    };
    let scanned = run(context
        .command()
        .args(["scan", "missing.csv", "--python"])
        .arg(python));
    assert_eq!(scanned.code, Some(2), "{scanned:?}");
    let said = scanned.stdout.clone() + &scanned.stderr;
    assert!(
        said.contains("there is no such file, and no module `missing`"),
        "{said}"
    );
}
