//! The faulty programs of `examples/numeric`, repaired.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::analysed;
use crate::analysis::tests::sites_at;
use crate::fix::{Fix, apply, propose};

/// A program of the manifest, with the fixes for its site.
struct Program {
    name: String,
    source: String,
    fixes: Vec<Fix>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/numeric")
}

fn programs() -> Vec<Program> {
    let text =
        std::fs::read_to_string(folder().join("manifest.toml")).expect("the manifest exists");
    let manifest: toml::Table = toml::from_str(&text).expect("the manifest is TOML");
    let entries = manifest["program"].as_array().expect("a list of programs");
    entries
        .iter()
        .map(|entry| {
            let field = |name: &str| entry[name].as_str().expect("text").to_owned();
            let source = std::fs::read_to_string(folder().join(field("file"))).expect("it exists");
            let analysis = analysed(&source);
            let line = source
                .lines()
                .position(|line| line.contains("# unstable"))
                .expect("a marked line")
                + 1;
            let site = sites_at(&analysis, line)
                .find(|site| site.function == field("function"))
                .expect("the site is found");
            Program {
                name: field("name"),
                fixes: propose(&analysis, site, &source),
                source,
            }
        })
        .collect()
}

/// No local rewrite repairs these: the data, the step size or the whole formula is at fault.
const WITHOUT_FIX: &[&str] = &["gram_distances", "learning_rate_too_high"];

/// A rule fits the site, but the digits are lost where the sums are kept, or the narrow type is
/// chosen, elsewhere.
const FIX_FAILS: &[&str] = &["autocast_scores", "gram_cross_entropy", "running_variance"];

#[test]
fn every_faulty_example_has_a_fix_and_its_fixed_sources_parse() {
    for program in programs() {
        assert_eq!(
            program.fixes.is_empty(),
            WITHOUT_FIX.contains(&program.name.as_str()),
            "{}: {:#?}",
            program.name,
            program.fixes
        );
        for fix in &program.fixes {
            let text = apply(&program.source, fix);
            ruff_python_parser::parse_module(&text)
                .unwrap_or_else(|error| panic!("{}: {}: {error}\n{text}", program.name, fix.rule));
        }
    }
}

#[test]
fn a_fix_of_every_example_survives_what_made_the_program_fail() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let programs = programs();
    let mut list: Vec<(String, PathBuf)> = Vec::new();
    for program in &programs {
        for (number, fix) in program.fixes.iter().enumerate() {
            let file = format!("{}_{number}_{}.py", program.name, fix.rule);
            let path = scratch.path().join(file);
            std::fs::write(&path, apply(&program.source, fix)).expect("written");
            list.push((program.name.clone(), path));
        }
    }
    let list_file = scratch.path().join("list.json");
    let text = serde_json::to_string(&list).expect("serialises");
    std::fs::write(&list_file, text).expect("written");
    let output = Command::new(python)
        .arg(folder().join("check.py"))
        .arg("--fixed")
        .arg(&list_file)
        .output()
        .expect("the interpreter starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let answers: Vec<Vec<String>> =
        serde_json::from_slice(&output.stdout).expect("one list of problems for each file");
    assert_eq!(answers.len(), list.len());
    let mut wrong = Vec::new();
    for program in &programs {
        let problems: Vec<_> = list
            .iter()
            .zip(&answers)
            .filter(|((name, _), _)| *name == program.name)
            .map(|((_, path), problems)| (path.file_name(), problems))
            .collect();
        let survives = problems.iter().any(|(_, problems)| problems.is_empty());
        let mut hopeless = WITHOUT_FIX.iter().chain(FIX_FAILS);
        if survives == hopeless.any(|name| *name == program.name) {
            wrong.push(format!("{}: {problems:#?}", program.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
