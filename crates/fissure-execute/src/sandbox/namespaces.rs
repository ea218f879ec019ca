//! A view of the machine of its own: files read-only, shared memory new, no network.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;

use super::{Confinement, secrets};
use crate::options::{SandboxOptions, SandboxReport};

const SHARED_MEMORY: &str = "/dev/shm";

pub(super) struct Plan {
    options: SandboxOptions,
    /// The maps of users and groups of a user namespace: everybody keeps the number.
    user_map: String,
    group_map: String,
    writable: Vec<CString>,
    hidden_folders: Vec<CString>,
    hidden_files: Vec<CString>,
}

impl Plan {
    pub(super) fn new(confinement: &Confinement) -> Plan {
        let user = rustix::process::getuid().as_raw();
        let group = rustix::process::getgid().as_raw();
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        if !confinement.options.is_off() {
            for path in secrets::present().into_iter().chain(secrets::sockets()) {
                let list = if path.is_dir() {
                    &mut folders
                } else {
                    &mut files
                };
                list.extend(text(&path));
            }
        }
        Plan {
            options: confinement.options,
            user_map: format!("{user} {user} 1"),
            group_map: format!("{group} {group} 1"),
            writable: confinement
                .writable
                .iter()
                .filter_map(|path| text(path))
                .collect(),
            hidden_folders: folders,
            hidden_files: files,
        }
    }

    /// In the child.
    pub(super) fn enter(&mut self, report: &mut SandboxReport) {
        let network = match self.options.cut_network {
            true => UnshareFlags::NEWNET,
            false => UnshareFlags::empty(),
        };
        let mounts = match self.options.confine_writes {
            true => UnshareFlags::NEWNS,
            false => UnshareFlags::empty(),
        };
        let all = network | mounts | UnshareFlags::NEWIPC;
        // Only root gets them directly, others in a user namespace; some machines give only some.
        let given = [all, network | UnshareFlags::NEWIPC, network]
            .into_iter()
            .find(|wanted| !wanted.is_empty() && self.unshare(*wanted));
        let Some(given) = given else { return };
        report.network_cut = given.contains(UnshareFlags::NEWNET);
        if given.contains(UnshareFlags::NEWNS) {
            self.mount(report, given.contains(UnshareFlags::NEWIPC));
        }
    }

    fn unshare(&self, wanted: UnshareFlags) -> bool {
        // SAFETY: the child has one thread, and no flag touches its file descriptors.
        if unsafe { rustix::thread::unshare_unsafe(wanted) }.is_ok() {
            return true;
        }
        // SAFETY: as above.
        if unsafe { rustix::thread::unshare_unsafe(wanted | UnshareFlags::NEWUSER) }.is_err() {
            return false;
        }
        // Without a map the process would call itself nobody, which is ugly but works.
        let _ = std::fs::write("/proc/self/setgroups", "deny");
        let _ = std::fs::write("/proc/self/uid_map", &self.user_map);
        let _ = std::fs::write("/proc/self/gid_map", &self.group_map);
        true
    }

    /// Everything read-only but what is writable; nothing of it is seen outside.
    fn mount(&self, report: &mut SandboxReport, own_messages: bool) {
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        if rustix::mount::mount_change("/", private).is_err() {
            return;
        }
        let nothing = MountFlags::NODEV | MountFlags::NOSUID;
        let memory = rustix::mount::mount("fissure", SHARED_MEMORY, "tmpfs", nothing, c"mode=1777");
        report.memory_private = own_messages && memory.is_ok();
        let mut hidden = true;
        for folder in &self.hidden_folders {
            let flags = nothing | MountFlags::RDONLY;
            hidden &= rustix::mount::mount("fissure", folder, "tmpfs", flags, c"mode=0").is_ok();
        }
        for file in &self.hidden_files {
            hidden &= rustix::mount::mount_bind(c"/dev/null", file).is_ok();
        }
        report.secrets_hidden = hidden;
        let current = rustix::process::getcwd(Vec::new());
        let bound = self
            .writable
            .iter()
            .all(|path| rustix::mount::mount_bind_recursive(path, path).is_ok());
        if !bound || !set_attributes(c"/", true, true) {
            return;
        }
        let opened = self
            .writable
            .iter()
            .all(|path| set_attributes(path, false, true));
        // The shared memory is ours, whatever was made read-only with the rest.
        let shared = memory.is_err() || set_attributes(c"/dev/shm", false, false);
        // By name, into the mount that can be written to.
        let moved = current.is_ok_and(|path| rustix::process::chdir(path).is_ok());
        report.attributes_kept = opened && shared && moved;
        report.writes_confined = report.attributes_kept;
    }
}

fn text(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// `mount_setattr(2)`, Linux 5.12 or newer.
fn set_attributes(path: &std::ffi::CStr, read_only: bool, all_below: bool) -> bool {
    const READ_ONLY: u64 = 1;
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attributes = Attributes {
        set: if read_only { READ_ONLY } else { 0 },
        clear: if read_only { 0 } else { READ_ONLY },
        propagation: 0,
        user_namespace: 0,
    };
    let flags = if all_below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends with a zero byte, and the structure has the size that is given.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::c_long::from(libc::AT_FDCWD),
            path.as_ptr(),
            libc::c_long::from(flags),
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    answer == 0
}
