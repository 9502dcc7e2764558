//! The edges that operators visit, by the ends at which they start or collect.

use parton_engine::Edges;
use parton_graph::WeightKind;
use parton_partition::Partition;
use parton_plan::{CompiledPlan, EdgeDirection, EdgeSide};

use super::super::classes::Classes;
use crate::error::Result;
use crate::host::GpuHost;
use crate::rows::{DeviceEdges, Directions, Wanted};

/// Rows of edges by one of their ends, and by degree class where something is collected there.
pub(super) struct OperatorEdges {
    directions: Directions,
    /// Rows, by which edges a row has of its vertex: all of these are from the two directions.
    rows: Vec<(Edges, DeviceEdges)>,
    classes: Vec<(Edges, Classes)>,
    weight: WeightKind,
}

/// The rows of the active vertices: which edges of a vertex an operator visits.
pub(super) fn rows_of(direction: EdgeDirection) -> Edges {
    match direction {
        EdgeDirection::Out => Edges::Out,
        EdgeDirection::In => Edges::In,
        EdgeDirection::Both => Edges::Both,
    }
}

/// The rows that operators need, and those at which they collect.
pub(super) fn needed(plan: &CompiledPlan) -> (Vec<Edges>, Vec<Edges>) {
    let (mut rows, mut collected) = (Vec::new(), Vec::new());
    for operator in &plan.operators {
        let Some(direction) = operator.direction else { continue };
        rows.push(rows_of(direction));
        let folds = operator.traffic.folds.iter();
        for (_, side) in folds.filter(|(column, _)| plan.columns[*column].is_ordered()) {
            collected.push(match side {
                EdgeSide::Near => rows_of(direction),
                EdgeSide::Far => rows_of(direction).reversed(),
            });
        }
    }
    rows.extend(&collected);
    for list in [&mut rows, &mut collected] {
        list.sort_unstable_by_key(|edges| *edges as u8);
        list.dedup();
    }
    (rows, collected)
}

impl OperatorEdges {
    pub(super) fn upload(
        host: &GpuHost,
        plan: &CompiledPlan,
        partition: &Partition,
        weight: WeightKind,
    ) -> Result<Self> {
        let (needed, collected) = needed(plan);
        let only = |edges: Edges| needed.iter().all(|one| *one == edges);
        let (edges, wanted) = match (only(Edges::Out), only(Edges::In)) {
            (true, _) => (Edges::Out, Wanted::Forward),
            (_, true) => (Edges::In, Wanted::Forward),
            _ => (Edges::Out, Wanted::Both),
        };
        let directions =
            Directions::upload(host.uploader(), host.driver(), partition, edges, weight, wanted)?;
        let forward = &directions.forward;
        let rows = needed.iter().map(|&one| {
            let rows = match (&directions.reverse, one) {
                (Some(reverse), Edges::In) => reverse.clone(),
                (Some(reverse), Edges::Both) => forward.with(reverse),
                _ => forward.clone(),
            };
            (one, rows)
        });
        let rows = rows.collect();
        let classes = collected
            .into_iter()
            .map(|one| Ok((one, Classes::new(host, partition, one.reversed())?)));
        let classes = classes.collect::<Result<_>>()?;
        Ok(OperatorEdges { directions, rows, classes, weight })
    }

    /// What kernels know of edges: the types of offsets and weights.
    pub(super) fn define(&self) -> String {
        let weight = match self.weight {
            WeightKind::None => "Unit",
            WeightKind::U32 => "u32",
            WeightKind::F32 => "f32",
            _ => "f64",
        };
        format!("{}typedef {weight} Weight;\n", self.directions.define())
    }

    /// The rows with these edges of their vertices.
    pub(super) fn by(&self, rows: Edges) -> &DeviceEdges {
        let known = self.rows.iter().find(|(one, _)| *one == rows);
        known.map_or(&self.directions.forward, |(_, edges)| edges)
    }

    /// The same rows by degree class.
    pub(super) fn classes(&self, rows: Edges) -> &Classes {
        let known = self.classes.iter().find(|(one, _)| *one == rows);
        &known.expect("rows that collect").1
    }

    /// All edges that any operator visits.
    pub(super) fn all(&self) -> DeviceEdges {
        let forward = &self.directions.forward;
        self.directions.reverse.as_ref().map_or(forward.clone(), |reverse| forward.with(reverse))
    }
}
