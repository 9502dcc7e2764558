//! One core, as a plain function: a vertex with too few neighbours is removed, and each of its neighbours loses an edge.
//! Each vertex is removed once, whatever the order.

use parton_engine::EngineInfo;
use parton_program::{Field, Graph, Typed, program};

use super::Cores;
use crate::algorithm::Job;
use crate::compiled;
use crate::error::Result;

/// The members of the k-core of an undirected simple graph.
#[program(crate = parton_program)]
pub fn core(graph: &Graph<()>, k: u32) -> Field<bool> {
    let mut is_member = graph.field(true);
    let mut left = graph.field_with(|v| graph.out_degree(v) as u32);
    loop {
        let mut has_changed = false;
        for v in graph.vertices() {
            if is_member[v] && left[v] < k {
                is_member[v] = false;
                has_changed = true;
                for edge in graph.out_edges(v) {
                    left[edge.target] -= 1;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    is_member
}

/// Finds one core. Every host must call this.
pub(super) fn find(job: &mut Job<'_, '_>, engine: &'static EngineInfo, k: u32) -> Result<Cores> {
    let mut answered = compiled::run_part(job, engine, &core { k })?;
    let members = bool::of_values(answered.columns.remove(0));
    let cores = members.iter().map(|&is_member| if is_member { k } else { k.saturating_sub(1) });
    Ok(Cores {
        cores: cores.collect(),
        setup_seconds: answered.setup_seconds,
        report: answered.report,
        notes: Vec::new(),
    })
}
