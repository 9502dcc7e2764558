//! Feeds bytes to what `PARTON_FUZZ_TARGET` names: the reader of a format, and detection with it,
//! text in one of the compressions, text tables with options, or the decoder of messages between
//! hosts. Any outcome is fine that the tests with hostile bytes allow too: no panic, no hang, no memory out of proportion, and for a reader a graph or an error
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
use parton_graph::formats::{
    self, ColumnKey, Columns, Decimal, Format, IdKind, ReadOptions, TextOptions,
};
use parton_graph::source::{Compression, Source};

/// The decoder of messages between hosts.
const WIRE: &str = "wire";
/// Text tables with options, which the last bytes of an input choose.
const TABLES: &str = "tables";
/// The format that text is read as.
const TEXT: &str = "edges";
/// One in this number of inputs is also read without being told its format.
const DETECTED_INPUTS: u8 = 8;
/// Bytes that choose options.
const OPTION_BYTES: usize = 4;
/// A line that is longer is an error. A few packed bytes can be such a line, which a buffer that doubles holds.
const LONGEST_LINE_BYTES: usize = 64 << 20;

#[derive(Clone, Copy)]
enum Target {
    Reader(&'static dyn Format),
    Packed(Compression),
    Tables,
    Wire,
}

impl Target {
    fn all() -> Vec<Target> {
        let readers = formats::ALL.iter().map(|format| Target::Reader(*format));
        let packed = Compression::ALL.into_iter().map(Target::Packed);
        readers.chain(packed).chain([Target::Tables, Target::Wire]).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Target::Reader(format) => format.name(),
            Target::Packed(compression) => compression.name(),
            Target::Tables => TABLES,
            Target::Wire => WIRE,
        }
    }

    fn judge(self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Target::Reader(format) => judge_reader(format, bytes),
            Target::Packed(compression) => {
                let name = format!("fuzz.txt{}", compression.ending());
                judge_read(&name, bytes, Some(text_format()), &ReadOptions::default())
            }
            Target::Tables => {
                let (text, choice) = bytes.split_at(bytes.len().saturating_sub(OPTION_BYTES));
                judge_read("fuzz.txt", text, Some(text_format()), &table_options(choice))
            }
            Target::Wire => wire::judge(bytes).map(drop),
        }
    }

    /// What fuzzing starts with, and names for it.
    fn samples(self) -> Vec<(String, Vec<u8>)> {
        let is_own = |sample: &samples::Sample| match self {
            Target::Reader(format) => sample.format.name() == format.name(),
            Target::Packed(compression) => {
                sample.format.name() == TEXT && sample.name.ends_with(compression.ending())
            }
            Target::Tables => sample.format.name() == TEXT,
            Target::Wire => false,
        };
        if let Target::Wire = self {
            return wire::samples().into_iter().map(|bytes| (WIRE.into(), bytes)).collect();
        }
        let own = samples::samples().into_iter().filter(is_own);
        own.map(|sample| (sample.name, sample.bytes)).collect()
    }
}

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    if let Err(complaint) = TARGET.get().expect("prepared").judge(bytes) {
        eprintln!("{complaint}");
        std::process::abort();
    }
});

fn text_format() -> &'static dyn Format {
    formats::by_name(TEXT).expect("edge lists are a format")
}

fn judge_read(
    name: &str,
    bytes: &[u8],
    format: Option<&'static dyn Format>,
    options: &ReadOptions<'_>,
) -> Result<(), String> {
    let read = || formats::read(&Source::memory(name, bytes)?, format, options);
    let unpacked = Compression::of(bytes).map_or(0, |_| 2 * LONGEST_LINE_BYTES);
    judge::judge(name, judge::allowance(bytes.len()) + unpacked, read).map(drop)
}

fn judge_reader(format: &'static dyn Format, bytes: &[u8]) -> Result<(), String> {
    // Checksums, which mutations break, would hide everything behind them.
    let repaired = samples::repaired(format, bytes);
    let bytes = repaired.as_deref().unwrap_or(bytes);
    // Some formats are told by the ending.
    let name = format!("fuzz.{}", format.endings()[0]);
    let options = ReadOptions::default();
    judge_read(&name, bytes, Some(format), &options)?;
    // The input itself decides, so that what was found once is found again.
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    if sum % DETECTED_INPUTS != 0 {
        return Ok(());
    }
    // Where detection finds the same format, the reader would do the same work again.
    let found = Source::memory(&name[..], bytes).and_then(|source| formats::detect(&source));
    match found {
        Ok(found) if found.name() == format.name() => Ok(()),
        _ => judge_read(&name, bytes, None, &options),
    }
}

/// Options of a table, a few bits of `choice` each.
fn table_options(choice: &[u8]) -> ReadOptions<'static> {
    let mut bits = choice.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
    let mut below = |bound: u32| {
        let chosen = bits % bound;
        bits /= bound;
        chosen as usize
    };
    let text = TextOptions {
        delimiter: [None, Some(b','), Some(b';'), Some(b' '), Some(b'|')][below(5)],
        skip_lines: [0, 0, 1, 1 << 40][below(4)],
        comment: [None, None, Some("#".into()), Some(String::new())][below(4)].clone(),
        decimal: [None, Some(Decimal::Point), Some(Decimal::Comma)][below(3)],
    };
    let position = |place: usize| match place {
        3 => ColumnKey::Name("w".into()),
        place => ColumnKey::Position(place),
    };
    let columns = (below(2) == 1).then(|| Columns {
        source: position(below(4)),
        destination: position(below(4)),
        weight: (below(2) == 1).then(|| position(below(4))),
    });
    ReadOptions {
        text,
        columns,
        header: [None, Some(true), Some(false)][below(3)],
        ids: [IdKind::Detect, IdKind::Integers, IdKind::Names][below(3)],
        bipartite: below(4) == 1,
        weights: below(4) != 1,
        ..ReadOptions::default()
    }
}

fn prepare() {
    let Ok(name) = std::env::var("PARTON_FUZZ_TARGET") else {
        Target::all().iter().for_each(|target| println!("{}", target.name()));
        std::process::exit(0);
    };
    let target = Target::all().into_iter().find(|target| target.name() == name);
    let target = target.expect("PARTON_FUZZ_TARGET names a target");
    assert!(TARGET.set(target).is_ok(), "prepared once");
    // The fuzzer's hook ends the process at any panic, even one that a reader contains.
    drop(std::panic::take_hook());
    // This thread does all the work: what it allocates is counted, and nothing waits for others.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no other pool");
    let Ok(corpus) = std::env::var("PARTON_FUZZ_CORPUS").map(PathBuf::from) else { return };
    for (i, (name, bytes)) in target.samples().into_iter().enumerate() {
        let path = corpus.join(format!("{i}-{name}"));
        std::fs::write(path, bytes).expect("the corpus can be written");
    }
}
