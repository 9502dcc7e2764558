//! Where the operators of a program run: on processors, or on a device.

use std::ops::{Deref, DerefMut};

use parton_engine::device::operators::Operators;
use parton_engine::device::{Device, OperatorsRequest};
use parton_graph::WeightKind;
use parton_sync::{Error, Result};

use crate::code::Outline;
use crate::processor::OnProcessors;

/// What runs operators on this host.
pub(super) enum OperatorsOf<'a> {
    Processors(Box<dyn OnProcessors<'a> + 'a>),
    Device(Box<dyn Operators + 'a>),
}

impl<'a> Deref for OperatorsOf<'a> {
    type Target = dyn Operators + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            OperatorsOf::Processors(operators) => &**operators,
            OperatorsOf::Device(operators) => &**operators,
        }
    }
}

impl DerefMut for OperatorsOf<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            OperatorsOf::Processors(operators) => &mut **operators,
            OperatorsOf::Device(operators) => &mut **operators,
        }
    }
}

/// Where operators run.
pub(crate) enum Place<'a, 'm> {
    /// On processors, by what makes operators of the facts which columns other hosts see.
    Processors(&'m dyn Fn(&[bool]) -> Box<dyn OnProcessors<'a> + 'a>),
    /// On a device, along edges of such weights.
    Device(&'a dyn Device, WeightKind),
}

/// What a device has to know of a program. An error if the program has no form for devices.
pub(super) fn request(
    code: &dyn Outline,
    weight: WeightKind,
    is_shared: Vec<bool>,
) -> Result<OperatorsRequest<'_>> {
    let plan = code.plan();
    let operators = code.device().map_err(|why| Error::Program {
        program: plan.name.clone(),
        why: format!("its operators do not run on devices: {why}"),
    })?;
    let identities = (0..plan.scalars.len()).map(|scalar| code.identity(scalar)).collect();
    Ok(OperatorsRequest { plan, operators, weight, is_shared, identities })
}
