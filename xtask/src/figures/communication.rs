//! Tables of bytes on the wire, and of runs at each pace.

use serde_json::Value;

use super::tables::{NOTHING, count, geometric_mean, number, rows, table, text};

pub(super) fn volume(result: &Value) -> String {
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

pub(super) fn volume_summary(result: &Value) -> String {
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

pub(super) fn pace(result: &Value) -> String {
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
