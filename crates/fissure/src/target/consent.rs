//! Asks before the first large download, where there is somebody to ask.

#![expect(clippy::print_stderr, reason = "a question to the user")]

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use fissure_environment::machine::human_bytes;
use fissure_environment::{Requirement, Store, Surroundings, bytes_on_disk, bytes_to_download};

use crate::exit_status::usage;

/// Returns when an environment may be made. A run that nobody watches is not held up: there the
/// environment is made unless `--offline` or `FISSURE_OFFLINE` says otherwise.
pub(super) fn ask(
    surroundings: &Surroundings,
    package: &str,
    requirement: &Requirement,
) -> anyhow::Result<()> {
    let watched = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !watched || surroundings.variable("CI").is_some() {
        return Ok(());
    }
    let size = match (
        bytes_to_download(surroundings, requirement),
        bytes_on_disk(surroundings, requirement),
    ) {
        (Some(download), Some(disk)) => format!(
            ", about {} to download and {} on disk",
            human_bytes(download),
            human_bytes(disk)
        ),
        _ => String::new(),
    };
    eprint!(
        "fissure: no interpreter has {package}. Make an environment with {requirement} in {}{size}? [Y/n] ",
        Store::new(surroundings).folder().display(),
    );
    io::stderr().flush().context("failed to ask")?;
    let mut answer = String::new();
    let length = io::stdin()
        .read_line(&mut answer)
        .context("failed to read the answer")?;
    if length > 0 && ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        return Ok(());
    }
    Err(usage(format!(
        "no environment was made\n\nname an interpreter that has {package} with --python, or later run: fissure env make '{requirement}'"
    )))
}
