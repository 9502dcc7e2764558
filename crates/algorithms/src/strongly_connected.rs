//! Strongly connected components: which vertices are on a cycle together.
//!
//! Two vertices are in one component if a path leads from each to the other. Every vertex is labelled
//! with the least vertex of its component.
//!
//! The method is Multistep (Slota, Rajamanickam, Madduri, IPDPS'14). *Trimming* (`trim`) removes vertices without
//! in-edges or out-edges, again after each step. *Forward–backward search* (Fleischer, Hendrickson, Pınar 2000) from
//! the vertex with most edges finds what is most likely the largest component: the vertices reached in both
//! directions. *Colouring* (Orzan 2004) finds the rest, many components at a time. The colour of a vertex is the
//! least label that reaches it. All vertices that reach the origin of their colour through vertices of that colour
//! are one component. Labels are shuffled ids, which cut a chain of components near its middle. About `log` of the
//! number of components turns are enough, and each takes time in proportion to the edges left.

mod order;
mod regions;
mod trim;

use std::collections::HashMap;
use std::time::Instant;

use parton_engine::{Edges, EngineInfo, Limits, Pacing, Relaxation, Vertex, device, engines};
use parton_graph::{GlobalId, Graph, LocalId, parallel, with_csr};
use parton_partition::{End, Partition};
use parton_sync::reduction::{Latest, Min};
use parton_sync::{CpuField, Delivery, Substrate};
use rayon::prelude::*;

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Meanings, Values};
use crate::components::{COMPONENTS, sizes};
use crate::error::{Error, Result};
use crate::memory_use::MemoryUse;
use crate::options::Options;
use crate::phases::Phases;
use order::ClassOrder;
use regions::{NO_REGION, Regional};
use trim::RemainingGraph;

/// Strongly connected components.
pub struct StronglyConnected;

/// No component yet.
const NO_COMPONENT: u32 = u32::MAX;

/// Levels from a pivot, along edges or against them.
struct Reach {
    pivot: GlobalId,
    edges: Edges,
}

#[device]
impl Relaxation for Reach {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id() == self.pivot).then_some(0)
    }

    #[inline]
    fn relax(&self, level: u32, (): ()) -> u32 {
        level + 1
    }

    fn edges(&self) -> Edges {
        self.edges
    }

    fn first_wins(&self) -> bool {
        true
    }
}

/// The search for components on one host.
struct ComponentSearch<'a> {
    partition: &'a Partition,
    remaining: RemainingGraph<'a>,
    phases: Phases,
    /// Of masters.
    components: Vec<u32>,
    /// Members of components whose least vertex is not known yet, with their colours.
    coloured: Vec<(u32, LocalId)>,
}

impl<'a> ComponentSearch<'a> {
    fn new(substrate: &mut Substrate<'a>) -> Result<Self> {
        let partition = substrate.partition();
        Ok(ComponentSearch {
            partition,
            remaining: RemainingGraph::of_all(substrate)?,
            phases: Phases::default(),
            components: vec![NO_COMPONENT; partition.num_masters()],
            coloured: Vec::new(),
        })
    }

    fn masters(&self) -> impl ParallelIterator<Item = LocalId> + use<> {
        (0..self.components.len() as u32).into_par_iter().map(LocalId)
    }

    /// Removes vertices that are on no cycle. Every host must call this.
    fn trim(&mut self, job: &mut Job<'_, 'a>) -> Result<()> {
        let pacing = job.options.pacing;
        self.phases.run(job, &mut self.remaining, pacing, Limits::default())?;
        for master in self.remaining.take_removed() {
            self.components[master.index()] = self.partition.global(master).0 as u32;
        }
        Ok(())
    }

    /// Finds the component of the vertex with most edges left, if any. Every host must call this.
    fn find_largest(&mut self, job: &mut Job<'_, 'a>, engine: &EngineInfo) -> Result<()> {
        let pivot_score = |master: LocalId| {
            let (into, out) = self.remaining.edges_left(master);
            // Complemented ids, so that the greatest pair has the lowest id.
            [into.saturating_mul(out), !self.partition.global(master).0]
        };
        let left = self.masters().filter(|&master| !self.remaining.is_gone(master));
        let mine = left.map(pivot_score).max().unwrap_or([0, 0]);
        let best = job.substrate.net().all_reduce(mine, std::cmp::max)?;
        if best == [0, 0] {
            return Ok(());
        }
        let mut reached = Vec::new();
        for edges in [Edges::Out, Edges::In] {
            let program = Reach { pivot: GlobalId(!best[1]), edges };
            let mut engine = engines::relaxation(engine, job.device, &program, self.partition)?;
            let pacing = job.options.pacing;
            self.phases.run(job, &mut *engine, pacing, Limits::default())?;
            let labels = engine.labels()?.into_iter();
            match edges {
                Edges::Out => reached = labels.map(|label| label != NO_COMPONENT).collect(),
                _ => reached
                    .iter_mut()
                    .zip(labels)
                    .for_each(|(r, label)| *r &= label != NO_COMPONENT),
            }
        }
        let members: Vec<LocalId> =
            self.masters().filter(|master| reached[master.index()]).collect();
        let least = members.iter().map(|&member| self.partition.global(member).0).min();
        let least = job.substrate.net().all_reduce(least.unwrap_or(u64::MAX), u64::min)? as u32;
        for member in members {
            self.components[member.index()] = least;
            self.remaining.remove(member);
        }
        Ok(self.remaining.recount(job.substrate)?)
    }

