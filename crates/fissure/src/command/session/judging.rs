//! `--oracles` and `--profile`: who judges, how much, how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use fissure_campaign::{JudgingOptions, RunOptions};
use fissure_judge::{OracleInfo, Profile};
use fissure_triage::KnownIssues;

use super::seconds_of;
use crate::exit_status::usage;

/// The profile of a run that names none; its time does not count.
const DEFAULT_PROFILE: &str = "ci";

/// Share of the workers' time that judging gets in a run that ends by the clock.
const TIME_SHARE: f64 = 0.5;

/// Read when it is there and no other is named.
const KNOWN_ISSUES: &str = "known-issues.toml";

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Judging")]
pub(crate) struct JudgingArgs {
    /// Oracles that judge: names with commas between, `default`, `all`, a profile; a minus in front
    /// leaves one out (`fissure oracles` lists them)
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub oracles: Option<String>,

    /// Time and oracles by name: smoke (60 s), ci (10 min), nightly (8 h), forever
    #[arg(long, value_name = "NAME", value_parser = profiles(), hide_possible_values = true)]
    pub profile: Option<String>,

    /// Calls that oracles may make for each plain call; `all` judges every accepted input
    /// [default: half of the time in a run that ends by the clock, else the profile's]
    #[arg(long, value_name = "SHARE")]
    pub judge_share: Option<String>,

    /// Report inputs that are accepted or rejected against the constraint files
    #[arg(long)]
    pub trust_specs: bool,

    /// File with known issues, which are counted and not reported [default: known-issues.toml, if
    /// there is one]
    #[arg(long, value_name = "FILE")]
    pub known_issues: Option<PathBuf>,

    /// Report the input that failed as it is
    #[arg(long)]
    pub no_shrink: bool,

    /// Time that making one input smaller may take
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds, default_value = "20s")]
    pub shrink_time: f64,

    /// Fresh processes in which each finding is tried
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub confirm_runs: u32,
}

impl JudgingArgs {
    /// The known issues of the file that was named, or of the one that is there.
    pub(crate) fn known_issues(&self) -> anyhow::Result<KnownIssues> {
        let usual = Path::new(KNOWN_ISSUES);
        let path = match &self.known_issues {
            Some(path) => path,
            None if usual.exists() => usual,
            None => return Ok(KnownIssues::default()),
        };
        KnownIssues::load(path).map_err(|error| usage(format!("{:#}", anyhow::Error::from(error))))
    }
}

/// What the arguments amount to.
pub(crate) struct Judging {
    profile: Option<&'static Profile>,
    oracles: Vec<&'static OracleInfo>,
    share: f64,
}

impl Judging {
    pub(crate) fn new(args: &JudgingArgs) -> anyhow::Result<Judging> {
        let profile = args.profile.as_deref().map(profile);
        let usual = match profile {
            Some(profile) => profile,
            None => self::profile(DEFAULT_PROFILE),
        };
        let oracles = match &args.oracles {
            None => usual.oracles(),
            Some(text) => fissure_judge::select(text).map_err(|error| usage(error.to_string()))?,
        };
        let share = match args.judge_share.as_deref() {
            None => usual.share,
            Some("all") => f64::INFINITY,
            Some(text) => text
                .parse()
                .ok()
                .filter(|share| *share >= 0.0)
                .ok_or_else(|| {
                    usage(format!(
                        "--judge-share {text}: give a number from 0 on, or all"
                    ))
                })?,
        };
        if args.confirm_runs == 0 {
            return Err(usage("--confirm-runs 0: a finding is tried at least once"));
        }
        Ok(Judging {
            profile,
            oracles,
            share,
        })
    }

    /// The time that the profile gives the whole run, if one was named and ends.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.profile?.time
    }

    /// The profile never ends.
    pub(crate) fn is_endless(&self) -> bool {
        self.profile.is_some_and(|profile| profile.time.is_none())
    }

    /// Puts it into the options of a run.
    pub(crate) fn apply(&self, args: &JudgingArgs, options: &mut RunOptions) -> anyhow::Result<()> {
        let comparing: Vec<&OracleInfo> = self
            .oracles
            .iter()
            .copied()
            .filter(|oracle| oracle.is_comparing())
            .collect();
        options.oracles = self
            .oracles
            .iter()
            .map(|info| info.oracle.clone())
            .collect();
        options.judging = JudgingOptions {
            oracles: comparing.iter().map(|info| info.oracle.clone()).collect(),
            price: comparing.iter().map(|oracle| oracle.price).sum(),
            share: self.share,
            // A count ends the run, or the user has said how much: what is judged follows from the
            // sequence alone.
            time_share: (options.max_inputs.is_none() && args.judge_share.is_none())
                .then_some(TIME_SHARE),
            ..JudgingOptions::default()
        };
        options.trust_specs = args.trust_specs;
        options.confirm_runs = args.confirm_runs;
        options.shrink_time = match args.no_shrink {
            true => None,
            false => Some(seconds_of(args.shrink_time, "--shrink-time")?),
        };
        Ok(())
    }
}

fn profile(name: &str) -> &'static Profile {
    fissure_judge::profile(name).expect("the parser of the flag lets no other name pass")
}

/// The names of the profiles, which shells complete.
fn profiles() -> PossibleValuesParser {
    PossibleValuesParser::new(fissure_judge::PROFILES.iter().map(|profile| profile.name))
}
