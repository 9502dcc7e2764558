//! `parton run`: an algorithm on a graph that is cut over hosts.
//!
//! Everything that can be wrong with the request is found before the graph is read.

mod histogram;
mod hosts;
mod html;
mod per_host;
mod report;
mod schedule;
mod target;
mod timeline;
mod writes;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::algorithms::options::Given;
use crate::algorithms::{self, Access, Algorithm, Options};
use crate::net::{HostId, numa_domains};
use crate::output;
use crate::partition::saved::Manifest;
use crate::partition::{Fit, Plan};
use crate::sync::Optimize;
use clap::Args;

use super::partition::PlanArguments;
use crate::cli::Context;
use crate::cli::budget::Budget;
use crate::cli::device_arguments::DeviceArguments;
use crate::cli::exit::{CommandOutput, Failure};
use crate::cli::graph_arguments::GraphArguments;
use crate::cli::input_name::check_list_alike;
use crate::cli::options::{self, OwnArguments, PaceArguments};
use crate::cli::origin::Origin;
use crate::cli::task::{AUTO, PartitionSource, Task};
use crate::cli::team::Team;
use crate::cli::watch::Watch;
use crate::defaults::{InputTraits, choose_policy};
use crate::devices::HostDevices;
use crate::host_weights::WeightTrial;
use hosts::HostTask;
use report::{Report, Request};
use schedule::ScheduleArguments;
use target::Target;
use writes::WriteArguments;

/// Shown after the options.
const EXAMPLES: &str = "\
Examples:
  parton run pagerank rmat:18 --hosts 4
  parton run sssp roads.csv --root Rome --output distances.parquet --verify
  parton run bfs --help        with the options of this algorithm
  parton list                  algorithms, engines, policies, formats, devices";

/// Run an algorithm on a graph that is cut over hosts.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunCommand {
    /// What to compute (see `parton list`)
    #[arg(hide_possible_values = true)]
    algorithm: String,

    /// Number of hosts, all in this process [default: 1, or those of a saved partition]; under
    /// mpirun or srun the ranks are the hosts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    hosts: Option<u16>,

    /// How to cut the graph (see `parton list`)
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    policy: String,

    /// How each host goes through its edges; `auto` is what suits the algorithm
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    engine: String,

    #[command(flatten)]
    devices: DeviceArguments,

    /// Stop after N rounds, even if values are not final
    #[arg(long, value_name = "N")]
    max_rounds: Option<u64>,

    #[command(flatten)]
    writes: WriteArguments,

    /// Check the answer's certificate, in one pass over all edges; a wrong answer is not written, and exits 70
    #[arg(long)]
    verify: bool,

    /// Go ahead even if the run is planned to need more memory than it may use
    #[arg(long)]
    force: bool,

    // What few runs need has a heading of its own.
    #[command(flatten, next_help_heading = "Tuning")]
    planning: PlanArguments,

    #[command(flatten)]
    paced: PaceArguments,

    /// Which of Gluon's optimisations of messages are used, to measure what they save
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = options::optimizations())]
    optimize: String,

    #[command(flatten)]
    schedule: ScheduleArguments,

    #[command(flatten)]
    own: OwnArguments,

    // Last, because its help headings apply to all arguments after them.
    #[command(flatten)]
    input: GraphArguments,
}

