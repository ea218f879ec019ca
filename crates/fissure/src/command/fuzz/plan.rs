//! `fissure fuzz`: from the arguments as typed to what will be done.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_campaign::RunOptions;
use fissure_generate::{GenerateOptions, TensorsAs};
use fissure_judge::OracleInfo;
use fissure_model::{Mode, Oracle, Spec, Way};
use fissure_spec::{DtypeConfig, Warning};

use super::args::{FuzzArgs, GeneratorArg, WayArg};
use super::project::OwnOracles;
use super::targets::Targets;
use crate::command::session::judging::Judging;
use crate::command::session::{seconds_of, seed, workers};
use crate::exit_status::usage;

/// Inputs per API unless told otherwise: what the paper's experiments used.
const DEFAULT_INPUTS: u64 = 2000;

/// What one API gets at a time when there is no end.
const TURN: Duration = Duration::from_secs(60);

/// Ready to run.
pub(super) struct Plan {
    /// In the order asked for, grouped by nothing yet.
    pub specs: Vec<Spec>,
    pub warnings: Vec<Warning>,
    /// Constraints read as their documentation states, one line each.
    pub repairs: Vec<String>,
    /// Where rules come from, one line each.
    pub rules: Vec<String>,
    pub workdir: PathBuf,
    pub timeout: Duration,
    pub run: RunOptions,
    /// The user's own oracles.
    pub own: OwnOracles,
}

impl Plan {
    pub(super) fn new(args: &FuzzArgs, own: OwnOracles) -> anyhow::Result<Plan> {
        let docter = DocterForm::of(args)?;
        let is_docter = docter.is_some();
        let mut generate = GenerateOptions {
            mode: mode(args, is_docter),
            optional_ratio: share(args.fuzz_optional_p, "--fuzz-optional-p")?
                .unwrap_or(if is_docter { 1.0 } else { 0.6 }),
            mutate_ratio: share(args.mutate_p, "--mutate-p")?.unwrap_or(if is_docter {
                0.0
            } else {
                0.2
            }),
            guided_mutation: args.guided_mutate,
            special_values: args.special_value,
            max_tensor_bytes: args.max_input_size << 20,
            layer_call: args.model_test || !is_docter,
            break_rule: args.break_rule.clone(),
            unguided: args.generator == GeneratorArg::Random,
            // In DocTer's form a file means what it says.
            repair: !is_docter,
            ..GenerateOptions::default()
        };
        if let Some(how) = &args.data_construct {
            generate.tensors_as = tensors_as(how)?;
        }
        if let Some(docter) = &docter {
            generate.dtypes = Some(docter.dtypes.dtypes());
        }
        let judging = Judging::new(&args.judging)?;
        let total_time = match args.total_time {
            Some(-1.0) => None,
            Some(seconds) if seconds > 0.0 => Some(seconds_of(seconds, "--total-time")?),
            Some(n) => {
                return Err(usage(format!(
                    "--total-time {n}: give seconds, or -1 for no end"
                )));
            }
            None => judging.time(),
        };
        // A run with a time for the whole ends by the clock, not by a count.
        let timed = total_time.is_some() || judging.is_endless();
        let max_inputs = match args.max_iter {
            Some(n) if n > 0 => Some(n as u64),
            Some(-1) => None,
            None | Some(0) if args.max_time.is_some() || timed => None,
            None | Some(0) => Some(DEFAULT_INPUTS),
            Some(n) => {
                return Err(usage(format!(
                    "--max-iter {n}: give a count, or -1 for no end"
                )));
            }
        };
        let max_time = match args.max_time {
            Some(seconds) if seconds > 0.0 => Some(seconds_of(seconds, "--api-time")?),
            Some(-1.0) | Some(0.0) | None => None,
            Some(n) => {
                return Err(usage(format!(
                    "--api-time {n}: give seconds, or -1 for no end"
                )));
            }
        };
        let timeout = args.timeout.unwrap_or(if is_docter { 5.0 } else { 10.0 });
        if timeout <= 0.0 {
            return Err(usage(format!(
                "--timeout {timeout}: give a positive number of seconds"
            )));
        }
        let workdir = match (&args.workdir, is_docter) {
            (Some(dir), _) => dir.clone(),
            (None, true) => PathBuf::from("."),
            (None, false) => crate::results::new_folder("fuzz")?,
        };
        let seed = seed(&args.run.seed)?;
        let workers = workers(args.workers)?;
        // Last, so that a wrong flag is told before thousands of files are read.
        let Targets {
            specs,
            warnings,
            repairs,
            rules,
        } = Targets::load(args, is_docter)?;
        let specs: Vec<Spec> = specs
            .into_iter()
            .map(|mut spec| {
                spec.api.imports.clone_from(&args.run.import);
                spec
            })
            .collect();
        let specs = match args.way {
            WayArg::Eager => specs,
            WayArg::Compiled => compiled(specs)?,
        };
        let mut run = RunOptions {
            generate,
            check_nan: args.check_nan || !is_docter,
            max_inputs,
            max_time,
            turn: (max_inputs.is_none() && max_time.is_none() && total_time.is_none())
                .then_some(TURN),
            max_hangs: args.run.max_hangs,
            save: args.save,
            scripts: args.gen_script,
            total_time,
            guide: args.run.guide.is_some(),
            corpus: crate::command::session::corpus(&args.run.corpus)?,
            recorded: match is_docter {
                true => recorded(args, timeout),
                false => Default::default(),
            },
            ..RunOptions::new(seed, workers)
        };
        judging.apply(&args.judging, &mut run)?;
        add_own(&own, args.judging.judge_share.is_some(), &mut run);
        Ok(Plan {
            specs,
            warnings,
            repairs,
            rules,
            timeout: seconds_of(timeout, "--timeout")?,
            run,
            workdir,
            own,
        })
    }
}

