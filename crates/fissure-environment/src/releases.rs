//! Which releases of a library there are.

use std::{collections::BTreeSet, str::FromStr};

use pep440_rs::Version;

use crate::{
    EnvironmentError, Requirement, Store, Surroundings,
    failure::Failure,
    installer::{Installer, Work},
    interpreter,
    surroundings::make_private,
    uv_tool,
};

/// uv answers one release per question; more than this many are not asked for.
const QUESTIONS: usize = 60;

/// The releases on the index that a requirement allows, oldest first, without previews.
///
/// pip lists what has a wheel for the interpreter that runs it, so every Python of this machine is
/// asked. Where none has pip, uv is asked for the newest, then for the newest before that, and so on.
pub fn releases(
    surroundings: &Surroundings,
    requirement: &Requirement,
) -> Result<Vec<Version>, EnvironmentError> {
    if surroundings.offline() {
        return Err(EnvironmentError::Offline {
            wanted: format!("the releases of {}", requirement.distribution),
            requirement: requirement.to_string(),
        });
    }
    let store = Store::new(surroundings);
    make_private(store.folder()).map_err(EnvironmentError::io("create", store.folder()))?;
    let work = Work {
        surroundings,
        folder: store.folder(),
    };
    let mut found = BTreeSet::new();
    let mut asked = BTreeSet::new();
    let mut failure = None;
    for base in interpreter::interpreters(surroundings, "pip") {
        let minor = base.probe.python_minor();
        if !base.probe.is_new_enough() || !base.probe.has_pip || !asked.insert(minor) {
            continue;
        }
        let mut command = work.pip(&base.python);
        command.args(["index", "versions", "--ignore-requires-python"]);
        command.arg(&requirement.distribution);
        match work.run(command, &mut |_| ()) {
            Ok(finished) => found.extend(versions_in(&finished.lines)),
            Err(Failure::Interrupted) => {
                return Err(Failure::Interrupted
                    .into_error(requirement.to_string(), base.probe.python_version));
            }
            Err(error) => {
                failure = failure.or(Some((error, base.probe.python_version)));
            }
        }
    }
    found.retain(|version| requirement.versions.contains(version));
    if found.is_empty() {
        found = one_by_one(surroundings, &work, requirement)?;
    }
    match failure {
        Some((error, python)) if found.is_empty() => {
            Err(error.into_error(requirement.to_string(), python))
        }
        _ => Ok(found.into_iter().collect()),
    }
}

/// The same by questions to uv.
fn one_by_one(
    surroundings: &Surroundings,
    work: &Work<'_>,
    requirement: &Requirement,
) -> Result<BTreeSet<Version>, EnvironmentError> {
    let mut found = BTreeSet::new();
    let Ok(uv) = uv_tool::provide(surroundings, &mut |_| ())? else {
        return Ok(found);
    };
    let (base, _) = interpreter::base_for(surroundings, requirement, None)?;
    let mut wanted = requirement.clone();
    while found.len() < QUESTIONS {
        let Ok(newest) = Installer::newest(&uv, work, &base, &wanted) else {
            break;
        };
        let mut text = format!("{requirement}");
        text.push_str(if requirement.versions.is_empty() {
            ""
        } else {
            ","
        });
        text.push_str(&format!("<{newest}"));
        found.insert(newest);
        wanted = text.parse()?;
    }
    Ok(found)
}

/// Reads `Available versions: 2.9.1, 2.9.0` of pip.
fn versions_in(lines: &[String]) -> Vec<Version> {
    lines
        .iter()
        .filter_map(|line| line.strip_prefix("Available versions:"))
        .flat_map(|versions| versions.split(','))
        .filter_map(|text| Version::from_str(text.trim()).ok())
        .filter(|version| !version.any_prerelease())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_list_is_read_without_previews() {
        let lines = [
            "torch (2.9.1)".to_owned(),
            "Available versions: 2.9.1, 2.9.0, 2.9.0rc1, 2.10.0".to_owned(),
            "  INSTALLED: 2.9.1".to_owned(),
        ];
        let texts: Vec<String> = versions_in(&lines)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(texts, ["2.9.1", "2.9.0", "2.10.0"]);
    }
}
