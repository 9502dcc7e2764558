//! Vertices where paths start: all, those of largest degree, some at random, or those on a list.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use parton_engine::degrees::out_degrees;
use parton_graph::hash::{GOLDEN_GAMMA, splitmix64};
use parton_graph::{GlobalId, Graph, LocalId};
use parton_sync::Substrate;

use crate::error::Result;
use crate::options::Setting;
use crate::vertices;

/// Vertices where paths start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// All.
    All,
    /// This many of largest out-degree, the lowest original ids among several.
    Largest(usize),
    /// This many at random: sums over them are scaled to estimate those over all.
    Random {
        /// How many.
        count: usize,
        /// Which ones: the same for the same seed and number of vertices.
        seed: u64,
    },
    /// Those with these original ids.
    Listed(Vec<String>),
}

impl Setting for Sources {
    fn value_name() -> String {
        "all|N|random:N[,SEED]|ID,…|FILE".into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Sources::All);
        }
        if let Some(rest) = text.strip_prefix("random:") {
            let (count, seed) = rest.split_once(',').unwrap_or((rest, "1"));
            return match (count.parse(), seed.parse()) {
                (Ok(count), Ok(seed)) => Ok(Sources::Random { count, seed }),
                _ => Err("expected random:N or random:N,SEED with whole numbers".into()),
            };
        }
        match text.parse() {
            Ok(count) => Ok(Sources::Largest(count)),
            Err(_) => Vec::parse(text).map(Sources::Listed),
        }
    }

    fn text(&self) -> Option<String> {
        Some(match self {
            Sources::All => "all".into(),
            Sources::Largest(count) => count.to_string(),
            Sources::Random { count, seed } => format!("random:{count},{seed}"),
            // A number alone would be a count.
            Sources::Listed(ids) => format!("{},", ids.join(",")),
        })
    }
}

impl Sources {
    /// These vertices. An error names the `option` that the list is from. Every host must call this.
    pub fn find(&self, substrate: &mut Substrate<'_>, option: &str) -> Result<Vec<GlobalId>> {
        let partition = substrate.partition();
        let num_vertices = partition.num_vertices();
        match self {
            Sources::All => Ok((0..num_vertices).map(GlobalId).collect()),
            Sources::Random { count, seed } => Ok(sample(num_vertices, *count, *seed)),
            Sources::Listed(ids) => vertices::find(substrate, ids, option),
            Sources::Largest(count) => {
                let degrees = out_degrees(substrate)?;
                let masters = (0..partition.num_masters() as u32).map(LocalId);
                let degree = masters.map(|m| (degrees[m.index()], partition.global(m).0));
                let mine: Vec<[u64; 2]> =
                    largest(degree.collect(), *count).into_iter().map(|(d, v)| [d, v]).collect();
                let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
                let all = all.iter().flat_map(|b| bytemuck::pod_collect_to_vec::<u8, [u64; 2]>(b));
                let all = largest(all.map(|[degree, vertex]| (degree, vertex)).collect(), *count);
                Ok(all.into_iter().map(|(_, vertex)| GlobalId(vertex)).collect())
            }
        }
    }

    /// The same in a whole graph.
    pub fn find_in(&self, graph: &Graph, option: &str) -> Result<Vec<GlobalId>> {
        let num_vertices = graph.num_vertices() as u64;
        match self {
            Sources::All => Ok((0..num_vertices).map(GlobalId).collect()),
            Sources::Random { count, seed } => Ok(sample(num_vertices, *count, *seed)),
            Sources::Listed(ids) => vertices::find_in(graph, ids, option),
            Sources::Largest(count) => {
                let degrees = graph.adjacency.offsets().windows(2).map(|ends| ends[1] - ends[0]);
                let all = largest(degrees.zip(0..).collect(), *count);
                Ok(all.into_iter().map(|(_, vertex)| GlobalId(vertex)).collect())
            }
        }
    }
}

/// This many vertices of largest degree, largest first, the lower one first among equals.
fn largest(mut all: Vec<(u64, u64)>, count: usize) -> Vec<(u64, u64)> {
    let key = |&(degree, vertex): &(u64, u64)| (Reverse(degree), vertex);
    if all.len() > count && count > 0 {
        all.select_nth_unstable_by_key(count - 1, key);
    }
    all.truncate(count);
    all.sort_unstable_by_key(key);
    all
}

/// This many distinct vertices, all equally likely, in ascending order; all if there are fewer. Drawn
/// by Floyd's method (Bentley, Floyd, CACM 1987): a number that is taken already is replaced by the
/// last of its range.
fn sample(vertices: u64, count: usize, seed: u64) -> Vec<GlobalId> {
    let mut chosen = BTreeSet::new();
    let mut state = seed;
    let count = (count as u64).min(vertices);
    for last in vertices - count..vertices {
        let bits = splitmix64(state);
        state = state.wrapping_add(GOLDEN_GAMMA);
        let drawn = ((u128::from(bits) * u128::from(last + 1)) >> 64) as u64;
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().map(GlobalId).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_distinct_and_even() {
        for (vertices, count) in [(0, 3), (1, 1), (5, 9), (1000, 1), (1000, 999), (1 << 32, 50)] {
            let drawn = sample(vertices, count, 7);
            assert_eq!(drawn.len() as u64, vertices.min(count as u64));
            assert!(drawn.is_sorted_by(|a, b| a < b) && drawn.iter().all(|v| v.0 < vertices));
            assert_eq!(drawn, sample(vertices, count, 7), "the same seed, the same vertices");
        }
        let mut hits = [0; 10];
        for seed in 0..2000 {
            sample(10, 3, seed).iter().for_each(|vertex| hits[vertex.0 as usize] += 1);
        }
        assert!(hits.iter().all(|&count| (500..700).contains(&count)), "{hits:?}");
    }

    #[test]
    fn the_lower_vertex_is_first_among_equals() {
        let all = vec![(3, 0), (5, 1), (3, 2), (5, 3), (0, 4)];
        assert_eq!(largest(all.clone(), 3), [(5, 1), (5, 3), (3, 0)]);
        assert_eq!(largest(all.clone(), 0), []);
        assert_eq!(largest(all, 9).len(), 5);
    }
}
