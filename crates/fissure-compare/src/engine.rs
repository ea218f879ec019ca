//! The whole comparison: both pools, all APIs in turns, then what was found made small and written.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, unbounded};
use fissure_campaign::{ApiIndex, DenyList, order};
use fissure_execute::{PoolOptions, SandboxOptions, has_gpu};
use fissure_model::{Api, Dtype, Oracle, Spec};

use crate::accuracy::sweep_both;
use crate::behaviour::{Behaviour, Kind, fold};
use crate::event::{CompareError, Event};
use crate::lane::{Apis, Lane, Sides};
use crate::observation::{CLOSELY, MEASURE, OBSERVE};
use crate::options::{CompareOptions, SideOptions, Subject};
use crate::report::{Counts, Report, SideInfo};
use crate::script::{ScriptSide, both_script};
use crate::shrinking::make_small;
use crate::side::Side;
use crate::targets::{Prepared, is_there, prepare};

/// Inputs of the first turn of an API, and of every further one.
const FIRST_TURN: u64 = 32;
const TURN: u64 = 96;
/// Share of the time after which no further turn begins.
const TURNS_END: f64 = 0.72;
const SWEEPS_END: f64 = 0.85;
/// Part of the time after the turns in which measurements are repeated.
const MEASURED_AGAIN: f64 = 0.03;

enum News {
    Found(Vec<Behaviour>),
    Turned { first: bool, inputs: u64 },
}

enum Waiting {
    Unprepared(ApiIndex),
    Lane(Box<Lane>),
}

/// What the threads share.
struct Shared<'a> {
    options: &'a CompareOptions,
    sides: Sides,
    dtypes: Vec<Dtype>,
    deny_list: DenyList,
    queue: Mutex<VecDeque<Waiting>>,
    finished: Mutex<Finished>,
    stop: &'a AtomicBool,
    ends: Option<Instant>,
}

#[derive(Default)]
struct Finished {
    lanes: Vec<Lane>,
    removed: Vec<Api>,
    new: Vec<String>,
    left_out: Vec<(String, String)>,
    unreached: Vec<String>,
}

