//! The file of a soft assertion: safetensors, with a header in JSON under the key `fissure`.
//!
//! Per precision there are five arrays: `P.features`, `P.thresholds` and `P.children` have one entry
//! per node, `P.leaves` three numbers per leaf, `P.trees` the first node and the first leaf of each
//! tree. A file that is not exactly that is refused with the reason.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::ensemble::{Ensemble, Kind};
use crate::label::{Context, Precision};
use crate::metrics::Confusion;
use crate::tree::{LABELS, LEAF, Node, Tree};

pub const FORMAT: u32 = 1;
const KEY: &str = "fissure";

/// Why a file is not a soft assertion.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("failed to read `{path}`: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("failed to write `{path}`: {error}")]
    Write { path: String, error: std::io::Error },
    #[error("`{path}` is not a soft assertion: {problem}")]
    Invalid { path: String, problem: String },
}

/// What a file says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub format: u32,
    pub function: String,
    pub library: String,
    pub version: String,
    pub context: Context,
    #[serde(default)]
    pub whole_numbers: bool,
    /// The call that was tested.
    pub call: String,
    pub oracles: Vec<String>,
    pub features: Vec<String>,
    pub seed: u64,
    pub models: BTreeMap<Precision, ModelHeader>,
}

/// What a file says about the model of one precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHeader {
    pub kind: Kind,
    /// SHA-256 of the training data.
    pub dataset: String,
    pub samples: usize,
    /// Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Answers on the held-out data.
    pub held_out: Confusion,
    /// Macro-F1 of each kind on the part of the training data that was kept apart to choose.
    pub compared: BTreeMap<Kind, f64>,
    /// Failure regions of a function of one operand, as measured (the first eight).
    #[serde(default)]
    pub regions: Vec<[f64; 2]>,
    pub training_seconds: f64,
}

/// Samples that were drawn and labelled, but are in no data set: their label hangs on the order of the
/// elements, on the place in the batch, or on the rounding of neighbouring numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    pub training: usize,
    pub held_out: usize,
}

impl ModelHeader {
    /// Share of the labelled samples, of training and held out, that were left out.
    pub fn share_left_out(&self) -> Option<f64> {
        let LeftOut { training, held_out } = self.left_out?;
        let left_out = (training + held_out) as f64;
        let kept = self.samples as f64 + f64::from(self.held_out.samples());
        Some(left_out / (left_out + kept).max(1.0))
    }
}

/// A file's content.
#[derive(Clone, Debug)]
pub struct AssertionFile {
    pub header: Header,
    pub ensembles: BTreeMap<Precision, Ensemble>,
}

impl AssertionFile {
    pub fn to_bytes(&self) -> Vec<u8> {
        let header =
            serde_json::to_string(&self.header).expect("a header is strings and finite numbers");
        let arrays: Vec<(String, Array)> = self
            .ensembles
            .iter()
            .flat_map(|(precision, ensemble)| arrays(*precision, ensemble))
            .collect();
        let views = arrays.iter().map(|(name, array)| {
            let view = TensorView::new(array.dtype, array.shape.clone(), &array.bytes)
                .expect("the shape is that of the bytes");
            (name.clone(), view)
        });
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).expect("the arrays have valid shapes")
    }

    /// Writes the file whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let write = || {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or_else(|| Path::new("."));
            std::fs::create_dir_all(folder)?;
            let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
            std::io::Write::write_all(&mut temporary, &self.to_bytes())?;
            temporary.persist(path).map_err(|failed| failed.error)?;
            // Temporary files are private; this one is meant to be read and committed.
            #[cfg(unix)]
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
            Ok(())
        };
        write().map_err(|error| FileError::Write {
            path: path.display().to_string(),
            error,
        })
    }

    pub fn load(path: &Path) -> Result<AssertionFile, FileError> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| FileError::Read {
            path: shown.clone(),
            error,
        })?;
        AssertionFile::from_bytes(&bytes, &shown)
    }

    /// `path` is for the messages.
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<AssertionFile, FileError> {
        parse(bytes).map_err(|problem| FileError::Invalid {
            path: path.to_owned(),
            problem,
        })
    }
}

struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn array<T: bytemuck::Pod>(dtype: Dtype, shape: Vec<usize>, values: &[T]) -> Array {
    Array {
        dtype,
        shape,
        bytes: bytemuck::cast_slice(values).to_vec(),
    }
}

