//! Who uses a folder: processes of this machine that were started from it or have loaded files of it.

use std::{fs, path::Path};

/// One of them, in words; what cannot be seen (another user's process) does not count.
pub(crate) fn first(folder: &Path) -> Option<String> {
    let canonical = folder.canonicalize().ok()?;
    let (named, inside) = (
        format!("{}/", folder.display()),
        format!("{}/", canonical.display()),
    );
    let own = std::process::id();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let process = entry.path();
        let command = fs::read(process.join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command);
        let started = command.starts_with(&inside) || command.starts_with(&named);
        // A virtual environment's interpreter is a link to another folder; its modules are not.
        let loaded = || {
            let maps = fs::read(process.join("maps")).unwrap_or_default();
            String::from_utf8_lossy(&maps).contains(&inside)
        };
        (number != own && (started || loaded())).then(|| {
            let name = command.split('\0').next().unwrap_or_default();
            format!("process {number} ({name})")
        })
    })
}
