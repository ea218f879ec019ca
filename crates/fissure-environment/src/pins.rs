//! What Fissure installs on its own initiative, pinned by hash: an index that was tampered with cannot
//! bring other programs here.

use std::io::{self, Write};

use tempfile::NamedTempFile;

/// Files in the form that pip and uv read: one release each, with the hashes of its wheels.
const PINS: [&str; 2] = [
    include_str!("../../../data/pins/uv.txt"),
    include_str!("../../../data/pins/z3-solver.txt"),
];

/// The release of a distribution that Fissure installs on its own: `uv==0.13.7`.
pub(crate) fn pinned(distribution: &str) -> Option<&'static str> {
    PINS.iter().map(|text| release(text)).find(|release| {
        release
            .split_once("==")
            .is_some_and(|(name, _)| name == distribution)
    })
}

/// The file with the hashes, where exactly a pinned release is to be installed.
pub(crate) fn hashes_for(packages: &[String]) -> io::Result<Option<NamedTempFile>> {
    let [package] = packages else { return Ok(None) };
    let Some(text) = PINS.iter().find(|text| release(text) == package.as_str()) else {
        return Ok(None);
    };
    let mut file = NamedTempFile::with_suffix(".txt")?;
    file.write_all(text.as_bytes())?;
    Ok(Some(file))
}

fn release(text: &'static str) -> &'static str {
    let line = text.lines().find(|line| !line.starts_with('#'));
    line.map_or("", |line| line.trim_end_matches(['\\', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_on_our_own_initiative_is_one_release_with_hashes() {
        for name in ["uv", "z3-solver"] {
            let release = pinned(name).unwrap();
            let file = hashes_for(&[release.to_owned()]).unwrap().unwrap();
            let text = std::fs::read_to_string(file.path()).unwrap();
            assert!(text.matches("--hash=sha256:").count() >= 4, "{text}");
        }
        assert_eq!(pinned("torch"), None);
        assert!(hashes_for(&["uv".to_owned()]).unwrap().is_none());
        assert!(hashes_for(&["uv==0.0.1".to_owned()]).unwrap().is_none());
    }
}
