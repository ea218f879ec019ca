use super::*;

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
