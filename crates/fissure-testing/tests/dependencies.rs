//! Licences, versions and origins of what the program is built of are those that `deny.toml` allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The packages of the lock file, as `cargo` tells them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        // What is built for Linux was fetched for the build; for the rest nothing is fetched.
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    told["packages"].as_array().unwrap().clone()
}

fn policy() -> toml::Table {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    text.parse().unwrap()
}

fn names(policy: &toml::Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = policy[section][key].as_array().unwrap();
    let text = |name: &toml::Value| name.as_str().unwrap().to_owned();
    list.iter().map(text).collect()
}

/// Whether an expression of SPDX (`/` is an old way of writing `OR`) can be fulfilled.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(" WITH ", "+WITH+");
    let mut words = spaced.split_whitespace().peekable();
    any(&mut words, allowed)
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut found = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        found |= all(words, allowed);
    }
    found
}

fn all(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut found = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        found &= one(words, allowed);
    }
    found
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_none() {
        let licence = words.next().unwrap_or_default().replace("+WITH+", " WITH ");
        return allowed.contains(&licence);
    }
    let found = any(words, allowed);
    words.next_if_eq(&")");
    found
}

#[test]
fn every_licence_is_allowed() {
    let allowed = names(&policy(), "licenses", "allow");
    let refused: Vec<String> = packages()
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    assert_eq!(refused, Vec::<String>::new());
    assert!(!is_allowed("GPL-3.0-only", &allowed));
    assert!(!is_allowed(
        "(MIT OR Apache-2.0) AND GPL-3.0-only",
        &allowed
    ));
    assert!(is_allowed("GPL-3.0-only OR MIT/Apache-2.0", &allowed));
}

#[test]
fn crates_in_several_versions_are_those_that_are_known() {
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap().to_owned();
        *versions.entry(name).or_default() += 1;
    }
    let several = versions.into_iter().filter(|(_, count)| *count > 1);
    let several: BTreeSet<String> = several.map(|(name, _)| name).collect();
    assert_eq!(several, names(&policy(), "bans", "skip"));
}

#[test]
fn everything_comes_from_the_registry_or_from_here() {
    for package in packages() {
        let source = package["source"].as_str();
        let known = source.is_none_or(|source| source.starts_with("registry+"));
        assert!(known, "{}: {source:?}", package["name"]);
    }
}
