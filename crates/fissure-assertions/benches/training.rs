//! How long training takes, how good either kind is, and the data for other programs to try.
//!
//! `cargo bench -p fissure-assertions --bench training -- PYTHON [FOLDER]` labels some functions of torch in
//! float32 with that interpreter, trains a random forest and boosted trees on each, and prints macro-F1
//! on the held-out data and the seconds. With a folder it writes features and labels there, for
//! `scikit_learn.py` beside this file to train on the same.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fissure_assertions::{
    Dataset, Event, Extractor, Kind, Labeller, Precision, Request, Split, Trainable, catalogue,
    evaluate, train_kind,
};
use safetensors::tensor::{Dtype, TensorView};

const FUNCTIONS: [&str; 8] = [
    "exp",
    "log",
    "div",
    "softmax",
    "sum",
    "layer_norm",
    "cosine_similarity",
    "inverse",
];
/// As `fissure train` asks for.
const SAMPLES: usize = 6000;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let [python, folder @ ..] = arguments.as_slice() else {
        println!("training: skipped, it needs `-- PYTHON [FOLDER]`, a Python with torch");
        return;
    };
    let functions: Vec<Trainable> = catalogue()
        .into_iter()
        .filter(|it| FUNCTIONS.contains(&it.name.as_str()))
        .collect();
    let request = Request {
        python: Path::new(python),
        library: "torch",
        functions: &functions,
        precisions: &[Precision::Float32],
        splits: &[Split::Train, Split::HeldOut],
        seed: 0,
        count: SAMPLES,
        directory: Path::new("."),
    };
    let mut labeller = Labeller::start(&request).expect("the interpreter starts");
    let mut training: HashMap<String, Dataset> = HashMap::new();
    println!("| function | samples | labelling | random forest | boosted trees |");
    println!("|---|---|---|---|---|");
    while let Some(event) = labeller.next_event().expect("the interpreter answers") {
        let Event::Labelled(labelled) = event else {
            continue;
        };
        let data = Dataset::read(&labelled.path).expect("the samples are whole");
        if labelled.split == Split::Train {
            training.insert(labelled.function, data);
            continue;
        }
        let function = functions.iter().find(|it| it.name == labelled.function);
        let function = function.expect("it was asked for");
        let extractor = Extractor {
            context: function.context,
            precision: labelled.dtype,
            whole_numbers: function.whole_numbers,
        };
        let known = &training[&function.name];
        let cells = Kind::ALL.map(|kind| {
            let begun = Instant::now();
            let model = train_kind(kind, extractor, known, 0);
            let seconds = begun.elapsed().as_secs_f64();
            let answers = evaluate(&model, extractor, &data);
            format!("{:.4} in {seconds:.2} s", answers.macro_f1())
        });
        println!(
            "| {} | {} | {:.1} s | {} |",
            function.name,
            known.labels().len(),
            labelled.seconds,
            cells.join(" | ")
        );
        if let Some(folder) = folder.first() {
            let path = PathBuf::from(folder).join(format!("{}.safetensors", function.name));
            write(&path, extractor, known, &data);
        }
    }
}

/// Arrays `train`, `train_labels`, `held_out` and `held_out_labels`.
fn write(path: &Path, extractor: Extractor, training: &Dataset, held_out: &Dataset) {
    let width = extractor.features().len();
    let mut arrays = Vec::new();
    for (name, data) in [("train", training), ("held_out", held_out)] {
        let rows = data.rows(extractor);
        let features: Vec<u8> = rows
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let labels: Vec<u8> = data.labels().iter().map(|label| *label as u8).collect();
        arrays.push((
            name.to_owned(),
            Dtype::F64,
            vec![rows.len(), width],
            features,
        ));
        arrays.push((
            format!("{name}_labels"),
            Dtype::U8,
            vec![labels.len()],
            labels,
        ));
    }
    let views = arrays.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).expect("the shape fits");
        (name.as_str(), view)
    });
    safetensors::serialize_to_file(views, None, path).expect("the folder can be written");
}
