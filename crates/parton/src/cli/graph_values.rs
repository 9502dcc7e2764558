//! The values that options of a graph take.

use clap::ValueEnum;

/// What original ids are.
#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(super) enum IdChoice {
    /// Integers, unless the beginning shows names
    Auto,
    /// Integers from 0 to 2^64-1
    Integers,
    /// Names: any text, digits too
    Names,
}

/// A choice of two.
#[derive(Clone, Copy, ValueEnum, PartialEq)]
pub(super) enum YesNo {
    Yes,
    No,
}

/// Where the fraction of a number starts.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum DecimalMark {
    /// After a point; commas group thousands
    Point,
    /// After a comma; points group thousands
    Comma,
}

/// The type of weights.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum WeightType {
    U32,
    F32,
    F64,
}

/// The weight of merged edges.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum MergeRule {
    /// The least
    Min,
    /// The greatest
    Max,
    /// The sum
    Sum,
    /// That of the first edge in the file
    First,
}

/// What stands between columns; a blank stands for any number of blanks.
pub(super) fn parse_delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("blanks", _) => Ok(b' '),
        (_, [b'"' | b'\n' | b'\r' | b'0'..=b'9']) => {
            Err("columns cannot be cut at digits, quotes and line ends".into())
        }
        (_, [byte]) => Ok(*byte),
        _ => Err("expected one ASCII character, tab or blanks".into()),
    }
}
