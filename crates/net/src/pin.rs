//! Threads that stay on their cores.
//!
//! Systems move threads about to be fair to all programs. If a program has exactly one thread for every core that it
//! may use, moving threads only puts two on one core. Loops that last milliseconds are over before the system
//! separates the two.
//!
//! Memory belongs to the NUMA domain of the thread that touches it first. Cores are dealt out domain by domain, so that a
//! host whose threads fit into a domain has its threads and its memory there.

use std::ops::RangeInclusive;
use std::path::Path;

/// Where Linux describes NUMA domains.
const NODES: &str = "/sys/devices/system/node";

/// The cores of each NUMA domain that this process may use. One domain, perhaps without cores, where the system does not
/// tell.
pub fn numa_domains() -> Vec<Vec<usize>> {
    domains_in(Path::new(NODES), &cores())
}

/// The cores that this process may use, domain by domain.
pub(crate) fn cores_by_domain() -> Vec<usize> {
    numa_domains().concat()
}

/// `cores` by the domains that a folder describes.
fn domains_in(folder: &Path, cores: &[usize]) -> Vec<Vec<usize>> {
    let lists = (0..)
        .map_while(|node| std::fs::read_to_string(folder.join(format!("node{node}/cpulist"))).ok());
    let of_domain = |list: String| -> Vec<usize> {
        let listed = |core: &&usize| ranges(&list).any(|range| range.contains(*core));
        cores.iter().filter(listed).copied().collect()
    };
    let domains: Vec<_> = lists.map(of_domain).filter(|cores| !cores.is_empty()).collect();
    match domains.iter().map(Vec::len).sum::<usize>() == cores.len() && !domains.is_empty() {
        true => domains,
        false => vec![cores.to_vec()],
    }
}

/// The ranges of a list such as `0-3,8`.
fn ranges(list: &str) -> impl Iterator<Item = RangeInclusive<usize>> {
    list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    })
}

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
    fn cores_are_dealt_out_domain_by_domain() {
        let folder = tempfile::tempdir().expect("a folder");
        let domains = |cores: &[usize]| domains_in(folder.path(), cores);
        assert_eq!(domains(&[0, 1, 2]), [[0, 1, 2]], "no domain is described");
        for (node, list) in [(0, "0-1,4\n"), (1, "2-3,5-7\n"), (2, "\n")] {
            let node = folder.path().join(format!("node{node}"));
            std::fs::create_dir(&node).expect("a folder");
            std::fs::write(node.join("cpulist"), list).expect("a file");
        }
        assert_eq!(domains(&[0, 1, 2, 3, 4, 5]), [[0, 1, 4], [2, 3, 5]]);
        assert_eq!(domains(&[2, 3]), [[2, 3]], "others may not be used");
        assert_eq!(domains(&[0, 9]), [[0, 9]], "a core that no domain has");
        let mut all = cores_by_domain();
        all.sort_unstable();
        assert_eq!(all, cores());
    }

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
