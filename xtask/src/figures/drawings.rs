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
    let memory = results.of("spmv")["memory"].as_array().cloned().unwrap_or_default();
    if let Some(row) = memory.iter().find(|row| row["edges_of_tiles"].is_array()) {
        drawings.push(("docs/spmv-tiles.svg".to_owned(), tiles(row)));
    }
    drawings
}

/// The tiles of host 0: sources from left to right, destinations from top to bottom, darker with more edges.
fn tiles(row: &Value) -> String {
    const SIDE: f64 = 84.0;
    const LEFT: f64 = 130.0;
    const TOP: f64 = 66.0;
    let edges: Vec<Vec<f64>> = row["edges_of_tiles"].as_array().map_or(Vec::new(), |rows| {
        rows.iter().map(|row| row.as_array().into_iter().flatten().map(number).collect()).collect()
    });
    // A host has no mirrors of its own masters.
    let groups: Vec<usize> = (0..edges.len()).filter(|&group| group != 1).collect();
    let most = edges.iter().flatten().copied().fold(1.0, f64::max);
    let name = |group: usize| match group {
        0 => "own masters".to_owned(),
        group => format!("host {}", group - 1),
    };
    let (width, height) =
        (LEFT + SIDE * groups.len() as f64 + 10.0, TOP + SIDE * groups.len() as f64 + 10.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <text x=\"4\" y=\"18\" font-weight=\"bold\">Edges in the tiles of host 0 of {}: {}, policy {}</text>\n",
        row["hosts"],
        word(&row["graph"]),
        word(&row["policy"])
    );
    for (at, &group) in groups.iter().enumerate() {
        let middle = (at as f64 + 0.5) * SIDE;
        svg += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
            LEFT + middle,
            TOP - 8.0,
            if group == 0 { name(0) } else { format!("from {}", name(group)) },
            LEFT - 8.0,
            TOP + middle + 4.0,
            if group == 0 { name(0) } else { format!("to {}", name(group)) },
        );
        for (column, &source) in groups.iter().enumerate() {
            let count = edges[group][source];
            let share = (count / most).sqrt();
            let ink = if share > 0.6 { "#fff" } else { "#333" };
            let (x, y) = (LEFT + SIDE * column as f64, TOP + SIDE * at as f64);
            svg += &format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#2166ac\" \
                 fill-opacity=\"{share:.3}\" stroke=\"#999\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\">{:.0} k</text>\n",
                x + SIDE / 2.0,
                y + SIDE / 2.0 + 4.0,
                count / 1e3,
            );
        }
    }
    svg + "</svg>\n"
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
