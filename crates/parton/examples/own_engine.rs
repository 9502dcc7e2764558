//! Your own engine on many hosts: shortest paths on petgraph, a library that knows of no hosts.
//!
//! Inside a host all is petgraph's and this file's own. `docs/own-engine.md` explains the steps.

use std::ops::Range;

use parton::graph::{GlobalId, LocalId, Weight, with_csr};
use parton::net::{Cluster, Net};
use parton::partition::{End, Input, Partition, Plan};
use parton::sync::{Absorb, Delivery, Extracted, Field, Optimize, Phase, Places, Staging};
use parton::sync::{Result as SyncResult, Route, Shape, Substrate, ValueKind, Which};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// The engine's own arrays, indexed like petgraph's nodes.
struct Distances {
    /// `u32::MAX` is out of reach.
    of: Vec<u32>,
    /// The values that other hosts do not have yet.
    updated: Vec<bool>,
    /// Whose edges have to be looked at.
    work: Vec<NodeIndex>,
}

impl Distances {
    fn improve(&mut self, place: usize, distance: u32) -> bool {
        let better = distance < self.of[place];
        if better {
            self.of[place] = distance;
            self.work.push(NodeIndex::new(place));
        }
        better
    }

    /// The loop over petgraph's edges. Nothing in it knows of hosts.
    fn relax(&mut self, graph: &DiGraph<(), u32>) {
        while let Some(node) = self.work.pop() {
            for edge in graph.edges(node) {
                let distance = self.of[node.index()].saturating_add(*edge.weight());
                let target = edge.target().index();
                self.updated[target] |= self.improve(target, distance);
            }
        }
    }
}

/// Step 1: say how values leave the arrays and how they come in, a whole route at a time.
impl Field for Distances {
    fn shape(&self) -> Shape {
        Shape::new(ValueKind::U32, Delivery::Label)
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> SyncResult<Extracted<'f>> {
        let is_updated = |place: &u32| self.updated[route.local(*place).index()];
        let places = match which {
            Which::Updated => {
                staging.places.extend((0..route.len() as u32).filter(is_updated));
                Places::Some(&staging.places)
            }
            Which::At(places) => places,
        };
        let distances = route.locals(places).map(|proxy| self.of[proxy.index()]);
        staging.values.extend(distances.flat_map(u32::to_ne_bytes));
        Ok(staging.extracted())
    }

    fn reset(&mut self, _: Phase, _: End, proxies: &[Range<u32>]) -> SyncResult<()> {
        for range in proxies {
            self.updated[range.start as usize..range.end as usize].fill(false);
        }
        Ok(())
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> SyncResult<()> {
        for (proxy, value) in route.locals(places).zip(values.as_chunks().0) {
            let better = self.improve(proxy.index(), u32::from_ne_bytes(*value));
            // A master that changed has to tell its mirrors; a mirror must not answer its master.
            self.updated[proxy.index()] |= better && how == Absorb::FoldAtMasters;
        }
        Ok(())
    }
}

/// Distances of this host's masters from the root. Every host must call this.
pub(crate) fn search(net: &mut Net, part: &Partition, root: GlobalId) -> Result<Vec<u32>, Error> {
    // Step 2: this host's part of the graph as petgraph's, local ids as its node indices.
    let proxies = part.num_proxies();
    let edges = with_csr!(part.out_edges(), csr => csr.vertices().flat_map(|source| {
        csr.edges(source).map(move |(end, weight)| (source.0, end.0, weight.to_f64() as u32))
    }).collect::<Vec<_>>());
    let mut graph = DiGraph::<(), u32>::from_edges(edges);
    (graph.node_count()..proxies).for_each(|_| _ = graph.add_node(()));
    let (of, updated) = (vec![u32::MAX; proxies], vec![false; proxies]);
    let mut distances = Distances { of, updated, work: Vec::new() };
    // Every proxy of the root starts at 0, so there is nothing to tell yet.
    if let Some(root) = (0..proxies).find(|&p| part.global(LocalId(p as u32)) == root) {
        distances.improve(root, 0);
    }
    let mut substrate = Substrate::new(part, net, Optimize::ALL);
    loop {
        distances.relax(&graph);
        // Step 3: distances were written where edges end and are read where edges start.
        substrate.sync(&mut distances, End::Destination, End::Source)?;
        // Step 4: stop together, when no host has work.
        let busy = u64::from(!distances.work.is_empty());
        if substrate.net().all_reduce(busy, u64::max)? == 0 {
            return Ok(distances.of[..part.num_masters()].to_vec());
        }
    }
}

fn main() -> Result<(), Error> {
    let input = Input::open(&std::env::args().nth(1).unwrap_or("rmat:16".into()))?;
    let launched = Cluster::local(4).launch(|net| {
        let part = Partition::build(net, &input, &Plan::new("cvc"))?;
        search(net, &part, GlobalId(0))
    });
    let hosts = launched.map_err(|failed| failed.to_string())?;
    let reached = hosts.concat().iter().filter(|&&distance| distance < u32::MAX).count();
    println!("{} hosts reach {reached} of {} vertices", hosts.len(), hosts.concat().len());
    Ok(())
}
