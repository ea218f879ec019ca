//! The configuration file: the keys that users of Soft Assertion Fuzzer know.
//!
//! Every key does what it says or is reported; nothing is read and then ignored.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::assertions::Steering;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("failed to read `{path}`: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("failed to parse `{path}`: {message}")]
    Parse { path: String, message: String },
}

/// How the log of a site is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// The keys with an effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Side of the arrays that are made for a target function's parameters.
    pub tensor_size: Option<u64>,
    /// Range of inputs whose source sets none.
    pub min_value: Option<f64>,
    pub max_value: Option<f64>,
    /// The search ends at the first finding.
    pub stop_on_failure: bool,
    /// Moves in a row without progress before the direction search halves its step.
    pub oscillation_threshold: Option<u64>,
    pub timeout: Option<Duration>,
    /// Runs of the program at most.
    pub max_fuzz_iterations: Option<u64>,
    /// Share of elements that a move of the direction search changes.
    pub mutation_rate: Option<f64>,
    /// Whether directions come from gradients.
    pub gradient_backprop: Option<bool>,
    pub save_inputs: Option<bool>,
    pub log_format: LogFormat,
    pub output_dir: Option<PathBuf>,
    /// `model_type`: what steers the search.
    pub steering: Option<Steering>,
    /// What was in the file and has no effect: one line each, for the user.
    pub remarks: Vec<String>,
}

/// `3`, or `[3, 3]` as in the files that the published tool ships.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Size {
    Side(u64),
    Sides(Vec<u64>),
}

