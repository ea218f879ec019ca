//! What an earlier process of the same run has found.

use super::{CampaignError, Run, found_record};
use crate::RunEvent;
use crate::index::ApiIndex;
use crate::record::Record;
use crate::replayer::{StoredFinding, stored_findings};

impl Run<'_> {
    /// Counts what an interrupted process had found.
    pub(super) fn restore(&mut self) -> Result<(), CampaignError> {
        for damage in std::mem::take(&mut self.restored.damage) {
            (self.observer)(RunEvent::Warning {
                message: format!("{damage}; it is done again"),
            });
        }
        self.summary.flaky = self.restored.flaky;
        self.summary.silenced = self.restored.silenced;
        for stored in stored_findings(self.folder.path()).map_err(CampaignError::Finding)? {
            let stored = stored.map_err(CampaignError::Finding)?;
            if !self.is_untried(&stored) {
                self.collector.know(&stored.finding);
                self.count_unlogged(&stored)?;
            }
        }
        let untried = &self.untried;
        let found = &mut self.restored.found;
        found.retain(|(_, id, _)| !untried.contains_key(id));
        for (at, id, note) in std::mem::take(&mut self.restored.found) {
            // The specs may have become fewer since.
            if at.get() < self.found.len() {
                self.count(at, id, note);
            }
        }
        Ok(())
    }

    /// A finding whose folder was written in the moment the process ended: what is on disk counts.
    pub(super) fn count_unlogged(&mut self, stored: &StoredFinding) -> Result<(), CampaignError> {
        let finding = &stored.finding;
        let logged = &mut self.restored.found;
        if logged.iter().any(|(_, id, _)| *id == finding.id) {
            return Ok(());
        }
        let position = ApiIndex::of(&self.apis, |api| {
            api.path == finding.api.path && api.title == finding.api.title
        });
        let Some(at) = position else { return Ok(()) };
        logged.push((at, finding.id.clone(), finding.is_note()));
        let record = found_record(at, finding);
        if let Record::Found {
            failures,
            runs,
            note: false,
            ..
        } = record
        {
            self.summary.flaky += u64::from(failures < runs);
        }
        self.folder.append(&record)?;
        Ok(self.folder.sync()?)
    }

    /// A finding or note that was written as it was when the process ended: it is met again, and told anew. It
    /// stays where it is meanwhile.
    pub(super) fn is_untried(&mut self, stored: &StoredFinding) -> bool {
        let finding = &stored.finding;
        let is_told = if finding.is_note() {
            !super::triage::is_early(finding)
        } else {
            finding.reproduction.is_some()
        };
        if is_told {
            return false;
        }
        let Some(at) = self.position(stored) else {
            return false;
        };
        let id = finding.id.clone();
        self.untried.insert(id, (at, finding.clone()));
        true
    }
}
