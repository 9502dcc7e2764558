//! `parton bench` as a user meets it: what is measured, how it is told, and what is compared.

use crate::common;

use std::path::Path;

use common::{files, folder, parton, text};
use serde_json::{Value, json};

/// What a measurement says as JSON.
fn measured(folder: &Path, arguments: &[&str]) -> Value {
    let output = parton(folder, &[&["bench", "--json"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn names(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn rows(results: &Value) -> &Vec<Value> {
    results["rows"].as_array().expect("rows")
}

/// Algorithm, engine and hosts of every row.
fn configurations(results: &Value) -> Vec<(&str, &str, u64)> {
    fn configuration(row: &Value) -> Option<(&str, &str, u64)> {
        Some((row["algorithm"].as_str()?, row["engine"].as_str()?, row["hosts"].as_u64()?))
    }
    rows(results).iter().map(|row| configuration(row).expect("a configuration")).collect()
}

/// A file as `--output` writes it, as far as a comparison reads it.
fn write(folder: &Path, name: &str, rows: &[(&str, &[f64])]) {
    let row = |(algorithm, seconds): &(&str, &[f64])| {
        json!({
            "algorithm": algorithm,
            "graph": { "name": "g", "vertices": 10, "edges": 20 },
            "engine": "auto", "hosts": 2, "threads": 1, "policy": "oec",
            "converged": true,
            "seconds": { "run": seconds },
        })
    };
    let value = json!({ "options": {}, "rows": rows.iter().map(row).collect::<Vec<_>>() });
    std::fs::write(folder.join(name), value.to_string()).expect("a file");
}

#[test]
fn json_has_all_samples_under_the_agreed_names() {
    let folder = folder();
    let results = measured(
        folder.path(),
        &[
            "rmat:7",
            "path:20",
            "--algorithms",
            "bfs,pagerank",
            "--hosts",
            "3",
            "--repetitions",
            "4",
        ],
    );
    assert_eq!(
        names(&results),
        ["command", "cores", "inputs", "options", "parton", "repetitions", "rows"]
    );
    let one_graph =
        [("bfs", "auto", 1), ("bfs", "auto", 3), ("pagerank", "auto", 1), ("pagerank", "auto", 3)];
    assert_eq!(configurations(&results), [one_graph, one_graph].concat());
    let agreed = "algorithm best best_whole bytes converged devices edges_per_second engine engine_used graph hosts \
                  median messages policy policy_used replication rounds seconds single_host \
                  spread threads verified work";
    for (number, row) in rows(&results).iter().enumerate() {
        assert_eq!(names(row), agreed.split(' ').collect::<Vec<_>>());
        assert_eq!(names(&row["graph"]), ["edges", "name", "vertices"]);
        assert_eq!(row["graph"]["name"], ["rmat:7", "path:20"][number / 4]);
        assert_eq!(names(&row["seconds"]), ["load", "partition", "run", "setup", "whole"]);
        for samples in ["run", "setup", "whole"] {
            assert_eq!(row["seconds"][samples].as_array().map(Vec::len), Some(4));
        }
        let best = |samples: &str| {
            let all = row["seconds"][samples].as_array().unwrap();
            all.iter().map(|s| s.as_f64().unwrap()).fold(f64::INFINITY, f64::min)
        };
        assert_eq!(row["best"], best("run"));
        assert_eq!(row["best_whole"], best("whole"));
        assert_eq!((&row["converged"], &row["verified"]), (&true.into(), &Value::Null));
    }
}

#[test]
fn the_whole_way_begins_with_the_file() {
    let folder = folder();
    // Reading 200,000 lines takes many times as long as a search in what was read.
    let edges: String = (0..200_000).map(|v| format!("{v} {}\n", v * 7 % 200_000)).collect();
    std::fs::write(folder.path().join("g.txt"), &edges).expect("a file");
    let asked = ["--algorithms", "bfs", "--hosts", "2", "--repetitions", "2", "--root", "0"];
    let results = measured(folder.path(), &[&["g.txt"], &asked[..]].concat());
    let samples = |row: &Value, what: &str| -> Vec<f64> {
        let all = row["seconds"][what].as_array().expect("a list").iter();
        all.map(|seconds| seconds.as_f64().expect("seconds")).collect()
    };
    for row in rows(&results) {
        let load = row["seconds"]["load"].as_f64().expect("seconds");
        let whole = samples(row, "whole");
        assert_eq!(whole.len(), 2);
        // Each repetition reads the file.
        assert!(whole.iter().all(|whole| *whole > load / 10.0), "{row}");
        assert!(row["best"].as_f64() < row["best_whole"].as_f64(), "{row}");
    }
    // A stream is read once.
    let mut command = common::command();
    command.args(["bench", "-", "--json"]).args(asked).current_dir(folder.path());
    let file = std::fs::File::open(folder.path().join("g.txt")).expect("a file");
    let output = command.stdin(file).output().expect("the command runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let streamed: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    for row in rows(&streamed) {
        assert_eq!((&row["seconds"]["whole"], &row["best_whole"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn several_hosts_stand_beside_the_best_single_one() {
    let folder = folder();
    let asked = ["rmat:7", "--algorithms", "components", "--hosts", "2,4", "--engines", "push"];
    let results = measured(folder.path(), &asked);
    // Push was asked for; what suits is measured on one host all the same.
    assert_eq!(
        configurations(&results),
        [("auto", 1), ("push", 1), ("push", 2), ("push", 4)].map(|(engine, hosts)| (
            "components",
            engine,
            hosts
        ))
    );
    let rows = rows(&results);
    let best = |row: &Value| row["best"].as_f64().unwrap();
    let single = best(&rows[0]).min(best(&rows[1]));
    for row in &rows[..2] {
        assert_eq!(row["single_host"], Value::Null);
        assert_eq!(row["bytes"]["total"], 0);
    }
    for row in &rows[2..] {
        assert_eq!(row["single_host"]["seconds"], single);
        // Numbers read back from JSON may be off in the last bit.
        let ratio = row["single_host"]["ratio"].as_f64().unwrap();
        assert!((ratio * single / best(row) - 1.0).abs() < 1e-9, "{row}");
        assert!(row["bytes"]["total"].as_u64().unwrap() > 0);
    }
    // Without several hosts nothing is added.
    let alone = measured(folder.path(), &["rmat:7", "--engines", "push", "--algorithms", "bfs"]);
    assert_eq!(configurations(&alone), [("bfs", "push", 1)]);
}

#[test]
fn the_table_and_the_files_say_the_same() {
    let folder = folder();
    let base = ["bench", "grid:9x9", "grid:9x9", "--algorithms", "sssp,sssp", "--hosts", "2,1"];
    let files_asked = ["--output", "a.json", "--verify", "--threads", "1"];
    for plot in ["a.svg", "a.html"] {
        let output = parton(folder.path(), &[&base[..], &files_asked, &["--plot", plot]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let lines: Vec<_> = table.lines().collect();
        // What is said twice is measured once.
        assert_eq!(lines.len(), 3, "{table}");
        assert!(lines[0].starts_with("algorithm") && lines[0].ends_with("÷ 1 host"), "{table}");
        assert!(lines[2].starts_with("sssp       grid:9x9  auto (frontier)  2 × 1"), "{table}");
        let drawn = std::fs::read_to_string(folder.path().join(plot)).expect("a plot");
        // Two bars, what their colours mean, and the background.
        assert_eq!(drawn.matches("<rect").count(), 5, "{drawn}");
        assert!(drawn.contains("sssp on grid:9x9") && drawn.contains("auto (frontier), 2 × 1"));
        assert_eq!(drawn.starts_with("<!DOCTYPE html>"), plot == "a.html");
    }
    let file = std::fs::read(folder.path().join("a.json")).expect("a file");
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    assert!(rows(&file).iter().all(|row| row["verified"] == true && row["threads"] == 1));
    assert_eq!(files(folder.path()), ["a.html", "a.json", "a.svg"]);

    let output = parton(folder.path(), &["bench", "--against", "a.json", "a.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Of the rounds alone, and of the whole way.
    assert_eq!(text(&output.stdout).matches("within the noise").count(), 2 * 2);
}

#[test]
fn engines_that_do_not_fit_are_left_out() {
    let folder = folder();
    let asked = ["bench", "rmat:6", "--algorithms", "bfs,components", "--json"];
    let output = parton(folder.path(), &[&asked[..], &["--engines", "push,union"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("left out: engine union cannot run bfs: frontier, push"), "{said}");
    let results: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        configurations(&results),
        [("bfs", "push", 1), ("components", "push", 1), ("components", "union", 1)]
    );
    // An engine alone was meant.
    let output = parton(folder.path(), &[&asked[..], &["--engines", "union"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("engine union cannot run bfs"));
}

#[test]
fn stopped_runs_are_marked() {
    let folder = folder();
    let asked = ["bench", "path:50", "--algorithms", "bfs", "--engines", "frontier"];
    let asked = [&asked[..], &["--max-rounds", "5", "--root", "0", "--output", "a.json"]].concat();
    let output = parton(folder.path(), &asked);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("bfs on path:50 by frontier on hosts: 1: stopped before"), "{said}");
    assert!(text(&output.stdout).contains("  5+  "));
    let file: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("a.json")).unwrap()).unwrap();
    assert_eq!(file["options"], json!({ "max-rounds": "5", "root": "0" }));
    assert_eq!(rows(&file)[0]["converged"], false);
}

#[test]
fn a_comparison_names_winners_outside_the_noise_only() {
    let folder = folder();
    write(
        folder.path(),
        "old.json",
        &[
            ("a", &[1.0, 1.1, 1.2]),
            ("b", &[1.0, 1.1, 1.2]),
            ("c", &[1.0, 1.1, 1.2]),
            ("d", &[1.0]),
            ("gone", &[1.0, 1.0, 1.0]),
        ],
    );
    write(
        folder.path(),
        "new.json",
        &[
            ("a", &[0.5, 0.6, 0.7]),
            ("b", &[2.0, 2.1, 2.2]),
            ("c", &[0.5, 0.6, 1.15]),
            ("d", &[0.1]),
            ("come", &[1.0, 1.0, 1.0]),
        ],
    );
    let output = parton(folder.path(), &["bench", "--json", "--against", "old.json", "new.json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let outcomes: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdicts: Vec<_> = outcomes
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["algorithm"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("a", "faster"),
            ("b", "slower"),
            ("c", "within the noise"),
            ("d", "too few samples"),
            ("gone", "only in old"),
            ("come", "only in new"),
        ]
    );
    assert_eq!(outcomes[0]["ratio"], 0.5);
    assert_eq!(outcomes[4]["new"], Value::Null);
    let output = parton(folder.path(), &["bench", "--against", "old.json", "new.json"]);
    let table = text(&output.stdout);
    assert!(table.contains("2 × 1  oec     faster            1.000 s  500.00 ms"), "{table}");
}

#[test]
fn whole_ways_are_compared_where_files_have_them() {
    let folder = folder();
    let rows: [(&str, &[f64]); 2] = [("a", &[1.0, 1.0, 1.0]), ("b", &[1.0, 1.0, 1.0])];
    write(folder.path(), "old.json", &rows);
    let without = std::fs::read_to_string(folder.path().join("old.json")).unwrap();
    for (file, whole) in [("slow.json", "[4.0,4.1,4.2]"), ("quick.json", "[2.0,2.1,2.2]")] {
        let with = without.replacen("\"run\":", &format!("\"whole\":{whole},\"run\":"), 1);
        std::fs::write(folder.path().join(file), with).unwrap();
    }
    let whole = |old: &str, new: &str| {
        let compared = parton(folder.path(), &["bench", "--json", "--against", old, new]);
        assert!(compared.status.success(), "{}", text(&compared.stderr));
        let outcomes: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
        assert_eq!(outcomes[0]["verdict"], "within the noise");
        assert_eq!(outcomes[1]["whole"], Value::Null);
        outcomes[0]["whole"].clone()
    };
    let faster = json!({ "old": 4.0, "new": 2.0, "ratio": 0.5, "verdict": "faster" });
    assert_eq!(whole("slow.json", "quick.json"), faster);
    let added = json!({ "old": null, "new": 2.0, "ratio": null, "verdict": "only in new" });
    assert_eq!(whole("old.json", "quick.json"), added);
    assert_eq!(whole("old.json", "old.json"), Value::Null);
    let table = |old: &str, new: &str| {
        text(&parton(folder.path(), &["bench", "--against", old, new]).stdout)
    };
    let both = table("slow.json", "quick.json");
    assert!(both.contains("1.00  faster          4.000 s  2.000 s       0.50"), "{both}");
    assert!(!table("old.json", "old.json").contains("whole"));
}

#[test]
fn what_is_not_the_same_is_not_compared() {
    let folder = folder();
    write(folder.path(), "old.json", &[("bfs", &[1.0, 1.0, 1.0])]);
    let old = std::fs::read_to_string(folder.path().join("old.json")).unwrap();
    let larger = old.replace("\"edges\":20", "\"edges\":21");
    std::fs::write(folder.path().join("larger.json"), larger).unwrap();
    let output = parton(folder.path(), &["bench", "--against", "old.json", "larger.json"]);
    assert!(text(&output.stdout).contains("not the same work"));
    let other = old.replace("\"options\":{}", "\"options\":{\"damping\":\"0.5\"}");
    std::fs::write(folder.path().join("other.json"), other).unwrap();
    let output = parton(folder.path(), &["bench", "--against", "old.json", "other.json"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(text(&output.stderr).contains("other options: {} in old.json, {\"damping\":\"0.5\"}"));
}

#[test]
fn bad_files_are_named() {
    let folder = folder();
    write(folder.path(), "old.json", &[("bfs", &[1.0, 1.0, 1.0])]);
    let good = std::fs::read_to_string(folder.path().join("old.json")).unwrap();
    let row = &good[good.find("[{").unwrap() + 1..good.rfind(']').unwrap()];
    for (content, complaint) in [
        ("{\"rows\": [", "bad.json: not JSON: "),
        ("[1, 2]", "bad.json: no list 'rows': expected a file that"),
        (
            &good.replace("\"hosts\":2", "\"hosts\":\"two\""),
            "bad.json: rows[0].hosts: expected a whole number, found \"two\"",
        ),
        (
            &good.replace("[1.0,1.0,1.0]", "[]"),
            "bad.json: rows[0].seconds.run: expected a list of seconds, found []",
        ),
        (
            &good.replace("\"run\":", "\"whole\":7,\"run\":"),
            "rows[0].seconds.whole: expected a list of seconds, found 7",
        ),
        (&good.replace("[1.0,1.0,1.0]", "[1.0,-1.0]"), "rows[0].seconds.run: expected a list"),
        (&good.replace("\"name\":\"g\"", "\"x\":1"), "rows[0].graph.name: expected a text, found"),
        (&good.replace(row, &format!("{row},{row}")), "rows[1] is the same thing as rows[0]"),
    ] {
        std::fs::write(folder.path().join("bad.json"), content).unwrap();
        let output = parton(folder.path(), &["bench", "--against", "old.json", "bad.json"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(65), "{content}: {said}");
        assert!(said.contains(complaint), "{content}: {said}");
    }
    let output = parton(folder.path(), &["bench", "--against", "old.json", "none.json"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(text(&output.stderr).contains("none.json: no such file"));
}

#[test]
fn requests_without_sense_are_refused_before_anything_is_read() {
    let folder = folder();
    for (arguments, complaint) in [
        (&["none.gr", "--plot", "a.png"][..], "ends in .svg or .html, found a.png"),
        (&["none.gr", "--algorithms", "bfs,sssp", "--damping", "0.5"], "--damping means nothing"),
        (&["none.gr", "--policy", "nonsense"], "nonsense"),
        (&["none.gr", "--algorithms", "pagerank", "--engines", "delta,union"], "none of these"),
        (&["none.gr", "--hosts", "0"], "0"),
        (&["none.gr", "--repetitions", "0"], "0"),
        (&[], "GRAPH"),
        (&["none.gr", "--against", "a.json", "b.json"], "cannot be used with"),
        (&["--against", "a.json", "b.json", "--simple"], "cannot be used with"),
        (&["--against", "a.json", "b.json", "--root", "1"], "cannot be used with"),
        (&["--against", "a.json"], "2 values required"),
    ] {
        let output = parton(folder.path(), &[&["bench"], arguments].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(complaint), "{arguments:?}: {said}");
    }
    let output = parton(folder.path(), &["bench", "none.gr"]);
    assert_eq!(output.status.code(), Some(66));
    let save = ["partition", "rmat:6", "--hosts", "2", "--policy", "oec", "--save", "parts"];
    assert!(parton(folder.path(), &save).status.success());
    let output = parton(folder.path(), &["bench", "parts"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("parts: a saved partition has its hosts already"));
}
