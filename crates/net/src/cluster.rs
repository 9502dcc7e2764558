//! Where hosts run. The same closure runs on any cluster: threads of this process, or the same
//! threads under a simulated network.

use std::num::NonZero;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::host::{HostId, MAX_HOSTS};
use crate::launch::{LaunchError, run};
use crate::net::{DEFAULT_PATIENCE, Net};
use crate::pin;
use crate::transports::local::Hub;
use crate::transports::sim::{SimOptions, SimReport, World};

/// A number of hosts and the way they are connected.
///
/// Its threads are started by the first launch and serve all later ones.
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

    /// Threads of each host, at least 1. Unless told otherwise, the machine's cores are shared out
    /// evenly. A simulated host has one thread whatever is asked for: two could not be replayed.
    pub fn threads_per_host(mut self, threads: usize) -> Self {
        self.threads_per_host = Some(threads);
        self.pools.clear();
        self
    }

    /// Keeps every thread on a core of its own, if there are exactly as many threads as cores that
    /// this process may use. Only for whoever has the machine to themselves.
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self.pools.clear();
        self
    }

    /// How long hosts wait for a silent peer; see [`Net::set_patience`].
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

    /// What the last launch on a simulated cluster did.
    pub fn sim_report(&self) -> Option<&SimReport> {
        self.sim_report.as_ref()
    }

    /// Runs the closure on every host and returns what they return, in host order.
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
            Kind::Local => run(&Hub::new(self.hosts), &self.pools, None, self.patience, closure),
            Kind::Sim(options) => {
                let (world, seed) = (World::new(self.hosts, options), Some(options.seed));
                let results = run(&world, &self.pools, seed, self.patience, closure);
                self.sim_report = Some(world.report());
                results
            }
        }
    }

    fn start_threads<E>(&mut self) -> Result<(), LaunchError<E>> {
        let threads = match (&self.kind, self.threads_per_host) {
            (Kind::Sim(_), _) => 1,
            (Kind::Local, Some(threads)) => threads.max(1),
            (Kind::Local, None) => {
                let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
                (cores / self.hosts).max(1)
            }
        };
        let cores = if self.pinned { pin::cores() } else { Vec::new() };
        for host in HostId::all(self.hosts).skip(self.pools.len()) {
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
