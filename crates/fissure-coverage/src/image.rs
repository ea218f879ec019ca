//! A file of machine code: its functions and where their basic blocks begin.

use std::fs::File;
use std::path::{Path, PathBuf};

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, UnwindSection};
use memmap2::Mmap;
use object::elf::{FileHeader64, PF_X, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use crate::cache;
use crate::error::CoverageError;
use crate::functions::block_starts;
use crate::python_lines;

type Header = FileHeader64<object::LittleEndian>;
const ENDIAN: object::LittleEndian = object::LittleEndian;

/// A function as the unwinding tables know it, in addresses of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub start: u32,
    pub end: u32,
}

/// The code of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub path: PathBuf,
    /// In hexadecimal: the linker's fingerprint of the file, or its size and time where it has none.
    pub build_id: String,
    /// Sorted, without overlaps.
    pub functions: Vec<Function>,
    /// Addresses in the file at which basic blocks begin, sorted.
    pub blocks: Vec<u32>,
    /// The loaded part that is executed: address in the file, position in the file, length.
    pub text: Segment,
}

/// A part of the file that is loaded as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    pub position: u64,
    pub length: u64,
}

impl Image {
    /// Reads the file, or what was found in it before: `cache` is a folder for that. A folder is a package of Python
    /// files, whose lines are the blocks.
    pub fn open(path: &Path, cache: Option<&Path>) -> Result<Image, CoverageError> {
        if python_lines::is_python(path) {
            return python_lines::open(path);
        }
        let file = File::open(path).map_err(CoverageError::read(path))?;
        // SAFETY: the file is part of an installed library, which installers replace instead of
        // changing; a change would give other blocks, which the trap's own check of the byte survives.
        let data = unsafe { Mmap::map(&file) }.map_err(CoverageError::read(path))?;
        let outline = Outline::of(path, &data)?;
        let known = cache.and_then(|folder| cache::load(folder, &outline.build_id));
        let (functions, blocks) = match known {
            Some(known) => known,
            None => {
                let functions = outline.functions(path, &data)?;
                let blocks = block_starts(&data, &outline.segments, &functions);
                if let Some(folder) = cache {
                    cache::save(folder, &outline.build_id, &functions, &blocks)?;
                }
                (functions, blocks)
            }
        };
        Ok(Image {
            path: path.to_owned(),
            build_id: outline.build_id,
            functions,
            blocks,
            text: outline.text,
        })
    }

    /// Without folder and version: `libtorch_cpu`.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        let name = name.to_string_lossy();
        if python_lines::is_python(&self.path) {
            let name = name.trim_end_matches(".py");
            return format!("{name} (Python)");
        }
        name.split(".so").next().unwrap_or(&name).to_owned()
    }
}

/// What the headers say.
struct Outline {
    build_id: String,
    segments: Vec<Segment>,
    text: Segment,
}

impl Outline {
    fn of(path: &Path, data: &[u8]) -> Result<Outline, CoverageError> {
        let garbled = |error: object::Error| CoverageError::garbled(path, error);
        let header = Header::parse(data).map_err(garbled)?;
        let mut segments = Vec::new();
        let mut text = Segment::default();
        let mut build_id = None;
        for segment in header.program_headers(ENDIAN, data).map_err(garbled)? {
            if let Ok(Some(mut notes)) = segment.notes(ENDIAN, data) {
                while let Ok(Some(note)) = notes.next() {
                    if note.name() == b"GNU" && note.n_type(ENDIAN) == object::elf::NT_GNU_BUILD_ID
                    {
                        build_id = Some(hexadecimal(note.desc()));
                    }
                }
            }
            if segment.p_type(ENDIAN) != PT_LOAD || segment.p_flags(ENDIAN) & PF_X == 0 {
                continue;
            }
            let (position, length) = segment.file_range(ENDIAN);
            let found = Segment {
                address: segment.p_vaddr(ENDIAN),
                position,
                length,
            };
            if found.length > text.length {
                text = found;
            }
            segments.push(found);
        }
        if text.length == 0 {
            return Err(CoverageError::garbled(path, "it has no code"));
        }
        let build_id = build_id.unwrap_or_else(|| format!("size{}", data.len()));
        Ok(Outline {
            build_id,
            segments,
            text,
        })
    }

    /// Every function with an unwinding entry, inside the executed part.
    fn functions(&self, path: &Path, data: &[u8]) -> Result<Vec<Function>, CoverageError> {
        let garbled = |error: object::Error| CoverageError::garbled(path, error);
        let header = Header::parse(data).map_err(garbled)?;
        let sections = header.sections(ENDIAN, data).map_err(garbled)?;
        let Some((_, section)) = sections.section_by_name(ENDIAN, b".eh_frame") else {
            return Err(CoverageError::garbled(path, "it has no unwinding tables"));
        };
        let bytes = section.data(ENDIAN, data).map_err(garbled)?;
        let frames = EhFrame::new(bytes, LittleEndian);
        let mut bases = BaseAddresses::default().set_eh_frame(section.sh_addr(ENDIAN));
        if let Some((_, text)) = sections.section_by_name(ENDIAN, b".text") {
            bases = bases.set_text(text.sh_addr(ENDIAN));
        }
        let mut functions = Vec::new();
        let mut entries = frames.entries(&bases);
        // A broken entry ends the list: what comes after it cannot be found.
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let parsed = partial.parse(|_, bases, offset| {
                EhFrame::<EndianSlice<'_, LittleEndian>>::cie_from_offset(&frames, bases, offset)
            });
            let Ok(fde) = parsed else { continue };
            let (start, end) = (fde.initial_address(), fde.end_address());
            let inside = start >= self.text.address && end <= self.text.address + self.text.length;
            if let (Ok(start), Ok(end), true) = (u32::try_from(start), u32::try_from(end), inside)
                && start < end
            {
                functions.push(Function { start, end });
            }
        }
        functions.sort_unstable();
        functions.dedup_by(|next, kept| next.start < kept.end);
        Ok(functions)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
