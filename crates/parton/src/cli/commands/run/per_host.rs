//! One host in the report of a run: its device, its share of the graph, and how it spent its time.

use serde_json::{Value, json};

use crate::cli::show;
use crate::devices::HostDevice;
use crate::engine::HostReport;
use crate::partition::quality::Share;

/// Everything that is known of one host.
pub(super) struct HostAccount<'r> {
    pub(super) device: &'r HostDevice,
    pub(super) share: &'r Share,
    pub(super) report: &'r HostReport,
    /// Edges of all hosts.
    pub(super) all_edges: u64,
    pub(super) run_seconds: f64,
}

impl HostAccount<'_> {
    /// The part of all edges that this host has.
    fn edge_share(&self) -> f64 {
        if self.all_edges == 0 { 0.0 } else { self.share.edges as f64 / self.all_edges as f64 }
    }

    /// The part of the run in which it computed or packed, and did not wait.
    fn busy(&self) -> f64 {
        match self.run_seconds {
            0.0 => 0.0,
            seconds => (self.report.compute_seconds + self.report.pack_seconds) / seconds,
        }
    }

    /// Edges per second in the trial before the run, if there was one.
    fn speed(&self) -> Option<String> {
        self.device.speed.map(|speed| format!("{} edges/s", show::count(speed as u64)))
    }

    pub(super) fn as_json(&self) -> Value {
        let HostAccount { device, share, report, .. } = self;
        let bytes_to = report.sent_to.iter().map(|sent| json!([sent.values(), sent.metadata()]));
        json!({
            "device": device.name,
            "speed": device.speed,
            "edge_share": self.edge_share(),
            "busy": self.busy(),
            "memory_bound": device.is_memory_bound,
            "masters": share.masters,
            "mirrors": share.mirrors,
            "edges": share.edges,
            "memory_bytes": share.bytes,
            "compute_seconds": report.compute_seconds,
            "pack_seconds": report.pack_seconds,
            "wait_seconds": report.wait_seconds,
            "other_seconds": report.other_seconds(),
            "rounds": report.rounds,
            "work": report.edges,
            "messages": report.sent.messages,
            "bytes_to": bytes_to.collect::<Vec<_>>(),
        })
    }

    /// The same as a row of a table.
    pub(super) fn as_cells(&self) -> Vec<String> {
        let HostAccount { device, share, report, .. } = self;
        vec![
            device.name.clone(),
            self.speed().unwrap_or("–".into()),
            show::count(share.masters),
            show::count(share.mirrors),
            format!("{} ({:.1} %)", show::count(share.edges), 100.0 * self.edge_share()),
            show::bytes(share.bytes),
            format!("{:.0} %", 100.0 * self.busy()),
            show::seconds(report.compute_seconds),
            show::seconds(report.pack_seconds),
            show::seconds(report.wait_seconds),
            show::count(report.rounds),
            show::count(report.edges),
            show::bytes(report.sent.total()),
        ]
    }

    /// The same for people.
    pub(super) fn as_text(&self) -> String {
        let HostAccount { device, report, .. } = self;
        let sent = report.sent;
        let speed = self.speed().map_or(String::new(), |speed| format!(", {speed} in the trial"));
        let bound = match device.is_memory_bound {
            true => " (no more fits its device)",
            false => "",
        };
        format!(
            "{}{speed}, {:.1} % of edges{bound}, {:.0} % busy; {:.3} s computing, {:.3} s packing, {:.3} s \
             waiting; {} rounds, {} edges, {} in {} messages",
            device.name,
            100.0 * self.edge_share(),
            100.0 * self.busy(),
            report.compute_seconds,
            report.pack_seconds,
            report.wait_seconds,
            show::count(report.rounds),
            show::count(report.edges),
            show::bytes(sent.total()),
            show::count(sent.messages)
        )
    }
}
