//! From the target to the plan that the runtime follows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::library::{Library, imported};
use super::options::test_function;
use super::{ScanError, ScanOptions, ScanTarget};
use crate::analysis::{Analysis, analyse};
use crate::registry::Registry;

/// The target as the source shows it.
#[derive(Clone, Debug)]
pub(super) struct Analysed {
    /// `script`, `function`, `module` or `folder`.
    pub kind: &'static str,
    /// Absolute path of the file, when the target is one.
    pub file: Option<PathBuf>,
    pub source: Option<String>,
    pub analysis: Option<Analysis>,
    pub module: Option<String>,
    pub function: Option<String>,
    /// Files below it are the user's.
    pub root: PathBuf,
    /// The registry, as the runtime reads it.
    pub registry: Value,
}

pub(super) fn analyse_target(
    options: &ScanOptions,
    registry: &Registry,
) -> Result<Analysed, ScanError> {
    let facts = registry.to_json();
    let (path, function) = match &options.target {
        ScanTarget::Script(path) => (path, None),
        ScanTarget::FileFunction { file, function } => {
            let path = test_function(function).unwrap_or_else(|| function.clone());
            (file, Some(path))
        }
        ScanTarget::Folder(path) => {
            let root = path.canonicalize().map_err(|error| ScanError::Read {
                path: path.display().to_string(),
                error,
            })?;
            return Ok(Analysed {
                kind: "folder",
                file: None,
                source: None,
                analysis: None,
                module: None,
                function: None,
                root,
                registry: facts,
            });
        }
        ScanTarget::Module(module) | ScanTarget::ModuleFunction { module, .. } => {
            let root = std::env::current_dir().map_err(ScanError::Prepare)?;
            let function = match &options.target {
                ScanTarget::ModuleFunction { function, .. } => Some(function.clone()),
                _ => None,
            };
            let mut analysed = Analysed {
                kind: if function.is_some() {
                    "function"
                } else {
                    "module"
                },
                file: None,
                source: None,
                analysis: None,
                module: Some(module.clone()),
                function,
                registry: facts,
                root,
            };
            // Where a module is that is installed elsewhere is known when it is imported.
            if let Some(file) = module_file(&analysed.root, module) {
                let source = read(&file)?;
                let shown = file.strip_prefix(&analysed.root).unwrap_or(&file);
                analysed.analysis = Some(analyse(&source, shown, registry)?);
                analysed.source = Some(source);
                analysed.file = Some(file);
            }
            return Ok(analysed);
        }
    };
    let file = path.canonicalize().map_err(|error| ScanError::Read {
        path: path.display().to_string(),
        error,
    })?;
    let source = read(&file)?;
    let analysis = analyse(&source, path, registry)?;
    let root = file.parent().unwrap_or_else(|| Path::new("/")).to_owned();
    Ok(Analysed {
        kind: if function.is_some() {
            "function"
        } else {
            "script"
        },
        file: Some(file),
        source: Some(source),
        analysis: Some(analysis),
        module: None,
        function,
        root,
        registry: facts,
    })
}

pub(super) fn read(file: &Path) -> Result<String, ScanError> {
    let bytes = std::fs::read(file).map_err(|error| ScanError::Read {
        path: file.display().to_string(),
        error,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The file of a module below the folder, where Python looks first.
fn module_file(root: &Path, module: &str) -> Option<PathBuf> {
    let path = root.join(module.replace('.', "/"));
    [path.with_extension("py"), path.join("__init__.py")]
        .into_iter()
        .find_map(|file| file.canonicalize().ok().filter(|file| file.is_file()))
}

/// Libraries the runtime imports before the program runs, so that it can watch them from the
/// first line on. NumPy is always among them: the search computes with it.
fn libraries(analysed: &Analysed) -> Vec<&'static str> {
    let imported = analysed.source.as_deref().map(imported).unwrap_or_default();
    let mut found: Vec<&str> = imported.iter().map(|library| library.package()).collect();
    // Importing a module brings in what it computes with.
    if let Some(source) = &analysed.source
        && analysed.module.is_none()
        && found.is_empty()
        && source.contains("torch")
    {
        // Modules of its own may import it.
        found.push(Library::Torch.package());
    }
    found.push("numpy");
    found
}

pub(super) fn to_json(options: &ScanOptions, analysed: &Analysed) -> Value {
    let inputs: serde_json::Map<String, Value> = options
        .inputs
        .iter()
        .map(|(name, bounds)| (name.clone(), json!([bounds.low, bounds.high])))
        .collect();
    let regions = analysed
        .analysis
        .as_ref()
        .is_some_and(|analysis| !analysis.regions.is_empty());
    json!({
        "kind": analysed.kind,
        "folder": analysed.root,
        "steps": options.steps,
        "file": analysed.file.as_ref().filter(|_| analysed.module.is_none()),
        "module": analysed.module,
        "function": analysed.function,
        "tests": options.target.tests(),
        // Where pytest would be called: the root of a project that nothing else names.
        "invoked": std::env::current_dir().ok(),
        "arguments": options.arguments,
        "root": analysed.root,
        "directory": analysed.root,
        "regions": regions,
        "libraries": libraries(analysed),
        "timeout": options.timeout.as_secs_f64(),
        "own_run_timeout": options.own_run_timeout.as_secs_f64(),
        "level": options.level,
        "inputs": inputs,
        "freeze": options.freeze,
        "weights": options.weights,
        "strict": options.strict,
        "tf1": options.tf1,
        "observe": options.observe.as_ref().and_then(|path| std::path::absolute(path).ok()),
        "output": std::path::absolute(&options.output).unwrap_or_else(|_| options.output.clone()),
        "registry": analysed.registry,
        "config": options.config.to_plan(),
    })
}
