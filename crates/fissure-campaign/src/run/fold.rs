//! What turned out to be the failure of another API is told by that one.

use super::{CampaignError, Run};
use crate::RunEvent;
use crate::fold::fold_findings;
use crate::record::Record;

impl Run<'_> {
    pub(super) fn fold_findings(&mut self) -> Result<(), CampaignError> {
        for (id, into) in fold_findings(self.folder.path())? {
            self.folder.append(&Record::Folded {
                id: id.clone(),
                into: into.clone(),
            })?;
            for found in &mut self.found {
                let before = found.findings.len();
                found.findings.retain(|known| *known != id);
                self.summary.findings -= (before - found.findings.len()) as u64;
                let before = found.notes.len();
                found.notes.retain(|known| *known != id);
                self.summary.notes -= (before - found.notes.len()) as u64;
            }
            (self.observer)(RunEvent::Folded {
                id: &id,
                into: &into,
            });
        }
        Ok(())
    }
}
