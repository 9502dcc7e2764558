//! Feeds bytes to what `PARTON_FUZZ_TARGET` names: the reader of a format, and detection with it,
//! or the decoder of messages between hosts. Any outcome is fine that the tests with hostile bytes
//! allow too: no panic, no hang, no memory out of proportion, and for a reader a graph or an error
//! that names the input, for the decoder a message that fits its route or an error.
//!
//! The corpus, the folder `PARTON_FUZZ_CORPUS`, starts with the samples of those tests. Without a
//! target to fuzz, the names of all of them are printed instead.
#![no_main]

#[path = "../../crates/graph/tests/common/judge.rs"]
mod judge;
#[path = "../../crates/graph/tests/common/samples.rs"]
mod samples;
#[path = "../../crates/sync/tests/common/judge.rs"]
mod wire;

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use parton_graph::formats::{self, Format, ReadOptions};
use parton_graph::source::Source;

/// The name of the decoder among those of the formats.
const WIRE: &str = "wire";

#[derive(Clone, Copy)]
enum Target {
    Reader(&'static dyn Format),
    Wire,
}

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let judged = match *TARGET.get().expect("prepared") {
        Target::Reader(format) => judge_reader(format, bytes),
        Target::Wire => wire::judge(bytes).map(drop),
    };
    if let Err(complaint) = judged {
        eprintln!("{complaint}");
        std::process::abort();
    }
});

fn judge_reader(format: &'static dyn Format, bytes: &[u8]) -> Result<(), String> {
    // Checksums, which mutations break, would hide everything behind them.
    let repaired = samples::repaired(format, bytes);
    let bytes = repaired.as_deref().unwrap_or(bytes);
    // Some formats are told by the ending.
    let name = format!("fuzz.{}", format.endings()[0]);
    let judge_as = |format| {
        let read =
            || formats::read(&Source::memory(&name[..], bytes)?, format, &ReadOptions::default());
        judge::judge(&name, judge::allowance(bytes.len()), read).map(drop)
    };
    judge_as(Some(format))?;
    // Where detection finds the same format, the reader would do the same work again.
    let found = Source::memory(&name[..], bytes).and_then(|source| formats::detect(&source));
    match found {
        Ok(found) if found.name() == format.name() => Ok(()),
        _ => judge_as(None),
    }
}

fn prepare() {
    let Ok(name) = std::env::var("PARTON_FUZZ_TARGET") else {
        formats::ALL.iter().for_each(|format| println!("{}", format.name()));
        println!("{WIRE}");
        std::process::exit(0);
    };
    let target = match name.as_str() {
        WIRE => Target::Wire,
        name => Target::Reader(formats::by_name(name).expect("PARTON_FUZZ_TARGET names a target")),
    };
    assert!(TARGET.set(target).is_ok(), "prepared once");
    // The fuzzer's hook ends the process at any panic, even one that a reader contains.
    drop(std::panic::take_hook());
    // This thread does all the work: what it allocates is counted, and nothing waits for others.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no other pool");
    let Ok(corpus) = std::env::var("PARTON_FUZZ_CORPUS").map(PathBuf::from) else { return };
    for (i, (name, bytes)) in samples_of(target).into_iter().enumerate() {
        let path = corpus.join(format!("{i}-{name}"));
        std::fs::write(path, bytes).expect("the corpus can be written");
    }
}

/// What fuzzing starts with, and names for it.
fn samples_of(target: Target) -> Vec<(String, Vec<u8>)> {
    match target {
        Target::Reader(format) => {
            let all = samples::samples().into_iter();
            let own = all.filter(|sample| sample.format.name() == format.name());
            own.map(|sample| (sample.name, sample.bytes)).collect()
        }
        Target::Wire => wire::samples().into_iter().map(|bytes| (WIRE.into(), bytes)).collect(),
    }
}