    /// Finds components among the vertices left, many at a time. Returns whether any vertex was left.
    /// Every host must call this.
    fn find_by_colour(&mut self, job: &mut Job<'_, 'a>) -> Result<bool> {
        let left: Vec<LocalId> =
            self.masters().filter(|&master| !self.remaining.is_gone(master)).collect();
        if job.substrate.net().all_reduce(left.len() as u64, |a, b| a + b)? == 0 {
            return Ok(false);
        }
        let (partition, pacing) = (self.partition, job.options.pacing);
        let regions = parallel::generate(partition.num_proxies(), |proxy| {
            if self.remaining.is_gone(LocalId(proxy as u32)) { NO_REGION } else { 0 }
        });
        let forward = Regional {
            edges: Edges::Out,
            regions: &regions,
            is_shuffled: true,
            only_origins: false,
        };
        let least = spread(job, &mut self.phases, &forward, pacing)?;
        let of_left = left.iter().map(|&master| (master, least[master.index()]));
        let colours = broadcast_values(job.substrate, of_left)?;
        let reverse =
            Regional { edges: Edges::In, regions: &colours, is_shuffled: true, only_origins: true };
        let reached = spread(job, &mut self.phases, &reverse, pacing)?;
        for master in left {
            let colour = reached[master.index()];
            if colour != NO_COMPONENT {
                self.coloured.push((colour, master));
                self.remaining.remove(master);
            }
        }
        self.remaining.recount(job.substrate)?;
        Ok(true)
    }

    /// Labels the components found by colour with their least vertices. Every host must call this.
    fn label_coloured(&mut self, job: &mut Job<'_, 'a>) -> Result<()> {
        let net = job.substrate.net();
        let hosts = net.num_hosts();
        self.coloured.sort_unstable();
        let mut batches: Vec<Vec<u8>> = vec![Vec::new(); hosts];
        for class in self.coloured.chunk_by(|a, b| a.0 == b.0) {
            let least = class.iter().map(|&(_, member)| self.partition.global(member).0).min();
            let pair = [class[0].0, least.unwrap_or_default() as u32];
            batches[pair[0] as usize % hosts].extend_from_slice(bytemuck::bytes_of(&pair));
        }
        // Each host answers in the order of the requests.
        let asked: Vec<Vec<[u32; 2]>> =
            net.all_to_all(batches)?.iter().map(|b| bytemuck::pod_collect_to_vec(b)).collect();
        let mut least: HashMap<u32, u32> = HashMap::new();
        for &[colour, vertex] in asked.iter().flatten() {
            let known = least.entry(colour).or_insert(vertex);
            *known = vertex.min(*known);
        }
        let answer = |pairs: &Vec<[u32; 2]>| {
            let answers: Vec<u32> = pairs.iter().map(|[colour, _]| least[colour]).collect();
            bytemuck::cast_slice(&answers).to_vec()
        };
        let answers = net.all_to_all(asked.iter().map(answer).collect())?;
        let mut answers: Vec<_> = answers
            .iter()
            .map(|bytes| bytemuck::pod_collect_to_vec::<u8, u32>(bytes).into_iter())
            .collect();
        for class in self.coloured.chunk_by(|a, b| a.0 == b.0) {
            let least = answers[class[0].0 as usize % hosts].next();
            let least =
                least.unwrap_or_else(|| unreachable!("an answer for every class asked for"));
            for (_, member) in class {
                self.components[member.index()] = least;
            }
        }
        Ok(())
    }
}

/// The least label that reaches each of this host's masters inside its region; [`NO_COMPONENT`] if none
/// does. Every host must call this.
fn spread(
    job: &mut Job<'_, '_>,
    phases: &mut Phases,
    program: &Regional<'_>,
    pacing: Pacing,
) -> Result<Vec<u32>> {
    let mut engine = engines::push_relaxation(job.device, program, job.substrate.partition())?;
    phases.run(job, &mut *engine, pacing, Limits::default())?;
    Ok(engine.labels()?)
}

/// Broadcasts values of some masters to all proxies; [`NO_REGION`] for others. Every host must call this.
fn broadcast_values(
    substrate: &mut Substrate<'_>,
    masters: impl Iterator<Item = (LocalId, u32)>,
) -> Result<Vec<u32>> {
    let proxies = substrate.partition().num_proxies();
    let mut field = CpuField::<Latest<u32>>::new(proxies, Delivery::Label, |_| NO_REGION);
    for (master, value) in masters {
        field.put(master, value);
        field.update(master);
    }
    substrate.broadcast(&mut field, End::Either)?;
    Ok(parallel::generate(proxies, |proxy| field.get(LocalId(proxy as u32))))
}

