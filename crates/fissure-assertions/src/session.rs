//! Labelling and training of many functions: the interpreter labels the next one while the last is
//! trained here.

use std::collections::BTreeMap;

use crate::catalogue::Trainable;
use crate::dataset::{Dataset, DatasetError};
use crate::ensemble::Ensemble;
use crate::features::Extractor;
use crate::file::{AssertionFile, FORMAT, Header, LeftOut, ModelHeader};
use crate::label::Precision;
use crate::labeller::{Event, LabelError, Labelled, Labeller, Request, Split};
use crate::training::{Trained, train};

/// Why training ended early.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error(transparent)]
    Label(#[from] LabelError),
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// What the caller may show, and what it gets.
#[derive(Debug)]
pub enum Progress {
    Started {
        version: String,
    },
    /// A precision that the function has no model for, with the reason.
    Skipped {
        function: String,
        precision: Precision,
        reason: String,
    },
    /// The user's function or oracle is wrong.
    Refused {
        function: String,
        reason: String,
    },
    /// A function is done.
    Trained(Box<AssertionFile>),
}

/// Labels and trains everything of the request.
pub fn train_functions(
    request: &Request<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), TrainError> {
    let mut labeller = Labeller::start(request)?;
    let mut version = String::new();
    let mut open: Option<Open<'_>> = None;
    while let Some(event) = labeller.next_event()? {
        match event {
            Event::Started { version: found, .. } => {
                version.clone_from(&found);
                progress(Progress::Started { version: found });
            }
            Event::Labelled(labelled) => {
                let function = &labelled.function;
                if open
                    .as_ref()
                    .is_none_or(|open| open.function.name != *function)
                {
                    finish(open.take(), request, &version, progress);
                    let found = request.functions.iter().find(|it| it.name == *function);
                    open = found.map(Open::new);
                }
                if let Some(open) = &mut open {
                    open.take(labelled, request.seed)?;
                }
            }
            Event::Unsupported {
                function,
                dtype: precision,
                reason,
                ..
            } => progress(Progress::Skipped {
                function,
                precision,
                reason,
            }),
            Event::Refused {
                function, reason, ..
            } => progress(Progress::Refused { function, reason }),
            Event::Failed { .. } | Event::Finished => {}
        }
    }
    finish(open, request, &version, progress);
    Ok(())
}

/// A function whose precisions are being trained.
struct Open<'a> {
    function: &'a Trainable,
    training: Option<(Labelled, Dataset)>,
    oracles: Vec<String>,
    models: BTreeMap<Precision, (ModelHeader, Ensemble)>,
}

impl<'a> Open<'a> {
    fn new(function: &'a Trainable) -> Open<'a> {
        Open {
            function,
            training: None,
            oracles: Vec::new(),
            models: BTreeMap::new(),
        }
    }

    /// Training data come first, the held-out data of the same precision after them.
    fn take(&mut self, labelled: Labelled, seed: u64) -> Result<(), DatasetError> {
        let data = Dataset::read(&labelled.path)?;
        if labelled.split == Split::Train {
            self.training = Some((labelled, data));
            return Ok(());
        }
        let Some((training, training_data)) = self.training.take() else {
            return Ok(());
        };
        let extractor = extractor(self.function, labelled.dtype);
        let left_out = LeftOut {
            training: training.left_out,
            held_out: labelled.left_out,
        };
        let Trained { ensemble, header } = train(
            extractor,
            &training_data,
            &data,
            left_out,
            training.regions,
            seed,
        );
        self.models.insert(labelled.dtype, (header, ensemble));
        self.oracles = labelled.oracles;
        Ok(())
    }
}

fn extractor(function: &Trainable, precision: Precision) -> Extractor {
    Extractor {
        context: function.context,
        precision,
        whole_numbers: function.whole_numbers,
    }
}

fn finish(
    open: Option<Open<'_>>,
    request: &Request<'_>,
    version: &str,
    progress: &mut dyn FnMut(Progress),
) {
    let Some(open) = open.filter(|open| !open.models.is_empty()) else {
        return;
    };
    let function = open.function;
    let features = extractor(function, Precision::Float32).features();
    let mut headers = BTreeMap::new();
    let mut ensembles = BTreeMap::new();
    for (precision, (header, ensemble)) in open.models {
        headers.insert(precision, header);
        ensembles.insert(precision, ensemble);
    }
    let header = Header {
        format: FORMAT,
        function: function.name.clone(),
        library: request.library.to_owned(),
        version: version.to_owned(),
        context: function.context,
        whole_numbers: function.whole_numbers,
        call: function.call(request.library).unwrap_or("").to_owned(),
        oracles: open.oracles,
        features: features
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        seed: request.seed,
        models: headers,
    };
    progress(Progress::Trained(Box::new(AssertionFile {
        header,
        ensembles,
    })));
}
