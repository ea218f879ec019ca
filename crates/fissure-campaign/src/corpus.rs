//! Corpora: inputs that reached something new, as plain data. One file of JSON lines for each API; any two can be
//! concatenated.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fissure_model::{Api, ConcreteInput};
use serde::{Deserialize, Serialize};

use crate::{SavedError, corpus_centaur};

/// In a run's folder.
pub const CORPUS: &str = "corpus";
/// Corpora lie this deep in a campaign's folder.
const DEPTH: usize = 4;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusEntry {
    pub api: Api,
    pub input: ConcreteInput,
    /// Blocks that no earlier input of the run had reached.
    #[serde(default)]
    pub blocks: usize,
}

impl CorpusEntry {
    /// What makes two entries the same call.
    fn identity(&self) -> String {
        let input = &self.input;
        serde_json::to_string(&(&self.api.path, &input.arguments, &input.layer_arguments))
            .expect("an input is plain data and always serialises")
    }

    pub fn line(&self) -> String {
        let mut line =
            serde_json::to_string(self).expect("an input is plain data and always serialises");
        line.push('\n');
        line
    }
}

/// Inputs of any number of APIs, none of them twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    apis: BTreeMap<String, Vec<CorpusEntry>>,
}

impl Corpus {
    /// Reads a file of JSON lines, or all those below a folder: of a corpus, a run or a campaign.
    pub fn load(path: &Path) -> Result<Corpus, SavedError> {
        let mut files = Vec::new();
        if path.is_dir() {
            find(path, DEPTH, &mut files).map_err(read_error(path))?;
        } else {
            files.push(path.to_owned());
        }
        files.sort();
        let mut corpus = Corpus::default();
        for file in files {
            let text = fs::read_to_string(&file).map_err(read_error(&file))?;
            // A line that a killed process was writing is the last one.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let lines = if text.ends_with('\n') {
                text.as_str()
            } else {
                whole
            };
            if corpus_centaur::is_one(lines) {
                let inputs = corpus_centaur::read(lines).map_err(|problem| SavedError::Format {
                    path: file.clone(),
                    problem,
                })?;
                for input in inputs {
                    corpus.push(CorpusEntry {
                        api: Api::default(),
                        input,
                        blocks: 0,
                    });
                }
                continue;
            }
            let mut seen = HashSet::new();
            for (number, line) in lines.lines().enumerate() {
                if line.trim().is_empty() {
                    continue;
                }
                let entry: CorpusEntry =
                    serde_json::from_str(line).map_err(|error| SavedError::Format {
                        path: file.clone(),
                        problem: format!("line {}: {error}", number + 1),
                    })?;
                if seen.insert(entry.identity()) {
                    corpus.push(entry);
                }
            }
        }
        corpus.remove_doubles();
        Ok(corpus)
    }

    pub fn push(&mut self, entry: CorpusEntry) {
        let entries = self.apis.entry(entry.api.path.clone()).or_default();
        entries.push(entry);
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: Corpus) {
        other
            .apis
            .into_values()
            .flatten()
            .for_each(|entry| self.push(entry));
        self.remove_doubles();
    }

    fn remove_doubles(&mut self) {
        for entries in self.apis.values_mut() {
            let mut seen = HashSet::new();
            entries.retain(|entry| seen.insert(entry.identity()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        self.apis.values().map(Vec::len).sum()
    }

    /// The entries of each API that is named, in the order of the paths.
    pub fn apis(&self) -> impl Iterator<Item = &[CorpusEntry]> {
        let named = self.apis.iter().filter(|(path, _)| !path.is_empty());
        named.map(|(_, entries)| entries.as_slice())
    }

    /// Inputs that name no API, and are for any.
    pub fn nameless(&self) -> usize {
        self.apis.get("").map_or(0, Vec::len)
    }

    /// The inputs of an API, by its path, and those for any.
    pub fn of(&self, path: &str) -> impl Iterator<Item = &ConcreteInput> {
        let entries = [path, ""]
            .into_iter()
            .filter_map(|path| self.apis.get(path));
        entries.flatten().map(|entry| &entry.input)
    }

    /// Writes one file for each API into a folder, which is made.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for (path, entries) in &self.apis {
            let lines: String = entries.iter().map(CorpusEntry::line).collect();
            let file = folder.join(file_name(path));
            let unfinished = file.with_extension("unfinished");
            fs::write(&unfinished, lines)?;
            fs::rename(&unfinished, &file)?;
        }
        Ok(())
    }
}

