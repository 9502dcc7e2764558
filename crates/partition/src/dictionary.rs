//! Original ids → vertices, spread over the hosts.
//!
//! Every host sorts the distinct ids that its share of a text names; a sample of them gives cuts
//! that deal all ids out to the hosts in ascending order; every host numbers what it is dealt after
//! what hosts before it hold; and everyone learns the numbers of the ids it asked with. Vertices
//! are so numbered in the order of their ids, as when one host reads the whole, and no host ever
//! sees all ids.

use parton_graph::build::Edges;
use parton_graph::{Error as GraphError, csr::MAX_VERTICES};
use parton_net::Net;
use rayon::prelude::*;

use crate::Result;

/// Ids each host shows to find the cuts.
const SAMPLES_PER_HOST: usize = 1 << 10;

/// The original ids of a range of vertices.
pub(crate) struct Dictionary {
    /// First vertex that each host keeps the id of, and the number of all vertices.
    starts: Vec<u32>,
    /// Ids of the vertices this host keeps.
    ids: Vec<u64>,
}

/// What this host knows: its distinct ids, ascending, and their vertices.
pub(crate) struct Known {
    ids: Vec<u64>,
    vertices: Vec<u32>,
}

impl Known {
    /// The vertex that an id of this host's text names.
    pub(crate) fn vertex(&self, id: u64) -> u32 {
        // Dense ids, the usual case, lie about where their size puts them.
        let guess = (id - self.ids[0]) as usize;
        match self.ids.get(guess) {
            Some(&found) if found == id => self.vertices[guess],
            _ => self.vertices[self.ids.binary_search(&id).expect("an id of this host's text")],
        }
    }
}

impl Dictionary {
    /// Numbers the ids of all hosts' edges. Every host must call this.
    pub(crate) fn build<W>(
        net: &mut Net,
        file: &str,
        pieces: &[Edges<u64, W>],
    ) -> Result<(Self, Known)> {
        let ids = distinct(pieces.iter().flat_map(|p| [&p.sources, &p.destinations]));
        let cuts = cuts(net, &ids)?;
        let mut rest = &ids[..];
        let dealt = cuts.iter().map(|&cut| {
            let (mine, others) = rest.split_at(rest.partition_point(|&id| id < cut));
            rest = others;
            bytemuck::cast_slice(mine).to_vec()
        });
        let mut dealt: Vec<Vec<u8>> = dealt.collect();
        dealt.push(bytemuck::cast_slice(rest).to_vec());
        let asked: Vec<Vec<u64>> =
            net.all_to_all(dealt)?.iter().map(|ids| bytemuck::pod_collect_to_vec(ids)).collect();
        let kept = distinct(asked.iter());

        let counts = net.all_gather((kept.len() as u64).to_le_bytes().to_vec())?;
        let mut starts = vec![0u64];
        for count in &counts {
            let count: u64 = bytemuck::pod_read_unaligned(count);
            starts.push(starts[starts.len() - 1] + count);
        }
        let total = starts[starts.len() - 1];
        if total > MAX_VERTICES {
            return Err(GraphError::too_many_vertices(file, total).into());
        }
        let starts: Vec<u32> = starts.into_iter().map(|start| start as u32).collect();
        let first = starts[net.host().index()];
        let number = |ids: &Vec<u64>| -> Vec<u8> {
            let place = |id: &u64| kept.binary_search(id).expect("every asked id is kept") as u32;
            ids.iter().flat_map(|id| (first + place(id)).to_le_bytes()).collect()
        };
        let numbers = net.all_to_all(asked.iter().map(number).collect())?;
        let vertices =
            numbers.iter().flat_map(|n| bytemuck::pod_collect_to_vec::<u8, u32>(n)).collect();
        Ok((Dictionary { starts, ids: kept }, Known { ids, vertices }))
    }

    /// Number of vertices.
    pub(crate) fn num_vertices(&self) -> u32 {
        self.starts[self.starts.len() - 1]
    }

    /// The ids of any vertices. Every host must call this.
    pub(crate) fn look_up(&self, net: &mut Net, vertices: &[u32]) -> Result<Vec<u64>> {
        let keeper = |vertex: u32| self.starts.partition_point(|&start| start <= vertex) - 1;
        let mut questions = vec![Vec::new(); net.num_hosts()];
        for &vertex in vertices {
            questions[keeper(vertex)].extend_from_slice(&vertex.to_le_bytes());
        }
        let questions = net.all_to_all(questions)?;
        let first = self.starts[net.host().index()];
        let answer = |question: Vec<u8>| -> Vec<u8> {
            let vertices: Vec<u32> = bytemuck::pod_collect_to_vec(&question);
            vertices.iter().flat_map(|v| self.ids[(v - first) as usize].to_le_bytes()).collect()
        };
        let answers = net.all_to_all(questions.into_iter().map(answer).collect())?;
        let mut answers: Vec<_> = answers.iter().map(|answer| answer.chunks_exact(8)).collect();
        let next = |&vertex: &u32| answers[keeper(vertex)].next().map(bytemuck::pod_read_unaligned);
        Ok(vertices.iter().filter_map(next).collect())
    }
}

/// Distinct ids, ascending.
fn distinct<'a>(lists: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    // List by list, so that ids that repeat, as most do, are never all together in memory.
    let mut all: Vec<u64> = Vec::new();
    let mut settled = 0;
    for list in lists {
        all.extend_from_slice(list);
        if all.len() > 2 * settled + (1 << 20) {
            all.par_sort_unstable();
            all.dedup();
            settled = all.len();
        }
    }
    all.par_sort_unstable();
    all.dedup();
    all
}

/// For every host but the last, the first id it is not dealt.
fn cuts(net: &mut Net, ids: &[u64]) -> Result<Vec<u64>> {
    let step = ids.len().div_ceil(SAMPLES_PER_HOST).max(1);
    let samples: Vec<u64> = ids.iter().copied().step_by(step).collect();
    let samples = net.all_gather(bytemuck::cast_slice(&samples).to_vec())?;
    let mut samples: Vec<u64> =
        samples.iter().flat_map(|s| bytemuck::pod_collect_to_vec::<u8, u64>(s)).collect();
    samples.sort_unstable();
    let hosts = net.num_hosts();
    let cut = |host: usize| samples.get(samples.len() * host / hosts).copied().unwrap_or(u64::MAX);
    Ok((1..hosts).map(cut).collect())
}

/// What users call the vertices that a host masters, in the order of their local ids.
#[derive(Clone, Debug, PartialEq)]
pub enum Originals {
    /// A vertex is called by its global id plus this.
    Offset(u64),
    /// Integers, one per master.
    Integers(Vec<u64>),
    /// Names, one per master.
    Names(parton_graph::id_map::Names),
}
