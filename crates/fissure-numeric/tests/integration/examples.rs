//! The example programs: every fault is found where it is and for what it is, and nothing is
//! reported on the stable twins.

use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
struct Manifest {
    program: Vec<Program>,
}

#[derive(Clone, Deserialize)]
struct Program {
    file: String,
    twin: String,
    #[serde(flatten)]
    expected: Expected,
}

/// What a scan of a faulty program has to find.
#[derive(Clone, Deserialize)]
pub(crate) struct Expected {
    pub name: String,
    function: String,
    oracles: Vec<String>,
    producers: Vec<String>,
    level: String,
}

/// A line of scan_examples.py.
#[derive(Debug, Deserialize)]
pub(crate) struct Scanned {
    file: PathBuf,
    pub findings: Vec<Found>,
    pub error: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Found {
    function: String,
    line: usize,
    oracle: String,
    also: Vec<String>,
    level: String,
    producer: String,
    /// Exit code of reproduce.py.
    reproduced: Option<i64>,
}

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/numeric")
        .canonicalize()
        .unwrap()
}

fn manifest() -> Vec<Program> {
    let text = std::fs::read_to_string(examples().join("manifest.toml")).unwrap();
    toml::from_str::<Manifest>(&text).unwrap().program
}

pub(crate) fn scan_all(python: &Path, library: &str, files: &[PathBuf]) -> Vec<Scanned> {
    let output = tempfile::tempdir().unwrap();
    let registry = crate::support::registry_file();
    let leading = [output.path(), registry.path(), Path::new(library)];
    let arguments = leading
        .into_iter()
        .chain(files.iter().map(PathBuf::as_path));
    crate::support::self_test(python, "scan_examples.py", arguments)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn marked_line(file: &Path) -> usize {
    std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .position(|line| line.contains("# unstable"))
        .map(|index| index + 1)
        .expect("a faulty program has a line marked `# unstable`")
}

#[test]
fn every_planted_fault_is_found_and_its_reproducer_reproduces_it() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let programs = manifest();
    let files: Vec<PathBuf> = programs
        .iter()
        .map(|program| examples().join(&program.file))
        .collect();
    let scanned = scan_all(&python, "torch", &files);
    assert_eq!(scanned.len(), programs.len());
    let complaints: Vec<String> = programs
        .iter()
        .zip(&scanned)
        .filter_map(|(program, scanned)| complaint(&program.expected, scanned))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What is wrong about the scan of a faulty program.
pub(crate) fn complaint(program: &Expected, scanned: &Scanned) -> Option<String> {
    let line = marked_line(&scanned.file);
    let found = scanned.findings.iter().find(|found| {
        found.line == line
            && (found.function == program.function || program.producers.contains(&found.producer))
            && (program.oracles.contains(&found.oracle)
                || found
                    .also
                    .iter()
                    .any(|oracle| program.oracles.contains(oracle)))
            && found.level <= program.level
    });
    match found {
        None => Some(format!("{}: line {line}: {scanned:?}", program.name)),
        Some(found) if found.reproduced != Some(1) => {
            Some(format!("{}: reproduce.py: {found:?}", program.name))
        }
        Some(_) => None,
    }
}

#[test]
fn nothing_is_reported_on_the_stable_twins() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let files: Vec<PathBuf> = manifest()
        .iter()
        .map(|program| examples().join(&program.twin))
        .collect();
    let scanned = scan_all(&python, "torch", &files);
    assert_eq!(scanned.len(), files.len());
    let alarms: Vec<String> = scanned
        .iter()
        .filter(|scanned| !scanned.findings.is_empty() || scanned.error.is_some())
        .map(|scanned| format!("{scanned:?}"))
        .collect();
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

/// Programs as people write them, without a known fault: an alarm here is why a tool is switched
/// off.
#[test]
fn ordinary_programs_raise_no_alarm() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ordinary");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.canonicalize().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    files.sort();
    let scanned = scan_all(&python, "torch", &files);
    assert_eq!(scanned.len(), files.len());
    for scanned in scanned {
        assert!(
            scanned.findings.is_empty() && scanned.error.is_none(),
            "{scanned:?}"
        );
    }
}
