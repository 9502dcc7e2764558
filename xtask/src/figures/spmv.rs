//! The engine `spmv` beside the others: times over links of a given rate, what is left out, memory of tiles. The
//! program in `bench/` measures; each part of the result is one call of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::tables::{NOTHING, count, geometric_mean, least, number, rows, short, table, text};
use super::{Results, keep, option, read, without};
use crate::{cargo, root, step};

/// Rates of links, with the contestants that are timed over them and the policies that these run on.
const LINKS: [[&str; 3]; 3] = [
    ["1gbit", "spmv+no overlap+pull+frontier", "cvc+hvc+iec+oec+staggered+dual"],
    ["1gbit", "nothing+computation alone+communication alone+overlap alone", "cvc"],
    ["200mbit", "spmv+no overlap+pull", "cvc+hvc+iec+oec+staggered+dual"],
];
/// Links that messages take some time on, too; a kernel may not offer them.
const DELAYED: [&str; 3] = ["1gbit+200us", "spmv+no overlap+pull", "cvc+hvc+staggered"];
const RANKS: &str = "4";

/// Calls of the measuring program.
struct Program<'a> {
    path: PathBuf,
    /// What is put before every measurement.
    prefix: Vec<&'a str>,
    folder: &'a Path,
}

impl Program<'_> {
    /// The rows of one measurement; `launcher` starts ranks.
    fn measure(&self, launcher: &[&str], arguments: &[&str]) -> Option<Value> {
        let rows_file = self.folder.join("rows.json");
        let mut words: Vec<String> = self.prefix.iter().map(|word| (*word).into()).collect();
        words.extend(launcher.iter().map(|word| (*word).into()));
        words.push(self.path.to_string_lossy().into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("spmv").args(arguments).arg("--output").arg(&rows_file);
        let what = format!("spmv {}", arguments.join(" "));
        step(&what, command.current_dir(root())).then(|| read(&rows_file))
    }
}

/// `cargo xtask bench spmv --data DIR [--turns N] [--scale N] [--prefix COMMAND] [--output FILE]`.
pub(crate) fn spmv(command: &[&str]) -> bool {
    let Some(data) = option(command, "--data") else {
        eprintln!("bench spmv: --data DIR, with law/cnr-2000 and libgrape-lite/p2p-31");
        return false;
    };
    let build = ["build", "--release", "--manifest-path", "bench/Cargo.toml"];
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("bench/target"), PathBuf::from);
    let Ok(folder) = tempfile::tempdir() else { return false };
    let prefix = option(command, "--prefix").map_or(Vec::new(), |prefix| vec![prefix]);
    let path = target.join("release/parton-bench");
    let program = Program { path, prefix, folder: folder.path() };
    step("build", &mut cargo(&build))
        && measure(&program, command, data)
            .is_some_and(|body| keep("spmv", &without(command, "--prefix"), &body))
}

