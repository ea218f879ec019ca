//! What was found in a file, kept by the file's fingerprint: half a gigabyte of code is swept once.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::CoverageError;
use crate::image::Function;

/// Changes with the layout and with the rules of what begins a block.
const MAGIC: &[u8; 8] = b"fissblk1";

fn file(folder: &Path, build_id: &str) -> PathBuf {
    folder.join(format!("{build_id}.blocks"))
}

/// `None` when nothing is kept, or what is kept cannot be understood: it is then found anew.
pub(crate) fn load(folder: &Path, build_id: &str) -> Option<(Vec<Function>, Vec<u32>)> {
    let bytes = fs::read(file(folder, build_id)).ok()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let mut words = rest
        .chunks_exact(4)
        .map(|it| u32::from_le_bytes(it.try_into().expect("chunks of four bytes have four bytes")));
    let (functions, blocks) = (words.next()? as usize, words.next()? as usize);
    let whole = functions
        .checked_mul(2)?
        .checked_add(blocks)?
        .checked_add(2)?;
    if rest.len() != whole.checked_mul(4)? {
        return None;
    }
    let functions = (0..functions)
        .map(|_| {
            Some(Function {
                start: words.next()?,
                end: words.next()?,
            })
        })
        .collect::<Option<_>>()?;
    Some((functions, words.collect()))
}

pub(crate) fn save(
    folder: &Path,
    build_id: &str,
    functions: &[Function],
    blocks: &[u32],
) -> Result<(), CoverageError> {
    let path = file(folder, build_id);
    // Whoever can write there decides what is armed: nobody else may.
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(CoverageError::write(folder))?;
    let mut bytes = MAGIC.to_vec();
    let mut push = |word: u32| bytes.extend_from_slice(&word.to_le_bytes());
    push(functions.len() as u32);
    push(blocks.len() as u32);
    for function in functions {
        push(function.start);
        push(function.end);
    }
    blocks.iter().copied().for_each(&mut push);
    // Two runs may find the same at the same time: each renames a file of its own.
    let unfinished = path.with_extension(format!("{}.unfinished", std::process::id()));
    fs::write(&unfinished, bytes).map_err(CoverageError::write(&unfinished))?;
    fs::rename(&unfinished, &path).map_err(CoverageError::write(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_what_is_cut_short_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let functions = [
            Function { start: 16, end: 32 },
            Function { start: 32, end: 40 },
        ];
        save(folder.path(), "abc", &functions, &[16, 20, 32]).unwrap();
        let (found, blocks) = load(folder.path(), "abc").unwrap();
        assert_eq!(
            (found.as_slice(), blocks.as_slice()),
            (&functions[..], &[16, 20, 32][..])
        );
        let path = file(folder.path(), "abc");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
        assert_eq!(load(folder.path(), "abc"), None);
        assert_eq!(load(folder.path(), "other"), None);
    }
}
