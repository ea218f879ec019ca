//! What the installed library says about an API.

use anyhow::{Context, anyhow};
use fissure_execute::{Pool, PoolOptions};
use fissure_model::{Api, Signature};

use super::{TargetArgs, resolve};

/// Asks the library, in a process of its own.
pub(crate) fn describe(api: &Api, args: &TargetArgs) -> anyhow::Result<Signature> {
    let python = resolve(args, &api.package)?.python;
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    let failed = |error| anyhow!("failed to {error}");
    let options = PoolOptions::new(python, &api.package, scratch.path());
    let pool = Pool::start(options).map_err(failed)?;
    let signature = pool.describe(&api.path).map_err(failed)?;
    pool.stop();
    Ok(signature)
}
