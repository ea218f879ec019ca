//! `fissure-out`, where results go that nobody named a folder for.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, anyhow};

const BASE: &str = "fissure-out";

/// What a new `fissure-out` holds, and whether this process has made it.
const GITIGNORE: &str = ".gitignore";
static MADE: AtomicBool = AtomicBool::new(false);
/// The folder that this process has made for itself.
static CLAIMED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The folder, made with a `.gitignore` of its own: results are of this machine, and nothing for a repository. What
/// cannot be made is told by whoever writes into it.
pub(crate) fn base() -> PathBuf {
    if make(Path::new(BASE)) {
        MADE.store(true, Ordering::Relaxed);
    }
    PathBuf::from(BASE)
}

/// Whether it was not there before.
fn make(base: &Path) -> bool {
    let new = !base.exists() && fs::create_dir_all(base).is_ok();
    if new {
        let _ = fs::write(base.join(GITIGNORE), "*\n");
    }
    new
}

/// Takes back what [`make`] made, unless something has come to it.
fn unmake(base: &Path) {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    if entries.map(|entry| entry.file_name()).eq([GITIGNORE]) {
        let _ = fs::remove_file(base.join(GITIGNORE));
        let _ = fs::remove_dir(base);
    }
}

/// A folder of its own for a command, named by the time. It is made at once: who begins in the same second gets another.
pub(crate) fn new_folder(what: &str) -> anyhow::Result<PathBuf> {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let folder = claim(&base(), &format!("{what}-{now}"))?;
    *CLAIMED.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.clone());
    Ok(folder)
}

/// A command that was refused leaves no empty folder.
pub(crate) fn leave_nothing_empty() {
    let claimed = CLAIMED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(folder) = claimed {
        // It fails where there is something in it.
        if fs::remove_dir(folder).is_ok() && MADE.load(Ordering::Relaxed) {
            unmake(Path::new(BASE));
        }
    }
}

fn claim(base: &Path, name: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(base).with_context(|| format!("failed to make {}", base.display()))?;
    for n in 1..1000 {
        let path = match n {
            1 => base.join(name),
            n => base.join(format!("{name}-{n}")),
        };
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("failed to make {}", path.display()));
            }
        }
    }
    Err(anyhow!(
        "{} has too many results of this second",
        base.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_the_same_second_get_a_folder_each() {
        let base = tempfile::tempdir().unwrap();
        let first = claim(base.path(), "fuzz-1").unwrap();
        let second = claim(base.path(), "fuzz-1").unwrap();
        assert!(first.is_dir() && second.is_dir() && first != second);
    }

    #[test]
    fn a_new_folder_is_nothing_for_git_and_an_old_one_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        fs::create_dir(&old).unwrap();
        for base in [&new, &old] {
            make(base);
        }
        assert_eq!(fs::read_to_string(new.join(GITIGNORE)).unwrap(), "*\n");
        assert!(!old.join(GITIGNORE).exists());

        fs::write(new.join("kept"), "").unwrap();
        unmake(&new);
        assert!(new.join(GITIGNORE).exists());
        fs::remove_file(new.join("kept")).unwrap();
        unmake(&new);
        assert!(!new.exists());
    }
}
