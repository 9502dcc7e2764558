//! Masters by score, one vertex after the other (Fennel): a host is the better for a vertex the
//! more of its out-neighbours it already masters, and the worse the fuller it is.
//!
//! Every host scores the rows it reads, in rounds: in a round it knows what all hosts decided in
//! the rounds before and what it decided itself. Hosts exchange decisions and loads between rounds
//! and nothing else, so the result depends on the graph and the number of hosts, never on timing.

use bytemuck::pod_read_unaligned;
use parton_net::{HostId, Net};

use crate::Result;
use crate::directory::Directory;
use crate::id_set::{IdSet, RankedIds};
use crate::policy::{Masters, Setup};

/// Rounds in which decisions are made: more are better informed, fewer are cheaper.
const ROUNDS: u64 = 32;
/// How much more than its share a host may get.
const SLACK: f64 = 1.05;
/// Exponent of the cost of a full host, as in Fennel.
const GAMMA: f64 = 1.5;
/// Not decided yet.
const UNDECIDED: u16 = u16::MAX;

/// Decides the masters of all vertices. Every host must call this.
pub(super) fn masters(setup: &mut Setup<'_>) -> Result<Masters> {
    let block = Scoring::new(setup)?.decide(setup)?;
    let targets = setup.rows.adjacency.all_targets().iter().map(|target| target.0);
    let directory = Directory::new(setup.net, setup.readers, block, targets)?;
    Ok(Masters::Listed(directory))
}

struct Scoring {
    first: u32,
    /// Decisions about my own rows.
    block: Vec<u16>,
    /// Vertices of other hosts' rows that mine lead to, and what is known of them.
    others: RankedIds,
    other_masters: Vec<u16>,
    /// For every peer, which of my vertices it wants to hear of, ascending.
    wanted: Vec<Vec<u32>>,
    /// For every peer, which vertices I asked it for, ascending.
    asked: Vec<Vec<u32>>,
    /// Vertices and edges decided for each host.
    loads: Vec<[u64; 2]>,
}

impl Scoring {
    fn new(setup: &mut Setup<'_>) -> Result<Self> {
        let rows = setup.rows.vertices();
        let mine = rows.start as u32..rows.end as u32;
        let named = IdSet::new(setup.num_vertices());
        let targets = setup.rows.adjacency.all_targets().iter().map(|target| target.0);
        targets.filter(|target| !mine.contains(target)).for_each(|target| named.insert(target));
        let hosts = setup.net.num_hosts();
        let mut asked = vec![Vec::new(); hosts];
        for vertex in named.iter() {
            asked[setup.readers.owner(vertex).index()].push(vertex);
        }
        let questions = asked.iter().map(|ids| bytemuck::cast_slice(ids).to_vec()).collect();
        let wanted = setup.net.all_to_all(questions)?;
        let others = named.ranked();
        Ok(Scoring {
            first: mine.start,
            block: vec![UNDECIDED; mine.len()],
            other_masters: vec![UNDECIDED; others.len()],
            others,
            wanted: wanted.iter().map(|ids| bytemuck::pod_collect_to_vec(ids)).collect(),
            asked,
            loads: vec![[0; 2]; setup.shares.len()],
        })
    }

    fn decide(mut self, setup: &mut Setup<'_>) -> Result<Vec<HostId>> {
        let (vertices, edges) = (f64::from(setup.num_vertices()), setup.num_edges as f64);
        let hosts = setup.shares.len();
        let whole: f64 = setup.shares.iter().sum();
        let shares: Vec<f64> = setup.shares.iter().map(|s| s / whole * hosts as f64).collect();
        let alpha = edges * (hosts as f64).powf(GAMMA - 1.0) / vertices.max(1.0).powf(GAMMA);
        let edge_load = if edges > 0.0 { vertices / edges } else { 0.0 };
        let (limit, edge_limit) = (SLACK * vertices / hosts as f64, SLACK * edges / hosts as f64);
        for round in 0..ROUNDS {
            let before = self.loads.clone();
            let rows = self.block.len() as u64;
            let range = (rows * round / ROUNDS) as usize..(rows * (round + 1) / ROUNDS) as usize;
            for row in range.clone() {
                let offsets = setup.rows.adjacency.offsets();
                let targets = &setup.rows.adjacency.all_targets()
                    [offsets[row] as usize..offsets[row + 1] as usize];
                let mut neighbours = vec![0u32; hosts];
                for target in targets {
                    let master = self.known(target.0);
                    if master != UNDECIDED {
                        neighbours[usize::from(master)] += 1;
                    }
                }
                let load = |host: usize| {
                    let [vertices, edges] = self.loads[host];
                    (vertices as f64 + edge_load * edges as f64) / 2.0 / shares[host]
                };
                // Ties go to the emptier host, then to the first.
                let score = |host: usize| {
                    let (load, [_, edges]) = (load(host), self.loads[host]);
                    let is_full = load > limit || edges as f64 / shares[host] > edge_limit;
                    let full = if is_full { f64::INFINITY } else { 0.0 };
                    f64::from(neighbours[host]) - alpha * GAMMA * load.powf(GAMMA - 1.0) - full
                };
                let best = (0..hosts)
                    .max_by(|&a, &b| {
                        let emptier = load(b).total_cmp(&load(a));
                        score(a).total_cmp(&score(b)).then(emptier).then(b.cmp(&a))
                    })
                    .expect("at least one host");
                self.block[row] = best as u16;
                self.loads[best][0] += 1;
                self.loads[best][1] += targets.len() as u64;
            }
            self.exchange(setup.net, range, &before)?;
        }
        Ok(self.block.into_iter().map(HostId).collect())
    }

    fn known(&self, vertex: u32) -> u16 {
        match self.block.get(vertex.wrapping_sub(self.first) as usize) {
            Some(&master) => master,
            None => self.other_masters[self.others.rank(vertex)],
        }
    }

    /// Tells peers what was decided about the rows they asked for, and adds up loads.
    fn exchange(
        &mut self,
        net: &mut Net,
        decided: std::ops::Range<usize>,
        before: &[[u64; 2]],
    ) -> Result<()> {
        let decided = self.first + decided.start as u32..self.first + decided.end as u32;
        let news = |ids: &Vec<u32>| -> Vec<u8> {
            let from = ids.partition_point(|&id| id < decided.start);
            let to = ids.partition_point(|&id| id < decided.end);
            // A peer knows the order of what it asked for; where the news start is all it lacks.
            let mut message = (from as u32).to_le_bytes().to_vec();
            for &id in &ids[from..to] {
                message.extend_from_slice(&self.block[(id - self.first) as usize].to_le_bytes());
            }
            message
        };
        let messages = self.wanted.iter().map(news).collect();
        for (message, asked) in net.all_to_all(messages)?.iter().zip(&self.asked) {
            let from = pod_read_unaligned::<u32>(&message[..4]) as usize;
            for (&id, master) in asked[from..].iter().zip(message[4..].chunks_exact(2)) {
                self.other_masters[self.others.rank(id)] = pod_read_unaligned(master);
            }
        }
        let mut grown: Vec<u64> = self
            .loads
            .iter()
            .zip(before)
            .flat_map(|(now, before)| [now[0] - before[0], now[1] - before[1]])
            .collect();
        net.all_reduce_slice(&mut grown, |a, b| a + b)?;
        for ((load, before), grown) in self.loads.iter_mut().zip(before).zip(grown.chunks_exact(2))
        {
            *load = [before[0] + grown[0], before[1] + grown[1]];
        }
        Ok(())
    }
}