/// Compares both versions. What is found is told at once, and in the report as it is in the end.
pub fn compare(
    options: &CompareOptions,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Report, CompareError> {
    let begun = Instant::now();
    let scratch = options.workdir.join("scratch");
    make_folder(&scratch)?;
    let (before, after) = thread::scope(|scope| {
        let first = scope.spawn(|| start(options, &options.before, &scratch.join("before")));
        let second = start(options, &options.after, &scratch.join("after"));
        (first.join(), second)
    });
    let before = before.map_err(|_| CompareError::Lost)??;
    let after = after?;
    let infos = (info(&before, &options.before), info(&after, &options.after));
    tell(Event::Began {
        before: &infos.0,
        after: &infos.1,
        apis: options.subjects.len(),
    });
    let other = &after.pool().info().dtypes;
    let dtypes = before.pool().info().dtypes.iter();
    let dtypes = dtypes
        .filter(|dtype| other.contains(dtype))
        .copied()
        .collect();
    let titles = options.subjects.iter().map(|it| it.api().title.as_str());
    let queue = order(titles, options.seed);
    let at = |share: f64| options.total_time.map(|total| begun + total.mul_f64(share));
    let turns_end = if options.sweep > 0 {
        TURNS_END
    } else {
        SWEEPS_END
    };
    let shared = Shared {
        options,
        sides: Sides::new(before, after),
        dtypes,
        deny_list: DenyList::built_in(),
        queue: Mutex::new(queue.into_iter().map(Waiting::Unprepared).collect()),
        finished: Mutex::default(),
        stop,
        ends: at(turns_end),
    };
    run_turns(&shared, tell);
    if let Some(reason) = shared.sides.failure() {
        tell(Event::Warning(format!("it ended early: {reason}")));
    }
    let left = unreached(&shared);
    let mut finished = std::mem::take(&mut *lock(&shared.finished));
    finished.unreached.extend(left);
    let until = at(turns_end + MEASURED_AGAIN);
    for lane in &mut finished.lanes {
        let over = until.is_some_and(|end| Instant::now() >= end);
        if over || stop.load(Ordering::Relaxed) {
            break;
        }
        lane.measure_again(&shared.sides);
    }
    let mut behaviours: Vec<Behaviour> = finished.lanes.iter().flat_map(Lane::behaviours).collect();
    behaviours.extend(finished.removed.iter().map(removed));
    let mut counts = Counts::default();
    for lane in &finished.lanes {
        counts.apis += lane.counts.apis;
        counts.inputs += lane.counts.inputs;
        counts.accepted += lane.counts.accepted;
        counts.explained += lane.counts.explained;
        counts.measured += lane.counts.measured;
    }
    if options.sweep > 0 && !stop.load(Ordering::Relaxed) {
        tell(Event::Phase("accuracy of elementwise functions"));
        match sweep_both(options, &options.sweep_functions) {
            Ok((swept, found)) => {
                counts.swept = swept;
                behaviours.extend(found);
            }
            Err(error) => tell(Event::Warning(format!("no sweeps: failed to {error}"))),
        }
    }
    tell(Event::Phase("making inputs small"));
    let (mut behaviours, known): (Vec<Behaviour>, Vec<Behaviour>) = fold(behaviours)
        .into_iter()
        .map(|mut one| {
            one.known = options.known.reason(&one).map(str::to_owned);
            one
        })
        .partition(|one| one.known.is_none());
    let deadline = at(0.97);
    shrink_all(&shared, &mut behaviours, deadline);
    let sides = [
        script_side(options, &infos.0, &options.before),
        script_side(options, &infos.1, &options.after),
    ];
    for (number, behaviour) in behaviours.iter_mut().enumerate() {
        write_script(options, &sides, number + 1, behaviour)?;
    }
    let Shared { sides, .. } = shared;
    sides.before.stop();
    sides.after.stop();
    // It holds only what targets wrote.
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(Report {
        package: options.package.clone(),
        seed: options.seed,
        before: infos.0,
        after: infos.1,
        counts,
        behaviours,
        known,
        new: finished.new,
        left_out: finished.left_out,
        unreached: finished.unreached,
        elapsed: begun.elapsed(),
    })
}

fn start(
    options: &CompareOptions,
    side: &SideOptions,
    scratch: &Path,
) -> Result<Side, CompareError> {
    make_folder(scratch)?;
    let absolute = |folder: &PathBuf| {
        let found = folder.canonicalize();
        found.map_err(|_| CompareError::NoFolder(folder.clone()))
    };
    let sandboxed = options.sandbox;
    let pool = PoolOptions {
        extra_path: side
            .pythonpath
            .iter()
            .map(absolute)
            .collect::<Result<_, _>>()?,
        imports: options.imports.clone(),
        workers: (options.workers / 2).max(1),
        timeout: options.timeout,
        memory_limit: options.memory_limit,
        sandbox: SandboxOptions {
            confine_writes: sandboxed && !has_gpu(),
            cut_network: sandboxed,
        },
        oracles: Arc::from([OBSERVE, CLOSELY, MEASURE].map(Oracle::from)),
        ..PoolOptions::new(
            &side.python,
            &options.package,
            absolute(&scratch.to_owned())?,
        )
    };
    Ok(Side::start(pool)?)
}

fn info(side: &Side, options: &SideOptions) -> SideInfo {
    let found = side.pool().info();
    SideInfo {
        version: found.library_version.clone(),
        python_version: found.python_version.clone(),
        python: options.python.display().to_string(),
    }
}

/// One thread more than a side has workers, so that nobody waits for the slower side.
fn run_turns(shared: &Shared<'_>, tell: &mut dyn FnMut(Event<'_>)) {
    let (sender, news) = unbounded::<News>();
    let threads = (shared.options.workers / 2).max(1) + 1;
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || while work(shared, &sender) {});
        }
        drop(sender);
        let (mut apis, mut inputs) = (0, 0);
        for one in &news {
            match one {
                News::Found(found) => found.iter().for_each(|it| tell(Event::Found(it))),
                News::Turned { first, inputs: ran } => {
                    apis += usize::from(first);
                    inputs += ran;
                    tell(Event::Progress { apis, inputs });
                }
            }
        }
    });
}

/// One turn of the next API; false when there is nothing left to do.
fn work(shared: &Shared<'_>, sender: &Sender<News>) -> bool {
    let over = shared.ends.is_some_and(|end| Instant::now() >= end);
    if over || shared.stop.load(Ordering::Relaxed) || shared.sides.failure().is_some() {
        return false;
    }
    let Some(waiting) = lock(&shared.queue).pop_front() else {
        return false;
    };
    let (mut lane, first) = match waiting {
        Waiting::Lane(lane) => (lane, false),
        Waiting::Unprepared(at) => match lane_of(shared, &shared.options.subjects[at]) {
            Some(lane) => (Box::new(lane), true),
            None => {
                // A receiver that is gone has no more questions.
                let _ = sender.send(News::Turned {
                    first: true,
                    inputs: 0,
                });
                return true;
            }
        },
    };
    let before = lane.counts.inputs;
    let mut found = lane.turn(&shared.sides, if first { FIRST_TURN } else { TURN });
    if first {
        found.extend(lane.scaled_turn(&shared.sides));
    }
    if first && shared.options.measure {
        found.extend(lane.measure(&shared.sides));
    }
    let _ = sender.send(News::Found(found));
    let _ = sender.send(News::Turned {
        first,
        inputs: lane.counts.inputs - before,
    });
    if lane.is_done() {
        lock(&shared.finished).lanes.push(*lane);
    } else {
        lock(&shared.queue).push_back(Waiting::Lane(lane));
    }
    true
}

