//! Requests and inputs that must not end in a wrong answer, a mixture of answers, or half of one.

use crate::common::{files, folder, parton, text};

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the command says when it ends with this code.
pub(crate) fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let run = parton(folder, arguments);
    assert_eq!(run.status.code(), Some(code), "{arguments:?}: {}", text(&run.stderr));
    text(&run.stderr)
}

pub(crate) fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), contents).expect("a file");
}

#[test]
fn undirected_adds_only_the_edges_that_are_missing() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "a.el", "0 1\n1 0\n0 2\n");
    write(folder, "b.el", "0 1 5\n1 0 6\n");
    let edges = |arguments: &[&str]| {
        let run = parton(folder, arguments);
        assert!(run.status.success(), "{}", text(&run.stderr));
        let mut lines: Vec<_> = text(&run.stdout).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let convert = |file| edges(&["convert", file, "-", "--to", "edges", "--undirected", "-q"]);
    assert_eq!(convert("a.el"), ["0 1", "0 2", "1 0", "2 0"]);
    // Weights are no reason to add an edge; the lesser is what a path would take.
    assert_eq!(convert("b.el"), ["0 1 5", "1 0 5"]);
    for hosts in ["1", "2"] {
        let run = ["run", "pagerank", "b.el", "--undirected", "--json", "-q", "--hosts", hosts];
        let report: serde_json::Value =
            serde_json::from_slice(&parton(folder, &run).stdout).expect("JSON");
        assert_eq!(report["graph"]["edges"], 2);
    }
}

/// Two runs into one folder: one of them has it, the other is refused; nothing is mixed.
#[test]
fn a_folder_has_one_writer() {
    let folder = folder();
    let folder = folder.path();
    let start = |root: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parton"));
        command.args(["run", "bfs", "path:60000", "--engine", "push", "--hosts", "3"]);
        command.args(["--output", "out/", "--root", root]).current_dir(folder);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command runs")
    };
    let runs = [start("0"), start("5")].map(|run| run.wait_with_output().expect("an end"));
    let [won, lost]: [Vec<_>; 2] = [true, false]
        .map(|success| runs.iter().filter(|run| run.status.success() == success).collect());
    assert_eq!((won.len(), lost.len()), (1, 1));
    assert_eq!(lost[0].status.code(), Some(2), "{}", text(&lost[0].stderr));
    let said = text(&lost[0].stderr);
    assert!(said.contains("out/: "), "{said}");
    assert_eq!(files(folder), ["out"]);
    assert_eq!(files(&folder.join("out")).len(), 3);
}

/// Every flipped bit of the arrays of a file is found by whichever hosts read it.
#[test]
fn a_damaged_input_is_never_verified() {
    let folder = folder();
    let folder = folder.path();
    let made = ["generate", "rmat:7", "g.parton", "--weights", "random:1..9", "-q"];
    assert!(parton(folder, &made).status.success());
    let sound = std::fs::read(folder.join("g.parton")).unwrap();
    for (hosts, policy) in [("1", "auto"), ("2", "oec"), ("2", "iec"), ("2", "dual")] {
        let run = ["run", "sssp", "x.parton", "--verify", "-q", "--hosts", hosts];
        let run = [&run[..], &["--policy", policy]].concat();
        write(folder, "x.parton", &sound);
        assert!(parton(folder, &run).status.success());
        for share in [30, 60, 90] {
            let mut bytes = sound.clone();
            bytes[sound.len() * share / 100] ^= 4;
            write(folder, "x.parton", &bytes);
            let ended = parton(folder, &run);
            // In-edges, the last third, are not read by hosts that need out-edges only.
            assert_eq!(ended.status.code(), Some(65), "{policy}: {}", text(&ended.stderr));
        }
    }
}

/// The bytes of a file with checksums that fit what `change` does to its sections.
fn forged(bytes: &[u8], change: impl Fn(&mut [u8], &dyn Fn(u32) -> usize)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let first = word(&bytes, 72);
    let mut entries = Vec::new();
    while 64 + 24 * entries.len() + 24 <= first {
        let at = 64 + 24 * entries.len();
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        if !(1..=9).contains(&kind)
            || entries.iter().any(|entry: &(u32, usize, usize)| entry.0 >= kind)
        {
            break;
        }
        entries.push((kind, word(&bytes, at + 8), word(&bytes, at + 16)));
    }
    let place = |kind: u32| entries.iter().find(|entry| entry.0 == kind).unwrap().1;
    change(&mut bytes, &place);
    let sums = 64 + 24 * entries.len();
    for (number, (_, at, len)) in entries.iter().filter(|entry| entry.2 > 0).enumerate() {
        let sum = crc32fast::hash(&bytes[*at..at + len]);
        bytes[sums + 4 * number..][..4].copy_from_slice(&sum.to_le_bytes());
    }
    let blocks = entries.iter().filter(|entry| entry.2 > 0).count();
    let tables = crc32fast::hash(&bytes[64..sums + 4 * blocks]);
    bytes[56..60].copy_from_slice(&tables.to_le_bytes());
    let header = crc32fast::hash(&bytes[..60]);
    bytes[60..64].copy_from_slice(&header.to_le_bytes());
    bytes
}

