//! What can go wrong with a graph, said so that the reader can act: what, where, expected and found.
//!
//! Messages name a setting that helps in backticks, as in Rust: `` `ids` `` is
//! [`ReadOptions::ids`](crate::formats::ReadOptions::ids). The command spells these as its users do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong while reading, building or writing a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such file, folder, or nothing matches a glob.
    #[error("{path}: {reason}", path = path.display())]
    NoInput {
        /// What was asked for.
        path: PathBuf,
        /// Why nothing can be read from it.
        reason: String,
    },
    /// The operating system refused to read or write.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What was being done, as a verb: "read", "write", "rename".
        action: &'static str,
        /// The system's own words.
        source: io::Error,
    },
    /// The contents are not what the format promises.
    #[error("{file}{place}: {problem}")]
    Data {
        /// Name of the input, as the user gave it.
        file: String,
        /// Where in it.
        place: Place,
        /// What was expected and what was found.
        problem: String,
    },
    /// What was asked for takes more memory than the machine has free.
    #[error("{0}")]
    Memory(String),
    /// The request makes no sense for this input or format; the message says what to do instead.
    #[error("{0}")]
    Request(String),
}

/// Where in an input a problem lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file as a whole.
    File,
    /// A line of a text file; both numbers count from 1.
    Line {
        /// Line number.
        line: u64,
        /// Column, in bytes.
        column: usize,
        /// The line itself, shortened.
        text: String,
    },
    /// A position in a binary file.
    Byte(u64),
    /// A row of a table, from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line { line, column, text } if text.is_empty() => write!(f, ":{line}:{column}"),
            Place::Line { line, column, text } => write!(f, ":{line}:{column}: in \"{text}\""),
            Place::Byte(offset) => write!(f, " at byte {offset}"),
            Place::Row(row) => write!(f, " in row {row}"),
        }
    }
}

/// Longest piece of a line quoted in a message.
const QUOTED_BYTES: usize = 60;

impl Place {
    /// A place in a line of text; `line` and `column` count from 1. A long line is shortened
    /// around the column.
    pub fn line(line: u64, column: usize, text: &[u8]) -> Self {
        let from = column_start(text, column.saturating_sub(QUOTED_BYTES));
        let mut shown = printable(&text[from..]);
        if from > 0 {
            shown.insert(0, '…');
        }
        Place::Line { line, column, text: shown }
    }
}

/// Bytes of an input as text that is safe to print: not too long, and with `?` for what could
/// drive a terminal or turn the text around.
pub fn printable(bytes: &[u8]) -> String {
    let shown = column_start(bytes, QUOTED_BYTES);
    let mut text: String = String::from_utf8_lossy(&bytes[..shown])
        .chars()
        .map(|c| match c {
            '\t' => c,
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '?',
            _ if c.is_control() => '?',
            _ => c,
        })
        .collect();
    if shown < bytes.len() {
        text.push('…');
    }
    text
}

/// Where the character that byte `at` belongs to starts, so that none is cut in two.
fn column_start(text: &[u8], at: usize) -> usize {
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let at = at.min(text.len());
    // A character has at most four bytes; more in a row are no characters anyway.
    (at.saturating_sub(3)..=at).rev().find(|&at| !is_inside(at)).unwrap_or(at)
}

impl Error {
    /// Bad contents at a place of an input.
    pub fn data(file: impl Into<String>, place: Place, problem: impl Into<String>) -> Self {
        Error::Data { file: file.into(), place, problem: problem.into() }
    }

    /// True if the reader of a pipe has gone: it has seen enough.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A failed system call on a path; a missing file becomes [`Error::NoInput`].
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if action != "write" => {
                Error::NoInput { path, reason: "no such file or folder".into() }
            }
            _ => Error::Io { path, action, source },
        }
    }

    /// More vertices than the 32-bit local ids of one host can name.
    pub fn too_many_vertices(file: impl Into<String>, count: u64) -> Self {
        Error::data(
            file,
            Place::File,
            format!("{count} vertices, but one host holds at most {}", crate::csr::MAX_VERTICES),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_whole_and_harmless() {
        let text = |text: &str, column| match Place::line(1, column, text.as_bytes()) {
            Place::Line { text, .. } => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text("1 zwölf", 3), "1 zwölf");
        assert_eq!(text("a\u{1b}[31mb\u{202e}c\td", 1), "a?[31mb?c\td");
        // Characters of two to four bytes, cut at every column: never in the middle of one.
        for character in ["ö", "€", "𝄞"] {
            let long = character.repeat(100);
            for column in 1..=long.len() {
                let quoted = text(&long, column);
                assert!(quoted.chars().all(|c| c == '…' || character.contains(c)), "{quoted}");
                assert!(quoted.len() <= QUOTED_BYTES + 4 + 2 * '…'.len_utf8(), "{quoted}");
            }
        }
        // Bytes that are no text at all.
        let odd = vec![0x80; 500];
        assert!(printable(&odd).chars().count() <= QUOTED_BYTES + 1);
        assert_eq!(Place::line(3, 1, b"").to_string(), ":3:1");
    }
}
