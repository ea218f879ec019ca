//! Anonymous shared memory that a worker gets by file descriptor.
//!
//! The files are sealed: nobody who finds a descriptor of one can make it shorter, which would end
//! this process by SIGBUS at its next look. See `fault.rs` for what remains.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use memmap2::MmapMut;
use rustix::fs::{MemfdFlags, SealFlags};

use crate::error::ExecuteError;
use crate::fault::Guarded;

/// What the other side may do with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Map it to read.
    Read,
    /// Map it to read and write.
    Write,
}

/// A mapped memory file. Lives only as long as processes that have it.
#[derive(Debug)]
pub(crate) struct Arena {
    // Let go of first: the range must not be guarded any more when it is unmapped.
    guard: Guarded,
    file: OwnedFd,
    map: MmapMut,
}

impl Arena {
    pub(crate) fn new(name: &str, bytes: usize, access: Access) -> Result<Arena, ExecuteError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(name, flags)
            .map_err(ExecuteError::system("create shared memory"))?;
        rustix::fs::ftruncate(&file, bytes as u64)
            .map_err(ExecuteError::system("size shared memory"))?;
        // SAFETY: the file is anonymous and ours. Workers that map it too write only to journals,
        // whose words are read as atomics and whose text is checked after it was copied.
        let map = unsafe { MmapMut::map_mut(&file) }
            .map_err(ExecuteError::system("map shared memory"))?;
        seal(&file, access).map_err(ExecuteError::system("seal shared memory"))?;
        let guard = Guarded::new(map.as_ptr(), map.len());
        Ok(Arena { guard, file, map })
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    pub(crate) fn pointer(&self) -> *const u8 {
        self.map.as_ptr()
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Memory was taken away from under the mapping: what is in it now nobody shares.
    pub(crate) fn is_lost(&self) -> bool {
        self.guard.is_lost()
    }
}

/// Our own mapping exists already, so that later ones can be kept from writing.
fn seal(file: &OwnedFd, access: Access) -> rustix::io::Result<()> {
    let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    if access == Access::Read
        // Linux 5.1 or newer; before that the worker's own mapping is what is read-only.
        && rustix::fs::fcntl_add_seals(file, size | SealFlags::FUTURE_WRITE).is_ok()
    {
        return Ok(());
    }
    rustix::fs::fcntl_add_seals(file, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_with_a_descriptor_can_change_the_size_or_write_into_what_is_for_reading() {
        for (access, writable) in [(Access::Read, false), (Access::Write, true)] {
            let arena = Arena::new("fissure-test", 8192, access).unwrap();
            let theirs = arena.file().try_clone_to_owned().unwrap();
            for size in [0, 4096, 1 << 20] {
                assert!(rustix::fs::ftruncate(&theirs, size).is_err(), "{size}");
            }
            assert_eq!(rustix::io::pwrite(&theirs, b"x", 0).is_ok(), writable);
        }
    }
}
