//! `parton run` as a user meets it: the report, its names, what is refused, and how it ends.

use crate::common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{files, folder, parton, text};
use serde_json::Value;

/// The report of a run.
fn report(folder: &Path, arguments: &[&str]) -> Value {
    let output = parton(folder, &[&["run", "--json"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// The names in a JSON object, sorted.
fn names(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_report_has_the_agreed_names() {
    let folder = folder();
    let report = report(folder.path(), &["bfs", "rmat:8", "--hosts", "3", "--threads", "2"]);
    let agreed = "algorithm bytes command converged engine governor graph hosts imbalance inputs local_rounds \
                  memory_peak_bytes memory_peak_of_process_bytes messages optimize pace pace_why parton per_host per_round policy \
                  replication result rounds seconds threads timeline verified work";
    assert_eq!(names(&report), agreed.split(' ').collect::<Vec<_>>());
    assert_eq!(names(&report["graph"]), ["edges", "vertices"]);
    assert_eq!(names(&report["seconds"]), ["load", "partition", "run", "setup"]);
    assert_eq!(names(&report["bytes"]), ["metadata", "total", "values"]);
    assert_eq!(names(&report["result"]), ["max", "reached", "root", "sum"]);
    let round = &report["per_round"][0];
    let in_round = ["bytes", "changed", "compute_seconds", "edges", "messages", "round", "seconds"];
    assert_eq!(names(round), in_round);
    assert_eq!(names(&round["bytes"]), ["broadcast", "metadata", "reduce", "total", "values"]);
    let host = &report["per_host"][2];
    let in_host = "busy bytes_to compute_seconds device edge_share edges masters memory_bound memory_bytes \
                   messages mirrors other_seconds pack_seconds rounds speed wait_seconds work";
    assert_eq!(names(host), in_host.split(' ').collect::<Vec<_>>());

    for (name, value) in [
        ("algorithm", "bfs"),
        ("policy", "oec"),
        ("engine", "frontier"),
        ("pace", "bsp"),
        ("optimize", "all"),
    ] {
        assert_eq!(report[name], value);
    }
    assert_eq!(report["graph"], serde_json::json!({ "vertices": 256, "edges": 4096 }));
    assert_eq!((&report["hosts"], &report["threads"]), (&3.into(), &2.into()));
    assert_eq!((&report["converged"], &report["verified"]), (&true.into(), &Value::Null));
    let per_round = report["per_round"].as_array().unwrap();
    assert_eq!(report["rounds"], per_round.len());
    let in_rounds: u64 = per_round.iter().map(|r| r["bytes"]["total"].as_u64().unwrap()).sum();
    let by_host = report["per_host"].as_array().unwrap().iter().flat_map(|host| {
        let to = host["bytes_to"].as_array().expect("a pair per host");
        to.iter().map(|pair| pair[0].as_u64().unwrap() + pair[1].as_u64().unwrap())
    });
    assert_eq!(report["bytes"]["total"], in_rounds);
    assert_eq!(by_host.sum::<u64>(), in_rounds);
    if cfg!(target_os = "linux") {
        assert!(report["memory_peak_bytes"].as_u64().unwrap() > 1 << 20);
    }
}

#[test]
fn every_algorithm_proves_its_answer() {
    let folder = folder();
    for (algorithm, graph, in_result) in [
        ("bfs", "rmat:9", &["max", "reached", "root", "sum"][..]),
        ("sssp", "grid:20x30", &["max", "reached", "root", "sum"]),
        ("components", "uniform:300,250", &["count", "largest"]),
        ("pagerank", "rmat:9", &["residual", "sum", "top"]),
        ("betweenness", "rmat:7", &["max", "sum"]),
        ("strongly-connected", "uniform:300,400", &["count", "largest"]),
        ("label-propagation", "rmat:9", &["count", "largest"]),
    ] {
        let mut results = Vec::new();
        for hosts in ["1", "3"] {
            let arguments =
                [algorithm, graph, "--hosts", hosts, "--verify", "--weights", "random:1..9"];
            let report = report(folder.path(), &arguments);
            assert_eq!(report["verified"], true, "{arguments:?}");
            assert_eq!(names(&report["result"]), in_result);
            results.push(report["result"].clone());
        }
        match algorithm {
            "pagerank" => {
                let sum = results[1]["sum"].as_f64().unwrap();
                assert!((sum - 1.0).abs() < 1e-9, "{sum}");
                assert_eq!(results[0]["top"][0][0], results[1]["top"][0][0]);
            }
            "betweenness" => {
                for name in ["max", "sum"] {
                    let [one, three] = [0, 1].map(|i| results[i][name].as_f64().unwrap());
                    assert!((one - three).abs() <= 1e-9 * one, "{name}: {one}, {three}");
                }
            }
            _ => assert_eq!(results[0], results[1]),
        }
    }
}

#[test]
fn vertices_are_chosen_in_many_ways() {
    let folder = folder();
    let rows = "1 2\n2 3\n3 4\n4 5\n5 3\n";
    std::fs::write(folder.path().join("way.el"), rows).unwrap();
    std::fs::write(folder.path().join("some.txt"), "# where paths start\n1\n\n 2 \n").unwrap();
    let sum = |sources: &str| {
        let arguments = ["betweenness", "way.el", "--sources", sources, "--verify"];
        report(folder.path(), &arguments)["result"]["sum"].as_f64().unwrap()
    };
    // From 1: 2 to 5 are 1, 2, 3 and 4 edges away; from 2: 3 to 5 are 1, 2 and 3.
    assert_eq!((sum("1,"), sum("2,"), sum("1,2"), sum("some.txt")), (6.0, 3.0, 9.0, 9.0));
    assert_eq!((sum("1"), sum("all"), sum("5"), sum("random:5,9")), (6.0, 12.0, 12.0, 12.0));
    let drawn = ["run", "betweenness", "way.el", "--sources", "random:2"];
    let said = text(&parton(folder.path(), &drawn).stderr);
    assert!(said.contains("times 5 / 2") && said.contains("seed 1"), "{said}");
    let seeded = ["pagerank", "way.el", "--seeds", "3,", "--verify", "--output", "ranks.csv"];
    assert_eq!(report(folder.path(), &seeded)["result"]["top"][0][0], 3);
    let ranks = std::fs::read_to_string(folder.path().join("ranks.csv")).unwrap();
    assert!(ranks.lines().any(|line| line == "1,0.0"), "nobody gets there: {ranks}");
    let counted = report(folder.path(), &["pagerank", "way.el", "--graphalytics"]);
    assert_eq!((&counted["rounds"], &counted["converged"]), (&10.into(), &true.into()));
    let labelled = ["label-propagation", "way.el", "--max-rounds", "3", "--verify"];
    let labelled = report(folder.path(), &labelled);
    assert_eq!((&labelled["rounds"], &labelled["converged"]), (&3.into(), &true.into()));
}

#[test]
fn a_report_says_what_the_governor_did() {
    let folder = folder();
    let run = [
        "components",
        "grid:60x50,permute",
        "--hosts",
        "4",
        "--engine",
        "frontier",
        "--pace",
        "basp",
    ];
    for (governor, word) in [("on", "Best labels went first"), ("off", "in any order")] {
        let arguments = [&run[..], &["--governor", governor]].concat();
        let report = report(folder.path(), &arguments);
        let since =
            if governor == "on" { "from round 17 on: 16 rounds" } else { "from round 1 on" };
        assert!(report["pace_why"].as_str().is_some_and(|why| why.starts_with(since)));
        let hosts = &report["governor"];
        let held = hosts.as_array().map(|hosts| hosts.iter().filter_map(|h| h["held"].as_u64()));
        assert_eq!(held.map(|held| held.sum::<u64>() > 0), (governor == "on").then_some(true));
        let said = text(&parton(folder.path(), &[&["run"], &arguments[..]].concat()).stdout);
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn options_change_the_run_and_not_the_answer() {
    let folder = folder();
    let usual = report(folder.path(), &["components", "rmat:9", "--hosts", "4"]);
    for (arguments, name, value) in [
        (&["--policy", "cvc"][..], "policy", "cvc"),
        (&["--policy", "hvc", "--threshold", "20"], "policy", "hvc"),
        (&["--host-weights", "1,2,3,4"], "policy", "oec"),
        (&["--engine", "push"], "engine", "push"),
        (&["--engine", "frontier"], "engine", "frontier"),
        (&["--optimize", "none"], "optimize", "none"),
        (&["--optimize", "structural"], "optimize", "structural"),
        (&["--optimize", "temporal"], "optimize", "temporal"),
    ] {
        let arguments = [&["components", "rmat:9", "--hosts", "4"], arguments].concat();
        let report = report(folder.path(), &arguments);
        assert_eq!(report[name], value, "{arguments:?}");
        assert_eq!(report["result"], usual["result"], "{arguments:?}");
    }
    let many = report(folder.path(), &["bfs", "rmat:8", "--hosts", "17"]);
    assert_eq!(many["policy"], "cvc", "many hosts talk to few peers");
    let simple = report(folder.path(), &["bfs", "rmat:8", "--simple"]);
    assert!(simple["graph"]["edges"].as_u64().unwrap() < 4096);
    let scaled = report(folder.path(), &["pagerank", "rmat:8", "--unnormalized"]);
    assert!((scaled["result"]["sum"].as_f64().unwrap() - 256.0).abs() < 1e-6);
    let dropped = report(folder.path(), &["pagerank", "star:9", "--dangling", "drop"]);
    let kept = report(folder.path(), &["pagerank", "path:9", "--damping", "0.5"]);
    for report in [dropped, kept] {
        assert!(report["result"]["sum"].as_f64().unwrap() <= 1.0 + 1e-9);
    }
    let rooted = report(folder.path(), &["bfs", "path:9", "--root", "6"]);
    assert_eq!(rooted["result"]["root"], 6);
}

#[test]
fn graphs_smaller_than_the_cluster_are_graphs() {
    let folder = folder();
    std::fs::write(folder.path().join("none.el"), "").unwrap();
    let all = ["bfs", "sssp", "components", "pagerank", "betweenness", "strongly-connected"];
    for algorithm in all.into_iter().chain(["label-propagation"]) {
        for graph in ["path:3", "none.el"] {
            let output = format!("{algorithm}.csv");
            let arguments = [algorithm, graph, "--hosts", "7", "--verify", "--output", &output];
            let report = report(folder.path(), &arguments);
            let vertices = if graph == "path:3" { 3 } else { 0 };
            assert_eq!(report["graph"]["vertices"], vertices, "{arguments:?}");
            assert_eq!((&report["converged"], &report["verified"]), (&true.into(), &true.into()));
            let rows = std::fs::read_to_string(folder.path().join(output)).unwrap();
            assert_eq!(rows.lines().count(), 1 + vertices);
        }
    }
    assert_eq!(report(folder.path(), &["bfs", "none.el"])["result"]["root"], Value::Null);
}

#[test]
fn saved_partitions_are_graphs_too() {
    let folder = folder();
    let save = ["partition", "rmat:9", "--hosts", "3", "--policy", "cvc", "--save", "parts"];
    assert!(parton(folder.path(), &save).status.success());
    let saved = report(folder.path(), &["components", "parts", "--verify"]);
    assert_eq!((&saved["policy"], &saved["hosts"]), (&"cvc".into(), &3.into()));
    let fresh = report(folder.path(), &["components", "rmat:9"]);
    assert_eq!(saved["result"], fresh["result"]);
    for (arguments, message) in [
        (&["--hosts", "2"][..], "saved for 3 hosts"),
        (&["--policy", "oec"], "saved by policy cvc"),
        (&["--undirected"], "taken as it is"),
    ] {
        let output = parton(folder.path(), &[&["run", "bfs", "parts"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}

#[test]
fn graphs_are_made_to_fit() {
    let folder = folder();
    let path = folder.path();
    let edges = "from,to,weight\n1,2,5\n2,1,6\n2,3,1\n3,1,4\n3,3,2\n4,1,1\n";
    std::fs::write(path.join("g.csv"), edges).unwrap();
    let notes = |arguments: &[&str]| {
        let output = parton(path, &[&["run"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    for hosts in ["1", "3"] {
        let said =
            notes(&["kcore", "g.csv", "--hosts", hosts, "--verify", "--output", "cores.csv"]);
        for note in ["weights are ignored", "taken both ways", "self-loops and parallel edges"] {
            assert!(said.contains(&format!("kcore: {note}")) || said.contains(note), "{said}");
        }
        let cores = std::fs::read_to_string(path.join("cores.csv")).unwrap();
        assert_eq!(cores, "id,core\n1,2\n2,2\n3,2\n4,1\n");
    }
    assert!(!notes(&["sssp", "g.csv"]).contains("weights"), "they are used");
    let result = |arguments: &[&str]| report(path, arguments)["result"].clone();
    assert_eq!(result(&["kcore", "g.csv"]), serde_json::json!({ "degeneracy": 2 }));
    assert_eq!(result(&["kcore", "g.csv", "--k", "2"]), serde_json::json!({ "size": 3 }));
    assert_eq!(result(&["triangles", "g.csv"]), serde_json::json!({ "count": 1 }));
    // Of the ordered pairs of their neighbours edges join 1 of 6, 1 of 2, 2 of 2 and none.
    let mean = result(&["lcc", "g.csv", "--hosts", "2", "--verify"])["mean"].as_f64().unwrap();
    assert!((mean - (1.0 / 6.0 + 0.5 + 1.0) / 4.0).abs() < 1e-12, "{mean}");

    let refused = parton(path, &["run", "kcore", "g.csv", "--directed"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("undirected graphs only"), "{}", text(&refused.stderr));
    let save = ["partition", "g.csv", "--hosts", "2", "--policy", "cvc", "--save"];
    assert!(parton(path, &[&save[..], &["plain"]].concat()).status.success());
    let refused = parton(path, &["run", "triangles", "plain"]);
    assert_eq!(refused.status.code(), Some(65), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("--undirected"), "{}", text(&refused.stderr));
    let tidy = [&save[..], &["tidy", "--undirected", "--simple"]].concat();
    assert!(parton(path, &tidy).status.success());
    assert_eq!(result(&["triangles", "tidy", "--verify"]), serde_json::json!({ "count": 1 }));
}

#[test]
fn people_get_text_and_a_page() {
    let folder = folder();
    let arguments =
        ["run", "pagerank", "rmat:8", "--hosts", "4", "--verify", "--report", "page.html"];
    let output = parton(folder.path(), &arguments);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for shown in [
        "algorithm    pagerank",
        "rmat:8: 256 vertices, 4,096 edges",
        "4 × ",
        "iec (for up to 16 hosts",
        "pull (",
        "converged",
        "s partition",
        "metadata",
        "residual",
        "verified     yes",
    ] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    assert_eq!(text(&output.stderr), "wrote page.html\n");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.matches("<svg").count() == 7 && page.contains("</html>"));
    assert!(!page.contains("http") && !page.contains("<script"), "nothing from elsewhere");
    let quiet = parton(folder.path(), &["run", "bfs", "path:5", "--hosts", "5", "-q"]);
    assert!(quiet.stderr.is_empty(), "{}", text(&quiet.stderr));
    let listed = text(&parton(folder.path(), &["list"]).stdout);
    for shown in ["pagerank", "--damping", "frontier", "cvc", ".npy", "rmat:SCALE", ".parton"] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
}

/// Help, lists and docs know what algorithms declare, and `bench` takes the same as `run`.
#[test]
fn declared_options_are_shown_everywhere() {
    let folder = folder();
    let said = |arguments: &[&str]| text(&parton(folder.path(), arguments).stdout);
    // Help is wrapped anywhere.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bench = words(&said(&["bench", "--help"]));
    let short = words(&said(&["run", "--help"]));
    assert!(short.contains("Examples:") && !short.contains("--damping"), "{short}");
    let listed = said(&["list"]);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/running.md");
    let page = std::fs::read_to_string(page).expect("a page");
    for algorithm in parton::algorithms::ALL {
        let run = words(&said(&["run", algorithm.name(), "--help"]));
        assert!(run.contains("--damping ") == (algorithm.name() == "pagerank"), "{run}");
        for spec in algorithm.options().specs() {
            let option = format!("--{}", spec.name.replace('_', "-"));
            for help in [&run, &bench] {
                assert!(help.contains(&format!("{option} ")), "{option}: {help}");
                if let Some(default) = spec.default_text() {
                    let default = default.replace("`pace`", "--pace");
                    assert!(help.contains(&format!("[default: {default}]")), "{option}: {help}");
                }
            }
            assert!(listed.contains(&option), "{option}: {listed}");
            assert!(page.contains(&format!("`{option}")), "docs/running.md lacks {option}");
        }
    }
    assert!(bench.contains("Ranks after exactly --max-rounds rounds (10 if"), "{bench}");
}

#[test]
fn algorithms_have_short_names() {
    let folder = folder();
    for (short, name) in [
        ("cc", "components"),
        ("wcc", "components"),
        ("scc", "strongly-connected"),
        ("pr", "pagerank"),
        ("bc", "betweenness"),
        ("tc", "triangles"),
        ("cdlp", "label-propagation"),
        ("lp", "label-propagation"),
    ] {
        assert_eq!(report(folder.path(), &[short, "path:4"])["algorithm"], name);
    }
    let mistaken = parton(folder.path(), &["run", "pagernk", "path:4"]);
    assert_eq!(mistaken.status.code(), Some(2));
    assert!(text(&mistaken.stderr).contains("pagerank"), "{}", text(&mistaken.stderr));
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&parton(folder.path(), &["completions", shell]).stdout);
        assert!(["policy", "convert"].iter().all(|word| script.contains(word)));
    }
    let output = parton(folder.path(), &["man", "pages/man1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = folder.path().join("pages/man1/parton-run.1");
    let page = std::fs::read_to_string(page).expect("a page").replace("\\-", "-");
    assert!(page.contains(".TH parton-run 1") && page.contains("--policy"), "{page}");
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let output = parton(folder.path(), &["man", "file/man1"]);
    assert_eq!(output.status.code(), Some(74), "{}", text(&output.stderr));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("debts.csv"), "from,to,weight\n1,2,-3.5\n").unwrap();
    std::fs::write(folder.path().join("names.csv"), "from,to\nRome,Paris\n").unwrap();
    for (arguments, code, message) in [
        (&["dfs", "rmat:5"][..], 2, "possible values: bfs"),
        (&["bfs", "rmat:5", "--engine", "gpu"], 2, "possible values: auto, push"),
        (&["pagerank", "missing", "--engine", "union"], 2, "engine union cannot run pagerank"),
        (&["bfs", "rmat:5", "--pace", "asp"], 2, "possible values: bsp, basp, auto"),
        (
            &["pagerank", "missing", "--pace", "basp", "--formulation", "power"],
            2,
            "pagerank needs rounds: every vertex collects in every round; --formulation residual",
        ),
        (&["bfs", "missing", "--pace", "basp", "--max-rounds", "3"], 2, "rounds of its own"),
        (&["pagerank", "missing", "--formulation", "guess"], 2, "power or residual"),
        (&["bfs", "rmat:5", "--optimize", "some"], 2, "possible values: all"),
        (&["bfs", "rmat:5", "--policy", "metis"], 2, "unknown policy 'metis'; known: oec"),
        (&["bfs", "rmat:5", "--hosts", "0"], 2, "0"),
        (&["bfs", "rmat:5", "--hosts", "2", "--host-weights", "1"], 2, "1 host weights for 2"),
        (&["bfs", "rmat:5", "--root", "Rome"], 2, "no vertex Rome"),
        (&["bfs", "names.csv", "--root", "7"], 2, "no vertex 7"),
        (
            &["pagerank", "rmat:5", "--root", "1"],
            2,
            "--root means nothing to pagerank: it knows --tolerance, --damping",
        ),
        (&["components", "rmat:5", "--damping", "0.5"], 2, "it has no options of its own"),
        (&["bfs", "rmat:5", "--levels", "3"], 2, "--levels"),
        (&["pagerank", "rmat:5", "--tolerance", "0"], 2, "--max-rounds"),
        (&["pagerank", "rmat:5", "--damping", "1"], 2, "--damping 1: expected"),
        (&["pagerank", "rmat:5", "--damping", "half"], 2, "'--damping <SHARE>': expected a number"),
        (&["pagerank", "rmat:5", "--dangling", "keep"], 2, "redistribute or drop"),
        (&["sssp", "missing", "--delta", "0"], 2, "--delta 0: expected a width above 0"),
        (&["betweenness", "rmat:5", "--sources", "1,99,7,100"], 2, "not in the graph: 99, 100"),
        (&["betweenness", "names.csv", "--sources", "Oslo"], 2, "not in the graph: Oslo"),
        (&["betweenness", "rmat:5", "--sources", "0"], 2, "at least 1"),
        (&["betweenness", "rmat:5", "--sources", "random:x"], 2, "random:N,SEED"),
        (&["betweenness", "missing", "--pace", "basp"], 2, "paths are counted level by level"),
        (&["betweenness", "missing", "--max-rounds", "3"], 2, "before its last round"),
        (&["strongly-connected", "missing", "--max-rounds", "3"], 2, "before its last round"),
        (&["label-propagation", "missing", "--pace", "basp"], 2, "of the round before"),
        (&["pagerank", "rmat:5", "--seeds", "99,"], 2, "--seeds names vertices that are not in"),
        (&["pagerank", "missing", "--graphalytics", "--seeds", "3"], 2, "and --seeds"),
        (&["bfs", "rmat:5", "--output", "x.xls"], 2, "known are .csv, .tsv, .jsonl, .parquet"),
        (&["bfs", "rmat:5", "--output", "x.parquet.gz"], 2, "not packed"),
        (&["bfs", "rmat:5", "--output", "."], 2, "the ending says the format"),
        // Before the graph is even looked for.
        (&["bfs", "missing", "--output", "no/such/folder/x.csv"], 74, "cannot write"),
        (&["bfs", "missing", "--report", "no/such/folder/x.html"], 74, "cannot write"),
        (&["bfs", "missing", "--policy", "metis"], 2, "unknown policy"),
        (&["bfs", "missing"], 66, "no such file"),
        (&["sssp", "debts.csv"], 65, "weight -3.5"),
    ] {
        let output = parton(folder.path(), &[&["run"], arguments].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(files(folder.path()), ["debts.csv", "names.csv"]);
}

#[test]
fn ending_early_is_never_silent() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let output = parton(folder.path(), &[&["run", "--json", "-q"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report all the same");
        assert_eq!(report["converged"], false, "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains("not converged"), "{arguments:?}: {said}");
        (output.status.code(), report)
    };
    // Sums over many leaves are rounded by more than this.
    let endless = ["pagerank", "star:1000", "--tolerance", "1e-18"];
    let (code, _) = run(&[&endless[..], &["--output", "far.csv"]].concat());
    assert_eq!(code, Some(3), "nobody asked for the end");
    let (code, report) =
        run(&["pagerank", "rmat:8", "--max-rounds", "2", "--output", "two.csv", "--verify"]);
    assert_eq!((code, &report["rounds"]), (Some(0), &2.into()));
    // Levels that are not final are no levels, and are not written.
    let (code, report) = run(&[
        "bfs",
        "path:9",
        "--root",
        "0",
        "--max-rounds",
        "2",
        "--verify",
        "--output",
        "b.csv",
    ]);
    assert_eq!((code, &report["verified"]), (Some(3), &false.into()));
    // Unless nobody asks: components are then called by vertices that are not their least.
    let (code, _) = run(&[
        "components",
        "path:40,permute",
        "--engine",
        "frontier",
        "--max-rounds",
        "2",
        "--hosts",
        "3",
        "--output",
        "c.csv",
    ]);
    assert_eq!(code, Some(0));
    assert_eq!(files(folder.path()), ["c.csv", "far.csv", "two.csv"]);
}

/// Starts the command in a folder.
fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parton"));
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the command runs")
}

/// Sends a signal; the code the command ends with.
fn end(mut child: Child, signal: &str) -> Option<i32> {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("a signal").success());
    child.wait().expect("an end").code()
}

#[test]
fn signals_leave_nothing_behind() {
    // A surfer who almost never jumps takes ages to cross a grid.
    let endless = [
        "run",
        "pagerank",
        "grid:300x300",
        "--damping",
        "0.9999999",
        "--tolerance",
        "0",
        "--max-rounds",
        "10000000",
        "--hosts",
        "2",
        "--output",
        "x.csv",
        "--report",
        "x.html",
    ];
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = folder();
        let child = start(folder.path(), &endless);
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(end(child, signal), Some(code));
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    }
    // In the midst of writing.
    let folder = folder();
    let child = start(folder.path(), &["generate", "rmat:20", "x.csv"]);
    let limit = Instant::now() + Duration::from_secs(300);
    while files(folder.path()).is_empty() {
        assert!(Instant::now() < limit, "nothing is ever written");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(end(child, "-INT"), Some(130));
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
}
