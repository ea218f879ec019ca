//! Known issues silence what they name, as long as they are valid, and nothing else.

use crate::common;

use std::path::Path;

use common::{api, exception, execution, input};
use fissure_model::Outcome;
use fissure_triage::{KnownIssues, KnownIssuesError};

fn parse(text: &str) -> Result<KnownIssues, KnownIssuesError> {
    KnownIssues::parse(text, Path::new("known-issues.toml"), "2026-11-15".into())
}

fn silenced(issues: &mut KnownIssues, path: &str, outcome: Outcome) -> Option<String> {
    let seen = common::finding(api(path), input(vec![]), execution(outcome, None));
    issues
        .silence(&seen.api, &seen.verdict, &seen.execution)
        .map(|issue| issue.link.clone())
}

const CRASH: Outcome = Outcome::Crash { signal: 8 };

#[test]
fn api_oracle_and_pattern_must_all_fit() {
    let mut issues = parse(
        r#"
[[issue]]
api = "torch.nn.*"
oracle = "fatal-signal"
pattern = "SIGFPE"
link = "first"
expires = 2026-11-15

[[issue]]
api = "torch.sort"
pattern = "stable .* failed"
link = "second"
expires = 2030-01-01
"#,
    )
    .unwrap();
    let internal = |message: &str| {
        let message = format!("{message} INTERNAL ASSERT FAILED");
        Outcome::Rejected(exception("RuntimeError", &message))
    };
    assert_eq!(
        silenced(&mut issues, "torch.nn.Pool", CRASH).as_deref(),
        Some("first")
    );
    assert_eq!(silenced(&mut issues, "torch.pool", CRASH), None);
    assert_eq!(
        silenced(&mut issues, "torch.nn.Pool", Outcome::Crash { signal: 11 }),
        None
    );
    assert_eq!(
        silenced(&mut issues, "torch.nn.Pool", internal("SIGFPE")),
        None
    );
    assert_eq!(
        silenced(&mut issues, "torch.sort", internal("stable sort failed")).as_deref(),
        Some("second")
    );
    assert_eq!(silenced(&mut issues, "torch.sort", internal("other")), None);
    let counts: Vec<u64> = issues
        .entries()
        .iter()
        .map(|issue| issue.silenced)
        .collect();
    assert_eq!(counts, [1, 1]);
}

#[test]
fn an_expired_entry_silences_nothing_and_says_what_it_missed() {
    let mut issues =
        parse("[[issue]]\napi = \"torch.pool\"\nlink = \"x\"\nexpires = 2026-11-14\n").unwrap();
    assert_eq!(silenced(&mut issues, "torch.pool", CRASH), None);
    let entry = &issues.entries()[0];
    assert_eq!((entry.silenced, entry.missed), (0, 1));
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, said) in [
        ("[[issue]]\napi = \"a\"\nlink = \"x\"\n", "expires"),
        (
            "[[issue]]\napi = \"a\"\nlink = \"x\"\nexpires = 2030-01-01\nwhy = 1\n",
            "why",
        ),
        (
            "[[issue]]\napi = \"*\"\nlink = \"x\"\nexpires = 2030-01-01\n",
            "known-issues.toml:1: api = \"*\" would silence every API",
        ),
        (
            "\n\n[[issue]]\napi = \"a\"\nlink = \"x\"\nexpires = 2030-01-01\npattern = \"(\"\n",
            "known-issues.toml:3: pattern: ",
        ),
        (
            "[[issue]]\napi = \"a\"\noracle = \"oracel\"\nlink = \"x\"\nexpires = 2030-01-01\n",
            "there is no oracle \"oracel\"",
        ),
        (
            "[[issue]]\napi = \"a\"\nlink = \"x\"\nexpires = 12:00:00\n",
            "a date is needed",
        ),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // Longer than any name, and than a pattern can be.
    let endless = format!(
        "[[issue]]\napi = \"{}\"\nlink = \"x\"\nexpires = 2030-01-01\n",
        "a*é".repeat(400_000)
    );
    let error = parse(&endless).unwrap_err().to_string();
    assert!(error.starts_with("known-issues.toml:1: api: "), "{error}");
    let missing = KnownIssues::load(Path::new("no/such/file.toml")).unwrap_err();
    assert!(missing.to_string().contains("no/such/file.toml"));
}

#[test]
fn a_file_read_today_knows_the_day() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known-issues.toml");
    let text = |year: u32| {
        format!("[[issue]]\napi = \"torch.pool\"\nlink = \"x\"\nexpires = {year}-01-01\n")
    };
    for (year, expected) in [(2025, None), (2999, Some("x"))] {
        std::fs::write(&path, text(year)).unwrap();
        let mut issues = KnownIssues::load(&path).unwrap();
        assert_eq!(
            silenced(&mut issues, "torch.pool", CRASH).as_deref(),
            expected
        );
    }
}
