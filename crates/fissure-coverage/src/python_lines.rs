//! The lines of a package's Python files, in the form of a file of machine code: a line is a block, a `def` a function.
//!
//! Lines are numbered through all files in the order of their paths, as `fissure_worker/lines.py` does.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::CoverageError;
use crate::image::{Function, Image, Segment};

/// Folders inside folders are searched to this depth.
const DEPTH: usize = 32;

struct Outline {
    functions: Vec<Function>,
    names: Vec<String>,
    /// Lines that say something.
    blocks: Vec<u32>,
    build_id: String,
}

/// The folder of a package, or a file of Python.
pub(crate) fn is_python(path: &Path) -> bool {
    path.is_dir() || path.extension().is_some_and(|it| it == "py")
}

/// The lines of all files below a package's folder.
pub(crate) fn open(folder: &Path) -> Result<Image, CoverageError> {
    let outline = outline(folder)?;
    Ok(Image {
        path: folder.to_owned(),
        build_id: outline.build_id,
        functions: outline.functions,
        blocks: outline.blocks,
        text: Segment::default(),
    })
}

/// `package.module::function` for each function.
pub(crate) fn names(folder: &Path) -> Result<Vec<Option<String>>, CoverageError> {
    Ok(outline(folder)?.names.into_iter().map(Some).collect())
}

fn outline(folder: &Path) -> Result<Outline, CoverageError> {
    let mut files = Vec::new();
    match folder.is_dir() {
        true => collect(folder, DEPTH, &mut files)?,
        false => files.push(folder.to_owned()),
    }
    let relative = |file: &PathBuf| {
        let inner = file.strip_prefix(folder).unwrap_or(file);
        inner.as_os_str().as_bytes().to_vec()
    };
    files.sort_by_key(relative);
    let package = folder
        .file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut hasher = DefaultHasher::new();
    let mut outline = Outline {
        functions: Vec::new(),
        names: Vec::new(),
        blocks: Vec::new(),
        build_id: String::new(),
    };
    let mut begin = 0_u32;
    for file in &files {
        let bytes = fs::read(file).map_err(CoverageError::read(file))?;
        let relative = relative(file);
        let count = outline.add(&package, &String::from_utf8_lossy(&relative), &bytes, begin);
        (relative, count).hash(&mut hasher);
        begin = begin.saturating_add(count);
    }
    outline.build_id = format!("lines{:016x}", hasher.finish());
    Ok(outline)
}

impl Outline {
    /// Adds one file whose first line has the number `begin`; gives how many lines it has.
    fn add(&mut self, package: &str, relative: &str, bytes: &[u8], begin: u32) -> u32 {
        let module = relative.trim_end_matches(".py").replace('/', ".");
        let module = module.trim_end_matches("__init__").trim_end_matches('.');
        let module = match module {
            "" => package.to_owned(),
            module => format!("{package}.{module}"),
        };
        let mut name = "(module)".to_owned();
        let mut start = begin;
        let mut number = begin;
        for line in bytes.split(|byte| *byte == b'\n') {
            let text = line.trim_ascii();
            if let Some(function) = defined(text) {
                self.push(&module, &name, start, number);
                (name, start) = (function, number);
            }
            if !text.is_empty() && !text.starts_with(b"#") {
                self.blocks.push(number);
            }
            number = number.saturating_add(1);
        }
        self.push(&module, &name, start, number);
        number - begin
    }

    fn push(&mut self, module: &str, name: &str, start: u32, end: u32) {
        if start < end {
            self.functions.push(Function { start, end });
            self.names.push(format!("{module}::{name}"));
        }
    }
}

/// The name behind `def`.
fn defined(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix(b"async ").unwrap_or(line);
    let rest = line.strip_prefix(b"def ")?;
    let end = rest.iter().position(|byte| *byte == b'(')?;
    Some(String::from_utf8_lossy(rest[..end].trim_ascii()).into_owned())
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CoverageError> {
    let entries = fs::read_dir(folder).map_err(CoverageError::read(folder))?;
    for entry in entries {
        let entry = entry.map_err(CoverageError::read(folder))?;
        let path = entry.path();
        let inner = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if inner && depth > 0 {
            collect(&path, depth - 1, files)?;
        } else if path.extension().is_some_and(|it| it == "py") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_through_the_files_in_the_order_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("mine");
        fs::create_dir_all(package.join("inner")).unwrap();
        fs::write(package.join("b.py"), "def two(x):\n    return x\n").unwrap();
        fs::write(package.join("__init__.py"), "import os\n\n# nothing\n").unwrap();
        fs::write(package.join("inner/a.py"), "async def three(): pass").unwrap();
        fs::write(package.join("data.txt"), "no code\n").unwrap();
        let image = Image::open(&package, None).unwrap();
        assert_eq!(image.name(), "mine (Python)");
        // Four lines, three, one: blank ones and comments are no blocks.
        assert_eq!(image.blocks, [0, 4, 5, 7]);
        let names: Vec<String> = image.symbols().unwrap().into_iter().flatten().collect();
        assert_eq!(
            names,
            ["mine::(module)", "mine.b::two", "mine.inner.a::three"]
        );
        let second = &image.functions[1];
        assert!((second.start..second.end).contains(&5));
        assert_eq!(image, Image::open(&package, None).unwrap());
        fs::write(package.join("b.py"), "def two(x):\n    return 2\n\n").unwrap();
        let other = Image::open(&package, None).unwrap();
        assert_ne!(other.build_id, image.build_id);
    }
}
