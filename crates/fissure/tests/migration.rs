//! The tables of `docs/from-*.md`: every line is one that some test runs, and the lines that no other test runs are
//! run here.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use support::{TestContext, names, planted, run};

/// What a line begins with, and the test that runs it (its file, and its name where the file has several).
const DOCTER: &[(&str, &str)] = &[
    (
        "`python fuzzer-driver.py API.yaml",
        "fuzz_behaviour.rs: a_docter_command_line_works_and_writes_its_record_files",
    ),
    (
        "`--obey=True`",
        "migration.rs: switches_of_docter_may_have_values",
    ),
    (
        "`--gen_script=True`",
        "migration.rs: switches_of_docter_may_have_values",
    ),
    (
        "`--max_iter`",
        "migration.rs: switches_of_docter_may_have_values",
    ),
    (
        "`script_record`",
        "migration.rs: switches_of_docter_may_have_values",
    ),
    (
        "`fuzzing_config`",
        "fuzz_behaviour.rs: a_docter_command_line_works_and_writes_its_record_files",
    ),
    (
        "`gen_order`",
        "migration.rs: switches_of_docter_may_have_values",
    ),
    (
        "`Segmentation_fault_record`",
        "fuzz_behaviour.rs: a_docter_command_line_works_and_writes_its_record_files",
    ),
    ("`*.p`", "migration.rs: switches_of_docter_may_have_values"),
];

