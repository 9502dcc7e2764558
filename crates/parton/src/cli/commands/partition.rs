//! `parton partition`: cut a graph over hosts, and say how good the cut is.

use std::path::PathBuf;
use std::time::Instant;

use crate::algorithms::MemoryUse;
use crate::partition::quality::Quality;
use crate::partition::{Order, Partition as Part, Plan, policies};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Context;
use crate::cli::budget::Budget;
use crate::cli::exit::Failure;
use crate::cli::graph_arguments::GraphArguments;
use crate::cli::show;
use crate::cli::team::Team;

/// Cut a graph over hosts, and say how good the cut is.
#[derive(Args)]
pub(crate) struct Partition {
    /// Number of hosts [default: 4]; under mpirun or srun the ranks are the hosts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    hosts: Option<u16>,

    /// The policy (see `parton list`), or `all` for a table to choose from
    #[arg(long, value_name = "NAME", default_value = "all")]
    policy: String,

    #[command(flatten)]
    planning: PlanArguments,

    /// How much each host should get, relative to the others
    #[arg(long, value_name = "W,W,…", value_delimiter = ',')]
    host_weights: Option<Vec<f64>>,

    /// Keep the partition in this folder, one file per host
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,

    /// Go ahead even if this is planned to need more memory than it may use
    #[arg(long)]
    force: bool,

    /// Print JSON instead of text: one object, or a list of them for `all`
    #[arg(long)]
    json: bool,

    // Last, because its help headings apply to all arguments after them.
    #[command(flatten)]
    input: GraphArguments,
}

/// The number of hosts if the user names none.
const DEFAULT_HOSTS: usize = 4;

/// How to cut a graph, for every policy.
#[derive(Args)]
pub(crate) struct PlanArguments {
    /// Out-degree above which hvc and ginger spread a vertex's edges
    #[arg(long, value_name = "DEGREE", default_value_t = Plan::THRESHOLD)]
    threshold: usize,

    /// How a host numbers its vertices: in the order of their ids, or by descending degree, which
    /// takes longer to build and keeps the busiest vertices close in memory
    #[arg(long, value_name = "original|degree", default_value = "original", value_parser = parse_order)]
    order: Order,
}

fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "original" => Ok(Order::Original),
        "degree" => Ok(Order::Degree),
        _ => Err("expected original or degree".into()),
    }
}

impl PlanArguments {
    /// The plan to cut by a policy.
    pub(crate) fn plan(&self, policy: &str, host_weights: Option<Vec<f64>>) -> Plan {
        Plan { policy: policy.into(), host_weights, threshold: self.threshold, order: self.order }
    }

    /// True if all of these are the defaults.
    pub(crate) fn is_default(&self) -> bool {
        self.plan("", None) == Plan::new("")
    }
}

/// A policy and the quality of its cut.
struct PolicyResult {
    policy: String,
    quality: Quality,
    note: Option<String>,
    seconds: f64,
}

