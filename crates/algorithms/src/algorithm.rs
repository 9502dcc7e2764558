//! The erased face of an algorithm, for the command, the tests and the benches.

use parton_engine::device::Device;
use parton_engine::{EngineInfo, Limits, Pace, Watch, engines};
use parton_graph::Graph;
use parton_program::plan::CompiledPlan;
use parton_sync::Substrate;

use crate::answer::{Answer, Column, Meanings};
use crate::error::{Error, Result};
use crate::memory_use::MemoryUse;
use crate::needs::Needs;
use crate::options::{OptionSet, Options, check_own};

/// A named program with an oracle.
///
/// ```
/// use parton_algorithms::bfs::Bfs;
/// use parton_algorithms::{Algorithm, Error, Fact, Job, Options};
/// use parton_net::Cluster;
/// use parton_partition::{Input, Partition, Plan};
/// use parton_sync::{Optimize, Substrate};
///
/// let (input, options) = (Input::open("grid:30x20").unwrap(), Options::default());
/// let answers = Cluster::local(2).launch(|net| {
///     let partition = Partition::build(net, &input, &Plan::new("oec")).unwrap();
///     let substrate = &mut Substrate::new(&partition, net, Optimize::ALL);
///     let job = &mut Job { substrate, options: &options, watch: &mut (), device: None };
///     let answer = Bfs.run(job)?;
///     assert_eq!(Bfs.check(job, &answer)?, None, "the certificate holds");
///     Ok::<_, Error>(answer)
/// });
/// assert!(answers.unwrap()[0].result.contains(&("reached", Fact::Integer(600))));
/// ```
pub trait Algorithm: Sync {
    /// What users call it.
    fn name(&self) -> &'static str;

    /// Shorter names, by which users of other systems know it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a user means it by this name.
    fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.aliases().contains(&name)
    }

    /// What it finds, in one line.
    fn about(&self) -> &'static str;

    /// What the facts in its result mean.
    fn meanings(&self) -> Meanings {
        &[]
    }

    /// The options that are its own, with their defaults: what
    /// [`options!`](crate::options!) declares.
    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(())
    }

    /// The engines that can run it.
    fn engines(&self) -> &'static [&'static EngineInfo] {
        engines::GENERAL
    }

    /// What graph it is defined on, with these options.
    fn needs(&self, _: &Options) -> Needs {
        Needs::default()
    }

    /// What it holds on a host in addition to its partition.
    fn memory_use(&self) -> MemoryUse {
        MemoryUse::UNKNOWN
    }

    /// Why hosts have to wait for each other in every round, with these options; `None` if they
    /// need not. Its program says the same, but only when there is a graph.
    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some("it does not say that it can do without rounds")
    }

    /// Why no host may compute on a device, with these options; `None` if hosts may.
    fn needs_threads(&self, _: &Options) -> Option<&'static str> {
        None
    }

    /// From which ends it goes along edges, with these options: a vertex's edges there had best be in
    /// one place.
    fn access(&self, _: &Options) -> Access {
        Access::Sources
    }

    /// Whether its options make sense; see [`check_request`].
    fn accepts(&self, _: &Options) -> Result<()> {
        Ok(())
    }

    /// What the compiler made of its plain functions: one for each form of it that is compiled.
    fn plans(&self) -> Vec<&'static CompiledPlan> {
        Vec::new()
    }

    /// Runs it. Every host must call this.
    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer>;

    /// Checks an answer without another one to compare with, in time that follows the edges; what
    /// is wrong with it, if anything. Every host must call this and gets the same verdict.
    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>>;

    /// The same columns for a whole graph, computed by the plainest code there is.
    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>>;
}

/// From which ends an algorithm goes along edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From sources that have something to tell.
    Sources,
    /// From destinations: every vertex collects in every round.
    Destinations,
    /// From either, whichever is less work: small frontiers are pushed, large ones pulled.
    Either,
    /// From sources, and from destinations once few edges matter.
    SourcesThenDestinations,
}

/// One run of an algorithm on this host.
pub struct Job<'j, 'a> {
    /// The partition, and the way to the other hosts.
    pub substrate: &'j mut Substrate<'a>,
    /// What the user asked for.
    pub options: &'j Options,
    /// Gets a call after every round.
    pub watch: &'j mut dyn Watch,
    /// What computes for this host; `None`: threads of this process.
    pub device: Option<&'j dyn Device>,
}

