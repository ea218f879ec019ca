//! The end of what a long-lived process writes to a descriptor: everything is taken, little is kept.
//!
//! A file in its place would grow until the disk is full; a pipe that nobody reads would stop the process.

use std::io::{self, PipeWriter, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// For the last bytes to arrive after the process has ended.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// What is read at once.
const PART: usize = 64 << 10;

#[derive(Debug)]
pub struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    most: usize,
}

impl Tail {
    /// Keeps so many bytes of what is written to the other end.
    pub fn new(most: usize) -> io::Result<(Tail, PipeWriter)> {
        let (mut source, writer) = io::pipe()?;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let reader = thread::spawn({
            let kept = Arc::clone(&kept);
            move || {
                let mut part = vec![0; PART];
                loop {
                    match source.read(&mut part) {
                        Ok(0) => break,
                        Ok(length) => keep(&mut lock(&kept), &part[..length], most),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
            }
        });
        let tail = Tail { kept, reader, most };
        Ok((tail, writer))
    }

    /// The end of it as text. What was written before the last writer ended is there; one that does not end is not
    /// waited for.
    pub fn text(&self) -> String {
        let deadline = Instant::now() + LAST_BYTES;
        while !self.reader.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        let kept = lock(&self.kept);
        let start = kept.len().saturating_sub(self.most);
        String::from_utf8_lossy(&kept[start..]).into_owned()
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) {
    kept.extend_from_slice(bytes);
    // Moving the rest to the front at every read would cost more than the reading.
    if kept.len() > 4 * most {
        kept.drain(..kept.len() - most);
    }
}

fn lock(kept: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn of_a_flood_the_end_is_kept_and_the_writer_never_waits_for_long() {
        let (tail, mut writer) = Tail::new(1000).unwrap();
        for _ in 0..4096 {
            writer.write_all(&[b'x'; 4096]).unwrap();
        }
        writer.write_all("é the reason".as_bytes()).unwrap();
        assert!(lock(&tail.kept).capacity() < 1 << 20);
        drop(writer);
        let text = tail.text();
        assert!(text.ends_with("xé the reason"), "{text}");
        assert_eq!(text.len(), 1000);
    }

    #[test]
    fn a_writer_that_stays_is_not_waited_for() {
        let (tail, mut writer) = Tail::new(1000).unwrap();
        writer.write_all(b"so far").unwrap();
        assert_eq!(tail.text(), "so far");
        writer.write_all(b", and on").unwrap();
        drop(writer);
        assert_eq!(tail.text(), "so far, and on");
    }
}
