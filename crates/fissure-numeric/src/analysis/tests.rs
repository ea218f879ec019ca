use std::path::Path;

use super::*;

fn analysed(source: &str) -> Analysis {
    analyse(source, Path::new("program.py"), &Registry::embedded()).expect("valid Python")
}

/// Function and line of every announced site.
fn sites(source: &str) -> Vec<(String, usize)> {
    analysed(source)
        .sites
        .iter()
        .filter(|site| site.announced)
        .map(|site| (site.function.clone(), site.span.line))
        .collect()
}

fn functions(source: &str) -> Vec<String> {
    sites(source)
        .into_iter()
        .map(|(function, _)| function)
        .collect()
}

#[test]
fn functions_are_found_under_every_form_of_import() {
    let source = "\
import torch
import torch.nn.functional as F
import numpy as np
from torch import log as natural_log, nn
from torch.nn.functional import softmax
torch.exp(x)
F.softmax(x, dim=1)
np.sqrt(x)
natural_log(x)
nn.functional.cosine_similarity(x, y)
softmax(x)
torch.nn.functional.normalize(x)
";
    assert_eq!(
        sites(source),
        [
            ("exp", 6),
            ("softmax", 7),
            ("sqrt", 8),
            ("log", 9),
            ("cosine_similarity", 10),
            ("softmax", 11),
            ("normalize", 12),
        ]
        .map(|(name, line)| (name.to_owned(), line))
    );
}

#[test]
fn star_imports_bring_the_names_of_the_registry() {
    assert_eq!(functions("from torch import *\ny = log(x)\n"), ["log"]);
}

#[test]
fn plain_aliases_of_library_functions_are_followed() {
    assert_eq!(
        functions("import torch\nlog = torch.log\ny = log(x)\n"),
        ["log"]
    );
}

#[test]
fn functions_of_other_libraries_and_of_the_program_are_no_sites() {
    let source = "\
import math, logging
def exp(x): return x
math.log(2.0)
exp(3)
logging.log(1, 'text')
class Model:
    def step(self):
        self.log('loss', 1)
";
    assert_eq!(functions(source), Vec::<String>::new());
}

#[test]
fn methods_are_sites_with_their_receiver_as_first_argument() {
    let analysis = analysed("import torch\ny = (x + 1).log()\nz = x.pow(2).sum().sqrt_()\n");
    let log = &analysis.sites[0];
    assert_eq!((log.function.as_str(), log.form), ("log", Form::Method));
    assert_eq!(log.written, ".log");
    assert_eq!(log.arguments[0].text, "x + 1");
    let names: Vec<&str> = analysis.sites[1..]
        .iter()
        .map(|site| site.function.as_str())
        .collect();
    assert_eq!(names, ["sqrt", "sum", "pow"]);
}

#[test]
fn operators_and_augmented_assignments_are_sites() {
    let analysis = analysed("a = x / y\nb = x ** p\nc = x @ y\nx /= x.max()\n");
    let found: Vec<(&str, &str)> = analysis
        .sites
        .iter()
        .filter(|site| site.form == Form::Operator)
        .map(|site| (site.function.as_str(), site.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("div", "x / y"),
            ("pow", "x ** p"),
            ("matmul", "x @ y"),
            ("div", "x /= x.max()"),
        ]
    );
    let last = analysis.sites.iter().find(|site| site.span.line == 4);
    let last = last.expect("the augmented assignment is a site");
    assert_eq!(last.target.as_deref(), Some("x"));
    assert_eq!(last.arguments[1].text, "x.max()");
}

#[test]
fn harmless_operators_are_no_sites() {
    let source = "\
from pathlib import Path
import torch
a = Path('x') / 'name'
b = x / 2.0 + x.div(2) + torch.div(x, 3)
c = x / len(x)
d = 'text %d' % n
e = 2 ** 10
f = x / x.shape[0]
if step % 10 == 0: pass
";
    assert_eq!(functions(source), Vec::<String>::new());
}

#[test]
fn module_classes_and_the_calls_of_their_objects_are_sites() {
    let source = "\
import torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        self.softmax = nn.Softmax(dim=1)
        self.body = nn.Sequential(nn.Linear(2, 2), nn.Softmax(dim=1))
    def forward(self, x):
        return self.softmax(self.body(x))
";
    let analysis = analysed(source);
    let found: Vec<(&str, Form, usize)> = analysis
        .sites
        .iter()
        .filter(|site| site.function == "softmax")
        .map(|site| (site.written.as_str(), site.form, site.span.line))
        .collect();
    assert_eq!(
        found,
        [
            ("torch.nn.Softmax", Form::ModuleClass, 4),
            ("torch.nn.Softmax", Form::ModuleClass, 5),
            ("self.softmax", Form::ModuleCall, 7),
            ("self.body", Form::ModuleCall, 7),
        ]
    );
    let call = analysis.sites.last().expect("there are sites");
    assert_eq!(call.enclosing_function.as_deref(), Some("Model.forward"));
    assert_eq!(call.enclosing_class.as_deref(), Some("Model"));
}

#[test]
fn sites_know_their_loops_branches_functions_and_targets() {
    let source = "\
import torch
def outer(x):
    def inner(y):
        return torch.log(y)
    for i in range(3):
        if i:
            total = torch.exp(x)
    return [torch.sqrt(v) for v in x]
while torch.log2(x) > 0:
    pass
";
    let analysis = analysed(source);
    let site = |name: &str| {
        let found = analysis.sites.iter().find(|site| site.function == name);
        found.unwrap_or_else(|| panic!("{name} is a site")).clone()
    };
    let log = site("log");
    assert_eq!(log.enclosing_function.as_deref(), Some("outer.inner"));
    assert!(!log.in_loop && !log.in_branch);
    let exp = site("exp");
    assert!(exp.in_loop && exp.in_branch);
    assert_eq!(exp.target.as_deref(), Some("total"));
    assert_eq!(exp.enclosing_function.as_deref(), Some("outer"));
    let sqrt = site("sqrt");
    assert!(sqrt.in_loop && !sqrt.in_branch && sqrt.target.is_none());
    assert!(site("log2").in_loop);
}

