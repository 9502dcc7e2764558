//! How far predictions are off: over the ratings that were learnt from, and over those kept apart.

use parton_engine::sides::{Side, Sides};
use parton_graph::{Graph, LocalId, Weight, with_csr};
use parton_partition::{End, Partition};
use parton_sync::reduction::Latest;
use parton_sync::{Delivery, Substrate, VectorField};
use rayon::prelude::*;

use super::model::product;
use crate::error::Result;

/// Sources per task. Sums are rounded task by task, so this must not depend on the number of threads.
const VERTICES_PER_TASK: usize = 1 << 10;
/// The owner of a vertex without ratings to learn from.
const NO_OWNER: u16 = u16::MAX;

/// Factors of this host's masters.
#[derive(Clone, Copy)]
pub(super) struct Factors<'f> {
    pub(super) width: usize,
    pub(super) elements: &'f [f32],
}

impl<'f> Factors<'f> {
    fn of(self, master: LocalId) -> &'f [f32] {
        &self.elements[master.index() * self.width..][..self.width]
    }
}

/// How far predictions are off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Errors {
    /// Root of the mean squared error.
    pub(super) rmse: f64,
    /// Number of ratings predicted.
    pub(super) ratings: u64,
    /// Ratings of users or items that nothing was learnt of: they are not predicted.
    pub(super) cold: u64,
}

/// Errors over all ratings of the graph. Every host must call this.
pub(super) fn of_training(substrate: &mut Substrate<'_>, factors: Factors<'_>) -> Result<Errors> {
    let partition = substrate.partition();
    let rows = (0..partition.num_proxies() as u32).collect();
    let masters = partition.num_masters();
    let start = |proxy: LocalId, vector: &mut [f32]| {
        if proxy.index() < masters {
            vector.copy_from_slice(factors.of(proxy));
        }
    };
    let mut known = VectorField::<Latest<f32>>::new(factors.width, rows, Delivery::Label, start);
    known.updated().insert_range(0..masters as u32);
    substrate.broadcast(&mut known, End::Either)?;
    let squares = squares(partition, &known);
    sum_up(substrate, squares, partition.out_edges().num_edges(), 0)
}

/// Squared errors of this host's ratings, all together.
fn squares(partition: &Partition, known: &VectorField<Latest<f32>>) -> f64 {
    let of_piece = |first: usize| -> f64 {
        let sources = first..(first + VERTICES_PER_TASK).min(partition.num_proxies());
        with_csr!(partition.out_edges(), csr => {
            let of_source = |source: LocalId| -> f64 {
                let user = known.get(source);
                let square = |(item, rating)| squared_error(user, known.get(item), rating);
                csr.edges(source).map(square).sum()
            };
            sources.map(|source| of_source(LocalId(source as u32))).sum()
        })
    };
    let pieces: Vec<usize> = (0..partition.num_proxies()).step_by(VERTICES_PER_TASK).collect();
    let sums: Vec<f64> = pieces.into_par_iter().map(of_piece).collect();
    sums.into_iter().sum()
}

#[inline]
fn squared_error(user: &[f32], item: &[f32], rating: impl Weight) -> f64 {
    (rating.to_f64() - f64::from(product(user, item))).powi(2)
}

/// Errors over ratings that were kept from learning. They are between the same users and items, as
/// users call them. Every host must call this.
pub(super) fn of_test(
    substrate: &mut Substrate<'_>,
    factors: Factors<'_>,
    sides: &Sides,
    test: &Graph,
) -> Result<Errors> {
    let partition = substrate.partition();
    let hosts = partition.num_hosts();
    let me = partition.host().0;
    let mine = known_here(partition, sides, test);
    let owners = owners(substrate, test, &mine)?;
    // A user's ratings are predicted where the user is; items that are elsewhere are asked for.
    let users = || mine.iter().filter(|known| known.side == Side::Source);
    let is_known = |item: &LocalId| owners.items[item.index()] != NO_OWNER;
    let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); hosts];
    with_csr!(&test.adjacency, csr => {
        let mut seen = vec![false; test.num_vertices()];
        for item in users().flat_map(|user| csr.targets(user.vertex)).filter(|item| is_known(item)) {
            if !std::mem::replace(&mut seen[item.index()], true) {
                wanted[usize::from(owners.items[item.index()])].push(item.0);
            }
        }
    });
    let items = fetch(substrate, factors, test, &mine, &wanted)?;
    let (mut sum, mut ratings) = (0.0, 0);
    with_csr!(&test.adjacency, csr => {
        for user in users() {
            for (item, rating) in csr.edges(user.vertex).filter(|(item, _)| is_known(item)) {
                let vector = &items.elements[items.rows[item.index()] as usize * factors.width..];
                sum += squared_error(factors.of(user.master), &vector[..factors.width], rating);
                ratings += 1;
            }
        }
    });
    // Ratings of users without an owner are counted once, by the first host.
    let cold = with_csr!(&test.adjacency, csr => {
        let of_user = |user: LocalId| match owners.users[user.index()] {
            NO_OWNER if me == 0 => csr.degree(user),
            owner if owner == me => csr.targets(user).iter().filter(|item| !is_known(item)).count(),
            _ => 0,
        };
        csr.vertices().map(of_user).sum::<usize>() as u64
    });
    sum_up(substrate, sum, ratings, cold)
}

