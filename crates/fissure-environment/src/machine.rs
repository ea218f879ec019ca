//! Facts about this machine that decide whether a campaign can run well on it.

use std::{fs, io, path::Path, process::Command};

/// Bytes an ordinary user may still write to the file system of `path`, or of its nearest parent
/// that exists.
pub fn free_disk(path: &Path) -> io::Result<u64> {
    let existing = path
        .ancestors()
        .find(|part| part.exists())
        .unwrap_or(Path::new("."));
    let status = rustix::fs::statvfs(existing)?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

/// Bytes of memory that programs can still get, as the kernel estimates it.
pub fn available_memory() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    text.lines()
        .find_map(|line| {
            line.strip_prefix("MemAvailable:")?
                .trim()
                .strip_suffix(" kB")?
                .parse::<u64>()
                .ok()
        })
        .map(|kibibytes| kibibytes * 1024)
        .ok_or_else(|| io::Error::other("no MemAvailable in /proc/meminfo"))
}

/// The version of the kernel's Landlock interface, which confines what workers may write.
#[cfg(target_os = "linux")]
pub fn landlock_version() -> io::Result<i64> {
    const VERSION_FLAG: libc::c_uint = 1;
    // SAFETY: with the version flag the call takes a null pointer and size zero, reads and writes
    // no memory, and only returns a number.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0_usize,
            VERSION_FLAG,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

#[cfg(not(target_os = "linux"))]
pub fn landlock_version() -> io::Result<i64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a process can be put into a network namespace of its own, where no network is. As an
/// ordinary user that takes a user namespace too, which some distributions forbid.
#[cfg(target_os = "linux")]
pub fn network_namespace() -> io::Result<()> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    use std::os::unix::process::CommandExt;

    let mut command = Command::new("/proc/self/exe");
    // SAFETY: the closure runs between fork and exec in a process of its own with one thread,
    // makes system calls only, and does not allocate: every io::Error here is made from a number.
    unsafe {
        command.pre_exec(|| {
            unshare_unsafe(UnshareFlags::NEWNET)
                .or_else(|_| unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET))?;
            // The answer is known: fail with a mark of our own instead of running anything.
            Err(io::Error::from_raw_os_error(libc::ECANCELED))
        });
    }
    match command.spawn() {
        Err(error) if error.raw_os_error() == Some(libc::ECANCELED) => Ok(()),
        Err(error) => Err(error),
        Ok(mut child) => child.wait().map(drop),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn network_namespace() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether memory can be shared with workers through a file that has no name.
#[cfg(target_os = "linux")]
pub fn shared_memory() -> io::Result<()> {
    let file = rustix::fs::memfd_create("fissure-doctor", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&file, 1 << 20)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn shared_memory() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// `6.7 GB`, in the units in which disks and downloads are sold.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "kB", "MB", "GB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_asked_of_the_nearest_folder_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        let free = free_disk(&folder.path().join("not/yet/there")).unwrap();
        assert!(free > 0);
    }

    #[test]
    fn sizes_are_written_in_decimal_units() {
        assert_eq!(human_bytes(999), "999 bytes");
        assert_eq!(human_bytes(1500), "1.5 kB");
        assert_eq!(human_bytes(6_700_000_000), "6.7 GB");
        assert_eq!(human_bytes(12_000_000_000_000), "12000.0 GB");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn asking_for_a_network_namespace_leaves_this_process_where_it_was() {
        let before = fs::read_link("/proc/self/ns/net").unwrap();
        // Whether it can be had depends on the machine; that the question is harmless does not.
        let _ = network_namespace();
        assert_eq!(fs::read_link("/proc/self/ns/net").unwrap(), before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_and_shared_memory_can_be_asked_for_on_linux() {
        assert!(available_memory().unwrap() > 0);
        shared_memory().unwrap();
    }
}
