//! One host's part of a graph.

use std::collections::HashMap;

use parton_graph::parallel;
use parton_graph::progress::{Progress, Silent, Unit};
use parton_graph::row_blocks::StoredBlock;
use parton_graph::{Adjacency, Buffer, Error as GraphError, GlobalId, LocalId, OriginalId};
use parton_net::{HostId, Net};

use crate::dictionary::Originals;
use crate::edge_set::{Coverage, EdgeSet};
use crate::id_set::{IdSet, NumberedIds};
use crate::in_edges::InEdges;
use crate::input::{Input, InputShare};
use crate::layout::{MasterParts, lay_out};
use crate::local_edges::local_edges;
use crate::policy::{self, Reads, Setup};
use crate::routes::{End, Routes};
use crate::shuffle::shuffle;
use crate::{Error, Result};

/// How to partition a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the policy, with its argument: `oec`, `file:PATH`.
    pub policy: String,
    /// How much each host should get, relative to the others; `None`: all the same.
    pub host_weights: Option<Vec<f64>>,
    /// Out-degree above which hybrid cuts spread a vertex's edges.
    pub threshold: usize,
    /// How a host's masters are numbered.
    pub order: Order,
}

/// How a host numbers its masters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are in the graph. A host that is alone then takes the graph as it is.
    #[default]
    Original,
    /// Those with most edges on this host first: what is looked at most often lies together.
    Degree,
}

impl Plan {
    /// Out-degree above which a vertex counts as large, as in Gluon's hybrid cut.
    pub const THRESHOLD: usize = 1000;

    /// A policy with everything else as usual.
    pub fn new(policy: impl Into<String>) -> Self {
        Plan {
            policy: policy.into(),
            host_weights: None,
            threshold: Self::THRESHOLD,
            order: Order::Original,
        }
    }

    /// Fails if this plan does not fit the number of hosts; needs no input.
    pub fn check(&self, hosts: usize) -> Result<()> {
        policy::find(&self.policy)?;
        self.shares(hosts).map(drop)
    }

    /// What each of `hosts` hosts should get.
    fn shares(&self, hosts: usize) -> Result<Vec<f64>> {
        let Some(weights) = &self.host_weights else { return Ok(vec![1.0; hosts]) };
        if weights.len() != hosts {
            return Err(Error::request(format!(
                "{} host weights for {hosts} hosts: give one each",
                weights.len()
            )));
        }
        match weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
            Some(weight) => {
                Err(Error::request(format!("host weight {weight}: expected a positive number")))
            }
            None => Ok(weights.clone()),
        }
    }
}

/// One host's part of a graph: its vertices, its edges between local ids, and its routes.
pub struct Partition {
    pub(crate) host: HostId,
    pub(crate) num_vertices: u64,
    pub(crate) num_edges: u64,
    pub(crate) masters: MasterParts,
    /// Global id of every local id.
    pub(crate) globals: Buffer<u32>,
    pub(crate) edges: EdgeSet,
    pub(crate) routes: Vec<Routes>,
    pub(crate) originals: Originals,
    /// Whether there are known to be no self-loops and no parallel edges.
    pub(crate) simple: bool,
    /// What was changed to fit.
    pub(crate) changes: Vec<String>,
    pub(crate) note: Option<String>,
    /// Most bytes held at once while this was built.
    pub(crate) peak_bytes: u64,
}

