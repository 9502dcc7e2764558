//! One call that runs a program on a graph, and a builder for everything that can be chosen.

mod gather;
mod host;
mod input;
mod phases;

use std::num::NonZeroUsize;

use gather::{HostIds, gather};
use host::{HostOutcome, Settings, run_program, run_relaxation};
pub use input::IntoInput;

use crate::algorithms::pagerank::PageRank;
use crate::algorithms::{Access, Options};
use crate::defaults::{InputTraits, choose_policy, threads_per_host};
use crate::devices::DeviceList;
use crate::engine::device::Device;
use crate::engine::{Pace, Relaxation, VertexProgram};
use crate::error::{Error, Result};
use crate::host_weights::{HostWeights, WeightTrial};
use crate::net::{Cluster, Net};
use crate::outcome::Outcome;
use crate::partition::{Fit, Partition, Plan};
use crate::sync::{Optimize, Substrate};

/// Runs a program on this many hosts of this process. Policy, engine and threads are as suits;
/// [`Run`] chooses them one by one.
///
/// The input is a file, a [generator](crate::graph::generate) such as `rmat:18`, or a
/// [graph in memory](crate::graph::Graph).
///
/// ```
/// use parton::prelude::*;
///
/// /// Counts the walks of three edges that end at each vertex.
/// #[derive(Clone)]
/// struct Walks {
///     edges_to_go: u32,
/// }
///
/// impl VertexProgram for Walks {
///     type State = u64;
///     type Message = u64;
///     type Messages = Latest<u64>;
///     type Reduction = Sum<u64>;
///     type Weight = ();
///
///     fn init(&self, _: Vertex<'_>) -> u64 {
///         1
///     }
///
///     fn scatter(&self, _: Vertex<'_>, walks: &u64) -> Option<u64> {
///         Some(*walks)
///     }
///
///     fn along(&self, walks: u64, (): ()) -> u64 {
///         walks
///     }
///
///     fn apply(&self, _: Vertex<'_>, walks: &mut u64, arrived: u64, _: &mut Tally) -> bool {
///         *walks = arrived;
///         true
///     }
///
///     fn properties(&self) -> Properties {
///         Properties { stationary: true, ..Properties::default() }
///     }
///
///     fn conclude(&mut self, _: &Tally) -> bool {
///         self.edges_to_go -= 1;
///         self.edges_to_go == 0
///     }
/// }
///
/// // Of a complete graph on five vertices, on two hosts: 4 × 4 × 4 walks to each.
/// let outcome = parton::run(Walks { edges_to_go: 3 }, "complete:5", 2)?;
/// assert_eq!(outcome.values, [64; 5]);
/// assert_eq!(outcome.report.rounds.len(), 3);
/// # Ok::<(), parton::Error>(())
/// ```
pub fn run<P>(program: P, input: impl IntoInput, hosts: usize) -> Result<Outcome<P::State>>
where
    P: VertexProgram + Clone,
{
    Run::new(program).hosts(hosts).on(input)
}

/// Runs a [`Relaxation`] like [`run()`], on an engine that uses labels as soon as they improve.
///
/// ```
/// use parton::prelude::*;
///
/// /// The least number of edges from vertex 0.
/// struct Hops;
///
/// impl Relaxation for Hops {
///     type Label = u32;
///     type Reduction = Min<u32>;
///     type Weight = ();
///
///     fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
///         (vertex.id() == GlobalId(0)).then_some(0)
///     }
///
///     fn relax(&self, hops: u32, (): ()) -> u32 {
///         hops + 1
///     }
/// }
///
/// let outcome = parton::relax(Hops, "grid:3x2", 2)?;
/// assert_eq!(outcome.values, [0, 1, 2, 1, 2, 3]);
/// # Ok::<(), parton::Error>(())
/// ```
pub fn relax<P>(program: P, input: impl IntoInput, hosts: usize) -> Result<Outcome<P::Label>>
where
    P: Relaxation,
{
    Run::relaxation(program).hosts(hosts).on(input)
}

/// A run of a program whose values are of type `V`: what is not said is as suits.
///
/// ```
/// # use parton::prelude::*;
/// # #[derive(Clone)]
/// # struct Least;
/// # impl Relaxation for Least {
/// #     type Label = u32;
/// #     type Reduction = Min<u32>;
/// #     type Weight = ();
/// #     fn start(&self, vertex: Vertex<'_>) -> Option<u32> { Some(vertex.id().0 as u32) }
/// #     fn relax(&self, label: u32, (): ()) -> u32 { label }
/// # }
/// use parton::Run;
///
/// let run = Run::relaxation(Least).hosts(4).threads(1).policy("cvc").engine("push").undirected();
/// let outcome = run.on("rmat:8")?;
/// assert_eq!((outcome.policy.as_str(), outcome.engine), ("cvc", "push"));
/// assert_eq!(outcome.get("0"), Some(0));
/// # Ok::<(), parton::Error>(())
/// ```
pub struct Run<'p, V> {
    execute: Box<Execute<'p, V>>,
    settings: Settings,
    hosts: usize,
    threads: Option<NonZeroUsize>,
    policy: Option<String>,
    fit: Fit,
    devices: Devices,
}

