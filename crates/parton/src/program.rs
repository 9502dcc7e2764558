//! Programs written as plain functions over a graph in one memory.
//!
//! ```
//! use parton::program::*;
//!
//! /// The least number of edges from a root to every vertex.
//! #[parton::program]
//! fn hops(graph: &Graph<()>, root: Vertex) -> Field<u32> {
//!     let mut hops = graph.field(u32::MAX);
//!     hops[root] = 0;
//!     let mut work = Worklist::from([root]);
//!     while let Some(v) = work.pop() {
//!         for edge in graph.out_edges(v) {
//!             if hops.lower(edge.target, hops[v] + 1) {
//!                 work.push(edge.target);
//!             }
//!         }
//!     }
//!     hops
//! }
//!
//! let mut hosts = parton::On::new("grid:3x2")?.hosts(2).policy("cvc");
//! let outcome = hops::run(&mut hosts, Vertex(0))?;
//! assert_eq!(outcome.output.values(), [0, 1, 2, 1, 2, 3]);
//! println!("{}", hops::explain());
//! # Ok::<(), parton::Error>(())
//! ```
//!
//! `docs/compiler.md` teaches it.

use std::num::NonZeroUsize;

pub use parton_program::*;

use crate::algorithms::Access;
use crate::defaults::{InputTraits, choose_policy, threads_per_host};
use crate::devices::{DeviceList, partition_for};
use crate::engine::device::Device;
use crate::engine::{Limits, Pace, Pacing, RunReport};
use crate::error::{Error, Result};
use crate::graph::{Adjacency, Csr, Weight};
use crate::net::Cluster;
use crate::partition::{Fit, Input, Partition, Plan};
use crate::run::IntoInput;
use crate::sync::{Optimize, Substrate};

/// Hosts of this process and a graph that is cut over them, for compiled programs.
pub struct On {
    input: Input,
    hosts: usize,
    threads: Option<NonZeroUsize>,
    policy: Option<String>,
    engine: Option<String>,
    communication: Communication,
    pacing: Pacing,
    limits: Limits,
    devices: DeviceList,
}

/// What a compiled program returned, and how the run went.
#[derive(Clone, Debug)]
pub struct ProgramOutcome<O> {
    /// What the function returns: values in the order of vertices.
    pub output: O,
    /// The engine that ran.
    pub engine: &'static str,
    /// The policy that cut the graph.
    pub policy: String,
    /// Rounds, work, time and bytes.
    pub report: RunReport,
    /// What each operator took, where the program ran operator by operator.
    pub operators: Vec<OperatorReport>,
}

/// The guide's programs, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/compiler.md")]
struct Guide;

/// The program of the page for newcomers, compiled.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../../../docs/own-algorithm.md")]
struct OwnAlgorithm;

/// The program that `parton new` writes, compiled.
#[cfg(all(doctest, feature = "cli"))]
#[doc = concat!("```no_run\n", include_str!("cli/commands/new/main.rs.txt"), "\n```")]
struct NewCrate;

/// A graph that programs run on as they are.
impl<W: Weight> IntoInput for &Graph<W>
where
    Adjacency: From<Csr<W>>,
{
    fn into_input(self) -> Result<Input> {
        Ok(crate::graph::Graph::dense(self.csr().clone(), "a graph in memory").into())
    }
}

impl On {
    /// One host with this graph: a file, a generator such as `rmat:18`, or a graph in memory.
    pub fn new(input: impl IntoInput) -> Result<Self> {
        Ok(On {
            input: input.into_input()?,
            hosts: 1,
            threads: None,
            policy: None,
            engine: None,
            communication: Communication::default(),
            pacing: Pacing::default(),
            limits: Limits::default(),
            devices: DeviceList::default(),
        })
    }

    /// The number of hosts, all in this process. Default: 1.
    pub fn hosts(self, hosts: usize) -> Self {
        On { hosts, ..self }
    }

    /// The threads of each host. Default: its share of the cores.
    pub fn threads(self, threads: usize) -> Self {
        On { threads: NonZeroUsize::new(threads), ..self }
    }

    /// The [policy](crate::partition::policies) that cuts the graph.
    pub fn policy(self, name: impl Into<String>) -> Self {
        On { policy: Some(name.into()), ..self }
    }

    /// The [engine](crate::engine::engines), or `steps`. One that cannot run the program is an error.
    pub fn engine(self, name: impl Into<String>) -> Self {
        On { engine: Some(name.into()), ..self }
    }

    /// How much communication `steps` optimises.
    pub fn communication(self, communication: Communication) -> Self {
        On { communication, ..self }
    }

    /// What computes for each host. Default: threads of this process.
    pub fn devices(self, list: DeviceList) -> Self {
        On { devices: list, ..self }
    }

    /// When hosts wait for each other. Default: in every round.
    pub fn pace(self, pace: Pace) -> Self {
        On { pacing: pace.into(), ..self }
    }

    /// Stops after this many rounds, even if values are not final.
    pub fn max_rounds(self, rounds: u64) -> Self {
        On { limits: Limits { max_rounds: Some(rounds) }, ..self }
    }

