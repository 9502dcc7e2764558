//! A host's edges between local ids.

use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::parallel;
use parton_graph::{Adjacency, Csr, LocalId, Weight, WeightKind, huge};

use crate::layout::Layout;
use crate::shuffle::{Received, RunPlace, pieces};

/// The received edges, with weights of this kind, as a graph on local ids.
pub(crate) fn local_edges(received: &Received, layout: &Layout, weights: WeightKind) -> Adjacency {
    match weights {
        WeightKind::None => between_locals::<()>(received, layout).into(),
        WeightKind::U32 => between_locals::<u32>(received, layout).into(),
        WeightKind::F32 => between_locals::<f32>(received, layout).into(),
        WeightKind::F64 => between_locals::<f64>(received, layout).into(),
    }
}

/// Instead of the place of a run: a kept row has no such number.
const NO_RUN: u64 = u64::MAX;

fn between_locals<W: Weight>(received: &Received, layout: &Layout) -> Csr<W> {
    let vertices = layout.globals.len();
    // Each vertex has one run, so no two threads write to one place.
    let places = parallel::generate(vertices, |_| AtomicU64::new(NO_RUN));
    received.for_each_run(|place, run| {
        places[layout.local(run.source) as usize].store(bytemuck::cast(place), Ordering::Relaxed);
    });
    let run_of = |vertex: usize| match places[vertex].load(Ordering::Relaxed) {
        NO_RUN => None,
        place => Some(received.run(bytemuck::cast::<u64, RunPlace>(place))),
    };
    let offsets = parallel::prefix_sums(vertices, |v| run_of(v).map_or(0, |run| run.len() as u64));
    let edges = offsets[vertices] as usize;
    let (mut targets, mut weights) = (huge::zeroed_vec(edges), huge::zeroed_vec(edges));

    // Consecutive vertices fill consecutive windows, so threads never meet.
    let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
    let mut windows = Vec::new();
    for piece in pieces(&offsets) {
        let edges = (offsets[piece.end] - offsets[piece.start]) as usize;
        let window = "as many edges as were counted";
        let targets = free_targets.split_off_mut(..edges).expect(window);
        windows.push((piece, targets, free_weights.split_off_mut(..edges).expect(window)));
    }
    parallel::for_each_owned(windows, |_, (vertices, targets, weights)| {
        let mut slots = targets.iter_mut().zip(weights);
        for run in vertices.filter_map(run_of) {
            let edges = run.destinations().zip(run.weights::<W>());
            for ((destination, weight), (target_slot, weight_slot)) in edges.zip(&mut slots) {
                *target_slot = LocalId(layout.local(destination));
                *weight_slot = weight;
            }
        }
    });
    Csr::from_parts(offsets.into(), targets.into(), weights.into())
}
