//! Scaling over the threads of a host and the hosts of a machine, as tables and curves.

use serde_json::Value;

use super::Results;
use super::lines::Lines;
use super::tables::{NOTHING, least, number, rows, short, table, text};

/// The algorithms that are compared, each with its colour.
const ALGORITHMS: [(&str, &str); 4] =
    [("bfs", "#2166ac"), ("sssp", "#b2182b"), ("components", "#1b7837"), ("pagerank", "#e08214")];

/// The rows of one kind of measurement.
fn kind<'r>(results: &'r Results, what: &'r str) -> impl Iterator<Item = &'r Value> + Clone {
    rows(&results.of("scaling")["rows"]).iter().filter(move |row| row["what"] == what)
}

/// Best time of a run, and of a run with what prepares it.
fn with_setup(row: &Value) -> f64 {
    let pairs = rows(&row["run"]).iter().zip(rows(&row["setup"]));
    pairs.map(|(run, setup)| number(run) + number(setup)).fold(f64::INFINITY, f64::min)
}

/// One host with more and more threads, beside GAP with as many.
pub(super) fn threads(results: &Results) -> String {
    beside_gap(results.of("scaling"))
}

/// The same on other graphs.
pub(super) fn other_graphs(results: &Results) -> String {
    beside_gap(results.of("other-graphs"))
}

fn beside_gap(result: &Value) -> String {
    let body = rows(&result["rows"]).iter().filter(|row| row["what"] == "threads").map(|row| {
        let (run, gap) = (least(&row["run"]), least(&row["gap"]));
        vec![
            text(&row["graph"]).into(),
            text(&row["algorithm"]).into(),
            row["threads"].to_string(),
            short(run),
            short(with_setup(row)),
            short(gap),
            format!("{:.2}", gap / run),
            format!("{:.2}", gap / with_setup(row)),
        ]
    });
    let head = [
        "graph",
        "algorithm",
        "threads",
        "run, s",
        "with setup, s",
        "GAP, s",
        "GAP ÷ run",
        "GAP ÷ with setup",
    ];
    table(&head, body.collect())
}

/// All cores by more and more hosts.
pub(super) fn hosts(results: &Results) -> String {
    let alone = |row: &Value| {
        let is_same =
            |other: &&Value| other["hosts"] == 1 && other["algorithm"] == row["algorithm"];
        kind(results, "hosts").find(is_same).map_or(f64::NAN, |row| least(&row["run"]))
    };
    let body = kind(results, "hosts").map(|row| {
        vec![
            text(&row["algorithm"]).into(),
            format!("{} × {}", row["hosts"], row["threads"]),
            format!("`{}`", text(&row["policy"])),
            short(number(&row["partition"])),
            short(least(&row["setup"])),
            short(least(&row["run"])),
            format!("{:.2}", least(&row["run"]) / alone(row)),
            short(number(&row["bytes"]) / 1e6),
        ]
    });
    let head = [
        "algorithm",
        "hosts × threads",
        "policy",
        "partition, s",
        "setup, s",
        "run, s",
        "÷ 1 host",
        "MB sent",
    ];
    table(&head, body.collect())
}

/// From the file to the answer.
pub(super) fn commands(results: &Results) -> String {
    let body = kind(results, "command").map(|row| {
        let [one, four, gap] = ["parton", "parton_4", "gap"].map(|name| least(&row[name]));
        vec![
            text(&row["algorithm"]).into(),
            row["threads"].to_string(),
            short(one),
            short(four),
            short(gap),
            format!("{:.2}", gap / one),
        ]
    });
    table(
        &["algorithm", "threads", "1 host, s", "4 hosts, s", "GAP, s", "GAP ÷ 1 host"],
        body.collect(),
    )
}

/// Partitioning, loading and generating.
pub(super) fn ingest(results: &Results) -> String {
    let partitions = kind(results, "partition").map(|row| {
        let what = format!("partition, `{}`, {} hosts", text(&row["policy"]), row["hosts"]);
        vec![what, "all".into(), short(least(&row["seconds"])), "–".into()]
    });
    let inputs = kind(results, "load").chain(kind(results, "generate")).map(|row| {
        let seconds = least(&row["seconds"]);
        vec![
            format!("`{}`", text(&row["input"])),
            row["threads"].to_string(),
            short(seconds),
            short(number(&row["edges"]) / seconds / 1e6),
        ]
    });
    table(&["what", "threads", "s", "M edges/s"], partitions.chain(inputs).collect())
}