    /// Takes every edge in both directions.
    pub fn undirected(self) -> Self {
        let input = self.input.fitted(Fit { undirected: true, ..Fit::AS_IT_IS });
        On { input, ..self }
    }
}

/// What one host does for a run.
type RunShare<'r> =
    &'r (dyn Fn(&HostShare<'_>, &mut Substrate<'_>) -> crate::sync::Result<Answered> + Sync);

impl Venue for On {
    type Error = Error;
    type Outcome<O> = ProgramOutcome<O>;

    fn run<P: Program>(&mut self, program: &P) -> Result<ProgramOutcome<P::Output>> {
        let (columns, outcome) =
            self.launch(&|share, substrate| share.run(program, substrate, &mut ()))?;
        let ProgramOutcome { output: (), engine, policy, report, operators } = outcome;
        Ok(ProgramOutcome { output: P::output(columns), engine, policy, report, operators })
    }
}

impl On {
    /// Runs a program on all hosts. Returns its columns in the order of vertices. Not generic: it is compiled once for
    /// all programs.
    fn launch(&self, run_share: RunShare<'_>) -> Result<(Vec<FieldValues>, ProgramOutcome<()>)> {
        let policy = self.policy.clone().unwrap_or_else(|| {
            choose_policy(self.hosts, Access::Sources, InputTraits::of(&self.input)).0.to_owned()
        });
        let plan = Plan::new(&policy);
        plan.check(self.hosts)?;
        self.devices.check(self.hosts).map_err(crate::algorithms::Error::Request)?;
        let all: Vec<usize> = (0..self.hosts).collect();
        let devices = self.devices.open(&all, &all, None)?;
        let devices = devices.single_steps(self.limits.max_rounds.is_some());
        let sharing = devices.hosts_that_need_threads(self.hosts);
        let threads = threads_per_host(self.threads, sharing);
        let mut cluster = Cluster::local(self.hosts).threads_per_host(threads);
        let hosts = cluster.launch(|net| {
            let partition = Partition::build(net, &self.input, &plan)?;
            let partition = partition_for(&devices.of_all_hosts(net)?, partition);
            let share = HostShare {
                engine: self.engine.as_deref(),
                communication: self.communication,
                pacing: self.pacing,
                limits: self.limits,
                delta: RelaxSetting::default().delta,
                sums_fit: false,
                device: devices.get(partition.host()).map(|gpu| gpu as &dyn Device),
            };
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let answered = run_share(&share, &mut substrate)?;
            Ok::<_, Error>((partition.globals()[..partition.num_masters()].to_vec(), answered))
        })?;
        Ok(gathered(hosts, policy))
    }
}

/// Puts the values of all hosts into the order of vertices.
fn gathered(
    hosts: Vec<(Vec<u32>, Answered)>,
    policy: String,
) -> (Vec<FieldValues>, ProgramOutcome<()>) {
    let vertices = hosts.iter().map(|(ids, _)| ids.len()).sum();
    let (engine, report) = (hosts[0].1.engine.name, hosts[0].1.report.clone());
    let operators = hosts[0].1.operators.clone();
    let mut columns: Vec<Vec<(Vec<u32>, FieldValues)>> = Vec::new();
    for (ids, answered) in hosts {
        columns.resize_with(answered.columns.len(), Vec::new);
        for (column, values) in columns.iter_mut().zip(answered.columns) {
            column.push((ids.clone(), values));
        }
    }
    let columns = columns.into_iter().map(|hosts| FieldValues::gathered(vertices, hosts));
    (columns.collect(), ProgramOutcome { output: (), engine, policy, report, operators })
}

/// Makes `main` of a compiled program: the whole command line of `parton`, with this program in place of
/// Parton's own algorithms.
///
/// ```no_run
/// # mod example {
/// use parton::program::*;
/// use parton::prelude::Root;
///
/// #[parton::program]
/// pub fn hops(graph: &Graph<()>, root: Vertex) -> Field<u32> {
///     let mut hops = graph.field(u32::MAX);
///     hops[root] = 0;
///     let mut work = Worklist::from([root]);
///     while let Some(v) = work.pop() {
///         for edge in graph.out_edges(v) {
///             if hops.lower(edge.target, hops[v] + 1) {
///                 work.push(edge.target);
///             }
///         }
///     }
///     hops
/// }
///
/// parton::main! {
///     /// The least number of edges from the root.
///     hops as "hops" -> ["hops"];
///     options {
///         /// Where the search starts.
///         root: Root = Root::MaxDegree;
///     }
/// }
/// # }
/// # fn main() {}
/// ```
#[cfg(feature = "cli")]
#[macro_export]
macro_rules! main {
    (
        #[doc = $about:literal]
        $program:ident as $name:literal -> [$($column:literal),+];
        options { $($options:tt)* }
    ) => {
        $crate::algorithms::compiled! {
            #[doc = $about]
            pub struct Own = $program as $name -> [$($column),+];
            options OwnOptions { $($options)* }
        }

        fn main() -> ::std::process::ExitCode {
            $crate::cli::main(&[&Own])
        }
    };
}