/// What computes for hosts.
#[derive(Default)]
struct Devices {
    list: DeviceList,
    memory_limit: Option<u64>,
    weights: Option<HostWeights>,
}

/// One host's share of a run, on its device if it has one.
type Execute<'p, V> = dyn Fn(&mut Substrate<'_>, Option<&dyn Device>, &Settings) -> Result<HostOutcome<V>>
    + Sync
    + 'p;

impl<'p, V: Copy + Send + Sync> Run<'p, V> {
    /// A run of a program.
    pub fn new<P>(program: P) -> Self
    where
        P: VertexProgram<State = V> + Clone + 'p,
    {
        Run::with(move |_| Ok(program.clone()))
    }

    /// A run of the program that each host makes when it has its partition: in order to start from
    /// a vertex by its original id, say ([`Root::find`](crate::algorithms::Root::find)).
    pub fn with<P>(make: impl Fn(&mut Substrate<'_>) -> Result<P> + Sync + 'p) -> Self
    where
        P: VertexProgram<State = V>,
    {
        Run::from_execute(move |substrate, device, settings| {
            let program = make(substrate)?;
            run_program(program, substrate, device, settings)
        })
    }

    /// A run of a relaxation, on an engine that uses labels as soon as they improve.
    pub fn relaxation<P>(program: P) -> Self
    where
        P: Relaxation<Label = V> + 'p,
    {
        Run::from_execute(move |substrate, device, settings| {
            run_relaxation(&program, substrate, device, settings)
        })
    }

    /// A run of the relaxation that each host makes when it has its partition.
    pub fn relaxation_with<P>(make: impl Fn(&mut Substrate<'_>) -> Result<P> + Sync + 'p) -> Self
    where
        P: Relaxation<Label = V>,
    {
        Run::from_execute(move |substrate, device, settings| {
            let program = make(substrate)?;
            run_relaxation(&program, substrate, device, settings)
        })
    }

    fn from_execute(
        execute: impl Fn(&mut Substrate<'_>, Option<&dyn Device>, &Settings) -> Result<HostOutcome<V>>
        + Sync
        + 'p,
    ) -> Self {
        Run {
            execute: Box::new(execute),
            settings: Settings::default(),
            hosts: 1,
            threads: None,
            policy: None,
            fit: Fit::AS_IT_IS,
            devices: Devices::default(),
        }
    }

    /// The number of hosts, all in this process. Default: 1.
    pub fn hosts(mut self, hosts: usize) -> Self {
        self.hosts = hosts;
        self
    }

    /// The threads of each host. Default: its share of the cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = NonZeroUsize::new(threads);
        self
    }

    /// The [policy](crate::partition::policies) that cuts the graph.
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policy = Some(name.into());
        self
    }

    /// The [engine](crate::engine::engines). One that cannot run the program is an error.
    pub fn engine(mut self, name: impl Into<String>) -> Self {
        self.settings.engine = Some(name.into());
        self
    }

    /// What computes for each host. Default: threads of this process. A program runs on devices if its
    /// `impl` is marked with [`#[device]`](macro@crate::prelude::device).
    pub fn devices(mut self, list: DeviceList) -> Self {
        self.devices.list = list;
        self
    }

    /// Bytes of its device's memory that each host may use. Default: all that is free.
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.devices.memory_limit = Some(bytes);
        self
    }

    /// How much of the graph each host gets. Default: the same, or as fast as hosts turn out to be where
    /// their devices differ.
    pub fn host_weights(mut self, weights: HostWeights) -> Self {
        self.devices.weights = Some(weights);
        self
    }

    /// When hosts wait for each other. Default: in every round.
    pub fn pace(mut self, pace: Pace) -> Self {
        self.settings.pacing = pace.into();
        self
    }

    /// Stops after this many rounds, even if values are not final: see [`RunReport::converged`](crate::engine::RunReport::converged).
    pub fn max_rounds(mut self, rounds: u64) -> Self {
        self.settings.limits.max_rounds = Some(rounds);
        self
    }

    /// Takes every edge in both directions.
    pub fn undirected(mut self) -> Self {
        self.fit.undirected = true;
        self
    }

    /// Drops self-loops, and all but the lightest of parallel edges.
    pub fn simple(mut self) -> Self {
        self.fit.simple = true;
        self
    }

