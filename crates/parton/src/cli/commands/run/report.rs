//! The report of a run, as JSON and as text. The names in the JSON are a contract.

use crate::algorithms::{Fact, Id};
use crate::devices::{CPU, HostDevice};
use crate::engine::{Pace, Pacing, RoundReport, RunReport, Throttled};
use crate::graph::error::printable;
use crate::partition::quality::Quality;
use crate::sync::{Optimize, Waits};
use serde_json::{Map, Value, json};

use super::histogram::Histogram;
use super::hosts::{HostRun, MemoryPeak};
use super::per_host::HostAccount;
use super::timeline;
use crate::cli::show;
use crate::cli::task::{TaskOutcome, Verdict, bytes_as_json};

/// The run that was asked for, with the choices that Parton made.
pub(super) struct Request {
    pub(super) algorithm: &'static str,
    /// What the names in its result mean.
    pub(super) meanings: &'static [(&'static str, &'static str)],
    pub(super) graph: String,
    pub(super) threads: usize,
    pub(super) policy: String,
    /// Why Parton chose that policy; `None` if the user did.
    pub(super) policy_why: Option<&'static str>,
    pub(super) pacing: Pacing,
    pub(super) optimize: Optimize,
}

/// The run and its results.
pub(super) struct Report {
    pub(super) request: Request,
    pub(super) seconds: Seconds,
    pub(super) quality: Quality,
    devices: Vec<HostDevice>,
    pub(super) run: RunReport,
    engine: &'static str,
    engine_why: String,
    result: Vec<(&'static str, Fact)>,
    notes: Vec<String>,
    verdict: Verdict,
    memory_peak: Option<MemoryPeak>,
    /// How values are spread, if a page is to show it.
    pub(super) histogram: Option<Histogram>,
}

/// Seconds of the slowest host in each stage.
pub(super) struct Seconds {
    pub(super) load: f64,
    pub(super) partition: f64,
    pub(super) setup: f64,
    pub(super) run: f64,
}

impl Report {
    /// The report of one host, which knows of all.
    pub(super) fn new(request: Request, host: HostRun) -> Self {
        let HostRun {
            seconds,
            memory_peak,
            quality,
            devices,
            changes,
            policy_note,
            finished,
            histogram,
            ..
        } = host;
        let TaskOutcome { answer, verdict, .. } = finished;
        let changes = changes.into_iter().map(|note| format!("{}: {note}", request.algorithm));
        let policy_note = policy_note.map(|note| format!("{}: {note}", request.policy));
        Report {
            seconds,
            quality,
            devices,
            run: answer.report,
            engine: answer.engine.name,
            engine_why: answer.why,
            result: answer.result,
            notes: changes.chain(policy_note).chain(answer.notes).collect(),
            verdict,
            memory_peak,
            histogram,
            request,
        }
    }

    /// Notes for the user.
    pub(super) fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// True if the algorithm ended by itself.
    pub(super) fn converged(&self) -> bool {
        self.run.converged
    }

    /// What is wrong with the answer, if the check found something.
    pub(super) fn complaint(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Wrong(complaint) => Some(complaint),
            Verdict::Right | Verdict::NotAsked => None,
        }
    }

