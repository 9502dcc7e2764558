//! Feeds bytes to the reader of the format that `PARTON_FUZZ_FORMAT` names, and to detection. Any
//! outcome is fine that the tests with hostile files allow too: a graph, or an error that names
//! the input; no panic, no hang, no memory out of proportion.
//!
//! The corpus, the folder `PARTON_FUZZ_CORPUS`, starts with the samples of those tests. Without a
//! format to fuzz, the names of all formats are printed instead.
#![no_main]

#[path = "../../crates/graph/tests/common/judge.rs"]
mod judge;
#[path = "../../crates/graph/tests/common/samples.rs"]
mod samples;

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use parton_graph::formats::{self, Format, ReadOptions};
use parton_graph::source::Source;

static FORMAT: OnceLock<&'static dyn Format> = OnceLock::new();

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let format = *FORMAT.get().expect("prepared");
    // Checksums, which mutations break, would hide everything behind them.
    let repaired = samples::repaired(format, bytes);
    let bytes = repaired.as_deref().unwrap_or(bytes);
    // Some formats are told by the ending.
    let name = format!("fuzz.{}", format.endings()[0]);
    for format in [Some(format), None] {
        let read =
            || formats::read(&Source::memory(&name[..], bytes)?, format, &ReadOptions::default());
        if let Err(complaint) = judge::judge(&name, judge::allowance(bytes.len()), read) {
            eprintln!("{complaint}");
            std::process::abort();
        }
    }
});

fn prepare() {
    let Ok(name) = std::env::var("PARTON_FUZZ_FORMAT") else {
        formats::ALL.iter().for_each(|format| println!("{}", format.name()));
        std::process::exit(0);
    };
    let format = formats::by_name(&name).expect("PARTON_FUZZ_FORMAT names a format");
    assert!(FORMAT.set(format).is_ok(), "prepared once");
    // The fuzzer's hook ends the process at any panic, even one that a reader contains.
    drop(std::panic::take_hook());
    // This thread does all the work: what it allocates is counted, and nothing waits for others.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no other pool");
    let Ok(corpus) = std::env::var("PARTON_FUZZ_CORPUS").map(PathBuf::from) else { return };
    for (i, sample) in samples::samples().into_iter().enumerate() {
        if sample.format.name() == name {
            let path = corpus.join(format!("{i}-{}", sample.name));
            std::fs::write(path, sample.bytes).expect("the corpus can be written");
        }
    }
}
