//! What became better or worse between two sweeps of the same functions.

use serde::{Deserialize, Serialize};

use crate::report::{Profile, Report};

/// The largest error must be this many times the other, and more than so many units in the last place.
const FACTOR: f64 = 2.0;
const LEAST: f64 = 4.0;

/// One function and type whose profile is another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileChange {
    pub function: String,
    pub dtype: String,
    /// `less accurate`, `more accurate`, `newly wrong: …`, `no longer wrong: …`.
    pub what: String,
    pub before: String,
    pub after: String,
    /// A line of Python that shows it, where there is one.
    pub script: String,
}

/// Profiles that both have and that differ: intervals that are wrong in one only, or a largest error of more than
/// twice the other's.
pub fn changes(before: &Report, after: &Report) -> Vec<ProfileChange> {
    let mut found = Vec::new();
    for second in &after.profiles {
        let same = |it: &&Profile| it.function == second.function && it.dtype == second.dtype;
        let Some(first) = before.profiles.iter().find(same) else {
            continue;
        };
        let kinds = |profile: &Profile| -> Vec<String> {
            let mut kinds: Vec<String> =
                profile.findings.iter().map(|it| it.kind.clone()).collect();
            kinds.sort();
            kinds.dedup();
            kinds
        };
        let (old, new) = (kinds(first), kinds(second));
        let mut told = false;
        for (these, those, profile, word) in [
            (&new, &old, second, "newly wrong"),
            (&old, &new, first, "no longer wrong"),
        ] {
            let Some(finding) = (profile.findings.iter())
                .find(|it| these.contains(&it.kind) && !those.contains(&it.kind))
            else {
                continue;
            };
            told = true;
            let wrong = format!(
                "{} from {} to {}: {} gives {}, not {}",
                finding.kind,
                finding.from,
                finding.to,
                finding.value,
                finding.observed,
                finding.expected
            );
            let right = "right".to_owned();
            let (before, after) = match word {
                "newly wrong" => (right, wrong),
                _ => (wrong, right),
            };
            found.push(ProfileChange {
                function: second.function.clone(),
                dtype: second.dtype.clone(),
                what: word.to_owned(),
                before,
                after,
                script: finding.script.clone(),
            });
        }
        if let (Some(a), Some(b)) = (first.worst, second.worst)
            && !told
            && a.max(b) > LEAST
            && a.max(b) > FACTOR * a.min(b)
        {
            let show = |profile: &Profile, error: f64| {
                let place = profile.worst_at.as_deref().unwrap_or("?");
                format!("largest error {error:.1} units in the last place, at {place}")
            };
            found.push(ProfileChange {
                function: second.function.clone(),
                dtype: second.dtype.clone(),
                what: if b > a {
                    "less accurate"
                } else {
                    "more accurate"
                }
                .to_owned(),
                before: show(first, a),
                after: show(second, b),
                script: format!("{}, {}", second.function, second.dtype),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(worst: f64) -> Report {
        Report {
            profiles: vec![Profile {
                function: "m.f".into(),
                dtype: "float32".into(),
                elements: 1,
                seconds: 0.0,
                worst: Some(worst),
                worst_at: Some("1.0".into()),
                above: Default::default(),
                classes: None,
                findings: Vec::new(),
                plot: Vec::new(),
            }],
            ..Report::default()
        }
    }

    #[test]
    fn only_a_largest_error_of_more_than_twice_the_other_is_told() {
        assert!(changes(&report(3.0), &report(0.5)).is_empty());
        assert!(changes(&report(5.0), &report(6.0)).is_empty());
        assert_eq!(changes(&report(2.0), &report(9.0))[0].what, "less accurate");
        assert_eq!(changes(&report(9.0), &report(2.0))[0].what, "more accurate");
    }
}
