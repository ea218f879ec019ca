//! What one constraint file can hold, and what is said about what it should not.

use std::path::{Path, PathBuf};

use fissure_model::{Role, Spec, Structure, TensorKind, Value};
use fissure_spec::{
    Cycle, DtypeConfig, Loaded, Problem, generation_order, load_file, load_paths, load_text,
    relaxed_order,
};

const HEAD: &str =
    "title: tf.nn.thing\npackage: tensorflow\ntarget: thing\nversion: '1'\nlink: x\n";

fn load(body: &str) -> Loaded {
    load_text(Path::new("thing.yaml"), &format!("{HEAD}{body}")).unwrap()
}

/// A spec with one required parameter `a` beside `b`, and these constraint lines for `a`.
fn with_constraint(lines: &str) -> Loaded {
    load(&format!(
        "inputs:\n  required: [a, b]\n  optional: []\nconstraints:\n  b: {{}}\n  a:\n{lines}"
    ))
}

fn messages(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

fn param<'a>(spec: &'a Spec, name: &str) -> &'a fissure_model::Param {
    spec.params.iter().find(|param| param.name == name).unwrap()
}

#[test]
fn a_complete_file_becomes_a_spec_without_warnings() {
    let loaded = load(
        "aliases: [tf.thing]\ncheck_nan: true\nlayer_constructor: false\ndependency: [n]\n\
         outputs: a tensor\nexceptions:\n- ValueError: no\nret_type: Tensor\n\
         inputs:\n  required: [x, '*more']\n  optional: [y, mode, '**kwargs']\n  keyword_only: [mode]\n  deprecated: [y]\n\
         constraints:\n  x:\n    descp: values\n    dtype: [tf.float32, 'dtype:&y']\n    tensor_t: [tf.tensor]\n    shape: ['[n,...]']\n\
         \x20 '*more': {}\n  '**kwargs': {}\n\
         \x20 y: {dtype: [int], range: ['[0,inf)'], default: '1'}\n\
         \x20 mode: {dtype: [string], enum: [SAME, 'None'], default: SAME}\n",
    );
    assert_eq!(messages(&loaded), Vec::<String>::new());
    let spec = loaded.spec;
    assert_eq!(spec.api.path, "tensorflow.nn.thing");
    assert!(spec.check_nan && !spec.api.layer);
    assert_eq!(spec.symbols, ["n"]);
    assert_eq!(spec.aliases, ["tf.thing"]);
    let roles: Vec<(&str, Role)> = spec
        .params
        .iter()
        .map(|param| (param.name.as_str(), param.role))
        .collect();
    assert_eq!(
        roles,
        [
            ("x", Role::Required),
            ("more", Role::VarPositional),
            ("y", Role::Optional),
            ("mode", Role::KeywordOnly),
            ("kwargs", Role::VarKeyword),
        ]
    );
    assert!(param(&spec, "y").deprecated);
    assert_eq!(param(&spec, "y").default, Some(Value::Int(1)));
    assert_eq!(
        param(&spec, "mode").constraint.enums,
        [Value::Text("SAME".into()), Value::None]
    );
    assert_eq!(param(&spec, "x").line, Some(20));
}

#[test]
fn names_and_numbers_are_not_guessed_at_by_yaml() {
    let loaded = load(
        "inputs:\n  required: [y, n, no]\n  optional: [on]\nconstraints:\n  y: {default: 1e-05}\n  n: {default: no}\n  no: {enum: [1, true]}\n  on: {default: null}\n",
    );
    assert_eq!(messages(&loaded), Vec::<String>::new());
    let names: Vec<&str> = loaded
        .spec
        .params
        .iter()
        .map(|param| param.name.as_str())
        .collect();
    assert_eq!(names, ["y", "n", "no", "on"]);
    assert_eq!(
        param(&loaded.spec, "y").default_text.as_deref(),
        Some("1e-05")
    );
    assert_eq!(param(&loaded.spec, "y").default, Some(Value::Float(1e-5)));
    assert_eq!(
        param(&loaded.spec, "n").default,
        Some(Value::Text("no".into()))
    );
    assert_eq!(
        param(&loaded.spec, "no").constraint.enums,
        [Value::Int(1), Value::Bool(true)]
    );
    assert_eq!(param(&loaded.spec, "on").default, None);
}

