//! The report as one page that needs nothing else: a table, and plots.

use super::report::Report;
use super::timeline;
use crate::cli::plot::{self, Series, escape};
use crate::cli::show;

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let run = &report.run;
    let rounds = |name, colour, value: fn(&crate::engine::RoundReport) -> u64| Series {
        name,
        colour,
        values: run.rounds.iter().map(|round| value(round) as f64).collect(),
    };
    let hosts = |name, colour, value: fn(&crate::engine::HostReport) -> f64| Series {
        name,
        colour,
        values: run.hosts.iter().map(value).collect(),
    };
    let bytes = |value: f64| show::bytes(value as u64);
    let seconds = |value: f64| format!("{value:.3} s");
    let count = |value: f64| show::count(value as u64);
    let measures: Vec<_> = run.rounds.iter().filter_map(|round| round.measure).collect();
    let measured = measures.first().map(|first| {
        let values = measures.iter().map(|measure| measure.value).collect();
        let series = vec![Series { name: first.name, colour: "#4a7c59", values }];
        plot::columns(&format!("{} per round", first.name), "round", 1, series, |value| {
            format!("{value:.4}")
        })
    });
    let plots = [
        measured.unwrap_or_default(),
        plot::columns(
            "Bytes per round",
            "round",
            1,
            vec![
                rounds("reduce: values", "#1b6ca8", |r| r.sent.reduce_values),
                rounds("reduce: metadata", "#8fc1e3", |r| r.sent.reduce_metadata),
                rounds("broadcast: values", "#c8553d", |r| r.sent.broadcast_values),
                rounds("broadcast: metadata", "#f0b7a4", |r| r.sent.broadcast_metadata),
            ],
            bytes,
        ),
        plot::columns(
            "Vertices changed per round",
            "round",
            1,
            vec![rounds("changed", "#4a7c59", |r| r.changed)],
            count,
        ),
        plot::columns(
            "Seconds per host",
            "host",
            0,
            vec![
                hosts("computing", "#4a7c59", |h| h.compute_seconds),
                hosts("packing, unpacking", "#d9b44a", |h| h.pack_seconds),
                hosts("waiting", "#c9c9c9", |h| h.wait_seconds),
            ],
            seconds,
        ),
        plot::columns(
            "Rounds per host",
            "host",
            0,
            vec![hosts("rounds", "#7a5c99", |h| h.rounds as f64)],
            count,
        ),
        plot::columns(
            "Edges looked at per host",
            "host",
            0,
            vec![hosts("edges", "#4a7c59", |h| h.edges as f64)],
            count,
        ),
    ];
    let title = format!("{} on {}", report.request.algorithm, report.request.graph);
    let rows = report.rows().into_iter();
    let rows: String = rows
        .map(|(label, value)| format!("<tr><th>{label}</th><td>{}</td></tr>\n", escape(&value)))
        .collect();
    let timeline = timeline::figure(&run.timeline);
    plot::page(&title, &format!("<table>\n{rows}</table>\n{}{timeline}", plots.concat()))
}
