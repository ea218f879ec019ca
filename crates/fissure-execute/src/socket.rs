//! Sockets that keep messages apart and can carry file descriptors.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType,
};

/// One end of a pair.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl Socket {
    /// Our end and the one to give away.
    pub(crate) fn pair() -> io::Result<(Socket, OwnedFd)> {
        let (ours, theirs) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((Socket(ours), theirs))
    }

    pub(crate) fn send(&self, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            let pushed = ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
            assert!(pushed, "at most eight descriptors travel with a message");
        }
        // Never blocks: at most a few messages are under way, and a target that stops reading
        // must not stop us.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::sendmsg(&self.0, &[IoSlice::new(message)], &mut ancillary, flags)?;
        Ok(())
    }

    /// A waiting message; `None` when the other end is closed everywhere.
    pub(crate) fn receive(&self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; 65536];
        let flags = RecvFlags::DONTWAIT;
        let (length, _) = rustix::net::recv(&self.0, buffer.as_mut_slice(), flags)?;
        buffer.truncate(length);
        Ok((length > 0).then_some(buffer))
    }

    /// Waits for a message; an error of kind `TimedOut` after `timeout`.
    pub(crate) fn receive_within(&self, timeout: Duration) -> io::Result<Option<Vec<u8>>> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if wait_readable(&[self.0.as_fd()], left)?[0] {
                match self.receive() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    other => return other,
                }
            }
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Which of the descriptors can be read (or are closed at the other end), after at most `timeout`.
pub(crate) fn wait_readable<const N: usize>(
    descriptors: &[BorrowedFd<'_>; N],
    timeout: Duration,
) -> io::Result<[bool; N]> {
    let mut polled =
        descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    let timeout = Timespec {
        tv_sec: timeout.as_secs().min(3600) as i64,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok([false; N]),
        Err(error) => return Err(error.into()),
    }
    Ok(polled.map(|entry| !entry.revents().is_empty()))
}
