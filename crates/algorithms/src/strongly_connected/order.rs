//! Proof that no cycle leads through several classes of vertices: a topological sort of the classes
//! (Kahn 1962).
//!
//! A class is removed when no edge from another class that is left enters it. If all classes are removed,
//! every edge between classes leads from an earlier to a later one, and no cycle joins two of them. The
//! entering edges of a class are counted on the host given by its label, since no host sees all of
//! them. That host notifies the hosts that master members when the class is removed.

use std::collections::HashMap;

use parton_engine::{EdgeView, Engine, Next, Tally};
use parton_graph::LocalId;
use parton_net::Net;
use parton_partition::{End, Partition};
use parton_sync::reduction::{Max, Sum};
use parton_sync::{CpuField, Delivery, Phase, Result, Substrate};

/// The topological sort of all classes.
pub(super) struct ClassOrder<'s, 'a> {
    labels: &'s [u32],
    num_masters: usize,
    out_edges: EdgeView<'a, ()>,
    /// Masters by class.
    members: Vec<(u32, LocalId)>,
    /// Edges from other classes that proxies have lost.
    taken: CpuField<Sum<u64>>,
    /// 1 for members of removed classes.
    gone: CpuField<Max<u32>>,
    frontier: Vec<LocalId>,
    /// Classes whose edges are counted here.
    classes: HashMap<u32, Class>,
    /// Classes counted here that no edge enters any more.
    ready: Vec<u32>,
}

#[derive(Default)]
struct Class {
    /// Edges that enter it from classes that are left.
    entered: u64,
    /// Hosts that master members.
    hosts: Vec<usize>,
}

impl<'s, 'a> ClassOrder<'s, 'a> {
    /// All classes; `labels` are those of all proxies. Every host must call this.
    pub(super) fn new(substrate: &mut Substrate<'a>, labels: &'s [u32]) -> Result<Self> {
        let partition: &'a Partition = substrate.partition();
        let (proxies, num_masters) = (partition.num_proxies(), partition.num_masters());
        let mut members: Vec<(u32, LocalId)> =
            labels[..num_masters].iter().copied().zip((0..).map(LocalId)).collect();
        members.sort_unstable();
        let mut order = ClassOrder {
            labels,
            num_masters,
            out_edges: EdgeView::new(partition.out_edges()),
            members,
            taken: CpuField::accumulator(proxies),
            gone: CpuField::new(proxies, Delivery::Label, |_| 0),
            frontier: Vec::new(),
            classes: HashMap::new(),
            ready: Vec::new(),
        };
        (0..proxies as u32).for_each(|proxy| order.take_edges(LocalId(proxy)));
        substrate.reduce(&mut order.taken, End::Destination)?;
        // Classes without entering edges are announced, too.
        let mut entered: HashMap<u32, u64> =
            order.members.iter().map(|&(label, _)| (label, 0)).collect();
        order.drain_taken(|label, edges| *entered.entry(label).or_default() += edges);
        for (host, counts) in exchange_counts(substrate.net(), entered)?.into_iter().enumerate() {
            for [label, edges] in counts {
                let class = order.classes.entry(label as u32).or_default();
                class.entered += edges;
                class.hosts.push(host);
            }
        }
        let free = order.classes.iter().filter(|(_, class)| class.entered == 0);
        order.ready = free.map(|(label, _)| *label).collect();
        order.remove_ready(substrate)?;
        Ok(order)
    }

    /// Number of classes counted here that are left because of a cycle.
    pub(super) fn left(&self) -> u64 {
        self.classes.len() as u64
    }

    /// Counts the edges of a proxy to other classes at their targets.
    fn take_edges(&self, proxy: LocalId) {
        let label = self.labels[proxy.index()];
        for &target in self.out_edges.rows().targets(proxy) {
            if self.labels[target.index()] != label {
                self.taken.fold(target, 1);
                self.taken.updated().insert(target);
            }
        }
    }

    /// Calls `visit` with the class of each master that lost edges and their number; resets both.
    fn drain_taken(&mut self, mut visit: impl FnMut(u32, u64)) {
        let masters = 0..self.num_masters as u32;
        for master in self.taken.updated().iter_range(masters.clone()) {
            visit(self.labels[master.index()], self.taken.get(master));
            self.taken.put(master, 0);
        }
        self.taken.updated().remove_range(masters);
    }

    /// Removes ready classes, and marks their members on all hosts. Every host must call this.
    fn remove_ready(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        let mut going: Vec<Vec<u8>> = vec![Vec::new(); substrate.net().num_hosts()];
        for label in self.ready.drain(..) {
            let hosts = self.classes.remove(&label).map_or(Vec::new(), |class| class.hosts);
            hosts.into_iter().for_each(|host| going[host].extend(label.to_le_bytes()));
        }
        for labels in substrate.net().all_to_all(going)? {
            for label in bytemuck::pod_collect_to_vec::<u8, u32>(&labels) {
                let start = self.members.partition_point(|(other, _)| *other < label);
                let members = self.members[start..].iter().take_while(|(other, _)| *other == label);
                for &(_, member) in members {
                    self.gone.put(member, 1);
                    self.gone.touch(member);
                }
            }
        }
        Ok(())
    }
}

/// Sends each count to the host given by its label. Returns the counts from each host.
fn exchange_counts(net: &mut Net, counts: HashMap<u32, u64>) -> Result<Vec<Vec<[u64; 2]>>> {
    let hosts = net.num_hosts();
    let mut batches: Vec<Vec<u8>> = vec![Vec::new(); hosts];
    for (label, count) in counts {
        let pair = [u64::from(label), count];
        batches[label as usize % hosts].extend_from_slice(bytemuck::bytes_of(&pair));
    }
    let arrived = net.all_to_all(batches)?;
    Ok(arrived.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect())
}

impl Engine for ClassOrder<'_, '_> {
    fn compute(&mut self) -> Result<u64> {
        let rows = self.out_edges.rows();
        self.frontier.iter().for_each(|&proxy| self.take_edges(proxy));
        Ok(self.frontier.iter().map(|&proxy| rows.degree(proxy)).sum())
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        if phase == Phase::Broadcast {
            return substrate.broadcast(&mut self.gone, End::Source);
        }
        substrate.reduce(&mut self.taken, End::Destination)?;
        let mut taken: HashMap<u32, u64> = HashMap::new();
        self.drain_taken(|label, edges| *taken.entry(label).or_default() += edges);
        for [label, edges] in exchange_counts(substrate.net(), taken)?.into_iter().flatten() {
            if let Some(class) = self.classes.get_mut(&(label as u32)) {
                class.entered -= edges;
                if class.entered == 0 {
                    self.ready.push(label as u32);
                }
            }
        }
        self.remove_ready(substrate)
    }

    fn apply(&mut self) -> Result<Tally> {
        let masters = 0..self.num_masters as u32;
        let changed = self.gone.updated().count_range(masters) as u64;
        Ok(Tally { changed, ..Tally::default() })
    }

    fn next(&mut self) -> Result<Next> {
        self.frontier = self.gone.drain_active();
        Ok(Next::new(!self.frontier.is_empty()))
    }
}
