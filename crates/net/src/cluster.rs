//! Where hosts run. The same closure runs on any cluster: threads of this process, the same threads
//! under a simulated network, or the processes that an MPI launcher started.

use std::num::NonZero;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::host::{HostId, MAX_HOSTS};
use crate::launch::{LaunchError, run};
use crate::net::{DEFAULT_PATIENCE, Net};
use crate::pin;
use crate::transports::local::Hub;
use crate::transports::mpi::{Launcher, Loss, Placement, Ranks, StartError};
use crate::transports::sim::{SimOptions, SimReport, World};

/// How long ranks wait for each other when they have just started.
const MEETING_PATIENCE: Duration = Duration::from_secs(300);

/// A number of hosts and the way they are connected.
///
/// Its threads are started by the first launch and serve all later ones.
///
/// ```
/// use parton_net::{Cluster, Error};
///
/// // Four hosts count to ten together.
/// let sums = Cluster::local(4)
///     .threads_per_host(1)
///     .launch(|net| net.all_reduce(net.host().index() as u64 + 1, |a, b| a + b))?;
/// assert_eq!(sums, [10; 4]);
/// # Ok::<(), parton_net::LaunchError<Error>>(())
/// ```
pub struct Cluster {
    hosts: usize,
    kind: Kind,
    threads_per_host: Option<usize>,
    pinned: bool,
    patience: Duration,
    /// One thread pool for each host, once they are needed.
    pools: Vec<ThreadPool>,
    sim_report: Option<SimReport>,
}

enum Kind {
    Local,
    Sim(SimOptions),
    Mpi(Ranks, Placement),
}

impl Cluster {
    /// Hosts that are thread groups of this process.
    pub fn local(hosts: usize) -> Self {
        Cluster::new(hosts, Kind::Local)
    }

    /// Hosts under a simulated network, one thread each: one seed is one schedule.
    pub fn sim(hosts: usize, seed: u64) -> Self {
        Cluster::sim_with(hosts, SimOptions { seed, ..SimOptions::default() })
    }

    /// Hosts under a simulated network with faults, a trace, or a step limit of its own.
    pub fn sim_with(hosts: usize, options: SimOptions) -> Self {
        Cluster::new(hosts, Kind::Sim(options))
    }

