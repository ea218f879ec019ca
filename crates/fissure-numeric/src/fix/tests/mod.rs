mod dialect;
mod examples;
mod guards;
mod patterns;

use std::path::Path;

use super::*;
use crate::analysis::analyse;

fn analysed(source: &str) -> Analysis {
    analyse(source, Path::new("program.py"), &REGISTRY).expect("valid Python")
}

/// Every fix for the first site of `function`, as (rule, fixed source).
fn fixed(source: &str, function: &str) -> Vec<(String, String)> {
    let analysis = analysed(source);
    let site = analysis
        .sites
        .iter()
        .find(|site| site.function == function)
        .unwrap_or_else(|| panic!("no site of {function}"));
    propose(&analysis, site, source)
        .iter()
        .map(|fix| {
            let text = apply(source, fix);
            ruff_python_parser::parse_module(&text)
                .unwrap_or_else(|error| panic!("{}: {error}\n{text}", fix.rule));
            (fix.rule.clone(), text)
        })
        .collect()
}

/// The first fix by `rule` gives exactly this source.
#[track_caller]
fn check(rule: &str, function: &str, before: &str, after: &str) {
    let fixes = fixed(before, function);
    let found = fixes.iter().find(|(name, _)| name == rule);
    let (_, text) = found.unwrap_or_else(|| panic!("no fix by {rule} among {fixes:#?}"));
    assert_eq!(text, after);
}

/// All edits of a rule, in the order in which they are tried.
fn check_all(rule: &str, function: &str, before: &str, after: &[&str]) {
    let fixes = fixed(before, function);
    let found = fixes.iter().filter(|(name, _)| name == rule);
    let texts: Vec<&str> = found.map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, after);
}

#[test]
fn every_rewrite_that_the_registry_names_exists() {
    for function in REGISTRY.functions() {
        for rule in &function.rewrites {
            assert!(rules::exists(rule), "{}: no rule `{rule}`", function.name);
        }
    }
}

#[test]
fn a_missing_import_is_added_before_the_first_one() {
    check(
        "log_clamp",
        "log",
        "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nfrom torch import log\ny = log(x + z)\n",
        "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nimport torch\nfrom torch import log\ny = log((x + z).clamp_min(torch.finfo(torch.float32).tiny))\n",
    );
}

#[test]
fn a_source_other_than_the_analysed_one_gets_no_fix() {
    let analysis = analysed("import torch\ny = torch.log(x)\n");
    assert_eq!(propose(&analysis, &analysis.sites[0], "y = 1\n"), []);
}

#[test]
fn the_diff_is_a_patch_with_context() {
    let text = diff(Path::new("train.py"), "a\nb\nc\n", "a\nB\nc\n");
    assert_eq!(
        text,
        "--- a/train.py\n+++ b/train.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    );
}
