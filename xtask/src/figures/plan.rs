//! Plans beside runs, as a table, and whether they are as good as they must be.

use serde_json::Value;

use super::Results;
use super::plan_runs::{REFUSAL, THOUSAND_HOSTS};
use super::tables::{NOTHING, number, rows, table, text};

/// A plan of memory is right if it is this close.
const CLOSE: f64 = 0.25;
/// Part of the plans that must be close, and of the pairs of policies that must be in order.
const CLOSE_PLANS: f64 = 0.95;
const ORDERED_PAIRS: f64 = 0.9;
/// Policies whose bytes differ by no more than this part of the greater are in no order.
const TIE: f64 = 0.05;
/// Bytes that a thousand hosts in one process may take.
const MOST_OF_A_THOUSAND: f64 = 2e9;

/// One row for each large graph, one for all small ones, one for ranks, one for all: how many plans of memory are close,
/// how far the worst is, and how many pairs of policies are ordered by bytes as they turned out.
pub(super) fn plan(results: &Results) -> String {
    let all = rows(&results.of("plan")["rows"]);
    if all.is_empty() {
        return NOTHING.into();
    }
    let on_ranks = |row: &&Value| row["on_ranks"] == true;
    let is_large = |row: &&Value| row["is_large"] == true;
    let mut graphs: Vec<&str> =
        all.iter().filter(is_large).map(|row| text(&row["graph"])).collect();
    graphs.dedup();
    let mut small: Vec<&str> =
        all.iter().filter(|row| !is_large(row)).map(|row| text(&row["graph"])).collect();
    small.dedup();
    let line = |name: &str, is_in: &dyn Fn(&&Value) -> bool| {
        Summary::of(&all.iter().filter(is_in).collect::<Vec<_>>()).line(name)
    };
    let mut body: Vec<Vec<String>> = graphs
        .iter()
        .map(|graph| line(graph, &|row| text(&row["graph"]) == *graph && !on_ranks(row)))
        .collect();
    body.push(line(&format!("{} small graphs", small.len()), &|row| !is_large(row)));
    body.push(line("ranks of the large graphs", &on_ranks));
    body.push(line("all", &|_| true));
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

/// How long the plan of `run` takes, and what a thousand hosts need, as sentences.
pub(super) fn single_figures(results: &Results) -> String {
    let result = results.of("plan");
    match (result[REFUSAL].as_f64(), result[THOUSAND_HOSTS].as_f64()) {
        (Some(seconds), Some(bytes)) => format!(
            "A `run` that is refused, which does nothing but plan, took {:.0} milliseconds of processor time. A thousand hosts in one \
             process took {:.2} GB for bfs on `uniform:100000,1000000`.\n",
            1e3 * seconds,
            bytes / 1e9
        ),
        _ => NOTHING.into(),
    }
}

/// What misses its bar, or was not measured.
pub(super) fn complaints(result: &[(&str, Value)]) -> Vec<String> {
    let part = |name: &str| result.iter().find(|(part, _)| *part == name).map(|(_, value)| value);
    let rows = part("rows").and_then(Value::as_array).map_or(&[][..], |rows| rows);
    let mut complaints: Vec<String> = rows
        .iter()
        .filter_map(|row| row["failed"].as_str())
        .map(|said| format!("failed: {said}"))
        .collect();
    complaints.dedup();
    let all = Summary::of(&rows.iter().collect::<Vec<_>>());
    for (what, part, bar) in [
        ("plans of memory within 25 %", all.close_plans(), CLOSE_PLANS),
        ("pairs of policies in order", all.ordered_pairs(), ORDERED_PAIRS),
    ] {
        if part.is_nan() || part < bar {
            complaints.push(format!("{:.1} % of {what}, not {:.0} %", 100.0 * part, 100.0 * bar));
        }
    }
    if part(THOUSAND_HOSTS).and_then(Value::as_f64).is_none_or(|bytes| bytes > MOST_OF_A_THOUSAND) {
        complaints.push("a thousand hosts take more than 2 GB".into());
    }
    complaints
}

/// How good the plans of some runs are.
struct Summary {
    /// How far each plan is from its run, as a part of what the run took, in ascending order.
    errors: Vec<f64>,
    /// Pairs of policies that are in order, and how many there are.
    ordered: usize,
    pairs: usize,
}

impl Summary {
    fn of(rows: &[&Value]) -> Self {
        let measured: Vec<&Value> =
            rows.iter().filter(|row| row["failed"].is_null()).copied().collect();
        let error = |row: &&Value| {
            (number(&row["planned_bytes"]) / number(&row["measured_bytes"]) - 1.0).abs()
        };
        let mut errors: Vec<f64> = measured.iter().map(error).collect();
        errors.sort_by(f64::total_cmp);
        let (ordered, pairs) = ordered_pairs(&measured);
        Summary { errors, ordered, pairs }
    }

    fn close_plans(&self) -> f64 {
        let close = self.errors.iter().filter(|error| **error <= CLOSE).count();
        close as f64 / self.errors.len() as f64
    }

    fn ordered_pairs(&self) -> f64 {
        self.ordered as f64 / self.pairs as f64
    }

    fn line(&self, name: &str) -> Vec<String> {
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        let errors = &self.errors;
        vec![
            name.into(),
            errors.len().to_string(),
            percent(self.close_plans()),
            percent(errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN)),
            percent(errors.last().copied().unwrap_or(f64::NAN)),
            match self.pairs {
                0 => String::new(),
                pairs => format!("{} of {pairs}", self.ordered),
            },
        ]
    }
}