type Body = Vec<(&'static str, Value)>;

fn measure(program: &Program<'_>, command: &[&str], data: &str) -> Option<Body> {
    let scale: u32 = option(command, "--scale").map_or(Some(20), |scale| scale.parse().ok())?;
    let turns = option(command, "--turns").unwrap_or("3");
    let crawl = format!("{data}/law/cnr-2000/cnr-2000.txt.gz");
    let peers = format!("{data}/libgrape-lite/p2p-31/p2p-31.e.gz");
    let random = format!("rmat:{scale}");
    let web = format!("web:{}", 1u64 << scale);
    let graphs = [&random, &web, &crawl];
    let mut links = Vec::new();
    for [rate, only, policies] in LINKS.into_iter().chain([DELAYED]) {
        if rate == DELAYED[0]
            && !step(
                "delay",
                Command::new("bench/links.sh").args([RANKS, rate, "true"]).current_dir(root()),
            )
        {
            eprintln!("bench spmv: links are measured without a delay");
            continue;
        }
        for graph in graphs {
            let arguments =
                ["--graphs", graph, "--turns", turns, "--only", only, "--policies", policies];
            let launcher = ["bench/links.sh", RANKS, rate];
            let measured = program.measure(&launcher, &arguments)?;
            links.extend(rows(&measured).iter().cloned().map(|mut row| {
                row["rate"] = json!(rate);
                row
            }));
        }
    }
    let all = [&peers, &crawl, &web, &random].map(String::as_str).join("+");
    let alone = ["--graphs", &all, "--only", "spmv+pull", "--policies", "oec", "--turns", "7"];
    let alone = program.measure(&[], &alone)?;
    let how = ["--only", "spmv", "--policies", "cvc", "--turns", "1", "--hosts", RANKS];
    let work = program.measure(&[], &[&["--graphs", &all[..]], &how[..]].concat())?;
    let largest = format!("rmat:{}", scale + 2);
    let mut memory = Vec::new();
    for hosts in ["4", "64"] {
        let how = ["--memory", "--hosts", hosts, "--policies", "cvc+staggered"];
        let measured = program.measure(&[], &[&["--graphs", &largest[..]], &how[..]].concat())?;
        memory.extend(rows(&measured).iter().cloned());
    }
    Some(vec![("links", json!(links)), ("alone", alone), ("work", work), ("memory", json!(memory))])
}

fn seconds(row: &Value) -> f64 {
    least(&row["seconds"])
}

/// The fastest row of some contestants.
fn fastest<'a>(all: &[&'a Value], is_meant: impl Fn(&str) -> bool) -> Option<&'a Value> {
    let meant = all.iter().filter(|row| is_meant(text(&row["contestant"])));
    meant.copied().min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}

