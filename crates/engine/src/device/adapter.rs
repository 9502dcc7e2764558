//! An engine on a device, with the face of an engine of a program.

use std::any::type_name;
use std::borrow::Cow;
use std::marker::PhantomData;

use parton_graph::Weight;
use parton_partition::Partition;
use parton_sync::value::Number;
use parton_sync::{Error, Phase, Reduction, Result, Substrate, Tally, Value};

use super::operators::{Operators, OperatorsRequest};
use super::{Device, DeviceEngine, ProgramRequest, RelaxationRequest, untranslated};
use crate::engine::{Conclusion, Engine, Next, Paced};
use crate::program::{Accumulated, Relaxation, VertexProgram, next_round};
use crate::registry::{EngineInfo, ProgramEngine, RelaxationEngine};

/// Builds the engine of a device for a relaxation.
pub(crate) fn device_relaxation<'a, P: Relaxation>(
    device: &'a dyn Device,
    engine: &EngineInfo,
    program: &'a P,
    partition: &'a Partition,
) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
    check_beside_devices(device, partition)?;
    let request = RelaxationRequest {
        program: Relaxation::device(program).ok_or_else(|| untranslated(device))?,
        label: P::Label::KIND,
        weight: P::Weight::KIND,
        edges: program.edges(),
        first_wins: program.first_wins(),
        passes_unchanged: program.passes_unchanged(),
        filters: P::FILTERS,
    };
    let engine = device.relaxation(engine, request, partition)?;
    let running = OnDevice { device, engine, is_shared: partition.num_hosts() > 1 };
    let num_masters = partition.num_masters();
    Ok(Box::new(RelaxationOnDevice { running, num_masters, program: PhantomData::<&P> }))
}

/// Builds the engine of a device for a vertex program.
pub(crate) fn device_program<'a, P: VertexProgram + 'a>(
    device: &'a dyn Device,
    engine: &EngineInfo,
    program: P,
    partition: &'a Partition,
) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
    check_beside_devices(device, partition)?;
    let request = ProgramRequest {
        program: VertexProgram::device(&program).ok_or_else(|| untranslated(device))?,
        state_bytes: size_of::<P::State>(),
        message: P::Message::KIND,
        accumulated: <Accumulated<P> as Value>::KIND,
        is_ordered: <P::Reduction as Reduction>::ORDERED,
        messages_commute: <P::Messages as Reduction>::COMMUTES,
        weight: P::Weight::KIND,
        properties: program.properties(),
        round: next_round(&program)?,
    };
    if !request.program.knows::<P::State>("State") {
        let (program, state) = (type_name::<P>(), type_name::<P::State>());
        return Err(Error::DeviceMisfit {
            device: device.name(),
            reason: format!("the form for devices of {program} does not know the states {state}"),
        });
    }
    let engine = device.vertex_program(engine, request, partition)?;
    let running = OnDevice { device, engine, is_shared: partition.num_hosts() > 1 };
    let num_masters = partition.num_masters();
    Ok(Box::new(ProgramOnDevice { running, num_masters, program }))
}

/// Gives a device the columns and operators of a compiled program.
pub fn device_operators<'a>(
    device: &'a dyn Device,
    request: OperatorsRequest<'a>,
    partition: &'a Partition,
) -> Result<Box<dyn Operators + 'a>> {
    check_beside_devices(device, partition)?;
    device.operators(request, partition)
}

/// An engine, and the device that it queues work on.
struct OnDevice<'a> {
    device: &'a dyn Device,
    engine: Box<dyn DeviceEngine + 'a>,
    /// Whether other hosts take part.
    is_shared: bool,
}

impl OnDevice<'_> {
    /// Computes, and waits for the device where an exchange follows: the time would else count as that
    /// of the exchange. Nothing is lost by it, since an exchange begins with the number of updated values,
    /// which is known when the device has computed.
    fn compute(&mut self) -> Result<u64> {
        let edges = self.engine.compute()?;
        if self.is_shared {
            self.device.wait()?;
        }
        Ok(edges)
    }
}

/// Other hosts must know that there is a device: some engines would exchange what devices do not know.
fn check_beside_devices(device: &dyn Device, partition: &Partition) -> Result<()> {
    match partition.num_hosts() == 1 || partition.is_beside_devices() {
        true => Ok(()),
        false => Err(Error::Device {
            device: device.name(),
            reason: "the other hosts do not know of it: call `Partition::beside_devices` on all"
                .into(),
        }),
    }
}

/// A relaxation on a device.
struct RelaxationOnDevice<'a, P> {
    running: OnDevice<'a>,
    num_masters: usize,
    program: PhantomData<&'a P>,
}

/// A vertex program on a device. The program itself stays with the host, where it learns what all
/// hosts summed up.
struct ProgramOnDevice<'a, P> {
    running: OnDevice<'a>,
    num_masters: usize,
    program: P,
}

/// The methods that a device's engine does by itself.
macro_rules! forward_to_device {
    () => {
        fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
            self.running.engine.begin(substrate)
        }

        fn compute(&mut self) -> Result<u64> {
            self.running.compute()
        }

        fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
            self.running.engine.exchange(phase, substrate)
        }

        fn apply(&mut self) -> Result<Tally> {
            self.running.engine.apply()
        }

        fn next(&mut self) -> Result<Next> {
            self.running.engine.next()
        }

        fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
            self.running.engine.paced()
        }
    };
}

impl<P: Relaxation> Engine for RelaxationOnDevice<'_, P> {
    forward_to_device!();

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        self.running.engine.conclude(total, substrate)
    }
}

impl<P: VertexProgram> Engine for ProgramOnDevice<'_, P> {
    forward_to_device!();

    fn conclude(&mut self, total: &Tally, _: &mut Substrate<'_>) -> Result<Conclusion> {
        let has_ended = self.program.conclude(total);
        let conclusion = Conclusion { has_ended, measure: self.program.measure() };
        if let Some(program) = VertexProgram::device(&self.program) {
            self.running.engine.update_parameters(&program)?;
        }
        self.running.engine.prepare_round(next_round(&self.program)?)?;
        Ok(conclusion)
    }
}

impl<P: Relaxation> RelaxationEngine<P> for RelaxationOnDevice<'_, P> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        let mut labels = vec![P::Label::ZERO; self.num_masters];
        self.running.engine.read_values(bytemuck::cast_slice_mut(&mut labels))?;
        Ok(labels)
    }
}

impl<P: VertexProgram> ProgramEngine<P> for ProgramOnDevice<'_, P> {
    fn states(&self) -> Result<Cow<'_, [P::State]>> {
        let mut states = Vec::<P::State>::with_capacity(self.num_masters);
        let bytes = self.num_masters * size_of::<P::State>();
        // SAFETY: the vector has room for that many bytes, and all of them are written before they
        // are read.
        let room = unsafe {
            states.as_mut_ptr().cast::<u8>().write_bytes(0, bytes);
            std::slice::from_raw_parts_mut(states.as_mut_ptr().cast::<u8>(), bytes)
        };
        self.running.engine.read_values(room)?;
        // SAFETY: the program's functions know `P::State` as a `DeviceType`, which any bytes are.
        unsafe { states.set_len(self.num_masters) };
        Ok(Cow::Owned(states))
    }

    fn program(&self) -> &P {
        &self.program
    }
}
