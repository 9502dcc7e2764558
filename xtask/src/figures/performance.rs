//! Tables of docs/performance.md and the README: times, memory, loading and partitioning.

use serde_json::Value;

use super::tables::{NOTHING, count, geometric_mean, least, number, rows, short, table, text};

pub(super) fn graphs(result: &Value) -> String {
    let row = |graph: &Value| {
        let made_by = format!("`{}`", text(&graph["made_by"]));
        vec![
            text(&graph["name"]).into(),
            count(&graph["vertices"]),
            count(&graph["edges"]),
            made_by,
        ]
    };
    table(
        &["graph", "vertices", "edges", "made by"],
        rows(&result["graphs"]).iter().map(row).collect(),
    )
}

/// One host and several, measured on the same thing.
struct Pair<'a> {
    one: &'a Value,
    several: &'a Value,
    graph: &'a str,
    gap: Option<f64>,
}

/// The rows of some benches, one host beside several.
fn pairs<'a>(result: &'a Value, benches: &'a [Value]) -> Vec<Pair<'a>> {
    let all = || benches.iter().flat_map(|bench| rows(&bench["rows"]));
    let file = |row: &'a Value| text(&row["graph"]["name"]);
    let same = |a: &Value, b: &Value| a["algorithm"] == b["algorithm"] && a["graph"] == b["graph"];
    let on_one_host = all().filter(|row| row["hosts"] == 1);
    let pairs = on_one_host.filter_map(|one| {
        let several = all().find(|row| row["hosts"] != 1 && same(row, one))?;
        let graph =
            rows(&result["graphs"]).iter().find(|graph| text(&graph["file"]) == file(one))?;
        let gap = rows(&result["peers"]).iter().find(|peer| {
            text(&peer["graph"]) == file(one) && peer["algorithm"] == one["algorithm"]
        });
        let gap = gap.map(|peer| least(&peer["seconds"]));
        Some(Pair { one, several, graph: text(&graph["name"]), gap })
    });
    let mut pairs: Vec<Pair<'a>> = pairs.collect();
    pairs.sort_by_key(|pair| text(&pair.one["algorithm"]));
    pairs
}

impl Pair<'_> {
    fn ratio(&self) -> f64 {
        number(&self.several["best"]) / number(&self.one["best"])
    }

    /// Best and median of one host, best and median of several, their ratio, bytes.
    fn times(&self) -> Vec<String> {
        let both = |row: &Value| {
            format!("{} ({})", short(number(&row["best"])), short(number(&row["median"])))
        };
        vec![
            both(self.one),
            both(self.several),
            format!("{:.2}", self.ratio()),
            short(number(&self.several["bytes"]["total"]) / 1e6),
        ]
    }
}

pub(super) fn searches(result: &Value) -> String {
    let benches = rows(&result["benches"]);
    let pairs = pairs(result, &benches[..benches.len().min(2)]);
    let mut head = vec![
        "algorithm",
        "engine",
        "graph",
        "1 host, s (median)",
        "4 hosts, s (median)",
        "4 ÷ 1",
        "MB sent",
    ];
    let has_gap = pairs.iter().any(|pair| pair.gap.is_some());
    if has_gap {
        head.extend(["GAP, s", "GAP ÷ Parton"]);
    }
    let row = |pair: &Pair<'_>| {
        let names = [&pair.one["algorithm"], &pair.one["engine_used"]].map(|v| text(v).to_owned());
        let mut cells = [&names[..], &[pair.graph.to_owned()], &pair.times()].concat();
        if has_gap {
            let gap = pair.gap.unwrap_or(f64::NAN);
            let ratio = gap / number(&pair.one["best"]);
            cells.extend([short(gap), short(ratio)]);
        }
        cells
    };
    let mut shown = table(&head, pairs.iter().map(row).collect());
    if has_gap {
        let ratios = pairs.iter().filter_map(|pair| Some(pair.gap? / number(&pair.one["best"])));
        let mean = geometric_mean(ratios);
        shown += &format!("\nGeometric mean of GAP ÷ Parton: {mean:.2}.\n");
    }
    shown
}

pub(super) fn all_algorithms(result: &Value) -> String {
    let benches = rows(&result["benches"]);
    let pairs = pairs(result, &benches[benches.len().min(2)..]);
    let row = |pair: &Pair<'_>| {
        let names = [&pair.one["algorithm"], &pair.one["engine_used"]].map(|v| text(v).to_owned());
        let rounds = [pair.one["rounds"].to_string()];
        [&names[..], &rounds, &pair.times()].concat()
    };
    let head = [
        "algorithm",
        "engine",
        "rounds",
        "1 host, s (median)",
        "4 hosts, s (median)",
        "4 ÷ 1",
        "MB sent",
    ];
    table(&head, pairs.iter().map(row).collect())
}