/// The lane of an API, unless one of the versions does not have it.
fn lane_of(shared: &Shared<'_>, subject: &Subject) -> Option<Lane> {
    let options = shared.options;
    let api = subject.api();
    if !options.include_denied
        && let Some(denied) = shared.deny_list.check(&api.title)
    {
        let reason = format!("left out by default: it {}", denied.reason);
        lock(&shared.finished)
            .left_out
            .push((api.title.clone(), reason));
        return None;
    }
    let bare: Spec;
    let (spec, saved) = match subject {
        Subject::Spec(spec) => (&**spec, None),
        Subject::Saved(saved) => {
            bare = fissure_rules::bare_spec(saved.api.clone());
            (&bare, Some(saved))
        }
    };
    let pool = shared.sides.before.pool();
    let prepared = match saved {
        Some(saved) if is_there(pool, &api.path) => Ok((Arc::new(saved.api.clone()), None)),
        Some(_) => Err(Prepared::New),
        None => match prepare(pool, spec, &shared.dtypes, options.seed) {
            Prepared::Ready(api, generator) => Ok((api, Some(generator))),
            other => Err(other),
        },
    };
    let other = shared.sides.after.pool();
    let (before, generator) = match prepared {
        Ok(ready) => ready,
        Err(Prepared::LeftOut(reason)) => {
            lock(&shared.finished)
                .left_out
                .push((api.title.clone(), reason));
            return None;
        }
        Err(_) => {
            if is_there(other, &api.path) {
                lock(&shared.finished).new.push(api.title.clone());
            } else {
                let reason = "neither version has it".to_owned();
                lock(&shared.finished)
                    .left_out
                    .push((api.title.clone(), reason));
            }
            return None;
        }
    };
    let after = second_name(options, &before);
    if !is_there(other, &after.path) {
        lock(&shared.finished).removed.push((*before).clone());
        return None;
    }
    let apis = Apis { before, after };
    Some(match (generator, saved) {
        (Some(generator), _) => Lane::drawn(apis, generator, options.max_inputs),
        (None, Some(saved)) => Lane::saved(apis, saved.inputs.clone()),
        (None, None) => return None,
    })
}

/// The API under the name that it has in the second version.
fn second_name(options: &CompareOptions, api: &Arc<Api>) -> Arc<Api> {
    match options.known.renamed(&api.title) {
        None => Arc::clone(api),
        Some(name) => {
            let named = fissure_rules::api_named(name);
            Arc::new(Api {
                title: named.title,
                path: named.path,
                ..(**api).clone()
            })
        }
    }
}

fn unreached(shared: &Shared<'_>) -> Vec<String> {
    let mut titles = Vec::new();
    for waiting in lock(&shared.queue).drain(..) {
        match waiting {
            Waiting::Unprepared(at) => titles.push(shared.options.subjects[at].api().title.clone()),
            // It had its turns; only not as many as were asked for.
            Waiting::Lane(lane) => lock(&shared.finished).lanes.push(*lane),
        }
    }
    titles
}

fn removed(api: &Api) -> Behaviour {
    Behaviour {
        api: api.clone(),
        kind: Kind::Removed,
        detail: "the name is gone".into(),
        before: "there".into(),
        after: "not there".into(),
        call: api.title.clone(),
        inputs: 0,
        also: Vec::new(),
        script: None,
        known: None,
        input: None,
    }
}

fn shrink_all(shared: &Shared<'_>, behaviours: &mut [Behaviour], deadline: Option<Instant>) {
    let next = Mutex::new(behaviours.iter_mut());
    let threads = (shared.options.workers / 2).max(1) + 1;
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(behaviour) = lock(&next).next() else {
                        return;
                    };
                    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
                    let time = shared
                        .options
                        .shrink_time
                        .min(left.unwrap_or(Duration::MAX));
                    if time.is_zero() || shared.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let before = Arc::new(behaviour.api.clone());
                    let after = second_name(shared.options, &before);
                    make_small(&shared.sides, &Apis { before, after }, behaviour, time);
                }
            });
        }
    });
}

fn script_side(options: &CompareOptions, info: &SideInfo, side: &SideOptions) -> ScriptSide {
    let absolute = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    ScriptSide {
        name: format!("{} {}", options.package, info.version),
        python: side.python.clone(),
        pythonpath: side.pythonpath.iter().map(absolute).collect(),
    }
}

fn write_script(
    options: &CompareOptions,
    sides: &[ScriptSide; 2],
    number: usize,
    behaviour: &mut Behaviour,
) -> Result<(), CompareError> {
    let Some(input) = &behaviour.input else {
        return Ok(());
    };
    let before = Arc::new(behaviour.api.clone());
    let after = second_name(options, &before);
    let title = format!(
        "{}: {}: {}",
        behaviour.api.title, behaviour.kind, behaviour.detail
    );
    let text = both_script(&title, behaviour.kind, sides, &before, &after, input);
    let name = fissure_triage::file_name_part(&behaviour.api.title);
    let name = format!("{number:03}-{name}-{}.py", behaviour.kind);
    let folder = options.workdir.join("scripts");
    make_folder(&folder)?;
    let path = folder.join(&name);
    std::fs::write(&path, text).map_err(|source| CompareError::Write {
        path: path.clone(),
        source,
    })?;
    behaviour.script = Some(format!("scripts/{name}"));
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), CompareError> {
    std::fs::create_dir_all(path).map_err(|source| CompareError::Write {
        path: path.to_owned(),
        source,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic elsewhere leaves lists that are still whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
