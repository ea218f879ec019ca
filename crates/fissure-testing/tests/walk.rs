//! The walks of `ARCHITECTURE.md`, from the command line to a finding, are those of the code.

use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_step_of_a_walk_is_there_and_its_file_names_the_next() {
    let text = read("ARCHITECTURE.md");
    let (_, rest) = text.split_once("```walk\n").expect("the walks are there");
    let (walks, _) = rest.split_once("```").expect("and end");
    let mut before: Option<String> = None;
    let mut steps = 0;
    for line in walks.lines() {
        let jumps = line.starts_with('~');
        let words: Vec<&str> = line.trim_start_matches('~').split_whitespace().collect();
        let [file, name] = words[..] else {
            before = None;
            continue;
        };
        let source = read(file);
        let defined = if file.ends_with(".py") { "def" } else { "fn" };
        let is_defined = [' ', '(', '<'].map(|after| format!("{defined} {name}{after}"));
        assert!(
            is_defined.iter().any(|text| source.contains(text)),
            "{file} has no {name}"
        );
        if let Some(before) = before.filter(|_| !jumps) {
            assert!(before.contains(&format!("{name}(")), "nobody calls {line}");
        }
        before = Some(source);
        steps += 1;
    }
    assert!(steps > 30, "only {steps}");
}
