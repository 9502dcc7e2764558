//! Engines on a GPU beside those on the processor, as a table.

use serde_json::Value;

use super::Results;
use super::tables::{number, rows, table, text};

/// One row for each graph, algorithm and engine that a GPU ran.
pub(super) fn gpu(results: &Results) -> String {
    let all = rows(&results.of("gpu")["rows"]);
    let best = |row: &Value| number(&row["best"]);
    let on = |row: &Value, device: &str| text(&row["device"]) == device;
    let body = all.iter().filter(|row| on(row, "gpu")).map(|row| {
        let is_same = |other: &&Value| {
            on(other, "cpu") && ["graph", "algorithm"].iter().all(|key| other[key] == row[key])
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
