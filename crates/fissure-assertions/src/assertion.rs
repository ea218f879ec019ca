//! A soft assertion that is ready to answer.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::ensemble::Ensemble;
use crate::features::{Extractor, MOST_FEATURES};
use crate::file::{AssertionFile, FileError, Header};
use crate::label::{Context, Label, Precision};
use crate::metrics::Confusion;
use crate::steps::Steps;
use crate::training::evaluate;
use crate::walker::{BLOCK, Walker};

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("`{function}` has no soft assertion for {precision}")]
    Precision {
        function: String,
        precision: Precision,
    },
    #[error("`{function}` has {wanted} operands of {context}s, not these: {problem}")]
    Operands {
        function: String,
        wanted: usize,
        context: Context,
        problem: String,
    },
}

#[derive(Clone, Debug)]
struct Model {
    ensemble: Ensemble,
    walker: Walker,
    /// The same as a step function, where it looks at the value alone.
    steps: Option<Steps>,
}

/// A trained model per precision, and what its file says.
#[derive(Clone, Debug)]
pub struct SoftAssertion {
    header: Header,
    models: BTreeMap<Precision, Model>,
}

/// Elements that one task of the thread pool answers for at least.
const TASK: usize = 4096;

impl SoftAssertion {
    pub fn load(path: &Path) -> Result<SoftAssertion, FileError> {
        SoftAssertion::ready(AssertionFile::load(path)?, &path.display().to_string())
    }

    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<SoftAssertion, FileError> {
        SoftAssertion::ready(AssertionFile::from_bytes(bytes, path)?, path)
    }

    fn ready(file: AssertionFile, path: &str) -> Result<SoftAssertion, FileError> {
        let header = file.header;
        for precision in file.ensembles.keys() {
            let extractor = extractor(&header, *precision);
            let known: Vec<&str> = extractor.features().iter().map(|(name, _)| *name).collect();
            if known != header.features {
                // The numbers of the nodes would mean other features.
                return Err(FileError::Invalid {
                    path: path.to_owned(),
                    problem: "its features are not those of this program: train it again"
                        .to_owned(),
                });
            }
        }
        let models = file.ensembles.into_iter().map(|(precision, ensemble)| {
            let model = Model {
                steps: Steps::of(&ensemble),
                walker: Walker::of(&ensemble),
                ensemble,
            };
            (precision, model)
        });
        Ok(SoftAssertion {
            models: models.collect(),
            header,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn precisions(&self) -> impl Iterator<Item = Precision> {
        self.models.keys().copied()
    }

    /// The step function of a model that looks at the value alone.
    pub fn steps(&self, precision: Precision) -> Option<&Steps> {
        self.models.get(&precision)?.steps.as_ref()
    }

    /// The answers on labelled samples; `None` without a model for the precision.
    pub fn evaluate(&self, precision: Precision, data: &Dataset) -> Option<Confusion> {
        let model = self.models.get(&precision)?;
        let extractor = extractor(&self.header, precision);
        Some(evaluate(&model.ensemble, extractor, data))
    }

    /// The labels of all elements of the operand `moving`. Operands are flat; `width` is the number
    /// of elements of one context (1, the length of a row, the size of a matrix).
    pub fn labels(
        &self,
        precision: Precision,
        operands: &[&[f64]],
        moving: usize,
        width: usize,
    ) -> Result<Vec<Label>, AnswerError> {
        let model = self
            .models
            .get(&precision)
            .ok_or_else(|| AnswerError::Precision {
                function: self.header.function.clone(),
                precision,
            })?;
        self.check(operands, moving, width)?;
        let own = operands[moving];
        if let Some(steps) = &model.steps {
            return Ok(own
                .par_iter()
                .with_min_len(TASK)
                .map(|value| steps.label(*value))
                .collect());
        }
        let extractor = extractor(&self.header, precision);
        let mut labels = vec![Label::NoChange; own.len()];
        // Short contexts fill a block together.
        let task = width * TASK.div_ceil(width);
        labels
            .par_chunks_mut(task)
            .enumerate()
            .for_each(|(number, labels)| {
                let begin = number * task;
                let part = begin..begin + labels.len();
                let operands: Vec<&[f64]> = operands.iter().map(|it| &it[part.clone()]).collect();
                answer(model, extractor, &operands, moving, width, labels);
            });
        Ok(labels)
    }

    fn check(&self, operands: &[&[f64]], moving: usize, width: usize) -> Result<(), AnswerError> {
        let context = self.header.context;
        let wanted = context.operands();
        let problem = if operands.len() != wanted {
            format!("there are {}", operands.len())
        } else if moving >= wanted {
            format!("operand {moving} does not exist")
        } else if operands
            .iter()
            .any(|operand| operand.len() != operands[0].len())
        {
            "they differ in size".to_owned()
        } else if width == 0 || !operands[0].len().is_multiple_of(width) {
            format!("{} elements are no multiple of {width}", operands[0].len())
        } else if context == Context::Matrix && width.isqrt().pow(2) != width {
            format!("{width} elements are no square matrix")
        } else if operands
            .iter()
            .any(|operand| operand.iter().any(|value| !value.is_finite()))
        {
            "not all values are finite".to_owned()
        } else {
            return Ok(());
        };
        Err(AnswerError::Operands {
            function: self.header.function.clone(),
            wanted,
            context,
            problem,
        })
    }
}

/// Fills in the labels of contexts one after the other, a block of elements at a time.
fn answer(
    model: &Model,
    extractor: Extractor,
    operands: &[&[f64]],
    moving: usize,
    width: usize,
    labels: &mut [Label],
) {
    let mut features = [[0.0; MOST_FEATURES]; BLOCK];
    let mut answered = 0;
    for begin in (0..labels.len()).step_by(width) {
        let mut context: [&[f64]; 2] = [&[], &[]];
        for (slot, operand) in context.iter_mut().zip(operands) {
            *slot = &operand[begin..begin + width];
        }
        let prepared = extractor.prepare(&context[..operands.len()], moving);
        for position in 0..width {
            let element = begin + position;
            prepared.describe(position, &mut features[element - answered]);
            if element + 1 - answered == BLOCK || element + 1 == labels.len() {
                // What follows the last element are features of earlier ones: not taken.
                let found = model.walker.labels(&features);
                let open = &mut labels[answered..=element];
                open.copy_from_slice(&found[..open.len()]);
                answered = element + 1;
            }
        }
    }
}

fn extractor(header: &Header, precision: Precision) -> Extractor {
    Extractor {
        context: header.context,
        precision,
        whole_numbers: header.whole_numbers,
    }
}
