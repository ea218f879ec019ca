//! `fissure fuzz`: the arguments as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fissure_model::Mode;

use crate::command::session::args::RunArgs;
use crate::command::session::judging::JudgingArgs;
use crate::target::TargetArgs;

/// Fuzz API functions with inputs made from what they accept.
///
/// TARGET is an API (`torch.add`), a pattern (`torch.nn.*`), a constraint file, a rule file, or a
/// folder of them. For an API, rules are looked for in the folders of --rules, in ./invariants, and
/// among those shipped with Fissure; with --specs DIR its constraint file is used too, and inputs
/// satisfy both. A DocTer command line works too: `fissure fuzz API.yaml DTYPES.yml
/// [--obey|--ignore] …`; in that form, as there, no --obey means violating, every optional
/// parameter is given, and nothing is mutated unless asked.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub(crate) struct FuzzArgs {
    /// Constraint files, folders, API titles or patterns
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// Constraint file or folder (same as naming it as TARGET)
    #[arg(long, value_name = "PATH")]
    pub spec: Vec<PathBuf>,

    /// Folder in which constraint files of APIs are looked up
    #[arg(long, value_name = "DIR")]
    pub specs: Vec<PathBuf>,

    /// Rule file, or folder in which rule files of APIs are looked up [default: ./invariants, then
    /// what is shipped]
    #[arg(long, value_name = "PATH")]
    pub rules: Vec<PathBuf>,

    /// What inputs are made from
    #[arg(long, value_enum, default_value_t = GeneratorArg::Auto)]
    pub generator: GeneratorArg,

    /// Break this rule and no other in every violating input (implies --mode violate)
    #[arg(long = "break", value_name = "RULE")]
    pub break_rule: Option<String>,

    /// What to do with the constraints [default: mixed]
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,

    /// Obey the constraints (same as --mode conform)
    #[arg(long, conflicts_with = "mode")]
    pub obey: bool,

    /// Ignore the constraints (same as --mode ignore)
    #[arg(long, conflicts_with = "mode")]
    pub ignore: bool,

    /// How APIs are called
    #[arg(long, value_enum, default_value_t = WayArg::Eager)]
    pub way: WayArg,

    /// Keep constraints that contradict the type their own documentation states
    #[arg(long)]
    pub no_repair: bool,

    /// Inputs per API; -1 is without end [default: 2000]
    #[arg(
        long,
        alias = "max_iter",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub max_iter: Option<i64>,

    /// Time for each API; whichever of this and --max-iter comes first ends it; -1 is without end
    #[arg(
        long = "api-time",
        aliases = ["max-time", "max_time", "per-api"],
        value_name = "TIME",
        value_parser = crate::duration::seconds,
        allow_negative_numbers = true
    )]
    pub max_time: Option<f64>,

    /// Time for the whole run, shared among the APIs; -1 is without end [default: the profile's]
    #[arg(
        long,
        alias = "total",
        value_name = "TIME",
        value_parser = crate::duration::seconds,
        allow_negative_numbers = true
    )]
    pub total_time: Option<f64>,

    /// Time one call may take [default: 10s, in DocTer's form 5s]
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds)]
    pub timeout: Option<f64>,

    /// Worker processes [default: one per core]
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,

    /// Share of optional parameters that are given [default: 0.6, in DocTer's form 1]
    #[arg(long, alias = "fuzz_optional_p", value_name = "SHARE")]
    pub fuzz_optional_p: Option<f64>,

    /// Share of inputs with a boundary case put into them [default: 0.2, in DocTer's form 0]
    #[arg(long, alias = "mutate_p", value_name = "SHARE")]
    pub mutate_p: Option<f64>,

    /// Prefer boundary cases not yet used on a parameter
    #[arg(long, alias = "guided_mutate")]
    pub guided_mutate: bool,

    /// Also put NaN, ±Inf, −0.0 and subnormals into inputs
    #[arg(long, alias = "special_value")]
    pub special_value: bool,

    /// What tensors are built with: `tensor`, `numpy.array`, `list`
    #[arg(long, alias = "data_construct", value_name = "HOW")]
    pub data_construct: Option<String>,

    /// Call a layer after constructing it (in DocTer's form only when asked; otherwise always)
    #[arg(long, alias = "model_test")]
    pub model_test: bool,

    /// Report NaN in results where the constraint file says so (in DocTer's form only when asked;
    /// otherwise always)
    #[arg(long, alias = "check_nan")]
    pub check_nan: bool,

    /// Largest total size of one input's tensors, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    pub max_input_size: u64,

    /// Folder for everything that is written [default: fissure-out/fuzz-TIME; in DocTer's form the
    /// current folder]
    #[arg(long = "output", alias = "workdir", value_name = "DIR")]
    pub workdir: Option<PathBuf>,

    /// Continue the interrupted run in this folder, with the command it was begun with
    #[arg(long, value_name = "DIR", exclusive = true)]
    pub resume: Option<PathBuf>,

    /// Write a plain Python script for every input that is kept
    #[arg(long, alias = "gen_script")]
    pub gen_script: bool,

    /// Keep every input, not only those that fail
    #[arg(long)]
    pub save: bool,

    /// Function that should give the same result for the same arguments: mypkg.ref:f
    #[arg(long, value_name = "MODULE:FUNCTION")]
    pub reference: Vec<String>,

    /// Relative tolerance of --reference [default: that of the element type]
    #[arg(long, value_name = "NUMBER", requires = "reference")]
    pub rtol: Option<f64>,

    /// Absolute tolerance of --reference [default: that of the element type]
    #[arg(long, value_name = "NUMBER", requires = "reference")]
    pub atol: Option<f64>,

    /// File whose functions check… say of a result, with the arguments of its call, whether it is right
    #[arg(long, value_name = "FILE")]
    pub property: Vec<PathBuf>,

    /// Tests or scripts of yours: the calls they make of TARGET are where inputs start from
    #[arg(long, value_name = "PATH")]
    pub observe: Vec<PathBuf>,

    #[command(flatten)]
    pub run: RunArgs,

    #[command(flatten)]
    pub judging: JudgingArgs,

    // Last, because its heading holds for everything after it.
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WayArg {
    /// As they are
    Eager,
    /// By the library's compiler: tf.function, jax.jit, hybridised layers of MXNet
    Compiled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GeneratorArg {
    /// Rules, constraint file, or both: what there is
    Auto,
    /// Rules only
    Rules,
    /// Constraint files only
    Constraints,
    /// The types of the parameters only: the unguided baseline
    Random,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeArg {
    /// Every input obeys the constraints
    Conform,
    /// Every input breaks exactly one constraint or rule
    Violate,
    /// Constraints are not looked at
    Ignore,
    /// 60 % conforming, 40 % violating
    Mixed,
}

impl From<ModeArg> for Mode {
    fn from(asked: ModeArg) -> Self {
        match asked {
            ModeArg::Conform => Self::Conform,
            ModeArg::Violate => Self::Violate,
            ModeArg::Ignore => Self::Ignore,
            ModeArg::Mixed => Self::Mixed,
        }
    }
}
