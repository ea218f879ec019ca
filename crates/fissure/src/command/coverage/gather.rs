//! The coverage of one or several run folders.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fissure_campaign::COVERAGE_FILE;
use fissure_coverage::{BlockSet, CoverageError, CoverageRecord, Image};
use serde::Serialize;

use crate::command::session::BLOCKS;
use crate::exit_status::usage;

/// Shards lie this deep in a campaign's folder.
const DEPTH: usize = 3;

/// Where what was found in files of machine code is kept.
pub(crate) fn cache() -> anyhow::Result<PathBuf> {
    Ok(fissure_environment::Surroundings::from_process()?
        .root
        .join(BLOCKS))
}

/// Has a run, or a shard of it, anything to show?
pub(super) fn has_coverage(folder: &Path) -> anyhow::Result<bool> {
    let mut files = Vec::new();
    find(folder, DEPTH, &mut files)?;
    Ok(!files.is_empty())
}

/// Everything that the runs below these folders reached.
pub(super) fn united(folders: &[PathBuf]) -> anyhow::Result<CoverageRecord> {
    let mut united = CoverageRecord::default();
    for folder in folders {
        if !folder.is_dir() {
            return Err(usage(format!(
                "there is no folder {}, and an API has to be named alone",
                folder.display()
            )));
        }
        let mut files = Vec::new();
        find(folder, DEPTH, &mut files)?;
        if files.is_empty() {
            return Err(usage(format!(
                "{} has no native coverage: was the run begun with --coverage?",
                folder.display()
            )));
        }
        for file in files {
            CoverageRecord::load(&file)
                .and_then(|record| united.merge(&record))
                .map_err(failed)?;
        }
    }
    Ok(united)
}

fn failed(error: CoverageError) -> anyhow::Error {
    anyhow::anyhow!("failed to {error}")
}

fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let file = folder.join(COVERAGE_FILE);
    if file.is_file() {
        files.push(file);
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("failed to list {}", folder.display()))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    folders
        .iter()
        .try_for_each(|folder| find(folder, depth - 1, files))
}

/// What only one of two reached.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub both: usize,
    pub only_first: Side,
    pub only_second: Side,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Side {
    pub blocks: usize,
    /// Functions with such blocks, most first.
    pub functions: Vec<(String, usize)>,
}

pub(super) fn difference(
    first: &CoverageRecord,
    second: &CoverageRecord,
) -> anyhow::Result<Difference> {
    let mut difference = Difference {
        both: 0,
        only_first: Side::default(),
        only_second: Side::default(),
    };
    let (ours, theirs) = (first.union(), second.union());
    let cache = cache()?;
    let empty = BlockSet::new();
    for (place, module) in first.modules.iter().enumerate() {
        let other = second.modules.iter().position(|it| it.name == module.name);
        if let Some(other) = other
            && second.modules[other].build_id != module.build_id
        {
            return Err(usage(format!(
                "{}: the two runs are of different builds of the library, whose blocks cannot be compared",
                module.name
            )));
        }
        let theirs = other.map_or(&empty, |other| &theirs[other]);
        let image = Image::open(&module.path, Some(&cache)).map_err(failed)?;
        difference.both += ours[place].intersection(theirs).count();
        difference
            .only_first
            .add(&image, ours[place].difference(theirs))?;
        difference
            .only_second
            .add(&image, theirs.difference(&ours[place]))?;
    }
    for side in [&mut difference.only_first, &mut difference.only_second] {
        side.functions.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    }
    Ok(difference)
}

impl Side {
    fn add<'a>(
        &mut self,
        image: &Image,
        blocks: impl Iterator<Item = &'a u32>,
    ) -> anyhow::Result<()> {
        let blocks: BlockSet = blocks.copied().collect();
        if blocks.is_empty() {
            return Ok(());
        }
        self.blocks += blocks.len();
        let mut summary = fissure_coverage::Summary::default();
        summary.add(image, &blocks).map_err(failed)?;
        let rows = summary.functions.into_iter();
        self.functions
            .extend(rows.map(|row| (row.function, row.reached_blocks)));
        Ok(())
    }
}
