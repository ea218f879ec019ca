//! Landlock: rules that a process puts on itself and cannot take off.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Confinement, secrets};
use crate::options::SandboxReport;

/// Written to although they are outside: nothing is kept there, or (shared memory, where it is not
/// one of its own) libraries cannot work without it.
const WRITABLE: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
    SHARED_MEMORY,
];
const SHARED_MEMORY: &str = "/dev/shm";
/// The newest whose rights are all about files; what a kernel does not know is left out.
const NEWEST: ABI = ABI::V9;

pub(super) struct Rules {
    files: Option<RulesetCreated>,
    /// For where there is no namespace to cut the network.
    network: Option<RulesetCreated>,
    handled: BitFlags<AccessFs>,
    hides_secrets: bool,
}

impl Rules {
    pub(super) fn new(confinement: &Confinement) -> Rules {
        let options = confinement.options;
        let hidden = secrets::present();
        let readable = secrets::everything_else(&hidden);
        let mut handled = BitFlags::EMPTY;
        if options.confine_writes {
            handled |= AccessFs::from_write(NEWEST);
        }
        if readable.is_some() {
            handled |= AccessFs::ReadFile;
        }
        let files = (!options.is_off() && !handled.is_empty())
            .then(|| files(confinement, handled, readable.as_deref()).ok())
            .flatten();
        Rules {
            handled,
            hides_secrets: readable.is_some(),
            files,
            network: options.cut_network.then(|| no_connections().ok()).flatten(),
        }
    }

    /// In the child; `report` says what was achieved before.
    pub(super) fn enter(&mut self, report: &mut SandboxReport) {
        if !report.network_cut
            && let Some(network) = self.network.take()
            && let Ok(outcome) = network.restrict_self()
        {
            // TCP only: not counted as cut.
            let _ = outcome;
        }
        let Some(files) = self.files.take() else {
            return;
        };
        let files = match report.memory_private {
            false => files,
            // This is not the one that the rules were made for.
            true => match PathFd::new(SHARED_MEMORY)
                .ok()
                .and_then(|folder| files.add_rule(PathBeneath::new(folder, self.handled)).ok())
            {
                Some(files) => files,
                None => return,
            },
        };
        if let Ok(outcome) = files.restrict_self()
            && outcome.ruleset != RulesetStatus::NotEnforced
        {
            report.writes_confined |= self.handled.contains(AccessFs::WriteFile);
            report.secrets_hidden |= self.hides_secrets;
        }
    }
}

fn files(
    confinement: &Confinement,
    handled: BitFlags<AccessFs>,
    readable: Option<&[std::path::PathBuf]>,
) -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(handled)?
        // A process number among random arguments must not hit anything outside, and programs that
        // listen under a name of their own are none of its business.
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?
        .create()?
        .add_rules(path_beneath_rules(&confinement.writable, handled))?
        .add_rules(path_beneath_rules(WRITABLE, handled))?
        .add_rules(path_beneath_rules(
            readable.unwrap_or_default(),
            handled & AccessFs::ReadFile,
        ))
}

fn no_connections() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessNet::from_all(ABI::V4))?
        .create()
}