impl Partition {
    /// Partitions `input` as `plan` says. Every host must call this with the same arguments.
    ///
    /// ```
    /// use parton_net::Cluster;
    /// use parton_partition::{Error, Input, Partition, Plan};
    ///
    /// let input = Input::open("grid:30x20")?;
    /// let masters = Cluster::local(4).launch(|net| {
    ///     let partition = Partition::build(net, &input, &Plan::new("cvc"))?;
    ///     Ok::<_, Error>(partition.num_masters())
    /// });
    /// // Every vertex has one master.
    /// assert_eq!(masters.unwrap().iter().sum::<usize>(), 600);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn build(net: &mut Net, input: &Input, plan: &Plan) -> Result<Self> {
        Self::build_watched(net, input, plan, &Silent)
    }

    /// [`Partition::build`], with the progress of this host: it reads, then it partitions.
    pub fn build_watched(
        net: &mut Net,
        input: &Input,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let (kind, argument) = policy::find(&plan.policy)?;
        let shares = plan.shares(net.num_hosts())?;
        let reads = if net.num_hosts() > 1 { kind.reads } else { Reads::OutEdges };
        let share = input.share(net, reads, progress)?;
        progress.stage("partitioning", Unit::Bytes, None);
        if net.num_hosts() == 1 && plan.order == Order::Original && argument.is_none() {
            return Self::whole(net, input, share);
        }
        let InputShare { rows, turned, in_rows, readers, .. } = share;
        let num_edges = net.all_reduce(rows.adjacency.num_edges(), |a, b| a + b)?;
        // A host that changed its rows has no in-edges to match: in-edges count only if all hosts have theirs.
        let all_have = net.all_reduce(u64::from(in_rows.is_some()), |a, b| a & b)? == 1;
        let in_rows = in_rows.filter(|_| all_have);
        let policy = (kind.build)(&mut Setup {
            net,
            rows: &rows,
            turned,
            in_rows: in_rows.as_ref(),
            readers: &readers,
            shares: &shares,
            num_edges,
            threshold: plan.threshold,
            argument,
        })?;
        let (weight_kind, row_bytes) = (rows.adjacency.weight_kind(), rows.adjacency.bytes());
        let in_edges = match reads {
            Reads::Both => {
                Some(InEdges::gather(net, &rows, in_rows, share.is_symmetric, &*policy)?)
            }
            Reads::OutEdges | Reads::InEdges => None,
        };
        let received = shuffle(net, rows, &*policy)?;
        progress.advance(received.bytes());
        let masters = policy.masters();
        let mine = masters.mine(net, &readers)?;
        let edges = (&received, turned, in_edges.as_ref());
        let layout = lay_out(net, edges, masters, &mine, readers.num_vertices(), plan.order)?;
        let mine = &layout.globals[..layout.masters.all as usize];
        let originals = input.originals(net, &share.ids, mine)?;
        let own = local_edges(&received, &layout, weight_kind);
        let own = EdgeSet::by_source(own, net.num_hosts());
        let mut edges = if turned { own.turned() } else { own };
        if let Some(in_edges) = &in_edges {
            edges = edges.with_in_edges_of_masters(in_edges.local(&layout, weight_kind));
        }
        edges.is_symmetric = share.is_symmetric;
        let mut partition = Partition {
            host: net.host(),
            num_vertices: u64::from(readers.num_vertices()),
            num_edges,
            originals,
            simple: share.is_simple,
            changes: share.changes,
            masters: layout.masters,
            peak_bytes: 0,
            note: policy.note(),
            edges,
            routes: Vec::new(),
            globals: Vec::new().into(),
        };
        let in_bytes = in_edges.as_ref().map_or(0, InEdges::bytes);
        let building = received.bytes() + in_bytes + layout.transient_bytes();
        partition.routes = layout.routes;
        partition.globals = layout.globals.into();
        let routing = received.moved_bytes() + row_bytes;
        partition.peak_bytes = (partition.bytes() + building).max(routing).max(share.peak_bytes);
        Ok(partition)
    }

    /// The part of a host that is alone: the graph as it is, where it is.
    fn whole(net: &mut Net, input: &Input, share: InputShare) -> Result<Self> {
        let vertices = share.readers.num_vertices();
        let globals = parallel::generate(vertices as usize, |vertex| vertex as u32);
        let originals = input.originals(net, &share.ids, &globals)?;
        let sizes = (u64::from(vertices), share.rows.adjacency.num_edges());
        let in_edges = share.in_rows.map(|rows| rows.adjacency);
        let mut edges = EdgeSet::by_source(share.rows.adjacency, 1).with_in_edges(in_edges);
        edges.is_symmetric = share.is_symmetric;
        edges.row_blocks = share.row_blocks;
        let masters = MasterParts::unsorted(vertices);
        let routes = vec![Routes::default()];
        let mut partition =
            Self::from_parts(net.host(), sizes, masters, globals, edges, routes, originals);
        partition.simple = share.is_simple;
        partition.changes = share.changes;
        partition.peak_bytes = partition.bytes().max(share.peak_bytes);
        Ok(partition)
    }

    pub(crate) fn from_parts(
        host: HostId,
        sizes: (u64, u64),
        masters: MasterParts,
        globals: Vec<u32>,
        edges: EdgeSet,
        routes: Vec<Routes>,
        originals: Originals,
    ) -> Self {
        Partition {
            host,
            num_vertices: sizes.0,
            num_edges: sizes.1,
            masters,
            globals: globals.into(),
            edges,
            routes,
            originals,
            simple: false,
            changes: Vec::new(),
            note: None,
            peak_bytes: 0,
        }
    }

    /// Whose part this is.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Number of hosts.
    pub fn num_hosts(&self) -> usize {
        self.routes.len()
    }

    /// Number of vertices of the whole graph.
    pub fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    /// Number of edges of the whole graph.
    pub fn num_edges(&self) -> u64 {
        self.num_edges
    }

    /// Number of vertices of this host, masters and mirrors: local ids are below it.
    pub fn num_proxies(&self) -> usize {
        self.globals.len()
    }

    /// Number of vertices this host masters: their local ids come first.
    pub fn num_masters(&self) -> usize {
        self.masters.all as usize
    }

    /// How the masters are used anywhere: ends of ranges of local ids.
    pub fn master_parts(&self) -> MasterParts {
        self.masters
    }

    /// The vertices of the whole graph that local ids stand for.
    pub fn globals(&self) -> &[u32] {
        &self.globals
    }

    /// The vertex of the whole graph that a local id stands for.
    pub fn global(&self, local: LocalId) -> GlobalId {
        GlobalId(u64::from(self.globals[local.index()]))
    }

    /// The way back from global ids to local ones. No run needs it: routes are agreed once. It
    /// takes a hash table of all proxies, for measuring what that saves.
    pub fn translation(&self) -> Translation {
        let locals = self.globals.iter().zip(0..).map(|(&global, local)| (global, LocalId(local)));
        Translation { locals: locals.collect() }
    }

    /// The way back from global ids to local ones, for what travels by global ids because it is no
    /// value of a proxy. Memory follows this host's proxies.
    pub fn finder(&self) -> Finder {
        let known = IdSet::new(self.num_vertices as u32);
        known.extend(&self.globals);
        Finder { locals: known.ranked().numbered_by(&self.globals, 0..0) }
    }

    /// What users call a vertex that this host masters.
    ///
    /// # Panics
    /// When `master` is a mirror.
    pub fn original(&self, master: LocalId) -> OriginalId<'_> {
        assert!(master.0 < self.masters.all, "local id {master} is a mirror");
        self.originals.get(master.index(), self.global(master).0)
    }

    /// This host's edges, between local ids, by whichever end needs no work.
    pub fn edges(&self) -> &Adjacency {
        self.edges.any()
    }

    /// This host's out-edges. The first call makes them unless they are at hand.
    pub fn out_edges(&self) -> &Adjacency {
        self.edges.out_edges()
    }

    /// This host's out-edges, if they need not be made.
    pub fn out_edges_at_hand(&self) -> Option<&Adjacency> {
        self.edges.out_edges_at_hand()
    }

    /// This host's in-edges. The first call makes them unless they are at hand.
    pub fn in_edges(&self) -> &Adjacency {
        self.edges.in_edges()
    }

    /// This host's in-edges, if they need not be made.
    pub fn in_edges_at_hand(&self) -> Option<&Adjacency> {
        self.edges.in_edges_at_hand()
    }

    /// This host's in-edges in row blocks, if they need not be sorted. The first call looks at all of them: an error
    /// says that they are not the edges of the graph.
    pub fn row_blocks(&self) -> Result<Option<Vec<StoredBlock<'_>>>, GraphError> {
        self.edges.row_blocks.as_ref().map(|blocks| blocks.of_edges(self.out_edges())).transpose()
    }

    /// All in-edges of this host's masters, if the policy keeps them beside the host's own edges. Then
    /// all out-edges of masters are here, too, and mirrors have no rows.
    pub fn in_edges_of_masters(&self) -> Option<&Adjacency> {
        self.edges.in_edges_of_masters()
    }

    /// This part in a run in which some host computes on a device. Engines then exchange only what devices
    /// exchange, too, and in-edges of masters are given up. Either all hosts of a run call this, or none.
    pub fn beside_devices(self) -> Self {
        Partition { edges: self.edges.beside_devices(), ..self }
    }

    /// Whether some host of the run computes on a device.
    pub fn is_beside_devices(&self) -> bool {
        self.edges.is_beside_devices()
    }

    /// From which ends hosts see an edge, without turning edges around.
    pub fn coverage(&self) -> Coverage {
        self.edges.coverage()
    }

    /// Whether this host shares proxies at such an end of edges: if not, it neither sends nor receives
    /// what is written there.
    pub fn shares_proxies_at(&self, end: End) -> bool {
        self.routes
            .iter()
            .any(|routes| !(routes.mirrors(end).is_empty() && routes.masters(end).is_empty()))
    }

    /// What this host shares with another.
    pub fn routes(&self, peer: HostId) -> &Routes {
        &self.routes[peer.index()]
    }

    /// Whether every edge is known to be there in both directions.
    pub fn is_symmetric(&self) -> bool {
        self.edges.is_symmetric
    }

    /// Whether there are known to be no self-loops and no parallel edges.
    pub fn is_simple(&self) -> bool {
        self.simple
    }

    /// What was changed in the input to make it [fit](crate::Fit), in words. Nothing is known of
    /// what was saved.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }

    /// What a user should know about how the policy turned out.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Bytes of everything kept.
    pub fn bytes(&self) -> u64 {
        let routes: usize = self.routes.iter().map(|r| 4 * r.masters.len()).sum();
        self.edges.bytes() + (4 * self.globals.len() + routes) as u64
    }

    /// Most bytes held at once while this was built.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }
}

/// Which proxy of a host stands for a vertex, found with a look or two.
pub struct Finder {
    locals: NumberedIds,
}

impl Finder {
    /// The proxy of a vertex, if there is one here.
    #[inline]
    pub fn local(&self, global: u32) -> Option<LocalId> {
        self.locals.find(global).map(LocalId)
    }
}

/// Which proxy of a host stands for a vertex.
pub struct Translation {
    locals: HashMap<u32, LocalId>,
}

impl Translation {
    /// The proxy of a vertex, if there is one here.
    pub fn local(&self, global: u32) -> Option<LocalId> {
        self.locals.get(&global).copied()
    }
}
