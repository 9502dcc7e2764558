//! Finding vertices by their original ids.

use std::collections::{BTreeSet, HashMap};

use parton_graph::{GlobalId, Graph, LocalId, OriginalId};
use parton_sync::Substrate;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// An error lists at most this many ids that are not in the graph.
const MAX_LISTED_IDS: usize = 5;

/// The vertices with these original ids, each once, in the order of the ids. An error names the
/// `option` that they are from. Every host must call this.
pub fn find(substrate: &mut Substrate<'_>, ids: &[String], option: &str) -> Result<Vec<GlobalId>> {
    let partition = substrate.partition();
    let wanted = Wanted::new(ids);
    let masters = (0..partition.num_masters() as u32).into_par_iter().map(LocalId);
    let found = masters.filter_map(|master| {
        let place = wanted.place(partition.original(master))?;
        Some([place as u64, partition.global(master).0])
    });
    let mine: Vec<[u64; 2]> = found.collect();
    let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
    let pairs = all.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, [u64; 2]>(bytes));
    wanted.resolve(ids, pairs.map(|[place, vertex]| (place as usize, vertex)), option)
}

/// The same in a whole graph.
pub fn find_in(graph: &Graph, ids: &[String], option: &str) -> Result<Vec<GlobalId>> {
    let places = ids.iter().enumerate();
    let found = places.filter_map(|(place, id)| Some((place, graph.ids.find_text(id)? as u64)));
    Wanted::new(ids).resolve(ids, found, option)
}

/// The first place of every id on the list, for graphs whose ids are integers and for names.
struct Wanted<'n> {
    integers: HashMap<u64, usize>,
    names: HashMap<&'n [u8], usize>,
}

impl<'n> Wanted<'n> {
    fn new(ids: &'n [String]) -> Self {
        // Backwards, as the map keeps what it is given last.
        let places = || ids.iter().enumerate().rev();
        let integer = |(place, id): (usize, &String)| Some((id.parse().ok()?, place));
        Wanted {
            integers: places().filter_map(integer).collect(),
            names: places().map(|(place, id)| (id.as_bytes(), place)).collect(),
        }
    }

    fn place(&self, id: OriginalId<'_>) -> Option<usize> {
        match id {
            OriginalId::Integer(id) => self.integers.get(&id).copied(),
            OriginalId::Name(name) => self.names.get(name).copied(),
        }
    }

    /// The vertices in the order of the ids, if every id has one.
    fn resolve(
        &self,
        ids: &[String],
        found: impl Iterator<Item = (usize, u64)>,
        option: &str,
    ) -> Result<Vec<GlobalId>> {
        let by_place: HashMap<usize, u64> = found.collect();
        let mut missing = Vec::new();
        let (mut vertices, mut known) = (Vec::new(), BTreeSet::new());
        for (place, id) in ids.iter().enumerate() {
            let same = id.parse().ok().and_then(|id| self.integers.get(&id));
            let first = same.or_else(|| self.names.get(id.as_bytes()));
            match first.and_then(|first| by_place.get(first)).or_else(|| by_place.get(&place)) {
                Some(&vertex) if known.insert(vertex) => vertices.push(GlobalId(vertex)),
                Some(_) => {}
                None => missing.push(&id[..]),
            }
        }
        match missing.len() {
            0 => Ok(vertices),
            count => {
                missing.truncate(MAX_LISTED_IDS);
                let more = match count - missing.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let listed = missing.join(", ");
                Err(Error::Request(format!(
                    "`{option}` names vertices that are not in the graph: {listed}{more}"
                )))
            }
        }
    }
}
