//! What was reached in a run, as it is kept and merged: sets of block addresses for each API.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CoverageError;

/// A file that claims to be longer than this when unpacked is refused.
const MOST_BYTES: usize = 1 << 30;

/// Blocks of one module, by their addresses in its file.
pub type BlockSet = BTreeSet<u32>;

/// A file of machine code that was watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleRecord {
    pub name: String,
    pub path: PathBuf,
    pub build_id: String,
    pub functions: usize,
    pub blocks: usize,
}

impl ModuleRecord {
    /// The file and the folder that it lies in: packages have several files of one name, and lie elsewhere on another
    /// machine.
    fn identity(&self) -> (&str, Option<&OsStr>) {
        (
            &self.name,
            self.path.parent().and_then(|folder| folder.file_name()),
        )
    }
}

/// A point of the growth curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    pub milliseconds: u64,
    pub inputs: u64,
    pub blocks: usize,
}

/// The coverage of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageRecord {
    pub modules: Vec<ModuleRecord>,
    /// For each API the blocks of each module, in the order of `modules`, as differences.
    apis: BTreeMap<String, Vec<Vec<u32>>>,
    /// How the union over all APIs grew.
    pub growth: Vec<Growth>,
}

impl CoverageRecord {
    pub fn new(modules: Vec<ModuleRecord>) -> Self {
        CoverageRecord {
            modules,
            ..Default::default()
        }
    }

    pub fn apis(&self) -> impl Iterator<Item = &str> {
        self.apis.keys().map(String::as_str)
    }

    /// The blocks that an API reached, by module.
    pub fn of_api(&self, title: &str) -> Vec<BlockSet> {
        let stored = self.apis.get(title);
        (0..self.modules.len())
            .map(|module| {
                let deltas = stored.and_then(|it| it.get(module));
                deltas.map_or_else(BlockSet::new, |deltas| unpack(deltas))
            })
            .collect()
    }

    /// Sets what an API reached, by module.
    pub fn set_api(&mut self, title: &str, blocks: &[BlockSet]) {
        let packed = blocks.iter().map(pack).collect();
        self.apis.insert(title.to_owned(), packed);
    }

    /// Blocks that any API reached, by module.
    pub fn union(&self) -> Vec<BlockSet> {
        let mut all = vec![BlockSet::new(); self.modules.len()];
        for title in self.apis.keys() {
            for (all, own) in all.iter_mut().zip(self.of_api(title)) {
                all.extend(own);
            }
        }
        all
    }

    /// Adds another run of the same library, a shard for instance.
    pub fn merge(&mut self, other: &CoverageRecord) -> Result<(), CoverageError> {
        let mut places = Vec::new();
        for module in &other.modules {
            let known = (self.modules.iter()).position(|it| it.identity() == module.identity());
            places.push(match known {
                Some(place) if self.modules[place].build_id != module.build_id => {
                    return Err(CoverageError::OtherBuild {
                        module: module.name.clone(),
                    });
                }
                Some(place) => place,
                None => {
                    self.modules.push(module.clone());
                    self.modules.len() - 1
                }
            });
        }
        for title in other.apis.keys() {
            let mut mine = self.of_api(title);
            for (place, theirs) in places.iter().zip(other.of_api(title)) {
                mine[*place].extend(theirs);
            }
            self.set_api(title, &mine);
        }
        // Curves of runs beside each other have no common clock: the longer one stays.
        if other.growth.len() > self.growth.len() {
            self.growth.clone_from(&other.growth);
        }
        Ok(())
    }

    pub fn load(path: &Path) -> Result<CoverageRecord, CoverageError> {
        let packed = fs::read(path).map_err(CoverageError::read(path))?;
        let bytes =
            zstd::bulk::decompress(&packed, MOST_BYTES).map_err(CoverageError::read(path))?;
        serde_json::from_slice(&bytes).map_err(|error| CoverageError::garbled(path, error))
    }

    /// Written beside and renamed: a reader never sees half of it.
    pub fn save(&self, path: &Path) -> Result<(), CoverageError> {
        let bytes =
            serde_json::to_vec(self).map_err(|error| CoverageError::garbled(path, error))?;
        let packed = zstd::bulk::compress(&bytes, 3).map_err(CoverageError::write(path))?;
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, packed).map_err(CoverageError::write(&unfinished))?;
        fs::rename(&unfinished, path).map_err(CoverageError::write(path))
    }
}

fn pack(blocks: &BlockSet) -> Vec<u32> {
    let mut before = 0;
    blocks
        .iter()
        .map(|block| block - std::mem::replace(&mut before, *block))
        .collect()
}

fn unpack(deltas: &[u32]) -> BlockSet {
    let mut address = 0_u32;
    deltas
        .iter()
        .map(|delta| {
            address = address.wrapping_add(*delta);
            address
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, build: &str) -> ModuleRecord {
        ModuleRecord {
            name: name.into(),
            path: format!("{name}.so").into(),
            build_id: build.into(),
            functions: 3,
            blocks: 9,
        }
    }

    fn record(modules: &[(&str, &str)], api: &str, blocks: &[&[u32]]) -> CoverageRecord {
        let modules = modules.iter().map(|(name, build)| module(name, build));
        let mut record = CoverageRecord::new(modules.collect());
        let sets: Vec<BlockSet> = blocks
            .iter()
            .map(|it| it.iter().copied().collect())
            .collect();
        record.set_api(api, &sets);
        record
    }

    #[test]
    fn a_record_is_the_same_after_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("coverage.zst");
        let kept = record(&[("a", "1")], "f", &[&[5, 900, 7]]);
        kept.save(&path).unwrap();
        let read = CoverageRecord::load(&path).unwrap();
        assert_eq!(read, kept);
        assert_eq!(read.of_api("f"), [BlockSet::from([5, 7, 900])]);
    }

    #[test]
    fn shards_are_united_by_module_and_api_whatever_their_order() {
        let mut one = record(&[("a", "1"), ("b", "2")], "f", &[&[1], &[2]]);
        let two = record(&[("b", "2"), ("a", "1")], "f", &[&[3], &[4]]);
        one.merge(&two).unwrap();
        assert_eq!(
            one.of_api("f"),
            [BlockSet::from([1, 4]), BlockSet::from([2, 3])]
        );
        let other = record(&[("a", "another build")], "g", &[&[1]]);
        assert!(one.merge(&other).is_err());
        // Two files of one name in one package are two modules.
        let mut twins = record(&[("a", "1"), ("a", "2")], "f", &[&[1], &[2]]);
        twins.modules[0].path = "package/x/a.so".into();
        twins.modules[1].path = "package/y/a.so".into();
        let mut united = CoverageRecord::default();
        united.merge(&twins).unwrap();
        assert_eq!(united.of_api("f"), twins.of_api("f"));
    }
}