#[test]
fn what_a_file_must_not_say_is_refused_by_runs() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "i.el", "10 20\n20 30\n30 40\n40 90\n");
    write(folder, "n.el", "a b\nb c\nc d\nd e\n");
    for name in ["i", "n"] {
        let (from, to) = (format!("{name}.el"), format!("{name}.parton"));
        assert!(parton(folder, &["convert", &from, &to, "-q"]).status.success());
    }
    let [integers, names] =
        ["i.parton", "n.parton"].map(|name| std::fs::read(folder.join(name)).unwrap());
    assert_eq!(forged(&integers, |_, _| ()), integers);
    let cases: [(&str, Vec<u8>, &str); 4] = [
        (
            "twice the same id",
            forged(&integers, |bytes, at| bytes[at(4) + 8] = 10),
            "the id of vertex 1",
        ),
        ("in-edges", forged(&integers, |bytes, at| bytes[at(8)] = 3), "in-edges: not the edges"),
        (
            "ends of names",
            forged(&names, |bytes, at| bytes[at(5) + 8] = 200),
            "the name of vertex 1 ends",
        ),
        ("names", forged(&names, |bytes, at| bytes[at(6) + 1] = b'z'), "the id of vertex 2"),
    ];
    for (what, bytes, expected) in cases {
        write(folder, "x.parton", bytes);
        for (hosts, policy) in [("1", "auto"), ("2", "iec"), ("2", "dual")] {
            let run = ["run", "bfs", "x.parton", "-q", "--hosts", hosts, "--policy", policy];
            let said = refused(folder, &run, 65);
            assert!(said.contains(expected), "{what}, {hosts} hosts, {policy}: {said}");
        }
    }
    // Names beside a file that lost a line.
    assert!(parton(folder, &["convert", "n.el", "n.gr", "-q"]).status.success());
    let ids = std::fs::read_to_string(folder.join("n.gr.ids")).unwrap();
    write(folder, "n.gr.ids", &ids[..ids.len() - 2]);
    for hosts in ["1", "2"] {
        let said = refused(folder, &["run", "bfs", "n.gr", "-q", "--hosts", hosts], 65);
        assert!(said.contains("expected an id for each of 5 vertices, found fewer"), "{said}");
    }
    refused(folder, &["inspect", "n.gr", "-q"], 65);
}

#[test]
fn graphs_larger_than_memory_are_refused_at_once() {
    let folder = folder();
    let folder = folder.path();
    for command in [&["run", "bfs", "rmat:31,100000"][..], &["generate", "rmat:31,100000", "x.gr"]]
    {
        let said = refused(folder, &[command, &["-q"]].concat(), 71);
        let need = if command[0] == "run" { "needs about" } else { "take at least" };
        assert!(said.contains(need) && said.contains("free memory of this machine"), "{said}");
    }
}

#[test]
fn numbers_that_do_not_fit_are_not_passed_over() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "far.el", "0 1 1e308\n1 2 1e308\n");
    // The same weights, but no path has two of them.
    write(folder, "near.el", "0 1 1e308\n0 2 1e308\n3 4 1e308\n0 5 1\n");
    for options in [&["--hosts", "1"], &["--hosts", "3"], &["--engine", "push"]] {
        let run =
            |file| [&["run", "sssp", file, "--root", "0", "-q", "--verify"], &options[..]].concat();
        let said = refused(folder, &run("far.el"), 65);
        assert!(said.contains("distances that a double cannot hold"), "{said}");
        let near = parton(folder, &run("near.el"));
        assert!(near.status.success(), "{}", text(&near.stderr));
        assert!(text(&near.stdout).contains("1e308"), "{}", text(&near.stdout));
    }
    write(folder, "whole.el", "0 1 9007199254740993\n");
    let said = refused(folder, &["run", "sssp", "whole.el", "--root", "0", "-q"], 65);
    assert!(said.contains("whole.el:1:5") && said.contains("a double cannot hold"), "{said}");
    write(folder, "sum.el", "0 1 4294967295\n0 1 4294967295\n");
    let summed = ["convert", "sum.el", "-", "--to", "edges", "--merge", "sum", "-q"];
    assert_eq!(text(&parton(folder, &summed).stdout), "0 1 8589934590\n");
    write(folder, "sum.el", "0 1 1.5e308\n0 1 1.5e308\n");
    let said = refused(folder, &summed, 65);
    assert!(said.contains("add up to more than a double holds"), "{said}");
}