#[test]
fn every_value_that_is_not_understood_is_reported_with_line_parameter_and_key() {
    let loaded = with_constraint(
        "    dtype: [int, elephant]\n    structure: [list, bag]\n    tensor_t: [tensor, cloud]\n    ndim: ['1', '1 or 2']\n    shape: ['[n]', '[n,+]']\n    range: ['[0,1]', '0..1', '[3,1]']\n    colour: [red]\n    enum: [[x]]\n",
    );
    let constraint = &param(&loaded.spec, "a").constraint;
    assert_eq!(constraint.dtypes.len(), 1);
    assert_eq!(constraint.structures, [Structure::List(None)]);
    assert_eq!(constraint.tensors, [TensorKind::Dense]);
    assert_eq!(
        (
            constraint.ndims.len(),
            constraint.shapes.len(),
            constraint.ranges.len()
        ),
        (1, 1, 1)
    );
    let found: Vec<(u32, &str)> = loaded
        .warnings
        .iter()
        .map(|warning| (warning.line, warning.key.as_str()))
        .collect();
    let expected = [
        (18, "colour"),
        (12, "dtype"),
        (13, "structure"),
        (14, "tensor_t"),
        (16, "shape"),
        (15, "ndim"),
        (17, "range"),
        (17, "range"),
        (19, "enum"),
    ];
    assert_eq!(found, expected, "{:#?}", messages(&loaded));
    assert!(
        loaded
            .warnings
            .iter()
            .all(|warning| warning.param.as_deref() == Some("a"))
    );
    assert_eq!(
        messages(&loaded)[1],
        "thing.yaml:12: a: dtype: `elephant` is no known dtype; this alternative is left out"
    );
}

#[test]
fn structures_carry_their_elements() {
    let loaded = with_constraint(
        "    structure: [list(int), tuple(float), 'list(list)', 'dict(tf.string:tf.tensor)', 'tuple:(padh,padw)', 'tuple(int):(h,w)', sequence(int), iterable, list(shape), ndarray, 'dict(tf.string:?)', sparse_ndarray]\n",
    );
    assert_eq!(messages(&loaded), Vec::<String>::new());
    let constraint = &param(&loaded.spec, "a").constraint;
    let printed: Vec<String> = constraint
        .structures
        .iter()
        .map(fissure_spec::text::structure)
        .collect();
    assert_eq!(
        printed,
        [
            "list(any int)",
            "tuple(any float)",
            "list(list)",
            "dict(string:tensor)",
            "tuple:(padh,padw)",
            "tuple(any int):(h,w)",
            "sequence(any int)",
            "sequence",
            "list(shape)",
            "ndarray",
            "dict(string:?)",
        ]
    );
    assert_eq!(constraint.tensors, [TensorKind::Sparse]);
}

#[test]
fn junk_that_parses_does_not_break_an_api() {
    let loaded = with_constraint(
        "    shape: ['[tensor]']\n    enum: [starts, with]\n    ndim: [must]\n    structure: ['tuple(int):(&size)']\n",
    );
    let constraint = &param(&loaded.spec, "a").constraint;
    assert!(constraint.shapes.is_empty() && constraint.enums.is_empty());
    assert!(constraint.ndims.is_empty());
    assert_eq!(constraint.structures.len(), 1);
    assert_eq!(loaded.warnings.len(), 5, "{:#?}", messages(&loaded));
}

#[test]
fn shapes_and_ranks_that_contradict_each_other_are_settled_with_a_warning() {
    let some = with_constraint("    ndim: ['2']\n    shape: ['[n,c]', '[n,c,h,w]']\n");
    assert_eq!(param(&some.spec, "a").constraint.ndims.len(), 2);
    assert_eq!(some.warnings.len(), 1);
    let all = with_constraint("    ndim: ['0']\n    shape: ['[n,c]']\n");
    assert!(param(&all.spec, "a").constraint.shapes.is_empty());
    assert_eq!(all.warnings.len(), 1);
}

