//! What a project's `fissure.toml` says of fuzzing, and targets that are files.
//!
//! ```toml
//! [fuzz]
//! targets = ["mypkg.ops.window_sum", "checks.py::f"]
//! imports = ["mypkg.ops"]
//! pythonpath = ["src"]
//! specs = ["specs"]
//! rules = ["invariants"]
//! oracles = "default"
//!
//! [[fuzz.reference]]
//! target = "mypkg.ops.window_sum"
//! reference = "mypkg.ref:window_sum"
//! rtol = 1e-5
//!
//! [[fuzz.property]]
//! file = "checks.py"
//! ```

use std::path::{Path, PathBuf};

use fissure_model::Oracle;
use serde::{Deserialize, Serialize};

use super::args::FuzzArgs;
use crate::exit_status::usage;

const FILE_NAME: &str = "fissure.toml";

#[derive(Debug, Default, Deserialize)]
struct ProjectFile {
    fuzz: Option<Section>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Section {
    targets: Vec<String>,
    imports: Vec<String>,
    pythonpath: Vec<PathBuf>,
    specs: Vec<PathBuf>,
    rules: Vec<PathBuf>,
    oracles: Option<String>,
    reference: Vec<ReferenceEntry>,
    property: Vec<PropertyEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceEntry {
    target: Option<String>,
    reference: String,
    rtol: Option<f64>,
    atol: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PropertyEntry {
    target: Option<String>,
    file: PathBuf,
    function: Option<String>,
}

/// The user's own oracles, as the worker reads them (`own_reference.py`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct OwnOracles {
    pub references: Vec<Reference>,
    pub properties: Vec<Property>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Reference {
    pub target: Option<String>,
    pub module: String,
    pub name: String,
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Property {
    pub target: Option<String>,
    pub file: PathBuf,
    pub function: Option<String>,
}

impl OwnOracles {
    /// The oracles that are wanted.
    pub(super) fn oracles(&self) -> Vec<Oracle> {
        let mut oracles = Vec::new();
        if !self.references.is_empty() {
            oracles.push(Oracle::OwnReference);
        }
        if !self.properties.is_empty() {
            oracles.push(Oracle::OwnProperty);
        }
        oracles
    }

    /// The variable by which workers are told, if there is anything to tell.
    pub(super) fn environment(&self) -> anyhow::Result<Vec<(String, String)>> {
        if self.oracles().is_empty() {
            return Ok(Vec::new());
        }
        let text = serde_json::to_string(self)?;
        Ok(vec![("FISSURE_OWN_ORACLES".to_owned(), text)])
    }
}

/// Adds what the project file says to the arguments, and turns targets that are functions of files
/// into names. What is on the command line goes before the file.
pub(super) fn complete(args: &mut FuzzArgs) -> anyhow::Result<OwnOracles> {
    let mut own = OwnOracles::default();
    for text in &args.reference {
        own.references
            .push(reference(text, None, args.rtol, args.atol)?);
    }
    for file in &args.property {
        own.properties.push(property(Path::new("."), file, None)?);
    }
    if let Some((folder, section)) = read()? {
        if args.targets.is_empty() && args.spec.is_empty() && args.specs.is_empty() {
            let here = |target: String| match target.split_once("::") {
                Some((file, rest)) => format!("{}::{rest}", folder.join(file).display()),
                None => target,
            };
            args.targets = section.targets.into_iter().map(here).collect();
            args.specs = section.specs.iter().map(|path| folder.join(path)).collect();
        }
        args.run.import.extend(section.imports);
        args.run
            .pythonpath
            .extend(section.pythonpath.iter().map(|path| folder.join(path)));
        args.rules
            .extend(section.rules.iter().map(|path| folder.join(path)));
        if args.judging.oracles.is_none() {
            args.judging.oracles = section.oracles;
        }
        for entry in section.reference {
            own.references.push(reference(
                &entry.reference,
                entry.target,
                entry.rtol,
                entry.atol,
            )?);
        }
        for entry in section.property {
            let made = property(&folder, &entry.file, entry.target)?;
            own.properties.push(Property {
                function: entry.function.or(made.function),
                ..made
            });
        }
    }
    for target in &mut args.targets {
        let Some((file, function)) = target.split_once("::") else {
            continue;
        };
        let file = Path::new(file);
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let (true, Some(stem)) = (file.is_file(), stem) else {
            return Err(usage(format!("there is no file {}", file.display())));
        };
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        *target = format!("{stem}.{}", function.replace("::", "."));
        if !args.run.pythonpath.contains(&folder) {
            args.run.pythonpath.push(folder);
        }
    }
    Ok(own)
}

fn reference(
    text: &str,
    target: Option<String>,
    rtol: Option<f64>,
    atol: Option<f64>,
) -> anyhow::Result<Reference> {
    let (module, name) = text.split_once(':').ok_or_else(|| {
        usage(format!(
            "--reference {text}: give MODULE:FUNCTION, like mypkg.ref:f"
        ))
    })?;
    Ok(Reference {
        target,
        module: module.to_owned(),
        name: name.to_owned(),
        rtol,
        atol,
    })
}

/// `checks.py`, or `checks.py::check_one`.
fn property(folder: &Path, file: &Path, target: Option<String>) -> anyhow::Result<Property> {
    let text = file.to_string_lossy();
    let (path, function) = match text.split_once("::") {
        Some((path, function)) => (folder.join(path), Some(function.to_owned())),
        None => (folder.join(file), None),
    };
    let file = path
        .canonicalize()
        .map_err(|_| usage(format!("there is no file {}", path.display())))?;
    Ok(Property {
        target,
        file,
        function,
    })
}

/// The section of the nearest project file, from the current folder up, and its folder.
fn read() -> anyhow::Result<Option<(PathBuf, Section)>> {
    let here = std::env::current_dir()?;
    let Some(folder) = here.ancestors().find(|it| it.join(FILE_NAME).is_file()) else {
        return Ok(None);
    };
    let path = folder.join(FILE_NAME);
    let text = std::fs::read_to_string(&path)?;
    let file: ProjectFile = toml::from_str(&text)
        .map_err(|error| usage(format!("{} is not valid: {error}", path.display())))?;
    Ok(file.fuzz.map(|section| (folder.to_owned(), section)))
}