/// The user's own oracles judge beside the others, and unless told otherwise every accepted input:
/// they are the ones that know what is right.
fn add_own(own: &OwnOracles, share_is_set: bool, run: &mut RunOptions) {
    let named = own.oracles();
    if named.is_empty() {
        return;
    }
    let mut oracles: Vec<Oracle> = run.judging.oracles.to_vec();
    for info in named.iter().filter_map(OracleInfo::of) {
        if !oracles.contains(&info.oracle) {
            oracles.push(info.oracle.clone());
            run.judging.price += info.price;
        }
        if !run.has_oracle(&info.oracle) {
            run.oracles.push(info.oracle.clone());
        }
    }
    run.judging.oracles = oracles.into();
    if !share_is_set {
        run.judging.share = f64::INFINITY;
    }
}

/// The same APIs, called by their library's compiler.
fn compiled(mut specs: Vec<Spec>) -> anyhow::Result<Vec<Spec>> {
    for spec in &mut specs {
        if !matches!(spec.api.package.as_str(), "tensorflow" | "jax" | "mxnet") {
            return Err(usage(format!(
                "--way compiled: {} is not of tensorflow, jax or mxnet (for torch, the oracles jit \
                 and compile compare the two ways)",
                spec.api.title
            )));
        }
        spec.api.way = Way::Compiled;
    }
    Ok(specs)
}

/// `API.yaml DTYPES.yml`, as DocTer's driver takes them.
struct DocterForm {
    dtypes: DtypeConfig,
}

impl DocterForm {
    fn of(args: &FuzzArgs) -> anyhow::Result<Option<DocterForm>> {
        let [spec, dtypes] = args.targets.as_slice() else {
            return Ok(None);
        };
        let (spec, dtypes) = (Path::new(spec), Path::new(dtypes));
        if !spec.is_file() || !dtypes.is_file() || fissure_spec::load_file(dtypes).is_ok() {
            return Ok(None);
        }
        let dtypes = DtypeConfig::load(dtypes).map_err(|error| {
            usage(format!(
                "the second file is neither a constraint file nor a dtype configuration\n\n{}",
                fissure_spec::render(&error, false)
            ))
        })?;
        Ok(Some(DocterForm { dtypes }))
    }
}

/// What DocTer's `fuzzing_config` has besides what every run records.
fn recorded(args: &FuzzArgs, timeout: f64) -> serde_json::Map<String, serde_json::Value> {
    [
        ("target_config", args.targets.first().cloned().into()),
        ("dtype_config", args.targets.get(1).cloned().into()),
        ("data_construct", args.data_construct.clone().into()),
        ("timeout", timeout.into()),
        ("verbose", crate::console::verbose().into()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect()
}

fn mode(args: &FuzzArgs, is_docter: bool) -> Mode {
    match args.mode {
        Some(asked) => asked.into(),
        // DocTer's baseline is `--ignore --obey`: ignoring wins.
        None if args.ignore => Mode::Ignore,
        None if args.break_rule.is_some() => Mode::Violate,
        None if args.obey => Mode::Conform,
        None if is_docter => Mode::Violate,
        None => Mode::Mixed,
    }
}

fn share(value: Option<f64>, flag: &str) -> anyhow::Result<Option<f64>> {
    match value {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(usage(format!(
            "{flag} {share}: give a share between 0 and 1"
        ))),
        other => Ok(other),
    }
}

fn tensors_as(how: &str) -> anyhow::Result<TensorsAs> {
    match how {
        // DocTer's spellings for PyTorch and MXNet: the library's own tensor.
        "tensor" | "torch.tensor" | "nd.array" | "tf.constant" => Ok(TensorsAs::Tensor),
        "numpy" | "numpy.array" | "np.array" => Ok(TensorsAs::NdArray),
        "list" => Ok(TensorsAs::List),
        other => Err(usage(format!(
            "--data-construct {other}: give tensor (the library's own), numpy.array or list"
        ))),
    }
}
