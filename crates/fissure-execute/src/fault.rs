//! A look at shared memory that is not there any more does not end the program.
//!
//! Shared memory can go away under a mapping (the file made shorter, the machine out of memory);
//! the kernel then ends whoever looks by SIGBUS. Here the look finds zeros instead, and the owner of
//! the memory can ask whether that happened. A SIGBUS anywhere else goes where it went before.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Two pieces of memory per worker, on machines with hundreds of cores.
const MOST: usize = 4096;

struct Place {
    /// 0: free.
    start: AtomicUsize,
    length: AtomicUsize,
    lost: AtomicBool,
}

static PLACES: [Place; MOST] = [const {
    Place {
        start: AtomicUsize::new(0),
        length: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MOST];

/// Places from here on were never taken: the handler need not look at them.
static USED: AtomicUsize = AtomicUsize::new(0);

/// A range of memory whose loss is survived, as long as this value lives.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// `None`: all places are taken, and the loss of this range ends the program as ever.
    place: Option<usize>,
}

impl Guarded {
    pub(crate) fn new(start: *const u8, length: usize) -> Guarded {
        install();
        let place = PLACES.iter().position(|place| {
            let taken = place.start.compare_exchange(
                0,
                start as usize,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            taken.is_ok()
        });
        if let Some(place) = place {
            PLACES[place].lost.store(false, Ordering::Relaxed);
            PLACES[place].length.store(length, Ordering::Release);
            USED.fetch_max(place + 1, Ordering::Release);
        }
        Guarded { place }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.place
            .is_some_and(|place| PLACES[place].lost.load(Ordering::Acquire))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            PLACES[place].length.store(0, Ordering::Release);
            PLACES[place].start.store(0, Ordering::Release);
        }
    }
}

/// What was there before, for faults that are not ours. Written once, before the handler is.
static mut BEFORE: Option<libc::sigaction> = None;

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: an all-zero sigaction is valid, and the pointers are to locals and to a static
        // that nothing else touches before the handler is in place.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before) != 0 {
                return;
            }
            (&raw mut BEFORE).write(Some(before));
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            // Where this is refused, nothing is different from before.
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
        }
    });
}

/// Only calls that are allowed in a signal handler: atomics, `mmap`, `sigaction`.
extern "C" fn handle(
    _signal: libc::c_int,
    information: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo; it outlives the handler.
    let address = unsafe { (*information).si_addr() } as usize;
    for place in &PLACES[..USED.load(Ordering::Acquire)] {
        let start = place.start.load(Ordering::Acquire);
        let length = place.length.load(Ordering::Acquire);
        if start == 0 || address < start || address - start >= length {
            continue;
        }
        // SAFETY: the range is a mapping of ours that lives as long as its place is taken; private
        // zeros take its place, at the same address, with the same length.
        let mapped = unsafe {
            libc::mmap(
                start as *mut libc::c_void,
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            place.lost.store(true, Ordering::Release);
            return;
        }
    }
    // Not ours: the fault happens again on return, and then the one before us gets it.
    // SAFETY: BEFORE was written before this handler was installed, and never since.
    unsafe {
        match (&raw const BEFORE).read() {
            Some(before) => libc::sigaction(libc::SIGBUS, &raw const before, ptr::null_mut()),
            None => libc::abort(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memmap2::MmapMut;

    #[test]
    fn memory_that_is_taken_away_reads_as_zeros_and_is_known_to_be_lost() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        // SAFETY: the file is ours; that it is truncated below is the point of the test.
        let mut map = unsafe { MmapMut::map_mut(&file) }.unwrap();
        let guard = Guarded::new(map.as_ptr(), map.len());
        map[5000] = 7;
        assert!(!guard.is_lost());
        file.set_len(0).unwrap();
        // SAFETY: inside the mapping; volatile, so that the look is really made.
        assert_eq!(unsafe { map.as_ptr().add(5000).read_volatile() }, 0);
        assert!(guard.is_lost());
        map[0] = 1;
        drop(guard);
    }

    #[test]
    fn a_place_can_be_taken_again() {
        let first = [0_u8; 64];
        let place = Guarded::new(first.as_ptr(), first.len());
        assert!(!place.is_lost());
        let number = place.place;
        assert!(number.is_some());
        drop(place);
        assert_eq!(PLACES[number.unwrap()].length.load(Ordering::Acquire), 0);
    }
}
