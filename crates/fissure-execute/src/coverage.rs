//! Native coverage of workers: has the zygote arm the library's code, and reads what workers reached.

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fissure_coverage::handler::{self, ENTRY, LIST_HEADER, State};
use fissure_coverage::{Image, ModuleRecord};
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arena::{Access, Arena};
use crate::error::ExecuteError;
use crate::journal::SLOTS;
use crate::socket::Socket;

/// Hits that a worker can note for one API; what it reaches beyond that is run and not counted.
const CAPACITY: usize = 1 << 19;

/// Batches that a block is reported for before it counts as common, with [`Arming::Rare`].
pub const RARE: u8 = 4;

/// How native coverage is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageOptions {
    /// Folder that keeps what was found in files of machine code.
    pub cache: PathBuf,
    pub arming: Arming,
}

/// When a block that was run is reported again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arming {
    /// When another API begins.
    #[default]
    Once,
    /// Also in each batch, until [`RARE`] of a slot's batches have reached it. What the calls of oracles reach is armed
    /// again when the next batch begins, and not between them: each visit costs microseconds, and oracles reach tens of
    /// thousands of blocks that no input does. So what a batch reports does not depend on what was judged before it.
    Rare,
    /// In each message: a batch of one input reports everything that this input reaches.
    Always,
}

/// A block that a worker ran for the first time since its API began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hit {
    /// Position in [`TargetInfo::modules`](crate::TargetInfo::modules).
    pub module: u16,
    /// Address in the module's file.
    pub block: u32,
    /// Position in the batch of the input that ran.
    pub input: u32,
}

/// A mapping of executable code, as the zygote sees it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Mapping {
    path: PathBuf,
    begin: u64,
    end: u64,
    position: u64,
}

/// What the zygote has loaded.
#[derive(Debug, Deserialize)]
pub(crate) struct Imported {
    native: Vec<Mapping>,
    /// The lines of the target's package, where it is one.
    python: Option<Lines>,
}

/// A byte of memory for each line of a package's Python files.
#[derive(Debug, Deserialize)]
struct Lines {
    folder: PathBuf,
    begin: u64,
    end: u64,
}

#[derive(Clone, Copy, Debug)]
struct Loaded {
    begin: u64,
    end: u64,
    /// What is added to an address of the file.
    bias: u64,
}

/// The library's code in one zygote, and the lists of its slots.
#[derive(Debug)]
pub(crate) struct Armed {
    loaded: Vec<Loaded>,
    pub modules: Vec<ModuleRecord>,
    lists: Arena,
}

#[derive(Serialize)]
struct Plan {
    path: PathBuf,
    begin: u64,
    end: u64,
    position: u64,
    bias: u64,
    /// Where the module's blocks begin in the memory file, and how many there are.
    plan: usize,
    blocks: usize,
}

/// Is this code of the target's packages, and can it run here? The standard library and the system
/// are not what is tested; code for devices is large, and does not run without them.
fn is_wanted(path: &Path, extra_path: &[PathBuf]) -> bool {
    let is = |name: &str| {
        path.components()
            .any(|part| part == Component::Normal(name.as_ref()))
    };
    let packaged = is("site-packages") || is("dist-packages");
    let own = extra_path.iter().any(|folder| path.starts_with(folder));
    let file = path
        .file_name()
        .map_or_else(Default::default, |name| name.to_string_lossy());
    (packaged || own) && !is("nvidia") && !is("cuda") && !file.contains("cuda")
}

