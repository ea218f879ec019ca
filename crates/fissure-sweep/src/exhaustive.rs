//! All numbers of `float32`: parts that are kept as files, so that a sweep can be stopped, go on, and be shared out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::report::{Crash, Finding, Profile, Report, Skipped};
use crate::run::{End, Event, Heard, Options, SweepError, Task, conversation};

/// Parts of the numbers in their order, as `exhaustive.py` cuts them.
pub const PARTS: u32 = 256;
/// Patterns between two wrong elements that still belong to one interval.
const GAP: u64 = 1 << 16;
/// Intervals that are told of one function.
const MOST: usize = 16;

/// How often a part that takes too long is tried, each time with twice the time: the machine may have been busy.
const TRIES: u32 = 3;

/// Which of the parts are done here, and where they are kept.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// One file for each function, version and part.
    pub folder: PathBuf,
    /// This share of all parts, counted from one, of so many.
    pub shard: (u32, u32),
}

/// What one part of the numbers showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub number: u32,
    pub elements: u64,
    pub seconds: f64,
    #[serde(default)]
    pub worst: f64,
    #[serde(default)]
    pub worst_at: Option<String>,
    /// Elements further away than the key.
    #[serde(default)]
    pub above: BTreeMap<String, u64>,
    #[serde(default)]
    pub findings: Vec<Placed>,
    /// The process ended in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
    /// It took too long: the next run tries it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
}

/// A finding with the places of its ends in the order of all numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Placed {
    pub places: (u64, u64),
    #[serde(flatten)]
    pub finding: Finding,
}

