//! Results as Markdown, one function per marked place.

use serde_json::Value;

use super::Results;

/// What a place shows as long as nothing was measured.
pub(super) const NOTHING: &str = "No results are recorded.\n";

type Table = fn(&Results) -> String;

/// Every place by its name.
const ALL: &[(&str, Table)] = &[
    ("source of figures", |results| source(results.of("figures"))),
    ("source of volume", |results| source(results.of("volume"))),
    ("source of pace", |results| source(results.of("pace"))),
    ("graphs", |results| graphs(results.of("figures"))),
    ("summary", |results| summary(results.of("figures"))),
    ("searches and ranks", |results| searches(results.of("figures"))),
    ("all algorithms", |results| all_algorithms(results.of("figures"))),
    ("starts", |results| starts(results.of("figures"))),
    ("loading", |results| loading(results.of("figures"))),
    ("partitioning", |results| partitioning(results.of("figures"))),
    ("volume", |results| volume(results.of("volume"))),
    ("volume summary", |results| volume_summary(results.of("volume"))),
    ("pace", |results| pace(results.of("pace"))),
    ("source of gpu", |results| source(results.of("gpu"))),
    ("gpu", super::gpu::gpu),
    ("gpu more", super::gpu::more),
    ("gpu translated", super::gpu::translated),
    ("gpu bytes", super::gpu::bytes),
    ("source of plan", |results| source(results.of("plan"))),
    ("plan", super::plan::plan),
    ("plan figures", super::plan::single_figures),
    ("source of levels", |results| source(results.of("levels"))),
    ("levels", super::compiler::levels),
    ("source of twins", |results| source(results.of("twins"))),
    ("twins", super::compiler::twins),
    ("source of compile", |results| source(results.of("compile"))),
    ("compile", super::compiler::compile),
    ("source of spmv", |results| source(results.of("spmv"))),
    ("spmv links", super::spmv::links),
    ("spmv ideas", super::spmv::ideas),
    ("spmv work", super::spmv::work),
    ("spmv alone", super::spmv::alone),
    ("spmv memory", super::spmv::memory),
    ("source of la3", |results| source(results.of("la3"))),
    ("la3", super::spmv::la3),
    ("source of scaling", |results| source(results.of("scaling"))),
    ("scaling curves", super::scaling::curves),
    ("scaling over threads", super::scaling::threads),
    ("scaling over hosts", super::scaling::hosts),
    ("whole commands", super::scaling::commands),
    ("scaling of ingest", super::scaling::ingest),
];

pub(super) fn by_name(name: &str) -> Option<Table> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, table)| *table)
}

/// Rows of a JSON list; none where it is missing.
pub(super) fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Three digits that count.
pub(super) fn short(number: f64) -> String {
    match number {
        n if !n.is_finite() => "–".into(),
        0.0 => "0".into(),
        n => {
            let digits = (2 - n.abs().log10().floor() as i32).clamp(0, 6) as usize;
            format!("{n:.digits$}")
        }
    }
}

