//! Programs agree with their translation for devices to the bit.

#[path = "../../compile/tests/all/checks.rs"]
pub(crate) mod checks;
#[path = "../../compile/tests/all/harness.rs"]
pub(crate) mod harness;

use parton_engine::DeviceType;
use parton_graph::{GlobalId, Weight};

use crate::bfs::Levels;
use crate::components::Least;
use crate::sssp::{Delta, Distance, Distances};
use harness::{Random, Slot};

const IDS: [u32; 6] = [3, 0, 7, 1 << 31, u32::MAX - 1, 9];

/// Levels that a graph can have: the next one does not wrap.
pub(crate) fn level(random: &mut Random) -> u32 {
    random.value::<u32>().min(u32::MAX - 1)
}

#[test]
fn levels() {
    checks::relaxation(&Levels { root: Some(GlobalId(7)) }, &IDS, level);
    checks::relaxation(&Levels { root: None }, &IDS, level);
}

#[test]
fn components() {
    checks::relaxation(&Least { symmetric: true }, &IDS, Random::value);
}

#[test]
fn distances() {
    fn check<D: Distance + Slot, W: Weight + DeviceType + Slot>() {
        for width in [0.001, 1.0, 3.0, 1e12] {
            let distances = Distances::<D, W>::new(Some(GlobalId(1 << 31)));
            let distances = distances.with_delta(Delta::new(width));
            checks::relaxation(&distances, &IDS, Random::value);
        }
    }
    check::<u32, ()>();
    check::<u32, u32>();
    check::<u64, u32>();
    check::<f64, f32>();
    check::<f64, f64>();
}