/// Sweeps the parts of the shard that are not there yet, then puts together functions of which all parts are there.
pub fn exhaustive(
    options: &Options,
    kept: &Exhaustive,
    mut tell: impl FnMut(Event<'_>),
) -> Result<Report, SweepError> {
    let mut report = Report {
        library: options.library.clone(),
        ..Report::default()
    };
    for function in &options.functions {
        let folder = kept.folder.join(function);
        fs::create_dir_all(&folder)?;
        one(
            options,
            kept.shard,
            function,
            &folder,
            &mut report,
            &mut tell,
        )?;
        let parts = read(&folder)?;
        let missing = PARTS as usize - parts.len();
        if missing > 0 {
            tell(Event::Unfinished { function, missing });
            continue;
        }
        let crashed = parts.iter().filter_map(|part| part.crash.as_ref());
        for how in crashed {
            report.crashes.push(Crash {
                function: function.clone(),
                dtype: "float32".to_owned(),
                how: how.clone(),
            });
        }
        let profile = merged(function, &parts);
        tell(Event::Swept(&profile));
        report.profiles.push(profile);
    }
    Ok(report)
}

/// The parts of one function that are still missing.
fn one(
    options: &Options,
    (shard, shards): (u32, u32),
    function: &str,
    folder: &Path,
    report: &mut Report,
    tell: &mut impl FnMut(Event<'_>),
) -> Result<(), SweepError> {
    let mine = |number: &u32| number % shards == shard - 1;
    let all: Vec<u32> = (0..PARTS).filter(mine).collect();
    let kept = read(folder)?;
    // What took too long in an earlier run may have met a busy machine.
    let mut again: BTreeSet<u32> = (kept.iter())
        .filter(|part| part.timed_out && mine(&part.number))
        .map(|part| part.number)
        .collect();
    let mut tries: BTreeMap<u32, u32> = BTreeMap::new();
    loop {
        let late = |number: &u32| tries.get(number).copied().unwrap_or(0);
        let mut left: Vec<u32> = (all.iter().copied())
            .filter(|number| again.contains(number) || !file(folder, *number).is_file())
            .collect();
        let mut done = all.len() - left.len();
        let Some(round) = left.iter().map(late).min() else {
            return Ok(());
        };
        // Those that took too long come after all others.
        left.retain(|number| late(number) == round);
        let mut first = left[0];
        let mut skipped: Option<Skipped> = None;
        let mut failed = None;
        let settings = Options {
            functions: vec![function.to_owned()],
            dtypes: vec!["float32".to_owned()],
            timeout: options.timeout * (1 << round),
            ..options.clone()
        };
        let ended = conversation(
            &settings,
            &Task::Parts(&left),
            &mut report.version,
            |heard| match heard {
                Heard::Part(part) => {
                    if let Err(error) = write(folder, &part) {
                        failed.get_or_insert(error);
                    }
                    again.remove(&part.number);
                    done += 1;
                    tell(Event::Part {
                        function,
                        done,
                        of: all.len(),
                        seconds: part.seconds,
                    });
                    first = next_after(&left, part.number);
                }
                Heard::Skipped(reason) => skipped = Some(reason),
                Heard::Begins { .. } | Heard::Swept(_) => {}
            },
        )?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        if let Some(skipped) = skipped {
            report.skipped.push(skipped);
            return Ok(());
        }
        if let Some(End { how, timed_out }) = ended {
            // It ended in the part that comes next.
            if timed_out && round + 1 < TRIES {
                tries.insert(first, round + 1);
                continue;
            }
            let crash = Part {
                number: first,
                crash: Some(how),
                timed_out,
                ..Part::default()
            };
            write(folder, &crash)?;
            again.remove(&first);
        }
    }
}

fn next_after(left: &[u32], number: u32) -> u32 {
    let next = left.iter().copied().find(|other| *other > number);
    next.unwrap_or(number)
}

fn file(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:03}.json"))
}

/// Whole or not at all: another shard may look at the same time.
fn write(folder: &Path, part: &Part) -> io::Result<()> {
    let path = file(folder, part.number);
    let unfinished = folder.join(format!("{:03}.unfinished", part.number));
    fs::write(&unfinished, serde_json::to_vec(part)?)?;
    fs::rename(unfinished, path)
}

fn read(folder: &Path) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for number in 0..PARTS {
        match fs::read(file(folder, number)) {
            Ok(bytes) => parts.push(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(parts)
}

/// One profile of all parts; intervals of one kind that meet at the edge of a part are one.
fn merged(function: &str, parts: &[Part]) -> Profile {
    let elements = parts.iter().map(|part| part.elements).sum::<u64>();
    let mut above: BTreeMap<String, f64> = BTreeMap::new();
    for (bound, count) in parts.iter().flat_map(|part| &part.above) {
        *above.entry(bound.clone()).or_default() += *count as f64 / elements.max(1) as f64;
    }
    let worst = (parts.iter()).max_by(|left, right| left.worst.total_cmp(&right.worst));
    let mut joined: Vec<Placed> = Vec::new();
    for placed in parts.iter().flat_map(|part| &part.findings) {
        let near = joined.iter_mut().find(|other| {
            other.finding.kind == placed.finding.kind && placed.places.0 <= other.places.1 + GAP
        });
        match near {
            Some(other) => {
                other.places.1 = other.places.1.max(placed.places.1);
                other.finding.to.clone_from(&placed.finding.to);
                other.finding.count += placed.finding.count;
            }
            None => joined.push(placed.clone()),
        }
    }
    joined.sort_by_key(|placed| std::cmp::Reverse(placed.finding.count));
    let further = joined.len().saturating_sub(MOST) as u64;
    joined.truncate(MOST);
    let mut findings: Vec<Finding> = joined.into_iter().map(|placed| placed.finding).collect();
    if let Some(last) = findings.last_mut() {
        last.further = further;
    }
    let plot = parts.iter().filter_map(|part| {
        let place = part.worst_at.as_ref()?.parse().ok()?;
        Some((place, part.worst))
    });
    Profile {
        function: function.to_owned(),
        dtype: "float32".to_owned(),
        elements,
        seconds: parts.iter().map(|part| part.seconds).sum(),
        worst: worst.map(|part| part.worst),
        worst_at: worst.and_then(|part| part.worst_at.clone()),
        above,
        classes: None,
        findings,
        plot: plot.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, from: u64, to: u64) -> Placed {
        Placed {
            places: (from, to),
            finding: Finding {
                kind: kind.to_owned(),
                from: from.to_string(),
                to: to.to_string(),
                count: to - from + 1,
                mirrored: false,
                alone: true,
                value: from.to_string(),
                observed: String::new(),
                expected: String::new(),
                script: String::new(),
                also: Vec::new(),
                further: 0,
            },
        }
    }

    fn part(number: u32, worst: f64, findings: Vec<Placed>) -> Part {
        Part {
            number,
            elements: 100,
            worst,
            worst_at: Some(number.to_string()),
            above: [("1".to_owned(), u64::from(number))].into(),
            findings,
            ..Part::default()
        }
    }

    #[test]
    fn an_interval_over_the_edge_of_a_part_is_one_and_others_stay_apart() {
        let size = (1_u64 << 32) / u64::from(PARTS);
        let parts = [
            part(0, 1.0, vec![finding("far", size - 10, size - 1)]),
            part(
                1,
                7.0,
                vec![finding("far", size, size + 5), finding("class", size, size)],
            ),
            part(2, 3.0, vec![finding("far", 2 * size + GAP, 2 * size + GAP)]),
        ];
        let profile = merged("torch.f", &parts);
        assert_eq!((profile.elements, profile.worst), (300, Some(7.0)));
        assert_eq!(profile.worst_at.as_deref(), Some("1"));
        assert_eq!(profile.above["1"], 0.01);
        let told: Vec<(&str, u64)> = (profile.findings.iter())
            .map(|it| (it.kind.as_str(), it.count))
            .collect();
        assert_eq!(told, [("far", 16), ("class", 1), ("far", 1)]);
        assert_eq!(profile.findings[0].to, (size + 5).to_string());
    }
}