impl Partition {
    /// Number of hosts, as far as the arguments say.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts.map_or(DEFAULT_HOSTS, usize::from)
    }

    pub(crate) fn run(self, context: &Context<'_>, team: &mut Team) -> Result<String, Failure> {
        let watch = context.watch;
        let all = self.policy == "all";
        if all && self.save.is_some() {
            return Err(Failure::usage("--save needs one policy: choose it with --policy"));
        }
        let hosts = team.hosts(self.hosts.map(usize::from), DEFAULT_HOSTS)?;
        let threads = match team.is_distributed() {
            true => team.threads(context.threads, hosts),
            false => rayon::current_num_threads().div_ceil(hosts.max(1)),
        };
        let input = self.input.open(self.input.asked_fit(), watch, team);
        let input = team.together(input)?;
        self.input.check_alike(&[], team)?;
        let names: Vec<String> = match all {
            true => {
                let plain = policies::ALL.iter().filter(|kind| kind.argument.is_none());
                plain.map(|kind| kind.name.to_owned()).collect()
            }
            false => vec![self.policy.clone()],
        };
        let mut outcomes = Vec::new();
        for name in names {
            let fits = self.check_memory(&input, &name, (hosts, threads), team);
            team.together(fits)?;
            watch.note(&format!("{name} over {hosts} hosts …"));
            outcomes.push(self.partition(&input, name, hosts, threads, team)?);
        }
        for outcome in &outcomes {
            if let Some(note) = &outcome.note {
                watch.note(&format!("{}: {note}", outcome.policy));
            }
        }
        Ok(match (self.json, all) {
            (true, true) => {
                let signed = |outcome: &PolicyResult| watch.signed(outcome.as_json());
                let list: Vec<Value> = outcomes.iter().map(signed).collect();
                format!("{:#}\n", Value::from(list))
            }
            (true, false) => format!("{:#}\n", watch.signed(outcomes[0].as_json())),
            (false, true) => table(&outcomes) + &recommendation(&outcomes),
            (false, false) => outcomes[0].as_text() + &recommendation(&outcomes),
        })
    }

    /// Refuses what cannot fit the memory.
    fn check_memory(
        &self,
        input: &crate::partition::Input,
        policy: &str,
        (hosts, threads): (usize, usize),
        team: &Team,
    ) -> Result<(), Failure> {
        let plan = &self.planning.plan(policy, self.host_weights.clone());
        plan.check(hosts)?;
        if self.force || self.input.is_stream() {
            return Ok(());
        }
        let work = format!("partitioning {} over {hosts} hosts by {policy}", self.input.graph);
        let (algorithm, text_bytes) = (MemoryUse::NONE, self.input.text_bytes());
        Budget { work, algorithm, input, plan, hosts, threads, text_bytes }.check(team)
    }

    fn partition(
        &self,
        input: &crate::partition::Input,
        policy: String,
        hosts: usize,
        threads: usize,
        team: &mut Team,
    ) -> Result<PolicyResult, Failure> {
        let plan = self.planning.plan(&policy, self.host_weights.clone());
        let measured = team.launch(hosts, threads, |net| {
            net.barrier()?;
            let start = Instant::now();
            let partition = Part::build(net, input, &plan)?;
            net.barrier()?;
            let seconds = start.elapsed().as_secs_f64();
            if let Some(folder) = &self.save {
                partition.save(net, folder, &policy)?;
            }
            let quality = Quality::measure(net, &partition)?;
            Ok((quality, partition.note().map(str::to_owned), seconds))
        });
        let (quality, note, seconds) = measured?.swap_remove(0);
        Ok(PolicyResult { policy, quality, note, seconds })
    }
}

impl PolicyResult {
    fn as_json(&self) -> Value {
        let quality = &self.quality;
        let [written, both, read] = quality.proxies();
        let per_host: Vec<Value> = quality
            .hosts
            .iter()
            .map(|host| {
                json!({
                    "masters": host.masters,
                    "mirrors": host.mirrors,
                    "edges": host.edges,
                    "messages": host.messages,
                    "memory_bytes": host.bytes,
                    "memory_peak_bytes": host.peak_bytes,
                })
            })
            .collect();
        json!({
            "policy": self.policy,
            "hosts": quality.hosts.len(),
            "vertices": quality.vertices,
            "edges": quality.edges,
            "replication": quality.replication(),
            "imbalance": {
                "edges": quality.edge_imbalance(),
                "masters": quality.master_imbalance(),
            },
            "per_host": per_host,
            "proxies": { "written": written, "both": both, "read": read },
            "messages_per_round": quality.messages_per_round(),
            "dense_bytes_per_round": quality.dense_bytes_per_round(),
            "note": self.note,
            "seconds": self.seconds,
        })
    }

