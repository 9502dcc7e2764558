//! Columns of a program as fields on a device. Those of one type and one fold share their kernels.

use std::sync::Arc;

use parton_partition::Partition;
use parton_plan::{ColumnRole, CompiledPlan, Folding, PlannedColumn};
use parton_sync::{Delivery, Value, ValueKind};

use crate::driver::Driver;
use crate::error::Result;
use crate::field::{self, DeviceField};
use crate::launch::Kernels;

/// The fold of a column, by its name in C++.
fn fold(column: &PlannedColumn) -> &'static str {
    match column.role {
        ColumnRole::Accumulator(Folding::Min) => "Min",
        ColumnRole::Accumulator(Folding::Max) => "Max",
        ColumnRole::Accumulator(Folding::Sum) => "Sum",
        ColumnRole::Accumulator(Folding::Or) => "Or",
        _ => "Latest",
    }
}

/// What the kernels of a column are called.
fn name(column: &PlannedColumn) -> String {
    format!("{}_{}", column.ty, fold(column).to_lowercase())
}

/// The kernels of all columns: their names begin with this, and their text.
pub(super) fn texts(plan: &CompiledPlan) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for column in &plan.columns {
        let name = name(column);
        if all.iter().all(|(known, _)| *known != name) {
            let text = field::text(&name, &column.ty, &format!("{}<{}>", fold(column), column.ty));
            all.push((name, text));
        }
    }
    all
}

/// How values of a type travel.
pub(crate) fn kind(ty: &str) -> ValueKind {
    match ty {
        "u32" => u32::KIND,
        "u64" => u64::KIND,
        "i32" => i32::KIND,
        "i64" => i64::KIND,
        "f32" => f32::KIND,
        "f64" => f64::KIND,
        _ => bool::KIND,
    }
}

/// The columns of a program: fields start as zeros, accumulators with nothing.
pub(super) fn columns(
    plan: &CompiledPlan,
    is_shared: &[bool],
    (driver, kernels): (&Arc<dyn Driver>, &Arc<Kernels>),
    partition: &Partition,
) -> Result<Vec<DeviceField>> {
    let columns = plan.columns.iter().zip(is_shared).map(|(column, &is_shared)| {
        let delivery = match column.role {
            ColumnRole::Message | ColumnRole::Accumulator(_) => Delivery::Event,
            _ => Delivery::Label,
        };
        let (proxies, kind) = (partition.num_proxies(), (kind(&column.ty), delivery));
        let mut field = DeviceField::new(&name(column), kernels, driver, proxies, kind, is_shared)?;
        if is_shared {
            field.prepare(partition)?;
            if delivery == Delivery::Label {
                field.remember_owed()?;
            }
        }
        match column.role {
            ColumnRole::Accumulator(_) => field.forget(true)?,
            _ => field.values.queue_fill(0)?,
        }
        Ok(field)
    });
    columns.collect()
}
