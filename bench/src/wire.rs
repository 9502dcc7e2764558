//! How fast messages are planned, written and read: nanoseconds per value, on one core.
//!
//! No rival here. Messages fit in the cache, as those of a round between two hosts mostly do.

use std::hint::black_box;
use std::time::Instant;

use parton_sync::encode::{EncodingPlan, Places, ValueKind, decode};

const LEN: usize = 1 << 16;
const TURNS: usize = 200;

pub(crate) fn run() {
    println!("{:36} {:>6} {:>6} {:>6} {:>10}", "ns per value", "plan", "write", "read", "bytes");
    for width in [0, 1, 4, 7, 12, 17, 24, 31] {
        let values = integers(LEN, width).iter().flat_map(|x| (*x as u32).to_le_bytes()).collect();
        measure(&format!("all places, u32 of {width} bits"), ValueKind::U32, None, values);
    }
    for width in [7, 33, 60] {
        let values = integers(LEN, width).iter().flat_map(|x| x.to_le_bytes()).collect();
        measure(&format!("all places, u64 of {width} bits"), ValueKind::U64, None, values);
    }
    measure("all places, 4 plain bytes", ValueKind::Plain(4), None, vec![1; LEN * 4]);
    // Values of no bytes: the time and the size of places alone.
    for percent in [0.1, 1.0, 5.0, 20.0, 50.0, 80.0, 95.0, 99.0] {
        let threshold = (percent / 100.0 * (1u64 << 32) as f64) as u64;
        let there = integers(LEN, 32).into_iter().map(|x| x < threshold);
        let places = (0..LEN as u32).zip(there).filter_map(|(place, there)| there.then_some(place));
        let name = format!("{percent} % of the places");
        measure(&name, ValueKind::Plain(0), Some(places.collect()), Vec::new());
    }
}

/// Random integers of this many bits.
fn integers(count: usize, width: u32) -> Vec<u64> {
    let mut state = 1u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(|_| next().checked_shr(u64::BITS - width).unwrap_or(0)).collect()
}

fn measure(name: &str, kind: ValueKind, places: Option<Vec<u32>>, values: Vec<u8>) {
    let count = places.as_ref().map_or(LEN, Vec::len);
    let places = places.as_deref().map_or(Places::All, Places::Some);
    let plan = EncodingPlan::new(kind, LEN, places, &values);
    let message = plan.write();
    let [plan, write, read] = [
        best(&mut || _ = black_box(EncodingPlan::new(kind, LEN, black_box(places), &values))),
        best(&mut || drop(black_box(plan.write()))),
        best(&mut || drop(black_box(decode(kind, LEN, black_box(&message))))),
    ]
    .map(|seconds| seconds * 1e9 / count as f64);
    println!("{name:36} {plan:6.2} {write:6.2} {read:6.2} {:10}", message.len());
}

/// Seconds of the fastest of several turns.
fn best(work: &mut dyn FnMut()) -> f64 {
    let turn = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..TURNS).map(turn).fold(f64::INFINITY, f64::min)
}
