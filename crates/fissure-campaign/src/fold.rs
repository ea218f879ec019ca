//! Findings of one folder that are one failure met through several APIs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fissure_model::Finding;
use fissure_triage::{fold, read_findings, write_finding};

use crate::run::CampaignError;
use crate::store::StoreError;

/// Where findings go that another one tells as well.
const FOLDED: &str = "folded";

/// Moves each finding that is the failure of another API out of the run folder's findings, and names
/// its API in the other one. Returns what was folded into what, by id.
pub(crate) fn fold_findings(run: &Path) -> Result<Vec<(String, String)>, CampaignError> {
    let findings = run.join("findings");
    let mut stored: Vec<Finding> = Vec::new();
    for found in read_findings(&findings).map_err(CampaignError::Finding)? {
        // One that cannot be read stays where it is.
        stored.extend(found.finding);
    }
    let pairs = fold(&stored);
    let owners: BTreeSet<usize> = pairs.iter().map(|(_, into)| *into).collect();
    for owner in owners {
        let mut aliases: BTreeSet<String> = stored[owner].also_through.iter().cloned().collect();
        let mut ids: BTreeSet<String> = stored[owner].folded.iter().cloned().collect();
        for (at, _) in pairs.iter().filter(|(_, into)| *into == owner) {
            ids.insert(stored[*at].id.clone());
            ids.extend(stored[*at].folded.iter().cloned());
            aliases.insert(stored[*at].api.title.clone());
            aliases.extend(stored[*at].also_through.iter().cloned());
        }
        let mut finding = stored[owner].clone();
        aliases.remove(&finding.api.title);
        finding.also_through = aliases.into_iter().collect();
        finding.folded = ids.into_iter().collect();
        write_finding(&findings, &finding).map_err(CampaignError::Finding)?;
    }
    let folded = run.join(FOLDED);
    for (at, _) in &pairs {
        let (from, to) = (findings.join(&stored[*at].id), folded.join(&stored[*at].id));
        fs::create_dir_all(&folded).map_err(StoreError::at("make", &folded))?;
        if to.exists() {
            fs::remove_dir_all(&to).map_err(StoreError::at("replace", &to))?;
        }
        fs::rename(&from, &to).map_err(StoreError::at("move", &from))?;
    }
    Ok(pairs
        .into_iter()
        .map(|(at, into)| (stored[at].id.clone(), stored[into].id.clone()))
        .collect())
}