impl RunCommand {
    /// Number of hosts, as far as the arguments say.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts.unwrap_or(1).into()
    }

    /// True if threads of the processor compute for all hosts.
    pub(crate) fn computes_on_threads(&self) -> bool {
        self.devices.are_threads()
    }

    pub(crate) fn run(
        self,
        context: &Context<'_>,
        team: &mut Team,
    ) -> Result<CommandOutput, Failure> {
        let start = Instant::now();
        let prepared = self.prepare(context, team);
        let Prepared { request, hosts, options, devices, target, plan, input } =
            team.together(prepared)?;
        let algorithm = context.algorithm(&self.algorithm)?;
        self.check_alike(algorithm, team)?;
        if self.verify {
            let checked = self.input.graph.check_blocks(team).map_err(Failure::from);
            team.together(checked)?;
        }
        let source = match &input {
            Some(input) => PartitionSource::Build(input, plan),
            None => PartitionSource::Load(&self.input.graph.path),
        };
        let load_seconds = start.elapsed().as_secs_f64();

        let (optimize, schedule) = (request.optimize, self.schedule.schedule());
        let task = Task { algorithm, options: &options, optimize, schedule, verify: self.verify };
        let stage = team.stage().clone();
        let watch = context.watch;
        let trial = input
            .as_ref()
            .map(|input| WeightTrial::new(algorithm, &options, request.threads, input));
        let host_task = HostTask {
            source,
            trial,
            asked_weights: self.devices.host_weights(),
            task,
            devices: &devices,
            target: target.as_ref(),
            draws: self.writes.has_page(),
            load_seconds,
            is_distributed: team.is_distributed(),
            stage: &stage,
            watch,
        };
        let mut outcomes = team.launch(hosts, request.threads, |net| host_task.on_host(net))?;
        stage.rounds_are_over();
        let parts: Vec<_> = outcomes.iter_mut().flat_map(|host| host.parts.drain(..)).collect();
        // All hosts give the same account.
        let report = Report::new(request, outcomes.swap_remove(0));
        report.notes().for_each(|note| watch.note(note));
        self.finish(&report, target, parts, watch, team)
    }

    /// Checks that everything asked for can be done, and opens the input.
    fn prepare(&self, context: &Context<'_>, team: &Team) -> Result<Prepared, Failure> {
        let (algorithm, watch) = (context.algorithm(&self.algorithm)?, context.watch);
        self.own.check(&[algorithm])?;
        let mut options =
            self.own.options(algorithm, &self.engine, self.paced.pacing(), self.max_rounds)?;
        let fit = self.input.fit(algorithm, &options)?;
        let saved = Manifest::find(&self.input.graph.path)?;
        let hosts = self.find_hosts(saved.as_ref(), watch, team)?;
        self.devices.check(hosts)?;
        self.devices.check_algorithm(algorithm, &options)?;
        let target = self.writes.check(&self.reads(algorithm), team)?;
        for (name, file) in self.own.graphs(algorithm) {
            let graph = Arc::new(self.input.load_beside(file, watch)?);
            options.set(algorithm, name, Given::Graph(graph))?;
            algorithms::check_request(algorithm, &options)?;
        }
        let devices = self.devices.open(algorithm, &options, hosts, team)?;
        let access = algorithm.access(&options);
        let asked = CutRequest { hosts, access, fit };
        let ChosenCut { policy, why, input } =
            self.choose_cut(&asked, saved.as_ref(), watch, team)?;
        let request = Request {
            algorithm: algorithm.name(),
            meanings: algorithm.meanings(),
            graph: self.input.graph.to_string(),
            threads: team.threads(context.threads, devices.hosts_that_need_threads(hosts)),
            policy: policy.clone(),
            policy_why: why,
            pacing: options.pacing,
            optimize: self.schedule.optimize(optimize(&self.optimize)),
        };
        let plan = self.plan(&policy);
        if let Some(input) = input.as_ref().filter(|_| !self.force && self.can_be_planned()) {
            let host_word = if hosts == 1 { "host" } else { "hosts" };
            let work =
                format!("{} on {} with {hosts} {host_word}", algorithm.name(), self.input.graph);
            let text_bytes = self.input.text_bytes();
            let (algorithm, threads) = (algorithm.memory_use(), request.threads);
            let plan = &plan;
            Budget { work, algorithm, input, plan, hosts, threads, text_bytes }.check(team)?;
        }
        Ok(Prepared { request, hosts, options, devices, target, plan, input })
    }

    /// Refuses ranks that see different files under one name: the graph, and what is read beside it.
    fn check_alike(&self, algorithm: &dyn Algorithm, team: &mut Team) -> Result<(), Failure> {
        let beside: Vec<&str> = self.own.graphs(algorithm).map(|(_, file)| file).collect();
        self.input.check_alike(&beside, team)?;
        self.own.lists(algorithm).try_for_each(|list| check_list_alike(list, team))
    }

    /// True if memory of this process is what hosts need, and a look at the input leaves it as it is.
    fn can_be_planned(&self) -> bool {
        self.computes_on_threads() && !self.input.is_stream()
    }

    /// The plan to cut by a policy, with the weights that were given.
    fn plan(&self, policy: &str) -> Plan {
        self.planning.plan(policy, self.devices.given_weights())
    }

    /// What a run reads: the files, and what messages call them.
    fn reads(&self, algorithm: &dyn Algorithm) -> Vec<(&str, &Path)> {
        let graphs = self.own.graphs(algorithm).map(|(_, file)| file);
        let beside = graphs.chain(self.own.lists(algorithm));
        let beside = beside.map(|file| ("a file that is read", Path::new(file)));
        beside.chain([("the graph", &*self.input.graph.path)]).collect()
    }

    /// Writes the files that were asked for, and returns the report.
    fn finish(
        &self,
        report: &Report,
        target: Option<Target>,
        parts: Vec<(HostId, output::TablePart)>,
        watch: &Watch,
        team: &mut Team,
    ) -> Result<CommandOutput, Failure> {
        let stopped = (!report.converged()).then(|| report.not_converged());
        let failure = failure(report.complaint(), stopped.as_deref(), self.max_rounds.is_some());
        if let Some(target) = target.filter(|_| report.is_usable()) {
            let note = target.note();
            target.write(parts, team)?;
            note.iter().for_each(|note| watch.note(note));
        }
        self.writes.write_page(report, watch, team)?;
        if let Some(stopped) = stopped.filter(|_| failure.is_none()) {
            watch.warn(&stopped);
        }
        Ok(CommandOutput { text: self.writes.text(report, watch), failure })
    }

    /// The number of hosts: that of a saved partition, of the ranks, or as asked.
    fn find_hosts(
        &self,
        saved: Option<&Manifest>,
        watch: &Watch,
        team: &Team,
    ) -> Result<usize, Failure> {
        let asked = self.hosts.map(usize::from);
        let hosts = match saved {
            Some(saved) => self.hosts_of(saved, team)?,
            None => team.hosts(asked, 1)?,
        };
        let domains = numa_domains().len();
        if domains > 1 && hosts == 1 && asked.is_none() && !team.is_distributed() {
            watch.note(&format!(
                "this machine has {domains} NUMA domains: with --hosts {domains} each of them gets a host, whose threads \
                 stay beside its memory"
            ));
        }
        Ok(hosts)
    }

    /// How the graph is cut, and the opened input. Mistakes in the request are reported before the input is read.
    fn choose_cut(
        &self,
        asked: &CutRequest,
        saved: Option<&Manifest>,
        watch: &Watch,
        team: &Team,
    ) -> Result<ChosenCut, Failure> {
        let &CutRequest { hosts, access, fit } = asked;
        if let Some(saved) = saved {
            let read_as = format!("partition of {hosts} hosts, saved by {}", saved.policy());
            watch.has_read(Origin::new(&self.input.graph, None, &read_as));
            return Ok(ChosenCut {
                policy: saved.policy().into(),
                why: Some("as saved"),
                input: None,
            });
        }
        let suits = |traits| match &self.policy[..] {
            AUTO => {
                let (policy, why) = choose_policy(hosts, access, traits);
                (policy.to_owned(), Some(why))
            }
            asked => (asked.to_owned(), None),
        };
        // With any policy: what is wrong with the plan does not depend on the input.
        self.plan(&suits(InputTraits::default()).0).check(hosts)?;
        let input = self.input.open(fit, watch, team)?;
        let (policy, why) = suits(InputTraits::of(&input));
        Ok(ChosenCut { policy, why, input: Some(input) })
    }

    /// The number of hosts of a saved partition; an error if other arguments contradict it.
    fn hosts_of(&self, saved: &Manifest, team: &Team) -> Result<usize, Failure> {
        let (folder, hosts) = (&self.input.graph, saved.hosts());
        let refuse = |problem: String| Err(Failure::usage(format!("{folder}: {problem}")));
        match team.hosts(self.hosts.map(usize::from), hosts)? {
            asked if asked == hosts => {}
            ranks if team.is_distributed() => {
                return refuse(format!("saved for {hosts} hosts, but there are {ranks} ranks"));
            }
            asked => {
                return refuse(format!("saved for {hosts} hosts, but --hosts asks for {asked}"));
            }
        }
        if self.policy != AUTO && self.policy != saved.policy() {
            return refuse(format!(
                "saved by policy {}, but --policy asks for {}",
                saved.policy(),
                self.policy
            ));
        }
        let has_weights = self.devices.host_weights().is_some();
        match self.planning.is_default() && !has_weights && self.input.is_plain() {
            true => Ok(hosts),
            false => refuse(
                "a saved partition is taken as it is: say these options when it is \
                             saved (`parton partition --save`)"
                    .into(),
            ),
        }
    }
}

