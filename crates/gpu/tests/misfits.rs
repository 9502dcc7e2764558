//! Programs whose form for devices does not fit them end in an error.

use std::sync::Arc;

use parton_engine::device::{Device, DeviceProgram};
use parton_engine::{Round, Vertex, VertexProgram, engines};
use parton_gpu::GpuHost;
use parton_gpu::emulated::{Emulated, Settings};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::reduction::{Latest, Sum};
use parton_sync::{Error, Tally};

/// A program whose form for devices knows states of 8 bytes, whatever its states are.
struct Sums<S> {
    first: S,
    is_reversed: bool,
}

impl<S: Copy + Send + Sync> VertexProgram for Sums<S> {
    type State = S;
    type Message = u64;
    type Messages = Latest<u64>;
    type Reduction = Sum<u64>;
    type Weight = ();

    fn init(&self, _: Vertex<'_>) -> S {
        self.first
    }

    fn scatter(&self, _: Vertex<'_>, _: &S) -> Option<u64> {
        Some(1)
    }

    fn along(&self, message: u64, (): ()) -> u64 {
        message
    }

    fn apply(&self, _: Vertex<'_>, _: &mut S, _: u64, _: &mut Tally) -> bool {
        false
    }

    fn round(&self) -> Round {
        Round { is_reversed: self.is_reversed, ..Round::default() }
    }

    fn device(&self) -> Option<DeviceProgram<'_>> {
        Some(DeviceProgram::new("", &[]).with_type::<u64>("State"))
    }
}

/// The error with which a device refuses a program.
fn refused<S: Copy + Send + Sync>(program: impl Fn() -> Sums<S> + Sync) -> Error {
    let host = GpuHost::new(Arc::new(Emulated::new(Settings::default())));
    let input = Input::open("path:5").unwrap();
    let mut refused = Cluster::local(1)
        .launch(|net| {
            let part = Partition::build(net, &input, &Plan::new("oec")).unwrap();
            let device = Some(&host as &dyn Device);
            Ok::<_, Error>(engines::vertex_program(engines::PUSH, device, program(), &part).err())
        })
        .unwrap();
    refused.remove(0).expect("the device refuses it")
}

#[test]
fn a_form_for_devices_that_knows_other_states_is_an_error() {
    let error = refused(|| Sums { first: [0u8; 3], is_reversed: false });
    let Error::DeviceMisfit { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("does not know the states [u8; 3]"), "{reason}");
}

#[test]
fn a_program_that_turns_and_does_not_say_so_is_an_error() {
    let error = refused(|| Sums { first: 0u64, is_reversed: true });
    assert!(matches!(error, Error::Program { .. }), "{error}");
}
