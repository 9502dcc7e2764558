//! Push of contributions, in a fixed order where the order shows in the result.
//!
//! Sums of floating-point numbers depend on their order. Threads then sort contributions by groups of
//! destinations, and one thread delivers each group in the order of the frontier: any number of threads
//! gives the same sums.

use parton_graph::{LocalId, Weight, parallel};
use parton_sync::{AtomicValue, CpuField, Delivery, Reduction};

use super::FRONTIER_VERTICES_PER_TASK;
use crate::state::directions::DirectionRows;

/// Below this many edges a push is faster in one thread.
const MIN_EDGES_TO_SHARE: u64 = 1 << 11;
/// Edges whose contributions are held at a time.
const EDGES_PER_BATCH: u64 = 1 << 20;
/// Edges that a thread sorts at a time.
const EDGES_PER_TASK: u64 = 1 << 14;
/// Groups of destinations.
const GROUPS: usize = 64;

/// Folds what the vertices of a frontier send along each of their edges into the accumulator at its other
/// end. This many `edges` leave the frontier. Accumulators that keep a label are updated only if it changes.
pub(crate) fn push<R: Reduction<Value: AtomicValue>, W: Weight, A: Fn(W) -> R::Value>(
    accumulators: &CpuField<R>,
    forward: DirectionRows<'_, W>,
    (frontier, edges): (&[LocalId], u64),
    sends: impl Fn(LocalId) -> A + Sync,
) {
    let is_event = accumulators.delivery() == Delivery::Event;
    let deliver = |neighbour, value| {
        if accumulators.fold(neighbour, value) || is_event {
            accumulators.updated().insert(neighbour);
        }
    };
    let push_one = |&vertex: &LocalId| {
        let along = sends(vertex);
        forward.each(vertex, |_| (), |end, weight| deliver(end, along(weight)));
    };
    if edges < MIN_EDGES_TO_SHARE {
        frontier.iter().for_each(push_one);
    } else if !R::ORDERED {
        let tasks: Vec<_> = frontier.chunks(FRONTIER_VERTICES_PER_TASK).collect();
        parallel::for_each(&tasks, |task| task.iter().for_each(push_one));
    } else {
        let per_group = accumulators.num_proxies().div_ceil(GROUPS).max(1);
        for batch in cut(frontier, forward, EDGES_PER_BATCH) {
            let tasks: Vec<_> = cut(batch, forward, EDGES_PER_TASK).collect();
            let sort = |task: &&[LocalId]| {
                let mut groups = vec![Vec::new(); GROUPS];
                for &vertex in *task {
                    let along = sends(vertex);
                    let mut put = |end: LocalId, weight| {
                        groups[end.index() / per_group].push((end, along(weight)));
                    };
                    forward.each(vertex, |_| (), &mut put);
                }
                groups
            };
            let sorted = parallel::map(&tasks, sort);
            parallel::for_each(&std::array::from_fn::<_, GROUPS, _>(|group| group), |&group| {
                for &(neighbour, value) in sorted.iter().flat_map(|task| &task[group]) {
                    deliver(neighbour, value);
                }
            });
        }
    }
}

/// Consecutive pieces of some vertices with about this many edges each.
fn cut<'f, W: Weight>(
    vertices: &'f [LocalId],
    forward: DirectionRows<'f, W>,
    edges: u64,
) -> impl Iterator<Item = &'f [LocalId]> {
    let mut rest = vertices;
    std::iter::from_fn(move || {
        let mut sum = 0;
        let fits = rest.iter().take_while(|&&vertex| {
            let has_room = sum < edges;
            sum += forward.degree(vertex);
            has_room
        });
        let (piece, after) = rest.split_at(fits.count());
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