impl Armed {
    /// Finds the blocks of the library's files and has the zygote arm them.
    pub(crate) fn new(
        main: &Socket,
        imported: Imported,
        options: &CoverageOptions,
        extra_path: &[PathBuf],
        slots: usize,
    ) -> Result<Armed, ExecuteError> {
        let refused = |reason: String| ExecuteError::Coverage { reason };
        let code = handler::code().ok_or_else(|| refused("it needs Linux on x86-64".to_owned()))?;
        let mut armed = Armed {
            loaded: Vec::new(),
            modules: Vec::new(),
            lists: Arena::new("fissure-coverage", slots * LIST_BYTES, Access::Write)?,
        };
        let mut plans = Vec::new();
        let mut blocks: Vec<u8> = Vec::new();
        for mapping in imported.native {
            if !is_wanted(&mapping.path, extra_path) || plans.len() + 1 == State::MOST_MODULES {
                continue;
            }
            // A file without unwinding tables has nothing to watch; the others do not depend on it.
            let Ok(image) = Image::open(&mapping.path, Some(&options.cache)) else {
                continue;
            };
            let text = image.text;
            let covers = mapping.position <= text.position + text.length
                && mapping.position + (mapping.end - mapping.begin) > text.position;
            if !covers {
                continue;
            }
            let address = text
                .address
                .wrapping_add(mapping.position)
                .wrapping_sub(text.position);
            let bias = mapping.begin.wrapping_sub(address);
            let within = address..address + (mapping.end - mapping.begin);
            let begin = blocks.len();
            let inside = image
                .blocks
                .iter()
                .filter(|block| within.contains(&u64::from(**block)));
            inside.for_each(|block| blocks.extend_from_slice(&block.to_le_bytes()));
            armed.loaded.push(Loaded {
                begin: mapping.begin,
                end: mapping.end,
                bias,
            });
            armed.modules.push(ModuleRecord {
                name: image.name(),
                path: mapping.path.clone(),
                build_id: image.build_id,
                functions: image.functions.len(),
                blocks: image.blocks.len(),
            });
            plans.push(Plan {
                path: mapping.path,
                begin: mapping.begin,
                end: mapping.end,
                position: mapping.position,
                bias,
                plan: begin,
                blocks: (blocks.len() - begin) / 4,
            });
        }
        if let Some(lines) = imported.python
            && let Ok(image) = Image::open(&lines.folder, Some(&options.cache))
        {
            armed.loaded.push(Loaded {
                begin: lines.begin,
                end: lines.end,
                bias: lines.begin,
            });
            armed.modules.push(ModuleRecord {
                name: image.name(),
                path: lines.folder,
                build_id: image.build_id,
                functions: image.functions.len(),
                blocks: image.blocks.len(),
            });
        }
        if armed.modules.is_empty() {
            return Err(refused(
                "the target has loaded no native code of its own, and is no Python package".into(),
            ));
        }
        for slot in 0..slots {
            armed
                .word(slot, 1)
                .store(CAPACITY as u64, Ordering::Relaxed);
        }
        let plan = memory_file(&blocks)?;
        let hexadecimal: String = code
            .bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let reply = json!({
            "code": hexadecimal,
            "arm": code.arm,
            "rearm": code.rearm,
            "list_bytes": LIST_BYTES,
            "modules": plans,
        });
        main.send(
            reply.to_string().as_bytes(),
            &[plan.as_fd(), armed.lists.file()],
        )
        .map_err(ExecuteError::system("send the list of blocks"))?;
        Ok(armed)
    }

    fn word(&self, slot: usize, word: usize) -> &AtomicU64 {
        let offset = slot * LIST_BYTES + 8 * word;
        assert!(offset + 8 <= self.lists.len(), "a list has its words");
        // SAFETY: inside the mapping, aligned to eight bytes, and words that workers write too are
        // only ever read and written as atomics.
        unsafe { &*self.lists.pointer().add(offset).cast::<AtomicU64>() }
    }

    /// What the worker of a slot has noted behind the first `seen` entries, with the number of
    /// the journal's input each was noted with; and how many entries there are now.
    pub(crate) fn noted(&self, slot: usize, seen: usize) -> (Vec<(u16, u32, u64)>, usize) {
        let count = self.word(slot, 0).load(Ordering::Acquire) as usize;
        let count = count.min(CAPACITY);
        let mut hits = Vec::new();
        for entry in seen..count {
            let word = (LIST_HEADER + ENTRY * entry) / 8;
            let address = self.word(slot, word).load(Ordering::Relaxed);
            let current = self.word(slot, word + 1).load(Ordering::Relaxed);
            let module = self
                .loaded
                .iter()
                .position(|it| (it.begin..it.end).contains(&address));
            if let Some(module) = module
                && let Ok(block) = u32::try_from(address.wrapping_sub(self.loaded[module].bias))
            {
                hits.push((module as u16, block, current));
            }
        }
        (hits, count)
    }

    /// Forgets what a slot's worker has noted: the next one begins anew.
    pub(crate) fn clear(&self, slot: usize) {
        self.word(slot, 0).store(0, Ordering::Release);
        self.settle(slot, 0);
    }

    /// Blocks behind the first `settled` entries are armed again when the worker is told to arm.
    fn settle(&self, slot: usize, settled: usize) {
        self.word(slot, LIST_BYTES / 8 - 1)
            .store(settled as u64, Ordering::Release);
    }

    /// Puts the entries that `is_common` says so about before the others, behind the first `seen`; gives
    /// how many entries are settled then. The worker waits meanwhile.
    fn sort(&self, slot: usize, seen: usize, mut is_common: impl FnMut(u64) -> bool) -> usize {
        let count = (self.word(slot, 0).load(Ordering::Acquire) as usize).min(CAPACITY);
        let entries: Vec<(u64, u64)> = (seen..count)
            .map(|entry| {
                let word = (LIST_HEADER + ENTRY * entry) / 8;
                let load = |word| self.word(slot, word).load(Ordering::Relaxed);
                (load(word), load(word + 1))
            })
            .collect();
        let (common, rare): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|(address, _)| is_common(*address));
        let settled = seen + common.len();
        for (entry, (address, current)) in (seen..).zip(common.into_iter().chain(rare)) {
            let word = (LIST_HEADER + ENTRY * entry) / 8;
            self.word(slot, word).store(address, Ordering::Relaxed);
            self.word(slot, word + 1).store(current, Ordering::Relaxed);
        }
        settled
    }
}

