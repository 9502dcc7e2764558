//! A few thousand mutations of every format's samples, the same ones every time: what a fuzzer
//! finds first. `PARTON_FUZZ_INPUTS` asks for more of them per format.

use crate::common;

use common::samples::{Sample, repaired, samples};
use common::{examine, on_every_core};
use parton_graph::formats;
use parton_graph::hash::{GOLDEN_GAMMA, splitmix64};

/// Numbers that go wrong when they are added to, multiplied, narrowed or allocated.
const EXTREMES: [u64; 12] = [
    0,
    1,
    1 << 15,
    1 << 16,
    u32::MAX as u64 >> 1,
    u32::MAX as u64,
    1 << 32,
    1 << 53,
    1 << 61,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Words and bytes that mean something to some reader.
const WORDS: [&[u8]; 24] = [
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\t",
    b",",
    b";",
    b"\"",
    b"#",
    b"%",
    b"//",
    b"-",
    b"+",
    b".",
    b"e9",
    b"nan",
    b"inf",
    b"1e999",
    b"-0",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
];

/// No input grows beyond this: what is long is slow, and no more hostile.
const LONGEST: usize = 4096;

/// Numbers that depend on nothing but the seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        let rolled = splitmix64(self.0);
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        rolled
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit.max(1) as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A short range of positions in `len` bytes.
    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let most = if self.below(4) == 0 { len } else { 16 };
        start..(start + self.below(most + 1)).min(len)
    }
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let range = dice.range(bytes.len());
    match dice.below(8) {
        // One bit, or a whole byte.
        0 | 1 if !bytes.is_empty() => {
            let at = dice.below(bytes.len());
            bytes[at] =
                if dice.below(2) == 0 { dice.roll() as u8 } else { bytes[at] ^ 1 << dice.below(8) };
        }
        // Ranges go, come twice, or move.
        2 => drop(bytes.drain(range)),
        3 => {
            let copy = bytes[range].to_vec();
            let at = dice.below(bytes.len() + 1);
            bytes.splice(at..at, copy);
        }
        // The front of one file, the back of another.
        4 => {
            bytes.truncate(range.start);
            bytes.extend_from_slice(&other[dice.below(other.len() + 1)..]);
        }
        5 => drop(bytes.splice(range.start..range.start, dice.of(&WORDS).to_vec())),
        // A number as text gives way to another …
        6 => {
            let is_digit = |&at: &usize| bytes[at].is_ascii_digit();
            if let Some(start) = (range.start..bytes.len()).find(is_digit) {
                let end = (start..bytes.len()).find(|at| !is_digit(at)).unwrap_or(bytes.len());
                let number = dice.of(&EXTREMES).to_string();
                let number = if dice.below(4) == 0 { format!("-{number}9") } else { number };
                bytes.splice(start..end, number.into_bytes());
            }
        }
        // … and one as bytes, where binary formats keep theirs or anywhere.
        _ => {
            let size = dice.of(&[4, 8]);
            let at = if dice.below(2) == 0 { range.start } else { range.start / 8 * 8 };
            let number = dice.of(&EXTREMES).wrapping_sub(dice.roll() % 3).to_le_bytes();
            let end = (at + size).min(bytes.len());
            bytes.splice(at..end, number[..size].to_vec());
        }
    }
    bytes.truncate(LONGEST);
}

#[test]
fn mutated_files_are_graphs_or_errors() {
    let inputs =
        std::env::var("PARTON_FUZZ_INPUTS").map_or(2_000, |n| n.parse().expect("a number"));
    let samples = samples();
    for (seed, format) in formats::ALL.iter().enumerate() {
        let own: Vec<&Sample> =
            samples.iter().filter(|s| s.format.name() == format.name()).collect();
        let complaints = on_every_core(inputs, |input| {
            let mut dice = Dice((seed * inputs + input) as u64);
            let Sample { format, name, bytes } = dice.of(&own);
            // Mostly of its own kind, so that what comes out is nearly sound.
            let others = if dice.below(4) == 0 { samples.iter().collect() } else { own.clone() };
            let mut bytes = bytes.clone();
            for _ in 0..1 + dice.below(4) {
                mutate(&mut bytes, &dice.of(&others).bytes, &mut dice);
            }
            if let Some(repaired) = repaired(*format, &bytes) {
                examine(Some(*format), name, &repaired)?;
            }
            examine(Some(*format), name, &bytes)?;
            examine(None, name, &bytes)
        });
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}