    /// The engine that ran.
    pub(super) fn engine(&self) -> &'static str {
        self.engine
    }

    /// The most memory that the processes had, if the system tells.
    pub(super) fn memory_peak(&self) -> Option<u64> {
        self.memory_peak.map(|peak| peak.all)
    }

    /// Whether the answer is right, `None` if that was not checked.
    pub(super) fn verified(&self) -> Option<bool> {
        self.verdict.is_right()
    }

    /// What was found, in words, with what the names mean.
    pub(super) fn result_rows(&self) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for (name, fact) in &self.result {
            let meaning = self.request.meanings.iter().find(|(known, _)| known == name);
            let meaning = meaning.map(|(_, meaning)| *meaning).unwrap_or_default();
            rows.extend(fact_rows(name, fact, meaning));
        }
        rows
    }

    /// True if values may be written.
    pub(super) fn is_usable(&self) -> bool {
        self.complaint().is_none()
    }

    /// The warning for a run that a limit stopped.
    pub(super) fn not_converged(&self) -> String {
        match self.run.rounds.len() {
            1 => "not converged: the values are not final after 1 round".into(),
            rounds => {
                let rounds = show::count(rounds as u64);
                format!("not converged: the values are not final after {rounds} rounds")
            }
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let Report { request, seconds, quality, run, .. } = self;
        let (sent, (fewest, most)) = (run.sent(), run.local_rounds());
        let per_round = (1..).zip(&run.rounds).map(|(number, round)| round_as_json(number, round));
        let per_host = self.hosts().map(|host| host.as_json());
        let result = self.result.iter().map(|(name, fact)| ((*name).into(), fact_as_json(fact)));
        json!({
            "algorithm": request.algorithm,
            "graph": { "vertices": quality.vertices, "edges": quality.edges },
            "hosts": quality.hosts.len(),
            "threads": request.threads,
            "policy": request.policy,
            "engine": self.engine,
            "pace": run.pace.name(),
            "pace_why": run.pace_why,
            "governor": governor_as_json(request.pacing, run),
            "optimize": request.optimize.name(),
            "rounds": run.rounds.len(),
            "local_rounds": { "min": fewest, "max": most },
            "work": run.work(),
            "converged": run.converged,
            "replication": quality.replication(),
            "seconds": {
                "load": seconds.load,
                "partition": seconds.partition,
                "setup": seconds.setup,
                "run": seconds.run,
            },
            "bytes": bytes_as_json(&sent),
            "messages": sent.messages,
            "imbalance": run.imbalance(),
            "per_round": per_round.collect::<Vec<_>>(),
            "per_host": per_host.collect::<Vec<_>>(),
            "timeline": timeline::as_json(&run.timeline, run.rounds.len()),
            "memory_peak_bytes": self.memory_peak(),
            "memory_peak_of_process_bytes": self.memory_peak.map(|peak| peak.process),
            "result": result.collect::<Map<_, _>>(),
            "verified": self.verdict.is_right(),
        })
    }

    pub(super) fn as_text(&self) -> String {
        let mut text = String::new();
        for (label, value) in self.rows() {
            text += &format!("{label:<13}{value}\n");
        }
        text
    }

    /// What is known of each host.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostAccount<'_>> {
        let all_edges = self.quality.hosts.iter().map(|share| share.edges).sum();
        let hosts = self.devices.iter().zip(&self.quality.hosts).zip(&self.run.hosts);
        hosts.map(move |((device, share), report)| HostAccount {
            device,
            share,
            report,
            all_edges,
            run_seconds: self.seconds.run,
        })
    }

    /// Labels and values for text and page.
    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let Report { request, seconds, quality, run, .. } = self;
        let sent = run.sent();
        let plural = if request.threads == 1 { "" } else { "s" };
        let why = |why: Option<&str>| why.map_or(String::new(), |why| format!(" ({why})"));
        let ended = if run.converged { "converged" } else { "not converged" };
        let rows = vec![
            ("algorithm", request.algorithm.into()),
            (
                "graph",
                format!(
                    "{}: {} vertices, {} edges",
                    request.graph,
                    show::count(quality.vertices),
                    show::count(quality.edges)
                ),
            ),
            ("hosts", format!("{} × {} thread{plural}", quality.hosts.len(), request.threads)),
            ("policy", format!("{}{}", request.policy, why(request.policy_why))),
            ("engine", format!("{}{}", self.engine, why(Some(&self.engine_why)))),
            ("pace", format!("{}{}", run.pace.name(), why(Some(&run.pace_why)))),
            ("rounds", format!("{}, {ended}", rounds(run))),
            ("work", format!("{} edges looked at", show::count(run.work()))),
            ("replication", format!("{:.3} proxies per vertex", quality.replication())),
            (
                "time",
                format!(
                    "{:.3} s load, {:.3} s partition, {:.3} s setup, {:.3} s run",
                    seconds.load, seconds.partition, seconds.setup, seconds.run
                ),
            ),
            (
                "sent",
                format!(
                    "{}: {} values, {} metadata, in {} messages",
                    show::bytes(sent.total()),
                    show::bytes(sent.values()),
                    show::bytes(sent.metadata()),
                    show::count(sent.messages)
                ),
            ),
            ("imbalance", format!("{:.3} (slowest host over the mean)", run.imbalance())),
        ];
        let owned = |(label, value): (&str, String)| (label.to_owned(), value);
        let mut rows: Vec<(String, String)> = rows.into_iter().map(owned).collect();
        if run.pace == Pace::Basp {
            rows.push(("governor".into(), governor(request.pacing, run)));
        }
        if run.hosts.len() > 1 || self.devices.iter().any(|device| device.name != CPU) {
            let labels = std::iter::once("per host").chain(std::iter::repeat(""));
            rows.extend(labels.zip(self.hosts().map(|host| host.as_text())).map(owned));
        }
        if let Some(bytes) = self.memory_peak() {
            rows.push(("memory".into(), format!("{} at most", show::bytes(bytes))));
        }
        rows.extend(self.result_rows());
        match &self.verdict {
            Verdict::NotAsked => {}
            Verdict::Right => rows.push(("verified".into(), "yes".into())),
            Verdict::Wrong(complaint) => rows.push(("verified".into(), format!("NO: {complaint}"))),
        }
        rows
    }
}

