use std::process::Command;

use super::*;

fn refusal(text: &str) -> String {
    Registry::from_toml(text)
        .expect_err("the file is not valid")
        .to_string()
}

const LOG: &str = r#"
[[function]]
name = "log"
family = "elementwise"
objective = "interval"
torch = ["torch.log", "torch.Tensor.log"]
arguments = ["input"]
oracles = ["nonfinite"]
probe = "x = t"
regions.f32 = { nonfinite = [[-3.40282347e38, 0.0]], gradient_nonfinite = [] }
"#;

#[test]
fn every_embedded_entry_is_valid_and_there_are_at_least_61() {
    let registry = Registry::from_toml(EMBEDDED).expect("the embedded registry loads");
    assert!(registry.functions().len() >= 61);
    for family in [
        Family::Elementwise,
        Family::Reduction,
        Family::Loss,
        Family::Normalisation,
        Family::LinearAlgebra,
        Family::Distance,
        Family::Distribution,
        Family::Cast,
    ] {
        assert!(
            registry
                .functions()
                .iter()
                .any(|function| function.family == family),
            "no function of the family {family:?}"
        );
    }
}

#[test]
fn functions_methods_operators_modules_and_numpy_names_lead_to_one_function() {
    let registry = Registry::embedded();
    let name = |function: Option<&Function>| function.map(|function| function.name.clone());
    assert_eq!(name(registry.lookup("torch.div")).as_deref(), Some("div"));
    assert_eq!(
        name(registry.lookup("numpy.true_divide")).as_deref(),
        Some("div")
    );
    assert_eq!(name(registry.method("div_")).as_deref(), Some("div"));
    assert_eq!(name(registry.operator("/")).as_deref(), Some("div"));
    assert_eq!(
        name(registry.lookup("torch.nn.Softmax")).as_deref(),
        Some("softmax")
    );
    assert_eq!(
        name(registry.by_short_name("astype")).as_deref(),
        Some("cast")
    );
    assert_eq!(name(registry.by_short_name("log_")).as_deref(), Some("log"));
    assert!(registry.lookup("torch.relu").is_none());
    assert!(registry.method("__truediv__").is_none());
    assert!(registry.by_short_name("log_prob").is_none());
}

#[test]
fn the_measured_regions_of_well_known_functions_hold() {
    let registry = Registry::embedded();
    let start = |name: &str, precision| {
        registry.get(name).expect("listed").regions[&precision].nonfinite[0][0]
    };
    assert!((start("exp", Precision::F32) - 88.72284).abs() < 1e-4);
    assert!((start("exp", Precision::F16) - 11.09375).abs() < 1e-9);
    let log = &registry.get("log").expect("listed").regions[&Precision::F64];
    assert_eq!(log.nonfinite[0][1], 0.0);
    let sqrt = &registry.get("sqrt").expect("listed").regions[&Precision::F32];
    assert_eq!(sqrt.gradient_nonfinite, vec![[0.0, 0.0]]);
}

#[test]
fn the_json_for_the_runtime_holds_every_function() {
    let registry = Registry::embedded();
    let json = registry.to_json();
    let object = json.as_object().expect("an object");
    assert_eq!(object.len(), registry.functions().len());
    assert_eq!(json["exp"]["objective"], "interval");
    let interval = &json["exp"]["regions"]["f32"]["nonfinite"][0];
    assert!(interval[0].is_f64() && interval[1].is_f64());
}

#[test]
fn a_file_with_an_unknown_field_is_refused() {
    assert!(refusal(&format!("{LOG}colour = \"red\"\n")).contains("colour"));
}

#[test]
fn a_function_listed_twice_is_refused() {
    assert!(refusal(&format!("{LOG}{LOG}")).contains("is listed twice"));
}

#[test]
fn an_alias_of_two_functions_is_refused() {
    let other = LOG.replace("name = \"log\"", "name = \"log_again\"");
    let problem = refusal(&format!("{LOG}{other}"));
    assert!(
        problem.contains("`torch.log` already belongs to `log`"),
        "{problem}"
    );
}

#[test]
fn an_interval_beyond_its_precision_or_in_the_wrong_order_is_refused() {
    let beyond = LOG.replace("-3.40282347e38", "-1e39");
    assert!(refusal(&beyond).contains("is not valid"));
    let reversed = LOG.replace("[[-3.40282347e38, 0.0]]", "[[1.0, 0.0]]");
    assert!(refusal(&reversed).contains("is not valid"));
}

#[test]
fn a_name_of_the_wrong_library_is_refused() {
    let text = LOG.replace("\"torch.log\"", "\"numpy.log\"");
    assert!(refusal(&text).contains("does not start with `torch.`"));
}

#[test]
fn every_name_exists_in_the_real_libraries() {
    let Some(python) = fissure_testing::torch_python() else {
        return;
    };
    let registry = Registry::embedded();
    let names: Vec<&str> = registry
        .functions()
        .iter()
        .flat_map(Function::aliases)
        .collect();
    let script = r#"
import importlib, sys
for name in sys.argv[1].split():
    parts = name.split(".")
    value, path = importlib.import_module(parts[0]), parts[0]
    for part in parts[1:]:
        path += "." + part
        try:
            value = getattr(value, part) if hasattr(value, part) else importlib.import_module(path)
        except ImportError:
            print(name)
            break
"#;
    let output = Command::new(python)
        .args(["-c", script, &names.join(" ")])
        .output()
        .expect("the interpreter starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "",
        "these names do not exist"
    );
}
