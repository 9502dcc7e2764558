//! What was measured on a GPU: engines beside those on the processor, and what is asked of hosts that are GPUs.

use serde_json::Value;

use super::Results;
use super::tables::{NOTHING, count, number, rows, table, text};

/// One row for each graph, algorithm and engine that a GPU ran.
pub(super) fn gpu(results: &Results) -> String {
    let all = rows(&results.of("gpu")["rows"]);
    let body = all.iter().filter(|row| is_gpu(row)).map(|row| {
        let is_same = |other: &&Value| {
            !is_gpu(other) && ["graph", "algorithm"].iter().all(|key| other[key] == row[key])
        };
        let cpu = all.iter().find(is_same);
        let rate = |row: &Value| format!("{:.1}", number(&row["edges"]) / best(row) / 1e9);
        vec![
            text(&row["graph"]).into(),
            text(&row["algorithm"]).replace('/', ", "),
            format!("{:.2}", 1e3 * best(row)),
            rate(row),
            cpu.map_or("–".into(), |cpu| format!("{:.1}", 1e3 * best(cpu))),
            cpu.map_or("–".into(), |cpu| format!("{:.1}", best(cpu) / best(row))),
        ]
    });
    let head = ["graph", "algorithm, engine", "GPU, ms", "G edges/s", "CPU, ms", "CPU ÷ GPU"];
    table(&head, body.collect())
}

fn best(row: &Value) -> f64 {
    number(&row["best"])
}

fn is_gpu(row: &Value) -> bool {
    text(&row["device"]) != "cpu"
}

/// Rates and ratios beside the times: levels, uploads, and hosts that share the work.
pub(super) fn more(results: &Results) -> String {
    let result = results.of("gpu");
    let all = rows(&result["rows"]);
    let mut body: Vec<Vec<String>> = Vec::new();
    let mut line = |what: String, found: String| body.push(vec![what, found]);
    for row in all.iter().filter(|row| is_gpu(row) && number(&row["levels"]) > 1e3) {
        let levels = number(&row["levels"]);
        let rate = |name: &str| format!("{:.0}", levels / number(&row[name]) / 1e3);
        line(
            format!(
                "bfs on {}, {} levels: thousand levels per second, best (median)",
                text(&row["graph"]),
                count(&row["levels"])
            ),
            format!("{} ({})", rate("best"), rate("median")),
        );
    }
    let uploads = all.iter().filter(|row| number(&row["upload"]["bytes"]) > 1e9);
    let rate =
        |row: &&Value| number(&row["upload"]["bytes"]) / number(&row["upload"]["seconds"]) / 1e9;
    for row in uploads {
        let (graph, algorithm) = (text(&row["graph"]), text(&row["algorithm"]).replace('/', ", "));
        let bytes = number(&row["upload"]["bytes"]) / 1e9;
        line(
            format!("upload of {graph} for {algorithm}, {bytes:.2} GB: GB/s"),
            format!("{:.1}", rate(&row)),
        );
    }
    let sharing = &result["sharing"];
    if !sharing.is_null() {
        let [one, two] = ["one", "two"].map(|name| 1e3 * number(&sharing[name]));
        line(
            format!(
                "pagerank on {}, a round of one host and of two that share the GPU: ms",
                text(&sharing["graph"])
            ),
            format!("{one:.2}, {two:.2}: {:.2} times", two / one),
        );
    }
    let split = &result["split"];
    if !split.is_null() {
        let graph = text(&split["graph"]);
        let limit = text(&split["limit"]);
        let limit =
            limit.parse().map_or(limit.into(), |bytes: f64| format!("{:.2} GB", bytes / 1e9));
        line(
            format!("pagerank on {graph}, a GPU that may use {limit}, alone: exit code"),
            split["refused"].to_string(),
        );
        for host in rows(&split["hosts"]) {
            let percent = |name: &str| 100.0 * number(&host[name]);
            line(
                format!(
                    "the same beside the processor, `{}`: share of edges, busy",
                    text(&host["device"])
                ),
                format!("{:.1} %, {:.0} %", percent("edge_share"), percent("busy")),
            );
        }
        line("the same, a round: ms".into(), format!("{:.2}", 1e3 * number(&split["round"])));
    }
    if body.is_empty() { NOTHING.into() } else { table(&["what", "measured"], body) }
}

