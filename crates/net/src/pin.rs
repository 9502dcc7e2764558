//! Threads that stay on their cores.
//!
//! Systems move threads about to be fair to all programs. Where a program has exactly one thread
//! for every core it may use, moving them only ever puts two on one core, and loops that last
//! milliseconds are over before they are taken apart again.

/// The cores that this process may use, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn cores() -> Vec<usize> {
    // SAFETY: an all-zero set is a valid, empty one; the call writes at most its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of_val(&set), &mut set) {
            0 => set,
            _ => return Vec::new(),
        }
    };
    // SAFETY: every number is less than the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Keeps the calling thread on a core. Where the system refuses, the thread stays free.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on(core: usize) {
    if core >= libc::CPU_SETSIZE as usize {
        return;
    }
    // SAFETY: an all-zero set is a valid, empty one; the core is less than its size; the call only
    // reads the set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cores() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on(_: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_told_to() {
        let all = cores();
        assert!(!all.is_empty());
        let stay = |&core: &usize| {
            stay_on(core);
            cores()
        };
        for core in &all {
            let after = std::thread::scope(|scope| scope.spawn(|| stay(core)).join());
            assert_eq!(after.expect("the thread ends"), [*core]);
        }
        stay_on(usize::MAX);
        assert_eq!(cores(), all, "this thread is free");
    }
}
