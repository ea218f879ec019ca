//! Native coverage of a run: which blocks each API reached, and how their number grew.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fissure_coverage::{BlockSet, CoverageError, CoverageRecord, Growth, ModuleRecord};
use fissure_execute::Hit;

/// In a run's folder.
pub const COVERAGE_FILE: &str = "coverage.zst";
/// Between two points of the growth curve.
const GROWTH_STEP: Duration = Duration::from_millis(250);

/// What the hits of a run add up to. Without native coverage there are none, and nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    modules: Vec<ModuleRecord>,
    /// Blocks of each module, by API.
    apis: BTreeMap<String, Vec<BlockSet>>,
    union: Vec<BlockSet>,
    blocks: usize,
    inputs: u64,
    growth: Vec<Growth>,
}

impl Coverage {
    pub(crate) fn new(modules: &[ModuleRecord]) -> Self {
        Coverage {
            modules: modules.to_vec(),
            union: vec![BlockSet::new(); modules.len()],
            ..Default::default()
        }
    }

    /// Blocks that any API has reached.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Takes the hits of a batch; returns those that no API had reached before.
    pub(crate) fn note(
        &mut self,
        api: &str,
        inputs: usize,
        hits: &[Hit],
        elapsed: Duration,
    ) -> Vec<Hit> {
        self.inputs += inputs as u64;
        if hits.is_empty() {
            return Vec::new();
        }
        let count = self.modules.len();
        if !self.apis.contains_key(api) {
            self.apis
                .insert(api.to_owned(), vec![BlockSet::new(); count]);
        }
        let mut new = Vec::new();
        for hit in hits {
            let module = usize::from(hit.module);
            if module >= count {
                continue;
            }
            if let Some(own) = self.apis.get_mut(api) {
                own[module].insert(hit.block);
            }
            if self.union[module].insert(hit.block) {
                self.blocks += 1;
                new.push(*hit);
            }
        }
        if !new.is_empty() {
            self.grow(elapsed);
        }
        new
    }

    fn grow(&mut self, elapsed: Duration) {
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let point = Growth {
            milliseconds,
            inputs: self.inputs,
            blocks: self.blocks,
        };
        let step = GROWTH_STEP.as_millis() as u64;
        match self.growth.last_mut() {
            Some(last) if last.milliseconds / step == milliseconds / step => *last = point,
            _ => self.growth.push(point),
        }
    }

    /// Writes it into a run's folder, with what an earlier process of the run has reached.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), CoverageError> {
        if self.modules.is_empty() {
            return Ok(());
        }
        let path = folder.join(COVERAGE_FILE);
        let mut record = CoverageRecord::new(self.modules.clone());
        for (api, blocks) in &self.apis {
            record.set_api(api, blocks);
        }
        record.growth.clone_from(&self.growth);
        if path.exists() {
            record.merge(&CoverageRecord::load(&path)?)?;
        }
        record.save(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(block: u32) -> Hit {
        Hit {
            module: 0,
            block,
            input: 0,
        }
    }

    #[test]
    fn a_block_is_new_once_for_the_run_and_belongs_to_every_api_that_reached_it() {
        let modules = [ModuleRecord {
            name: "native".into(),
            path: "native.so".into(),
            build_id: "1".into(),
            functions: 1,
            blocks: 9,
        }];
        let mut coverage = Coverage::new(&modules);
        let now = Duration::from_secs(1);
        assert_eq!(coverage.note("f", 5, &[hit(1), hit(2)], now).len(), 2);
        assert_eq!(coverage.note("g", 5, &[hit(2), hit(3)], now), [hit(3)]);
        assert_eq!(coverage.blocks(), 3);
        let folder = tempfile::tempdir().unwrap();
        coverage.save(folder.path()).unwrap();
        let record = CoverageRecord::load(&folder.path().join(COVERAGE_FILE)).unwrap();
        assert_eq!(record.of_api("g"), [BlockSet::from([2, 3])]);
        // A process that continues the run adds to it.
        let mut later = Coverage::new(&modules);
        later.note("f", 1, &[hit(7)], now);
        later.save(folder.path()).unwrap();
        let record = CoverageRecord::load(&folder.path().join(COVERAGE_FILE)).unwrap();
        assert_eq!(record.of_api("f"), [BlockSet::from([1, 2, 7])]);
    }
}
