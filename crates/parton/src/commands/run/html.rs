//! The report as one page that needs nothing else: a table, and plots drawn here as SVG.

use super::report::Report;
use crate::show;

/// Width of a plot, and the height of its tallest bar.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 140.0;
/// Room above and below the bars for the greatest value and the names.
const ABOVE: f64 = 18.0;
const BELOW: f64 = 20.0;
/// More bars than this would be too thin to see: neighbours are then put together.
const MOST_BARS: usize = 180;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;\
    padding:0 1em;color:#222}h1{font-size:1.4em}h2{font-size:1.1em;margin:1.6em 0 .2em}\
    th{text-align:left;padding-right:1.5em;font-weight:600;vertical-align:top}\
    text{font:12px system-ui,sans-serif;fill:#555}.key{margin-right:1em}\
    .key::before{content:\"\";display:inline-block;width:.8em;height:.8em;margin-right:.4em;\
    background:var(--c)}";

/// One kind of thing in a stack of bars.
struct Series {
    name: &'static str,
    colour: &'static str,
    values: Vec<f64>,
}

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let run = &report.run;
    let rounds = |name, colour, value: fn(&parton::engine::RoundReport) -> u64| Series {
        name,
        colour,
        values: run.rounds.iter().map(|round| value(round) as f64).collect(),
    };
    let hosts = |name, colour, value: fn(&parton::engine::HostReport) -> f64| Series {
        name,
        colour,
        values: run.hosts.iter().map(value).collect(),
    };
    let bytes = |value: f64| show::bytes(value as u64);
    let seconds = |value: f64| format!("{value:.3} s");
    let count = |value: f64| show::count(value as u64);
    let plots = [
        plot(
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
        plot(
            "Vertices changed per round",
            "round",
            1,
            vec![rounds("changed", "#4a7c59", |r| r.changed)],
            count,
        ),
        plot(
            "Seconds per host",
            "host",
            0,
            vec![
                hosts("computing", "#4a7c59", |h| h.compute_seconds),
                hosts("packing, unpacking, waiting", "#d9b44a", |h| h.other_seconds),
            ],
            seconds,
        ),
    ];
    let title = escape(&format!("{} on {}", report.request.algorithm, report.request.graph));
    let rows = report.rows().into_iter();
    let rows: String = rows
        .map(|(label, value)| format!("<tr><th>{label}</th><td>{}</td></tr>\n", escape(&value)))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n<table>\n{rows}</table>\n{}\
         </body></html>\n",
        plots.concat()
    )
}

/// Stacked bars under a heading; `first` is the number of the first bar.
fn plot(
    heading: &str,
    what: &str,
    first: usize,
    series: Vec<Series>,
    show: impl Fn(f64) -> String,
) -> String {
    let bars = series.first().map_or(0, |series| series.values.len());
    let group = bars.div_ceil(MOST_BARS).max(1);
    let heights: Vec<Vec<f64>> = (0..bars)
        .step_by(group)
        .map(|from| {
            let range = from..bars.min(from + group);
            series.iter().map(|s| s.values[range.clone()].iter().sum()).collect()
        })
        .collect();
    let greatest = heights.iter().map(|bar| bar.iter().sum()).fold(0.0, f64::max);
    let step = WIDTH / heights.len().max(1) as f64;
    let bottom = ABOVE + HEIGHT;
    let mut drawn = String::new();
    for (number, bar) in heights.iter().enumerate() {
        let mut top = bottom;
        let from = first + number * group;
        let to = (from + group - 1).min(first + bars - 1);
        let name = if from == to { from.to_string() } else { format!("{from}–{to}") };
        for (value, series) in bar.iter().zip(&series).filter(|(value, _)| **value > 0.0) {
            let height = value / greatest * HEIGHT;
            top -= height;
            drawn += &format!(
                "<rect x=\"{:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{height:.2}\" \
                 fill=\"{}\"><title>{what} {name}: {} {}</title></rect>\n",
                number as f64 * step,
                (step * 0.9).min(60.0),
                series.colour,
                series.name,
                show(*value),
            );
        }
    }
    let keys: String = series
        .iter()
        .map(|s| format!("<span class=\"key\" style=\"--c:{}\">{}</span>", s.colour, s.name))
        .collect();
    let last = (first + bars).saturating_sub(1);
    format!(
        "<h2>{heading}</h2>\n<div>{keys}</div>\n<svg viewBox=\"0 0 {WIDTH} {}\" width=\"100%\" \
         role=\"img\" aria-label=\"{heading}\">\n<text x=\"0\" y=\"12\">{}</text>\n{drawn}\
         <line x1=\"0\" x2=\"{WIDTH}\" y1=\"{bottom}\" y2=\"{bottom}\" stroke=\"#999\"/>\n\
         <text x=\"0\" y=\"{}\">{what} {first}</text>\n\
         <text x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{last}</text>\n</svg>\n",
        bottom + BELOW,
        show(greatest),
        bottom + 15.0,
        bottom + 15.0,
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
