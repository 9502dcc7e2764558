//! Answers as files: a row per vertex, with the user's own ids.
//!
//! Each format is one file here with one [`TableFormat`] in it; [`ALL`] is the registry. The ending of a
//! file's name chooses one.

mod delimited;
mod jsonl;
mod npy;
mod parquet;
pub mod table;

use std::path::Path;

use parton_graph::save::Output;
use parton_graph::source::Compression;
use parton_graph::{Error, Result};
use rayon::prelude::*;

pub use table::{Cell, ColumnKind, Table, TablePart};

/// One way to write a table.
pub trait TableFormat: Sync {
    /// The ending of a file's name, without the dot.
    fn ending(&self) -> &'static str;

    /// The form of a row, in one line.
    fn about(&self) -> &'static str;

    /// True if it is text, which may be compressed.
    fn is_text(&self) -> bool {
        true
    }

    /// Writes all rows.
    fn write(&self, table: &Table, out: &mut Output) -> Result<()>;
}

/// Every format.
pub const ALL: &[&dyn TableFormat] =
    &[&delimited::CSV, &delimited::TSV, &jsonl::Jsonl, &parquet::Parquet, &npy::Npy];

/// The format that the name of a file asks for.
pub fn by_ending(path: &Path) -> Result<&'static dyn TableFormat> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let (stem, packed) = Compression::strip(&name);
    let ending = Path::new(stem).extension().and_then(|ending| ending.to_str());
    let found = ALL.iter().copied().find(|format| Some(format.ending()) == ending);
    match found {
        Some(format) if packed.is_none() || format.is_text() => Ok(format),
        Some(format) => Err(Error::Request(format!(
            "{}: .{} is not packed any further; leave the last ending out",
            path.display(),
            format.ending()
        ))),
        None => {
            let known: Vec<_> = ALL.iter().map(|format| format!(".{}", format.ending())).collect();
            let packed: Vec<_> = Compression::ALL.iter().map(|kind| kind.ending()).collect();
            Err(Error::Request(format!(
                "{}: the ending says the format; known are {} (text may be packed: {})",
                path.display(),
                known.join(", "),
                packed.join(", ")
            )))
        }
    }
}

/// The format of that name, which is the ending of its files.
pub fn by_name(name: &str) -> Option<&'static dyn TableFormat> {
    ALL.iter().copied().find(|format| format.ending() == name)
}

/// Writes a table, whole or not at all.
pub fn write(table: &Table, path: &Path) -> Result<()> {
    let format = by_ending(path)?;
    let mut out = Output::create(path)?;
    format.write(table, &mut out)?;
    out.commit()
}

/// Writes rows that all threads format: `push` appends the row of a number.
fn write_rows(
    rows: usize,
    out: &mut Output,
    push: impl Fn(&mut Vec<u8>, usize) -> Result<()> + Sync,
) -> Result<()> {
    /// Rows that one thread formats at a time.
    const BATCH: usize = 1 << 14;
    let at_once = BATCH * 4 * rayon::current_num_threads();
    for first in (0..rows).step_by(at_once) {
        let firsts: Vec<usize> = (first..rows.min(first + at_once)).step_by(BATCH).collect();
        let batches: Vec<Result<Vec<u8>>> = firsts
            .into_par_iter()
            .map(|first| {
                let mut bytes = Vec::new();
                (first..rows.min(first + BATCH)).try_for_each(|row| push(&mut bytes, row))?;
                Ok(bytes)
            })
            .collect();
        for batch in batches {
            out.write(&batch?)?;
        }
    }
    Ok(())
}

/// Writes a real number with the fewest digits that read back as the same one.
fn push_real(bytes: &mut Vec<u8>, value: f64) {
    use std::io::Write;
    // The form of `Debug` has exponents, so that a tiny number does not take hundreds of zeros.
    write!(bytes, "{value:?}").expect("memory takes everything");
}

/// Writes the elements of a vector, each with the fewest digits that read back as the same one.
fn push_elements(bytes: &mut Vec<u8>, elements: &[f32], delimiter: u8) {
    use std::io::Write;
    for (place, element) in elements.iter().enumerate() {
        if place > 0 {
            bytes.push(delimiter);
        }
        write!(bytes, "{element:?}").expect("memory takes everything");
    }
}