fn sum_up(substrate: &mut Substrate<'_>, squares: f64, ratings: u64, cold: u64) -> Result<Errors> {
    let squares = substrate.net().all_reduce(squares, |a, b| a + b)?;
    let [ratings, cold] =
        substrate.net().all_reduce([ratings, cold], |a, b| [a[0] + b[0], a[1] + b[1]])?;
    Ok(Errors { rmse: (squares / ratings.max(1) as f64).sqrt(), ratings, cold })
}

/// A vertex of the test that this host masters, and of which something was learnt.
struct Known {
    /// In the test.
    vertex: LocalId,
    /// In the partition.
    master: LocalId,
    side: Side,
}

fn known_here(partition: &Partition, sides: &Sides, test: &Graph) -> Vec<Known> {
    let masters = (0..partition.num_masters() as u32).map(LocalId);
    let known = masters.filter_map(|master| {
        let side = sides.of(master);
        let found = test.ids.find(partition.original(master)).filter(|_| side != Side::Neither);
        found.map(|vertex| Known { vertex: LocalId(vertex as u32), master, side })
    });
    known.collect()
}

/// Who masters the vertices of the test: as users, and as items.
struct Owners {
    users: Vec<u16>,
    items: Vec<u16>,
}

/// Finds out. Every host must call this.
fn owners(substrate: &mut Substrate<'_>, test: &Graph, mine: &[Known]) -> Result<Owners> {
    let of_side = |side: Side| {
        let known = mine.iter().filter(|known| known.side == side).map(|known| known.vertex.0);
        known.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    let mut gather = |side: Side| -> Result<Vec<u16>> {
        let mut owners = vec![NO_OWNER; test.num_vertices()];
        for (host, known) in substrate.net().all_gather(of_side(side))?.iter().enumerate() {
            for vertex in bytemuck::pod_collect_to_vec::<u8, u32>(known) {
                owners[vertex as usize] = host as u16;
            }
        }
        Ok(owners)
    };
    Ok(Owners { users: gather(Side::Source)?, items: gather(Side::Destination)? })
}

/// Vectors of items of the test.
struct Items {
    /// Of every item that was asked for.
    rows: Vec<u32>,
    elements: Vec<f32>,
}

/// Asks each host for the vectors of its `wanted` items. Every host must call this.
fn fetch(
    substrate: &mut Substrate<'_>,
    factors: Factors<'_>,
    test: &Graph,
    mine: &[Known],
    wanted: &[Vec<u32>],
) -> Result<Items> {
    let mut masters = vec![LocalId(u32::MAX); test.num_vertices()];
    let items = mine.iter().filter(|known| known.side == Side::Destination);
    items.for_each(|known| masters[known.vertex.index()] = known.master);
    let questions = wanted.iter().map(|list| bytemuck::cast_slice(list).to_vec()).collect();
    let answer = |question: &Vec<u8>| {
        let asked = bytemuck::pod_collect_to_vec::<u8, u32>(question);
        let vectors = asked.iter().flat_map(|&item| factors.of(masters[item as usize]));
        vectors.flat_map(|factor| factor.to_le_bytes()).collect::<Vec<u8>>()
    };
    let answers = substrate.net().all_to_all(questions)?.iter().map(answer).collect();
    let answers = substrate.net().all_to_all(answers)?;
    let mut rows = vec![u32::MAX; test.num_vertices()];
    for (row, &item) in wanted.iter().flatten().enumerate() {
        rows[item as usize] = row as u32;
    }
    let elements = answers.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, f32>(bytes));
    Ok(Items { rows, elements: elements.collect() })
}
