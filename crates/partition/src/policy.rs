//! A policy answers two questions: which host masters a vertex, and which host gets an edge.
//!
//! The owner of an edge depends only on the masters of its ends and on the degree of its source. So a policy answers
//! for a whole row at a time, with a table that gives the owner by the destination's master.
//!
//! Everything else (local graphs, proxies, routes, what has to be communicated) is measured from
//! the answers, never declared: there is no "kind of cut" anywhere.

use parton_graph::hash::splitmix64;
use parton_graph::nearest::did_you_mean;
use parton_graph::rows::Rows;
use parton_graph::{LocalId, parallel};
use parton_net::{HostId, Net};

use crate::blocks::{Blocks, Costs};
use crate::directory::Directory;
use crate::{Error, Result};

/// Who owns what.
pub trait Policy: Send + Sync {
    /// How masters are found.
    fn masters(&self) -> &Masters;

    /// Where the edges of a source go that has this master and this many out-edges.
    fn row(&self, master: HostId, degree: usize) -> Row<'_>;

    /// What a user should know about how this policy turned out.
    fn note(&self) -> Option<String> {
        None
    }
}

/// Where the edges of one source go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// All to one host.
    Together(HostId),
    /// Each to the host that stands here at the place of its destination's master.
    ByDestination(&'a [HostId]),
}

/// The master of every vertex.
pub enum Masters {
    /// Contiguous blocks.
    Blocks(Blocks),
    /// By hash, in proportion to the hosts' shares: thresholds on the hash.
    Hashed(Vec<u64>),
    /// Looked up: every host knows the masters of the vertices that its rows name.
    Listed(Directory),
}

impl Masters {
    /// The master of a vertex that this host's rows name.
    #[inline]
    pub fn of(&self, vertex: u32) -> HostId {
        match self {
            Masters::Blocks(blocks) => blocks.owner(vertex),
            Masters::Hashed(thresholds) => {
                let hash = hash(vertex);
                HostId(thresholds.partition_point(|&threshold| threshold <= hash) as u16)
            }
            Masters::Listed(directory) => directory.known(vertex),
        }
    }

    /// The master of the first of these vertices, and of how many from the first on this is surely the master:
    /// of several only where hosts master blocks and the vertices ascend.
    #[inline]
    pub(crate) fn of_first(&self, vertices: &[LocalId]) -> (HostId, usize) {
        let master = self.of(vertices[0].0);
        let Masters::Blocks(blocks) = self else { return (master, 1) };
        let block = blocks.of(master);
        (master, vertices.iter().take_while(|vertex| block.contains(&vertex.0)).count())
    }

    /// Hashed masters in proportion to `shares`.
    pub(crate) fn hashed(shares: &[f64]) -> Self {
        let whole: f64 = shares.iter().sum();
        let mut reached = 0.0;
        let thresholds = shares[..shares.len() - 1].iter().map(|share| {
            reached += share;
            ((reached / whole) * u64::MAX as f64) as u64
        });
        Masters::Hashed(thresholds.collect())
    }

    /// The masters of any vertices, in ascending order. Every host must call this.
    pub(crate) fn resolve(&self, net: &mut Net, vertices: &[u32]) -> Result<Vec<HostId>> {
        match self {
            Masters::Listed(directory) => directory.look_up(net, vertices),
            _ => Ok(parallel::generate(vertices.len(), |at| self.of(vertices[at]))),
        }
    }

    /// The vertices this host masters, ascending. Every host must call this.
    pub(crate) fn mine(&self, net: &mut Net, readers: &Blocks) -> Result<Vec<u32>> {
        let host = net.host();
        match self {
            Masters::Blocks(blocks) => {
                let mine = blocks.of(host);
                Ok(parallel::generate(mine.len(), |place| mine.start + place as u32))
            }
            // Who reads a vertex's row tells its master of it.
            Masters::Hashed(_) => {
                let all = readers.of(host).map(|v| (v, self.of(v)));
                tell_masters(net, all)
            }
            Masters::Listed(directory) => tell_masters(net, directory.block()),
        }
    }
}

/// Sends every vertex to its master; what came back, ascending.
fn tell_masters(net: &mut Net, all: impl Iterator<Item = (u32, HostId)>) -> Result<Vec<u32>> {
    let mut lists = vec![Vec::new(); net.num_hosts()];
    for (vertex, master) in all {
        lists[master.index()].extend_from_slice(&vertex.to_le_bytes());
    }
    // Readers' blocks ascend with the hosts, so their lists do, one after the other.
    let lists = net.all_to_all(lists)?;
    Ok(lists.iter().flat_map(|list| bytemuck::pod_collect_to_vec::<u8, u32>(list)).collect())
}

