//! `docs/map.md`: every source file with the first sentence of its header, written by this test.
//!
//! `FISSURE_WRITE_MAP=1 cargo test -p fissure-testing --test map` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = "# Map\n\n\
    Every source file, with the first sentence of its header. Written by \
    `FISSURE_WRITE_MAP=1 cargo test -p fissure-testing --test map`; the same test fails where it is \
    not true.\n";

#[test]
fn the_map_names_every_source_file_with_its_own_first_sentence() {
    let root = fissure_testing::root();
    let (map, silent) = map(&root);
    assert!(silent.is_empty(), "these files have no header: {silent:#?}");
    let path = root.join("docs/map.md");
    if std::env::var_os("FISSURE_WRITE_MAP").is_some() {
        fs::write(&path, &map).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let stale: Vec<&str> = map.lines().filter(|line| !written.contains(line)).collect();
    assert!(
        written == map,
        "docs/map.md is not true any more; write it anew with FISSURE_WRITE_MAP=1\n{stale:#?}"
    );
}

/// The text of the map, and the files without a header.
fn map(root: &Path) -> (String, Vec<PathBuf>) {
    let mut folders: BTreeMap<PathBuf, Vec<(String, String)>> = BTreeMap::new();
    let mut silent = Vec::new();
    for file in sources(root) {
        let text = fs::read_to_string(&file).unwrap();
        let below = file.strip_prefix(root).unwrap();
        let sentence = match below.extension().and_then(|end| end.to_str()) {
            Some("rs") => rust_header(&text),
            _ => python_header(&text),
        };
        if sentence.is_empty() {
            silent.push(below.to_owned());
            continue;
        }
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let folder = below.parent().unwrap().to_owned();
        folders.entry(folder).or_default().push((name, sentence));
    }
    let mut text = HEAD.to_owned();
    for (folder, mut files) in folders {
        files.sort();
        writeln!(text, "\n## `{}`\n", folder.display()).unwrap();
        for (name, sentence) in files {
            writeln!(text, "- `{name}`: {sentence}").unwrap();
        }
    }
    (text, silent)
}

/// The files of the crates and of the Python packages; tests are not on the map.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![root.join("python")];
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        waiting.push(entry.unwrap().path().join("src"));
    }
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "__pycache__" && name != "tests" {
                    waiting.push(path);
                }
            } else if name.ends_with(".rs") && name != "tests.rs"
                || name.ends_with(".py") && path.starts_with(root.join("python"))
            {
                let empty = fs::metadata(&path).unwrap().len() == 0;
                if !empty {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    found
}

fn rust_header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    first_sentence(lines)
}

/// A docstring, or the comment that a file starts with.
fn python_header(text: &str) -> String {
    let text = text.trim_start();
    let mut rest = text;
    while rest.starts_with("#!") || rest.starts_with("# -*-") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    for quotes in ["\"\"\"", "r\"\"\""] {
        if let Some(inside) = rest.strip_prefix(quotes) {
            let inside = inside.split("\"\"\"").next().unwrap_or_default();
            return first_sentence(inside.lines());
        }
    }
    first_sentence(rest.lines().map_while(|line| line.strip_prefix('#')))
}

/// Up to the first full stop that ends a sentence, or to the end of the paragraph.
fn first_sentence<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let paragraph: Vec<&str> = lines
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let text = paragraph.join(" ");
    match text.find(". ") {
        Some(end) => text[..=end].to_owned(),
        None => text,
    }
}