fn arrays(precision: Precision, ensemble: &Ensemble) -> Vec<(String, Array)> {
    let nodes: Vec<Node> = ensemble
        .trees
        .iter()
        .flat_map(|tree| tree.nodes.iter().copied())
        .collect();
    let leaves: Vec<[f32; LABELS]> = ensemble
        .trees
        .iter()
        .flat_map(|tree| tree.leaves.iter().copied())
        .collect();
    let mut starts: Vec<u32> = Vec::new();
    let (mut node, mut leaf) = (0, 0);
    for tree in &ensemble.trees {
        starts.extend([node, leaf]);
        node += u32::try_from(tree.nodes.len()).expect("a tree is small");
        leaf += u32::try_from(tree.leaves.len()).expect("a tree is small");
    }
    let column = |name: &str| format!("{precision}.{name}");
    let features: Vec<u16> = nodes.iter().map(|node| node.feature).collect();
    let thresholds: Vec<f64> = nodes.iter().map(|node| node.threshold).collect();
    let children: Vec<u32> = nodes.iter().map(|node| node.child).collect();
    let one = vec![nodes.len()];
    vec![
        (
            column("features"),
            array(Dtype::U16, one.clone(), &features),
        ),
        (
            column("thresholds"),
            array(Dtype::F64, one.clone(), &thresholds),
        ),
        (column("children"), array(Dtype::U32, one, &children)),
        (
            column("leaves"),
            array(Dtype::F32, vec![leaves.len(), LABELS], &leaves),
        ),
        (
            column("trees"),
            array(Dtype::U32, vec![ensemble.trees.len(), 2], &starts),
        ),
    ]
}

fn parse(bytes: &[u8]) -> Result<AssertionFile, String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let header = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
        .ok_or("it has no header `fissure`")?;
    let header: Header =
        serde_json::from_str(header).map_err(|error| format!("its header: {error}"))?;
    if header.format != FORMAT {
        return Err(format!(
            "it has format {}, this program reads format {FORMAT}",
            header.format
        ));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut ensembles = BTreeMap::new();
    for (precision, model) in &header.models {
        let trees = trees(&tensors, *precision, header.features.len())?;
        let kind = model.kind;
        ensembles.insert(*precision, Ensemble { kind, trees });
    }
    if ensembles.is_empty() {
        return Err("it has no model".to_owned());
    }
    Ok(AssertionFile { header, ensembles })
}

fn column<T: bytemuck::Pod>(
    tensors: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
) -> Result<Vec<T>, String> {
    let view = tensors
        .tensor(name)
        .map_err(|error| format!("`{name}`: {error}"))?;
    if view.dtype() != dtype {
        return Err(format!("`{name}` is not {dtype:?}"));
    }
    // Copied: the bytes of a file are not aligned.
    Ok(bytemuck::pod_collect_to_vec(view.data()))
}

fn trees(
    tensors: &SafeTensors<'_>,
    precision: Precision,
    width: usize,
) -> Result<Vec<Tree>, String> {
    let name = |part: &str| format!("{precision}.{part}");
    let features: Vec<u16> = column(tensors, &name("features"), Dtype::U16)?;
    let thresholds: Vec<f64> = column(tensors, &name("thresholds"), Dtype::F64)?;
    let children: Vec<u32> = column(tensors, &name("children"), Dtype::U32)?;
    let leaves: Vec<f32> = column(tensors, &name("leaves"), Dtype::F32)?;
    let starts: Vec<u32> = column(tensors, &name("trees"), Dtype::U32)?;
    let leaves: &[[f32; LABELS]] = leaves.as_chunks::<LABELS>().0;
    let starts: &[[u32; 2]] = starts.as_chunks::<2>().0;
    if thresholds.len() != features.len() || children.len() != features.len() {
        return Err(format!("the arrays of {precision} differ in length"));
    }
    let mut found = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1);
        let end = end.map_or([features.len(), leaves.len()], |end| {
            end.map(|at| at as usize)
        });
        let range = |index: usize, length: usize| {
            let start = start[index] as usize;
            (start <= end[index] && end[index] <= length).then_some(start..end[index])
        };
        let problem = || format!("tree {number} of {precision} is damaged");
        let nodes = range(0, features.len()).ok_or_else(problem)?;
        let own = leaves[range(1, leaves.len()).ok_or_else(problem)?].to_vec();
        let nodes: Vec<Node> = nodes
            .map(|at| Node {
                threshold: thresholds[at],
                child: children[at],
                feature: features[at],
            })
            .collect();
        let tree = Tree { nodes, leaves: own };
        if !sound(&tree, width) {
            return Err(problem());
        }
        found.push(tree);
    }
    if found.is_empty() {
        return Err(format!("there are no trees for {precision}"));
    }
    Ok(found)
}

/// Does every way end at a leaf? Children come after their parent, so no way is endless.
fn sound(tree: &Tree, width: usize) -> bool {
    !tree.nodes.is_empty()
        && tree.nodes.iter().enumerate().all(|(at, node)| {
            let child = node.child as usize;
            if node.feature == LEAF {
                child < tree.leaves.len()
            } else {
                usize::from(node.feature) < width && child > at && child + 1 < tree.nodes.len()
            }
        })
}

#[cfg(test)]
mod tests;
