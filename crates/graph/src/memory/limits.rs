//! How much memory this process may use: what the machine has free, what its control groups allow
//! (versions 1 and 2), and what a shell allows by `ulimit -v` and `ulimit -d`.
//!
//! A process that exceeds its control group or its machine is killed without a word. One that exceeds a limit
//! of its shell is refused memory, which it can report. [`MemoryLimits::guard`] turns the first kind into the second.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

/// The most that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes.
    pub bytes: u64,
    /// What sets the limit.
    pub source: LimitSource,
}

/// What sets a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSource {
    /// Memory and swap that no process of the machine uses.
    Machine,
    /// A control group: a container, a job of a scheduler.
    ControlGroup,
    /// `ulimit -v`.
    AddressSpace,
    /// `ulimit -d`.
    Data,
}

impl LimitSource {
    /// The source in words, and what to do to raise the limit.
    pub fn name(self) -> &'static str {
        match self {
            LimitSource::Machine => "free memory of this machine",
            LimitSource::ControlGroup => "limit of the control group",
            LimitSource::AddressSpace => "ulimit -v",
            LimitSource::Data => "ulimit -d",
        }
    }
}

impl fmt::Display for LimitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All limits of a process; `None` where there is no limit, or the system does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Free memory and swap.
    pub machine: Option<u64>,
    /// What is left of the narrowest control group.
    pub control_group: Option<u64>,
    /// Addresses: memory, mapped files, and room that stacks and allocators reserve.
    pub address_space: Option<u64>,
    /// Memory that is not a file's.
    pub data: Option<u64>,
}

/// What a thread reserves for its stack and rarely touches.
pub const STACK_BYTES: u64 = 2 << 20;
/// What the system keeps for a thread and what the thread touches of its stack.
const THREAD_BYTES: u64 = 64 << 10;
/// The part of a control group that is left to the system, which keeps tables of pages there: one fiftieth.
const RESERVE_DIVISOR: u64 = 50;
/// The limit of memory that is no file's, as it was before the first guard lowered it.
static DATA_BEFORE_GUARD: OnceLock<Option<u64>> = OnceLock::new();
/// A limit from here on is none.
const UNLIMITED: u64 = 1 << 60;

impl MemoryLimits {
    /// Those of this process, now.
    pub fn of_process() -> Self {
        let limits = Self::read(Path::new("/"));
        MemoryLimits {
            address_space: resource(libc::RLIMIT_AS),
            data: *DATA_BEFORE_GUARD.get().unwrap_or(&resource(libc::RLIMIT_DATA)),
            ..limits
        }
    }

    /// The limits in files below a root.
    fn read(root: &Path) -> Self {
        let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        MemoryLimits {
            machine: free_in(&text("proc/meminfo")),
            control_group: groups(&text("proc/self/cgroup"))
                .filter_map(|(version, group)| narrowest(&root.join(version.mount), group, version))
                .min(),
            ..MemoryLimits::default()
        }
    }

    /// The limits of each of several processes that share the machine and its control group.
    pub fn shared_by(self, processes: usize) -> Self {
        let share = |bytes: Option<u64>| bytes.map(|bytes| bytes / processes.max(1) as u64);
        MemoryLimits {
            machine: share(self.machine),
            control_group: share(self.control_group),
            ..self
        }
    }

    /// The least of them for a process with this many threads, which reserve more addresses than memory.
    pub fn least(&self, threads: usize) -> Option<MemoryLimit> {
        let stacks = threads as u64 * STACK_BYTES;
        let limits = [
            (self.machine, LimitSource::Machine, 0),
            (self.control_group, LimitSource::ControlGroup, 0),
            (self.address_space, LimitSource::AddressSpace, stacks),
            (self.data, LimitSource::Data, stacks),
        ];
        let known = limits.into_iter().filter_map(|(bytes, source, reserved)| {
            Some(MemoryLimit { bytes: bytes?.saturating_sub(reserved), source })
        });
        known.min_by_key(|limit| limit.bytes)
    }

    /// Has the system refuse memory to this process, which will have this many threads, before it would kill
    /// the process for exceeding the machine or its control group.
    pub fn guard(&self, threads: usize) {
        let Some(bytes) = self.machine.into_iter().chain(self.control_group).min() else { return };
        let threads = threads as u64;
        let usable = bytes.saturating_sub(bytes / RESERVE_DIVISOR + threads * THREAD_BYTES);
        lower_data_limit(usable.saturating_add(threads * STACK_BYTES));
    }
}