/// Pairs of runs that differ in their policy alone, and how many of them send as planned: the one less that was
/// planned to send less. Runs that send about the same, or nothing, are in no order.
fn ordered_pairs(rows: &[&Value]) -> (usize, usize) {
    let (mut right, mut pairs) = (0, 0);
    for (at, one) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            let same = ["graph", "algorithm", "hosts", "on_ranks"]
                .iter()
                .all(|key| one[key] == other[key]);
            let difference = |name: &str| number(&one[name]) - number(&other[name]);
            let measured = difference("measured_traffic");
            let most = number(&one["measured_traffic"]).max(number(&other["measured_traffic"]));
            if !same || measured.abs() <= TIE * most {
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

    fn row(policy: &str, planned: f64, measured: f64) -> Value {
        json!({
            "graph": "g", "algorithm": "bfs", "hosts": 2, "policy": policy,
            "planned_bytes": 100.0, "measured_bytes": 80.0,
            "planned_traffic": planned, "measured_traffic": measured,
        })
    }

    #[test]
    fn pairs_are_of_one_graph_and_errors_of_all() {
        let all = [row("a", 1.0, 1.0), row("b", 2.0, 3.0), row("c", 3.0, 2.0)];
        let all: Vec<&Value> = all.iter().collect();
        assert_eq!(ordered_pairs(&all), (2, 3));
        let tied =
            [row("a", 1.0, 100.0), row("b", 2.0, 96.0), row("c", 3.0, 0.0), row("d", 1.0, 0.0)];
        assert_eq!(ordered_pairs(&tied[..2].iter().collect::<Vec<_>>()), (0, 0));
        assert_eq!(ordered_pairs(&tied[2..].iter().collect::<Vec<_>>()), (0, 0));
        let tie_is_planned = [row("a", 1.0, 100.0), row("b", 1.0, 90.0)];
        assert_eq!(ordered_pairs(&tie_is_planned.iter().collect::<Vec<_>>()), (0, 1));
        assert_eq!(Summary::of(&all).line("g"), ["g", "3", "100 %", "25 %", "25 %", "2 of 3"]);
    }

    #[test]
    fn what_fails_or_misses_its_bar_is_a_complaint() {
        let complaints = |rows: &[Value], hosts: f64| {
            complaints(&[("rows", rows.into()), (THOUSAND_HOSTS, hosts.into())])
        };
        let good = [row("a", 1.0, 1.0), row("b", 2.0, 3.0)];
        assert_eq!(complaints(&good, 1e9), [""; 0]);
        assert_eq!(complaints(&good, 3e9), ["a thousand hosts take more than 2 GB"]);
        let disordered = [row("a", 1.0, 3.0), row("b", 2.0, 1.0)];
        assert_eq!(complaints(&disordered, 1.0), ["0.0 % of pairs of policies in order, not 90 %"]);
        let mut far = good.clone();
        far[0]["planned_bytes"] = 101.0.into();
        assert_eq!(complaints(&far, 1.0), ["50.0 % of plans of memory within 25 %, not 95 %"]);
        let mut failed = good.to_vec();
        failed.push(json!({ "graph": "g", "failed": "no memory" }));
        assert_eq!(complaints(&failed, 1.0), ["failed: no memory"]);
        assert_eq!(complaints(&[], 1.0).len(), 2, "nothing measured is not good");
    }
}
