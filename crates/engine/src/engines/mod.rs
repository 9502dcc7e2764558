//! One engine per file; the registry below is the list of all.

pub mod blocks;
mod delta;
mod frontier;
mod pull;
mod push;
mod spmv;
mod traversal;
mod union;
mod vertex;

use parton_partition::Partition;
use parton_sync::Result;

use crate::device::{Device, device_program, device_relaxation};
use crate::program::{Relaxation, VertexProgram};
use crate::registry::{
    BuildEngine, EngineInfo, EngineList, ProgramEngine, ProgramForm, Registered, RelaxationEngine,
    engines,
};
use crate::state::edges::check_weights;

engines! {
    PUSH: push::Push,
    FRONTIER: frontier::FrontierEngine,
    PULL: pull::Pull,
    DELTA: delta::Delta,
    UNION: union::Union,
    SPMV: spmv::Spmv,
}

/// The engine `push` for a relaxation, on the device if there is one. An algorithm that never asks for another
/// engine calls this: the other engines are then not compiled for its program.
pub fn push_relaxation<'a, P: Relaxation>(
    device: Option<&'a dyn Device>,
    program: &'a P,
    partition: &'a Partition,
) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
    check_weights::<P::Weight>(partition)?;
    match device {
        Some(device) => device_relaxation(device, PUSH, program, partition),
        None => push::Push::relaxation(program, partition),
    }
}

/// The engines that run any vertex program.
pub const GENERAL: &[&EngineInfo] =
    const { &fitting(ProgramForm::VertexProgram { stationary: false }) }.as_slice();

/// The engines that fit programs of this form, the one that suits first.
pub const fn fitting(form: ProgramForm) -> EngineList {
    EngineList::of(REGISTRY, form)
}

/// The engine that suits programs of this form where nothing is known of the graph.
pub fn suiting(form: ProgramForm) -> &'static EngineInfo {
    fitting(form).as_slice()[0]
}

/// Whether the engine runs where only some hosts compute on devices.
pub fn mixes_with_devices(engine: &EngineInfo) -> bool {
    REGISTRY.iter().all(|entry| entry.info != engine || entry.mixes_with_devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(form: ProgramForm) -> String {
        let names: Vec<_> = fitting(form).as_slice().iter().map(|engine| engine.name).collect();
        names.join(" ")
    }

    #[test]
    fn engines_say_which_programs_they_are_for() {
        let relaxation = |passes_unchanged, first_wins, adds| {
            names(ProgramForm::Relaxation { passes_unchanged, first_wins, adds })
        };
        assert_eq!(relaxation(false, false, false), "push frontier pull spmv");
        assert_eq!(relaxation(false, true, false), "frontier push pull spmv");
        assert_eq!(relaxation(false, true, true), "frontier push pull delta spmv");
        assert_eq!(relaxation(true, false, false), "union push frontier pull spmv");
        assert_eq!(relaxation(true, true, false), "union push frontier pull spmv");
        assert_eq!(
            names(ProgramForm::VertexProgram { stationary: true }),
            "pull push frontier spmv"
        );
        assert_eq!(
            names(ProgramForm::VertexProgram { stationary: false }),
            "push frontier pull spmv"
        );
        assert_eq!(names(ProgramForm::Rotated), "frontier push pull spmv");
    }

    #[test]
    fn only_union_needs_hosts_of_one_kind() {
        let needs: Vec<_> = ALL.iter().filter(|engine| !mixes_with_devices(engine)).collect();
        assert_eq!(needs, [&UNION]);
    }
}
