//! Which code is where in a process.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Executable memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub addresses: Range<u64>,
    /// Of its first byte in the file.
    pub offset: u64,
    /// The file; `None` for code that was made at run time.
    pub path: Option<PathBuf>,
}

/// The executable mappings of a process, in the order of their addresses.
pub(super) fn executable(pid: i32) -> io::Result<Vec<Mapping>> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(parse(&String::from_utf8_lossy(&text)))
}

fn parse(text: &str) -> Vec<Mapping> {
    text.lines().filter_map(line).collect()
}

/// `start-end permissions offset device inode   path`.
fn line(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    if !fields.next()?.contains('x') {
        return None;
    }
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let addresses = hexadecimal(start)?..hexadecimal(end)?;
    let offset = hexadecimal(fields.next()?)?;
    let path = fields.nth(2).map_or("", str::trim_start);
    Some(Mapping {
        addresses,
        offset,
        // The others are names in brackets: `[vdso]`.
        path: (path.starts_with('/') && !is_memory(path)).then(|| PathBuf::from(path)),
    })
}

/// Memory that is shared looks like a file: `/memfd:jit (deleted)`.
fn is_memory(path: &str) -> bool {
    ["/memfd:", "/dev/zero", "/SYSV"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// The mapping that holds an address.
pub(super) fn find(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    let after = mappings.partition_point(|mapping| mapping.addresses.start <= address);
    mappings[..after]
        .last()
        .filter(|mapping| mapping.addresses.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
5581c0000000-5581c0001000 r--p 00000000 fe:00 12   /usr/bin/python
5581c0001000-5581c0003000 r-xp 00001000 fe:00 12                         /usr/bin/python
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 
7f0000001000-7f0000002000 rwxs 00000000 00:01 7                          /dev/zero (deleted)
7f0000002000-7f0000003000 r-xp 00004000 fe:00 99                         /opt/with space/liba.so
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]
not a line
";

    #[test]
    fn only_code_is_kept_with_its_file_if_it_has_one() {
        let mappings = parse(TEXT);
        let paths: Vec<_> = mappings
            .iter()
            .map(|mapping| mapping.path.as_deref().and_then(|path| path.to_str()))
            .collect();
        assert_eq!(
            paths,
            [
                Some("/usr/bin/python"),
                None,
                None,
                Some("/opt/with space/liba.so"),
                None
            ]
        );
        assert_eq!(mappings[3].offset, 0x4000);
    }

    #[test]
    fn an_address_is_found_in_its_mapping_and_not_in_the_gap_after_it() {
        let mappings = parse(TEXT);
        let at = |address| find(&mappings, address).map(|mapping| mapping.addresses.start);
        assert_eq!(at(0x7f00_0000_0fff), Some(0x7f00_0000_0000));
        assert_eq!(at(0x7f00_0000_3000), None);
        assert_eq!(at(0), None);
        assert_eq!(at(u64::MAX), None);
    }

    #[test]
    fn this_process_executes_code_of_its_own_file() {
        let here = this_process_executes_code_of_its_own_file as fn() as usize as u64;
        let mappings = executable(std::process::id().cast_signed()).unwrap();
        let own = std::env::current_exe().unwrap();
        let found = find(&mappings, here).unwrap();
        assert_eq!(found.path.as_deref(), own.canonicalize().ok().as_deref());
    }
}
