//! Names of files and folders that are not text: files of runs hold paths as JSON, which has no way to write them, so
//! they are refused before anything is begun.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::exit_status::usage;

/// Whether everything that was named, and the folder that paths are relative to, is text.
pub(crate) fn are_text(typed: &[OsString]) -> anyhow::Result<()> {
    for word in typed {
        text(word)?;
        // A link may lead to a name that is none.
        if let Ok(path) = Path::new(word).canonicalize() {
            text(path.as_os_str())?;
        }
    }
    match std::env::current_dir() {
        Ok(folder) => text(folder.as_os_str()),
        // What needs it says so.
        Err(_) => Ok(()),
    }
}

fn text(name: &OsStr) -> anyhow::Result<()> {
    match name.to_str() {
        Some(_) => Ok(()),
        None => Err(usage(format!(
            "{} is not valid text (UTF-8): rename it, or work in another folder",
            name.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_name_that_is_not_text_is_refused_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join(OsString::from_vec(vec![b'a', 0xff]));
        std::fs::create_dir(&odd).unwrap();
        let link = folder.path().join("plain");
        std::os::unix::fs::symlink(&odd, &link).unwrap();
        assert!(are_text(&["scan".into(), folder.path().into()]).is_ok());
        for named in [odd, link] {
            let refused = are_text(&["scan".into(), named.into()]).unwrap_err();
            assert!(refused.to_string().contains("not valid text"), "{refused}");
        }
    }
}