#[test]
fn numbers_that_no_machine_could_serve_are_refused() {
    let folder = folder();
    let folder = folder.path();
    let run = ["run", "bfs", "path:9"];
    let said = refused(folder, &[&run[..], &["--threads", "100000"]].concat(), 2);
    assert!(said.contains("at most 4096 threads"), "{said}");
    for command in [&run[..], &["partition", "path:9"]] {
        let said = refused(folder, &[command, &["--hosts", "65535"]].concat(), 2);
        assert!(said.contains("at most 1024 hosts"), "{said}");
    }
    let said = refused(folder, &["run", "bfs", "/dev/zero"], 66);
    assert!(said.contains("/dev/zero: a device"), "{said}");
    // The same from a pipe, which is not copied before it is looked at.
    let mut endless = Command::new("bash");
    let command =
        format!("head -c 1000000000 /dev/zero | {} run bfs -", env!("CARGO_BIN_EXE_parton"));
    let ended = endless.args(["-c", &command]).output().expect("an end");
    assert_eq!(ended.status.code(), Some(65), "{}", text(&ended.stderr));
}

#[test]
fn messages_say_what_is_wrong() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "long.txt", "1 ".repeat(50_000));
    let said = refused(folder, &["inspect", "long.txt"], 65);
    assert!(said.contains("the first row is longer than 64 KiB"), "{said}");
    write(folder, "a.el", "0 1\n");
    let all = ["inspect", "a.el", "--vertices", "0-18446744073709551615"];
    let said = refused(folder, &all, 2);
    assert!(!said.contains("comes before"), "{said}");
    // One mistake, one code.
    for command in
        [&["run", "bfs", "path:5000000000"][..], &["generate", "path:5000000000", "x.el"]]
    {
        let said = refused(folder, command, 2);
        assert!(said.contains("at most 4294967295 vertices"), "{said}");
    }
}

#[test]
fn empty_files_are_an_error_or_get_a_note() {
    let folder = folder();
    let folder = folder.path();
    for name in
        ["a.mtx", "a.dimacs", "a.json", "a.gml", "a.graphml", "a.parquet", "a.parton", "a.arrow"]
    {
        write(folder, name, "");
        let said = refused(folder, &["run", "components", name], 65);
        let last = said.trim_end().lines().last().unwrap_or_default();
        // With a place, where there is one.
        assert!(last.starts_with(&format!("parton: {name}")), "{said}");
        assert!(said.lines().count() <= 2, "{said}");
    }
    for name in ["a.mtx", "a.dimacs"] {
        let said = refused(folder, &["run", "components", name], 65);
        assert!(said.contains("but the file ends"), "{said}");
    }
    write(folder, "a.csv", "");
    assert!(
        Command::new("gzip").args(["-k", "a.csv"]).current_dir(folder).status().unwrap().success()
    );
    for name in ["a.csv", "a.csv.gz"] {
        let run = parton(folder, &["run", "components", name]);
        let said = text(&run.stderr);
        assert!(run.status.success() && said.contains("the graph is empty"), "{said}");
    }
}

#[test]
fn names_of_files_are_bytes() {
    let folder = folder();
    let folder = folder.path();
    let name = OsStr::from_bytes(b"caf\xe9.el");
    std::fs::write(folder.join(name), "0 1\n").unwrap();
    for command in [&["run", "bfs"][..], &["inspect"]] {
        let mut parton = Command::new(env!("CARGO_BIN_EXE_parton"));
        let ended = parton.args(command).arg(name).current_dir(folder).output().unwrap();
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    }
    // Names of vertices are bytes, too, and come out as they went in.
    let named = b"caf\xe9 b\nb caf\xe9\n";
    write(folder, "latin.el", named);
    let run = ["run", "bfs", "latin.el", "--root", "b", "--output", "out.csv", "-q"];
    let ended = parton(folder, &run);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let rows = std::fs::read(folder.join("out.csv")).unwrap();
    assert!(rows.windows(6).any(|row| row == b"caf\xe9,1"), "{rows:?}");
}

