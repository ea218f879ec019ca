//! The memory of a stopped process.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;

/// Reads page by page and each page once: a stack is many small reads close together.
pub(super) struct Memory {
    file: File,
    /// `None` for a page that is not there.
    pages: HashMap<u64, Option<Box<[u8]>>>,
}

impl Memory {
    pub(super) fn of_thread(thread: i32) -> io::Result<Memory> {
        Ok(Memory {
            file: File::open(format!("/proc/{thread}/mem"))?,
            pages: HashMap::new(),
        })
    }

    /// The number of `size` bytes at `address`, at most eight.
    pub(super) fn number(&mut self, address: u64, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let wanted = bytes.get_mut(..size)?;
        let within = (PAGE - address % PAGE).min(size as u64) as usize;
        let (first, second) = wanted.split_at_mut(within);
        first.copy_from_slice(self.part(address, within)?);
        if !second.is_empty() {
            let next = address.checked_add(within as u64)?;
            second.copy_from_slice(self.part(next, second.len())?);
        }
        Some(u64::from_le_bytes(bytes))
    }

    /// The machine word at `address`.
    pub(super) fn word(&mut self, address: u64) -> Option<u64> {
        self.number(address, 8)
    }

    /// Bytes of one page.
    fn part(&mut self, address: u64, size: usize) -> Option<&[u8]> {
        let start = address - address % PAGE;
        let page = self.pages.entry(start).or_insert_with(|| {
            let mut bytes = vec![0; PAGE as usize].into_boxed_slice();
            self.file.read_exact_at(&mut bytes, start).ok()?;
            Some(bytes)
        });
        let offset = (address % PAGE) as usize;
        page.as_ref()?.get(offset..offset + size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_and_absent_memory_is_no_number() {
        let mut memory = Memory::of_thread(std::process::id().cast_signed()).unwrap();
        let words = [0x1122_3344_5566_7788_u64, 9];
        let address = words.as_ptr().expose_provenance() as u64;
        assert_eq!(memory.word(address), Some(words[0].to_le()));
        assert_eq!(memory.word(address + 8), Some(words[1].to_le()));
        assert_eq!(memory.number(address, 2), Some(0x7788));
        assert_eq!(memory.number(address, 9), None);
        assert_eq!(memory.word(0), None);
        assert_eq!(memory.word(u64::MAX - 3), None);

        let across: Vec<u8> = (0..=255).cycle().take(2 * PAGE as usize).collect();
        let start = across.as_ptr().expose_provenance() as u64;
        // Memory that begins at a page has its first border one page on.
        let last = (start + 3).next_multiple_of(PAGE) - 3;
        let first = across[(last - start) as usize];
        let expected = [0, 1, 2, 3, 4, 5, 6, 7].map(|offset| first.wrapping_add(offset));
        assert_eq!(memory.word(last), Some(u64::from_le_bytes(expected)));
    }
}
