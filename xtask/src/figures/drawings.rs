//! Results as drawings, one SVG file each.

use serde_json::Value;

use super::Results;
use super::bars::Bars;

/// Every drawing that there are results for: its file and its contents.
pub(super) fn all(results: &Results) -> Vec<(String, String)> {
    let rows = |kind: &str| results.of(kind)["rows"].as_array().cloned().unwrap_or_default();
    let mut drawings = Vec::new();
    let volume_rows = rows("volume");
    if !volume_rows.is_empty() {
        drawings.push(("docs/volume.svg".to_owned(), volume(&volume_rows).svg()));
    }
    let pace_rows = rows("pace");
    for (file, title, value) in PACES.iter().filter(|_| !pace_rows.is_empty()) {
        drawings.push((format!("docs/{file}.svg"), pace(&pace_rows, title, *value).svg()));
    }
    drawings.extend(super::scaling::drawings(results));
    drawings
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn volume(rows: &[Value]) -> Bars<'static> {
    let group = |row: &Value| {
        let name = [&row["graph"], &row["algorithm"], &row["policy"]].map(word).join(" ");
        let percent =
            |who: &str| 100.0 * number(&row[who]["bytes"]) / number(&row["dgalois"]["bytes"]);
        (name, vec![100.0, percent("push"), percent("auto")])
    };
    Bars {
        title: "Bytes sent by 4 hosts, D-Galois = 100 %",
        series: &[
            ("D-Galois", "#bbb"),
            ("Parton, push", "#2166ac"),
            ("Parton, engine of its choice", "#67a9cf"),
        ],
        groups: rows.iter().map(group).collect(),
        unit: " %",
    }
}

type Shown = fn(&Value) -> f64;

/// What is drawn of all runs, as a share of BSP's: the file, a title, and the value.
const PACES: [(&str, &str, Shown); 3] = [
    ("pace", "Time of a run, BSP = 100 %", |run| number(&run["seconds"])),
    ("pace-rounds", "Most rounds of a host, BSP = 100 %", |run| number(&run["rounds"][1])),
    ("pace-work", "Edges that were visited, BSP = 100 %", |run| number(&run["work"])),
];

fn pace(rows: &[Value], title: &'static str, value: Shown) -> Bars<'static> {
    let group = |row: &Value| {
        let what = [&row["algorithm"], &row["engine"], &row["graph"]].map(word);
        let slow = if row["slow_host"] == true { ", one slow" } else { "" };
        let bsp = value(&row["paces"][0]).max(f64::MIN_POSITIVE);
        let paces = row["paces"].as_array().cloned().unwrap_or_default();
        let shares = paces.iter().map(|run| 100.0 * value(run) / bsp).collect();
        (format!("{}{slow}", what.join(", ")), shares)
    };
    Bars {
        title,
        series: &[("bsp", "#777777"), ("basp", "#1b6ca8"), ("basp, no governor", "#8fc1e3")],
        groups: rows.iter().map(group).collect(),
        unit: " %",
    }
}