/// Operators that `#[device]` translates beside the same by hand.
pub(super) fn translated(results: &Results) -> String {
    let all = rows(&results.of("gpu")["translated"]);
    let row = |row: &Value| {
        let [translated, by_hand] = ["translated", "by_hand"].map(|name| 1e3 * number(&row[name]));
        vec![
            text(&row["graph"]).into(),
            text(&row["program"]).replace('/', ", "),
            format!("{translated:.3}"),
            format!("{by_hand:.3}"),
            format!("{:.2}", by_hand / translated),
        ]
    };
    if all.is_empty() {
        return NOTHING.into();
    }
    let head =
        ["graph", "program, engine", "translated, ms", "by hand, ms", "by hand ÷ translated"];
    table(&head, all.iter().map(row).collect())
}

/// Bytes between hosts that are GPUs and between hosts that are not.
pub(super) fn bytes(results: &Results) -> String {
    let result = &results.of("gpu")["bytes"];
    let row = |row: &Value| {
        let [cpu, gpu] = ["cpu", "device"].map(|name| &row[name]);
        vec![
            text(&row["algorithm"]).replace('/', ", "),
            cpu["rounds"].to_string(),
            count(&cpu["bytes"]),
            gpu["rounds"].to_string(),
            count(&gpu["bytes"]),
            format!("{:.3}", number(&gpu["bytes"]) / number(&cpu["bytes"])),
        ]
    };
    let all = rows(&result["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let head = ["algorithm, engine", "CPU: rounds", "bytes", "GPU: rounds", "bytes", "GPU ÷ CPU"];
    let shown = table(&head, all.iter().map(row).collect());
    let [graph, hosts, policy] = ["graph", "hosts", "policy"].map(|name| text(&result[name]));
    format!("`{graph}` over {hosts} hosts by `{policy}`:\n\n{shown}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_whole_result_is_shown() {
        let results = Results::only(
            "gpu",
            json!({
                "rows": [
                    { "graph": "grid", "edges": 4_000_000, "device": "gpu", "algorithm": "bfs/frontier",
                      "levels": 3000, "best": 0.01, "median": 0.015,
                      "upload": { "bytes": 2_000_000_000u64, "seconds": 0.08 } },
                    { "graph": "grid", "edges": 4_000_000, "device": "cpu", "algorithm": "bfs/frontier",
                      "levels": 3000, "best": 0.05, "median": 0.05, "upload": null },
                ],
                "translated": [
                    { "graph": "g", "program": "hops/push", "translated": 0.002, "by_hand": 0.00199 },
                ],
                "sharing": { "graph": "g", "one": 0.002, "two": 0.0026 },
                "split": { "graph": "g", "limit": "1300000000", "refused": 71, "round": 0.009, "hosts": [
                    { "device": "gpu:0", "edge_share": 0.9, "busy": 0.8 },
                    { "device": "cpu", "edge_share": 0.1, "busy": 0.75 },
                ] },
                "bytes": { "graph": "rmat:18", "hosts": "4", "policy": "cvc", "rows": [
                    { "algorithm": "bfs/pull", "cpu": { "rounds": 5, "bytes": 1000 },
                      "device": { "rounds": 5, "bytes": 1100 } },
                ] },
            }),
        );
        let shown = [gpu, more, translated, bytes].map(|table| table(&results)).concat();
        for line in [
            "| grid | bfs, frontier | 10.00 | 0.4 | 50.0 | 5.0 |",
            "3,000 levels: thousand levels per second, best (median) | 300 (200) |",
            "upload of grid for bfs, frontier, 2.00 GB: GB/s | 25.0 |",
            "| 2.00, 2.60: 1.30 times |",
            "may use 1.30 GB, alone: exit code | 71 |",
            "`cpu`: share of edges, busy | 10.0 %, 75 % |",
            "| the same, a round: ms | 9.00 |",
            "| g | hops, push | 2.000 | 1.990 | 0.99 |",
            "| bfs, pull | 5 | 1,000 | 5 | 1,100 | 1.100 |",
        ] {
            assert!(shown.contains(line), "no '{line}' in\n{shown}");
        }
    }
}
