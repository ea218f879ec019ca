//! What a target prints: drained always, kept only in part.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::pipe::PipeFlags;

use crate::error::ExecuteError;

/// Bytes of output that are kept: the last ones.
const KEPT: usize = 64 * 1024;
/// Reads per call, so that a flood cannot keep the watchdog from looking.
const READS: usize = 16;

/// The reading end of a pipe with the end of what came through it.
#[derive(Debug)]
pub(crate) struct Output {
    pipe: OwnedFd,
    kept: Vec<u8>,
    /// Something was thrown away.
    cut: bool,
}

impl Output {
    /// The output and the end to write to.
    pub(crate) fn new() -> Result<(Output, OwnedFd), ExecuteError> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(ExecuteError::system("create a pipe"))?;
        rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)
            .map_err(ExecuteError::system("set up a pipe"))?;
        Ok((
            Output {
                pipe: reader,
                kept: Vec::new(),
                cut: false,
            },
            writer,
        ))
    }

    /// Reads what is there. False when every writer has closed.
    pub(crate) fn drain(&mut self) -> bool {
        let mut buffer = [0; 64 * 1024];
        for _ in 0..READS {
            match rustix::io::read(&self.pipe, &mut buffer) {
                Ok(0) => return false,
                Ok(length) => self.keep(&buffer[..length]),
                Err(error) => {
                    let error = io::Error::from(error);
                    return matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    );
                }
            }
        }
        true
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        // Moving the rest to the front at every read would cost more than the reading.
        if self.kept.len() > 4 * KEPT {
            self.kept.drain(..self.kept.len() - KEPT);
            self.cut = true;
        }
    }

    pub(crate) fn forget(&mut self) {
        self.kept.clear();
        self.cut = false;
    }

    /// The end of the output as text.
    pub(crate) fn text(&self) -> String {
        let start = self.kept.len().saturating_sub(KEPT);
        let text = String::from_utf8_lossy(&self.kept[start..]);
        if self.cut || start > 0 {
            format!("[…]\n{text}")
        } else {
            text.into_owned()
        }
    }
}

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_flood_is_kept() {
        let (mut output, writer) = Output::new().unwrap();
        let flood = std::thread::spawn(move || {
            for _ in 0..4096 {
                rustix::io::write(&writer, &[b'x'; 1024]).unwrap();
            }
            rustix::io::write(&writer, b"the end").unwrap();
        });
        while output.drain() {}
        flood.join().unwrap();
        let text = output.text();
        assert!(text.ends_with("the end"), "the last bytes are there");
        assert!(text.starts_with("[…]\n"), "what is missing is marked");
        assert!(text.len() <= KEPT + "[…]\n".len());
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_as_replacement_characters() {
        let (mut output, writer) = Output::new().unwrap();
        rustix::io::write(&writer, b"a\xffb").unwrap();
        assert!(output.drain(), "the writer is still open");
        assert_eq!(output.text(), "a\u{fffd}b");
        output.forget();
        assert_eq!(output.text(), "");
    }
}
