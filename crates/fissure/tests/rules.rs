//! `fissure rules` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCATTER: &str = "\
api torch.scatter
library torch 2.9.1
param input: tensor
param dim: int
rule in_range: -ndim(input) <= dim ∧ dim < ndim(input)
  accepted 12
";

fn fissure(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fissure"))
        .arg("rules")
        .args(arguments)
        .arg(file)
        .output()
        .expect("the program starts")
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the folder is writable");
    path
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_good_file_is_counted_printed_and_explained() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = written(folder.path(), "scatter.rules", SCATTER);
    let output = fissure(&["check"], &file);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(said(&output), "1 file: 1 rule understood, 0 errors\n");
    let printed = said(&fissure(&["check", "--print"], &file));
    assert!(
        printed
            .contains("rule in_range: -ndim(input) <= dim and dim < ndim(input)\n  accepted 12\n"),
        "{printed}"
    );
    let explained = said(&fissure(&["explain"], &file));
    assert!(
        explained.contains(
            "Minus the number of dimensions of `input` is at most `dim`, and `dim` is below"
        ),
        "{explained}"
    );
    let found = fissure(&["explain", "torch.scatter", "--rules"], folder.path());
    assert_eq!(said(&found), explained);
}

#[test]
fn a_wrong_rule_is_drawn_under_its_place_and_fails_the_check() {
    let folder = tempfile::tempdir().expect("there is room");
    let text = ">>\nRule 4 (odd)\n{x : tensor} |= ndim(y) = 1\n";
    let file = written(folder.path(), "their.rules-ebnf", text);
    let output = fissure(&["check"], &file);
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    assert!(text.contains("error: `y` is not declared"), "{text}");
    assert!(
        text.contains("3 | {x : tensor} |= ndim(y) = 1\n  |                      ^"),
        "{text}"
    );
    let json = said(&fissure(&["check", "--json"], &file));
    assert!(json.contains("\"line\":3"), "{json}");
    assert!(json.contains("\"column\":22"), "{json}");
}

#[test]
fn what_is_not_there_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("there is room");
    let output = fissure(&["check"], &folder.path().join("nothing.rules"));
    assert_eq!(output.status.code(), Some(2));
    let output = fissure(&["explain", "torch.nothing", "--rules"], folder.path());
    assert_eq!(output.status.code(), Some(2));
}
