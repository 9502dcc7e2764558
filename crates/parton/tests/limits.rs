//! Where memory ends: refusals before a run, one sentence and code 71 in it, never a signal.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{command, folder, parton, text};

/// Runs the command, which may have this many bytes of a resource.
fn limited(folder: &Path, arguments: &[&str], resource: Resource, bytes: u64) -> Output {
    let mut limited = command();
    limited.args(arguments).current_dir(folder);
    // SAFETY: between fork and exec only `setrlimit` is called, which may be called there.
    unsafe {
        limited.pre_exec(move || {
            let limits = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
            match libc::setrlimit(resource.name(), &limits) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    limited.output().expect("the command runs")
}

#[derive(Clone, Copy, Debug)]
enum Resource {
    /// `ulimit -v`.
    AddressSpace,
    /// `ulimit -d`.
    Data,
}

impl Resource {
    #[cfg(target_env = "gnu")]
    fn name(self) -> libc::__rlimit_resource_t {
        match self {
            Resource::AddressSpace => libc::RLIMIT_AS,
            Resource::Data => libc::RLIMIT_DATA,
        }
    }

    #[cfg(not(target_env = "gnu"))]
    fn name(self) -> libc::c_int {
        match self {
            Resource::AddressSpace => libc::RLIMIT_AS,
            Resource::Data => libc::RLIMIT_DATA,
        }
    }
}

/// Whether a run had enough memory; otherwise it must say so, in one sentence.
fn had_enough(run: &Output, what: &str) -> bool {
    let said = text(&run.stderr);
    assert_eq!(run.status.signal(), None, "{what}: {said}");
    match run.status.code() {
        Some(0 | 3) => true,
        Some(71) => {
            assert_eq!(said.lines().count(), 1, "{what}: {said}");
            assert!(said.contains("memory"), "{what}: {said}");
            false
        }
        code => panic!("{what}: {code:?}: {said}"),
    }
}

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A random run: arguments of the command.
fn random_run(numbers: &mut Numbers) -> Vec<String> {
    let graphs =
        ["rmat:14", "web:30000", "grid:200x200", "uniform:30000,300000", "g.csv", "g.parton"];
    let algorithms = [
        "bfs",
        "sssp",
        "components",
        "pagerank",
        "kcore",
        "triangles",
        "hits",
        "strongly-connected",
    ];
    let policies = ["auto", "oec", "iec", "dual", "cvc", "hvc", "fennel", "random"];
    let algorithm = numbers.one_of(&algorithms);
    let mut run = vec!["run", algorithm, numbers.one_of(&graphs), "-q"];
    // Components that are stopped early are none.
    if algorithm != "strongly-connected" {
        run.extend(["--max-rounds", "4"]);
    }
    run.extend(["--hosts", numbers.one_of(&["1", "2", "3", "4", "7"])]);
    run.extend(["--threads", numbers.one_of(&["1", "2"])]);
    run.extend(["--policy", numbers.one_of(&policies)]);
    if numbers.below(3) == 0 {
        run.push("--force");
    }
    run.into_iter().map(str::to_owned).collect()
}

/// A limit for a random run, of a kind that takes turns.
enum RandomLimit {
    Resource(Resource, u64),
    Group(u64),
}

impl RandomLimit {
    /// Between nothing and enough.
    fn of(number: u64, numbers: &mut Numbers) -> Self {
        let mut between =
            |least: u64, most: u64| (least << 20) + numbers.below((most - least) << 20);
        match number % 3 {
            0 => RandomLimit::Resource(Resource::AddressSpace, between(40, 360)),
            1 => RandomLimit::Resource(Resource::Data, between(2, 80)),
            _ => RandomLimit::Group(between(8, 90)),
        }
    }

    /// Runs the command under it; `None` where no control group can be made.
    fn run(&self, folder: &Path, arguments: &[&str]) -> Option<Output> {
        match *self {
            RandomLimit::Resource(resource, bytes) => {
                Some(limited(folder, arguments, resource, bytes))
            }
            RandomLimit::Group(bytes) => Some(Group::new(bytes)?.run(folder, arguments)),
        }
    }

    fn name(&self) -> String {
        match self {
            RandomLimit::Resource(resource, bytes) => format!("{resource:?} {bytes}"),
            RandomLimit::Group(bytes) => format!("control group {bytes}"),
        }
    }
}

/// Runs under limits between nothing and enough. Returns how many ran, and how many had enough.
fn random_limits(runs: u64, seed: u64) -> (u64, u64) {
    let folder = folder();
    for file in ["g.csv", "g.parton"] {
        assert!(parton(folder.path(), &["generate", "rmat:13", file, "-q"]).status.success());
    }
    let mut numbers = Numbers(seed);
    let (mut ran, mut enough) = (0, 0);
    for number in 0..runs {
        let run = random_run(&mut numbers);
        let arguments: Vec<&str> = run.iter().map(String::as_str).collect();
        let limit = RandomLimit::of(number, &mut numbers);
        let what = format!("run {number} of seed {seed}, {}: {arguments:?}", limit.name());
        let Some(output) = limit.run(folder.path(), &arguments) else { continue };
        ran += 1;
        enough += u64::from(had_enough(&output, &what));
    }
    (ran, enough)
}

#[test]
fn a_run_under_a_limit_ends_with_a_sentence() {
    let (runs, is_long) = match std::env::var_os("PARTON_LONG") {
        Some(_) => (300, true),
        None => (18, false),
    };
    let (ran, enough) = random_limits(runs, 7);
    eprintln!("{ran} of {runs} runs under limits, {enough} of them had enough");
    // Without control groups, a third of the runs is left out.
    assert!(ran >= runs * 2 / 3, "{ran} of {runs} ran");
    // Both kinds of ends are tried.
    assert!(enough < ran && (!is_long || enough > 0), "{enough} of {ran} had enough");
}

#[test]
fn what_cannot_fit_is_refused_before_it_is_read() {
    let folder = folder();
    let bytes = 300 << 20;
    let run = ["run", "pagerank", "rmat:22", "-q", "--hosts", "4"];
    let refused = limited(folder.path(), &run, Resource::Data, bytes);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(71), "{said}");
    for part in
        ["pagerank on rmat:22 with 4 hosts needs about", "(ulimit -d)", "mpirun -n", "--force"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    // It is tried all the same if asked for, and ends where memory does.
    let forced = limited(folder.path(), &[&run[..], &["--force"]].concat(), Resource::Data, bytes);
    let said = text(&forced.stderr);
    assert_eq!(forced.status.code(), Some(71), "{said}");
    assert!(said.contains("out of memory") && said.contains("more cannot be had"), "{said}");
    let cut = ["partition", "rmat:22", "-q", "--policy", "cvc"];
    let said = text(&limited(folder.path(), &cut, Resource::Data, bytes).stderr);
    assert!(said.contains("partitioning rmat:22 over 4 hosts by cvc needs about"), "{said}");
}

/// Stacks of threads are reserved, and hardly used: twelve of two mebibytes.
const STACKS: u64 = 12 * (2 << 20);

/// A plan may be off: limits a little below it refuse nothing, and what then does not fit says so.
#[test]
fn a_run_that_just_may_fit_ends_with_a_sentence() {
    let folder = folder();
    let graph = ["rmat:17", "--json", "-q", "--hosts", "1"];
    let plan = [&["plan"], &graph[..], &["--no-trial", "--algorithm", "bfs"]].concat();
    let planned = parton(folder.path(), &plan);
    let planned: serde_json::Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    let likely = &planned["plans"][0]["memory"]["process_peak"]["likely"];
    let likely = likely.as_f64().expect("bytes");
    for part in [0.65, 0.8, 0.9, 1.0, 1.3] {
        let bytes = (part * likely) as u64 + STACKS;
        let run = [&["run", "bfs"], &graph[..], &["--threads", "1"]].concat();
        let ended = limited(folder.path(), &run, Resource::Data, bytes);
        let what = format!("bfs with {part} of what is planned");
        let fits = had_enough(&ended, &what);
        assert!(!text(&ended.stderr).contains("needs"), "{what} is not refused");
        assert!(fits || part < 1.25, "{what}: {}", text(&ended.stderr));
    }
}

/// A control group for a test, if this machine lets us make one.
struct Group(PathBuf);

/// Numbers of the groups of this process.
static GROUPS: AtomicU32 = AtomicU32::new(0);

impl Group {
    /// A group of version 2, or else of version 1, below that of this process or at the root.
    fn new(bytes: u64) -> Option<Self> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let of = |mark: &str| groups.lines().find_map(|line| Some(line.split_once(mark)?.1));
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        let name = format!("parton-test-{}-{number}", std::process::id());
        let made = |mount: &str, own: Option<&str>, set: fn(&Path, u64) -> std::io::Result<()>| {
            let mount = Path::new(mount);
            let parents = [mount.join(own?.trim_start_matches('/')), mount.to_owned()];
            parents.into_iter().find_map(|parent| {
                let group = Group(parent.join(&name));
                std::fs::create_dir(&group.0).ok()?;
                set(&group.0, bytes).ok()?;
                Some(group)
            })
        };
        made("/sys/fs/cgroup", of("0::"), limit_version_2)
            .or_else(|| made("/sys/fs/cgroup/memory", of(":memory:"), limit_version_1))
    }

    /// Runs the command in the group.
    fn run(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut inside = command();
        let members = self.0.join("cgroup.procs");
        // SAFETY: a file is written between fork and exec, by one thread.
        unsafe {
            inside.pre_exec(move || std::fs::write(&members, std::process::id().to_string()));
        }
        inside.args(arguments).current_dir(folder).output().expect("the command runs")
    }
}

/// Limits a group of version 2, swap included, which its parent must have handed memory down to.
fn limit_version_2(group: &Path, bytes: u64) -> std::io::Result<()> {
    if let Some(parent) = group.parent() {
        // Refused where the parent has processes of its own, unless it is the root.
        let _ = std::fs::write(parent.join("cgroup.subtree_control"), "+memory");
    }
    // Files of the system appear with the group. Without the controller there is none, and none is made.
    let set = |file: &str, value: String| match group.join(file).exists() {
        true => std::fs::write(group.join(file), value),
        false => Err(std::io::ErrorKind::NotFound.into()),
    };
    let _no_swap = set("memory.swap.max", "0".into());
    set("memory.max", bytes.to_string())
}

fn limit_version_1(group: &Path, bytes: u64) -> std::io::Result<()> {
    std::fs::write(group.join("memory.limit_in_bytes"), bytes.to_string())
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_control_group_is_no_reason_to_be_killed() {
    let folder = folder();
    let Some(group) = Group::new(64 << 20) else {
        eprintln!(
            "no control group can be made here: reading their limits is tested in parton-graph"
        );
        return;
    };
    let refused = group.run(folder.path(), &["run", "bfs", "rmat:22", "-q"]);
    assert_eq!(refused.status.code(), Some(71), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("limit of the control group"));
    for hosts in ["1", "4"] {
        let run = ["run", "pagerank", "rmat:19", "-q", "--force", "--hosts", hosts];
        let ended = group.run(folder.path(), &run);
        assert!(!had_enough(&ended, "a group of 64 MiB"));
        let small = ["run", "bfs", "rmat:10", "-q", "--hosts", hosts];
        assert!(had_enough(&group.run(folder.path(), &small), "a small graph"));
    }
}
