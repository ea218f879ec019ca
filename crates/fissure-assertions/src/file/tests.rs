use super::*;
use crate::features::Scale;
use crate::label::Label;
use crate::tree::Columns;

fn sample() -> AssertionFile {
    let rows: Vec<Vec<f64>> = (0..50).map(|n| vec![f64::from(n)]).collect();
    let labels: Vec<Label> = (0..50)
        .map(|n| {
            if n > 30 {
                Label::NoChange
            } else {
                Label::Increase
            }
        })
        .collect();
    let columns = Columns::new(&rows, &[Scale::Number]);
    let ensemble = Ensemble::train(Kind::RandomForest, &columns, &labels, 0);
    let mut held_out = Confusion::default();
    held_out.add(Label::Increase, Label::Increase);
    let model = ModelHeader {
        kind: Kind::RandomForest,
        dataset: "abc".to_owned(),
        samples: 50,
        left_out: Some(LeftOut {
            training: 40,
            held_out: 9,
        }),
        held_out,
        compared: BTreeMap::from([(Kind::RandomForest, 1.0)]),
        regions: vec![[31.0, f64::MAX]],
        training_seconds: 0.5,
    };
    AssertionFile {
        header: Header {
            format: FORMAT,
            function: "exp".to_owned(),
            library: "torch".to_owned(),
            version: "2.9.1".to_owned(),
            context: Context::Element,
            whole_numbers: false,
            call: "torch.exp(x)".to_owned(),
            oracles: vec!["nonfinite".to_owned()],
            features: vec!["value".to_owned()],
            seed: 0,
            models: BTreeMap::from([(Precision::Float32, model)]),
        },
        ensembles: BTreeMap::from([(Precision::Float32, ensemble)]),
    }
}

fn problem(bytes: &[u8]) -> String {
    AssertionFile::from_bytes(bytes, "x.safetensors")
        .expect_err("the file is not valid")
        .to_string()
}

#[test]
fn what_is_saved_is_loaded_and_answers_the_same() {
    let file = sample();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/exp.safetensors");
    file.save(&path).unwrap();
    let again = AssertionFile::load(&path).unwrap();
    assert_eq!(again.header, file.header);
    let (one, two) = (
        &file.ensembles[&Precision::Float32],
        &again.ensembles[&Precision::Float32],
    );
    for number in 0..50 {
        assert_eq!(
            one.label(&[f64::from(number)]),
            two.label(&[f64::from(number)])
        );
    }
}

#[test]
fn the_share_left_out_is_that_of_all_samples_and_earlier_files_do_not_have_it() {
    let mut file = sample();
    let model = file.header.models.get_mut(&Precision::Float32).unwrap();
    // 49 of 50 + 1 + 49.
    assert_eq!(model.share_left_out(), Some(0.49));
    model.left_out = None;
    let bytes = file.to_bytes();
    assert!(!String::from_utf8_lossy(&bytes).contains("left_out"));
    let earlier = AssertionFile::from_bytes(&bytes, "x.safetensors").unwrap();
    let model = &earlier.header.models[&Precision::Float32];
    assert_eq!(model.share_left_out(), None);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    assert!(problem(b"no safetensors at all").contains("is not a soft assertion"));
    let none: [(String, TensorView<'_>); 0] = [];
    let empty = safetensors::serialize(none, None).unwrap();
    assert!(problem(&empty).contains("no header `fissure`"));
    let mut newer = sample();
    newer.header.format = 99;
    assert!(problem(&newer.to_bytes()).contains("format 99"));
}

#[test]
fn a_tree_that_could_run_in_circles_or_out_of_its_arrays_is_refused() {
    let mut circle = sample();
    let nodes = &mut circle.ensembles.get_mut(&Precision::Float32).unwrap().trees[0].nodes;
    nodes[0].child = 0;
    nodes[0].feature = 0;
    assert!(problem(&circle.to_bytes()).contains("damaged"));
    let mut outside = sample();
    outside.header.features.clear();
    assert!(problem(&outside.to_bytes()).contains("damaged"));
    let mut missing = sample();
    missing.ensembles.clear();
    assert!(problem(&missing.to_bytes()).contains("float32.features"));
}

#[test]
fn a_truncated_file_is_refused() {
    let bytes = sample().to_bytes();
    for length in [4, 20, bytes.len() / 2, bytes.len() - 1] {
        problem(&bytes[..length]);
    }
}
