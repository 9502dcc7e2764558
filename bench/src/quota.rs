//! A quota of processor time for one host, which runs at full speed for a while and then not at all. It
//! needs the first version of control groups and the right to make one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of groups of threads that share processor time.
const GROUPS: &str = "/sys/fs/cgroup/cpu";
/// The least time, in microseconds, that the system can give to a group in a period.
const MIN_QUOTA_MICROSECONDS: f64 = 1000.0;

/// A group whose threads have a part of a core together.
pub struct Quota {
    group: PathBuf,
}

impl Quota {
    /// A group for that part of a core.
    pub fn new(part: f64) -> Self {
        let group = Path::new(GROUPS).join(format!("parton-bench-{}", std::process::id()));
        let set_up = || -> io::Result<()> {
            fs::create_dir(&group)?;
            fs::write(
                group.join("cpu.cfs_period_us"),
                format!("{:.0}", MIN_QUOTA_MICROSECONDS / part),
            )?;
            fs::write(group.join("cpu.cfs_quota_us"), format!("{MIN_QUOTA_MICROSECONDS:.0}"))
        };
        if let Err(error) = set_up() {
            eprintln!("no quota for a slow host: {}: {error}", group.display());
            std::process::exit(1);
        }
        Quota { group }
    }

    /// Does the work in the group: this thread enters it and leaves it at the end.
    pub fn within<R>(&self, work: impl FnOnce() -> R) -> R {
        let move_to = |group: &Path| {
            let thread = fs::read_link("/proc/thread-self").expect("Linux");
            let thread = thread.file_name().expect("a thread").to_string_lossy().into_owned();
            fs::write(group.join("tasks"), thread).expect("a group that can be joined");
        };
        move_to(&self.group);
        let result = work();
        move_to(Path::new(GROUPS));
        result
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // An empty group that stays harms nobody.
        let _ = fs::remove_dir(&self.group);
    }
}
