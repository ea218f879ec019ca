//! Names of functions, from a file's symbol tables.

use std::fs::File;

use memmap2::Mmap;
use object::elf::{FileHeader64, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC, STT_GNU_IFUNC};
use object::read::elf::{FileHeader, Sym};

use crate::error::CoverageError;
use crate::image::Image;
use crate::names::function_name;
use crate::python_lines;

type Header = FileHeader64<object::LittleEndian>;
const ENDIAN: object::LittleEndian = object::LittleEndian;

impl Image {
    /// The symbol of each function, as the file has it; `None` for those without one.
    pub fn symbols(&self) -> Result<Vec<Option<String>>, CoverageError> {
        if python_lines::is_python(&self.path) {
            return python_lines::names(&self.path);
        }
        let file = File::open(&self.path).map_err(CoverageError::read(&self.path))?;
        // SAFETY: as in `Image::open`.
        let data = unsafe { Mmap::map(&file) }.map_err(CoverageError::read(&self.path))?;
        let garbled = |error: object::Error| CoverageError::garbled(&self.path, error);
        let header = Header::parse(&data[..]).map_err(garbled)?;
        let sections = header.sections(ENDIAN, &data[..]).map_err(garbled)?;
        let mut names: Vec<Option<&[u8]>> = vec![None; self.functions.len()];
        for kind in [SHT_SYMTAB, SHT_DYNSYM] {
            let Ok(table) = sections.symbols(ENDIAN, &data[..], kind) else {
                continue;
            };
            for symbol in table.iter() {
                if !matches!(symbol.st_type(), STT_FUNC | STT_GNU_IFUNC) {
                    continue;
                }
                let Ok(start) = u32::try_from(symbol.st_value(ENDIAN)) else {
                    continue;
                };
                let (Ok(position), Ok(name)) = (
                    self.functions.binary_search_by_key(&start, |it| it.start),
                    table.symbol_name(ENDIAN, symbol),
                ) else {
                    continue;
                };
                // Of several names of one function always the same one: the shortest, then the first.
                let better =
                    names[position].is_none_or(|known| (name.len(), name) < (known.len(), known));
                if better && !name.is_empty() {
                    names[position] = Some(name);
                }
            }
        }
        Ok(names
            .into_iter()
            .map(|name| name.map(|name| String::from_utf8_lossy(name).into_owned()))
            .collect())
    }
}

/// The name of a function as people write it, without what the linker added.
pub(crate) fn readable(symbol: &str) -> String {
    function_name(symbol)
}

/// `at::native` of `at::native::add`; the module's own name for C functions.
pub(crate) fn namespace(name: &str) -> Option<&str> {
    let plain = name.split('{').next().unwrap_or(name);
    let plain = plain.trim_end_matches("::");
    let parts: Vec<usize> = plain.match_indices("::").map(|(at, _)| at).collect();
    match parts.as_slice() {
        [] => None,
        [only] => Some(&plain[..*only]),
        [_, second, ..] => Some(&plain[..*second]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_at_most_two_parts_of_a_name() {
        for (name, space) in [
            ("at::native::add", Some("at::native")),
            ("at::native::detail::add", Some("at::native")),
            ("at::add", Some("at")),
            ("at::native::f::{lambda#1}::operator()", Some("at::native")),
            ("memcpy", None),
        ] {
            assert_eq!(namespace(name), space, "{name}");
        }
    }
}
