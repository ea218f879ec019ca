//! `fissure campaign`: from the arguments as typed to the options of a run.

use std::time::Duration;

use fissure_campaign::{CampaignPlan, Division, Part, RunOptions, Shard};
use fissure_generate::GenerateOptions;

use super::args::CampaignRunArgs;
use super::run::LeftOut;
use crate::command::session::judging::Judging;
use crate::command::session::workers;
use crate::exit_status::usage;

/// Inputs per API when neither a count nor a time is given.
const DEFAULT_INPUTS: u64 = 2000;

/// What one API gets at a time when there is no end.
const TURN: Duration = Duration::from_secs(60);

/// The options of one shard's run.
pub(super) fn run_options(
    args: &CampaignRunArgs,
    plan: &CampaignPlan,
    shard: Shard,
    part: Part,
    left_out: LeftOut,
) -> anyhow::Result<RunOptions> {
    let judging = Judging::new(&args.judging)?;
    let asked = match args.workers {
        None if args.slurm.slurm => args.slurm.cpus.map(|cpus| cpus as usize),
        asked => asked,
    };
    let workers = workers(asked)?;
    let weights: Vec<f64> = shard
        .positions(plan.apis.len())
        .map(|at| plan.apis[at].weight)
        .collect();
    let endless = matches!(args.total, Some(limit) if limit.0.is_none())
        || (args.total.is_none() && judging.is_endless());
    let total_time = match args.total {
        Some(limit) => limit.0,
        None => judging.time(),
    };
    let max_inputs = match args.max_iter {
        None if args.per_api.is_none() && total_time.is_none() && !endless => Some(DEFAULT_INPUTS),
        asked => asked,
    };
    let max_time = args.per_api;
    let mut options = RunOptions {
        generate: GenerateOptions {
            mode: args.mode.into(),
            ..GenerateOptions::default()
        },
        max_inputs,
        max_time,
        turn: (endless && max_inputs.is_none() && max_time.is_none()).then_some(TURN),
        max_hangs: args.run.max_hangs,
        total_time,
        save: args.save,
        division: Division {
            weights,
            part,
            left_out,
        },
        guide: args.run.guide.is_some(),
        corpus: crate::command::session::corpus(&args.run.corpus)?,
        ..RunOptions::new(plan.seed, workers)
    };
    judging.apply(&args.judging, &mut options)?;
    Ok(options)
}

/// The shard that is meant; a campaign that is not divided is one.
pub(super) fn shard_of(index: Option<u64>, count: usize) -> anyhow::Result<Shard> {
    let index = match index {
        Some(index) => index as usize,
        None if count <= 1 => 0,
        None => {
            return Err(usage(format!(
                "the campaign has {count} shards: say which this is, --shard 0 to --shard {}",
                count - 1
            )));
        }
    };
    if index >= count.max(1) {
        return Err(usage(format!(
            "--shard {index}: the shards are numbered from 0 to {}",
            count.max(1) - 1
        )));
    }
    Ok(Shard { index, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_those_that_there_are() {
        assert_eq!(shard_of(None, 1).unwrap(), Shard { index: 0, count: 1 });
        assert!(shard_of(None, 3).is_err());
        assert!(shard_of(Some(3), 3).is_err());
        assert_eq!(shard_of(Some(2), 3).unwrap().index, 2);
    }
}
