//! The samples of one graph: all configurations take turns from the file to the answer. Then the graph is
//! partitioned once, and they take turns in rounds alone.
//!
//! Turns (A B C A B C, never A A B B C C) make a busy neighbour slow all configurations alike.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use crate::algorithms::{Algorithm, Options};
use crate::devices::HostDevices;
use crate::engine::device::Device;
use crate::engine::{EngineInfo, RunReport};
use crate::graph::Graph;
use crate::graph::progress::{Progress, Silent, Unit};
use crate::host_weights::{CutGraph, HostWeights, WeightTrial};
use crate::net::{Cluster, HostId, Net};
use crate::partition::quality::Quality;
use crate::partition::{Fit, Input, Partition, Plan};
use crate::sync::{Optimize, Schedule};

use super::results::{Cut, Key, Row};
use super::samples::Samples;
use crate::cli::exit::Failure;
use crate::cli::graph_arguments::GraphArguments;
use crate::cli::task::{self, AUTO, PartitionSource, Task, TaskOutcome, Verdict};
use crate::cli::team::Team;
use crate::cli::watch::Watch;
use crate::defaults::{InputTraits, choose_policy};

/// One configuration on any graph.
pub(super) struct Case {
    pub(super) algorithm: &'static dyn Algorithm,
    /// The engine asked for.
    pub(super) engine: String,
    pub(super) options: Options,
    /// The graph that the algorithm needs.
    pub(super) fit: Fit,
    pub(super) hosts: usize,
    pub(super) threads: usize,
    /// What computes for the hosts.
    pub(super) devices: Arc<HostDevices>,
}

/// How to measure.
pub(super) struct Measurement<'m> {
    pub(super) cases: &'m [Case],
    /// The policy asked for.
    pub(super) policy: &'m str,
    /// How much each host gets, if the user says.
    pub(super) host_weights: Option<&'m HostWeights>,
    pub(super) repetitions: usize,
    pub(super) verify: bool,
    pub(super) team: &'m Team,
    pub(super) watch: &'m Watch,
}

/// A graph that is partitioned over the hosts of a cluster.
struct PartitionedGraph {
    fit: Fit,
    cluster: Cluster,
    parts: Vec<Partition>,
    quality: Quality,
    policy: String,
    /// The algorithm that hosts were measured with, if they were.
    measured_with: Option<&'static str>,
    seconds: f64,
}

/// One repetition.
struct Repetition {
    setup_seconds: f64,
    report: RunReport,
    engine: &'static EngineInfo,
    verdict: Verdict,
}

impl Case {
    /// The policy asked for, or the one that suits many runs.
    pub(super) fn policy<'p>(&self, asked: &'p str) -> &'p str {
        // The graph is partitioned once and used often, so moving in-edges pays off.
        self.policy_for(asked, InputTraits { has_in_edges: true })
    }

    /// The policy asked for, or the one that suits a run on such an input.
    pub(super) fn policy_for<'p>(&self, asked: &'p str, input: InputTraits) -> &'p str {
        match asked {
            AUTO => choose_policy(self.hosts, self.algorithm.access(&self.options), input).0,
            _ => asked,
        }
    }

    /// One host's share of a run.
    pub(super) fn on_host(
        &self,
        net: &mut Net,
        part: &Partition,
        verify: bool,
    ) -> Result<TaskOutcome, Failure> {
        let task = Task {
            algorithm: self.algorithm,
            options: &self.options,
            optimize: Optimize::ALL,
            schedule: Schedule::default(),
            verify,
        };
        let device = self.devices.get(net.host()).map(|gpu| gpu as &dyn Device);
        task.on_host(net, part, device, &mut ())
    }
}

