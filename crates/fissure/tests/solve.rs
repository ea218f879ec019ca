//! `fissure solve`: abstract inputs from rules, and why there are none.

mod support;

use support::{TestContext, run};

const AGAINST: &str = "param n: int\nparam x: tensor\nrule small: n < 3\nrule rank: ndim(x) = 2\n\
                       rule large: n > shape(x, 0) + 4\n";
const PLAIN: &str = "api torch.f\nlibrary torch 2.9.1\nparam n: int\nrule few: n in [1, 9]\n\
                     rule implied: n < 20\n";

#[test]
fn inputs_are_json_lines_each_once_and_the_same_for_the_same_seed() {
    let context = TestContext::new();
    context.write("invariants/torch.f.rules", PLAIN);
    let solve = |more: &[&str]| run(context.command().args(["solve", "torch.f"]).args(more));
    let all = solve(&[]);
    assert_eq!(all.code, Some(0), "{all:?}");
    assert_eq!(all.stdout.lines().count(), 9, "{all:?}");
    assert!(all.stderr.contains("9 inputs, 9 distinct"), "{all:?}");
    assert!(
        all.stderr
            .contains("from invariants/torch.f.rules (learned with torch 2.9.1)"),
        "{all:?}"
    );
    let values = |stdout: &str| -> Vec<serde_json::Value> {
        let lines = stdout.lines();
        lines
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["arguments"].clone()
            })
            .collect()
    };
    assert_eq!(all.stdout, solve(&[]).stdout, "byte for byte");
    let timed = solve(&["--timings"]);
    assert_eq!(values(&all.stdout), values(&timed.stdout));
    assert!(
        timed
            .stdout
            .lines()
            .all(|line| line.contains("\"seconds\":"))
    );
    assert_ne!(values(&all.stdout), values(&solve(&["--seed", "4"]).stdout));
    let again = solve(&["--n", "40", "--regen", "9"]);
    assert!(again.stderr.contains("40 inputs, 9 distinct"), "{again:?}");
    let broken = solve(&["--breaking", "few", "--n", "5"]);
    assert_eq!(broken.stdout.lines().count(), 5, "{broken:?}");
    let wrong = solve(&["--breaking", "fwe"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

#[test]
fn contradicting_rules_are_named_without_a_solver_and_it_is_said_that_the_answer_is_not_exact() {
    let context = TestContext::new();
    context.write("against.rules", AGAINST);
    let ran = run(context
        .command()
        .args(["solve", "against.rules", "--explain", "--offline"])
        .env("FISSURE_HOME", context.path("home"))
        .env("PATH", "")
        .env_remove("FISSURE_Z3"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no exact answer"), "{ran:?}");
    assert!(ran.stderr.contains("fissure env make z3-solver"), "{ran:?}");
    let told = |name: &str| ran.stdout.contains(&format!("  {name}: "));
    assert!(told("small") && told("large") && !told("rank"), "{ran:?}");
}

#[test]
fn with_a_solver_the_answers_are_exact() {
    let Some(program) = fissure_testing::z3() else {
        return;
    };
    let context = TestContext::new();
    context.write("against.rules", AGAINST);
    context.write("plain.rules", PLAIN);
    let solve = |args: &[&str]| {
        let mut command = context.command();
        command.arg("solve").args(args).arg("--explain");
        run(command.env("FISSURE_Z3", &program))
    };
    let ran = solve(&["against.rules"]);
    assert!(ran.stdout.contains("cannot hold together"), "{ran:?}");
    assert!(!ran.stdout.contains("rank"), "{ran:?}");
    let implied = solve(&["plain.rules", "--breaking", "implied"]);
    assert!(implied.stdout.contains("imply implied"), "{implied:?}");
}

#[test]
fn what_is_not_there_is_told_with_what_to_do() {
    let context = TestContext::new();
    let unknown = run(context.command().args(["solve", "torch.nowhere"]));
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        unknown.stderr.contains("fissure learn torch.nowhere"),
        "{unknown:?}"
    );
    for words in [
        &["solve", "torch.ad"][..],
        &["rules", "explain", "torch.ad"],
    ] {
        let mistyped = run(context.command().args(words));
        assert_eq!(mistyped.code, Some(2), "{mistyped:?}");
        assert!(
            mistyped.stderr.contains("did you mean torch.add"),
            "{mistyped:?}"
        );
    }
    context.write("wrong.rules", "param n: int\nrule n: n >\n");
    let wrong = run(context.command().args(["solve", "wrong.rules"]));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("wrong.rules:2:"), "{wrong:?}");
}