/// The largest graph alone, for the README.
pub(super) fn summary(result: &Value) -> String {
    let benches = rows(&result["benches"]);
    let mut pairs = pairs(result, &benches[..benches.len().min(2)]);
    let Some(largest) = rows(&result["graphs"]).first() else { return NOTHING.into() };
    pairs.retain(|pair| pair.graph == text(&largest["name"]));
    let name = format!("{}, {} edges", text(&largest["name"]), count(&largest["edges"]));
    let row = |pair: &Pair<'_>| {
        let rounds = number(&pair.one["rounds"]);
        let edges = number(&pair.one["edges_per_second"]) / 1e6;
        // PageRank goes through all edges in every round.
        let edges = if pair.one["algorithm"] == "pagerank" { edges * rounds } else { edges };
        vec![
            text(&pair.one["algorithm"]).into(),
            short(number(&pair.one["best"])),
            short(edges),
            short(number(&pair.several["best"])),
            short(number(&pair.several["bytes"]["total"]) / 1e6),
        ]
    };
    let head = [&name[..], "1 host, s", "M edges/s", "4 hosts on the same cores, s", "MB sent"];
    table(&head, pairs.iter().map(row).collect())
}

pub(super) fn starts(result: &Value) -> String {
    let row = |start: &Value| {
        let part = |name: &str| short(number(&start["seconds"][name]));
        vec![
            text(&start["algorithm"]).into(),
            start["hosts"].to_string(),
            part("load"),
            part("partition"),
            part("setup"),
            short(number(&start["memory_peak_bytes"]) / 1e6),
        ]
    };
    let head = ["algorithm", "hosts", "load, s", "partition, s", "setup, s", "peak MB"];
    table(&head, rows(&result["starts"]).iter().map(row).collect())
}

pub(super) fn loading(result: &Value) -> String {
    let row = |row: &Value| {
        let best = least(&row["seconds"]);
        let rate =
            |amount: f64| if amount > 0.0 { short(amount / best / 1e6) } else { "–".into() };
        let (peak, graph) = (number(&row["peak_bytes"]), number(&row["result_bytes"]));
        vec![
            text(&row["name"]).into(),
            format!("{} ({})", short(best), short(greatest(&row["seconds"]))),
            rate(number(&row["input_bytes"])),
            if graph > 0.0 { rate(number(&row["edges"])) } else { "–".into() },
            short(peak / 1e6),
            if graph > 0.0 { short(peak / graph) } else { "–".into() },
        ]
    };
    let head =
        ["input: what is done", "best s (worst)", "MB/s", "M edges/s", "peak MB", "peak ÷ graph"];
    table(&head, rows(&result["loading"]).iter().map(row).collect())
}

pub(super) fn partitioning(result: &Value) -> String {
    let all = rows(&result["partitioning"]);
    let one =
        all.iter().find(|row| row["hosts"] == 1).map_or(f64::NAN, |row| number(&row["seconds"]));
    let row = |row: &Value| {
        let part = |name: &str| number(&row[name]);
        vec![
            format!("`{}`", text(&row["policy"])),
            row["hosts"].to_string(),
            short(part("seconds")),
            format!("{:.2}", part("seconds") / one),
            format!("{:.3}", part("replication")),
            format!("{:.3}", part("edge_imbalance")),
            format!("{:.2}", part("bytes") / part("csr_bytes")),
            format!("{:.2}", part("peak_bytes") / part("bytes")),
        ]
    };
    let head = [
        "policy",
        "hosts",
        "s",
        "÷ 1 host",
        "replication",
        "edges, max ÷ mean",
        "bytes ÷ CSR",
        "peak ÷ final",
    ];
    let policies = all.iter().filter(|row| row["policy"].is_string());
    let mut shown = table(&head, policies.map(row).collect());
    if let Some(row) = all.iter().find(|row| row["policy"].is_null()) {
        let [copy, sort] = ["copy_seconds", "sort_seconds"].map(|name| short(number(&row[name])));
        shown += &format!(
            "\nOne CSR of the same file takes {copy} s to read and copy and {sort} s to sort by \
             destination.\n"
        );
    }
    shown
}

fn greatest(seconds: &Value) -> f64 {
    rows(seconds).iter().map(number).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_host_stands_beside_several_and_the_peer() {
        let row = |hosts: u64, best: f64| {
            json!({
                "algorithm": "bfs", "engine_used": "frontier", "hosts": hosts, "best": best, "median": best,
                "graph": { "name": "g.parton", "vertices": 3, "edges": 5 }, "bytes": { "total": 2_000_000 },
            })
        };
        let result = json!({
            "graphs": [{ "file": "g.parton", "name": "small" }],
            "benches": [{ "rows": [row(1, 0.5), row(4, 1.0)] }],
            "peers": [{ "graph": "g.parton", "algorithm": "bfs", "seconds": [0.9, 0.8] }],
        });
        let shown = searches(&result);
        let last =
            "| bfs | frontier | small | 0.500 (0.500) | 1.00 (1.00) | 2.00 | 2.00 | 0.800 | 1.60 |";
        assert!(shown.lines().any(|line| line == last), "{shown}");
        assert!(shown.contains("mean of GAP ÷ Parton: 1.60"));
    }
}
