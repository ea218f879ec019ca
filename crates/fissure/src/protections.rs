//! What is in force against a target that does harm: told once by every command that calls functions of a target.

use std::sync::{Mutex, PoisonError};

use fissure_execute::{SandboxReport, on_protections};

use crate::Command;
use crate::console::notice;

/// What was told already.
static TOLD: Mutex<Vec<Option<SandboxReport>>> = Mutex::new(Vec::new());

/// From here on, the first process that is started for a command says what protects from it. Runs and scans tell it
/// themselves, when they have said what they are about; commands that only look at a library do not.
pub(crate) fn listen(command: &Command) {
    if !matches!(
        command,
        Command::Fuzz(_)
            | Command::Campaign(_)
            | Command::Judge(_)
            | Command::Scan(_)
            | Command::Apis(_)
            | Command::Oracles(_)
            | Command::Doctor(_)
    ) {
        on_protections(tell);
    }
}

/// Tells it, unless it was told before; `None` where the user wants none.
pub(crate) fn tell(given: Option<SandboxReport>) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.contains(&given) {
        told.push(given);
        notice!("fissure: {}", in_words(given));
    }
}

/// What is in force, and what this machine does not give.
fn in_words(given: Option<SandboxReport>) -> String {
    let Some(given) = given else {
        return "no protections (--no-sandbox)".to_owned();
    };
    let listed = |names: Vec<&str>| match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    let mut text = format!("protections: {}", listed(given.in_force()));
    if !given.missing().is_empty() {
        text.push_str(&format!("; not in force: {}", listed(given.missing())));
    }
    text
}