    fn as_text(&self) -> String {
        let quality = &self.quality;
        let [written, both, read] = quality.proxies().map(show::count);
        let mut text = String::new();
        for (label, value) in [
            ("policy", self.policy.clone()),
            ("hosts", show::count(quality.hosts.len() as u64)),
            ("vertices", show::count(quality.vertices)),
            ("edges", show::count(quality.edges)),
            ("replication", format!("{:.3} proxies per vertex", quality.replication())),
            ("mirrors", format!("{written} only written, {both} both, {read} only read")),
            (
                "messages",
                format!("{} per round at most", show::count(quality.messages_per_round())),
            ),
            ("dense", format!("{} bytes per round", show::count(quality.dense_bytes_per_round()))),
            ("time", format!("{:.3} s", self.seconds)),
        ] {
            text += &format!("{label:<13}{value}\n");
        }
        text += &format!(
            "\n{:>6}{:>14}{:>14}{:>16}{:>18}{:>18}\n",
            "host", "masters", "mirrors", "edges", "bytes", "peak bytes"
        );
        for (number, host) in quality.hosts.iter().enumerate() {
            let columns = [host.masters, host.mirrors, host.edges, host.bytes, host.peak_bytes];
            let [masters, mirrors, edges, bytes, peak] = columns.map(show::count);
            text +=
                &format!("{number:>6}{masters:>14}{mirrors:>14}{edges:>16}{bytes:>18}{peak:>18}\n");
        }
        text += &format!(
            "max/mean: {:.3} masters, {:.3} edges\n",
            quality.master_imbalance(),
            quality.edge_imbalance()
        );
        text
    }
}

/// A cut is uneven if its fullest host has this many times the edges of the mean one.
const UNEVEN: f64 = 2.0;

/// The policy with the fewest bytes per round among the even ones, or among all if none is even.
fn best(outcomes: &[PolicyResult]) -> Option<&PolicyResult> {
    let cost = |outcome: &&PolicyResult| {
        let quality = &outcome.quality;
        (quality.edge_imbalance() > UNEVEN, quality.dense_bytes_per_round())
    };
    outcomes.iter().min_by_key(cost)
}

/// What to choose, in the last line.
fn recommendation(outcomes: &[PolicyResult]) -> String {
    let Some(PolicyResult { policy, quality, .. }) = best(outcomes) else { return String::new() };
    let (uneven, replication) = (quality.edge_imbalance(), quality.replication());
    if uneven > UNEVEN {
        return format!(
            "recommendation: more even shares; with {policy} a host has {uneven:.1} times the mean edges \
             (compare --policy all, and cut vertices of many edges by hvc or cvc)\n"
        );
    }
    match outcomes.len() {
        1 => format!(
            "recommendation: keep {policy} if no other sends less (compare --policy all): {replication:.2} \
             proxies per vertex, {uneven:.2} times the mean edges on a host\n"
        ),
        all => format!(
            "recommendation: {policy} sends the least in a round of {all} policies, {} bytes at most, and no \
             host has more than {uneven:.2} times the mean edges\n",
            show::count(quality.dense_bytes_per_round())
        ),
    }
}

/// One policy per line.
fn table(outcomes: &[PolicyResult]) -> String {
    let mut text = format!(
        "{:<11}{:>12}{:>10}{:>10}{:>13}{:>13}{:>13}{:>10}{:>14}{:>12}{:>9}\n",
        "policy",
        "replication",
        "edges",
        "masters",
        "only",
        "both",
        "only",
        "messages",
        "dense bytes",
        "peak MB",
        "seconds"
    );
    text += &format!(
        "{:<11}{:>12}{:>10}{:>10}{:>13}{:>13}{:>13}{:>10}{:>14}{:>12}{:>9}\n",
        "",
        "",
        "max/mean",
        "max/mean",
        "written",
        "",
        "read",
        "per round",
        "per round",
        "per host",
        ""
    );
    for PolicyResult { policy, quality, seconds, .. } in outcomes {
        let [written, both, read] = quality.proxies().map(show::count);
        let peak = quality.hosts.iter().map(|host| host.peak_bytes).max().unwrap_or(0);
        text += &format!(
            "{policy:<11}{:>12.3}{:>10.3}{:>10.3}{written:>13}{both:>13}{read:>13}{:>10}{:>14}{:>12.1}{seconds:>9.3}\n",
            quality.replication(),
            quality.edge_imbalance(),
            quality.master_imbalance(),
            show::count(quality.messages_per_round()),
            show::count(quality.dense_bytes_per_round()),
            peak as f64 / 1e6,
        );
    }
    text
}
