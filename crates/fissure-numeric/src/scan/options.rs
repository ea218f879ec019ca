//! What to scan and how.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fissure_execute::SandboxOptions;

use super::Config;
use super::assertions::Steering;

/// The program under scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanTarget {
    /// `train.py`
    Script(PathBuf),
    /// `losses.py::focal_loss`; of a file of tests what pytest calls it: `test_loss.py::TestLoss::test_one[3]`
    FileFunction { file: PathBuf, function: String },
    /// `package.module:Class.method`
    ModuleFunction { module: String, function: String },
    /// `package`, installed or below the current folder: every function in it.
    Module(String),
    /// `folder/`: every function of its files.
    Folder(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no target: give a script (train.py), a function of a file (losses.py::focal_loss) \
     or of a module (package.module:Class.method), a package or a folder"
)]
pub struct TargetParseError(pub String);

impl std::str::FromStr for ScanTarget {
    type Err = TargetParseError;

    fn from_str(text: &str) -> Result<ScanTarget, TargetParseError> {
        let wrong = || TargetParseError(text.to_owned());
        if let Some((file, function)) = text.split_once("::") {
            let known = is_dotted(function)
                || (is_test_file(Path::new(file)) && test_function(function).is_some());
            return if file.is_empty() || !known {
                Err(wrong())
            } else {
                Ok(ScanTarget::FileFunction {
                    file: file.into(),
                    function: function.to_owned(),
                })
            };
        }
        if let Some((module, function)) = text.rsplit_once(':')
            && is_dotted(module)
            && is_dotted(function)
        {
            return Ok(ScanTarget::ModuleFunction {
                module: module.to_owned(),
                function: function.to_owned(),
            });
        }
        let path = PathBuf::from(text);
        if text.is_empty() {
            Err(wrong())
        } else if path.is_dir() {
            Ok(ScanTarget::Folder(path))
        } else if is_dotted(text) && !text.ends_with(".py") && !path.is_file() {
            Ok(function_of_a_module_here(text)
                .unwrap_or_else(|| ScanTarget::Module(text.to_owned())))
        } else {
            Ok(ScanTarget::Script(path))
        }
    }
}

/// `losses.focal_loss` where `losses.py` is in the current folder and no module has the whole name.
fn function_of_a_module_here(text: &str) -> Option<ScanTarget> {
    let is_module = |name: &str| {
        let place: PathBuf = name.split('.').collect();
        place.join("__init__.py").is_file() || place.with_extension("py").is_file()
    };
    if is_module(text) {
        return None;
    }
    let ends = text.match_indices('.').map(|(at, _)| at);
    let at = ends.rev().find(|at| is_module(&text[..*at]))?;
    Some(ScanTarget::ModuleFunction {
        module: text[..at].to_owned(),
        function: text[at + 1..].to_owned(),
    })
}

impl ScanTarget {
    /// What pytest is to run for it, where it is tests by their names.
    pub(super) fn tests(&self) -> Option<String> {
        let absolute = |path: &Path| Some(path.canonicalize().ok()?.display().to_string());
        match self {
            ScanTarget::Script(file) if is_test_file(file) => absolute(file),
            ScanTarget::FileFunction { file, function } if is_test_file(file) => {
                test_function(function)?;
                Some(format!("{}::{function}", absolute(file)?))
            }
            ScanTarget::Folder(folder) => {
                let path = folder.canonicalize().ok()?;
                let name = path.file_name()?.to_str()?;
                ["test", "tests"].contains(&name).then(|| absolute(&path))?
            }
            _ => None,
        }
    }
}

/// By pytest's rule.
fn is_test_file(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_suffix(".py"))
        .is_some_and(|name| name.starts_with("test_") || name.ends_with("_test"))
}

/// The function of a test as pytest names it (`TestLoss::test_one[3]`) by its path in the file; none of what is no test.
pub(super) fn test_function(text: &str) -> Option<String> {
    let path = text.split('[').next().unwrap_or(text).replace("::", ".");
    let test = path.get(..4)?.eq_ignore_ascii_case("test");
    (test && is_dotted(&path)).then_some(path)
}