fn round_as_json(number: u64, round: &RoundReport) -> Value {
    let sent = &round.sent;
    let mut bytes = bytes_as_json(sent);
    bytes["reduce"] = (sent.reduce_values + sent.reduce_metadata).into();
    bytes["broadcast"] = (sent.broadcast_values + sent.broadcast_metadata).into();
    let mut report = json!({
        "round": number,
        "changed": round.changed,
        "edges": round.edges,
        "seconds": round.seconds,
        "compute_seconds": round.compute_seconds,
        "bytes": bytes,
        "messages": sent.messages,
    });
    if let Some(measure) = round.measure {
        report[measure.name] = measure.value.into();
    }
    report
}

/// The number of rounds, or the range of it over the hosts.
fn rounds(run: &RunReport) -> String {
    match run.local_rounds() {
        (fewest, most) if fewest < most => {
            format!("{} to {} of each host", show::count(fewest), show::count(most))
        }
        (_, most) => show::count(most),
    }
}

/// How often the governor held hosts and labels back.
fn governor(pacing: Pacing, run: &RunReport) -> String {
    if !pacing.governed {
        return "off: hosts go on with whatever has arrived, in any order".into();
    }
    let (mut all, mut throttled) = (Waits::default(), Throttled::default());
    for host in &run.hosts {
        all += host.waits;
        throttled += host.throttled;
    }
    let Waits { waits, in_time, seconds, .. } = all;
    let waited = format!(
        "hosts waited {} times, {seconds:.3} s in all, for those that had spoken the last time; {} \
         times they spoke within a share of the time that the host's own round took",
        show::count(waits),
        show::count(in_time)
    );
    if throttled.edges == 0 {
        return waited;
    }
    format!(
        "{waited}. Best labels went first, {} times one waited for its turn; {} of {} edges were \
         looked at again all the same",
        show::count(throttled.labels),
        show::count(throttled.again),
        show::count(throttled.edges)
    )
}

fn governor_as_json(pacing: Pacing, run: &RunReport) -> Value {
    if run.pace != Pace::Basp || !pacing.governed {
        return Value::Null;
    }
    let per_host = run.hosts.iter().map(|host| {
        let (waits, throttled) = (&host.waits, &host.throttled);
        json!({
            "waits": waits.waits,
            "in_time": waits.in_time,
            "seconds": waits.seconds,
            "share": waits.share,
            "held": throttled.labels,
            "edges": throttled.edges,
            "again": throttled.again,
        })
    });
    per_host.collect()
}

fn fact_as_json(fact: &Fact) -> Value {
    let id = |id: &Id| match id {
        Id::Integer(id) => json!(id),
        Id::Name(name) => json!(name),
    };
    match fact {
        Fact::Integer(value) => json!(value),
        Fact::Real(value) => json!(value),
        Fact::Vertex(vertex) => vertex.as_ref().map_or(Value::Null, id),
        Fact::Ranking(best) => {
            best.iter().map(|(vertex, value)| json!([id(vertex), value])).collect()
        }
    }
}

/// A fact under its name, with what it means. A ranking follows its name, one vertex a row.
fn fact_rows(name: &str, fact: &Fact, meaning: &str) -> Vec<(String, String)> {
    let shown = |id: &Id| printable(id.to_string().as_bytes());
    let meant = |value: String| match meaning {
        "" => vec![(name.into(), value)],
        meaning => vec![(name.into(), format!("{value}  ({meaning})"))],
    };
    match fact {
        Fact::Integer(value) => meant(show::count(*value)),
        Fact::Real(value) => meant(format!("{value:?}")),
        Fact::Vertex(None) => meant("none".into()),
        Fact::Vertex(Some(id)) => meant(shown(id)),
        Fact::Ranking(best) => {
            let width = best.iter().map(|(id, _)| shown(id).chars().count()).max().unwrap_or(0);
            let row = |(id, value): &(Id, f64)| {
                (String::new(), format!("{:<width$}  {value:?}", shown(id)))
            };
            let heading = (name.to_owned(), meaning.to_owned());
            std::iter::once(heading).chain(best.iter().map(row)).collect()
        }
    }
}
