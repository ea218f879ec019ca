//! Clearing folders that a target has written into.
//!
//! A target can put anything there while it is cleared: links to elsewhere in place of folders, trees
//! deeper than a stack. So nothing is found by a path. The outermost folder is held open from before
//! the target ran, everything else is opened from it one name at a time and never through a link, and
//! a folder inside a folder is first moved up and then cleared in its turn.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, RawMode};
use rustix::io::Errno;

const OWN: RawMode = 0o700;

/// A folder that stays the same whatever happens to its name.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// The folder with this name in it, made anew if there is none or something else.
    pub(crate) fn below(&self, name: &str) -> io::Result<Folder> {
        let name = CString::new(name)?;
        if let Ok(folder) = open_below(self.0.as_fd(), &name) {
            return Ok(Folder(folder));
        }
        remove(self.0.as_fd(), &name)?;
        rustix::fs::mkdirat(&self.0, &name, Mode::from_raw_mode(OWN))?;
        Ok(Folder(open_below(self.0.as_fd(), &name)?))
    }

    /// Removes what has this name, with everything in it.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(remove(self.0.as_fd(), &CString::new(name)?)?)
    }
}

/// Never through a link; made readable if the target has made it unreadable.
fn open_below(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let reading = flags | OFlags::RDONLY;
    match rustix::fs::openat(parent, name, reading, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let place = rustix::fs::openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
            open_up(&place)?;
            rustix::fs::openat(parent, name, reading, Mode::empty())
        }
        opened => opened,
    }
}

/// A descriptor that only names a file cannot change it, but the process table leads back to it.
fn open_up(folder: &OwnedFd) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(OWN))
}

fn remove(parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // It is a folder, or we are told nothing about it.
        Err(_) => {}
    }
    let mut waiting = vec![name.to_owned()];
    let mut moved = 0_u64;
    while let Some(folder_name) = waiting.pop() {
        let folder = open_below(parent, &folder_name)?;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let entry = entry.file_name();
            if entry == c"." || entry == c".." {
                continue;
            }
            if rustix::fs::unlinkat(&folder, entry, AtFlags::empty()).is_ok() {
                continue;
            }
            // Moving a folder to another one changes it, too.
            drop(open_below(folder.as_fd(), entry)?);
            let place = rustix::fs::openat(
                &folder,
                entry,
                OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            // Refused only where it is not needed: it belongs to somebody else.
            let _ = open_up(&place);
            let above = loop {
                moved += 1;
                let above = CString::new(format!(".removed-{}-{moved}", std::process::id()))
                    .map_err(|_| Errno::INVAL)?;
                match rustix::fs::renameat_with(
                    &folder,
                    entry,
                    parent,
                    &above,
                    rustix::fs::RenameFlags::NOREPLACE,
                ) {
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                    Ok(()) => break above,
                }
            };
            waiting.push(above);
        }
        rustix::fs::unlinkat(parent, &folder_name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn nothing_outside_is_touched_whatever_stands_in_place_of_the_folders() {
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir_all(outside.path().join("slot-0/deep")).unwrap();
        fs::write(outside.path().join("slot-0/kept"), "x").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::open(scratch.path()).unwrap();
        for stage in 0..3 {
            let work = scratch.path().join("work");
            match stage {
                // The parent is a link.
                0 => symlink(outside.path(), &work).unwrap(),
                // The folder is one.
                1 => {
                    fs::create_dir_all(&work).unwrap();
                    symlink(outside.path().join("slot-0"), work.join("slot-0")).unwrap();
                }
                // Something in it is one.
                _ => {
                    fs::create_dir_all(work.join("slot-0")).unwrap();
                    symlink(outside.path(), work.join("slot-0/way")).unwrap();
                }
            }
            let inner = folder.below("work").unwrap();
            inner.remove("slot-0").unwrap();
            inner.below("slot-0").unwrap();
            assert!(work.join("slot-0").read_dir().unwrap().next().is_none());
            folder.remove("work").unwrap();
            assert!(!work.exists());
        }
        assert!(outside.path().join("slot-0/kept").exists());
        assert!(outside.path().join("slot-0/deep").exists());
    }

    #[test]
    fn trees_of_any_depth_and_folders_that_nobody_may_read_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::open(scratch.path()).unwrap();
        folder.below("work").unwrap();
        let mut inner = folder.below("work").unwrap();
        for _ in 0..3000 {
            rustix::fs::mkdirat(&inner.0, "d", Mode::from_raw_mode(OWN)).unwrap();
            inner = Folder(open_below(inner.0.as_fd(), c"d").unwrap());
        }
        let closed = scratch.path().join("work/closed");
        fs::create_dir_all(closed.join("inner")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        folder.remove("work").unwrap();
        assert!(fs::read_dir(scratch.path()).unwrap().next().is_none());
        folder.remove("work").unwrap();
    }
}