/// A version of control groups: where it is mounted, and what its files are called.
#[derive(Clone, Copy)]
struct Version {
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// Lines of `memory.stat` with bytes of files, which the system takes back when it needs memory.
    files: [&'static str; 2],
}

const VERSION_1: Version = Version {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    files: ["total_active_file", "total_inactive_file"],
};

const VERSION_2: Version = Version {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    files: ["active_file", "inactive_file"],
};

/// The groups of `/proc/self/cgroup` that may limit memory.
fn groups(told: &str) -> impl Iterator<Item = (Version, &str)> {
    told.lines().filter_map(|line| {
        let (number, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(':')?;
        match (number, controllers) {
            ("0", "") => Some((VERSION_2, group)),
            _ if controllers.split(',').any(|name| name == "memory") => Some((VERSION_1, group)),
            _ => None,
        }
    })
}

/// What is left of a group and of all that it lies in. A container sees its own group as the root.
fn narrowest(mount: &Path, group: &str, version: Version) -> Option<u64> {
    let own = mount.join(group.trim_start_matches('/'));
    let all = own.ancestors().take_while(|folder| folder.starts_with(mount));
    all.filter_map(|folder| left_in(folder, version)).min()
}

/// What is left of one group.
fn left_in(folder: &Path, version: Version) -> Option<u64> {
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
    let limit = number(version.limit).filter(|&limit| limit < UNLIMITED)?;
    let stat = text("memory.stat").unwrap_or_default();
    let of_files: u64 = version
        .files
        .iter()
        .filter_map(|name| {
            let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| key == name)?.1.trim().parse::<u64>().ok()
        })
        .sum();
    let used = number(version.usage).unwrap_or(0).saturating_sub(of_files);
    Some(limit.saturating_sub(used))
}

/// Bytes free according to `/proc/meminfo`, swap included.
fn free_in(told: &str) -> Option<u64> {
    let bytes = |key: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib << 10)
    };
    Some(bytes("MemAvailable")? + bytes("SwapFree").unwrap_or(0))
}

/// The type of a resource's name, which differs between C libraries.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// The soft and the hard limit of a resource.
fn resource_limits(resource: Resource) -> Option<libc::rlimit> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to the structure that it is given, and to nothing else.
    let told = unsafe { libc::getrlimit(resource, &mut limits) };
    (told == 0).then_some(limits)
}

/// The limit of a resource, if there is one.
fn resource(resource: Resource) -> Option<u64> {
    let limits = resource_limits(resource)?;
    (limits.rlim_cur != libc::RLIM_INFINITY).then_some(limits.rlim_cur)
}

/// Lowers the soft limit of memory that is no file's; what is in use stays in use.
fn lower_data_limit(bytes: u64) {
    DATA_BEFORE_GUARD.get_or_init(|| resource(libc::RLIMIT_DATA));
    let Some(mut limits) = resource_limits(libc::RLIMIT_DATA) else { return };
    if bytes < limits.rlim_cur {
        limits.rlim_cur = bytes;
        // SAFETY: the call reads the structure. Where the limit is refused, there is none.
        unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limits) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits of a machine with these files.
    fn read(files: &[(&str, &str)]) -> MemoryLimits {
        let root = tempfile::tempdir().unwrap();
        for (name, contents) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, contents).unwrap();
        }
        MemoryLimits::read(root.path())
    }

    #[test]
    fn free_memory_is_what_the_system_tells() {
        let told = "MemTotal:  9 kB\nMemAvailable:   3 kB\nSwapFree: 2 kB\n";
        assert_eq!(read(&[("proc/meminfo", told)]).machine, Some(5 << 10));
        assert_eq!(free_in("MemAvailable: 3 kB\n"), Some(3 << 10));
        assert_eq!(free_in("MemTotal: 3 kB\n"), None);
        assert_eq!(read(&[]), MemoryLimits::default());
    }

    #[test]
    fn the_narrowest_group_of_version_1_counts() {
        let folder = "sys/fs/cgroup/memory";
        let path = |rest: &str| format!("{folder}/{rest}");
        let groups = ("proc/self/cgroup", "9:name=systemd:/a\n4:cpu,memory:/job/step\n0::/\n");
        let limits = read(&[
            groups,
            (&path("memory.limit_in_bytes"), "9223372036854771712\n"),
            (&path("job/memory.limit_in_bytes"), "5000\n"),
            (&path("job/memory.usage_in_bytes"), "3000\n"),
            (&path("job/memory.stat"), "total_active_file 500\ntotal_inactive_file 700\n"),
            (&path("job/step/memory.limit_in_bytes"), "4000\n"),
        ]);
        assert_eq!(limits.control_group, Some(5000 - (3000 - 1200)));
        // A container sees its own group as the root.
        let limits = read(&[groups, (&path("memory.limit_in_bytes"), "77\n")]);
        assert_eq!(limits.control_group, Some(77));
    }

    #[test]
    fn the_narrowest_group_of_version_2_counts() {
        let groups = ("proc/self/cgroup", "0::/user/job\n");
        let limits = read(&[
            groups,
            ("sys/fs/cgroup/user/memory.max", "9000\n"),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/memory.current", "100\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 40\nactive_file 50\n"),
        ]);
        assert_eq!(limits.control_group, Some(8990));
        assert_eq!(read(&[groups]).control_group, None);
    }

    #[test]
    fn the_least_limit_counts_and_machines_are_shared() {
        let limits = MemoryLimits {
            machine: Some(800 << 20),
            control_group: Some(600 << 20),
            address_space: Some(504 << 20),
            data: None,
        };
        let least = |limits: MemoryLimits, threads| {
            limits.least(threads).map(|l| (l.bytes >> 20, l.source))
        };
        assert_eq!(least(limits, 2), Some((500, LimitSource::AddressSpace)));
        assert_eq!(least(limits.shared_by(2), 2), Some((300, LimitSource::ControlGroup)));
        assert_eq!(MemoryLimits::default().least(9), None);
    }

    #[test]
    fn this_process_has_limits() {
        if cfg!(target_os = "linux") {
            let machine = MemoryLimits::of_process().machine.expect("the system tells");
            assert!(machine > 1 << 20);
        }
    }
}
