//! The command as a user meets it: what it prints where, and how it exits.

use crate::common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{files, folder, parton, text};
use serde_json::Value;

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = parton(folder, &[&["inspect", "--json"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn inspect_has_the_agreed_names() {
    let folder = folder();
    std::fs::write(folder.path().join("g.csv"), "source,target,weight\n7,9,2\n9,9,1\n7,9,5\n")
        .unwrap();
    let report = json(folder.path(), &["g.csv"]);
    assert_eq!(report["vertices"], 2);
    assert_eq!(report["edges"], 3);
    assert_eq!(report["directed"], true);
    assert_eq!(report["weights"], serde_json::json!({ "type": "u32", "min": 1.0, "max": 5.0 }));
    assert_eq!((&report["self_loops"], &report["duplicates"]), (&1.into(), &1.into()));
    assert_eq!(report["symmetric"], false);
    assert_eq!(report["degrees"]["out"]["max_vertex"], 7);
    assert_eq!(report["degrees"]["out"]["max"], 2);
    assert_eq!(
        report["read_as"],
        "CSV with header: source = source, destination = target, weight = weight, ids are sparse integers"
    );
    let people = text(&parton(folder.path(), &["inspect", "g.csv"]).stdout);
    for shown in ["vertices     2", "edges        3 (directed)", "u32, 1 to 5", "██"] {
        assert!(people.contains(shown), "{shown}: {people}");
    }
}

#[test]
fn parton_files_keep_in_edges_unless_told_not_to() {
    let folder = folder();
    let made = [
        (&["rmat:8", "both.parton"][..], true),
        (&["rmat:8", "packed.parton.zst"], true),
        (&["rmat:8", "bare.parton", "--no-in-edges"], false),
        (&["grid:9x9", "undirected.parton"], false),
        (&["rmat:8", "other.gr"], false),
    ];
    for (arguments, kept) in made {
        let output = parton(folder.path(), &[&["generate"], arguments].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(json(folder.path(), &arguments[1..2])["in_edges"], kept, "{arguments:?}");
        let people = text(&parton(folder.path(), &["inspect", arguments[1]]).stdout);
        let shown = if kept { "in-edges     stored, too" } else { "in-edges     not stored" };
        assert!(people.contains(shown), "{people}");
    }
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    assert!(size("both.parton") > 19 * size("bare.parton") / 10);
    let output =
        parton(folder.path(), &["convert", "both.parton", "again.parton", "--no-in-edges"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("again.parton"), bytes("bare.parton"));
}

#[test]
fn ranks_are_the_same_with_row_blocks_from_a_file() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let output = parton(folder.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    };
    for (spec, more) in [
        ("rmat:14", &[][..]),
        ("rmat:14", &["--undirected"]),
        ("rmat:14", &["--weights", "random:1..9"]),
    ] {
        run(&[&["generate", spec, "plain.parton"], more].concat());
        run(&["convert", "plain.parton", "blocks.parton", "--blocks"]);
        for (file, kept) in [("plain.parton", false), ("blocks.parton", true)] {
            assert_eq!(json(folder.path(), &[file])["row_blocks"], kept);
            for hosts in ["1", "3"] {
                let output = format!("{file}.{hosts}.csv");
                run(&["run", "pagerank", file, "--hosts", hosts, "--output", &output]);
            }
            run(&["run", "bfs", file, "--output", &format!("{file}.bfs.csv")]);
        }
        for answer in ["1.csv", "3.csv", "bfs.csv"] {
            let rows = ["plain.parton", "blocks.parton"]
                .map(|file| std::fs::read(folder.path().join(format!("{file}.{answer}"))).unwrap());
            assert!(rows[0] == rows[1], "{spec} {more:?}: {answer}");
        }
    }
    // They are what is used: where they are damaged, ranks are refused.
    let path = folder.path().join("blocks.parton");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let failed = parton(folder.path(), &["run", "pagerank", "blocks.parton"]);
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(65), "{said}");
    assert!(said.contains("blocks.parton: row blocks: "), "{said}");
    run(&["run", "bfs", "blocks.parton"]);
    let failed = parton(folder.path(), &["run", "bfs", "blocks.parton", "--verify"]);
    assert_eq!(failed.status.code(), Some(65));

    for (arguments, complaint) in [
        (&["plain.parton", "x.csv", "--blocks"][..], "row blocks are only for .parton"),
        (&["plain.parton", "x.parton", "--blocks", "--no-in-edges"], "cannot be used with"),
    ] {
        let failed = parton(folder.path(), &[&["convert"], arguments].concat());
        assert_eq!(failed.status.code(), Some(2));
        assert!(text(&failed.stderr).contains(complaint), "{}", text(&failed.stderr));
    }
}

#[test]
fn conversions_keep_the_graph_and_its_ids() {
    let folder = folder();
    let rows = "5 18446744073709551615 1.5\n18446744073709551615 6 2\n6 5 0.25\n";
    std::fs::write(folder.path().join("start.el"), rows).unwrap();
    let steps = [
        "a.csv",
        "b.tsv.gz",
        "c.parquet",
        "d.gr",
        "e.mtx",
        "f.parton",
        "g.wel",
        "h.csv.zst",
        "end.el",
    ];
    let mut from = "start.el";
    for to in steps {
        let output = parton(folder.path(), &["convert", from, to]);
        assert!(output.status.success(), "{to}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "talk belongs on standard error");
        assert!(text(&output.stderr).contains(&format!("{from}: read as ")));
        from = to;
    }
    // What the columns are stands above them.
    let mut found: Vec<String> = text(&std::fs::read(folder.path().join("end.el")).unwrap())
        .lines()
        .filter(|line| *line != "# source target weight")
        .map(Into::into)
        .collect();
    found.sort();
    let mut expected: Vec<_> = rows.lines().collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    // `.gr` and `.mtx` cannot hold these ids: they lie beside them.
    assert!(files(folder.path()).contains(&"d.gr.ids".into()));
    // A file that needs none must not inherit the ids of an earlier one.
    assert!(parton(folder.path(), &["generate", "path:3", "d.gr"]).status.success());
    assert!(!files(folder.path()).contains(&"d.gr.ids".into()));
}

#[test]
fn names_survive_too() {
    let folder = folder();
    std::fs::write(folder.path().join("n.csv"), "from,to\nRome,\"Paris, TX\"\nParis,Rome\n")
        .unwrap();
    for to in ["a.parquet", "b.parton", "c.gr", "d.tsv"] {
        assert!(parton(folder.path(), &["convert", "n.csv", to]).status.success(), "{to}");
        let report = json(folder.path(), &[to]);
        assert_eq!((&report["vertices"], &report["edges"]), (&3.into(), &2.into()), "{to}");
        assert_eq!(report["ids"], "names", "{to}");
    }
    // A blank cannot stand in a name of an edge list.
    let output = parton(folder.path(), &["convert", "n.csv", "x.el"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Paris, TX"));
}

#[test]
fn graphs_can_be_changed_on_the_way() {
    let folder = folder();
    std::fs::write(folder.path().join("g.el"), "1 1 5\n1 2 9\n1 2 4\n3 2 7\n").unwrap();
    let counts = |arguments: &[&str]| {
        let report = json(folder.path(), &[&["g.el"], arguments].concat());
        (report["edges"].as_u64().unwrap(), report["weights"]["max"].as_f64())
    };
    assert_eq!(counts(&[]), (4, Some(9.0)));
    assert_eq!(counts(&["--simple"]), (2, Some(7.0)));
    assert_eq!(counts(&["--drop-self-loops"]), (3, Some(9.0)));
    assert_eq!(counts(&["--merge", "sum"]), (3, Some(13.0)));
    assert_eq!(counts(&["--merge", "max", "--drop-self-loops"]), (2, Some(9.0)));
    assert_eq!(counts(&["--undirected"]), (7, Some(9.0)));
    assert_eq!(counts(&["--undirected", "--simple"]), (4, Some(7.0)));
    assert_eq!(counts(&["--weights", "none"]), (4, None));
    assert_eq!(counts(&["--weights", "unit"]), (4, Some(1.0)));
    assert_eq!(counts(&["--weights", "random:6..6"]), (4, Some(6.0)));
    assert_eq!(json(folder.path(), &["g.el", "--vertices", "10"])["vertices"], 10);
    assert_eq!(json(folder.path(), &["g.el", "--vertices", "1-3"])["vertices"], 3);
    let turned = json(folder.path(), &["g.el", "--transpose"]);
    assert_eq!(turned["degrees"]["out"]["max_vertex"], 2);
    assert_eq!(json(folder.path(), &["g.el", "--weight-type", "f32"])["weights"]["type"], "f32");
}

#[test]
fn generators_are_graphs_and_files() {
    let folder = folder();
    assert_eq!(json(folder.path(), &["grid:3x2"])["edges"], 14);
    let output =
        parton(folder.path(), &["generate", "rmat:6,4,9", "a.gr", "--weights", "random:1..9"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(json(folder.path(), &["a.gr"])["edges"], 256);
    for threads in ["1", "3"] {
        let output = format!("{threads}.parton");
        let arguments =
            ["generate", "rmat:6,4,9", &output, "--weights", "random:1..9", "--threads", threads];
        assert!(parton(folder.path(), &arguments).status.success());
    }
    let read = |name| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("1.parton"), read("3.parton"));
    let listed = text(&parton(folder.path(), &["list"]).stdout);
    assert!(listed.contains("rmat:SCALE") && listed.contains(".parquet"), "{listed}");
}

#[test]
fn partitions_are_measured_and_kept() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let output = parton(folder.path(), &[&["partition", "rmat:8"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        output
    };
    let report = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&run(&[arguments, &["--json"]].concat()).stdout).expect("JSON")
    };
    let one = report(&["--hosts", "3", "--policy", "hvc", "--threshold", "20"]);
    assert_eq!((&one["policy"], &one["hosts"]), (&"hvc".into(), &3.into()));
    assert!(one["replication"].as_f64().unwrap() > 1.0);
    assert!(one["imbalance"]["edges"].is_number() && one["imbalance"]["masters"].is_number());
    let per_host = one["per_host"].as_array().unwrap();
    let sum = |key: &str| per_host.iter().map(|h| h[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("masters"), sum("edges")), (256, 4096));
    let proxies = &one["proxies"];
    let mirrors = ["written", "both", "read"].map(|key| proxies[key].as_u64().unwrap());
    assert_eq!(mirrors.iter().sum::<u64>(), sum("mirrors"));
    assert!(one["dense_bytes_per_round"].is_number() && one["seconds"].is_number());
    let all = report(&["--hosts", "4"]);
    assert!(all.as_array().unwrap().len() >= 9);
    let people = text(&run(&["--hosts", "4"]).stdout);
    assert!(people.contains("replication") && people.contains("staggered"), "{people}");
    // A prime number of hosts makes no grid, and that is said.
    assert!(text(&run(&["--hosts", "5", "--policy", "cvc"]).stderr).contains("5×1"));
    run(&["--hosts", "2", "--policy", "oec", "--save", "parts"]);
    assert_eq!(
        files(&folder.path().join("parts")),
        ["host-00000.part", "host-00001.part", "manifest.json"]
    );
    // Changed graphs are partitioned as changed.
    let simple = report(&["--hosts", "2", "--policy", "oec", "--simple"]);
    assert!(simple["edges"].as_u64().unwrap() < 4096);

    for (arguments, message) in [
        (&["--policy", "metis"][..], "unknown policy 'metis'; known: oec"),
        (&["--hosts", "0"], "0"),
        (&["--hosts", "2", "--policy", "oec", "--host-weights", "1"], "1 host weights for 2 hosts"),
        (&["--hosts", "2", "--policy", "oec", "--host-weights", "1,-2"], "positive"),
        (&["--save", "x"], "--policy"),
    ] {
        let output = parton(folder.path(), &[&["partition", "rmat:8"], arguments].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    let missing = parton(folder.path(), &["partition", "missing.gr"]);
    assert_eq!(missing.status.code(), Some(66));
    let parts = ["partition", "rmat:8", "--hosts", "2", "--policy", "file:missing"];
    assert_eq!(parton(folder.path(), &parts).status.code(), Some(66));
}

/// Runs the command with something to read on standard input.
fn parton_fed(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parton"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    child.stdin.take().expect("a pipe").write_all(input).expect("it is read");
    child.wait_with_output().expect("it ends")
}

#[test]
fn hosts_take_shares_of_anything() {
    let folder = folder();
    let edges = b"1 2\n2 3\n3 1\n7 7\n";
    std::fs::write(folder.path().join("g.txt"), edges).unwrap();
    let packed = parton(folder.path(), &["convert", "g.txt", "g.csv.gz"]);
    assert!(packed.status.success(), "{}", text(&packed.stderr));
    let sizes = |output: Output| {
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let first = if report.is_array() { &report[0] } else { &report };
        ((first["vertices"].clone(), first["edges"].clone()), said)
    };
    let report = |arguments: &[&str]| {
        sizes(parton(folder.path(), &[&["partition", "--json"], arguments].concat()))
    };
    let (plain, said) = report(&["g.txt", "--hosts", "3"]);
    assert_eq!(plain, (4.into(), 4.into()));
    assert!(!said.contains("share"), "{said}");
    // What cannot be split is said to be so.
    let (found, said) = report(&["g.csv.gz", "--policy", "oec"]);
    assert_eq!(found, plain);
    assert!(said.contains("cannot be split") && said.contains(".parton"), "{said}");
    // A pipe is read once, however many partitions are made of it.
    let fed = ["partition", "-", "--json", "--hosts", "3"];
    let (found, said) = sizes(parton_fed(folder.path(), &fed, edges));
    assert_eq!(found, plain);
    assert!(said.contains("temporary file"), "{said}");
    // Another format is no reason to read it whole, or to make sense of a generator.
    std::fs::write(folder.path().join("g.dat"), "1 2 3\n3\n7 7\n").unwrap();
    let (found, _) = report(&["g.dat", "--format", "adjacency", "--policy", "oec"]);
    assert_eq!(found, (4.into(), 3.into()));
    let refused = parton(folder.path(), &["partition", "path:9", "--format", "gr"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn standard_input_is_an_input() {
    let folder = folder();
    let output = parton_fed(folder.path(), &["inspect", "-", "--json"], b"1 2\n2 3\n");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["edges"], 2);
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let folder = folder();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("bad.el", b"1 2\n3 -4\n");
    write("good.el", b"1 2\n");
    write("cut.parquet", b"PAR1 and then nothing");
    write("noise.bin", b"\x00\x01\x02\x03");
    for (arguments, code, message) in [
        (&["inspect", "bad.el"][..], 65, "bad.el:2:3"),
        (&["inspect", "cut.parquet"], 65, "cut.parquet"),
        (&["inspect", "noise.bin"], 65, "not recognised"),
        (&["inspect", "missing.el"], 66, "no such file"),
        (&["inspect", "missing-*.el"], 66, "contains no files"),
        (&["inspect"], 2, "Usage"),
        (&["inspect", "good.el", "--format", "none"], 2, "possible values"),
        (&["inspect", "good.el", "--vertices", "x"], 2, "not a whole number"),
        (&["inspect", "rmat:99"], 2, "rmat:99"),
        (&["inspect", "rmat:5", "--columns", "1,2"], 2, "generator"),
        (&["generate", "ramt:5", "x.el"], 2, "rmat:"),
        (&["convert", "good.el", "x.unknown"], 2, "x.unknown"),
        (&["convert", "good.el", "x.gr", "--format-version", "3"], 2, "version"),
        (&["convert", "good.el", "x.gr", "--no-in-edges"], 2, "only for .parton"),
        (&["generate", "rmat:5", "x.csv", "--no-in-edges"], 2, "only for .parton"),
        (&["convert", "good.el", "no/such/folder/x.el"], 74, "cannot write"),
    ] {
        let output = parton(folder.path(), arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(files(folder.path()), ["bad.el", "cut.parquet", "good.el", "noise.bin"]);
}

/// A limit on the size of files stands in for a full disk: the write fails half-way.
#[test]
fn a_full_disk_leaves_the_old_file_as_it_was() {
    let folder = folder();
    for name in ["g.el", "g.csv.gz", "g.gr", "g.mtx", "g.parquet", "g.parton"] {
        std::fs::write(folder.path().join(name), "old").unwrap();
        // The signal that a limit sends by default is ignored, so that the write itself fails.
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; exec {} generate rmat:14 {name} --quiet",
            env!("CARGO_BIN_EXE_parton")
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(74), "{name}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(name));
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"old", "{name}");
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    assert!(files(folder.path()).is_empty(), "nothing stays behind");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = folder();
    let script =
        format!("set -o pipefail; {} inspect rmat:10 | head -1", env!("CARGO_BIN_EXE_parton"));
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
