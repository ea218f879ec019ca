//! A file of machine code: its segments, its unwinding tables and its symbols.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian,
    UnwindSection,
};
use memmap2::Mmap;
use object::elf::{FileHeader64, PT_LOAD, SectionHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable};

use super::symbols;
use fissure_coverage::names::module_name;

/// A target that makes and loads libraries without end must not fill our address space.
const MOST_MODULES: usize = 256;
const POINTER_SIZE: u8 = 8;

pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Header = FileHeader64<object::LittleEndian>;

/// Files that a crash has led through, for the crashes to come: each crash of one bug passes the
/// same ones, and the workers of all pools and the confirming scripts load the same library.
static MODULES: LazyLock<Mutex<HashMap<Identity, Option<Arc<Module>>>>> =
    LazyLock::new(Mutex::default);

/// A file, and that it is still the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

#[derive(Debug)]
struct Segment {
    /// In the file.
    bytes: Range<u64>,
    address: u64,
}

/// A section of the file and the address it was linked for.
#[derive(Debug)]
struct Section {
    bytes: Range<usize>,
    address: u64,
}

#[derive(Debug)]
struct Tables {
    index: Section,
    frames: Section,
    bases: BaseAddresses,
}

#[derive(Debug)]
pub(super) struct Module {
    /// Without folder and version: `libtorch_cpu`.
    pub name: String,
    data: Mmap,
    segments: Vec<Segment>,
    tables: Option<Tables>,
    /// Names of functions that were asked for before, by the address asked for.
    known: Mutex<HashMap<u64, Option<String>>>,
}

/// What the unwinding tables say about one function.
pub(super) struct Entry<'a> {
    pub frames: EhFrame<Bytes<'a>>,
    pub bases: &'a BaseAddresses,
    pub description: FrameDescriptionEntry<Bytes<'a>>,
}

/// The module of a file; `None` when it cannot be read or is no machine code for this processor.
pub(super) fn load(path: &Path) -> Option<Arc<Module>> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let identity = Identity {
        path: path.to_owned(),
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    };
    let mut modules = lock(&MODULES);
    if let Some(module) = modules.get(&identity) {
        return module.clone();
    }
    if modules.len() >= MOST_MODULES {
        modules.clear();
    }
    let module = Module::open(path, &file).map(Arc::new);
    modules.insert(identity, module.clone());
    module
}

impl Module {
    fn open(path: &Path, file: &File) -> Option<Module> {
        // SAFETY: the file is part of an installed program, and installers replace files instead
        // of changing them; the target itself cannot write there. Reading 400 megabytes of
        // libtorch for a few hundred bytes is what the mapping avoids.
        let data = unsafe { Mmap::map(file) }.ok()?;
        let bytes = &data[..];
        let endian = object::LittleEndian;
        let header = Header::parse(bytes).ok()?;
        let segments = header
            .program_headers(endian, bytes)
            .ok()?
            .iter()
            .filter(|segment| segment.p_type(endian) == PT_LOAD)
            .map(|segment| {
                let (start, size) = segment.file_range(endian);
                Segment {
                    bytes: start..start.saturating_add(size),
                    address: segment.p_vaddr(endian),
                }
            })
            .collect();
        // A program without section headers still has its mapping, and thereby a name.
        let tables = header
            .sections(endian, bytes)
            .ok()
            .and_then(|sections| Tables::find(&sections, bytes.len()));
        Some(Module {
            name: module_name(path),
            segments,
            tables,
            known: Mutex::default(),
            data,
        })
    }

