//! Regular vertices, sources, sinks and isolated vertices, along the edges that messages take.

use parton_graph::{LocalId, VertexSet, Weight, parallel};
use parton_partition::{End, Partition};
use parton_sync::reduction::Max;
use parton_sync::{CpuField, Delivery, Result, Substrate};

use crate::program::Edges;
use crate::program::filtering::{Filter, LeftOut};
use crate::state::degrees::{in_degrees_here, out_degrees_here};
use crate::state::directions::Directions;

/// A vertex's class as it travels.
const REGULAR: u32 = 0;
const SOURCE: u32 = 1;
const SINK: u32 = 2;
const ISOLATED: u32 = 3;

/// The classes of a host's proxies.
pub(super) struct Classes {
    /// Proxies of vertices without in-edges anywhere.
    pub(super) sources: VertexSet,
    /// Proxies of vertices without out-edges anywhere.
    pub(super) sinks: VertexSet,
    /// Masters with both.
    pub(super) regular: VertexSet,
    /// Numbers in the whole graph.
    pub(super) left_out: LeftOut,
}

impl Classes {
    /// Finds the classes of all proxies: masters know them and send them to their mirrors once. Every host must call this.
    pub(super) fn find(substrate: &mut Substrate<'_>, edges: Edges) -> Result<Self> {
        let partition = substrate.partition();
        let proxies = partition.num_proxies();
        let of_master = classes_of_masters(partition, edges);
        let mut classes = CpuField::<Max<u32>>::new(proxies, Delivery::Label, |proxy| {
            of_master.get(proxy.index()).copied().unwrap_or(REGULAR)
        });
        for (master, &class) in (0..).map(LocalId).zip(&of_master) {
            if class != REGULAR {
                classes.update(master);
            }
        }
        substrate.broadcast(&mut classes, End::Either)?;
        let masters = 0..partition.num_masters() as u32;
        let count = |class| of_master.iter().filter(|&&found| found == class).count() as u64;
        let mut counts = [SOURCE, SINK, ISOLATED].map(count);
        substrate.net().all_reduce_slice(&mut counts, |a, b| a + b)?;
        let [sources, sinks, isolated] = counts;
        Ok(Classes {
            sources: all_of(&classes, 0..proxies as u32, SOURCE),
            sinks: all_of(&classes, 0..proxies as u32, SINK),
            regular: all_of(&classes, masters, REGULAR),
            left_out: LeftOut { sources, sinks, isolated },
        })
    }
}

/// The share of edges that are left out of rounds, on a host that is alone.
#[inline(never)]
pub(super) fn left_out_share<W: Weight>(
    partition: &Partition,
    edges: Edges,
    filter: Filter,
) -> f64 {
    let classes = classes_of_masters(partition, edges);
    let reverse = Directions::<W>::reverse(partition, edges);
    let forward = match edges {
        Edges::In => in_degrees_here(partition),
        Edges::Out | Edges::Both => out_degrees_here(partition),
    };
    let left_out = parallel::sum(partition.num_masters(), |vertex| {
        let mut left_out = 0;
        match classes[vertex] {
            // An edge from a source to a sink counts as the source's.
            SINK => reverse.rows().each(
                LocalId(vertex as u32),
                |_| (),
                |source, _| {
                    let is_counted = filter.sources && classes[source.index()] == SOURCE;
                    left_out += u64::from(!is_counted);
                },
            ),
            SOURCE if filter.sources => left_out = forward[vertex],
            _ => {}
        }
        left_out
    });
    left_out as f64 / reverse.num_edges().max(1) as f64
}

fn all_of(classes: &CpuField<Max<u32>>, proxies: std::ops::Range<u32>, class: u32) -> VertexSet {
    let set = VertexSet::new(classes.num_proxies());
    let is_meant = |proxy: &LocalId| classes.get(*proxy) == class;
    proxies.map(LocalId).filter(is_meant).for_each(|proxy| _ = set.insert_alone(proxy));
    set
}

/// Masters are numbered by class, except on a host that is alone, which has all edges.
fn classes_of_masters(partition: &Partition, edges: Edges) -> Vec<u32> {
    let (source, sink) = match edges {
        Edges::Out => (SOURCE, SINK),
        Edges::In => (SINK, SOURCE),
        Edges::Both => (REGULAR, REGULAR),
    };
    if partition.num_hosts() == 1 {
        let degrees = out_degrees_here(partition).into_iter().zip(in_degrees_here(partition));
        let class = |degrees| match degrees {
            (0, 0) => ISOLATED,
            (_, 0) => source,
            (0, _) => sink,
            _ => REGULAR,
        };
        return degrees.map(class).collect();
    }
    let parts = partition.master_parts();
    let class = |master| match master {
        master if master < parts.both => REGULAR,
        master if master < parts.read => source,
        master if master < parts.written => sink,
        _ => ISOLATED,
    };
    (0..parts.all).map(class).collect()
}
