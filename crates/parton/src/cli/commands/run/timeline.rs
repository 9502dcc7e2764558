//! What hosts did when: as JSON, and as pictures in which waiting and overlap can be seen.

use serde_json::{Value, json};

use crate::cli::page::{self, Lanes, Stretch};
use crate::cli::show;
use crate::engine::report::timeline::{Timeline, TimelineSpan};
use crate::engine::{HostReport, RunReport};
use crate::sync::Activity;

/// Rounds that are shown in detail.
const MAX_DETAILED_ROUNDS: u64 = 3;
/// More stretches than this make a page slow: neighbouring rounds are then shown as one.
const MAX_STRETCHES: usize = 12_000;

/// The activities, by colours of the style sheet.
const KEYS: [(&str, &str); 3] = [
    ("compute", "computing"),
    ("pack", "packing, sending, unpacking"),
    ("wait", "waiting for others"),
];

fn class(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "compute",
        Activity::Send => "send",
        Activity::Wait => "wait",
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

/// All rounds of all hosts.
pub(super) fn rounds(run: &RunReport) -> String {
    let most = run.hosts.iter().map(|host| host.round_times.len()).max().unwrap_or(0);
    let group = (3 * most * run.hosts.len()).div_ceil(MAX_STRETCHES).max(1);
    let hosts = run.hosts.iter().map(|host| stretches(host, group)).collect();
    let mut end = 0.0;
    // Where hosts wait for each other, rounds end together; else these are those of host 0.
    let mark = |(round, times): (u64, &crate::engine::RoundTimes)| {
        end += times.compute + times.pack + times.wait;
        (round, end)
    };
    let times = run.hosts.first().map_or(&[][..], |host| &host.round_times);
    let marks = (1..).zip(times).map(mark).collect();
    let label = "what every host did in every round";
    let chart = Lanes { label, hosts, marks, show: &show::seconds }.draw();
    if chart.is_empty() { chart } else { page::legend(KEYS) + &chart }
}

/// One host's rounds, `group` of them at a time.
fn stretches(host: &HostReport, group: usize) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut start = 0.0;
    for (number, times) in host.round_times.chunks(group).enumerate() {
        let (first, last) = (number * group + 1, number * group + times.len());
        let rounds = match first == last {
            true => format!("round {first}"),
            false => format!("rounds {first} to {last}"),
        };
        let parts = [
            times.iter().map(|times| times.compute).sum::<f64>(),
            times.iter().map(|times| times.pack).sum(),
            times.iter().map(|times| times.wait).sum(),
        ];
        for ((class, name), seconds) in KEYS.into_iter().zip(parts) {
            if seconds > 0.0 {
                let title = format!("{rounds}: {} {name}", show::seconds(seconds));
                stretches.push(Stretch { start, end: start + seconds, class, title });
            }
            start += seconds;
        }
    }
    stretches
}

/// The first rounds of all hosts, span by span.
pub(super) fn first_rounds(timeline: &Timeline) -> String {
    let shown = |span: &&TimelineSpan| span.round < MAX_DETAILED_ROUNDS;
    let stretch = |span: &TimelineSpan| Stretch {
        start: span.start,
        end: span.end,
        class: class(span.activity),
        title: format!(
            "round {}: {} {}",
            span.round + 1,
            show::seconds(span.end - span.start),
            span.activity.name()
        ),
    };
    let of_host = |spans: &Vec<TimelineSpan>| spans.iter().filter(shown).map(stretch).collect();
    let ends = |round: u64| {
        let spans = timeline.hosts.first()?.iter().filter(|span| span.round == round);
        Some((round + 1, spans.map(|span| span.end).reduce(f64::max)?))
    };
    let marks = (0..MAX_DETAILED_ROUNDS).filter_map(ends).collect();
    let hosts = timeline.hosts.iter().map(of_host).collect();
    let label = "what every host did in the first rounds";
    Lanes { label, hosts, marks, show: &show::seconds }.draw()
}

/// True if there are rounds that [`first_rounds`] does not show.
pub(super) fn has_more_rounds(run: &RunReport) -> bool {
    run.rounds.len() as u64 > MAX_DETAILED_ROUNDS
}
