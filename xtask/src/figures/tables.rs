//! Results as Markdown, one function per marked place.

use serde_json::Value;

use super::{Results, communication, performance};

/// What a place shows as long as nothing was measured.
pub(super) const NOTHING: &str = "No results are recorded.\n";

type Table = fn(&Results) -> String;

/// Every place by its name.
const ALL: &[(&str, Table)] = &[
    ("source of figures", |results| source(results.of("figures"))),
    ("source of volume", |results| source(results.of("volume"))),
    ("source of pace", |results| source(results.of("pace"))),
    ("graphs", |results| performance::graphs(results.of("figures"))),
    ("summary", |results| performance::summary(results.of("figures"))),
    ("searches and ranks", |results| performance::searches(results.of("figures"))),
    ("all algorithms", |results| performance::all_algorithms(results.of("figures"))),
    ("starts", |results| performance::starts(results.of("figures"))),
    ("loading", |results| performance::loading(results.of("figures"))),
    ("partitioning", |results| performance::partitioning(results.of("figures"))),
    ("volume", |results| communication::volume(results.of("volume"))),
    ("volume summary", |results| communication::volume_summary(results.of("volume"))),
    ("pace", |results| communication::pace(results.of("pace"))),
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
    ("source of other-graphs", |results| source(results.of("other-graphs"))),
    ("other graphs", super::scaling::other_graphs),
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
}
