//! Runs the Markdown files of `tests/specification`: each `rule` block is followed by `inputs` it
//! is asked about, by the form it `prints` as, or by the `error` it gives.

#[path = "support/input.rs"]
mod input;

use std::path::{Path, PathBuf};

use fissure_rules::{Answer, Precedence, check, parse_rule};

struct Block {
    line: usize,
    language: String,
    text: String,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in markdown.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    line: number + 1,
                    language: language.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block without an end");
    blocks
}

/// Everything that is not as the file says.
fn run(path: &Path) -> (usize, Vec<String>) {
    let markdown = std::fs::read_to_string(path).expect("the specification is readable");
    let mut checked = 0;
    let mut wrong = Vec::new();
    let mut rule_text = String::new();
    for block in blocks(&markdown) {
        let place = format!("{}:{}", path.display(), block.line);
        let parsed = parse_rule(rule_text.trim_end(), Precedence::Usual);
        match block.language.as_str() {
            "rule" => {
                rule_text = block.text;
                continue;
            }
            "inputs" => {
                let rule = parsed
                    .and_then(|rule| check(&rule))
                    .unwrap_or_else(|error| {
                        panic!("{place}: {}", error.render(&rule_text, "rule", false))
                    });
                let names: Vec<&str> = rule
                    .params
                    .iter()
                    .map(|param| param.name.as_str())
                    .collect();
                for line in block.text.lines() {
                    let (expected, arguments) = line.split_once(' ').unwrap_or((line, ""));
                    let expected = match expected {
                        "holds" => Answer::Holds,
                        "broken" => Answer::Broken,
                        "silent" => Answer::Silent,
                        other => panic!("{place}: unknown expectation {other}"),
                    };
                    let arguments = input::read(arguments, &names)
                        .unwrap_or_else(|error| panic!("{place}: {line}: {error}"));
                    let binding: Vec<usize> = (0..names.len()).collect();
                    let found = rule.answer(&arguments, &binding);
                    checked += 1;
                    if found != expected {
                        wrong.push(format!("{place}: {line}: the rule answers {found:?}"));
                    }
                }
            }
            "prints" => {
                checked += 1;
                let printed = parsed.map(|rule| rule.to_string());
                if printed.as_deref() != Ok(block.text.trim_end()) {
                    wrong.push(format!("{place}: printed is {printed:?}"));
                }
            }
            "error" => {
                checked += 1;
                let Err(error) = parsed.and_then(|rule| check(&rule)) else {
                    wrong.push(format!("{place}: the rule is accepted"));
                    continue;
                };
                let rendered = error.render(rule_text.trim_end(), "rule", false);
                let trimmed = |text: &str| -> Vec<String> {
                    text.trim_end()
                        .lines()
                        .map(|line| line.trim_end().to_owned())
                        .collect()
                };
                if trimmed(&rendered) != trimmed(&block.text) {
                    wrong.push(format!("{place}: the error is\n{rendered}"));
                }
            }
            _ => {}
        }
    }
    (checked, wrong)
}

#[test]
fn every_example_of_the_specification_behaves_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/specification");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    files.sort();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for file in files {
        let (count, found) = run(&file);
        assert!(count > 0, "{} checks nothing", file.display());
        checked += count;
        wrong.extend(found);
    }
    assert!(
        wrong.is_empty(),
        "{} of {checked} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