/// A well-mixed function of a vertex, the same on every machine.
fn hash(vertex: u32) -> u64 {
    splitmix64(u64::from(vertex))
}

/// What a policy may look at while it is being made. All hosts make it together.
pub struct Setup<'a> {
    /// To the other hosts.
    pub net: &'a mut Net,
    /// The rows this host reads.
    pub rows: &'a Rows,
    /// Whether they are those of in-edges.
    pub turned: bool,
    /// The same vertices' in-edges, if they are at hand, on all hosts.
    pub in_rows: Option<&'a Rows>,
    /// Who reads which rows.
    pub readers: &'a Blocks,
    /// How much of the graph each host should get, relative to the others.
    pub shares: &'a [f64],
    /// Number of edges of the whole graph.
    pub num_edges: u64,
    /// Out-degree from which a vertex counts as large.
    pub threshold: usize,
    /// What follows the colon of the policy's name.
    pub argument: Option<&'a str>,
}

impl Setup<'_> {
    /// Number of vertices of the whole graph.
    pub fn num_vertices(&self) -> u32 {
        self.readers.num_vertices()
    }

    /// Blocks in proportion to the shares, balanced by out-edges; a vertex itself costs little.
    pub fn blocks_by_out_edges(&mut self) -> Result<Blocks> {
        self.blocks_by(&[Costs::Vertices(self.rows), Costs::Rows(self.rows)])
    }

    /// Blocks in proportion to the shares, balanced by in-edges; a vertex itself costs little.
    pub fn blocks_by_in_edges(&mut self) -> Result<Blocks> {
        let edges = if self.turned { Costs::Rows(self.rows) } else { Costs::Ends(self.rows) };
        self.blocks_by(&[Costs::Vertices(self.rows), edges])
    }

    /// Blocks in proportion to the shares, balanced by edges of either kind; a vertex itself costs
    /// little.
    pub fn blocks_by_all_edges(&mut self) -> Result<Blocks> {
        let in_edges = self.in_rows.map_or(Costs::Ends(self.rows), Costs::Rows);
        self.blocks_by(&[Costs::Vertices(self.rows), Costs::Rows(self.rows), in_edges])
    }

    fn blocks_by(&mut self, costs: &[Costs<'_>]) -> Result<Blocks> {
        Blocks::balanced(self.net, self.readers.num_vertices(), self.shares, costs)
    }
}

/// Which rows a policy has use for, where an input has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Those of out-edges.
    OutEdges,
    /// Those of in-edges, as edges live with their destination; of out-edges where there are no others.
    InEdges,
    /// Both, as all in-edges of a vertex live with its master, beside those that are there anyway.
    Both,
}

/// One kind of policy, as the command lists it.
pub struct PolicyKind {
    /// Its name; a policy with an argument is `name:ARGUMENT`.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// What the argument is, where there is one.
    pub argument: Option<&'static str>,
    /// Which rows it has use for.
    pub reads: Reads,
    /// Makes it, on all hosts together.
    pub build: fn(&mut Setup<'_>) -> Result<Box<dyn Policy>>,
}

/// Finds the kind of a policy by its name, and its argument.
pub fn find(name: &str) -> Result<(&'static PolicyKind, Option<&str>)> {
    let (word, argument) = match name.split_once(':') {
        Some((word, argument)) => (word, Some(argument)),
        None => (name, None),
    };
    let kind = crate::policies::ALL.iter().find(|kind| kind.name == word).ok_or_else(|| {
        let known: Vec<_> = crate::policies::ALL.iter().map(PolicyKind::usage).collect();
        let names = crate::policies::ALL.iter().map(|kind| kind.name);
        let meant = did_you_mean(word, names);
        Error::request(format!("unknown policy '{name}'{meant}; known: {}", known.join(", ")))
    })?;
    match (kind.argument, argument) {
        (Some(_), Some(argument)) if !argument.is_empty() => Ok((kind, Some(argument))),
        (None, None) => Ok((kind, None)),
        _ => Err(Error::request(format!("policy '{name}': expected {}", kind.usage()))),
    }
}

impl PolicyKind {
    /// How the policy is written.
    pub fn usage(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}:{argument}", self.name),
            None => self.name.into(),
        }
    }
}
