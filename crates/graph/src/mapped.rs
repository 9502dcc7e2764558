//! Which files are mapped where, so that a fault inside one is not taken for a bug.
//!
//! A file that another program cuts short while it is mapped, or that lies on a disk that fails,
//! ends every access beyond what is left with the signal SIGBUS. A program may ask to be told of
//! that with the name of the file ([`on_fault`]); nothing is installed otherwise.

use std::io;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use memmap2::Mmap;

/// Mappings that are known by name; those beyond are called "a mapped file".
const MAX_NAMED: usize = 512;

/// One mapping, written by threads and read by a signal handler: hence nothing but atomics.
struct Entry {
    /// 0 if the entry is free.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The name of the file, never freed: a handler may be looking at it.
    name: AtomicPtr<String>,
}

static ENTRIES: [Entry; MAX_NAMED] = [const {
    Entry {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        name: AtomicPtr::new(std::ptr::null_mut()),
    }
}; MAX_NAMED];

/// An entry that is being written has this start: no address lies there.
const CLAIMED: usize = usize::MAX;

/// A mapped file that is listed as long as it lives.
pub struct Mapping {
    map: Mmap,
    entry: Option<&'static Entry>,
}

impl Mapping {
    /// Lists a mapping of a file of this name.
    pub(crate) fn new(map: Mmap, name: &str) -> Self {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let claim =
            |entry: &&Entry| entry.start.compare_exchange(0, CLAIMED, acquire, relaxed).is_ok();
        let free = ENTRIES.iter().find(claim);
        if let Some(entry) = free {
            entry.name.store(kept(name), Ordering::Relaxed);
            let start = map.as_ptr().addr();
            entry.end.store(start + map.len(), Ordering::Relaxed);
            entry.start.store(start, Ordering::Release);
        }
        Mapping { map, entry: free }
    }
}

impl Deref for Mapping {
    type Target = Mmap;

    fn deref(&self) -> &Mmap {
        &self.map
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some(entry) = self.entry {
            entry.start.store(0, Ordering::Release);
        }
    }
}

/// The name, kept for ever: once for each file.
fn kept(name: &str) -> *mut String {
    use std::sync::{Mutex, PoisonError};
    static NAMES: Mutex<Vec<&'static String>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = names.iter().copied().find(|known| *known == name);
    let name = known.unwrap_or_else(|| {
        let name: &'static String = Box::leak(Box::new(name.to_owned()));
        names.push(name);
        name
    });
    std::ptr::from_ref(name).cast_mut()
}

/// The name of the file that is mapped at an address, a string that is never freed.
fn file_at(address: usize) -> Option<*mut String> {
    let entry = ENTRIES.iter().find(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        start != 0 && start <= address && address < entry.end.load(Ordering::Relaxed)
    })?;
    Some(entry.name.load(Ordering::Relaxed))
}

/// Where a handler leaves the name of the file in which a thread faulted.
static FAULTED: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// The end of a pipe that a handler writes to, in order to wake the thread that reports.
static WAKE: OnceLock<std::fs::File> = OnceLock::new();

/// From now on, `report` is called with the name of a mapped file if a thread finds that a part of
/// it is gone; that thread stands still. `report` is expected to end the process. Only the first call
/// in a process counts.
pub fn on_fault(report: impl FnOnce(&str) + Send + 'static) -> io::Result<()> {
    use std::io::Read;
    use std::os::fd::{AsFd, OwnedFd};
    let (mut waiting, wake) = io::pipe()?;
    let wake: OwnedFd = wake.as_fd().try_clone_to_owned()?;
    if WAKE.set(wake.into()).is_err() {
        return Ok(());
    }
    std::thread::Builder::new().name("faults".into()).spawn(move || {
        let _ = waiting.read(&mut [0]);
        let name = FAULTED.load(Ordering::Acquire);
        // SAFETY: either nothing was left there, or the address of a string that is never freed.
        report(unsafe { name.as_ref() }.map_or("a mapped file", |name| name.as_str()));
    })?;
    // SAFETY: an all-zero action is a valid one; it is filled in before it is installed.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler calls nothing but what POSIX allows there.
    match unsafe { libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    use std::os::fd::AsRawFd;
    // SAFETY: the system passes a valid description of the signal.
    let address = unsafe { (*info).si_addr() }.addr();
    let Some(name) = file_at(address) else {
        // No mapped file: the same access again, now with the usual consequence.
        // SAFETY: restores what the system does by default.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    FAULTED.store(name, Ordering::Release);
    if let Some(wake) = WAKE.get() {
        // SAFETY: the descriptor is open for as long as the process lives; one byte is written.
        unsafe { libc::write(wake.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    }
    loop {
        // SAFETY: waits for a signal; the thread must not go on without its data.
        unsafe { libc::pause() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_known_by_name_while_they_live() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        // SAFETY: nothing else knows the file.
        let map = unsafe { Mmap::map(&file) }.unwrap();
        let start = map.as_ptr().addr();
        let mapping = Mapping::new(map, "some/file");
        assert_eq!(file_at(start), Some(kept("some/file")));
        assert_eq!(file_at(start + 8191), Some(kept("some/file")));
        assert_eq!(mapping.len(), 8192);
        drop(mapping);
        assert_eq!(file_at(start), None);
        assert_eq!(kept("twice"), kept("twice"));
    }
}
