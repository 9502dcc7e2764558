//! What compiled programs send, how long they take beside the same written by hand, and how long the attribute takes: as
//! tables.

use serde_json::Value;

use super::Results;
use super::tables::{NOTHING, count, geometric_mean, least, number, rows, short, table, text};

/// Bytes at each level of communication.
pub(super) fn levels(results: &Results) -> String {
    let all = rows(&results.of("levels")["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let ratio = |row: &Value, more: &str| number(&row[more]) / number(&row["on_demand"]);
    let row = |row: &Value| {
        let bytes = ["unoptimised", "fine_grained", "on_demand"].map(|level| count(&row[level]));
        let ratios = ["unoptimised", "fine_grained"].map(|more| format!("{:.1}", ratio(row, more)));
        let names = [text(&row["graph"]).into(), text(&row["algorithm"]).into()];
        [&names[..], &bytes, &ratios].concat()
    };
    let head = ["graph", "program", "UO, bytes", "FG", "FO", "UO ÷ FO", "FG ÷ FO"];
    let mean = |more: &'static str| geometric_mean(all.iter().map(move |row| ratio(row, more)));
    format!(
        "{}\nGeometric means: UO ÷ FO {:.1}, FG ÷ FO {:.1}.\n",
        table(&head, all.iter().map(row).collect()),
        mean("unoptimised"),
        mean("fine_grained")
    )
}

/// Compiled programs beside the same written by hand.
pub(super) fn twins(results: &Results) -> String {
    let all = rows(&results.of("twins")["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let row = |row: &Value| {
        let [hand, own] = [&row["by_hand"], &row["compiled"]];
        let both = |name: &str| format!("{}, {}", count(&hand[name]), count(&own[name]));
        let ratio = |name: &str| format!("{:.2}", number(&hand[name]) / number(&own[name]));
        vec![
            format!("{} × {}", row["hosts"], row["threads"]),
            text(&row["program"]).into(),
            format!("{:.2}", 1e3 * number(&own["rounds_seconds"])),
            ratio("rounds_seconds"),
            ratio("seconds"),
            both("rounds"),
            both("bytes"),
        ]
    };
    let head = [
        "hosts × threads",
        "program",
        "compiled: rounds, ms",
        "by hand ÷ compiled: rounds",
        "from partition to answer",
        "rounds: by hand, compiled",
        "bytes",
    ];
    let graph = text(&all[0]["graph"]);
    format!("Graph `{graph}`.\n\n{}", table(&head, all.iter().map(row).collect()))
}

/// A crate of programs with the attribute and without.
pub(super) fn compile(results: &Results) -> String {
    let all = rows(&results.of("compile")["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let row = |row: &Value| {
        let [without, with, run] = ["without", "with", "run"].map(|form| least(&row[form]));
        let command = format!("`{}`", text(&row["command"]));
        vec![
            command,
            short(without),
            short(with),
            short(with - without),
            short(run),
            short(run - without),
        ]
    };
    let head = ["command", "without, s", "with, s", "more, s", "with runs, s", "more, s"];
    table(&head, all.iter().map(row).collect())
}