const SOFT_ASSERTION: &[(&str, &str)] = &[
    (
        "`softassertion-cli train.py`",
        "migration.rs: the_command_of_soft_assertion_fuzzer_writes_its_files",
    ),
    (
        "`--config FILE.yaml`",
        "migration.rs: the_command_of_soft_assertion_fuzzer_writes_its_files",
    ),
    (
        "`--timeout S`",
        "migration.rs: the_command_of_soft_assertion_fuzzer_writes_its_files",
    ),
    (
        "`--verbose`",
        "migration.rs: the_command_of_soft_assertion_fuzzer_writes_its_files",
    ),
    (
        "`from softassertion",
        "../../fissure-numeric/tests/integration/odd_programs.rs: a_marked_region_needs_no_installed_package",
    ),
    (
        "`Case Study Summary`",
        "migration.rs: the_command_of_soft_assertion_fuzzer_writes_its_files",
    ),
    (
        "`experiments/logs/log_FUNCTION.txt`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
    (
        "`experiments/logs/summary_report.json`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
    (
        "`experiments/logs/trace.log`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
    (
        "`experiments/logs/inputs_failed.npy`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
    (
        "`experiments/reports/case_study_summary.json`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
    (
        "`experiments/bugs/`",
        "scan.rs: the_original_layout_puts_the_logs_where_its_users_look",
    ),
];

const CENTAUR: &[(&str, &str)] = &[
    (
        "learn the rules",
        "migration.rs: lists_of_names_are_learned_and_reduction_can_be_switched_off",
    ),
    (
        "reduction of rules",
        "migration.rs: lists_of_names_are_learned_and_reduction_can_be_switched_off",
    ),
    (
        "list of supported APIs",
        "migration.rs: names_and_signatures_go_both_ways",
    ),
    (
        "signatures of APIs",
        "migration.rs: names_and_signatures_go_both_ways",
    ),
    (
        "inputs from rules",
        "solve.rs: inputs_are_json_lines_each_once_and_the_same_for_the_same_seed",
    ),
    (
        "inputs that break one rule",
        "solve.rs: inputs_are_json_lines_each_once_and_the_same_for_the_same_seed",
    ),
    ("fuzzing with learned rules", "fuzz_rules.rs: "),
    (
        "its oracles over a range",
        "judging.rs: kept_inputs_are_judged_later",
    ),
    ("coverage", "coverage.rs: "),
    (
        "the whole pipeline",
        "campaign.rs: what_is_not_known_is_learned_beside_the_run_and_only_once",
    ),
    (
        "`torch_apis.txt`",
        "migration.rs: lists_of_names_are_learned_and_reduction_can_be_switched_off",
    ),
    (
        "`signatures.json`",
        "migration.rs: names_and_signatures_go_both_ways",
    ),
    (
        "rule files",
        "migration.rs: rules_of_centaur_are_read_explained_and_written",
    ),
    (
        "learned rules",
        "migration.rs: rules_of_centaur_are_read_explained_and_written",
    ),
    (
        "`abstract_inputs.jsonl`",
        "guided.rs: inputs_of_centaur_are_run_first",
    ),
    (
        "`timestamps.csv`",
        "solve.rs: inputs_are_json_lines_each_once_and_the_same_for_the_same_seed",
    ),
    (
        "invariants files",
        "migration.rs: rules_of_centaur_are_read_explained_and_written",
    ),
];

#[test]
fn every_line_of_the_three_tables_names_a_test_that_is_there() {
    let root = fissure_testing::root();
    let tests = root.join("crates/fissure/tests");
    for (page, tested) in [
        ("from-docter.md", DOCTER),
        ("from-soft-assertion-fuzzer.md", SOFT_ASSERTION),
        ("from-centaur.md", CENTAUR),
    ] {
        let text = std::fs::read_to_string(root.join("docs").join(page)).unwrap();
        let rows: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| "))
            .collect();
        // The heads of the two tables.
        assert_eq!(rows.len(), tested.len() + 2, "{page}: {rows:#?}");
        for (begins, test) in tested {
            assert!(
                rows.iter().any(|row| row.starts_with(begins)),
                "{page} has no line that begins with {begins}"
            );
            let (file, name) = test.split_once(": ").unwrap();
            let source = std::fs::read_to_string(tests.join(file)).unwrap();
            assert!(
                source.contains(&format!("fn {name}")),
                "{file} has no {name}"
            );
        }
    }
}

/// The lines of a record, as numbers of inputs by path.
fn record(out: &Path, name: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(out.join(name)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(", "));
    lines
        .map(|(path, number)| (number.to_owned(), path.to_owned()))
        .collect()
}

#[test]
fn switches_of_docter_may_have_values() {
    let context = TestContext::new();
    let dtypes = context.write("dtypes.yml", "numpy.int64: np.int64\nint: np.int64\n");
    let fuzz = |out: &str, flags: &[&str]| {
        let ran = run(context
            .command()
            .arg("fuzz")
            .arg(planted().join("specs/planted.reject.yaml"))
            .arg(&dtypes)
            .arg(format!("--workdir={out}"))
            .args([
                "--max_iter=20",
                "--timeout=2",
                "--fuzz_optional_p=0.6",
                "--mutate_p=0.2",
            ])
            .args(flags)
            .arg("--pythonpath")
            .arg(planted()));
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        context.path(out)
    };
    let all = [
        "--obey=True",
        "--gen_script=True",
        "--model_test=True",
        "--check_nan=True",
        "--guided_mutate=True",
        "--special_value=True",
        "--save=False",
        "--max_time=60",
        "--data_construct=tensor",
    ];
    let out = fuzz("scripts", &all);
    // A script of every input, although nothing else is saved.
    assert_eq!(record(&out, "script_record").len(), 20, "{:?}", names(&out));
    let failed = record(&out, "failure_script_record");
    assert!(!failed.is_empty(), "{:?}", names(&out));
    for path in failed
        .values()
        .chain(record(&out, "failure_record").values())
    {
        assert!(out.join(path).is_file(), "{path} is not there");
    }
    assert_eq!(record(&out, "gen_order").len(), 20);
    for name in ["exception_record", "fuzz_time", "mutate_op_coverage.csv"] {
        assert!(out.join(name).is_file(), "{name}: {:?}", names(&out));
    }
    assert!(!out.join("inputs").exists() || names(&out.join("inputs")).len() < 20);
    let out = fuzz("saved", &["--obey", "--save=True", "--gen_script=False"]);
    assert_eq!(names(&out.join("inputs")).len(), 20);
    assert!(!out.join("script_record").exists());
}

/// A program as users of Soft Assertion Fuzzer have it.
const SOFTMAX: &str = "\
import numpy as np

def softmax(x):
    e = np.exp(x)
    return e / e.sum()

x = np.random.normal(size=6)
print(softmax(x).max())
";

#[test]
fn the_command_of_soft_assertion_fuzzer_writes_its_files() {
    let Some(python) = fissure_testing::library_python("numpy", "numpy") else {
        return;
    };
    let context = TestContext::new();
    context.write("train.py", SOFTMAX);
    context.write(
        "default.yaml",
        "tensor_size: [3, 3]\nmodel_type: 14_by_14\n",
    );
    // The wheel installs it under this name.
    let alias = context.path("softassertion-cli");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fissure"), &alias).unwrap();
    let ran = run(std::process::Command::new(&alias)
        .current_dir(context.path(""))
        .args([
            "train.py",
            "--config",
            "default.yaml",
            "--timeout",
            "60",
            "--verbose",
            "--python",
        ])
        .arg(&python));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout
            .contains("Case Study Summary:\n  Total Functions: "),
        "{ran:?}"
    );
    let logs = context.path("experiments/logs");
    assert!(
        names(&logs).contains(&"summary_report.json".to_owned()),
        "{:?}",
        names(&logs)
    );
    // The search as it goes, which is not told otherwise.
    let quiet = run(std::process::Command::new(&alias)
        .current_dir(context.path(""))
        .args(["train.py", "--timeout", "60", "--python"])
        .arg(&python));
    let said = |ran: &support::Ran| ran.stdout.lines().count() + ran.stderr.lines().count();
    assert!(said(&ran) > said(&quiet), "{ran:?}\n{quiet:?}");
    let bugs = context.path("experiments/bugs");
    let bug = names(&bugs).into_iter().next().expect("one bug");
    let script = bugs.join(bug).join("reproduce.py");
    let again = std::process::Command::new(&python)
        .arg(&script)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&again.stdout).into_owned()
        + &String::from_utf8_lossy(&again.stderr);
    assert!(!text.contains("ModuleNotFoundError"), "{text}");
}

#[test]
fn lists_of_names_are_learned_and_reduction_can_be_switched_off() {
    let context = TestContext::new();
    context.write(
        "package/small.py",
        "def root(n: int):\n    if n < 0:\n        raise ValueError('negative')\n    return n ** 0.5\n\n\n\
         def shift(n: int):\n    if n > 9:\n        raise ValueError('too large')\n    return n + 1\n",
    );
    context.write(
        "apis.txt",
        "# of a package of one's own\nsmall.root\nsmall.shift\n",
    );
    let learn = |out: &str, more: &[&str]| {
        run(context
            .command()
            .args([
                "learn",
                "@apis.txt",
                "--api-time",
                "5s",
                "--output",
                out,
                "--python",
                "python3",
            ])
            .args(more)
            .env("PYTHONPATH", context.path("package")))
    };
    for (out, more) in [("reduced", &[][..]), ("all", &["--no-reduce"])] {
        let ran = learn(out, more);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let written = names(&context.path(out));
        for name in ["small.root.rules", "small.shift.rules"] {
            assert!(written.iter().any(|known| known == name), "{written:?}");
        }
    }
    let rules = |out: &str| {
        let text = std::fs::read_to_string(context.path(out).join("small.root.rules")).unwrap();
        text.lines()
            .filter(|line| line.starts_with("rule "))
            .count()
    };
    assert!(rules("all") >= rules("reduced"));
    context.write("apis.txt", "small.rot\n");
    let ran = learn("mistyped", &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("did you mean small.root"), "{ran:?}");
}

#[test]
fn names_and_signatures_go_both_ways() {
    let context = TestContext::new();
    context.write(
        "package/small.py",
        "def shift(n: int, by: float = 1.0, *, twice: bool = False):\n    return n + by\n",
    );
    let apis = |module: &str, flag: &str| {
        let ran = run(context.command().args([
            "apis",
            module,
            flag,
            "--python",
            "python3",
            "--pythonpath",
            "package",
        ]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    assert_eq!(apis("small", "--names"), "small.shift\n");
    assert_eq!(apis("small.shift", "--names"), "small.shift\n");
    let missing = run(context
        .command()
        .args(["apis", "small.elsewhere", "--pythonpath", "package"])
        .args(["--python", "python3"]));
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let text = apis("small", "--signatures");
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        written["small.shift"],
        serde_json::json!({"args": {"n": "integer"}, "kwargs": {"by": "float", "twice": "boolean"}}),
        "{text}"
    );
    context.write("signatures.json", &text);
    let ran =
        run(context
            .command()
            .args(["specs", "import", "signatures.json", "--output", "specs"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(names(&context.path("specs")), ["small.shift.yaml"]);
    let ran = run(context
        .command()
        .args([
            "fuzz",
            "specs",
            "--max-iter",
            "60",
            "--output",
            "out",
            "--python",
            "python3",
        ])
        .args(["--pythonpath", "package"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("small.shift"), "{ran:?}");
    let ran = run(context
        .command()
        .args(["specs", "import", "package/small.py", "--output", "x"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn rules_of_centaur_are_read_explained_and_written() {
    let context = TestContext::new();
    let theirs = ">>\nRule 1 (the dimension is one of the tensor's)\n\
                  {v_1 : tensor, v_2 : int} |= (0 - ndim(v_1)) ≤ v_2 ∧ v_2 < ndim(v_1)\n";
    context.write("argmin.rules-ebnf", theirs);
    let rules = |arguments: &[&str]| run(context.command().arg("rules").args(arguments));
    let checked = rules(&["check", "argmin.rules-ebnf"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let explained = rules(&["explain", "argmin.rules-ebnf"]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
    assert!(
        explained.stdout.contains("number of dimensions"),
        "{explained:?}"
    );
    let careful = rules(&["check", "--centaur-precedence", "argmin.rules-ebnf"]);
    assert_eq!(careful.code, Some(0), "{careful:?}");
    context.write(
        "ours.rules",
        "api torch.argmin\nlibrary torch 2.9.1\nparam input: tensor\nparam dim: int\n\
         rule in_range: -ndim(input) <= dim and dim < ndim(input)\n",
    );
    let printed = rules(&["check", "--print-centaur", "ours.rules"]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(printed.stdout.starts_with(">>\nRule 1"), "{printed:?}");
    context.write(
        "more.rules",
        "api torch.f\nlibrary torch 2.9.1\nparam n: int\nparam a: tensor\nparam b: tensor\n\
         rule small: n < 9\nrule ranks: min(ndim(a), ndim(b)) > 0\n",
    );
    let told = rules(&["check", "--print-centaur", "more.rules"]);
    let text = told.stdout.clone() + &told.stderr;
    assert!(
        text.contains("ranks"),
        "the rule that it cannot say is named: {told:?}"
    );
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(
        told.stdout.contains("< 9"),
        "the others are printed: {told:?}"
    );
    // A table of invariants is refused, not misread.
    context.write(
        "torch.mm",
        "torch.mm,1,rule_14,input\ntorch.mm,2,rule_16,input,mat2\n",
    );
    let refused = rules(&["check", "torch.mm"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
}