/// The file of an API in a corpus.
pub(crate) fn file_name(path: &str) -> String {
    format!("{}.jsonl", fissure_triage::file_name_part(path))
}

/// Files of a corpus below a folder: all of JSON lines in it, and those in folders called `corpus`.
fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let inner = folder.join(CORPUS);
    let here = if inner.is_dir() {
        inner
    } else {
        folder.to_owned()
    };
    for entry in fs::read_dir(&here)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            find(&path, depth - 1, files)?;
        }
    }
    if depth > 0 && here != *folder {
        for shard in [folder.join("shards")].iter().filter(|it| it.is_dir()) {
            find(shard, depth - 1, files)?;
        }
    }
    Ok(())
}

fn read_error(path: &Path) -> impl FnOnce(io::Error) -> SavedError {
    let path = path.to_owned();
    |source| SavedError::Read { path, source }
}

/// Where the kept inputs of one API go, line by line: a kill loses none that was written.
pub(crate) struct CorpusFile {
    path: PathBuf,
    pending: String,
}

impl CorpusFile {
    /// A run that continues another writes everything again.
    pub(crate) fn new(run: &Path, api: &Api) -> io::Result<Self> {
        let path = run.join(CORPUS).join(file_name(&api.title));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(CorpusFile {
            path,
            pending: String::new(),
        })
    }

    pub(crate) fn push(&mut self, entry: &CorpusEntry) {
        self.pending.push_str(&entry.line());
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        file.write_all(self.pending.as_bytes())?;
        self.pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fissure_model::{Argument, Intent, Passing, Value};

    fn entry(path: &str, x: i128) -> CorpusEntry {
        CorpusEntry {
            api: Api {
                path: path.into(),
                title: path.into(),
                ..Api::default()
            },
            input: ConcreteInput {
                number: 3,
                arguments: vec![Argument {
                    name: "x".into(),
                    passing: Passing::Positional,
                    value: Value::Int(x),
                }],
                layer_arguments: None,
                intent: Intent::Conform,
                mutations: Vec::new(),
            },
            blocks: 1,
        }
    }

    #[test]
    fn a_corpus_is_the_same_after_it_was_kept_and_merging_keeps_each_call_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = Corpus::default();
        one.push(entry("lib.f", 1));
        one.push(entry("lib.g", 1));
        one.save(folder.path()).unwrap();
        assert_eq!(Corpus::load(folder.path()).unwrap(), one);
        let mut two = Corpus::default();
        two.push(entry("lib.f", 2));
        two.push(entry("lib.f", 1));
        one.merge(two);
        assert_eq!(one.len(), 3);
        assert_eq!(one.of("lib.f").count(), 2);
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out_and_one_that_is_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.jsonl");
        let whole = entry("lib.f", 1).line();
        fs::write(&path, format!("{whole}{}", &whole[..20])).unwrap();
        assert_eq!(Corpus::load(&path).unwrap().len(), 1);
        fs::write(&path, "{\"input\": 3}\n").unwrap();
        let error = Corpus::load(&path).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn inputs_of_centaur_are_for_any_api() {
        let folder = tempfile::tempdir().unwrap();
        // Whatever the file is called.
        let file = folder.path().join("seeds.jsonl");
        fs::write(&file, "{\"x\": [3, 4]}\n{\"x\": [5, 4]}\n").unwrap();
        fs::write(folder.path().join("f.jsonl"), entry("lib.f", 1).line()).unwrap();
        let corpus = Corpus::load(folder.path()).unwrap();
        assert_eq!((corpus.len(), corpus.nameless()), (3, 2));
        assert_eq!(corpus.of("lib.f").count(), 3);
        assert_eq!(corpus.of("lib.g").count(), 2);
        assert_eq!(corpus.apis().count(), 1);
    }

    #[test]
    fn the_corpus_of_a_run_is_found_in_its_folder() {
        let run = tempfile::tempdir().unwrap();
        let shard = run.path().join("shards/2");
        let mut file = CorpusFile::new(&shard, &entry("lib.f", 1).api).unwrap();
        file.push(&entry("lib.f", 1));
        file.flush().unwrap();
        assert_eq!(Corpus::load(&shard).unwrap().len(), 1);
        assert_eq!(Corpus::load(run.path()).unwrap().len(), 1);
    }
}