#[test]
fn casts_are_sites_only_towards_integers_and_half() {
    let source = "\
import numpy as np, torch
a = image.astype(np.uint8)
b = image.to(torch.uint8)
c = image.astype('uint8')
d = np.uint8(image)
e = np.array(image, dtype=np.uint8)
f = x.half()
g = x.to(torch.float16)
h = x.to(device)
i = x.astype(np.float64)
j = np.array([1, 2], dtype=np.uint8)
";
    assert_eq!(
        sites(source)
            .iter()
            .map(|(name, line)| (name.as_str(), *line))
            .collect::<Vec<_>>(),
        [
            ("cast", 2),
            ("cast", 3),
            ("cast", 4),
            ("cast", 5),
            ("cast", 6),
            ("cast_half", 7),
            ("cast_half", 8),
        ]
    );
}

#[test]
fn spans_are_exact_also_after_text_beyond_ascii() {
    let source = "import torch\nµ = 'ä'; y = torch.log(µ)\n";
    let analysis = analysed(source);
    let span = analysis.sites[0].span;
    assert_eq!(&source[span.start..span.end], "torch.log(µ)");
    assert_eq!((span.line, span.end_line), (2, 2));
}

#[test]
fn every_kind_of_line_end_counts_as_python_counts_it() {
    for end in ["\n", "\r\n", "\r"] {
        let source = format!("import torch{end}{end}y = torch.log(x){end}");
        assert_eq!(analysed(&source).sites[0].span.line, 3, "{end:?}");
    }
}

/// The sites at a line, which may have several.
pub(crate) fn sites_at(analysis: &Analysis, line: usize) -> impl Iterator<Item = &Site> {
    let sites = analysis.sites.iter();
    sites.filter(move |site| (site.span.line..=site.span.end_line).contains(&line))
}

#[test]
fn a_call_over_several_lines_is_found_at_each_of_them() {
    let analysis = analysed("import torch\ny = torch.log(\n    x\n)\n");
    assert_eq!(sites_at(&analysis, 3).count(), 1);
    assert_eq!(sites_at(&analysis, 1).count(), 0);
}

#[test]
fn marked_regions_of_both_imports_are_understood() {
    for import in [
        "from fissure import start_fuzz, end_fuzz",
        "from softassertion.analysis.boundary_tracer import start_fuzz, end_fuzz",
    ] {
        let source = format!(
            "import torch\n{import}\na = torch.log(x)\nstart_fuzz()\nb = torch.log(x)\nend_fuzz()\nc = torch.log(x)\n"
        );
        let analysis = analysed(&source);
        assert_eq!(
            analysis.regions,
            [Region {
                start_line: 4,
                end_line: Some(6)
            }]
        );
        let inside: Vec<bool> = analysis.sites.iter().map(|site| site.in_region).collect();
        assert_eq!(inside, [false, true, false]);
    }
}

#[test]
fn a_region_without_an_end_reaches_to_the_end_of_the_program() {
    let analysis = analysed("import fissure\nfissure.start_fuzz()\n1 / x\n");
    assert_eq!(analysis.regions[0].end_line, None);
    assert!(analysis.sites[0].in_region);
}

#[test]
fn a_function_of_the_programs_own_named_start_fuzz_marks_nothing() {
    let analysis = analysed("def start_fuzz(): pass\nstart_fuzz()\n");
    assert_eq!(analysis.regions, []);
}

#[test]
fn a_syntax_error_names_file_line_and_place() {
    let source = "import torch\nx = torch.log(1\ny = 2\n";
    let error = analyse(source, Path::new("broken.py"), &Registry::embedded())
        .expect_err("a parenthesis is open");
    assert_eq!(error.file, Path::new("broken.py"));
    let text = error.to_string();
    let mut rows = text.lines();
    assert!(
        rows.next()
            .is_some_and(|row| row.starts_with("broken.py:3:1: "))
    );
    assert_eq!(rows.next(), Some("    y = 2"));
    assert_eq!(rows.next(), Some("    ^"));
}

#[test]
fn the_marked_line_of_every_example_has_its_site() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/numeric");
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the manifest exists");
    let manifest: toml::Table = toml::from_str(&text).expect("the manifest is TOML");
    let programs = manifest["program"].as_array().expect("a list of programs");
    assert!(programs.len() >= 30, "only {} programs", programs.len());
    let registry = Registry::embedded();
    for program in programs {
        let field = |name: &str| program[name].as_str().expect("text").to_owned();
        let file = folder.join(field("file"));
        let source = std::fs::read_to_string(&file).expect("the program exists");
        let line = source
            .lines()
            .position(|line| line.contains("# unstable"))
            .expect("a marked line")
            + 1;
        let analysis = analyse(&source, &file, &registry).expect("valid Python");
        assert!(
            sites_at(&analysis, line).any(|site| site.function == field("function")),
            "{}: no site of {} at line {line}",
            file.display(),
            field("function")
        );
        let twin = folder.join(field("twin"));
        let source = std::fs::read_to_string(&twin).expect("the twin exists");
        analyse(&source, &twin, &registry).expect("valid Python");
    }
}
