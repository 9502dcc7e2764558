//! What can go wrong with a graph, said so that the reader can act: what, where, expected and found.

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
            Place::Line { line, column, text } => write!(f, ":{line}:{column}: in \"{text}\""),
            Place::Byte(offset) => write!(f, " at byte {offset}"),
            Place::Row(row) => write!(f, " in row {row}"),
        }
    }
}

/// Longest piece of a line quoted in a message.
const QUOTED_BYTES: usize = 60;

impl Place {
    /// A place in a line of text; `line` and `column` count from 1. Control bytes, which could
    /// drive a terminal, are shown as `?`; a long line is shortened around the column.
    pub fn line(line: u64, column: usize, text: &[u8]) -> Self {
        let from = column.saturating_sub(QUOTED_BYTES).min(text.len());
        let to = (from + QUOTED_BYTES).min(text.len());
        let mut shown = printable(&text[from..to]);
        if from > 0 {
            shown.insert(0, '…');
        }
        if to < text.len() {
            shown.push('…');
        }
        Place::Line { line, column, text: shown }
    }
}

/// Bytes of an input as text that is safe to print.
pub fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| if c.is_control() && c != '\t' { '?' } else { c })
        .collect()
}

impl Error {
    /// Bad contents at a place of an input.
    pub fn data(file: impl Into<String>, place: Place, problem: impl Into<String>) -> Self {
        Error::Data { file: file.into(), place, problem: problem.into() }
    }

    /// A failed system call on a path; a missing file becomes [`Error::NoInput`].
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        match source.kind() {
            io::ErrorKind::NotFound if action != "write" => {
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