/// A run that has begun to write, or at least to work, when `then` happens.
fn during(folder: &Path, command: &mut Command, then: impl Fn(u32)) -> std::process::Output {
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command runs");
    let limit = Instant::now() + Duration::from_secs(2);
    while Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(20));
    }
    then(child.id());
    child.wait_with_output().expect("an end")
}

#[test]
fn every_signal_leaves_nothing_behind() {
    for (signal, code) in [("-HUP", 129), ("-QUIT", 131)] {
        let folder = folder();
        // The tests themselves may run under `nohup`.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,QUIT", env!("CARGO_BIN_EXE_parton"), "run", "bfs"]);
        command.args(["path:2000000", "--hosts", "2", "--engine", "frontier", "--root", "0"]);
        command.args(["--output", "out/"]);
        let ended = during(folder.path(), &mut command, |child| {
            let sent = Command::new("kill").args([signal, &child.to_string()]).status();
            assert!(sent.expect("a signal").success());
        });
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
        assert_eq!(files(folder.path()), [""; 0]);
    }
    // A limit of the size of files is a failed write.
    let folder = folder();
    let command =
        format!("ulimit -f 8; exec {} generate rmat:14 x.el", env!("CARGO_BIN_EXE_parton"));
    let ended =
        Command::new("bash").args(["-c", &command]).current_dir(folder.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(74), "{}", text(&ended.stderr));
    assert_eq!(files(folder.path()), [""; 0]);
}

#[test]
fn a_mapped_file_that_shrinks_is_named() {
    let folder = folder();
    let folder = folder.path();
    assert!(parton(folder, &["generate", "path:8000000", "p.parton", "-q"]).status.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_parton"));
    command
        .args(["run", "bfs", "p.parton", "--engine", "frontier", "--root", "0", "--output", "x/"]);
    let ended = during(folder, &mut command, |_| {
        let file = std::fs::File::options().write(true).open(folder.join("p.parton")).unwrap();
        file.set_len(4096).unwrap();
    });
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(74), "{said}");
    assert!(said.contains("p.parton: cannot read"), "{said}");
    assert_eq!(files(folder), ["p.parton"]);
}

#[test]
fn memory_that_cannot_be_had_is_an_end_with_a_sentence() {
    let folder = folder();
    let parton = env!("CARGO_BIN_EXE_parton");
    for (force, message) in [("", "may be used (ulimit -v)"), ("--force", "out of memory")] {
        let run = format!("exec {parton} run pagerank rmat:24 --threads 1 {force}");
        let limited = format!("ulimit -v 600000; {run}");
        let mut shell = Command::new("bash");
        let ended = shell.args(["-c", &limited]).current_dir(folder.path()).output().unwrap();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(71), "{said}");
        assert!(said.contains(message), "{said}");
    }
}

/// Saved partitions whose numbers were changed by someone who repairs checksums: an error with a place,
/// or an answer, but neither a panic nor a wait without end.
#[test]
fn forged_partitions_end_well() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "n.el", "a b\nb c\nc d\nd e\ne a\nb e\n");
    let save = ["partition", "n.el", "--policy", "cvc", "--hosts", "2", "--save", "p", "-q"];
    let saved = parton(folder, &save);
    assert!(saved.status.success(), "{}", text(&saved.stderr));
    let part = folder.join("p/host-00000.part");
    let sound = std::fs::read(&part).unwrap();
    let manifest = std::fs::read(folder.join("p/manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut refused = 0;
    for at in (16..sound.len() - 8).step_by(4) {
        let mut bytes = sound.clone();
        bytes[at] = bytes[at].wrapping_add(if at % 8 == 0 { 1 } else { 200 });
        manifest["files"][0]["crc32"] = crc32fast::hash(&bytes).into();
        std::fs::write(&part, &bytes).unwrap();
        write(folder, "p/manifest.json", manifest.to_string());
        let mut run = Command::new("timeout");
        run.args(["20", env!("CARGO_BIN_EXE_parton"), "run", "components", "p", "-q"]);
        let ended = run.current_dir(folder).output().expect("an end");
        let code = ended.status.code();
        assert!(matches!(code, Some(0 | 65)), "byte {at}: {code:?}, {}", text(&ended.stderr));
        refused += u32::from(code == Some(65));
    }
    assert!(refused > 20, "{refused}");
}
