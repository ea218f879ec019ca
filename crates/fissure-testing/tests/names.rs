//! Functions of libraries are known by name in one place, the table `data/functions`.

use std::path::Path;
use std::process::Command;

/// What `name_lists.py` takes for a list of names and is none, with the reason.
const NO_LISTS: [(&str, &str, &str); 5] = [
    (
        "crates/fissure-spec/src/hints/kind.rs",
        "texts",
        "functions that are given to functions that call one",
    ),
    (
        "python/fissure_worker/discover/documentation.py",
        "arrays",
        "words of documentation for arrays",
    ),
    (
        "python/fissure_scan/backends/wrapping.py",
        "OPERATORS",
        "special methods of Python",
    ),
    (
        "python/fissure_scan/judge/formulas.py",
        "RULES",
        "the code that reads a formula, by its last operation",
    ),
    (
        "python/fissure_scan/report/words.py",
        "_FINDERS",
        "the code that gives advice, by operation",
    ),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn told() -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/name_lists.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(root())
        .output()
        .expect("python3 is there");
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{errors}");
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn code_has_no_lists_of_functions_and_asks_for_no_parts_of_their_names() {
    let told = told();
    let unexplained: Vec<&String> = told
        .iter()
        .filter(|line| {
            !NO_LISTS
                .iter()
                .any(|(file, name, _)| line.starts_with(&format!("list {file} {name} ")))
        })
        .collect();
    assert!(
        unexplained.is_empty(),
        "put these into data/functions: {unexplained:#?}"
    );
    // The search itself works: what it is told to pass over is there.
    assert_eq!(told.len(), NO_LISTS.len(), "{told:#?}");
}

#[test]
fn rust_code_asks_for_no_parts_of_names_of_functions() {
    let questions = questions();
    let mut found = Vec::new();
    let mut open = vec![root().join("crates")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "rs")
                && path.components().any(|it| it.as_os_str() == "src")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                for (number, line) in text.lines().enumerate() {
                    if questions.iter().any(|part| line.contains(part.as_str())) {
                        found.push(format!("{}:{}: {line}", path.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// `title.contains("mm")` and its like, where titles and canonical paths of APIs are held.
fn questions() -> Vec<String> {
    ["title", "api.path", "api.title", "function.name"]
        .iter()
        .map(|held| format!("{held}.contains(\""))
        .collect()
}
