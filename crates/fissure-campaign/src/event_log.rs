//! What happened in a run, in order: `events.zst`.
//!
//! JSON lines, compressed: the file is a sequence of whole zstd frames, each holding whole lines,
//! so `zstd -dc events.zst` prints it at any time. The first line of a run says the version of the
//! format. Every frame carries a checksum. A process that dies while it writes leaves at most one torn
//! frame at the end, which the next one to open the log cuts off after it kept a copy; a frame that is
//! damaged elsewhere is skipped, what follows it is read, and readers are told ([`Damage`]).

use std::fmt;
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
/// No frame holds more: a small file cannot ask for all memory.
const MOST_BYTES: usize = 64 << 20;
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What was cut off the end of a log, until the run is done.
const CUT_FILE: &str = "events.zst.cut";

/// A part of a log that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes of the file.
    pub from: u64,
    pub to: u64,
    /// Events that are known before it.
    pub after_event: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bytes {} to {} of {EVENTS_FILE} are damaged: what happened after event {} is missing, up to \
             about a second of the run",
            self.from, self.to, self.after_event
        )
    }
}

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
        let mut good = 0;
        for frame in Frames::new(&bytes) {
            good = frame.end;
        }
        if good < bytes.len() {
            // Should it be more than what a dead writer left, it is not gone.
            std::fs::write(folder.join(CUT_FILE), &bytes[good..])?;
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
        if self.waiting.len() > MOST_BYTES {
            self.waiting.clear();
            let problem = "an event is larger than a log can hold";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        let frame = compressor.compress(&self.waiting)?;
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

    /// The run is done, and all of it is here: a copy of what was cut off is of no more use.
    pub fn finish(&mut self) -> io::Result<()> {
        self.sync()?;
        match std::fs::remove_file(self.path.with_file_name(CUT_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
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
    damage: Vec<Damage>,
}

impl EventReader {
    pub fn new(folder: &Path) -> EventReader {
        EventReader {
            path: folder.join(EVENTS_FILE),
            read: 0,
            lines: 0,
            damage: Vec::new(),
        }
    }

    /// Parts that were skipped because they cannot be read.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Calls `take` with every new record, in order. What is still being written waits for the next
    /// call. A log that does not exist yet has nothing new; one that became shorter (its run was
    /// begun anew) is an error.
    pub fn read<T: DeserializeOwned>(&mut self, mut take: impl FnMut(T)) -> io::Result<()> {
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A pipe would be waited for, and a device may have no end.
            Ok(found) if !found.is_file() => {
                let problem = "it is no ordinary file";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            other => other?,
        };
        let mut file = File::open(&self.path)?;
        if file.metadata()?.len() < self.read {
            let problem = "the log became shorter while it was read";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let begin = self.read;
        for frame in Frames::new(&bytes) {
            if let Some(from) = frame.damaged_from {
                self.damage.push(Damage {
                    from: begin + from as u64,
                    to: begin + frame.start as u64,
                    after_event: self.lines,
                });
            }
            for line in frame.text.split(|byte| *byte == b'\n') {
                if line.is_empty() {
                    continue;
                }
                self.lines += 1;
                take(parse(line, self.lines)?);
            }
            self.read = begin + frame.end as u64;
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

/// Every record of a run folder's log, in order. A torn end and damaged parts are left out; a line that
/// cannot be understood is an error.
pub fn read_events<T: DeserializeOwned>(folder: &Path) -> io::Result<Vec<T>> {
    Ok(read_events_and_damage(folder)?.0)
}

/// The same, and what is missing.
pub(crate) fn read_events_and_damage<T: DeserializeOwned>(
    folder: &Path,
) -> io::Result<(Vec<T>, Vec<Damage>)> {
    let mut reader = EventReader::new(folder);
    if !reader.path.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut found = Vec::new();
    reader.read(|record| found.push(record))?;
    Ok((found, reader.damage))
}

/// A frame that could be read.
struct Frame {
    text: Vec<u8>,
    start: usize,
    end: usize,
    /// Where the damage begins that lies before it.
    damaged_from: Option<usize>,
}

/// The frames of a log that can be read, in order. What is at the end and is none stays.
struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    fn new(bytes: &'a [u8]) -> Frames<'a> {
        Frames { bytes, at: 0 }
    }
}

impl Iterator for Frames<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let from = self.at;
        let mut start = from;
        loop {
            if let Some((text, length)) = frame(&self.bytes[start..]) {
                self.at = start + length;
                return Some(Frame {
                    text,
                    start,
                    end: self.at,
                    damaged_from: (start > from).then_some(from),
                });
            }
            // The next place where one could begin; frames are found by their first bytes.
            let rest = self.bytes.get(start + 1..)?;
            let next = rest.windows(4).position(|it| it == FRAME_MAGIC)?;
            start += 1 + next;
        }
    }
}

/// The text of the frame that these bytes begin with, and how many they are.
fn frame(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    if !bytes.starts_with(&FRAME_MAGIC) {
        return None;
    }
    let length = zstd::zstd_safe::find_frame_compressed_size(bytes).ok()?;
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes.get(..length)?).ok()?;
    let mut text = Vec::new();
    // One more than allowed, to see that there is more.
    let mut bounded = decoder.single_frame().take(MOST_BYTES as u64 + 1);
    bounded.read_to_end(&mut text).ok()?;
    (text.len() <= MOST_BYTES).then_some((text, length))
}

/// For the fuzz target: everything that is read of a log that holds these bytes.
#[doc(hidden)]
pub fn read_hostile_log(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let lines = |text: &[u8]| {
        for line in text.split(|byte| *byte == b'\n') {
            let _ = serde_json::from_slice::<crate::Stamped>(line);
        }
    };
    // What a damaged log holds are frames with something wrong in them: the byte says how many of the rest are one
    // frame's text. Packing takes most of the time, so many inputs are only text, or only bytes of a file.
    let log = match kind {
        0..0x80 => return lines(rest),
        0x80..0xf0 => rest.to_vec(),
        _ => {
            let (length, rest) = rest.split_first().unwrap_or((&0, &[]));
            let (text, after) = rest.split_at(rest.len().min(usize::from(*length)));
            let mut log = zstd::bulk::compress(text, 1).unwrap_or_default();
            log.extend(after);
            log
        }
    };
    for frame in Frames::new(&log) {
        assert!(frame.start < frame.end && frame.end <= log.len());
        lines(&frame.text);
    }
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
    fn a_log_that_is_a_link_to_a_device_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(EVENTS_FILE)).unwrap();
        let mut reader = EventReader::new(folder.path());
        let refused = reader.read(|_: u64| ()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_torn_end_is_cut_off_wherever_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..3);
        let path = folder.path().join(EVENTS_FILE);
        let whole = std::fs::read(&path).unwrap();
        let second = Frames::new(&whole).nth(1).unwrap().end;
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

    #[test]
    fn a_flipped_byte_costs_its_frame_and_nothing_else_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..5);
        let path = folder.path().join(EVENTS_FILE);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = Frames::new(&whole).map(|frame| frame.end).collect();
        let mut costly = 0;
        for place in 0..ends[3] {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            std::fs::write(&path, &bytes).unwrap();
            let (read, damage) = read_events_and_damage::<u64>(folder.path()).unwrap();
            let hit = ends.iter().filter(|end| **end <= place).count() as u64;
            let mut kept: Vec<u64> = (0..5).filter(|number| *number != hit).collect();
            if damage.is_empty() {
                // A bit of the frame's header that means nothing.
                kept = (0..5).collect();
            } else {
                assert_eq!(damage.len(), 1, "byte {place}");
                assert_eq!(damage[0].after_event, hit, "byte {place}");
                costly += 1;
            }
            assert_eq!(read, kept, "byte {place}");
            // Who continues cuts nothing that can be read.
            log_of(folder.path(), 9..10);
            let continued = read_events::<u64>(folder.path()).unwrap();
            assert_eq!(continued, [kept.as_slice(), &[9]].concat(), "byte {place}");
        }
        assert!(costly >= ends[3] - 4, "{costly} of {}", ends[3]);
    }

    #[test]
    fn what_is_cut_off_is_kept_until_the_run_is_done() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..3);
        let path = folder.path().join(EVENTS_FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 2]).unwrap();
        let mut log = EventLog::open(folder.path()).unwrap();
        let cut = folder.path().join(CUT_FILE);
        assert!(whole[..whole.len() - 2].ends_with(&std::fs::read(&cut).unwrap()));
        log.finish().unwrap();
        assert!(!cut.exists());
    }

    #[test]
    fn a_small_file_cannot_ask_for_all_memory() {
        let folder = tempfile::tempdir().unwrap();
        log_of(folder.path(), 0..1);
        let path = folder.path().join(EVENTS_FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        let bomb = zstd::bulk::compress(&vec![b'\n'; MOST_BYTES + 1], 19).unwrap();
        assert!(bomb.len() < 100_000);
        bytes.extend(bomb);
        std::fs::write(&path, bytes).unwrap();
        log_of(folder.path(), 1..2);
        assert_eq!(read_events::<u64>(folder.path()).unwrap(), [0, 1]);
    }
}
