//! What the user wants installed: `torch`, `torch==2.9.1`, `tensorflow-cpu>=2.1,<2.2`.

use std::{fmt, str::FromStr};

use pep440_rs::{Operator, Version, VersionSpecifiers};

use crate::EnvironmentError;

/// A distribution of the package index with the versions that will do.
///
/// Extras, markers and direct addresses are refused: an environment is named after one
/// distribution and its version, and must be found again by them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Normalised as the index does it: lower case, `-` between words.
    pub distribution: String,
    pub versions: VersionSpecifiers,
}

impl Requirement {
    /// The one version it allows, if it is written with `==`.
    pub fn pinned(&self) -> Option<&Version> {
        match &self.versions[..] {
            [only] if *only.operator() == Operator::Equal => Some(only.version()),
            _ => None,
        }
    }

    /// The same distribution in exactly this version.
    pub fn pinned_to(&self, version: &Version) -> Self {
        Self {
            distribution: self.distribution.clone(),
            versions: VersionSpecifiers::from(pep440_rs::VersionSpecifier::equals_version(
                version.clone(),
            )),
        }
    }

    /// Whether an installed version, as text, is one of those wanted. A version that cannot be
    /// read (a library built from source may say anything) only satisfies "any version".
    pub fn allows(&self, version: &str) -> bool {
        match Version::from_str(version) {
            Ok(version) => self.versions.contains(&version),
            Err(_) => self.versions.is_empty(),
        }
    }
}

/// Whether one version, as a library tells it, came before another; `false` where one cannot be read.
pub fn is_older(version: &str, than: &str) -> bool {
    match (Version::from_str(version), Version::from_str(than)) {
        (Ok(version), Ok(than)) => version < than,
        _ => false,
    }
}

impl FromStr for Requirement {
    type Err = EnvironmentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |reason: String| EnvironmentError::Requirement {
            text: text.to_owned(),
            reason,
        };
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .unwrap_or(trimmed.len());
        let (name, rest) = trimmed.split_at(end);
        let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if !is_edge(name.chars().next()) || !is_edge(name.chars().last()) {
            return Err(invalid(
                "it does not start with the name of a package".into(),
            ));
        }
        let rest = rest.trim();
        if rest.starts_with('[') || rest.starts_with('@') || rest.contains(';') {
            return Err(invalid(
                "extras, addresses and markers are not supported".into(),
            ));
        }
        let versions = if rest.is_empty() {
            VersionSpecifiers::empty()
        } else {
            VersionSpecifiers::from_str(rest)
                .map_err(|error| invalid(error.to_string().replace('\n', " ")))?
        };
        Ok(Self {
            distribution: normalise(name),
            versions,
        })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.distribution)?;
        for (index, specifier) in self.versions.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            write!(formatter, "{}{}", specifier.operator(), specifier.version())?;
            if specifier.operator().is_star() {
                formatter.write_str(".*")?;
            }
        }
        Ok(())
    }
}

/// The index treats `Torch_Vision`, `torch.vision` and `torch-vision` as one name.
pub(crate) fn normalise(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Requirement {
        text.parse().unwrap()
    }

    #[test]
    fn a_bare_name_allows_every_version_and_is_not_pinned() {
        let requirement = parse("torch");
        assert!(requirement.allows("1.5.0") && requirement.allows("2.9.1+cpu"));
        assert_eq!(requirement.pinned(), None);
        assert_eq!(requirement.to_string(), "torch");
    }

    #[test]
    fn a_pin_allows_local_builds_of_that_version_only() {
        let requirement = parse(" torch == 2.9.1 ");
        assert!(requirement.allows("2.9.1") && requirement.allows("2.9.1+cpu"));
        assert!(!requirement.allows("2.9.0") && !requirement.allows("2.9.10"));
        assert_eq!(requirement.pinned().unwrap().to_string(), "2.9.1");
    }

    #[test]
    fn ranges_and_stars_are_read_and_written_back() {
        for text in [
            "torch>=2.0,<2.2",
            "torch==2.9.*",
            "torch~=2.7.0",
            "jax!=0.7.0",
        ] {
            assert_eq!(parse(text).to_string(), text);
            assert_eq!(parse(text).pinned(), None, "{text}");
        }
        assert!(parse("torch==2.9.*").allows("2.9.1"));
        assert!(!parse("torch>=2.0,<2.2").allows("2.2.0"));
    }

    #[test]
    fn names_are_normalised_like_the_index_does() {
        assert_eq!(
            parse("Tensorflow_CPU==2.1.0").distribution,
            "tensorflow-cpu"
        );
    }

    #[test]
    fn an_unreadable_version_satisfies_only_a_bare_name() {
        assert!(parse("torch").allows("built from source"));
        assert!(!parse("torch>=1").allows("built from source"));
    }

    #[test]
    fn what_is_not_a_requirement_is_refused_with_its_text() {
        for text in [
            "",
            "==1.0",
            "-torch",
            "torch[cpu]",
            "torch @ http://x",
            "torch==",
            "torch 2.9",
        ] {
            let error = text.parse::<Requirement>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
