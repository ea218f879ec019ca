//! The documentation as a site: every page is in its table of contents, every link leads somewhere, the tests it
//! names are there, and where mdBook is installed it builds the site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The targets of the links of a page, without those to other sites.
fn links(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        // What stands between backticks is code, not a link.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                found.insert(target.to_owned());
            }
        }
    }
    found
}

fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() > 20);
    pages
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = links(&contents);
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || listed.contains(name),
            "docs/SUMMARY.md lacks {name}"
        );
    }
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let mut broken = Vec::new();
    let readme = root().join("README.md");
    for page in pages().into_iter().chain([readme]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if !page.parent().unwrap().join(&link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_site_is_built_where_mdbook_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new("mdbook")
        .args(["build", "--dest-dir"])
        .arg(folder.path())
        .arg(root())
        .output();
    let Ok(built) = built else {
        fissure_testing::say("no mdbook on the PATH, so the site is not built");
        return;
    };
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let index = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(index.contains("dashboard.png"));
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let page = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let (_, table) = page.split_once("## What is tested by what").unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("|---"));
    let rows: Vec<&str> = rows
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() > 15, "{rows:#?}");
    for row in rows {
        let mut file = None;
        for name in row.split('`').skip(1).step_by(2) {
            if name.contains('/') {
                let path = [name.to_owned(), format!("crates/{name}")];
                let mut path = path.iter().map(|path| root().join(path));
                let path = path.find(|path| path.is_file());
                let path = path.unwrap_or_else(|| panic!("there is no {name}: {row}"));
                file = Some(std::fs::read_to_string(path).unwrap());
            } else if name.contains('_') {
                let text = file.as_ref().expect("a file stands before its tests");
                assert!(text.contains(&format!("fn {name}(")), "no {name}: {row}");
            }
        }
        assert!(file.is_some(), "no file: {row}");
    }
}