impl Measurement<'_> {
    /// All samples of one graph.
    pub(super) fn graph(&self, arguments: &GraphArguments) -> Result<Vec<Row>, Failure> {
        // Before anything of the graph is kept, as a run begins.
        let whole = self.whole_ways(arguments)?;
        let start = Instant::now();
        let graph = arguments.load(self.watch)?;
        let load_seconds = start.elapsed().as_secs_f64();
        let mut graphs: Vec<PartitionedGraph> = Vec::new();
        let mut notes = BTreeSet::new();
        for case in self.cases {
            if !graphs.iter().any(|stage| stage.fits(case, self.policy)) {
                graphs.push(self.partitioned(&graph, case, &mut notes)?);
            }
        }
        // The partitions hold all that is needed.
        drop(graph);

        let runs = self.cases.len() * self.repetitions;
        self.watch.stage("measuring", Unit::Runs, Some(runs as u64));
        let mut turns: Vec<Vec<Repetition>> = self.cases.iter().map(|_| Vec::new()).collect();
        for repetition in 0..self.repetitions {
            for (case, turns) in self.cases.iter().zip(&mut turns) {
                let stage = graphs.iter_mut().find(|stage| stage.fits(case, self.policy));
                let stage = stage.ok_or_else(|| Failure::bug("a case without its parts"))?;
                turns.push(stage.turn(case, self.verify && repetition == 0, &mut notes)?);
                self.watch.advance(1);
            }
        }
        notes.iter().for_each(|note| self.watch.note(note));
        let rows = self.cases.iter().zip(turns).zip(whole).map(|((case, turns), whole)| {
            let stage = graphs.iter().find(|stage| stage.fits(case, self.policy));
            let stage = stage.ok_or_else(|| Failure::bug("a case without its parts"))?;
            let row = self.row(&arguments.graph, load_seconds, case, stage, turns)?;
            Ok(Row { whole_seconds: Samples::new(whole), ..row })
        });
        rows.collect()
    }

    /// Partitions the graph for a case. Cases with the same hosts, policy and needs share it.
    fn partitioned(
        &self,
        graph: &Graph,
        case: &Case,
        notes: &mut BTreeSet<String>,
    ) -> Result<PartitionedGraph, Failure> {
        let policy = case.policy(self.policy);
        let input = Input::from(graph.clone()).fitted(case.fit);
        let mut cluster = task::cluster(case.hosts, case.threads);
        let outcome = cluster.launch(|net| -> Result<_, Failure> {
            let cut = self.cut(net, case, &input, policy)?;
            let quality = Quality::measure(net, &cut.partition)?;
            Ok((cut.partition, cut.seconds, (quality, cut.computing)))
        })?;
        let seconds = outcome.iter().map(|(_, seconds, _)| *seconds).fold(0.0, f64::max);
        let mut parts = Vec::new();
        let mut measured = None;
        for (part, _, of_all) in outcome {
            parts.push(part);
            measured = Some(of_all);
        }
        let (quality, devices) = measured.ok_or_else(|| Failure::bug("a cluster without hosts"))?;
        let name = case.algorithm.name();
        let was_measured = devices.iter().any(|device| device.speed.is_some());
        notes.extend(parts.iter().flat_map(Partition::changes).map(|c| format!("{name}: {c}")));
        Ok(PartitionedGraph {
            fit: case.fit,
            cluster,
            parts,
            quality,
            policy: policy.into(),
            measured_with: was_measured.then_some(name),
            seconds,
        })
    }

    /// Cuts an input for a case. Every host must call this.
    pub(super) fn cut(
        &self,
        net: &mut Net,
        case: &Case,
        input: &Input,
        policy: &str,
    ) -> Result<CutGraph, Failure> {
        let trial = WeightTrial::new(case.algorithm, &case.options, case.threads, input);
        let asked = self.host_weights.filter(|_| case.hosts > 1);
        let build = |net: &mut Net, plan: &Plan| {
            PartitionSource::Build(input, plan.clone()).on_host(net, &Silent)
        };
        trial.cut(net, &case.devices, asked, &Plan::new(policy), build)
    }

    fn row(
        &self,
        graph: &str,
        load_seconds: f64,
        case: &Case,
        stage: &PartitionedGraph,
        turns: Vec<Repetition>,
    ) -> Result<Row, Failure> {
        let what = format!("{} on {graph}", case.algorithm.name());
        let setup_seconds = turns.iter().map(|turn| turn.setup_seconds).collect();
        let run_seconds = turns.iter().map(|turn| turn.report.seconds).collect();
        let verified = turns.first().and_then(|turn| turn.verdict.is_right());
        let best = turns.into_iter().min_by(|a, b| a.report.seconds.total_cmp(&b.report.seconds));
        let (Some(best), Some(run_seconds)) = (best, Samples::new(run_seconds)) else {
            return Err(Failure::bug(format!("{what}: nothing was measured")));
        };
        if !best.report.converged {
            self.watch.warn(&format!(
                "{what} by {} on hosts: {}: stopped before the values were final",
                case.engine, case.hosts
            ));
        }
        Ok(Row {
            key: Key {
                algorithm: case.algorithm.name().into(),
                graph: graph.into(),
                engine: case.engine.clone(),
                hosts: case.hosts,
                threads: case.threads,
                policy: self.policy.into(),
            },
            vertices: stage.quality.vertices,
            edges: stage.quality.edges,
            engine_used: best.engine.name,
            whole_seconds: None,
            load_seconds,
            cut: Cut {
                policy: stage.policy.clone(),
                replication: stage.quality.replication(),
                seconds: stage.seconds,
                devices: HostId::all(case.hosts).map(|host| case.devices.name(host)).collect(),
            },
            setup_seconds,
            run_seconds,
            report: best.report,
            verified,
        })
    }
}

impl PartitionedGraph {
    fn fits(&self, case: &Case, asked: &str) -> bool {
        let was_for_another =
            self.measured_with.is_some_and(|algorithm| algorithm != case.algorithm.name());
        let fits = self.parts.len() == case.hosts && self.fit == case.fit;
        fits && self.policy == case.policy(asked) && !was_for_another
    }

    /// Runs a case once.
    fn turn(
        &mut self,
        case: &Case,
        verify: bool,
        notes: &mut BTreeSet<String>,
    ) -> Result<Repetition, Failure> {
        let parts = &self.parts;
        let work = |net: &mut Net| case.on_host(net, &parts[net.host().index()], verify);
        let mut hosts = self.cluster.launch(work)?;
        let setup_seconds = hosts.iter().map(|host| host.setup_seconds).fold(0.0, f64::max);
        // The rest is the same on all hosts.
        let first = hosts.swap_remove(0);
        let (answer, verdict) = (first.answer, first.verdict);
        if let (Verdict::Wrong(complaint), true) = (&verdict, answer.report.converged) {
            let (name, engine) = (case.algorithm.name(), answer.engine.name);
            return Err(Failure::bug(format!("{name} by {engine}: wrong answer: {complaint}")));
        }
        notes.extend(answer.notes);
        Ok(Repetition { setup_seconds, report: answer.report, engine: answer.engine, verdict })
    }
}
