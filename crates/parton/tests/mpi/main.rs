//! The command under real launchers: the answers of one process, one message, one exit code.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../net/tests/common/launchers.rs"]
mod launchers;
mod limits;
mod loss;
mod namespaces;
mod unlike;

use std::path::Path;
use std::process::{Child, Command};

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
fn ranks_compute_on_devices() {
    let folder = folder();
    for mpi in launchers::ALL {
        for (devices, expected) in
            [("emulated", ["emulated:0"; 2]), ("cpu,emulated", ["cpu", "emulated:0"])]
        {
            let what =
                ["run", "bfs", "rmat:8", "--devices", devices, "--verify", "--json", "--quiet"];
            let ended = run(mpi, 2, folder.path(), &what);
            assert!(ended.status.success(), "{}: {ended:?}", mpi.name);
            let found: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
            let device = |host: usize| found["per_host"][host]["device"].as_str();
            assert_eq!([device(0), device(1)], expected.map(Some));
            assert_eq!(found["verified"], true);
        }
        // One list is for all ranks.
        let ended =
            run(mpi, 2, folder.path(), &["run", "bfs", "rmat:8", "--devices", "3*emulated"]);
        ended.assert_refused(2, &["is for 3 hosts, and there are 2"]);
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
