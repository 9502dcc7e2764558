//! Every format against every truncation and every changed byte of small files, and against
//! headers that lie: always a graph or an error with a name, never a panic, never much memory.

mod common;

use common::samples::{Sample, samples};
use common::{examine, on_every_core};
use parton_graph::formats::{self, ReadOptions};
use parton_graph::source::Source;

/// Bytes that mean something to some reader.
const REPLACEMENTS: [u8; 7] = [0x00, 0xff, b'0', b'9', b'-', b'\n', b' '];

/// Every way in which a file of `len` bytes is harmed: cut at a length, or one byte changed.
fn harms(len: usize) -> usize {
    len + len * (8 + REPLACEMENTS.len())
}

fn harmed(bytes: &[u8], harm: usize) -> Vec<u8> {
    let Some(change) = harm.checked_sub(bytes.len()) else { return bytes[..harm].to_vec() };
    let (at, change) = (change / (8 + REPLACEMENTS.len()), change % (8 + REPLACEMENTS.len()));
    let mut bytes = bytes.to_vec();
    bytes[at] = match change {
        0..8 => bytes[at] ^ 1 << change,
        _ => REPLACEMENTS[change - 8],
    };
    bytes
}

#[test]
fn samples_are_sound_and_recognised() {
    for Sample { format, name, bytes } in samples() {
        let source = Source::memory(&name[..], bytes).unwrap();
        let read = |format| formats::read(&source, format, &ReadOptions::default());
        let told = read(Some(format)).unwrap_or_else(|e| panic!("{} {name}: {e}", format.name()));
        let found = read(None).unwrap_or_else(|e| panic!("{} {name}: {e}", format.name()));
        assert!(told.num_edges() > 0, "{name}");
        assert_eq!((told.adjacency, told.ids), (found.adjacency, found.ids), "{name}");
    }
}

#[test]
fn harmed_files_are_graphs_or_errors() {
    for Sample { format, name, bytes } in samples() {
        let complaints = on_every_core(2 * harms(bytes.len()), |i| {
            let harmed = harmed(&bytes, i / 2);
            let told = [Some(format), None][i % 2];
            examine(told, &name, &harmed)
                .map_err(|complaint| format!("{complaint}: {}", harmed.escape_ascii()))
        });
        assert!(complaints.is_empty(), "{} {name}: {complaints:#?}", format.name());
    }
}