/// Everything a run needs, checked before it begins.
struct Prepared {
    request: Request,
    hosts: usize,
    options: Options,
    devices: HostDevices,
    target: Option<Target>,
    plan: Plan,
    /// `None` if the partition was saved.
    input: Option<crate::partition::Input>,
}

/// What the cut of a run's graph depends on.
struct CutRequest {
    hosts: usize,
    access: Access,
    fit: Fit,
}

/// How the graph of a run is cut.
struct ChosenCut {
    policy: String,
    why: Option<&'static str>,
    /// `None` if the partition was saved.
    input: Option<crate::partition::Input>,
}

/// The failure of a run whose answer is wrong or not final. `limited`: the user asked for a limit of
/// rounds.
fn failure(complaint: Option<&str>, stopped: Option<&str>, limited: bool) -> Option<Failure> {
    match (complaint, stopped) {
        (Some(complaint), None) => {
            Some(Failure::bug(format!("the answer is wrong and was not written: {complaint}")))
        }
        // Values that are not final cannot pass the check; that is no bug.
        (Some(complaint), Some(stopped)) => {
            Some(Failure::not_converged(format!("{stopped}, and were not written: {complaint}")))
        }
        (None, Some(stopped)) if !limited => Some(Failure::not_converged(stopped)),
        (None, _) => None,
    }
}

fn optimize(name: &str) -> Optimize {
    let named = Optimize::NAMES.iter().find(|(known, _)| *known == name);
    named.map_or(Optimize::ALL, |(_, optimize)| *optimize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_bugs_unless_the_run_was_stopped() {
        let code = |complaint, stopped, limited| {
            failure(complaint, stopped, limited).map(|failure| failure.code())
        };
        assert_eq!(code(None, None, false), None);
        assert_eq!(code(Some("wrong"), None, false), Some(70));
        assert_eq!(code(Some("wrong"), Some("stopped"), true), Some(3));
        assert_eq!(code(None, Some("stopped"), false), Some(3));
        assert_eq!(code(None, Some("stopped"), true), None);
    }
}
