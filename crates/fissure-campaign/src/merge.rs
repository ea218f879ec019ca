//! The shards of a campaign, joined into one run folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fissure_triage::read_findings;

use crate::event_log::{EventLog, read_events};
use crate::fold::fold_findings;
use crate::index::ApiIndex;
use crate::plan::{CampaignFolder, CampaignPlan, Shard, write_whole};
use crate::record::{Record, Stamped};
use crate::run::CampaignError;
use crate::store::{RunFolder, RunHeader, StoreError, json_text};
use crate::{ApiSummary, EVENTS_FILE, RunSummary};

/// What the merged run folder is made of.
const PARTS: [&str; 5] = [
    "findings",
    "folded",
    EVENTS_FILE,
    "run.json",
    "summary.json",
];

#[derive(Debug)]
pub struct Merged {
    pub summary: RunSummary,
    /// Shards of which there is nothing yet.
    pub missing: Vec<usize>,
}

/// What is collected from the shards.
#[derive(Default)]
struct Collected {
    header: Option<RunHeader>,
    events: Vec<Stamped>,
    finished: BTreeMap<ApiIndex, ApiSummary>,
    skipped: BTreeMap<ApiIndex, (String, String)>,
    missing: Vec<usize>,
    seconds: f64,
    silenced: u64,
    interrupted: bool,
}

/// Joins what the shards have so far. Shards are only read; what an earlier merge made is replaced,
/// and is whole at every moment but that of the exchange.
pub fn merge(campaign: &CampaignFolder, plan: &CampaignPlan) -> Result<Merged, CampaignError> {
    let partial = campaign.path().join(".merging");
    remove(&partial)?;
    let findings = partial.join("findings");
    fs::create_dir_all(&findings).map_err(StoreError::at("make", &findings))?;
    let mut collected = Collected::default();
    for index in 0..plan.shards {
        let shard = Shard {
            index,
            count: plan.shards,
        };
        collected.add(&campaign.shard(shard), shard)?;
        copy_findings(&campaign.shard(shard), &findings)?;
    }
    let folded = fold_findings(&partial)?;
    let summary = collected.summary(&findings)?;
    collected.write_events(&partial, &folded, summary.interrupted)?;
    if let Some(header) = &collected.header {
        let header = RunHeader {
            command: plan.command.clone(),
            folder: plan.folder.clone(),
            ..header.clone()
        };
        let path = partial.join("run.json");
        write_whole(&path, &json_text(&header, &path)?)?;
    }
    let path = partial.join("summary.json");
    write_whole(&path, &json_text(&summary, &path)?)?;
    for part in PARTS {
        let (from, to) = (partial.join(part), campaign.path().join(part));
        remove(&to)?;
        if from.exists() {
            fs::rename(&from, &to).map_err(StoreError::at("write", &to))?;
        }
    }
    remove(&partial)?;
    Ok(Merged {
        summary,
        missing: collected.missing,
    })
}

impl Collected {
    fn add(&mut self, folder: &Path, shard: Shard) -> Result<(), CampaignError> {
        if !folder.join(EVENTS_FILE).exists() {
            self.missing.push(shard.index);
            return Ok(());
        }
        if self.header.is_none() {
            self.header = Some(RunFolder::read_header(folder)?);
        }
        let path = folder.join(EVENTS_FILE);
        let events: Vec<Stamped> = read_events(folder).map_err(StoreError::at("read", &path))?;
        for mut event in events {
            if let Some(at) = event.record.position_mut() {
                *at = shard.in_plan(*at).when_joined();
            }
            match &event.record {
                Record::Finished { at, summary } | Record::Fuzzed { at, summary } => {
                    self.finished.insert(*at, ApiSummary::clone(summary));
                }
                Record::Skipped { at, api, reason } => {
                    self.skipped.insert(*at, (api.clone(), reason.clone()));
                }
                Record::Batch { seconds, .. } => self.seconds = self.seconds.max(*seconds),
                // One run, told once.
                Record::Run(_) | Record::End { .. } => continue,
                _ => {}
            }
            self.events.push(event);
        }
        let summary = folder.join("summary.json");
        if let Ok(text) = fs::read(&summary) {
            let summary: RunSummary = serde_json::from_slice(&text)
                .map_err(|error| StoreError::at("read", &summary)(error.into()))?;
            self.silenced += summary.silenced;
            self.interrupted |= summary.interrupted;
            self.seconds = self.seconds.max(summary.elapsed.as_secs_f64());
        } else {
            self.interrupted = true;
        }
        Ok(())
    }

