//! Programs agree with their translation for devices to the bit.

#[path = "../../compile/tests/all/checks.rs"]
pub(crate) mod checks;
#[path = "../../compile/tests/all/harness.rs"]
pub(crate) mod harness;

use parton_engine::{DeviceType, Relaxation};
use parton_program::{Delta, Program, RelaxSetting, Vertex};

use crate::sssp;
use harness::{Random, Slot};

const IDS: [u32; 6] = [3, 0, 7, 1 << 31, u32::MAX - 1, 9];

/// Levels that a graph can have: the next one does not wrap.
pub(crate) fn level(random: &mut Random) -> u32 {
    random.value::<u32>().min(u32::MAX - 1)
}

#[test]
fn levels() {
    for root in [7, 5] {
        let levels = crate::bfs::levels { root: Vertex(root) };
        let levels = levels.relaxed(RelaxSetting::default()).expect("a relaxation");
        checks::relaxation(&levels, &IDS, level);
    }
}

#[test]
fn components() {
    let least = crate::components::least {}.relaxed(RelaxSetting::default());
    checks::relaxation(&least.expect("a relaxation"), &IDS, Random::value);
}

#[test]
fn distances() {
    fn check<P: Program<Relaxed: Relaxation<Label: Slot, Weight: DeviceType + Slot>>>(program: P) {
        for width in [0.001, 1.0, 3.0, 1e12] {
            let setting = RelaxSetting { delta: Delta::new(width), ..RelaxSetting::default() };
            let distances = program.relaxed(setting).expect("a relaxation");
            checks::relaxation(&distances, &IDS, Random::value);
        }
    }
    let root = Vertex(1 << 31);
    check(crate::bfs::levels { root });
    check(sssp::narrow { root });
    check(sssp::wide { root });
    check(sssp::single { root });
    check(sssp::double { root });
}