impl Size {
    /// The longest side: arrays that are made up here have sides of one length.
    fn side(&self) -> u64 {
        match self {
            Size::Side(side) => *side,
            Size::Sides(sides) => sides.iter().copied().max().unwrap_or(0),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Known {
    tensor_size: Option<Size>,
    min_value: Option<f64>,
    max_value: Option<f64>,
    stop_on_failure: Option<bool>,
    oscillation_threshold: Option<u64>,
    model_type: Option<String>,
    timeout: Option<f64>,
    enable_parallel: Option<bool>,
    max_fuzz_iterations: Option<u64>,
    mutation_rate: Option<f64>,
    gradient_backprop: Option<bool>,
    logging: Option<Logging>,
    #[serde(flatten)]
    unknown: std::collections::BTreeMap<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Logging {
    save_inputs: Option<bool>,
    format: Option<String>,
    output_dir: Option<PathBuf>,
    #[serde(flatten)]
    unknown: std::collections::BTreeMap<String, Value>,
}

impl Config {
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read {
            path: shown.clone(),
            error,
        })?;
        Config::parse(&text).map_err(|message| ConfigError::Parse {
            path: shown,
            message,
        })
    }

    fn parse(text: &str) -> Result<Config, String> {
        if text.trim().is_empty() {
            return Ok(Config::default());
        }
        let settings = fissure_spec::yaml_value(text).map_err(|error| error.to_string())?;
        let mut known: Known =
            serde_json::from_value(settings).map_err(|error| error.to_string())?;
        let logging = known.logging.take().unwrap_or_default();
        let mut remarks: Vec<String> = known
            .unknown
            .keys()
            .map(|key| format!("unknown key `{key}`"))
            .collect();
        remarks.extend(
            logging
                .unknown
                .keys()
                .map(|key| format!("unknown key `logging.{key}`")),
        );
        let steering = match known.model_type.as_deref() {
            None => None,
            Some("analytic") => Some(Steering::Analytic),
            Some("learned" | "random_forest" | "RandomForest") => Some(Steering::Learned),
            // Its models are named after the shape that they were trained for.
            Some(model) if is_shape(model) => Some(Steering::Learned),
            Some(model) => {
                remarks.push(format!(
                    "model_type: `{model}` is not available (analytic, learned): the best of both is used"
                ));
                None
            }
        };
        if known.enable_parallel == Some(true) {
            remarks.push("enable_parallel: a scan runs one program at a time".to_owned());
        }
        let log_format = match logging.format.as_deref() {
            None | Some("txt" | "text") => LogFormat::Text,
            Some("json") => LogFormat::Json,
            Some(format) => {
                remarks.push(format!(
                    "logging.format: `{format}` is not available, text is written"
                ));
                LogFormat::Text
            }
        };
        check_values(&known)?;
        let timeout = match known.timeout {
            Some(seconds) => Some(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|error| format!("timeout: {error}"))?,
            ),
            None => None,
        };
        Ok(Config {
            tensor_size: known.tensor_size.as_ref().map(Size::side),
            min_value: known.min_value,
            max_value: known.max_value,
            stop_on_failure: known.stop_on_failure == Some(true),
            oscillation_threshold: known.oscillation_threshold,
            timeout,
            max_fuzz_iterations: known.max_fuzz_iterations,
            mutation_rate: known.mutation_rate,
            gradient_backprop: known.gradient_backprop,
            save_inputs: logging.save_inputs,
            log_format,
            output_dir: logging.output_dir,
            steering,
            remarks,
        })
    }

    pub(super) fn to_plan(&self) -> Value {
        json!({
            "tensor_size": self.tensor_size,
            "min_value": self.min_value,
            "max_value": self.max_value,
            "stop_on_failure": self.stop_on_failure,
            "oscillation_threshold": self.oscillation_threshold,
            "max_fuzz_iterations": self.max_fuzz_iterations,
            "mutation_rate": self.mutation_rate,
            "gradient_backprop": self.gradient_backprop.unwrap_or(true),
            "save_inputs": self.save_inputs.unwrap_or(true),
        })
    }
}

/// `14_by_14`.
fn is_shape(model: &str) -> bool {
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    model
        .split_once("_by_")
        .is_some_and(|(rows, columns)| is_number(rows) && is_number(columns))
}

/// Numbers that would make the search do nothing are mistakes, not settings.
fn check_values(known: &Known) -> Result<(), String> {
    if known
        .tensor_size
        .as_ref()
        .is_some_and(|size| size.side() == 0)
    {
        return Err("tensor_size: an array needs at least one element".to_owned());
    }
    if known.oscillation_threshold == Some(0) {
        return Err("oscillation_threshold: give at least 1".to_owned());
    }
    if known
        .mutation_rate
        .is_some_and(|rate| !(rate > 0.0 && rate <= 1.0))
    {
        return Err("mutation_rate: give a share above 0, up to 1".to_owned());
    }
    match (known.min_value, known.max_value) {
        (Some(low), Some(high)) if low > high => Err(format!(
            "min_value: {low} is above max_value, which is {high}"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_keys_are_read() {
        let config = Config::parse(
            "tensor_size: 5\nmin_value: -2\nmax_value: 3.5\nstop_on_failure: true\ntimeout: 7\n\
             max_fuzz_iterations: 40\ngradient_backprop: false\nmutation_rate: 0.25\n\
             oscillation_threshold: 3\nlogging:\n  save_inputs: false\n  format: json\n  \
             output_dir: out\n",
        )
        .unwrap();
        assert_eq!(config.tensor_size, Some(5));
        assert_eq!(config.min_value, Some(-2.0));
        assert_eq!(config.max_value, Some(3.5));
        assert!(config.stop_on_failure);
        assert_eq!(config.timeout, Some(Duration::from_secs(7)));
        assert_eq!(config.max_fuzz_iterations, Some(40));
        assert_eq!(config.gradient_backprop, Some(false));
        assert_eq!(config.mutation_rate, Some(0.25));
        assert_eq!(config.oscillation_threshold, Some(3));
        assert_eq!(config.save_inputs, Some(false));
        assert_eq!(config.log_format, LogFormat::Json);
        assert_eq!(config.output_dir, Some("out".into()));
        assert!(config.remarks.is_empty());
    }

    #[test]
    fn a_file_as_the_published_tool_ships_it_is_read() {
        let config = Config::parse(
            "# how inputs are made\ntensor_size: [2, 4]\nmin_value: -1\nmax_value: 50\nmodel_type: 7_by_7\n\
             enable_parallel: false\nlogging:\n  format: json\n  output_dir: experiments/logs/\n",
        )
        .unwrap();
        assert_eq!(config.tensor_size, Some(4));
        assert_eq!(config.steering, Some(Steering::Learned));
        assert!(config.remarks.is_empty(), "{:?}", config.remarks);
        assert!(Config::parse("tensor_size: []\n").is_err());
    }

    #[test]
    fn what_has_no_effect_is_reported() {
        let config = Config::parse(
            "model_type: xgboost\nenable_parallel: true\nfoo: 1\nlogging:\n  format: xml\n  bar: 2\n",
        )
        .unwrap();
        for word in [
            "`foo`",
            "`logging.bar`",
            "xgboost",
            "enable_parallel",
            "`xml`",
        ] {
            assert!(
                config.remarks.iter().any(|remark| remark.contains(word)),
                "{word}: {:?}",
                config.remarks
            );
        }
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        assert!(Config::parse("timeout: soon\n").is_err());
        assert!(Config::parse("timeout: -1\n").is_err());
    }

    #[test]
    fn a_value_that_makes_no_sense_is_an_error_that_names_its_key() {
        for (text, key) in [
            ("tensor_size: 0\n", "tensor_size"),
            ("oscillation_threshold: 0\n", "oscillation_threshold"),
            ("mutation_rate: 0\n", "mutation_rate"),
            ("mutation_rate: 1.5\n", "mutation_rate"),
            ("min_value: 2\nmax_value: 1\n", "min_value"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.starts_with(key), "{text}: {error}");
        }
    }
}
