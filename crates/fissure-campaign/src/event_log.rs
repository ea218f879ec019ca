//! What happened in a run, in order: `events.zst`.
//!
//! JSON lines, compressed: the file is a sequence of whole zstd frames, each holding whole lines,
//! so `zstd -dc events.zst` prints it at any time. The first line of a run says the version of the
//! format. A process that dies while it writes leaves at most one torn frame at the end, which the
//! next one to open the log cuts off; everything before it is good.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub const EVENTS_FILE: &str = "events.zst";

/// Lines wait for company this long and this many bytes.
const PATIENCE: Duration = Duration::from_secs(1);
const FRAME_BYTES: usize = 64 << 10;
const LEVEL: i32 = 3;

/// The log, open for appending.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    /// Bytes of whole frames.
    good: u64,
    waiting: Vec<u8>,
    since: Instant,
}

impl EventLog {
    /// Opens (or makes) the log of a run folder and cuts off what a dead writer left unfinished.
    pub fn open(folder: &Path) -> io::Result<EventLog> {
        let path = folder.join(EVENTS_FILE);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .append(true)
            .open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (_, good) = whole_frames(&bytes);
        if good < bytes.len() {
            file.set_len(good as u64)?;
        }
        Ok(EventLog {
            path,
            file,
            good: good as u64,
            waiting: Vec::new(),
            since: Instant::now(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one line. It is on its way to the disk within about a second of the next line; what
    /// must not be lost is followed by [`EventLog::sync`].
    pub fn append(&mut self, record: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.waiting, record)?;
        self.waiting.push(b'\n');
        if self.waiting.len() >= FRAME_BYTES || self.since.elapsed() >= PATIENCE {
            self.flush()?;
        }
        Ok(())
    }

    /// Everything appended so far is in the file: one `write` per frame.
    pub fn flush(&mut self) -> io::Result<()> {
        self.since = Instant::now();
        if self.waiting.is_empty() {
            return Ok(());
        }
        let frame = zstd::bulk::compress(&self.waiting, LEVEL)?;
        if let Err(error) = self.file.write_all(&frame) {
            // What comes after half a frame could not be read. If this fails too, the next one to
            // open the log cuts it off.
            let _ = self.file.set_len(self.good);
            return Err(error);
        }
        self.good += frame.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// Everything appended so far survives the machine.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_data()
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        // Whoever cares has flushed and seen the error; this is for early returns.
        let _ = self.flush();
    }
}

/// Follows a log that another process may be writing: each call gives the lines that came since.
#[derive(Debug)]
pub struct EventReader {
    path: PathBuf,
    /// Bytes of whole frames that were given out.
    read: u64,
    /// Lines that were given out.
    lines: u64,
}

impl EventReader {
    pub fn new(folder: &Path) -> EventReader {
        EventReader {
            path: folder.join(EVENTS_FILE),
            read: 0,
            lines: 0,
        }
    }

    /// Calls `take` with every new record, in order. What is still being written waits for the next
    /// call. A log that does not exist yet has nothing new; one that became shorter (its run was
    /// begun anew) is an error.
    pub fn read<T: DeserializeOwned>(&mut self, mut take: impl FnMut(T)) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if file.metadata()?.len() < self.read {
            let problem = "the log became shorter while it was read";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (text, good) = whole_frames(&bytes);
        self.read += good as u64;
        for line in text.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            self.lines += 1;
            take(parse(line, self.lines)?);
        }
        Ok(())
    }

    /// Whether the log ends in the middle of a frame: it is being written, or its writer died.
    pub fn has_torn_end(&self) -> io::Result<bool> {
        Ok(std::fs::metadata(&self.path)?.len() > self.read)
    }
}

fn parse<T: DeserializeOwned>(line: &[u8], number: u64) -> io::Result<T> {
    serde_json::from_slice(line).map_err(|error| {
        let problem = format!("event {number} is not understood: {error}");
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

/// Every record of a run folder's log, in order. A torn end is left out; a line that cannot be
/// understood is an error.
pub fn read_events<T: DeserializeOwned>(folder: &Path) -> io::Result<Vec<T>> {
    let path = folder.join(EVENTS_FILE);
    let (text, _) = whole_frames(&std::fs::read(&path)?);
    text.split(|byte| *byte == b'\n')
        .zip(1..)
        .filter(|(line, _)| !line.is_empty())
        .map(|(line, number)| parse(line, number))
        .collect()
}

/// The text of all whole frames, and how many bytes they take.
fn whole_frames(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let before = text.len();
        let read = zstd::stream::read::Decoder::with_buffer(rest).and_then(|decoder| {
            let mut decoder = decoder.single_frame();
            decoder.read_to_end(&mut text)?;
            Ok(decoder.finish())
        });
        match read {
            Ok(after) => rest = after,
            Err(_) => {
                text.truncate(before);
                break;
            }
        }
    }
    (text, bytes.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(folder: &Path, numbers: std::ops::Range<u64>) {
        let mut log = EventLog::open(folder).unwrap();
        for number in numbers {
            log.append(&number).unwrap();
            log.flush().unwrap();
        }
    }

    #[test]
    fn what_one_process_wrote_the_next_continues() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..3);
        log_of(folder.path(), 3..5);
        assert_eq!(read_events::<u64>(folder.path()).unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_torn_end_is_cut_off_wherever_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..3);
        let path = folder.path().join(EVENTS_FILE);
        let whole = std::fs::read(&path).unwrap();
        let second = whole_frames(&whole).1 / 3 * 2;
        for torn in second + 1..whole.len() {
            std::fs::write(&path, &whole[..torn]).unwrap();
            assert_eq!(read_events::<u64>(folder.path()).unwrap(), [0, 1], "{torn}");
            log_of(folder.path(), 7..8);
            assert_eq!(
                read_events::<u64>(folder.path()).unwrap(),
                [0, 1, 7],
                "{torn}"
            );
        }
    }

    #[test]
    fn a_reader_that_follows_gets_each_line_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = EventReader::new(folder.path());
        let news = |reader: &mut EventReader| {
            let mut news = Vec::new();
            reader.read(|number: u64| news.push(number)).unwrap();
            news
        };
        assert_eq!(news(&mut reader), [0u64; 0]);
        log_of(folder.path(), 0..3);
        assert_eq!(news(&mut reader), [0, 1, 2]);
        let path = folder.path().join(EVENTS_FILE);
        let before = std::fs::read(&path).unwrap().len();
        log_of(folder.path(), 3..4);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..before + 3]).unwrap();
        assert_eq!(news(&mut reader), [0u64; 0], "a torn line waits");
        assert!(reader.has_torn_end().unwrap());
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(news(&mut reader), [3]);
        assert!(!reader.has_torn_end().unwrap());
        std::fs::write(&path, []).unwrap();
        assert!(reader.read(|_: u64| ()).is_err());
    }

    #[test]
    fn a_line_that_is_no_event_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = EventLog::open(folder.path()).unwrap();
        log.append(&"no number").unwrap();
        log.flush().unwrap();
        let error = read_events::<u64>(folder.path()).unwrap_err().to_string();
        assert!(error.contains("event 1"), "{error}");
    }
}