/// An integer with commas between thousands.
pub(super) fn count(value: &Value) -> String {
    let digits = value.as_u64().unwrap_or(0).to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

pub(super) fn least(seconds: &Value) -> f64 {
    rows(seconds).iter().map(number).fold(f64::INFINITY, f64::min)
}

fn greatest(seconds: &Value) -> f64 {
    rows(seconds).iter().map(number).fold(f64::NEG_INFINITY, f64::max)
}

pub(super) fn geometric_mean(ratios: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = ratios.clone().count() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}

pub(super) fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return NOTHING.into();
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(&head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

fn source(result: &Value) -> String {
    if result.is_null() {
        return NOTHING.into();
    }
    let machine = &result["machine"];
    let gpu = result["gpu"].as_str().map_or(String::new(), |model| format!(", one {model}"));
    format!(
        "{}, commit `{}`, {} cores of {}{gpu}, {:.0} GB of memory: `{}`\n",
        text(&result["date"]),
        text(&result["commit"]),
        machine["cores"],
        text(&machine["cpu"]),
        number(&machine["memory_bytes"]) / 1e9,
        text(&result["command"]),
    )
}

fn graphs(result: &Value) -> String {
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

fn searches(result: &Value) -> String {
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

fn all_algorithms(result: &Value) -> String {
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
fn summary(result: &Value) -> String {
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

fn starts(result: &Value) -> String {
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

fn loading(result: &Value) -> String {
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

fn partitioning(result: &Value) -> String {
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

fn volume(result: &Value) -> String {
    let row = |row: &Value| {
        let bytes = |name: &str| number(&row[name]["bytes"]);
        vec![
            text(&row["graph"]).into(),
            text(&row["algorithm"]).into(),
            text(&row["policy"]).into(),
            row["dgalois"]["rounds"].to_string(),
            count(&row["dgalois"]["bytes"]),
            row["push"]["rounds"].to_string(),
            count(&row["push"]["bytes"]),
            format!("{:.1} %", 100.0 * bytes("push") / bytes("dgalois")),
            count(&row["push_unoptimized"]["bytes"]),
            format!("{:.1}", bytes("push_unoptimized") / bytes("push")),
            row["auto"]["rounds"].to_string(),
            count(&row["auto"]["bytes"]),
        ]
    };
    let head = [
        "graph",
        "algorithm",
        "policy",
        "D-Galois: rounds",
        "bytes",
        "`push`: rounds",
        "bytes",
        "of D-Galois",
        "`--optimize none`",
        "none ÷ all",
        "`auto`: rounds",
        "bytes",
    ];
    table(&head, rows(&result["rows"]).iter().map(row).collect())
}

fn volume_summary(result: &Value) -> String {
    let all = rows(&result["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let ratios =
        |of: fn(&Value) -> f64, to: fn(&Value) -> f64| all.iter().map(move |row| of(row) / to(row));
    let push: fn(&Value) -> f64 = |row| number(&row["push"]["bytes"]);
    let dgalois: fn(&Value) -> f64 = |row| number(&row["dgalois"]["bytes"]);
    let none: fn(&Value) -> f64 = |row| number(&row["push_unoptimized"]["bytes"]);
    let theirs: fn(&Value) -> f64 = |row| number(&row["dgalois"]["unoptimized"]);
    format!(
        "With `push`, which relaxes inside a host as D-Galois does, Parton sends **{:.1} %** of \
         D-Galois's bytes\nin the geometric mean and {:.1} % in the worst row. All optimisations \
         together save a factor of **{:.1}**\n(geometric mean of none ÷ all); D-Galois's save {:.2} \
         on the same rows.\n",
        100.0 * geometric_mean(ratios(push, dgalois)),
        100.0 * ratios(push, dgalois).fold(0.0, f64::max),
        geometric_mean(ratios(none, push)),
        geometric_mean(ratios(theirs, dgalois)),
    )
}

fn pace(result: &Value) -> String {
    let rounds = |pace: &Value| match (&pace["rounds"][0], &pace["rounds"][1]) {
        (fewest, most) if fewest == most => most.to_string(),
        (fewest, most) => format!("{fewest}–{most}"),
    };
    let row = |row: &Value| {
        let [bsp, basp, free] = [0, 1, 2].map(|at| &row["paces"][at]);
        let seconds = |pace: &Value| number(&pace["seconds"]);
        vec![
            text(&row["graph"]).into(),
            format!("{}, {}", text(&row["algorithm"]), text(&row["engine"])),
            if row["slow_host"] == true { "yes" } else { "no" }.into(),
            format!("{:.1}", 1e3 * seconds(bsp)),
            format!("{:.2}", seconds(basp) / seconds(bsp)),
            format!("{:.2}", seconds(free) / seconds(bsp)),
            rounds(bsp),
            rounds(basp),
            format!("{:.2}", number(&basp["work"]) / number(&bsp["work"]).max(1.0)),
        ]
    };
    let head = [
        "graph",
        "algorithm, engine",
        "slow host",
        "bsp, ms",
        "basp ÷ bsp",
        "without governor",
        "rounds: bsp",
        "basp",
        "work ÷ bsp",
    ];
    table(&head, rows(&result["rows"]).iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let shown = [0.04571, 1.086, 65.04, 1187.0, 0.0, 0.00004, f64::NAN].map(short);
        assert_eq!(shown, ["0.0457", "1.09", "65.0", "1187", "0", "0.000040", "–"]);
        assert_eq!(
            [0, 999, 1000, 12_345_678].map(|n: u64| count(&json!(n))),
            ["0", "999", "1,000", "12,345,678"]
        );
    }

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