    /// Hosts that are the processes of a launcher such as `mpirun` or `srun`, of which this is one.
    ///
    /// Every process must make the same launches. A launch returns what the host of this process
    /// returns, when all hosts have returned. `on_loss` is called for each process that is gone for
    /// good, or hangs, also while this host computes; hosts that wait for it fail.
    ///
    /// MPI ends when the cluster is dropped. A process can start it once.
    pub fn mpi(
        launcher: &Launcher,
        on_loss: impl Fn(Loss) + Send + 'static,
    ) -> Result<Self, StartError> {
        let ranks = Ranks::start(launcher, on_loss)?;
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| StartError::Meeting(error.to_string()))?;
        let meet = |net: &mut Net| net.all_gather(ranks.card());
        let cards = run(&ranks, ranks.host(), &[pool], None, MEETING_PATIENCE, meet);
        let cards = cards.map_err(|error| StartError::Meeting(error.to_string()))?.swap_remove(0);
        let placement = ranks.meet(&cards);
        Ok(Cluster::new(ranks.hosts(), Kind::Mpi(ranks, placement)))
    }

    fn new(hosts: usize, kind: Kind) -> Self {
        let (pools, patience) = (Vec::new(), DEFAULT_PATIENCE);
        Cluster {
            hosts,
            kind,
            threads_per_host: None,
            pinned: false,
            patience,
            pools,
            sim_report: None,
        }
    }

    /// Threads of each host, at least 1. By default the machine's cores are shared out
    /// evenly. A simulated host always has one thread: two could not be replayed.
    pub fn threads_per_host(mut self, threads: usize) -> Self {
        self.set_threads_per_host(threads);
        self
    }

    /// Changes the threads of each host from the next launch on.
    pub fn set_threads_per_host(&mut self, threads: usize) {
        if self.threads_per_host.replace(threads) != Some(threads) {
            self.pools.clear();
        }
    }

    /// Keeps every thread on a core of its own, if there are exactly as many threads as cores that
    /// this process may use. Only useful if no other program needs the cores.
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self.pools.clear();
        self
    }

    /// How long hosts wait for a silent peer, 60 s by default; see [`Net::set_patience`]. A host of
    /// this process that computes is waited for as long as it takes.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Number of hosts.
    pub fn num_hosts(&self) -> usize {
        self.hosts
    }

    /// Changes the seed of a simulated cluster and keeps its threads, which makes a search through
    /// many seeds several times as fast. Other clusters have no seed to change.
    pub fn set_seed(&mut self, seed: u64) {
        if let Kind::Sim(options) = &mut self.kind {
            options.seed = seed;
        }
    }

    /// The first of the hosts that this process runs.
    pub fn first_host(&self) -> HostId {
        if let Kind::Mpi(ranks, _) = &self.kind { ranks.host() } else { HostId(0) }
    }

    /// Where this process runs and beside whom, if hosts are processes.
    pub fn placement(&self) -> Option<&Placement> {
        if let Kind::Mpi(_, placement) = &self.kind { Some(placement) } else { None }
    }

    /// What the last launch on a simulated cluster did.
    pub fn sim_report(&self) -> Option<&SimReport> {
        self.sim_report.as_ref()
    }

    /// Runs the closure on every host and returns what the hosts of this process return, in host
    /// order.
    ///
    /// Inside, rayon uses that host's threads only. If hosts fail, the error is that of the first
    /// one: the others fail because they miss it. A panic counts as a failure.
    pub fn launch<R, E, F>(&mut self, closure: F) -> Result<Vec<R>, LaunchError<E>>
    where
        R: Send,
        E: Send,
        F: Fn(&mut Net) -> Result<R, E> + Sync,
    {
        if self.hosts == 0 || self.hosts > MAX_HOSTS {
            return Err(LaunchError::Hosts { asked: self.hosts });
        }
        self.start_threads()?;
        match &self.kind {
            Kind::Local => {
                let hub = Hub::new(self.hosts);
                run(&hub, HostId(0), &self.pools, None, self.patience, closure)
            }
            Kind::Mpi(ranks, _) => {
                run(ranks, ranks.host(), &self.pools, None, self.patience, closure)
            }
            Kind::Sim(options) => {
                let (world, seed) = (World::new(self.hosts, options), Some(options.seed));
                let results = run(&world, HostId(0), &self.pools, seed, self.patience, closure);
                self.sim_report = Some(world.report());
                results
            }
        }
    }

    fn start_threads<E>(&mut self) -> Result<(), LaunchError<E>> {
        let threads = match (&self.kind, self.threads_per_host) {
            (Kind::Sim(_), _) => 1,
            (_, Some(threads)) => threads.max(1),
            (Kind::Mpi(_, placement), None) => placement.threads,
            (Kind::Local, None) => {
                let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
                (cores / self.hosts).max(1)
            }
        };
        let cores = if self.pinned { pin::cores_by_domain() } else { Vec::new() };
        let mut here = 0..self.hosts;
        if let Kind::Mpi(ranks, placement) = &self.kind {
            ranks.set_roomy(placement.local_ranks * threads <= placement.cores);
            here = ranks.host().index()..ranks.host().index() + 1;
        }
        for host in here.skip(self.pools.len()).map(|number| HostId(number as u16)) {
            let named = move |thread| format!("host {host}, thread {thread}");
            let mut pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(named);
            if cores.len() == self.hosts * threads {
                let mine = cores[host.index() * threads..][..threads].to_vec();
                pool = pool.start_handler(move |thread| pin::stay_on(mine[thread]));
            }
            let start = |source| LaunchError::Start { host, threads, source };
            self.pools.push(pool.build().map_err(start)?);
        }
        Ok(())
    }
}
