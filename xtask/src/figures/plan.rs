//! Plans beside runs, as a table.

use serde_json::Value;

use super::Results;
use super::tables::{NOTHING, number, rows, table, text};

/// A plan is right if it is this close.
const CLOSE: f64 = 0.25;

/// One row for each graph: how many plans of memory are close, how far the worst is, and how many pairs of policies
/// are ordered by bytes as they turned out.
pub(super) fn plan(results: &Results) -> String {
    let all = rows(&results.of("plan")["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let mut graphs: Vec<&str> = all.iter().map(|row| text(&row["graph"])).collect();
    graphs.dedup();
    let of_graph = |graph: &&str| {
        let own: Vec<&Value> = all.iter().filter(|row| text(&row["graph"]) == *graph).collect();
        line(graph, &own)
    };
    let mut body: Vec<Vec<String>> = graphs.iter().map(of_graph).collect();
    body.push(line("all", &all.iter().collect::<Vec<_>>()));
    let head = [
        "graph",
        "runs",
        "memory within 25 %",
        "median error",
        "worst error",
        "pairs of policies in order",
    ];
    table(&head, body)
}

fn line(name: &str, rows: &[&Value]) -> Vec<String> {
    let error =
        |row: &&Value| (number(&row["planned_bytes"]) / number(&row["measured_bytes"]) - 1.0).abs();
    let mut errors: Vec<f64> = rows.iter().map(error).collect();
    errors.sort_by(f64::total_cmp);
    let close = errors.iter().filter(|error| **error <= CLOSE).count();
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let (right, pairs) = ordered_pairs(rows);
    vec![
        name.into(),
        errors.len().to_string(),
        percent(close as f64 / errors.len().max(1) as f64),
        percent(errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN)),
        percent(errors.last().copied().unwrap_or(f64::NAN)),
        format!("{right} of {pairs}"),
    ]
}

/// Pairs of runs that differ in their policy alone, and how many of them send as planned: the one less that was
/// planned to send less. Runs that send the same are in no order.
fn ordered_pairs(rows: &[&Value]) -> (usize, usize) {
    let (mut right, mut pairs) = (0, 0);
    for (at, one) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            let same = ["graph", "algorithm", "hosts"].iter().all(|key| one[key] == other[key]);
            let difference = |name: &str| number(&one[name]) - number(&other[name]);
            let measured = difference("measured_traffic");
            if !same || measured == 0.0 {
                continue;
            }
            pairs += 1;
            right += usize::from(measured * difference("planned_traffic") > 0.0);
        }
    }
    (right, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pairs_are_of_one_graph_and_errors_of_all() {
        let row = |policy: &str, planned: f64, measured: f64| {
            json!({
                "graph": "g", "algorithm": "bfs", "hosts": 2, "policy": policy,
                "planned_bytes": 100.0, "measured_bytes": 80.0,
                "planned_traffic": planned, "measured_traffic": measured,
            })
        };
        let all = [row("a", 1.0, 1.0), row("b", 2.0, 3.0), row("c", 3.0, 2.0)];
        let all: Vec<&Value> = all.iter().collect();
        assert_eq!(ordered_pairs(&all), (2, 3));
        assert_eq!(line("g", &all), ["g", "3", "100 %", "25 %", "25 %", "2 of 3"]);
    }
}
