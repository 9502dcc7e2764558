//! What hosts did when: as JSON, and as a picture in which overlap can be seen.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cli::plot::escape;
use crate::engine::report::timeline::{Timeline, TimelineSpan};
use crate::sync::Activity;

/// Rounds that the picture shows.
const MAX_ROUNDS: u64 = 3;
/// Shorter spans would not be seen.
const MIN_WIDTH: f64 = 0.1;
const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const LANE: f64 = 34.0;
const TOP: f64 = 40.0;

fn colour(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "#4a7c59",
        Activity::Send => "#d9b44a",
        Activity::Wait => "#d8d8d8",
    }
}

/// For each round, for each host, the spans as `[activity, start, end]`, in seconds from the beginning.
pub(super) fn as_json(timeline: &Timeline, rounds: usize) -> Value {
    let span = |span: &TimelineSpan| json!([span.activity.name(), span.start, span.end]);
    let of_host = |spans: &Vec<TimelineSpan>, round: u64| -> Value {
        spans.iter().filter(|found| found.round == round).map(span).collect()
    };
    let of_round = |round: u64| -> Value {
        timeline.hosts.iter().map(|spans| of_host(spans, round)).collect()
    };
    (0..rounds as u64).map(of_round).collect()
}

/// The first rounds of all hosts as an SVG: one lane per host. Empty if nothing was recorded.
pub(super) fn as_svg(timeline: &Timeline, title: &str) -> String {
    let shown = |span: &&TimelineSpan| span.round < MAX_ROUNDS;
    let all = || timeline.hosts.iter().flatten().filter(shown);
    let end = all().map(|span| span.end).fold(0.0, f64::max);
    if end <= 0.0 {
        return String::new();
    }
    let height = TOP + LANE * timeline.hosts.len() as f64 + 40.0;
    let x = |seconds: f64| LEFT + (WIDTH - LEFT - 10.0) * seconds / end;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    for (host, spans) in timeline.hosts.iter().enumerate() {
        let y = TOP + LANE * host as f64;
        _ = writeln!(svg, "<text x=\"4\" y=\"{:.1}\">host {host}</text>", y + LANE / 2.0);
        for span in spans.iter().filter(shown) {
            let (left, width) = (x(span.start), x(span.end) - x(span.start));
            if width < MIN_WIDTH {
                continue;
            }
            let (fill, name) = (colour(span.activity), span.activity.name());
            _ = writeln!(
                svg,
                "<rect x=\"{left:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{:.1}\" \
                 fill=\"{fill}\"><title>round {}: {name}</title></rect>",
                LANE - 8.0,
                span.round + 1
            );
        }
        for ends in spans.windows(2).filter(|ends| ends[0].round < ends[1].round) {
            if ends[0].round < MAX_ROUNDS {
                let at = x(ends[0].end);
                _ = writeln!(
                    svg,
                    "<line x1=\"{at:.2}\" x2=\"{at:.2}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#333\"/>",
                    y - 3.0,
                    y + LANE - 5.0
                );
            }
        }
    }
    let base = height - 14.0;
    for (place, activity) in
        [Activity::Compute, Activity::Send, Activity::Wait].into_iter().enumerate()
    {
        let left = LEFT + 140.0 * place as f64;
        _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{}\"/>\
             <text x=\"{}\" y=\"{base}\">{}</text>",
            base - 11.0,
            colour(activity),
            left + 18.0,
            activity.name()
        );
    }
    _ = writeln!(svg, "<text x=\"{}\" y=\"{base}\">{end:.4} s</text>\n</svg>", WIDTH - 90.0);
    svg
}

/// The picture as a figure of the page.
pub(super) fn figure(timeline: &Timeline) -> String {
    let rounds = timeline.hosts.iter().flatten().map(|span| span.round + 1).max().unwrap_or(0);
    let title = format!("Timeline of the first {} rounds", rounds.min(MAX_ROUNDS));
    match as_svg(timeline, &title) {
        svg if svg.is_empty() => svg,
        svg => format!("<figure class=\"timeline\">\n{svg}</figure>\n"),
    }
}