    fn summary(&mut self, findings: &Path) -> Result<RunSummary, CampaignError> {
        let mut summary = RunSummary {
            silenced: self.silenced,
            interrupted: self.interrupted || !self.missing.is_empty(),
            elapsed: std::time::Duration::try_from_secs_f64(self.seconds).unwrap_or_default(),
            ..RunSummary::default()
        };
        for api in self.finished.values_mut() {
            api.findings.clear();
            api.notes.clear();
        }
        for found in read_findings(findings).map_err(CampaignError::Finding)? {
            let finding = found.finding.map_err(CampaignError::Finding)?;
            let of = |api: &&mut ApiSummary| api.api.path == finding.api.path;
            let api = self.finished.values_mut().find(of);
            if finding.is_note() {
                summary.notes += 1;
                api.into_iter()
                    .for_each(|api| api.notes.push(finding.id.clone()));
            } else {
                summary.findings += 1;
                let flaky = finding.reproduction.is_some_and(|it| !it.is_stable());
                summary.flaky += u64::from(flaky);
                api.into_iter()
                    .for_each(|api| api.findings.push(finding.id.clone()));
            }
        }
        summary.apis = self.finished.values().cloned().collect();
        let left = self
            .skipped
            .iter()
            .filter(|(at, _)| !self.finished.contains_key(at));
        summary.skipped = left.map(|(_, skipped)| skipped.clone()).collect();
        Ok(summary)
    }

    /// One log, in the order in which things happened.
    fn write_events(
        &mut self,
        folder: &Path,
        folded: &[(String, String)],
        interrupted: bool,
    ) -> Result<(), StoreError> {
        self.events.sort_by(|one, other| {
            one.time
                .partial_cmp(&other.time)
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut log = EventLog::open(folder).map_err(StoreError::at("write", folder))?;
        let mut append =
            |event: &Stamped| log.append(event).map_err(StoreError::at("write", folder));
        let last = self.events.last().and_then(|event| event.time);
        if let Some(header) = &self.header {
            append(&Stamped {
                time: self.events.first().and_then(|event| event.time),
                record: Record::Run(header.clone()),
            })?;
        }
        for event in &self.events {
            append(event)?;
        }
        for (id, into) in folded {
            append(&Stamped {
                time: last,
                record: Record::Folded {
                    id: id.clone(),
                    into: into.clone(),
                },
            })?;
        }
        append(&Stamped {
            time: last,
            record: Record::End { interrupted },
        })?;
        log.sync().map_err(StoreError::at("write", folder))
    }
}

/// Copies the finding folders of a shard.
fn copy_findings(shard: &Path, to: &Path) -> Result<(), StoreError> {
    let findings = shard.join("findings");
    for folder in list(&findings)? {
        let name = folder.file_name().unwrap_or_default();
        // Those that are being written begin with a dot.
        if name.to_string_lossy().starts_with('.') || !folder.is_dir() {
            continue;
        }
        let target = to.join(name);
        fs::create_dir_all(&target).map_err(StoreError::at("make", &target))?;
        for file in list(&folder)? {
            let copy = target.join(file.file_name().unwrap_or_default());
            fs::copy(&file, &copy).map_err(StoreError::at("write", &copy))?;
        }
    }
    Ok(())
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(StoreError::at("read", folder))?,
    };
    entries
        .map(|entry| Ok(entry.map_err(StoreError::at("read", folder))?.path()))
        .collect()
}

fn remove(path: &Path) -> Result<(), StoreError> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::at("replace", path)(error))
        }
        _ => Ok(()),
    }
}
