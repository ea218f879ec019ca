//! What root may do and a library need not.

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::options::SandboxReport;

/// Files of other users: an environment or a project may belong to one. Where it may write is for the
/// other layers to say.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);
/// The highest that there will be for a while; those that a kernel does not know are refused.
const MOST: u32 = 63;

/// No capability but [`KEPT`], now and after every exec; no new privileges by programs that give them.
pub(super) fn give_up(report: &mut SandboxReport) {
    let no_new = rustix::thread::set_no_new_privs(true).is_ok();
    for number in 0..=MOST {
        if KEPT.bits() & (1 << number) == 0 {
            // SAFETY: plain numbers; refused for a capability that is not ours to drop.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(number), 0, 0, 0) };
        }
    }
    let present = rustix::thread::capabilities(None);
    let done = present.and_then(|present| {
        rustix::thread::set_capabilities(
            None,
            CapabilitySets {
                effective: present.effective & KEPT,
                permitted: present.permitted & KEPT,
                inheritable: CapabilitySet::empty(),
            },
        )
    });
    report.privileges_dropped = no_new && done.is_ok();
}
