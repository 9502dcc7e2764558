//! The command under real launchers: the answers of one process, one message, one exit code, and
//! nobody left behind when a rank dies or hangs.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../net/tests/common/launchers.rs"]
mod launchers;
mod namespaces;

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use common::{files, folder, parton, text};
use launchers::{Ended, Mpi};
use serde_json::Value;

const PARTON: &str = env!("CARGO_BIN_EXE_parton");

/// The command on ranks, in a folder.
fn start(mpi: Mpi, ranks: usize, folder: &Path, arguments: &[&str]) -> Child {
    launchers::start(mpi.launch(ranks).arg(PARTON).args(arguments).current_dir(folder))
}

fn run(mpi: Mpi, ranks: usize, folder: &Path, arguments: &[&str]) -> Ended {
    launchers::wait(start(mpi, ranks, folder, arguments))
}

/// The same where each rank goes through a line of shell first, which finds its number in `$rank`.
fn run_after(line: &str, mpi: Mpi, ranks: usize, folder: &Path, arguments: &[&str]) -> Ended {
    let line = format!("rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {line}; exec \"$@\"");
    let mut command = mpi.launch(ranks);
    command.args(["bash", "-c", &line, "bash", PARTON]).args(arguments).current_dir(folder);
    launchers::wait(launchers::start(&mut command))
}

impl Ended {
    /// What ranks had to say, less what they say of a small machine.
    fn said(&self) -> Vec<&str> {
        let lines = self.stderr.lines().filter(|line| line.starts_with("parton: "));
        lines.filter(|line| !line.contains("take turns")).collect()
    }

    /// Refused with one message and this code.
    fn assert_refused(&self, code: i32, words: &[&str]) {
        let said = self.said();
        assert!(said.len() == 1, "one message: {self:?}");
        for word in words {
            assert!(said[0].contains(word), "{word}: {said:?}");
        }
        assert_eq!((self.status.code(), &self.stdout[..]), (Some(code), ""), "{self:?}");
    }
}

#[test]
fn ranks_find_what_threads_find() {
    let folder = folder();
    let cases = [
        ["bfs", "cvc", "all"],
        ["sssp", "hvc", "temporal"],
        ["components", "iec", "all"],
        ["pagerank", "oec", "none"],
        ["bfs", "random", "structural"],
        ["pagerank", "cvc", "all"],
    ];
    let sizes = launchers::ALL.into_iter().flat_map(|mpi| [2, 3, 4].map(|ranks| (mpi, ranks)));
    for ((mpi, ranks), [algorithm, policy, optimize]) in sizes.zip(cases) {
        let what = [
            "run",
            algorithm,
            "rmat:11",
            "--policy",
            policy,
            "--optimize",
            optimize,
            "--threads",
            "1",
            "--verify",
            "--json",
            "--quiet",
        ];
        let ended = run(mpi, ranks, folder.path(), &[&what[..], &["--output", "a.csv"]].concat());
        assert!(ended.status.success(), "{}: {ended:?}", mpi.name);
        let found: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
        let hosts = ranks.to_string();
        let alone = [&what[..], &["--hosts", &hosts, "--output", "b.csv"]].concat();
        let alone = parton(folder.path(), &alone);
        let expected: Value = serde_json::from_slice(&alone.stdout).expect("one JSON object");
        for name in ["hosts", "rounds", "result", "bytes", "messages", "replication", "verified"] {
            assert_eq!(found[name], expected[name], "{} {algorithm} {name}", mpi.name);
        }
        assert_eq!(found["per_host"].as_array().map(Vec::len), Some(ranks));
        let [a, b] = ["a.csv", "b.csv"].map(|name| std::fs::read(folder.path().join(name)));
        assert!(a.expect("a file") == b.expect("a file"), "{} {algorithm}: rows", mpi.name);
    }
}

