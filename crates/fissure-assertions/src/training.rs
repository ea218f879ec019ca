//! From labelled samples to a model: both kinds compete, the better one is trained on everything.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::dataset::Dataset;
use crate::ensemble::{Ensemble, Kind};
use crate::features::{Extractor, Scale};
use crate::file::{LeftOut, ModelHeader};
use crate::label::Label;
use crate::metrics::Confusion;
use crate::tree::Columns;

/// One sample in this many is kept apart to choose the kind.
const APART: usize = 5;

/// A model and its figures.
#[derive(Debug)]
pub struct Trained {
    pub ensemble: Ensemble,
    pub header: ModelHeader,
}

/// Trains a model. The kind is chosen on training data that was kept apart; the held-out data are
/// looked at once, for the figures.
pub fn train(
    extractor: Extractor,
    training: &Dataset,
    held_out: &Dataset,
    left_out: LeftOut,
    regions: Vec<[f64; 2]>,
    seed: u64,
) -> Trained {
    let begun = Instant::now();
    let scales = scales(extractor);
    let rows = training.rows(extractor);
    let labels = training.labels();
    let compared = compare(&rows, &labels, &scales, seed);
    // Of equals the forest: it is the smaller one to explain.
    let kind = Kind::ALL
        .into_iter()
        .fold(Kind::RandomForest, |best, kind| {
            if compared[&kind] > compared[&best] {
                kind
            } else {
                best
            }
        });
    let columns = Columns::new(&rows, &scales);
    let ensemble = Ensemble::train(kind, &columns, &labels, seed);
    let training_seconds = begun.elapsed().as_secs_f64();
    let header = ModelHeader {
        kind,
        dataset: training.hash.clone(),
        samples: labels.len(),
        left_out: Some(left_out),
        held_out: evaluate(&ensemble, extractor, held_out),
        compared,
        regions,
        training_seconds,
    };
    Trained { ensemble, header }
}

/// Trains a model of one kind on everything.
pub fn train_kind(kind: Kind, extractor: Extractor, training: &Dataset, seed: u64) -> Ensemble {
    let columns = Columns::new(&training.rows(extractor), &scales(extractor));
    Ensemble::train(kind, &columns, &training.labels(), seed)
}

fn scales(extractor: Extractor) -> Vec<Scale> {
    let features = extractor.features().iter();
    features.map(|(_, scale)| *scale).collect()
}

fn compare(
    rows: &[Vec<f64>],
    labels: &[Label],
    scales: &[Scale],
    seed: u64,
) -> BTreeMap<Kind, f64> {
    let part = |apart: bool| {
        let chosen = (0..rows.len()).filter(move |number| (number % APART == 0) == apart);
        let chosen: Vec<usize> = chosen.collect();
        let rows: Vec<Vec<f64>> = chosen.iter().map(|&number| rows[number].clone()).collect();
        let labels: Vec<Label> = chosen.iter().map(|&number| labels[number]).collect();
        (rows, labels)
    };
    let (rest, rest_labels) = part(false);
    let (apart, apart_labels) = part(true);
    let columns = Columns::new(&rest, scales);
    Kind::ALL
        .into_iter()
        .map(|kind| {
            let ensemble = Ensemble::train(kind, &columns, &rest_labels, seed);
            let mut confusion = Confusion::default();
            for (row, label) in apart.iter().zip(&apart_labels) {
                confusion.add(*label, ensemble.label(row));
            }
            (kind, confusion.macro_f1())
        })
        .collect()
}

/// The answers of a model on samples.
pub fn evaluate(ensemble: &Ensemble, extractor: Extractor, data: &Dataset) -> Confusion {
    let mut confusion = Confusion::default();
    for (row, label) in data.rows(extractor).iter().zip(data.labels()) {
        confusion.add(label, ensemble.label(row));
    }
    confusion
}