/// Bytes of one slot's list, whole pages.
/// The last word tells how many entries are settled.
const LIST_BYTES: usize = (LIST_HEADER + ENTRY * CAPACITY + 8).next_multiple_of(4096);

fn memory_file(bytes: &[u8]) -> Result<OwnedFd, ExecuteError> {
    let file = rustix::fs::memfd_create("fissure-blocks", MemfdFlags::CLOEXEC)
        .map_err(ExecuteError::system("create shared memory"))?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes)
        .map_err(ExecuteError::system("write shared memory"))?;
    Ok(file.into())
}

/// What one slot knows of its worker's list.
#[derive(Debug, Default)]
pub(crate) struct SlotCoverage {
    armed: Option<Arc<Armed>>,
    slot: usize,
    arming: Arming,
    /// Entries that were read; with [`Arming::Rare`] those that are settled.
    seen: usize,
    /// The API whose hits the list has.
    api: Option<String>,
    /// The batch that runs; `None` when it is one of oracles.
    batch: Option<u64>,
    /// By address: how many batches reached it, and the last of them.
    reached: HashMap<u64, (u8, u64)>,
    /// The API that these counts are of: they outlive a worker that an input ended.
    counted: Option<String>,
}

impl SlotCoverage {
    pub(crate) fn new(slot: usize, arming: Arming) -> Self {
        SlotCoverage {
            slot,
            arming,
            ..Default::default()
        }
    }

    /// A new worker runs, forked from the zygote that `armed` is of.
    pub(crate) fn begin_worker(&mut self, armed: Option<Arc<Armed>>) {
        if let Some(armed) = &armed {
            armed.clear(self.slot);
        }
        self.armed = armed;
        self.seen = 0;
        self.api = None;
    }

    /// Must the worker arm again what it has run? `batch` is `None` for one of oracles.
    pub(crate) fn begin_message(&mut self, path: &str, batch: Option<u64>) -> bool {
        let Some(armed) = &self.armed else {
            return false;
        };
        self.batch = batch;
        let same = self.api.as_deref() == Some(path);
        let stays = match self.arming {
            Arming::Once => true,
            Arming::Rare => batch.is_none(),
            Arming::Always => false,
        };
        if same && stays {
            return false;
        }
        if !same || self.arming == Arming::Always {
            self.seen = 0;
        }
        if self.counted.as_deref() != Some(path) || self.arming == Arming::Always {
            self.reached.clear();
            self.counted = Some(path.to_owned());
        }
        armed.settle(self.slot, self.seen);
        if same {
            return true;
        }
        self.api.replace(path.to_owned()).is_some()
    }

    /// Hits since the last time. `first` is the position in the batch of the arena's first input.
    pub(crate) fn take(&mut self, first: usize, hits: &mut Vec<Hit>) {
        let Some(armed) = &self.armed else { return };
        let (noted, count) = armed.noted(self.slot, self.seen);
        // A number that is none comes from a target that wrote where it should not.
        let possible = noted
            .into_iter()
            .filter(|(_, _, current)| *current <= SLOTS as u64);
        hits.extend(possible.map(|(module, block, current)| Hit {
            module,
            block,
            // The journal counts from 1; 0 is between inputs, which belongs to the first.
            input: (first as u64 + current.saturating_sub(1)) as u32,
        }));
        match (self.arming, self.batch) {
            (Arming::Once | Arming::Always, _) => self.seen = count,
            (Arming::Rare, None) => {}
            (Arming::Rare, Some(batch)) => {
                let reached = &mut self.reached;
                self.seen = armed.sort(self.slot, self.seen, |address| {
                    let (count, last) = reached.entry(address).or_insert((0, u64::MAX));
                    if *last != batch {
                        *count = count.saturating_add(1);
                        *last = batch;
                    }
                    *count >= RARE
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_packages_is_watched_and_that_of_the_system_and_of_devices_is_not() {
        let own = [PathBuf::from("/home/me/project")];
        for (path, wanted) in [
            (
                "/env/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so",
                true,
            ),
            (
                "/env/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so",
                false,
            ),
            (
                "/env/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12",
                false,
            ),
            (
                "/env/lib/python3.11/site-packages/cuda/bindings/runtime.so",
                false,
            ),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false),
            ("/home/me/project/ops/_native.so", true),
        ] {
            assert_eq!(is_wanted(Path::new(path), &own), wanted, "{path}");
        }
    }
}