#[test]
fn references_to_unknown_parameters_are_reported() {
    let loaded = with_constraint(
        "    shape: ['[n,&count]', 'shape:&ghost']\n    range: ['[0,ndim:&ghost)']\n    dtype: ['dtype:&b']\n    ndim: ['&a']\n",
    );
    let constraint = &param(&loaded.spec, "a").constraint;
    assert_eq!(constraint.shapes.len(), 1);
    assert_eq!(
        fissure_spec::text::shape(&constraint.shapes[0]),
        "[n,count]"
    );
    assert!(constraint.ranges.is_empty());
    assert_eq!(constraint.dtypes.len(), 1);
    let text = messages(&loaded).join("\n");
    assert!(
        text.contains("`&count` refers to no parameter of this API; read as the free symbol"),
        "{text}"
    );
    assert!(
        text.contains("thing.yaml:13: a: range: `&ghost` refers to no parameter"),
        "{text}"
    );
    assert!(
        text.contains("`&a` refers to the parameter itself"),
        "{text}"
    );
}

#[test]
fn the_generation_order_follows_references_and_names_circles() {
    let loaded = load(
        "inputs:\n  required: [a, b, c]\n  optional: []\nconstraints:\n  a: {shape: ['[&c]']}\n  b: {}\n  c: {range: ['[0,ndim:&b)']}\n",
    );
    assert_eq!(generation_order(&loaded.spec), Ok(vec![1, 2, 0]));
    let loaded = load(
        "inputs:\n  required: [a, x, y, z]\n  optional: []\nconstraints:\n  a: {dtype: ['dtype:&x']}\n  x: {shape: ['shape:&y']}\n  y: {ndim: ['ndim:&z']}\n  z: {dtype: ['dtype:&x']}\n",
    );
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let cycle = Cycle { names };
    assert_eq!(generation_order(&loaded.spec), Err(cycle.clone()));
    assert_eq!(relaxed_order(&loaded.spec), (vec![1, 0, 3, 2], vec![cycle]));
    assert_eq!(
        messages(&loaded),
        ["thing.yaml:11: x: constraints: parameters depend on each other: x → y → z → x"]
    );
}

#[test]
fn layer_inputs_are_parameters_of_the_second_call() {
    let loaded = load(
        "layer_constructor: true\ninputs:\n  required: [size]\n  optional: []\n  layer: [input]\nconstraints:\n  size: {dtype: [int]}\n  input: {tensor_t: [tensor], shape: ['[...,&size]']}\n",
    );
    assert_eq!(messages(&loaded), Vec::<String>::new());
    assert_eq!(loaded.spec.params.len(), 1);
    assert_eq!(loaded.spec.layer_params[0].name, "input");
    assert!(loaded.spec.api.layer);
}

#[test]
fn what_inputs_and_constraints_disagree_about_is_reported() {
    let loaded = load(
        "surprise: 1\ninputs:\n  required: [a]\n  optional: [b]\nconstraints:\n  a: {}\n  c: {}\n  a: {dtype: [int]}\n",
    );
    let text = messages(&loaded).join("\n");
    for expected in [
        "thing.yaml:6: surprise: unknown key, ignored",
        "b: inputs: `b` has no entry under `constraints`",
        "thing.yaml:12: c: constraints: constrained, but not listed under `inputs`; left out",
        "thing.yaml:13: a: constraints: constrained twice; the last one counts",
    ] {
        assert!(text.contains(expected), "{expected}\n---\n{text}");
    }
    assert_eq!(param(&loaded.spec, "a").constraint.dtypes.len(), 1);
}

