//! Anonymous shared memory that a worker gets by file descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use memmap2::MmapMut;
use rustix::fs::MemfdFlags;

use crate::error::ExecuteError;

/// A mapped memory file. Lives only as long as processes that have it.
#[derive(Debug)]
pub struct Arena {
    file: OwnedFd,
    map: MmapMut,
}

impl Arena {
    pub fn new(name: &str, bytes: usize) -> Result<Arena, ExecuteError> {
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)
            .map_err(ExecuteError::system("create shared memory"))?;
        rustix::fs::ftruncate(&file, bytes as u64)
            .map_err(ExecuteError::system("size shared memory"))?;
        // SAFETY: the file is anonymous and ours. Workers that map it too write only to journals,
        // whose words are read as atomics and whose text is checked after it was copied.
        let map = unsafe { MmapMut::map_mut(&file) }
            .map_err(ExecuteError::system("map shared memory"))?;
        Ok(Arena { file, map })
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }

    pub fn pointer(&self) -> *const u8 {
        self.map.as_ptr()
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
