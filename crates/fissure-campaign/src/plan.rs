//! What a campaign does, fixed when it begins.
//!
//! `campaign.json` says what was asked and which APIs that means, `specs.zst` holds what was known
//! of each of them. Files that change or appear later cannot change what a resumed campaign or
//! another shard of it does.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fissure_model::Spec;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::index::{ApiIndex, PlanIndex};
use crate::store::json_text;

const PLAN_FILE: &str = "campaign.json";
const SPECS_FILE: &str = "specs.zst";
const LEVEL: i32 = 3;
/// Specs of every function of the largest libraries take a few percent of this.
const MOST_BYTES: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CampaignPlan {
    pub format: u32,
    pub fissure_version: String,
    /// As it was given, and where: its paths are relative to that folder.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub package: String,
    /// The interpreter that every process of the campaign uses.
    pub python: PathBuf,
    pub seed: u64,
    /// Parts that are done by processes of their own; one: the campaign is one run.
    pub shards: usize,
    pub apis: Vec<PlannedApi>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedApi {
    pub title: String,
    /// How many times the usual share it gets.
    pub weight: f64,
    /// Nothing is known of it yet.
    pub learn: bool,
}

/// One of the parts that a campaign is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: usize,
    pub count: usize,
}

impl Shard {
    /// A campaign that is not divided.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Positions of its APIs. Neighbours are often alike in cost, so each goes to another shard.
    pub fn positions(self, apis: usize) -> impl Iterator<Item = PlanIndex> {
        (self.index..apis)
            .step_by(self.count.max(1))
            .map(PlanIndex::new)
    }

    /// Where in the plan an API of the shard's run is.
    pub(crate) fn in_plan(self, at: ApiIndex) -> PlanIndex {
        PlanIndex::new(at.get() * self.count + self.index)
    }
}

/// The folder of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignFolder {
    path: PathBuf,
}

impl CampaignFolder {
    /// Writes the plan, unless another process of the same campaign has done so meanwhile.
    pub fn create(
        path: &Path,
        plan: &CampaignPlan,
        specs: &[Spec],
    ) -> Result<CampaignFolder, StoreError> {
        crate::store::make_private(path).map_err(StoreError::at("make", path))?;
        let folder = CampaignFolder {
            path: path.to_owned(),
        };
        let specs_path = path.join(SPECS_FILE);
        let json = serde_json::to_vec(specs)
            .map_err(|error| StoreError::at("write", &specs_path)(error.into()))?;
        let packed = zstd::bulk::compress(&json, LEVEL);
        let packed = packed.map_err(StoreError::at("write", &specs_path))?;
        write_whole(&specs_path, &packed)?;
        let plan_path = path.join(PLAN_FILE);
        write_whole(&plan_path, &json_text(plan, &plan_path)?)?;
        Ok(folder)
    }

    /// Whether a campaign was begun in this folder.
    pub fn exists(path: &Path) -> bool {
        path.join(PLAN_FILE).is_file()
    }

    pub fn open(path: &Path) -> Result<(CampaignFolder, CampaignPlan), StoreError> {
        let file = path.join(PLAN_FILE);
        let text = fs::read(&file).map_err(StoreError::at("read", &file))?;
        let plan = serde_json::from_slice(&text)
            .map_err(|error| StoreError::at("read", &file)(error.into()))?;
        let folder = CampaignFolder {
            path: path.to_owned(),
        };
        Ok((folder, plan))
    }

    /// What was known of each API when the campaign began.
    pub fn specs(&self) -> Result<Vec<Spec>, StoreError> {
        let path = self.path.join(SPECS_FILE);
        let read = || -> io::Result<Vec<Spec>> {
            let json = unpack(fs::File::open(&path)?, MOST_BYTES)?;
            Ok(serde_json::from_slice(&json)?)
        };
        read().map_err(StoreError::at("read", &path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run folder of a shard; a campaign that is not divided is its own.
    pub fn shard(&self, shard: Shard) -> PathBuf {
        match shard.count {
            0 | 1 => self.path.clone(),
            _ => self.path.join("shards").join(shard.index.to_string()),
        }
    }

    /// Rules that the campaign itself learns. Each API is learned by one process.
    pub fn invariants(&self) -> PathBuf {
        self.path.join("invariants")
    }
}

/// Writes a file so that a reader sees all of it or nothing, whoever else writes it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // What is left of it is of no use; the error says what happened.
        let _ = fs::remove_file(&partial);
    }
    written.map_err(StoreError::at("write", path))
}

/// What a compressed file holds, unless that is more than `most` bytes: a small file can hold any amount.
fn unpack(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(file)?;
    decoder.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let problem = format!("it holds more than {} MiB", most >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_cannot_ask_for_all_memory() {
        let most = 1 << 20;
        let packed = |bytes: u64| {
            let bytes = io::repeat(0).take(bytes);
            zstd::stream::encode_all(bytes, LEVEL).unwrap()
        };
        let bomb = packed(200 << 20);
        assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
        let error = unpack(bomb.as_slice(), most).unwrap_err();
        assert_eq!(error.to_string(), "it holds more than 1 MiB");
        let all = unpack(packed(most).as_slice(), most).unwrap();
        assert_eq!(all.len() as u64, most);
    }

    #[test]
    fn shards_have_every_api_once() {
        for count in 1..6 {
            let mut all: Vec<PlanIndex> = (0..count)
                .flat_map(|index| Shard { index, count }.positions(17))
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..17).map(PlanIndex::new).collect::<Vec<_>>());
        }
    }

    fn plan() -> CampaignPlan {
        CampaignPlan {
            format: 1,
            fissure_version: "0".into(),
            command: vec!["fissure".into()],
            folder: "/".into(),
            package: "torch".into(),
            python: "python".into(),
            seed: 3,
            shards: 2,
            apis: vec![PlannedApi {
                title: "torch.add".into(),
                weight: 2.0,
                learn: false,
            }],
        }
    }

    #[test]
    fn a_path_that_is_no_text_is_an_error_and_no_panic() {
        use std::os::unix::ffi::OsStringExt;

        let odd: PathBuf = std::ffi::OsString::from_vec(vec![b'a', 0xff]).into();
        let folder = tempfile::tempdir().unwrap();
        let plan = CampaignPlan {
            python: odd,
            ..plan()
        };
        let refused = CampaignFolder::create(folder.path(), &plan, &[]).unwrap_err();
        assert!(refused.to_string().contains(PLAN_FILE), "{refused}");
    }

    #[test]
    fn a_plan_reads_back_with_its_specs() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan();
        assert!(!CampaignFolder::exists(folder.path()));
        CampaignFolder::create(folder.path(), &plan, &[]).unwrap();
        assert!(CampaignFolder::exists(folder.path()));
        let (opened, read) = CampaignFolder::open(folder.path()).unwrap();
        assert_eq!(read, plan);
        assert_eq!(opened.specs().unwrap(), []);
        assert!(
            opened
                .shard(Shard { index: 1, count: 2 })
                .ends_with("shards/1")
        );
        assert_eq!(opened.shard(Shard::WHOLE), folder.path());
    }
}