#[test]
fn files_that_cannot_be_loaded_say_where_and_what_to_do() {
    let error = |text: &str| load_text(Path::new("bad.yaml"), text).unwrap_err();
    let missing = error("title: a.b\npackage: a\nconstraints: {}\n");
    assert!(matches!(&missing.problem, Problem::MissingKey(key) if key == "inputs"));
    assert_eq!(
        missing.to_string(),
        "bad.yaml:1:1: the required key `inputs` is missing (add `inputs:` with the lists `required:` and `optional:`)"
    );
    let syntax = error("title: a.b\ninputs:\n  required: [a\n  optional: []\n");
    assert!(matches!(syntax.problem, Problem::Syntax(_)));
    assert!(syntax.line >= Some(3), "{syntax}");
    let wrong = error("title: a.b\npackage: a\nconstraints: {}\ninputs:\n- a\n");
    assert_eq!((wrong.line, wrong.column), (Some(5), Some(3)));
    assert!(
        wrong
            .to_string()
            .contains("`inputs` must be a map, but is a list"),
        "{wrong}"
    );
    let empty = error("package:\ntitle: ''\ninputs: {}\nconstraints: {}\n");
    assert!(
        matches!(&empty.problem, Problem::MissingKey(key) if key == "package"),
        "{empty}"
    );
    let twice = error(&format!(
        "{HEAD}inputs:\n  required: [a]\n  optional: [a]\nconstraints: {{}}\n"
    ));
    assert!(matches!(&twice.problem, Problem::DuplicateParameter(name) if name == "a"));
    assert_eq!(twice.line, Some(8));
    assert!(matches!(error("just a text").problem, Problem::NotASpec));
    assert!(matches!(error("").problem, Problem::Syntax(_)));
    let absent = load_file(Path::new("no/such/file.yaml")).unwrap_err();
    assert!(
        absent
            .to_string()
            .starts_with("no/such/file.yaml: cannot be read"),
        "{absent}"
    );
}

#[test]
fn folders_are_searched_and_other_yaml_is_skipped_not_failed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let good = format!("{HEAD}inputs: {{required: [], optional: []}}\nconstraints: {{}}\n");
    write("b/one.yaml", &good);
    write("a/two.yml", &good);
    write("a/warned.yaml", &format!("{good}odd: 1\n"));
    write("dtypes.yml", "torch.float32: np.float32\ntorch.bfloat16:\n");
    let other = write("other.yaml", "- just\n- a list\n");
    write("broken.yaml", "a: [\n");
    std::fs::write(folder.path().join("latin.yaml"), b"title: caf\xe9\n").unwrap();
    write("notes.txt", "not: [yaml\n");
    let collection = load_paths(&[folder.path().to_owned()]);
    assert_eq!(
        collection.counts().to_string(),
        "5 files: 3 loaded, 1 with warnings, 2 failed"
    );
    let names: Vec<String> = collection
        .loaded
        .iter()
        .map(|loaded| {
            loaded
                .spec
                .source
                .as_ref()
                .unwrap()
                .file_name()
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(names, ["two.yml", "warned.yaml", "one.yaml"]);
    assert_eq!(collection.skipped.len(), 2);
    assert!(matches!(collection.failed[1].problem, Problem::NotUtf8));
    // Named directly, a file that is no constraint file is an error.
    assert_eq!(load_paths(&[other]).counts().failed, 1);
}

#[test]
fn a_dtype_configuration_lists_what_exists_and_warns_about_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dtypes.yml");
    let text = "torch.float: np.float32\ntorch.float32: np.float32\ntf.bfloat16:\nboolean: np.bool\nstring: str\ntorch.dtype:\ntorch.elephant: np.float32\n";
    std::fs::write(&path, text).unwrap();
    let config = DtypeConfig::load(&path).unwrap();
    let names: Vec<String> = config.dtypes().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["float32", "bfloat16", "bool", "string"]);
    let bfloat16 = config
        .rows()
        .iter()
        .find(|row| row.name == "tf.bfloat16")
        .unwrap();
    assert!(!bfloat16.in_numpy);
    assert_eq!(config.warnings.len(), 1);
    assert_eq!(config.warnings[0].line, 7);
    std::fs::write(&path, "- a\n").unwrap();
    assert!(DtypeConfig::load(&path).is_err());
}
