//! Where memory ends: refusals before a run, one sentence and code 71 in it, never a signal.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Output;

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

/// Runs under limits between nothing and enough. Returns how many had enough.
fn random_limits(runs: u64, seed: u64) -> u64 {
    let folder = folder();
    for file in ["g.csv", "g.parton"] {
        assert!(parton(folder.path(), &["generate", "rmat:13", file, "-q"]).status.success());
    }
    let mut numbers = Numbers(seed);
    let mut enough = 0;
    for number in 0..runs {
        let run = random_run(&mut numbers);
        let arguments: Vec<&str> = run.iter().map(String::as_str).collect();
        let (resource, least, most) = match numbers.below(2) {
            0 => (Resource::AddressSpace, 40 << 20, 360 << 20),
            _ => (Resource::Data, 2 << 20, 80 << 20),
        };
        let bytes = least + numbers.below(most - least);
        let output = limited(folder.path(), &arguments, resource, bytes);
        let what = format!("run {number} of seed {seed}, {resource:?} {bytes}: {arguments:?}");
        enough += u64::from(had_enough(&output, &what));
    }
    enough
}

#[test]
fn a_run_under_a_limit_ends_with_a_sentence() {
    let (runs, is_long) = match std::env::var_os("PARTON_LONG") {
        Some(_) => (200, true),
        None => (16, false),
    };
    let enough = random_limits(runs, 7);
    // Both kinds of ends are tried.
    assert!(enough < runs && (!is_long || enough > 0), "{enough} of {runs} had enough");
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

/// A control group for a test, if this machine lets us make one.
struct Group(PathBuf);

impl Group {
    fn new(bytes: u64) -> Option<Self> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = groups.lines().find_map(|line| line.split_once(":memory:"))?.1;
        let name = format!("parton-test-{}", std::process::id());
        let parents = [Path::new("/sys/fs/cgroup/memory").join(own.trim_start_matches('/'))];
        let parents = parents.into_iter().chain([PathBuf::from("/sys/fs/cgroup/memory")]);
        parents.into_iter().find_map(|parent| {
            let group = Group(parent.join(&name));
            std::fs::create_dir(&group.0).ok()?;
            std::fs::write(group.0.join("memory.limit_in_bytes"), bytes.to_string()).ok()?;
            Some(group)
        })
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

/// The peak of a run in bytes.
fn peak(arguments: &[&str]) -> u64 {
    let folder = folder();
    let run = parton(folder.path(), arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    report["memory_peak_bytes"].as_u64().expect("a peak")
}

/// A host costs less than a megabyte, and a pair of hosts a kilobyte or two.
#[test]
fn many_hosts_cost_little_each() {
    let few = |hosts| ["run", "bfs", "uniform:6000,50000", "--json", "-q", "--hosts", hosts];
    let bytes = peak(&few("200"));
    assert!(bytes < 200 << 20, "{bytes} bytes for 200 hosts");
}

#[test]
fn plans_say_what_runs_need() {
    let folder = folder();
    let plan = ["plan", "rmat:17", "--algorithm", "bfs,pagerank", "--hosts", "1,4", "--json", "-q"];
    let planned = parton(folder.path(), &plan);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let planned: serde_json::Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    assert_eq!(planned["graph"]["vertices"], 131072.0);
    let rows = planned["plans"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        let (algorithm, hosts) = (row["algorithm"].as_str().unwrap(), row["hosts"].to_string());
        let run = ["run", algorithm, "rmat:17", "--hosts", &hosts, "--json", "-q"];
        let measured = peak(&run) as f64;
        let likely = row["memory"]["process_peak"]["likely"].as_f64().unwrap();
        assert!((0.6..1.6).contains(&(likely / measured)), "{row}: {measured}");
        assert!(row["engine"].is_string() && row["seconds"]["run"]["high"].as_f64().unwrap() > 0.0);
    }
    let advice = &planned["recommendation"]["bfs"];
    assert_eq!((advice["hosts"].as_u64(), advice["on_machines"].as_bool()), (Some(1), Some(false)));
    assert!(!advice["reasons"].as_array().unwrap().is_empty());

    // A graph that no machine holds is planned as fast.
    let run = ["plan", "rmat:31", "--algorithm", "bfs", "--hosts", "1,64", "--no-trial", "-q"];
    let planned = parton(folder.path(), &run);
    let said = text(&planned.stdout);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    assert!(said.contains("GB") && said.contains("a sample of"), "{said}");
    for (arguments, problem) in [
        (&["plan", "rmat:5", "--algorithm", "nosuch"][..], "unknown algorithm"),
        (&["plan", "rmat:5", "--policy", "nosuch"], "unknown policy"),
    ] {
        let refused = parton(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(problem), "{}", text(&refused.stderr));
    }
}

#[test]
fn cuts_end_with_a_recommendation() {
    let folder = folder();
    for (policy, expected) in [("all", "sends the least"), ("oec", "compare --policy all")] {
        let run = ["partition", "rmat:12", "--hosts", "4", "--policy", policy, "-q"];
        let said = text(&parton(folder.path(), &run).stdout);
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("recommendation: ") && last.contains(expected), "{said}");
    }
}

#[test]
fn a_save_that_fails_leaves_nothing() {
    let folder = folder();
    let folder = folder.path();
    let save = ["partition", "rmat:12", "--hosts", "3", "--policy", "cvc", "-q", "--save", "cut"];
    let mut limited = command();
    limited.args(save).current_dir(folder);
    // SAFETY: between fork and exec only `setrlimit` is called, which may be called there.
    unsafe {
        limited.pre_exec(|| {
            let limits = libc::rlimit { rlim_cur: 50_000, rlim_max: 50_000 };
            libc::setrlimit(libc::RLIMIT_FSIZE, &limits);
            Ok(())
        });
    }
    let failed = limited.output().expect("the command runs");
    assert_eq!(failed.status.code(), Some(74), "{}", text(&failed.stderr));
    assert_eq!(crate::common::files(folder), [""; 0], "{}", text(&failed.stderr));
    assert!(parton(folder, &save).status.success());
    assert!(folder.join("cut/manifest.json").is_file());
    // An old partition is replaced.
    assert!(parton(folder, &save).status.success());
    assert!(parton(folder, &["run", "bfs", "cut", "-q"]).status.success());
}
