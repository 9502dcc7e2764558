//! The report as one page that needs no other file. It follows a reader's questions: what was found, where the time
//! went, who waited for whom, what was sent to whom, how the values settled, and what ran.

use serde_json::Value;

use super::report::Report;
use super::timeline;
use crate::cli::machine;
use crate::cli::page::{self, Columns, Curve, Part, Series, escape, figure};
use crate::cli::show;
use crate::engine::RoundReport;

/// The whole page. `origin` is what [`Watch::signed`](crate::cli::watch::Watch::signed) says of the run.
pub(super) fn page(report: &Report, origin: &Value) -> String {
    let sections = [
        head(report),
        answer(report),
        phases(report),
        rounds_of_hosts(report),
        bytes_between_hosts(report),
        convergence(report),
        bytes_of_rounds(report),
        hosts(report),
        provenance(report, origin),
    ];
    page::page(&title(report), &sections.concat())
}

fn title(report: &Report) -> String {
    format!("{} on {}", report.request.algorithm, report.request.graph)
}

/// The title, one sentence, and the numbers that people look for first.
fn head(report: &Report) -> String {
    let (run, quality, request) = (&report.run, &report.quality, &report.request);
    let hosts = quality.hosts.len();
    let sentence = format!(
        "{} vertices and {} edges on {hosts} host{} × {} thread{}, cut by {}, engine {}, pace {}.",
        show::count(quality.vertices),
        show::count(quality.edges),
        plural(hosts),
        request.threads,
        plural(request.threads),
        request.policy,
        report.engine(),
        run.pace.name(),
    );
    let seconds = report.seconds.run;
    let ended = if run.converged { "rounds, converged" } else { "rounds, not converged" };
    let rate = if seconds > 0.0 { run.work() as f64 / seconds } else { 0.0 };
    let mut cards = vec![
        card("", &show::seconds(seconds), "in rounds"),
        card(if run.converged { "" } else { "bad" }, &show::count(run.rounds.len() as u64), ended),
        card("", &show::count(rate as u64), "edges looked at per second"),
    ];
    if hosts > 1 {
        cards.push(card("", &show::bytes(run.sent().total()), "sent between hosts"));
        cards.push(card("", &format!("{:.2}", quality.replication()), "proxies per vertex"));
        cards.push(card("", &format!("{:.2}", run.imbalance()), "slowest host ÷ mean"));
    }
    cards.extend(report.memory_peak().map(|peak| card("", &show::bytes(peak), "memory at most")));
    match report.verified() {
        Some(true) => cards.push(card("good", "✓ verified", "by its certificate")),
        Some(false) => cards.push(card("bad", "✗ wrong", "by its certificate")),
        None => {}
    }
    format!(
        "<h1>{}</h1>\n<p class=\"faint\">{}</p>\n<div class=\"cards\">\n{}</div>\n",
        escape(&title(report)),
        escape(&sentence),
        cards.concat()
    )
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn card(class: &str, number: &str, label: &str) -> String {
    let (number, label) = (escape(number), escape(label));
    format!("<div class=\"card {class}\"><b>{number}</b><span>{label}</span></div>\n")
}

/// What was found, in words and as a histogram.
fn answer(report: &Report) -> String {
    let rows = table(report.result_rows());
    let chart = report.histogram.as_ref().map_or(String::new(), |histogram| {
        format!("<p class=\"faint\">{}</p>\n{}", escape(&histogram.caption()), histogram.draw())
    });
    format!("<h2>The answer</h2>\n{rows}<figure>{chart}</figure>\n")
}

/// Where the time went.
fn phases(report: &Report) -> String {
    let seconds = &report.seconds;
    let parts = [
        Part { name: "reading", class: "load", value: seconds.load },
        Part { name: "partitioning", class: "partition", value: seconds.partition },
        Part { name: "setup", class: "setup", value: seconds.setup },
        Part { name: "rounds", class: "run", value: seconds.run },
    ];
    let chart = page::stack("seconds of every phase", &parts, &show::seconds);
    let caption = "Seconds of the slowest host in each phase. Where hosts read their own shares, \
                   reading is a part of partitioning.";
    figure("Where the time went", caption, &chart)
}

/// Who computed when, and who waited.
fn rounds_of_hosts(report: &Report) -> String {
    let run = &report.run;
    let all = timeline::rounds(run);
    let caption =
        "Every host in every round: computing, packing and unpacking, waiting for others.";
    let first = match timeline::has_more_rounds(run) {
        true => timeline::first_rounds(&run.timeline),
        false => String::new(),
    };
    figure("Hosts and rounds", caption, &all)
        + &figure(
            "The first rounds in detail",
            "The same, span by span, in the order of time.",
            &first,
        )
}

/// What every host sent to every other.
fn bytes_between_hosts(report: &Report) -> String {
    let hosts = &report.run.hosts;
    let row = |host: &crate::engine::HostReport| -> Vec<f64> {
        host.sent_to.iter().map(|sent| sent.total() as f64).collect()
    };
    let amounts: Vec<Vec<f64>> = hosts.iter().map(row).collect();
    let is_square = amounts.iter().all(|row| row.len() == amounts.len());
    if hosts.len() < 2 || !is_square {
        return String::new();
    }
    let show = |value: f64| show::bytes(value as u64);
    let chart = page::matrix("bytes from host to host", &amounts, &show);
    figure("Bytes between hosts", "In all rounds, values and metadata together.", &chart)
}

/// How values settled.
fn convergence(report: &Report) -> String {
    let run = &report.run;
    let count = |value: f64| show::count(value as u64);
    let measures: Vec<_> = run.rounds.iter().filter_map(|round| round.measure).collect();
    let measured = measures.last().map_or(String::new(), |last| {
        let values: Vec<f64> = measures.iter().map(|measure| measure.value).collect();
        let chart = Curve { name: last.name, values: &values, goal: last.goal }.draw();
        let caption = match last.goal {
            Some(goal) => format!("{} after each round; the run ends at {goal:e}.", last.name),
            None => format!("{} after each round.", last.name),
        };
        figure("Convergence", &caption, &chart)
    });
    let changed = run.rounds.iter().map(|round| round.changed as f64).collect();
    // Where every vertex changes in every round, the chart has nothing to say.
    let is_constant = run.rounds.iter().all(|round| round.changed == run.rounds[0].changed);
    if is_constant && !measured.is_empty() {
        return measured;
    }
    let chart = Columns {
        of: "round",
        bottom: "round",
        left: "vertices",
        names: round_names(&run.rounds),
        series: vec![Series { name: "changed", class: "three", values: changed }],
        show: &count,
    };
    let heading = if measured.is_empty() { "Convergence" } else { "Vertices changed" };
    measured + &figure(heading, "Vertices whose value changed in each round.", &chart.draw())
}

fn round_names(rounds: &[RoundReport]) -> Vec<String> {
    (1..=rounds.len()).map(|round| round.to_string()).collect()
}

/// What hosts sent in which round.
fn bytes_of_rounds(report: &Report) -> String {
    let rounds = &report.run.rounds;
    let series = |name, class, value: fn(&RoundReport) -> u64| Series {
        name,
        class,
        values: rounds.iter().map(|round| value(round) as f64).collect(),
    };
    let chart = Columns {
        of: "round",
        bottom: "round",
        left: "sent by all hosts",
        names: round_names(rounds),
        series: vec![
            series("reduce: values", "reduce", |round| round.sent.reduce_values),
            series("reduce: metadata", "reduce-more", |round| round.sent.reduce_metadata),
            series("broadcast: values", "broadcast", |round| round.sent.broadcast_values),
            series("broadcast: metadata", "broadcast-more", |round| round.sent.broadcast_metadata),
        ],
        show: &|value| show::bytes(value as u64),
    };
    let caption = "Reduce: from mirrors to masters. Broadcast: from masters to mirrors.";
    figure("Bytes per round", caption, &chart.draw())
}

/// Every host, with its part of the graph and how it spent its time.
fn hosts(report: &Report) -> String {
    let head = [
        "host",
        "device",
        "speed",
        "masters",
        "mirrors",
        "edges",
        "memory",
        "busy",
        "computing",
        "packing",
        "waiting",
        "rounds",
        "looked at",
        "sent",
    ];
    let head: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
    let row = |(number, cells): (usize, Vec<String>)| {
        let cells = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell)));
        format!("<tr><td>{number}</td>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = report.hosts().map(|host| host.as_cells()).enumerate().map(row).collect();
    format!(
        "<h2>Hosts</h2>\n<div class=\"wide\"><table class=\"numbers\">\n<tr>{head}</tr>\n{rows}\
         </table></div>\n"
    )
}