/// Rows of the same links and graph, in their order.
fn by_graph(all: &[Value]) -> Vec<Vec<&Value>> {
    let mut groups: Vec<Vec<&Value>> = Vec::new();
    for row in all {
        let is_same =
            |other: &Value| other["rate"] == row["rate"] && other["graph"] == row["graph"];
        match groups.iter_mut().find(|group| is_same(group[0])) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn named(row: &Value) -> String {
    format!("{} (`{}`)", short(seconds(row)), text(&row["policy"]))
}

/// Each graph over links of each rate: the best of the other engines, `spmv`, and `spmv` without overlap.
pub(super) fn links(results: &Results) -> String {
    let line = |group: &Vec<&Value>| {
        let other = fastest(group, |name| ["pull", "push", "frontier"].contains(&name))?;
        let best = fastest(group, |name| name == "spmv")?;
        let same: Vec<&Value> =
            group.iter().filter(|row| row["policy"] == best["policy"]).copied().collect();
        let without = fastest(&same, |name| name == "no overlap")?;
        Some(vec![
            text(&group[0]["rate"]).into(),
            text(&group[0]["graph"]).into(),
            format!(
                "{}, `{}`: {}",
                text(&other["engine"]),
                text(&other["policy"]),
                short(seconds(other))
            ),
            named(best),
            format!("{:.2}", seconds(best) / seconds(other)),
            short(seconds(without)),
            format!("{:.2}", seconds(best) / seconds(without)),
            short(number(&best["bytes"]) / 1e6),
        ])
    };
    let groups = by_graph(rows(&results.of("spmv")["links"]));
    let head = [
        "links",
        "graph",
        "best other, s",
        "`spmv`, s",
        "÷ other",
        "no overlap, s",
        "÷ no overlap",
        "MB sent",
    ];
    table(&head, groups.iter().filter_map(line).collect())
}

/// What each idea alone and all together save, of a run with none of them, over the fastest links.
pub(super) fn ideas(results: &Results) -> String {
    const IDEAS: [&str; 4] = ["computation alone", "communication alone", "overlap alone", "spmv"];
    let all = rows(&results.of("spmv")["links"]);
    let groups = by_graph(all);
    let lines = groups.iter().filter_map(|group| {
        let same: Vec<&Value> =
            group.iter().filter(|row| row["policy"] == "cvc").copied().collect();
        let plain = fastest(&same, |name| name == "nothing")?;
        let gain = |idea: &&str| {
            let row = fastest(&same, |name| name == *idea);
            row.map_or(f64::NAN, |row| seconds(plain) / seconds(row))
        };
        let gains = IDEAS.iter().map(gain).map(|gain| format!("{gain:.2}"));
        let names = [text(&group[0]["graph"]).to_owned(), short(seconds(plain))];
        Some(names.into_iter().chain(gains).collect())
    });
    let head = ["graph", "none, s", "computation", "communication", "overlap", "all"];
    table(&head, lines.collect())
}

/// Edges that are visited in a round, of all; and in the mean, with those of sinks in the last round.
pub(super) fn work(results: &Results) -> String {
    let line = |row: &Value| {
        let share = |name: &str| format!("{:.3}", number(&row[name]) / number(&row["edges"]));
        let names = [text(&row["graph"]).to_owned(), count(&row["edges"])];
        [names, ["edges_in_round", "edges_per_round"].map(share)].concat()
    };
    let head = [
        "graph, directed",
        "edges",
        "looked at in a round",
        "mean of 20 rounds, sinks in the last",
    ];
    table(&head, rows(&results.of("spmv")["work"]).iter().map(line).collect())
}

/// One host beside the engine `pull`.
pub(super) fn alone(results: &Results) -> String {
    let all = rows(&results.of("spmv")["alone"]);
    let groups = by_graph(all);
    let pairs = groups.iter().filter_map(|group| {
        let [pull, spmv] = ["pull", "spmv"].map(|name| fastest(group, |found| found == name));
        Some((pull?, spmv?))
    });
    let pairs: Vec<_> = pairs.collect();
    if pairs.is_empty() {
        return NOTHING.into();
    }
    let ratio = |(pull, spmv): &(&Value, &Value)| seconds(spmv) / seconds(pull);
    let line = |pair: &(&Value, &Value)| {
        let (pull, spmv) = pair;
        let names = [text(&pull["graph"]).to_owned(), short(seconds(pull)), short(seconds(spmv))];
        [&names[..], &[format!("{:.2}", ratio(pair))]].concat()
    };
    let mean = geometric_mean(pairs.iter().map(ratio));
    let head = ["graph, one host", "`pull`, s", "`spmv`, s", "÷ `pull`"];
    table(&head, pairs.iter().map(line).collect())
        + &format!("\nGeometric mean of the last column: {mean:.2}.\n")
}

/// What tiles take, of plain rows.
pub(super) fn memory(results: &Results) -> String {
    let line = |row: &Value| {
        let bytes = |name: &str| number(&row[name]);
        vec![
            text(&row["graph"]).into(),
            row["hosts"].to_string(),
            format!("`{}`", text(&row["policy"])),
            short(bytes("tile_bytes") / 1e6),
            format!("{:.3}", bytes("tile_bytes") / bytes("row_bytes")),
            format!("{:.3}", bytes("greatest_share")),
        ]
    };
    let head = ["graph", "hosts", "policy", "tiles, MB", "of plain rows", "of any host, at most"];
    table(&head, rows(&results.of("spmv")["memory"]).iter().map(line).collect())
}

/// Parton beside LA3.
pub(super) fn la3(results: &Results) -> String {
    let result = results.of("la3");
    let line = |row: &Value| {
        let pair = |name: &str| [number(&row["la3"][name]), number(&row["parton"][name])];
        let [seconds, bytes] = ["seconds", "bytes"].map(pair);
        vec![
            text(&row["graph"]).into(),
            text(&row["algorithm"]).into(),
            short(seconds[0]),
            format!(
                "{} (`{}`, `{}`)",
                short(seconds[1]),
                text(&row["engine"]),
                text(&row["policy"])
            ),
            format!("{:.1}", seconds[0] / seconds[1]),
            short(bytes[0] / 1e6),
            short(bytes[1] / 1e6),
        ]
    };
    let head =
        ["graph", "algorithm", "LA3, s", "Parton, s", "LA3 ÷ Parton", "LA3, MB", "Parton, MB"];
    table(&head, rows(&result["rows"]).iter().map(line).collect())
}
