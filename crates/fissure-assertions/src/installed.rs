//! The soft assertions that ship with the program.

use rust_embed::RustEmbed;

use crate::assertion::SoftAssertion;
use crate::file::FileError;

#[derive(RustEmbed)]
#[folder = "../../data/soft-assertions"]
#[include = "*/*.safetensors"]
struct Shipped;

/// (library, function) of every soft assertion that ships, in order.
pub fn shipped() -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Shipped::iter()
        .filter_map(|path| {
            let (library, file) = path.split_once('/')?;
            let function = file.strip_suffix(".safetensors")?;
            Some((library.to_owned(), function.to_owned()))
        })
        .collect();
    names.sort();
    names
}

/// One that ships; `None` when there is none for this function.
pub fn load_shipped(library: &str, function: &str) -> Option<Result<SoftAssertion, FileError>> {
    let path = format!("{library}/{function}.safetensors");
    let file = Shipped::get(&path)?;
    Some(SoftAssertion::from_bytes(&file.data, &path))
}