/// What ran: the command, the version, the machine, the input, the choices and their reasons.
fn provenance(report: &Report, origin: &Value) -> String {
    let words = origin["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let command: Vec<String> = std::iter::once("parton".into()).chain(words.map(quoted)).collect();
    let mut rows = vec![
        ("Parton".to_owned(), origin["parton"].as_str().unwrap_or_default().to_owned()),
        ("machine".to_owned(), machine::describe()),
    ];
    for input in origin["inputs"].as_array().into_iter().flatten() {
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        rows.push(("input".into(), text("file")));
        rows.push(("read as".into(), text("read_as")));
        rows.extend(input["bytes"].as_u64().map(|size| ("size".into(), show::bytes(size))));
        rows.extend(input["digest"].as_str().map(|digest| ("digest".into(), digest.to_owned())));
    }
    let notes: String = report.notes().map(|note| format!("<p>{}</p>\n", escape(note))).collect();
    format!(
        "<h2>What ran</h2>\n<pre>{}</pre>\n{}{notes}<details><summary>The whole report</summary>\n{}\
         </details>\n",
        escape(&command.join(" ")),
        table(rows),
        table(report.rows())
    )
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=+@%*".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn table(rows: impl IntoIterator<Item = (String, String)>) -> String {
    let row = |(label, value): (String, String)| {
        // What follows its label row by row is a list in columns.
        let class = if label.is_empty() { " class=\"listed\"" } else { "" };
        format!("<tr><th>{}</th><td{class}>{}</td></tr>\n", escape(&label), escape(&value))
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!("<table>\n{rows}</table>\n")
}