fn is_dotted(text: &str) -> bool {
    text.split('.').all(|part| {
        let mut characters = part.chars();
        characters
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && characters.all(|character| character.is_alphanumeric() || character == '_')
    })
}

/// An allowed range; `None` is unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    #[default]
    Fissure,
    /// `experiments/logs/`, as Soft Assertion Fuzzer writes it.
    SoftAssertion,
}

/// For one program or function; a target that stands for many gets `MANY_TIMEOUT`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// For a package or folder.
const MANY_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub struct ScanOptions {
    pub target: ScanTarget,
    /// What the program finds in `sys.argv` after its own name.
    pub arguments: Vec<String>,
    pub python: PathBuf,
    /// Time on the clock for everything, from the start of the interpreter on.
    pub timeout: Duration,
    /// Training steps of the program's own run after which it is cut.
    pub steps: Option<u64>,
    /// Time for the program's own run.
    pub own_run_timeout: Duration,
    /// Highest trigger level that is tried, 0 to 4.
    pub level: u8,
    pub inputs: BTreeMap<String, Bounds>,
    pub freeze: Vec<String>,
    /// Weights are inputs from level L1 on.
    pub weights: bool,
    /// Notes count as findings.
    pub strict: bool,
    /// `import tensorflow` means version 1.
    pub tf1: bool,
    /// Tests of the project, whose calls of a target function are its own data.
    pub observe: Option<PathBuf>,
    pub output: PathBuf,
    pub layout: Layout,
    pub config: Config,
    /// What steers the search.
    pub steering: Steering,
    /// Folder of the project file with the user's own soft assertions.
    pub project: PathBuf,
    /// What the program is kept from.
    pub sandbox: SandboxOptions,
}

impl ScanOptions {
    pub fn new(target: ScanTarget, python: PathBuf, output: PathBuf) -> ScanOptions {
        let timeout = match target {
            ScanTarget::Module(_) | ScanTarget::Folder(_) => MANY_TIMEOUT,
            ScanTarget::Script(_)
            | ScanTarget::FileFunction { .. }
            | ScanTarget::ModuleFunction { .. } => DEFAULT_TIMEOUT,
        };
        ScanOptions {
            target,
            arguments: Vec::new(),
            python,
            timeout,
            steps: None,
            own_run_timeout: Duration::from_secs(60),
            level: 4,
            inputs: BTreeMap::new(),
            freeze: Vec::new(),
            weights: false,
            strict: false,
            tf1: false,
            observe: None,
            output,
            layout: Layout::Fissure,
            config: Config::default(),
            steering: Steering::default(),
            project: PathBuf::from("."),
            sandbox: SandboxOptions::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_of_a_target_are_told_apart() {
        assert_eq!(
            "train.py".parse(),
            Ok(ScanTarget::Script("train.py".into()))
        );
        assert_eq!(
            "a/losses.py::focal_loss".parse(),
            Ok(ScanTarget::FileFunction {
                file: "a/losses.py".into(),
                function: "focal_loss".into()
            })
        );
        assert_eq!(
            "package.module:Class.method".parse(),
            Ok(ScanTarget::ModuleFunction {
                module: "package.module".into(),
                function: "Class.method".into()
            })
        );
    }

    #[test]
    fn a_package_and_a_folder_are_targets() {
        assert_eq!(
            "package.module".parse(),
            Ok(ScanTarget::Module("package.module".into()))
        );
        assert_eq!("src".parse(), Ok(ScanTarget::Folder("src".into())));
    }

    #[test]
    fn tests_have_the_names_that_pytest_gives_them() {
        let test: ScanTarget = "a/test_loss.py::TestLoss::test_one[3-x.y]".parse().unwrap();
        let ScanTarget::FileFunction { function, .. } = &test else {
            panic!("{test:?}");
        };
        assert_eq!(test_function(function).unwrap(), "TestLoss.test_one");
        assert!("a/losses.py::Loss::one".parse::<ScanTarget>().is_err());
        assert_eq!(test_function("helper"), None);
    }

    #[test]
    fn a_target_without_a_function_name_is_refused() {
        assert!("losses.py::".parse::<ScanTarget>().is_err());
        assert!("::focal".parse::<ScanTarget>().is_err());
        assert!("".parse::<ScanTarget>().is_err());
    }
}
