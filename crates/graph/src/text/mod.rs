//! Reading text fast and saying exactly where it is wrong: what all text formats are made of.
//!
//! * [`blocks`] cuts an input into blocks of whole lines and hands them to all threads;
//! * [`dialect`] says how rows of columns are understood, [`rows`] turns those of a block into
//!   edges, and [`fields`] a row into its fields;
//! * [`scanner`] goes line by line, for formats where a line's meaning depends on those before;
//! * [`pieces`] gives out either's edges slice by slice;
//! * [`detect`] looks how a table is written: [`sample`] cuts its beginning into cells, [`header`],
//!   [`columns`], [`shapes`], [`counts`], [`declared`] and [`decimal`] each answer one question;
//! * [`number`] reads single numbers, [`numbers`] finds them by their number.

pub(crate) mod blocks;
mod columns;
mod counts;
mod decimal;
mod declared;
pub(crate) mod detect;
pub(crate) mod dialect;
pub(crate) mod fields;
mod header;
pub(crate) mod number;
pub(crate) mod numbers;
pub(crate) mod pieces;
mod plain_blocks;
mod rows;
mod sample;
pub(crate) mod scanner;
mod shapes;

/// A problem on a line of a piece of text whose place in the input the finder does not know.
#[derive(Debug)]
pub(crate) struct LineError {
    /// Lines before it in the piece.
    pub(crate) line: u64,
    /// Column in bytes, from 1.
    pub(crate) column: usize,
    pub(crate) text: Vec<u8>,
    pub(crate) problem: String,
}

/// `line` without its line ending (LF or CRLF).
pub(crate) fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `text` without a UTF-8 byte order mark.
pub(crate) fn skip_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Blanks inside a line.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}
