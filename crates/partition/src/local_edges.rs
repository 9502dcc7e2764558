//! A host's edges between local ids.

use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::parallel;
use parton_graph::{Adjacency, Csr, LocalId, Weight, WeightKind, huge};

use crate::layout::Layout;
use crate::shuffle::{Received, RunPlace};

/// The received edges, with weights of this kind, as a graph on local ids.
pub(crate) fn local_edges(received: &Received, layout: &Layout, weights: WeightKind) -> Adjacency {
    match weights {
        WeightKind::None => between_locals::<()>(received, layout).into(),
        WeightKind::U32 => between_locals::<u32>(received, layout).into(),
        WeightKind::F32 => between_locals::<f32>(received, layout).into(),
        WeightKind::F64 => between_locals::<f64>(received, layout).into(),
    }
}

fn between_locals<W: Weight>(received: &Received, layout: &Layout) -> Csr<W> {
    let vertices = layout.globals.len();
    let zeros = || parallel::generate(vertices, |_| AtomicU64::new(0));
    let (counts, places) = (zeros(), zeros());
    received.for_each_run(|place, run| {
        let local = layout.local(run.source) as usize;
        places[local].store(place.pack(), Ordering::Relaxed);
        counts[local].store(run.len() as u64, Ordering::Relaxed);
    });
    let offsets = parallel::offsets(vertices, |v| counts[v].load(Ordering::Relaxed));
    drop(counts);
    let edges = offsets[vertices] as usize;
    let (mut targets, mut weights) = (huge::zeroed_vec(edges), huge::zeroed_vec(edges));

    // Consecutive vertices fill consecutive windows, so threads never meet. Windows have about as many edges
    // each: masters of many edges may be numbered in turn.
    let share = edges.div_ceil(rayon::current_num_threads() * 16).max(1) as u64;
    let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
    let mut windows = Vec::new();
    let mut first = 0;
    while first < vertices {
        let goal = offsets[first] + share;
        let end = offsets.partition_point(|&offset| offset < goal).clamp(first + 1, vertices);
        let edges = (offsets[end] - offsets[first]) as usize;
        let window = "as many edges as were counted";
        let targets = free_targets.split_off_mut(..edges).expect(window);
        windows.push((first..end, targets, free_weights.split_off_mut(..edges).expect(window)));
        first = end;
    }
    parallel::for_each_owned(windows, |_, (vertices, targets, weights)| {
        let mut slots = targets.iter_mut().zip(weights);
        for v in vertices.filter(|&v| offsets[v] < offsets[v + 1]) {
            let run = received.run(RunPlace::unpack(places[v].load(Ordering::Relaxed)));
            let edges = run.destinations().zip(run.weights::<W>());
            for ((destination, weight), (target_slot, weight_slot)) in edges.zip(&mut slots) {
                *target_slot = LocalId(layout.local(destination));
                *weight_slot = weight;
            }
        }
    });
    Csr::from_parts(offsets.into(), targets.into(), weights.into())
}
