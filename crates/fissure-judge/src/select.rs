//! Which oracles a run has: `--oracles` as typed, and the profiles.

use std::time::Duration;

use crate::oracle::{OracleInfo, Tier, oracles};

/// A name for how thorough a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Oracles up to this tier.
    pub tier: Tier,
    /// For the whole run; `None`: until it is stopped.
    pub time: Option<Duration>,
    /// Calls that comparing oracles may make for each plain call. A call of an oracle takes many
    /// times as long as a plain one, since two results have to be compared each time.
    pub share: f64,
}

/// From the shortest to the longest.
pub const PROFILES: [Profile; 4] = [
    Profile {
        name: "smoke",
        summary: "one minute, the cheap oracles",
        tier: Tier::Cheap,
        time: Some(Duration::from_secs(60)),
        share: 1.0,
    },
    Profile {
        name: "ci",
        summary: "ten minutes, the default oracles",
        tier: Tier::Default,
        time: Some(Duration::from_secs(10 * 60)),
        share: 2.0,
    },
    Profile {
        name: "nightly",
        summary: "eight hours, dear oracles too",
        tier: Tier::Dear,
        time: Some(Duration::from_secs(8 * 60 * 60)),
        share: 4.0,
    },
    Profile {
        name: "forever",
        summary: "until it is stopped, dear oracles too",
        tier: Tier::Dear,
        time: None,
        share: 2.0,
    },
];

/// The profile with this name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    pub fn oracles(&self) -> Vec<&'static OracleInfo> {
        let included = |oracle: &&OracleInfo| oracle.tier <= self.tier;
        oracles().iter().filter(included).collect()
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    #[error("there is no oracle {name}: fissure oracles lists them{}", suggestion.map_or(String::new(), |it| format!(
        "\n\ndid you mean {it}?"
    )))]
    Unknown {
        name: String,
        suggestion: Option<&'static str>,
    },
    #[error("no oracle is left of {text:?}")]
    Nothing { text: String },
}

/// The oracles that a text such as `layout,gradient`, `all`, `-gradient` or `smoke,layout` names,
/// in the order of [`oracles`].
///
/// Words count from left to right. A name adds an oracle, a profile's name adds its oracles, `all`
/// adds every one, `default` those of the profile `ci`. A minus in front takes away instead; a text
/// that begins with a minus begins with the default.
pub fn select(text: &str) -> Result<Vec<&'static OracleInfo>, SelectError> {
    let words = || text.split(',').map(str::trim).filter(|it| !it.is_empty());
    let mut chosen: Vec<&'static str> = match words().next() {
        Some(word) if word.starts_with('-') => members("default")?,
        _ => Vec::new(),
    };
    for word in words() {
        match word.strip_prefix('-') {
            Some(word) => {
                let gone = members(word)?;
                chosen.retain(|name| !gone.contains(name));
            }
            None => chosen.extend(members(word)?),
        }
    }
    let left = |oracle: &&OracleInfo| chosen.contains(&oracle.name);
    let selected: Vec<_> = oracles().iter().filter(left).collect();
    if selected.is_empty() {
        return Err(SelectError::Nothing { text: text.into() });
    }
    Ok(selected)
}

/// What one word stands for.
fn members(word: &str) -> Result<Vec<&'static str>, SelectError> {
    let names = |oracles: Vec<&'static OracleInfo>| oracles.iter().map(|it| it.name).collect();
    if word == "all" {
        return Ok(oracles().iter().map(|oracle| oracle.name).collect());
    }
    let wanted = if word == "default" { "ci" } else { word };
    if let Some(profile) = profile(wanted) {
        return Ok(names(profile.oracles()));
    }
    if let Some(oracle) = crate::oracle::oracle(word) {
        return Ok(vec![oracle.name]);
    }
    let known = oracles()
        .iter()
        .map(|oracle| oracle.name)
        .chain(PROFILES.iter().map(|profile| profile.name))
        .chain(["all", "default"]);
    let nearest = known
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|left, right| left.0.total_cmp(&right.0));
    Err(SelectError::Unknown {
        name: word.into(),
        suggestion: nearest.map(|(_, name)| name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let selected = select(text).unwrap();
        selected.iter().map(|oracle| oracle.name).collect()
    }

    #[test]
    fn names_are_put_into_the_order_of_the_list() {
        assert_eq!(names("layout, fatal-signal"), ["fatal-signal", "layout"]);
        assert_eq!(names("all").len(), oracles().len());
    }

    #[test]
    fn a_minus_takes_away_from_what_stands_before_it() {
        assert_eq!(names("layout,nan,-layout"), ["nan"]);
        let usual = names("default");
        let without = names("-layout");
        assert_eq!(without.len(), usual.len() - 1);
        assert!(usual.contains(&"layout") && !without.contains(&"layout"));
    }

    #[test]
    fn a_profile_stands_for_its_oracles_and_a_longer_one_has_no_fewer() {
        for pair in PROFILES.windows(2) {
            let (short, long) = (names(pair[0].name), names(pair[1].name));
            assert!(short.iter().all(|name| long.contains(name)));
        }
        assert!(names("smoke").contains(&"fatal-signal"));
        assert!(!names("smoke").contains(&"layout"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        let error = select("layuot").unwrap_err();
        let text = "there is no oracle layuot: fissure oracles lists them\n\ndid you mean layout?";
        assert_eq!(error.to_string(), text);
        let error = select("xyzzy").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no oracle xyzzy: fissure oracles lists them"
        );
    }

    #[test]
    fn a_selection_of_nothing_is_refused() {
        assert!(matches!(select("-all"), Err(SelectError::Nothing { .. })));
        assert!(matches!(select(" , "), Err(SelectError::Nothing { .. })));
    }
}