impl Job<'_, '_> {
    /// Mean number of out-edges, for reasons that users read.
    pub fn average_degree(&self) -> f64 {
        let partition = self.substrate.partition();
        partition.num_edges() as f64 / partition.num_vertices().max(1) as f64
    }

    /// When to stop, as the user asked.
    pub fn limits(&self) -> Limits {
        Limits { max_rounds: self.options.max_rounds }
    }

    /// Whether any host computes on a device. All hosts then follow the protocol that devices know, whatever
    /// computes for them. An error if the algorithm does not run there. Every host must call this.
    pub(crate) fn has_devices(&mut self, algorithm: &dyn Algorithm) -> Result<bool> {
        let mine = u64::from(self.device.is_some());
        let has_devices = self.substrate.net().all_reduce(mine, std::cmp::max)? > 0;
        if has_devices {
            check_devices(algorithm, self.options)?;
        }
        Ok(has_devices)
    }

    /// Whether some hosts compute on devices and others do not. Every host must call this.
    pub(crate) fn has_mixed_hosts(&mut self) -> Result<bool> {
        let mine = u64::from(self.device.is_some());
        let devices = self.substrate.net().all_reduce(mine, |a, b| a + b)?;
        Ok((1..self.substrate.partition().num_hosts() as u64).contains(&devices))
    }

    /// The engine the user asked for, or else `suits`, and why. An error if options do not belong to
    /// the algorithm, the engine cannot run it, or it is not defined on such graphs.
    pub fn engine(
        &self,
        algorithm: &dyn Algorithm,
        suits: &'static EngineInfo,
        why: impl FnOnce() -> String,
    ) -> Result<(&'static EngineInfo, String)> {
        check_own(algorithm, self.options)?;
        check_engine(algorithm, self.options)?;
        algorithm.needs(self.options).check(algorithm.name(), self.substrate.partition())?;
        match self.options.engine {
            Some(asked) => Ok((asked, "as asked".into())),
            None => Ok((suits, why())),
        }
    }
}

/// Whether what a user asks of an algorithm makes sense, found out before there is a graph.
pub fn check_request(algorithm: &dyn Algorithm, options: &Options) -> Result<()> {
    check_own(algorithm, options)?;
    check_engine(algorithm, options)?;
    check_pace(algorithm, options)?;
    algorithm.accepts(options)
}

/// Whether hosts may compute on devices, found out before there is a graph.
pub fn check_devices(algorithm: &dyn Algorithm, options: &Options) -> Result<()> {
    match algorithm.needs_threads(options) {
        Some(why) => {
            let name = algorithm.name();
            Err(Error::Request(format!("{name} does not run on devices: {why}")))
        }
        None => Ok(()),
    }
}

fn check_pace(algorithm: &dyn Algorithm, options: &Options) -> Result<()> {
    if options.pacing.pace != Pace::Basp {
        return Ok(());
    }
    let name = algorithm.name();
    match (algorithm.needs_rounds(options), options.max_rounds) {
        (Some(why), _) => Err(Error::Request(format!("`pace` basp: {name} needs rounds: {why}"))),
        (None, Some(_)) => Err(Error::Request(
            "`pace` basp: every host has rounds of its own, so `max_rounds` means nothing".into(),
        )),
        (None, None) => Ok(()),
    }
}

/// The engine of that name, if it can run the algorithm.
pub fn engine_by_name(algorithm: &dyn Algorithm, name: &str) -> Result<&'static EngineInfo> {
    let fit = algorithm.engines();
    fit.iter().copied().find(|engine| engine.name == name).ok_or_else(|| {
        let fit: Vec<_> = fit.iter().map(|engine| engine.name).collect();
        let (algorithm, fit) = (algorithm.name(), fit.join(", "));
        Error::Request(format!("engine {name} cannot run {algorithm}: {fit} can"))
    })
}

fn check_engine(algorithm: &dyn Algorithm, options: &Options) -> Result<()> {
    options.engine.map_or(Ok(()), |asked| engine_by_name(algorithm, asked.name).map(drop))
}