    /// The address that a byte of the file was linked for.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|segment| segment.bytes.contains(&offset))?;
        (offset - segment.bytes.start).checked_add(segment.address)
    }

    /// What the unwinding tables say about the function with the instruction at `address`.
    pub(super) fn entry(&self, address: u64) -> Option<Entry<'_>> {
        let tables = self.tables.as_ref()?;
        let bytes = |section: &Section| &self.data[section.bytes.clone()];
        let index = EhFrameHdr::new(bytes(&tables.index), LittleEndian)
            .parse(&tables.bases, POINTER_SIZE)
            .ok()?;
        let mut frames = EhFrame::new(bytes(&tables.frames), LittleEndian);
        if cfg!(target_arch = "aarch64") {
            frames.set_vendor(gimli::Vendor::AArch64);
        }
        let description = index
            .table()?
            .fde_for_address(&frames, &tables.bases, address, EhFrame::cie_from_offset)
            .ok()?;
        Some(Entry {
            frames,
            bases: &tables.bases,
            description,
        })
    }

    /// Names of the functions around these addresses. `None` for one that has none.
    pub(super) fn names(&self, addresses: &[u64]) -> Vec<Option<String>> {
        let mut known = lock(&self.known);
        let mut unknown: Vec<symbols::Wanted> = addresses
            .iter()
            .filter(|address| !known.contains_key(address))
            .map(|&address| symbols::Wanted {
                address,
                function: self.function(address),
            })
            .collect();
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            let names = symbols::find(&self.data, &unknown);
            known.extend(unknown.iter().map(|wanted| wanted.address).zip(names));
        }
        addresses
            .iter()
            .map(|address| known.get(address).cloned().flatten())
            .collect()
    }

    /// Where the function with the instruction at `address` begins.
    pub(super) fn function(&self, address: u64) -> Option<u64> {
        Some(self.entry(address)?.description.initial_address())
    }
}

impl Tables {
    fn find(sections: &SectionTable<'_, Header>, length: usize) -> Option<Tables> {
        let endian = object::LittleEndian;
        let section = |name: &str| {
            let (_, header) = sections.section_by_name(endian, name.as_bytes())?;
            section_of(header, length)
        };
        let index = section(".eh_frame_hdr")?;
        let frames = section(".eh_frame")?;
        let mut bases = BaseAddresses::default()
            .set_eh_frame_hdr(index.address)
            .set_eh_frame(frames.address);
        if let Some(text) = section(".text") {
            bases = bases.set_text(text.address);
        }
        Some(Tables {
            index,
            frames,
            bases,
        })
    }
}

/// `None` for a section that lies outside of the file, or is not kept there.
fn section_of(header: &SectionHeader64<object::LittleEndian>, length: usize) -> Option<Section> {
    let endian = object::LittleEndian;
    let (start, size) = header.file_range(endian)?;
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    (end <= length).then(|| Section {
        bytes: start..end,
        address: header.sh_addr(endian),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic elsewhere leaves is a smaller cache.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopsy::maps;

    /// A function of the C library: its names are in the file also where ours are stripped.
    fn malloc() -> (Arc<Module>, u64) {
        let code = libc::malloc as unsafe extern "C" fn(usize) -> *mut libc::c_void as usize as u64;
        let mappings = maps::executable(std::process::id().cast_signed()).unwrap();
        let mapping = maps::find(&mappings, code).unwrap();
        let module = load(mapping.path.as_deref().unwrap()).unwrap();
        let offset = code - mapping.addresses.start + mapping.offset;
        let address = module.address(offset).unwrap();
        (module, address)
    }

    #[test]
    fn a_function_of_this_process_is_found_by_its_address() {
        let (module, address) = malloc();
        assert_eq!(module.function(address + 1), Some(address));
        let names = module.names(&[address, address + 1, u64::MAX]);
        let name = names[0].as_deref().unwrap();
        assert!(name.ends_with("malloc"), "{name}");
        assert_eq!(names[0], names[1]);
        assert_eq!(names[2], None);
    }

    #[test]
    fn a_file_is_read_once_and_again_when_it_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("liba.so.1");
        std::fs::copy("/proc/self/exe", &path).unwrap();
        let first = load(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &load(&path).unwrap()));
        assert_eq!(first.name, "liba");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "no machine code").unwrap();
        assert!(load(&path).is_none());
        assert!(load(&folder.path().join("absent")).is_none());
    }
}
