//! A host's edges between local ids.

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
    let mut offsets: Vec<u64> = huge::zeroed_vec(vertices + 1);
    let mut places: Vec<RunPlace> = huge::zeroed_vec(vertices);
    received.for_each_run(|place, run| {
        let local = layout.local(run.source) as usize;
        places[local] = place;
        offsets[local + 1] = run.len() as u64;
    });
    for v in 0..vertices {
        offsets[v + 1] += offsets[v];
    }
    let edges = offsets[vertices] as usize;
    let (mut targets, mut weights) = (huge::zeroed_vec(edges), huge::zeroed_vec(edges));

    // Consecutive vertices fill consecutive windows, so threads never meet.
    let chunk = vertices.div_ceil(rayon::current_num_threads() * 16).max(1);
    let (mut free_targets, mut free_weights) = (&mut targets[..], &mut weights[..]);
    let mut windows = Vec::new();
    for first in (0..vertices).step_by(chunk) {
        let end = (first + chunk).min(vertices);
        let edges = (offsets[end] - offsets[first]) as usize;
        let window = "as many edges as were counted";
        let targets = free_targets.split_off_mut(..edges).expect(window);
        windows.push((first..end, targets, free_weights.split_off_mut(..edges).expect(window)));
    }
    parallel::for_each_owned(windows, |_, (vertices, targets, weights)| {
        let mut slots = targets.iter_mut().zip(weights);
        for v in vertices.filter(|&v| offsets[v] < offsets[v + 1]) {
            let run = received.run(places[v]);
            let edges = run.destinations().zip(run.weights::<W>());
            for ((destination, weight), (target_slot, weight_slot)) in edges.zip(&mut slots) {
                *target_slot = LocalId(layout.local(destination));
                *weight_slot = weight;
            }
        }
    });
    Csr::from_parts(offsets.into(), targets.into(), weights.into())
}