    /// Runs on this input.
    pub fn on(self, input: impl IntoInput) -> Result<Outcome<V>> {
        let input = input.into_input()?.fitted(self.fit);
        let access = match self.settings.engine.as_deref() {
            Some("pull") => Access::Destinations,
            _ => Access::Sources,
        };
        let policy = self.policy.clone().unwrap_or_else(|| {
            choose_policy(self.hosts, access, InputTraits::of(&input)).0.to_owned()
        });
        let Devices { list, memory_limit, weights } = &self.devices;
        let host_weights = match weights {
            Some(HostWeights::Given(weights)) => Some(weights.clone()),
            _ => None,
        };
        let plan = Plan { host_weights, ..Plan::new(&policy) };
        plan.check(self.hosts)?;
        list.check(self.hosts).map_err(crate::algorithms::Error::Request)?;
        let all: Vec<usize> = (0..self.hosts).collect();
        let devices = list.open(&all, &all, *memory_limit)?;
        let devices = devices.single_steps(self.settings.limits.max_rounds.is_some());
        let sharing = devices.hosts_that_need_threads(self.hosts);
        let threads = threads_per_host(self.threads, sharing);
        let mut cluster = Cluster::local(self.hosts).threads_per_host(threads);
        let hosts = cluster.launch(|net| {
            // Ranks go along every edge in every round: what that takes is what most programs take.
            let options = Options::default();
            let trial = WeightTrial::new(&PageRank, &options, threads, &input);
            let build = |net: &mut Net, plan: &Plan| {
                Ok::<_, Error>((Partition::build(net, &input, plan)?, 0.0))
            };
            let partition = trial.cut(net, &devices, weights.as_ref(), &plan, build)?.partition;
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let device = devices.get(partition.host()).map(|gpu| gpu as &dyn Device);
            let outcome = (self.execute)(&mut substrate, device, &self.settings)?;
            Ok::<_, Error>((HostIds::of(&partition), outcome))
        })?;
        Ok(gather(hosts, policy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Root;
    use crate::engine::Vertex;
    use crate::graph::GlobalId;
    use crate::sync::reduction::Min;

    /// The least number of edges from a root.
    struct Hops(Option<GlobalId>);

    impl Relaxation for Hops {
        type Label = u32;
        type Reduction = Min<u32>;
        type Weight = ();

        fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
            (Some(vertex.id()) == self.0).then_some(0)
        }

        fn relax(&self, hops: u32, (): ()) -> u32 {
            hops + 1
        }
    }

    fn hops_from(root: &'static str) -> Run<'static, u32> {
        Run::relaxation_with(move |substrate| {
            let root = Root::Original(root.into()).find(substrate)?;
            Ok(Hops(root.map(|found| found.vertex)))
        })
    }

    #[test]
    fn values_are_found_by_original_ids() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            ("names.csv", "from,to\nRome,Paris\nParis,Oslo\n", ["Rome", "Paris", "Oslo"]),
            (
                "numbers.csv",
                "from,to\n900,7\n7,18446744073709551615\n",
                ["900", "7", "18446744073709551615"],
            ),
        ];
        for (name, text, ids) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            for hosts in [1, 3] {
                let outcome = hops_from(ids[0]).hosts(hosts).threads(1).on(&*path).expect("a run");
                assert_eq!(ids.map(|id| outcome.get(id)), [Some(0), Some(1), Some(2)]);
                assert_eq!(outcome.get("Atlantis"), None);
                let sorted = outcome.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>();
                assert_eq!(sorted.len(), 3);
                assert!(outcome.iter().is_sorted_by_key(|(id, _)| id), "{sorted:?}");
            }
        }
    }

    #[test]
    fn every_engine_and_pace_that_fits_agrees() {
        let expected = hops_from("3").on("rmat:8").expect("a run").values;
        for engine in ["push", "frontier", "pull", "delta"] {
            for pace in [Pace::Bsp, Pace::Auto] {
                let run = hops_from("3").hosts(3).threads(1).engine(engine).pace(pace);
                let outcome = run.on("rmat:8").expect("a run");
                assert_eq!((outcome.values == expected, outcome.engine), (true, engine));
            }
        }
        let program = Run::with(|_| Ok(Hops(Some(GlobalId(3))))).hosts(2).on("rmat:8");
        assert_eq!(program.expect("a run").values, expected);
        let stopped = hops_from("0").max_rounds(1).engine("frontier").on("path:9").expect("a run");
        assert!(!stopped.report.converged);
    }

    #[test]
    fn misfits_are_errors() {
        let refused =
            |run: Run<'_, u32>, input: &str| run.on(input).expect_err("a misfit").to_string();
        let message = refused(hops_from("3").engine("union"), "path:5");
        assert!(
            message.contains("engine union runs no relaxations that change labels"),
            "{message}"
        );
        let message = refused(hops_from("3").engine("warp"), "path:5");
        assert!(message.contains("unknown engine 'warp'; known are push"), "{message}");
        assert!(
            refused(hops_from("3").policy("metis"), "path:5").contains("unknown policy 'metis'")
        );
        assert!(refused(hops_from("9"), "path:5").contains("no vertex 9"));
        assert!(refused(hops_from("3"), "missing.csv").contains("no such file"));
        assert!(refused(hops_from("3").hosts(0), "path:5").contains('0'));
    }
}