/// Links to the drawings there are.
pub(super) fn curves(results: &Results) -> String {
    let links: String = drawings(results)
        .iter()
        .filter_map(|(file, _)| file.strip_prefix("docs/"))
        .map(|file| {
            format!("![{}]({file})\n", file.trim_end_matches(".svg").replace('-', " over "))
        })
        .collect();
    if links.is_empty() { NOTHING.into() } else { links }
}

/// The drawings: speed-up over threads, and time over hosts.
pub(super) fn drawings(results: &Results) -> Vec<(String, String)> {
    let curve = |what: &'static str, over: &'static str, of: &'static str, algorithm: &str| {
        let rows = kind(results, what).filter(|row| {
            row["algorithm"] == algorithm
                && row["graph"].as_str().is_none_or(|graph| graph == "kron")
        });
        let mut points: Vec<(f64, f64)> =
            rows.map(|row| (number(&row[over]), least(&row[of]))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    // Speed-up, or slowdown, relative to the first point.
    let relative = |points: Vec<(f64, f64)>, is_speed_up: bool| -> Vec<(f64, f64)> {
        let first = points.first().map_or(1.0, |point| point.1);
        let ratio = |y: f64| if is_speed_up { first / y } else { y / first };
        points.into_iter().map(|(x, y)| (x, ratio(y))).collect()
    };
    let mut drawings = Vec::new();
    let mut keep = |file: &str, lines: Lines<'_>| {
        if lines.curves.iter().any(|(_, _, points)| points.len() > 1) {
            drawings.push((format!("docs/{file}.svg"), lines.svg()));
        }
    };
    let over_threads = ALGORITHMS.iter().flat_map(|&(algorithm, colour)| {
        [("Parton", "run"), ("GAP", "gap")].map(|(whose, of)| {
            let points = relative(curve("threads", "threads", of, algorithm), true);
            (format!("{whose}, {algorithm}"), colour, points)
        })
    });
    keep(
        "scaling-threads",
        Lines {
            title: "Speed-up of one host over its threads (kron)",
            over: "threads",
            curves: over_threads.collect(),
        },
    );
    let over_hosts = ALGORITHMS.iter().map(|&(algorithm, colour)| {
        let points = relative(curve("hosts", "hosts", "run", algorithm), false);
        (algorithm.to_owned(), colour, points)
    });
    keep(
        "scaling-hosts",
        Lines {
            title: "Time of the run on all cores, 1 host = 1 (kron)",
            over: "hosts",
            curves: over_hosts.collect(),
        },
    );
    drawings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_become_tables_and_curves() {
        let run = |threads: u32, run: f64| {
            json!({ "what": "threads", "graph": "kron", "algorithm": "bfs", "threads": threads,
                    "run": [run, 2.0 * run], "setup": [0.5, 0.5], "gap": [4.0] })
        };
        let host = |hosts: u32, run: f64| {
            json!({ "what": "hosts", "graph": "kron", "algorithm": "bfs", "hosts": hosts, "threads": 1,
                    "policy": "oec", "partition": 1.0, "setup": [0.5], "run": [run], "bytes": 2_000_000 })
        };
        let rows = [run(1, 2.0), run(2, 1.0), host(1, 1.0), host(2, 1.5)];
        let results = Results::only("scaling", json!({ "rows": rows }));
        assert!(
            threads(&results).contains("| kron | bfs | 2 | 1.00 | 1.50 | 4.00 | 4.00 | 2.67 |")
        );
        assert!(
            hosts(&results).contains("| bfs | 2 × 1 | `oec` | 1.00 | 0.500 | 1.50 | 1.50 | 2.00 |")
        );
        let drawn = drawings(&results);
        assert!(curves(&results).starts_with("![scaling over threads](scaling-threads.svg)\n"));
        let files: Vec<&str> = drawn.iter().map(|(file, _)| &file[..]).collect();
        assert_eq!(files, ["docs/scaling-threads.svg", "docs/scaling-hosts.svg"]);
        assert!(drawn.iter().all(|(_, svg)| svg.contains("<polyline points=\"50.0,")));
        assert!(drawings(&Results::only("scaling", Value::Null)).is_empty());
    }
}
