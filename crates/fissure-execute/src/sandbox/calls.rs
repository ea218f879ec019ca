//! System calls that no library needs, and that would reach beyond its process.
//!
//! A list of what is refused, not of what is allowed: the libraries are many, and one that is ended
//! because it made a call that nobody thought of would be reported as broken. Refused calls fail as
//! they do for a user without rights, so that whoever tries one can say so.

use std::collections::BTreeMap;

use libc::{EPERM, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::Confinement;
use crate::options::SandboxReport;

/// Always refused.
const NEVER: &[c_long] = &[
    // The machine.
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // File systems and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Memory and descriptors of other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    // Other users.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
];

/// Modes, owners, times and attributes: for where the file system could not be made read-only.
const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    // fchmodat2, which the headers do not have everywhere.
    452,
];

/// System V memory, queues and semaphores: for where there is no namespace for them.
const LASTING: &[c_long] = &[libc::SYS_shmget, libc::SYS_msgget, libc::SYS_semget];

/// Ways around the filter; a library that is told that there is no such call takes another.
const ABSENT: &[c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Its flags lie in memory, where a filter cannot see them; everybody falls back to clone.
    libc::SYS_clone3,
];

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];
const TERMINAL_INPUT: u64 = 0x5412;
const TERMINAL_SELECTION: u64 = 0x541c;
const SET_FLAGS: u64 = 0x4008_6602;
/// Numbers from here on are another way to say the others (x32).
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: u32 = 0x4000_0000;
const FILTER_ALLOWS_SPECULATION: c_long = 1 << 2;

/// Filters, ready to be installed by a child.
pub(super) struct Filters {
    always: Vec<BpfProgram>,
    without_network_namespace: Option<BpfProgram>,
    without_mounts: Option<BpfProgram>,
    without_memory_namespace: Option<BpfProgram>,
}

impl Filters {
    pub(super) fn new(confinement: &Confinement) -> Filters {
        let options = confinement.options;
        let mut families = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        if confinement.local_sockets {
            families.push(libc::AF_UNIX);
        }
        let mut rules: Rules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
        rules.insert(libc::SYS_socket, vec![none_of(0, &families)]);
        rules.insert(libc::SYS_clone, NAMESPACES.map(with_flag).to_vec());
        rules.insert(libc::SYS_prlimit64, vec![none_of(0, &[0])]);
        rules.insert(
            libc::SYS_setpriority,
            vec![none_of(0, &[0]), none_of(1, &[0])],
        );
        rules.insert(libc::SYS_ioprio_set, vec![none_of(1, &[0])]);
        let commands = [TERMINAL_INPUT, TERMINAL_SELECTION, SET_FLAGS];
        rules.insert(
            libc::SYS_ioctl,
            commands.map(|command| equal(1, command)).to_vec(),
        );
        if !confinement.local_sockets {
            // Programs of users pin their own threads.
            for call in [
                libc::SYS_sched_setaffinity,
                libc::SYS_sched_setscheduler,
                libc::SYS_sched_setparam,
                libc::SYS_sched_setattr,
            ] {
                rules.insert(call, vec![none_of(0, &[0])]);
            }
        }
        let local: &[i32] = match confinement.local_sockets {
            true => &[libc::AF_UNIX],
            false => &[libc::AF_NETLINK],
        };
        let network = Rules::from([(libc::SYS_socket, vec![none_of(0, local)])]);
        Filters {
            always: [
                program(absent(), libc::ENOSYS).map(also_other_numbers),
                program(rules, EPERM),
            ]
            .into_iter()
            .flatten()
            .collect(),
            without_network_namespace: options
                .cut_network
                .then(|| program(network, EPERM))
                .flatten(),
            without_mounts: (options.confine_writes && !confinement.local_sockets)
                .then(|| program(plain(METADATA), EPERM))
                .flatten(),
            without_memory_namespace: (!confinement.local_sockets)
                .then(|| program(plain(LASTING), EPERM))
                .flatten(),
        }
    }

    /// In the child; `report` says what was achieved before.
    pub(super) fn enter(&self, report: &mut SandboxReport) {
        if !report.network_cut
            && let Some(program) = &self.without_network_namespace
        {
            report.network_cut = install(program);
        }
        if !report.attributes_kept
            && let Some(program) = &self.without_mounts
        {
            report.attributes_kept = install(program);
        }
        if !report.memory_private
            && let Some(program) = &self.without_memory_namespace
        {
            install(program);
        }
        report.calls_filtered = !self.always.is_empty() && self.always.iter().all(install);
    }
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn plain(calls: &[c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn absent() -> Rules {
    plain(ABSENT)
}

/// Matches when the argument is none of the values.
fn none_of(argument: u8, values: &[i32]) -> SeccompRule {
    let conditions = values.iter().map(|value| {
        let value = u64::from(value.cast_unsigned());
        condition(argument, SeccompCmpOp::Ne, value)
    });
    rule(conditions.collect())
}

fn equal(argument: u8, value: u64) -> SeccompRule {
    rule(vec![condition(argument, SeccompCmpOp::Eq, value)])
}

fn with_flag(flag: i32) -> SeccompRule {
    let flag = u64::from(flag.cast_unsigned());
    rule(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)])
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .expect("a system call has six arguments")
}

fn rule(conditions: Vec<SeccompCondition>) -> SeccompRule {
    SeccompRule::new(conditions).expect("every rule has a condition")
}

/// `None` on a processor that the filters are not known for.
fn program(rules: Rules, error: i32) -> Option<BpfProgram> {
    let processor = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.cast_unsigned()),
        processor,
    );
    filter.ok()?.try_into().ok()
}

/// In front of a program: the same calls under other numbers do not exist.
fn also_other_numbers(program: BpfProgram) -> BpfProgram {
    #[cfg(target_arch = "x86_64")]
    let front = [
        // The number of the call.
        statement(0x20, 0),
        sock_filter {
            code: 0x35,
            jt: 0,
            jf: 1,
            k: OTHER_NUMBERS,
        },
        statement(0x06, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let front: [sock_filter; 0] = [];
    front.into_iter().chain(program).collect()
}

#[cfg(target_arch = "x86_64")]
fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

/// For this thread and all that comes from it. Filters that would switch off speculation, as those of
/// older kernels do, would slow every call of the library down.
fn install(program: &BpfProgram) -> bool {
    let Ok(length) = u16::try_from(program.len()) else {
        return false;
    };
    let described = libc::sock_fprog {
        len: length,
        filter: program.as_ptr().cast_mut().cast(),
    };
    [FILTER_ALLOWS_SPECULATION, 0].into_iter().any(|flags| {
        // SAFETY: the program lives during the call, the kernel copies it, and its layout is that
        // of the kernel's structure.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                c_long::from(libc::SECCOMP_SET_MODE_FILTER.cast_signed()),
                flags,
                &raw const described,
            )
        };
        answer == 0
    })
}
