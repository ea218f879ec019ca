//! Labelled samples, as the target's interpreter writes them.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::features::{Extractor, MOST_FEATURES};
use crate::label::Label;

/// Why a file of samples cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("failed to read the samples: {0}")]
    Read(#[from] std::io::Error),
    #[error("the samples are damaged: {0}")]
    Damaged(String),
}

#[derive(Deserialize)]
struct Header {
    shapes: Vec<Vec<usize>>,
    operand: usize,
    count: usize,
}

/// Samples of one size: contexts, each with one labelled element.
#[derive(Clone, Debug)]
pub struct Block {
    /// Per operand: the values of all contexts, one after the other.
    operands: Vec<Vec<f64>>,
    /// Per operand: elements of one context.
    sizes: Vec<usize>,
    moving: usize,
    positions: Vec<u32>,
    labels: Vec<Label>,
}

/// All samples of a function in one precision.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub blocks: Vec<Block>,
    /// SHA-256 of the file.
    pub hash: String,
}

impl Dataset {
    pub fn read(path: &Path) -> Result<Dataset, DatasetError> {
        let bytes = std::fs::read(path)?;
        let hash = format!("{:x}", Sha256::digest(&bytes));
        let mut rest = bytes.as_slice();
        let mut blocks = Vec::new();
        while !rest.is_empty() {
            blocks.push(block(&mut rest)?);
        }
        Ok(Dataset { blocks, hash })
    }

    pub fn labels(&self) -> Vec<Label> {
        let labels = self.blocks.iter().flat_map(|block| &block.labels);
        labels.copied().collect()
    }

    /// The features of every sample, in the order of [`Dataset::labels`].
    pub fn rows(&self, extractor: Extractor) -> Vec<Vec<f64>> {
        let width = extractor.features().len();
        let mut rows = Vec::new();
        for block in &self.blocks {
            for (number, position) in block.positions.iter().enumerate() {
                let operands: Vec<&[f64]> = block
                    .operands
                    .iter()
                    .zip(&block.sizes)
                    .map(|(values, size)| &values[number * size..(number + 1) * size])
                    .collect();
                let mut features = [0.0; MOST_FEATURES];
                extractor
                    .prepare(&operands, block.moving)
                    .describe(*position as usize, &mut features);
                rows.push(features[..width].to_vec());
            }
        }
        rows
    }
}

fn block(rest: &mut &[u8]) -> Result<Block, DatasetError> {
    let length = u32::from_le_bytes(take::<4>(rest)?) as usize;
    let text = bytes(rest, length)?;
    let header: Header = serde_json::from_slice(text)
        .map_err(|error| DatasetError::Damaged(format!("a header: {error}")))?;
    let sizes: Vec<usize> = header
        .shapes
        .iter()
        .map(|shape| shape.iter().product())
        .collect();
    let mut operands = Vec::new();
    for size in &sizes {
        let raw = bytes(rest, 8 * size * header.count)?;
        let values = raw.as_chunks::<8>().0.iter();
        operands.push(values.map(|chunk| f64::from_le_bytes(*chunk)).collect());
    }
    let raw = bytes(rest, 4 * header.count)?.as_chunks::<4>().0.iter();
    let positions: Vec<u32> = raw.map(|chunk| u32::from_le_bytes(*chunk)).collect();
    let moving = header.operand;
    let size = *sizes
        .get(moving)
        .ok_or_else(|| DatasetError::Damaged("it has no such operand".to_owned()))?;
    if positions.iter().any(|position| *position as usize >= size) {
        return Err(DatasetError::Damaged("a position is outside".to_owned()));
    }
    let labels = bytes(rest, header.count)?
        .iter()
        .map(|label| Label::from_index(usize::from(*label)))
        .collect::<Option<Vec<Label>>>()
        .ok_or_else(|| DatasetError::Damaged("a label is not 0, 1 or 2".to_owned()))?;
    Ok(Block {
        operands,
        sizes,
        moving,
        positions,
        labels,
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], DatasetError> {
    let mut found = [0; N];
    rest.read_exact(&mut found)
        .map_err(|_| DatasetError::Damaged("it ends too early".to_owned()))?;
    Ok(found)
}

fn bytes<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], DatasetError> {
    rest.split_off(..count)
        .ok_or_else(|| DatasetError::Damaged("it ends too early".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{Context, Precision};

    fn file(labels: &[u8]) -> Vec<u8> {
        let header = br#"{"shapes": [[2]], "operand": 0, "count": 2}"#;
        let mut all = (header.len() as u32).to_le_bytes().to_vec();
        all.extend(header);
        for value in [1.0f64, 2.0, 3.0, 4.0] {
            all.extend(value.to_le_bytes());
        }
        for position in [1u32, 0] {
            all.extend(position.to_le_bytes());
        }
        all.extend(labels);
        all
    }

    #[test]
    fn samples_come_back_with_their_features() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.samples");
        std::fs::write(&path, file(&[2, 1])).unwrap();
        let data = Dataset::read(&path).unwrap();
        assert_eq!(data.labels(), [Label::Increase, Label::NoChange]);
        let extractor = Extractor {
            context: Context::Row,
            precision: Precision::Float32,
            whole_numbers: false,
        };
        let rows = data.rows(extractor);
        assert_eq!((rows[0][0], rows[1][0]), (2.0, 3.0));
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.samples");
        for bytes in [file(&[2]), file(&[2, 7]), b"abc".to_vec()] {
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(
                Dataset::read(&path),
                Err(DatasetError::Damaged(_))
            ));
        }
    }
}