#[test]
fn each_rank_writes_its_part_of_a_folder() {
    let folder = folder();
    let path = folder.path();
    // Names, so that ids travel as text, and vertices that are called by names.
    std::fs::write(path.join("edges.csv"), "ann,bob\nbob,cat\ncat,ann\ndan,eve\n").unwrap();
    let whole = ["run", "components", "edges.csv", "--quiet", "--output"];
    let alone = parton(path, &[&whole[..], &["alone.tsv"]].concat());
    assert!(alone.status.success(), "{}", text(&alone.stderr));
    let lines = |name: &str| {
        let text = std::fs::read_to_string(path.join(name)).expect("a file");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = lines("alone.tsv");
    for mpi in launchers::ALL {
        let ended = run(mpi, 3, path, &[&whole[..], &["parts.tsv/"]].concat());
        assert!(ended.status.success(), "{ended:?}");
        let parts = files(&path.join("parts.tsv"));
        assert_eq!(parts, ["part-00000.tsv", "part-00001.tsv", "part-00002.tsv"]);
        let parts = parts.iter().map(|part| lines(&format!("parts.tsv/{part}")));
        let mut rows: Vec<_> = parts.flat_map(|part| part.into_iter().skip(1)).collect();
        rows.sort();
        assert_eq!(rows, expected[1..]);
        // What is there is not mixed with something new, nor lost.
        let again = run(mpi, 3, path, &[&whole[..], &["parts.tsv/"]].concat());
        again.assert_refused(2, &["parts.tsv/", "files in this folder"]);
        std::fs::remove_dir_all(path.join("parts.tsv")).unwrap();
        let ended = run(mpi, 2, path, &[&whole[..], &["merged.tsv"]].concat());
        assert!(ended.status.success() && lines("merged.tsv") == expected, "{ended:?}");
    }
    // Hosts of one process do the same.
    let alone = parton(path, &[&whole[..], &["parts/", "--hosts", "2"]].concat());
    assert!(alone.status.success(), "{}", text(&alone.stderr));
    assert_eq!(files(&path.join("parts")), ["part-00000.csv", "part-00001.csv"]);
}

#[test]
fn partitions_are_saved_and_loaded_by_ranks() {
    let folder = folder();
    let path = folder.path();
    let [open_mpi, mpich] = launchers::ALL;
    let cut = ["partition", "rmat:10", "--policy", "cvc", "--save", "cut", "--json"];
    let saved = run(open_mpi, 3, path, &cut);
    let saved: Value = serde_json::from_str(&saved.stdout).expect("one JSON object");
    assert_eq!((&saved["hosts"], &saved["policy"]), (&3.into(), &"cvc".into()));
    let page = ["run", "bfs", "cut", "--json", "--report", "report.html"];
    let ended = run(mpich, 3, path, &page);
    assert!(ended.status.success(), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!(found["policy"], "cvc");
    assert!(path.join("report.html").is_file());
    run(mpich, 2, path, &page).assert_refused(2, &["saved for 3 hosts", "2 ranks"]);
}

#[test]
fn wrong_launches_are_told_in_one_sentence() {
    let folder = folder();
    let path = folder.path();
    let bfs = ["run", "bfs", "rmat:6"];
    for (mpi, other) in launchers::ALL.into_iter().zip(["libmpich.so.12", "libmpi.so.40"]) {
        let refused = |arguments: &[&str], code, words: &[&str]| {
            run(mpi, 2, path, arguments).assert_refused(code, words);
        };
        refused(&[&bfs[..], &["--hosts", "3"]].concat(), 2, &["asks for 3", "started 2 ranks"]);
        refused(&["convert", "rmat:6", "x.csv"], 2, &["only `run` and `partition`"]);
        refused(&["run", "bfs", "missing.csv"], 66, &["parton: missing.csv: no such file"]);
        refused(&["run", "bfs", "-"], 2, &["only one rank gets what is piped"]);

        let with_library = |library: &str| {
            let mut command = mpi.launch(2);
            command.arg(PARTON).args(bfs).env("PARTON_MPI_LIBRARY", library);
            launchers::wait(launchers::start(&mut command))
        };
        with_library("/missing/libmpi.so")
            .assert_refused(2, &["started 2 ranks", "no MPI library", "/missing/libmpi.so"]);
        let ended = run(mpi, 2, path, &[&bfs[..], &["--mpi", "/named/libmpi.so"]].concat());
        ended.assert_refused(2, &["started 2 ranks", "no MPI library", "/named/libmpi.so"]);
        with_library(other).assert_refused(2, &["started 2 ranks", other, "it is alone"]);

        // Told by clap, in its own form, once.
        let ended = run(mpi, 2, path, &["run", "bfs", "rmat:6", "--hots", "2"]);
        assert_eq!(ended.status.code(), Some(2));
        assert_eq!(ended.stderr.matches("unexpected argument").count(), 1, "{ended:?}");
        let ended = run(mpi, 2, path, &["--version"]);
        assert!(ended.status.success() && ended.stdout.lines().count() == 1, "{ended:?}");
    }
    let alone = Command::new(PARTON)
        .args(bfs)
        .envs([("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "0")])
        .output()
        .expect("the command runs");
    assert_eq!(alone.status.code(), Some(2));
    assert!(text(&alone.stderr).contains("srun --mpi=pmix"), "{}", text(&alone.stderr));
}

#[test]
fn what_cannot_be_read_in_shares_is_said() {
    let folder = folder();
    let path = folder.path();
    let packed = parton(path, &["generate", "rmat:8", "edges.txt.gz"]);
    assert!(packed.status.success(), "{}", text(&packed.stderr));
    let [open_mpi, mpich] = launchers::ALL;
    let ended = run(open_mpi, 2, path, &["run", "bfs", "edges.txt.gz", "--verify"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stderr.contains("packed text cannot be split"), "{ended:?}");
    assert!(ended.stderr.contains("convert it to .parton"), "{ended:?}");
    let ended = run(mpich, 2, path, &["run", "bfs", "edges.txt.gz", "--undirected", "--verify"]);
    assert!(
        ended.status.success() && ended.stderr.contains("every rank reads the whole"),
        "{ended:?}"
    );
}

#[test]
fn one_rank_is_a_process_like_any_other() {
    for mpi in launchers::ALL {
        let ended = run(mpi, 1, folder().path(), &["run", "bfs", "rmat:6", "--hosts", "2"]);
        assert!(ended.status.success() && ended.stdout.contains("hosts        2"), "{ended:?}");
    }
}

#[test]
fn ranks_that_differ_are_found_out() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    std::fs::write(path.join("edges.csv"), "1,2\n2,3\n").unwrap();
    std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,x,y\n").unwrap();
    let bfs = ["run", "bfs", "edges.csv", "--output", "out.csv"];
    for mpi in launchers::ALL {
        let told = r#"[ $rank = 1 ] && set -- "$@" --verify"#;
        let ended = run_after(told, mpi, 2, path, &bfs);
        ended.assert_refused(2, &["rank 1", "--verify", "started alike"]);

        let build = format!(
            "[ $rank = 1 ] && {{ cp {PARTON} other && echo >> other && shift && set -- ./other \"$@\"; }}"
        );
        let ended = run_after(&build, mpi, 2, path, &bfs);
        ended.assert_refused(2, &["rank 0 runs parton", "but rank 1 parton", "started alike"]);
        std::fs::remove_file(path.join("other")).unwrap();

        let ended = run_after("[ $rank = 2 ] && cd /", mpi, 3, path, &bfs);
        ended.assert_refused(66, &["host 2: edges.csv: no such file"]);

        let elsewhere = "[ $rank = 1 ] && cd elsewhere";
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        ended.assert_refused(65, &["edges.csv", "but rank 1", "must see the same input"]);
        // As long as the other, and a graph, too.
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n3,2\n").unwrap();
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        ended.assert_refused(65, &["edges.csv", "but rank 1", "must see the same input"]);
        assert_eq!(files(path), ["edges.csv", "elsewhere"]);
        // A copy is as good.
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,3\n").unwrap();
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        assert!(ended.status.success(), "{ended:?}");
        std::fs::remove_file(path.join("out.csv")).unwrap();
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,x,y\n").unwrap();
    }
}

#[test]
fn ranks_with_other_ids_beside_a_graph_are_found_out() {
    let folder = folder();
    let path = folder.path();
    let other = path.join("elsewhere");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(path.join("names.csv"), "ada,bob\nbob,eve\n").unwrap();
    let converted = parton(path, &["convert", "names.csv", "n.gr", "-q"]);
    assert!(converted.status.success(), "{}", text(&converted.stderr));
    std::fs::copy(path.join("n.gr"), other.join("n.gr")).unwrap();
    let ids = std::fs::read_to_string(path.join("n.gr.ids")).unwrap();
    let elsewhere = "[ $rank = 1 ] && cd elsewhere";
    for mpi in launchers::ALL {
        let _ = std::fs::remove_file(other.join("n.gr.ids"));
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        ended.assert_refused(65, &["n.gr.ids: rank 0 sees", "but rank 1 no such file"]);
        std::fs::write(other.join("n.gr.ids"), ids.replace("bob", "cob")).unwrap();
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        ended.assert_refused(65, &["n.gr.ids: rank 0 sees", "must see the same input"]);
        std::fs::write(other.join("n.gr.ids"), &ids).unwrap();
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        assert!(ended.status.success(), "{ended:?}");
    }
}

#[test]
fn a_full_disk_stops_all_ranks() {
    let folder = folder();
    let path = folder.path();
    std::os::unix::fs::symlink("/dev/full", path.join("out.csv")).unwrap();
    // To give one rank a small disk of its own takes the right to mount it.
    let mount = "mount -t tmpfs -o size=16k small disk";
    let may_mount = Command::new("unshare").args(["-m", "true"]).status();
    let may_mount = may_mount.is_ok_and(|status| status.success());
    if !may_mount {
        eprintln!("not tried, as this user may not mount: a small disk on one rank");
    }
    for mpi in launchers::ALL {
        let ended = run(mpi, 2, path, &["run", "bfs", "rmat:12", "--output", "out.csv"]);
        ended.assert_refused(74, &["host 0: out.csv: cannot write", "No space left"]);
        if may_mount {
            std::fs::create_dir(path.join("disk")).unwrap();
            let own_disk = format!(
                "[ $rank = 1 ] && set -- unshare -m bash -c '{mount} && exec \"$@\"' bash \"$@\""
            );
            let bfs = ["run", "bfs", "rmat:14", "--output", "disk/out/"];
            let ended = run_after(&own_disk, mpi, 3, path, &bfs);
            ended.assert_refused(74, &["host 1: disk/out/part-00001.csv", "No space left"]);
            assert_eq!(files(&path.join("disk")), [""; 0], "no part of an answer");
            std::fs::remove_dir(path.join("disk")).unwrap();
        }
    }
}

/// Processes that are ranks of a launch in this folder, by rank.
fn ranks_in(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes") {
        let process = entry.expect("an entry").path();
        let Some(pid) = process.file_name().and_then(|n| n.to_str()?.parse().ok()) else {
            continue;
        };
        let is_ours = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder)
            && std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == Path::new(PARTON));
        let variables = std::fs::read_to_string(process.join("environ")).unwrap_or_default();
        let rank = variables.split('\0').find_map(|variable| {
            let rank = variable.strip_prefix("OMPI_COMM_WORLD_RANK=");
            rank.or(variable.strip_prefix("PMI_RANK=")).map(str::to_owned)
        });
        if let (true, Some(rank)) = (is_ours, rank) {
            found.push((rank, pid));
        }
    }
    found
}

/// Starts a run that takes long and does something to its rank 2 when rounds are under way.
fn lose_a_rank(mpi: Mpi, signal: &str) -> Ended {
    // How long it takes until rounds are under way depends on who else uses the machine.
    for seconds in [1, 4, 16, 64] {
        let folder = folder();
        let ended = lose_a_rank_after(seconds, mpi, &folder.path().canonicalize().unwrap(), signal);
        if !ended.stderr.contains("before the first round") {
            return ended;
        }
    }
    panic!("no round in a minute");
}

fn lose_a_rank_after(seconds: u64, mpi: Mpi, folder: &Path, signal: &str) -> Ended {
    // A round for every vertex.
    let long =
        ["run", "bfs", "path:500000", "--root", "0", "--engine", "frontier", "--output", "x/"];
    let child = start(mpi, 4, folder, &long);
    let mut ticks = 0;
    let victim = loop {
        let ranks = ranks_in(folder);
        if let (4, Some((_, pid))) = (ranks.len(), ranks.iter().find(|(rank, _)| rank == "2")) {
            break *pid;
        }
        ticks += 1;
        assert!(ticks < 600, "ranks start");
        std::thread::sleep(Duration::from_millis(100));
    };
    std::thread::sleep(Duration::from_secs(seconds));
    let killed = Command::new("bash").args(["-c", &format!("kill -{signal} {victim}")]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let ended = launchers::wait(child);
    assert!(!ended.status.success(), "{ended:?}");
    assert!(ended.ticks <= 100, "ended within ten seconds: {ended:?}");
    // What the launcher kills may take a moment to go.
    let mut looks = 0;
    while !ranks_in(folder).is_empty() {
        looks += 1;
        assert!(looks < 30, "orphans: {:?}", ranks_in(folder));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!folder.join("x").exists(), "nothing under the final name");
    ended
}

/// True if a part lies in a folder that has not got its name yet.
fn has_hidden_part(folder: &Path) -> bool {
    let hidden = files(folder).into_iter().filter(|name| name.starts_with('.'));
    // The folder may have been renamed since it was listed.
    let entries = hidden.filter_map(|name| std::fs::read_dir(folder.join(name)).ok()).flatten();
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("part-"))
}

/// Ends a rank as soon as the first part of a folder is sealed, while the folder has not got its name.
/// False if the run finished before.
fn lose_a_rank_while_parts_are_sealed(mpi: Mpi, signal: &str, rank: &str) -> bool {
    let folder = folder();
    let folder = &folder.path().canonicalize().unwrap();
    // Many rows and few rounds.
    let arguments = ["run", "bfs", "uniform:1000000,1000000", "--output", "x/", "-q"];
    let mut child = start(mpi, 3, folder, &arguments);
    let mut victim = None;
    while !has_hidden_part(folder) && child.try_wait().expect("a child").is_none() {
        if victim.is_none() {
            victim = ranks_in(folder).into_iter().find(|(number, _)| number == rank);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let (_, pid) = victim.expect("a rank was seen while it ran");
    // It fails if the process is gone.
    let _ = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).output();
    let ended = launchers::wait(child);
    let is_there = folder.join("x").exists();
    if is_there {
        let parts = ["part-00000.csv", "part-00001.csv", "part-00002.csv"];
        assert_eq!(files(&folder.join("x")), parts, "all or nothing: {ended:?}");
    }
    assert!(is_there || !ended.status.success(), "{ended:?}");
    !is_there
}

#[test]
fn a_rank_that_ends_while_parts_are_sealed_leaves_none() {
    for mpi in launchers::ALL {
        let mut tries = 0;
        for (signal, rank) in [("KILL", "0"), ("KILL", "1"), ("TERM", "0"), ("TERM", "2")] {
            // A run on a fast machine may end before the signal comes.
            while !lose_a_rank_while_parts_are_sealed(mpi, signal, rank) {
                tries += 1;
                assert!(tries < 20, "{}: every run ends too soon", mpi.name);
            }
        }
    }
}

#[test]
fn a_rank_that_dies_takes_all_along() {
    for mpi in launchers::ALL {
        let ended = lose_a_rank(mpi, "KILL");
        let said = ended.said();
        // MPICH's launcher kills the others at once: they may or may not have had their say.
        if mpi.name == "Open MPI" {
            assert_eq!(said.len(), 3, "{ended:?}");
        }
        for said in said {
            assert!(said.contains("host 2 was lost in round"), "{said}");
        }
    }
}

#[test]
fn a_rank_that_hangs_is_noticed_and_ended() {
    for mpi in launchers::ALL {
        let ended = lose_a_rank(mpi, "STOP");
        let told =
            ended.said().iter().filter(|said| said.contains("host 2 was lost in round")).count();
        assert_eq!(told, 3, "{ended:?}");
        if mpi.name == "Open MPI" {
            assert_eq!(ended.status.code(), Some(69));
        }
    }
}

/// While MPI starts, no message can be sent: ranks look for each other in the system.
#[test]
fn a_rank_that_does_not_come_is_named() {
    launchers::ALL.into_iter().for_each(stop_a_rank_before_it_starts);
}

fn stop_a_rank_before_it_starts(mpi: Mpi) {
    let folder = folder();
    let folder = folder.path().canonicalize().unwrap();
    let line = "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ] && kill -STOP $$; exec \"$@\"";
    let mut command = mpi.launch(3);
    command.args(["bash", "-c", line, "bash", PARTON, "run", "bfs", "rmat:6", "-q"]);
    let child = launchers::start(command.current_dir(&folder));
    // Thirty seconds until it is said, and some for a slow machine.
    std::thread::sleep(Duration::from_secs(34));
    let go_on = "for p in $(pgrep -x bash); do [ \"$(readlink /proc/$p/cwd)\" = \"$PWD\" ] && \
                 kill -CONT $p; done; true";
    let woken = Command::new("bash").args(["-c", go_on]).current_dir(&folder).status();
    assert!(woken.is_ok_and(|status| status.success()));
    let ended = launchers::wait(child);
    assert!(ended.status.success(), "{ended:?}");
    let said = ended.said();
    assert!(
        said.iter().any(|said| said.contains("rank 1 (process ") && said.contains("is stopped")),
        "{ended:?}"
    );
}