impl Algorithm for StronglyConnected {
    fn name(&self) -> &'static str {
        "strongly-connected"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["scc"]
    }

    fn about(&self) -> &'static str {
        "strongly connected components: the least vertex on a cycle with this one"
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(5.9, 38.8, 4.0).with_copies(1.5)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        None
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        match options.max_rounds {
            None => Ok(()),
            Some(_) => Err(Error::Request(
                "`max_rounds`: strongly-connected has no components before its last round".into(),
            )),
        }
    }

    fn meanings(&self) -> Meanings {
        COMPONENTS
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        self.accepts(job.options)?;
        let (engine, why) = job.engine(self, engines::FRONTIER, || {
            let degree = job.average_degree();
            format!("searches from the vertex with most edges, average degree {degree:.1}")
        })?;
        let began = Instant::now();
        let mut search = ComponentSearch::new(job.substrate)?;
        let setup_seconds = began.elapsed().as_secs_f64();
        search.trim(job)?;
        search.find_largest(job, engine)?;
        loop {
            search.trim(job)?;
            if !search.find_by_colour(job)? {
                break;
            }
        }
        search.label_coloured(job)?;
        let ComponentSearch { components, phases, .. } = search;
        let result = sizes(job, &components)?;
        Ok(Answer {
            columns: vec![Column { name: "component", values: Values::Vertices(components) }],
            result,
            engine,
            why,
            setup_seconds,
            report: phases.report(),
            notes: Vec::new(),
        })
    }

    /// Components are right if the vertex they are called after is their least, reaches all others
    /// inside the component and is reached by them, and if no cycle leads through several.
    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::Vertices(components) = &answer.columns[0].values else {
            unreachable!("components are named by vertices")
        };
        let partition = job.substrate.partition();
        let masters = || (0..components.len() as u32).map(LocalId);
        let named = components.iter().copied();
        let labels = broadcast_values(job.substrate, masters().zip(named))?;
        let label = |proxy: LocalId| labels[proxy.index()];
        let greater =
            masters().filter(|&m| u64::from(label(m)) > partition.global(m).0).count() as u64;
        let mut unreached = [0; 2];
        for (edges, unreached) in [Edges::Out, Edges::In].into_iter().zip(&mut unreached) {
            let program =
                Regional { edges, regions: &labels, is_shuffled: false, only_origins: true };
            let reached = spread(job, &mut Phases::default(), &program, Pacing::default())?;
            *unreached = reached.into_iter().filter(|&label| label == NO_COMPONENT).count() as u64;
        }
        let mut order = ClassOrder::new(job.substrate, &labels)?;
        Phases::default().run(job, &mut order, Pacing::default(), Limits::default())?;
        let mine = [greater, unreached[0], unreached[1], order.left()];
        let add = |a: [u64; 4], b: [u64; 4]| std::array::from_fn(|i| a[i] + b[i]);
        let all = job.substrate.net().all_reduce(mine, add)?;
        let complaints = [
            "vertices are less than the one their component is called after",
            "vertices cannot be reached from the one their component is called after",
            "vertices cannot reach the one their component is called after",
            "components are on cycles with others, or after such",
        ];
        let found = all.iter().zip(complaints).find(|(count, _)| **count > 0);
        Ok(found.map(|(count, complaint)| format!("{count} {complaint}")))
    }

    fn reference(&self, graph: &Graph, _: &Options) -> Result<Vec<Column>> {
        let vertices = graph.num_vertices();
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); vertices];
        let mut components = vec![NO_COMPONENT; vertices];
        with_csr!(&graph.adjacency, csr => {
            // Vertices in the order in which searches along edges leave them...
            let (mut left, mut seen) = (Vec::new(), vec![false; vertices]);
            for source in csr.vertices() {
                csr.targets(source).iter().for_each(|t| back[t.index()].push(source.index()));
                let mut path = Vec::new();
                if !std::mem::replace(&mut seen[source.index()], true) {
                    path.push((source, 0));
                }
                while let Some((vertex, next)) = path.last_mut() {
                    match csr.targets(*vertex).get(*next) {
                        Some(&target) => {
                            *next += 1;
                            if !std::mem::replace(&mut seen[target.index()], true) {
                                path.push((target, 0));
                            }
                        }
                        None => left.extend(path.pop().map(|(vertex, _)| vertex)),
                    }
                }
            }
            // ... last first: all unlabelled vertices that one reaches against edges are a component.
            for start in left.into_iter().rev().map(LocalId::index) {
                let (mut members, mut next) = (Vec::new(), vec![start]);
                while let Some(vertex) = next.pop() {
                    if components[vertex] == NO_COMPONENT {
                        components[vertex] = start as u32;
                        members.push(vertex);
                        next.extend(&back[vertex]);
                    }
                }
                let least = members.iter().copied().min();
                if let Some(least) = least {
                    members.iter().for_each(|&member| components[member] = least as u32);
                }
            }
        });
        Ok(vec![Column { name: "component", values: Values::Vertices(components) }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translation::{checks, level};

    #[test]
    fn translation() {
        let reach = Reach { pivot: GlobalId(7), edges: Edges::In };
        checks::relaxation(&reach, &[3, 7, 9], level);
    }
}
