//! Finding the vertices that a user has chosen: by name, by degree, at random.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use parton_engine::degrees::out_degrees;
use parton_graph::hash::{GOLDEN_GAMMA, splitmix64};
use parton_graph::{GlobalId, Graph, LocalId, OriginalId};
use parton_sync::Substrate;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::options::Sources;

/// Names of vertices that are not there, which an error lists at most.
const MOST_NAMED: usize = 5;

/// The vertices that users call so, each once, in the order of the names; `what` they are for.
/// Every host must call this.
pub(crate) fn named(
    substrate: &mut Substrate<'_>,
    names: &[String],
    what: &str,
) -> Result<Vec<GlobalId>> {
    let partition = substrate.partition();
    let wanted = Wanted::new(names);
    let masters = (0..partition.num_masters() as u32).into_par_iter().map(LocalId);
    let found = masters.filter_map(|master| {
        let place = wanted.place(partition.original(master))?;
        Some([place as u64, partition.global(master).0])
    });
    let mine: Vec<[u64; 2]> = found.collect();
    let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
    let pairs = all.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, [u64; 2]>(bytes));
    wanted.resolve(names, pairs.map(|[place, vertex]| (place as usize, vertex)), what)
}

/// The same in a whole graph.
pub(crate) fn named_in(graph: &Graph, names: &[String], what: &str) -> Result<Vec<GlobalId>> {
    let places = names.iter().enumerate();
    let found = places.filter_map(|(place, name)| Some((place, graph.ids.find_text(name)? as u64)));
    Wanted::new(names).resolve(names, found, what)
}

/// Names by what they could be.
struct Wanted<'n> {
    integers: HashMap<u64, usize>,
    names: HashMap<&'n [u8], usize>,
}

impl<'n> Wanted<'n> {
    fn new(names: &'n [String]) -> Self {
        // Of a name that is there twice the first place counts.
        let places = || names.iter().enumerate().rev();
        let integer = |(place, name): (usize, &String)| Some((name.parse().ok()?, place));
        Wanted {
            integers: places().filter_map(integer).collect(),
            names: places().map(|(place, name)| (name.as_bytes(), place)).collect(),
        }
    }

    fn place(&self, id: OriginalId<'_>) -> Option<usize> {
        match id {
            OriginalId::Integer(id) => self.integers.get(&id).copied(),
            OriginalId::Name(name) => self.names.get(name).copied(),
        }
    }

    /// The vertices in the order of the names, if every name has one.
    fn resolve(
        &self,
        names: &[String],
        found: impl Iterator<Item = (usize, u64)>,
        what: &str,
    ) -> Result<Vec<GlobalId>> {
        let by_place: HashMap<usize, u64> = found.collect();
        let mut missing = Vec::new();
        let (mut vertices, mut known) = (Vec::new(), BTreeSet::new());
        for (place, name) in names.iter().enumerate() {
            let same = name.parse().ok().and_then(|id| self.integers.get(&id));
            let first = same.or_else(|| self.names.get(name.as_bytes()));
            match first.and_then(|first| by_place.get(first)).or_else(|| by_place.get(&place)) {
                Some(&vertex) if known.insert(vertex) => vertices.push(GlobalId(vertex)),
                Some(_) => {}
                None => missing.push(&name[..]),
            }
        }
        match missing.len() {
            0 => Ok(vertices),
            count => {
                missing.truncate(MOST_NAMED);
                let more = match count - missing.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let listed = missing.join(", ");
                Err(Error::Request(format!("{what} not in the graph: {listed}{more}")))
            }
        }
    }
}

/// What a message calls sources.
const SOURCES: &str = "--sources names vertices that are";

/// The sources of betweenness. Every host must call this.
pub(crate) fn sources(substrate: &mut Substrate<'_>, sources: &Sources) -> Result<Vec<GlobalId>> {
    let partition = substrate.partition();
    let vertices = partition.num_vertices();
    match sources {
        Sources::All => Ok((0..vertices).map(GlobalId).collect()),
        Sources::Random { count, seed } => Ok(sample(vertices, *count, *seed)),
        Sources::Listed(names) => named(substrate, names, SOURCES),
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
pub(crate) fn sources_in(graph: &Graph, sources: &Sources) -> Result<Vec<GlobalId>> {
    let vertices = graph.num_vertices() as u64;
    match sources {
        Sources::All => Ok((0..vertices).map(GlobalId).collect()),
        Sources::Random { count, seed } => Ok(sample(vertices, *count, *seed)),
        Sources::Listed(names) => named_in(graph, names, SOURCES),
        Sources::Largest(count) => {
            let degrees = graph.adjacency.offsets().windows(2).map(|ends| ends[1] - ends[0]);
            let all = largest(degrees.zip(0..).collect(), *count);
            Ok(all.into_iter().map(|(_, vertex)| GlobalId(vertex)).collect())
        }
    }
}

/// So many vertices of largest degree, largest first, the lower one first among equals.
fn largest(mut all: Vec<(u64, u64)>, count: usize) -> Vec<(u64, u64)> {
    let key = |&(degree, vertex): &(u64, u64)| (Reverse(degree), vertex);
    if all.len() > count && count > 0 {
        all.select_nth_unstable_by_key(count - 1, key);
    }
    all.truncate(count);
    all.sort_unstable_by_key(key);
    all
}

/// So many distinct vertices, all equally likely, in ascending order; all if there are fewer.
fn sample(vertices: u64, count: usize, seed: u64) -> Vec<GlobalId> {
    let mut chosen = BTreeSet::new();
    let mut state = seed;
    let count = (count as u64).min(vertices);
    // Whoever comes later takes the place of a number that is taken (Floyd's way to draw).
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
