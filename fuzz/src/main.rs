//! Feeds bytes to the reader of the format named by `PARTON_FUZZ_FORMAT`. Any outcome is fine but
//! a panic, a hang, an allocation out of proportion, or a graph that is none.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use parton_graph::formats::{self, Format, ReadOptions};
use parton_graph::source::Source;
use parton_graph::with_csr;

static FORMAT: LazyLock<&'static dyn Format> = LazyLock::new(|| {
    let name = std::env::var("PARTON_FUZZ_FORMAT").unwrap_or("edges".into());
    formats::by_name(&name).expect("PARTON_FUZZ_FORMAT names a format")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::memory("fuzz", bytes) else { return };
    if let Ok(graph) = formats::read(&source, Some(*FORMAT), &ReadOptions::default()) {
        with_csr!(&graph.adjacency, csr => csr.check()).expect("a graph");
        assert_eq!(graph.ids.len(), graph.num_vertices());
    }
});
