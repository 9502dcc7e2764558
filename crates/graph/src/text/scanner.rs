//! Line by line, with the place of everything: for formats in which the meaning of a line depends
//! on the lines before it.

use std::io::{BufRead, BufReader, Read};

use super::{is_blank, skip_mark, trim_line_end};
use crate::error::Place;
use crate::source::{Part, Source};
use crate::text::number;
use crate::{Error, Result};

/// A line may hold all neighbours of a vertex, so lines may be long. Words and the gaps between them may not: a few
/// packed bytes could otherwise unpack to more bytes than there is memory.
const MAX_WORD_BYTES: usize = 16 << 20;

/// Goes through the lines of a one-part input.
pub(crate) struct Scanner {
    part: Part,
    reader: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: u64,
}

/// One line and where it is.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    number: u64,
    file: &'a str,
}

/// One word of a line.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a [u8],
    at: usize,
    line: Line<'a>,
}

impl Scanner {
    pub(crate) fn new(source: &Source) -> Result<Self> {
        let part = source.single()?.clone();
        let reader = part.buffered(1 << 20)?;
        Ok(Scanner { part, reader, line: Vec::new(), number: 0 })
    }

    /// The next line, without its line ending.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        Ok(self.advance()?.then(|| self.current()))
    }

    /// The next line that does not start with `comment`.
    pub(crate) fn next_line_unless(&mut self, comment: u8) -> Result<Option<Line<'_>>> {
        while self.advance()? {
            if self.current().text.first() != Some(&comment) {
                return Ok(Some(self.current()));
            }
        }
        Ok(None)
    }

    fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        loop {
            let before = self.line.len();
            let read =
                (&mut self.reader).take(MAX_WORD_BYTES as u64).read_until(b'\n', &mut self.line);
            let read = read.map_err(|e| self.part.read_error(e))?;
            if read < MAX_WORD_BYTES || self.line.ends_with(b"\n") {
                break;
            }
            let blanks = self.line[before..].iter().filter(|&&b| is_blank(b)).count();
            if blanks == 0 || blanks == read {
                let limit = MAX_WORD_BYTES >> 20;
                let problem = format!("a word of more than {limit} MiB: not a text file?");
                let place = Place::line(self.number + 1, before + 1, b"");
                return Err(Error::data(self.part.name(), place, problem));
            }
        }
        let some = !self.line.is_empty();
        self.number += u64::from(some);
        Ok(some)
    }

    fn current(&self) -> Line<'_> {
        let text = trim_line_end(&self.line);
        let is_first = self.number == 1 && self.part.start() == 0;
        let text = if is_first { skip_mark(text) } else { text };
        Line { text, number: self.number, file: self.part.name() }
    }

    /// Lines gone by.
    pub(crate) fn lines(&self) -> u64 {
        self.number
    }

    /// The error about a line of a slice, with the line's place in the whole file.
    pub(crate) fn placed(&self, error: Error) -> Error {
        match error {
            Error::Data { file, place: Place::Line { line, column, text }, problem } => {
                // What cannot be counted was read a moment ago: the file is changing.
                let line = line + self.part.lines_before().unwrap_or(0);
                Error::Data { file, place: Place::Line { line, column, text }, problem }
            }
            other => other,
        }
    }

    /// The input ended too early.
    pub(crate) fn ended(&self, expected: &str) -> Error {
        let place = Place::line(self.number + 1, 1, b"");
        Error::data(self.part.name(), place, format!("expected {expected}, but the file ends"))
    }
}

/// The lines at the beginning of an input, as far as it was looked at. A last line that goes on
/// out of sight is left out, unless it is the only one.
pub(crate) fn head_lines(source: &Source) -> impl Iterator<Item = Line<'_>> {
    let head = skip_mark(source.head());
    let whole = match memchr::memrchr(b'\n', head) {
        Some(last) if !source.head_is_all() => &head[..=last],
        _ => head,
    };
    let lines = whole.split_inclusive(|&b| b == b'\n').map(trim_line_end);
    lines.zip(1..).map(|(text, number)| Line { text, number, file: source.parts()[0].name() })
}

impl<'a> Line<'a> {
    /// Counted from 1.
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    /// The words of the line.
    pub(crate) fn tokens(self) -> impl Iterator<Item = Token<'a>> + Clone {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + self.text[at..].iter().position(|&b| !is_blank(b))?;
            let len = self.text[start..].iter().position(|&b| is_blank(b));
            at = len.map_or(self.text.len(), |len| start + len);
            Some(Token { text: &self.text[start..at], at: start, line: self })
        })
    }

    pub(crate) fn error(self, problem: impl Into<String>) -> Error {
        self.error_at(0, problem)
    }

    /// A problem at a place of the line, from 0.
    pub(crate) fn error_at(self, at: usize, problem: impl Into<String>) -> Error {
        Error::data(self.file, Place::line(self.number, at + 1, self.text), problem)
    }
}

impl Token<'_> {
    pub(crate) fn error(self, problem: impl Into<String>) -> Error {
        self.line.error_at(self.at, problem)
    }

    /// The word as an integer id.
    pub(crate) fn id(self) -> Result<u64> {
        number::parse_id(self.text).map_err(|e| self.error(e.describe(self.text)))
    }

    /// The word as a count; `what` names it in the error.
    pub(crate) fn count(self, what: &str) -> Result<u64> {
        number::parse_id(self.text).map_err(|_| {
            let found = crate::error::printable(self.text);
            self.error(format!("expected {what}, found '{found}'"))
        })
    }

    /// The word as a weight, and whether it is an integer that fits `u32`.
    pub(crate) fn weight(self) -> Result<(f64, bool)> {
        number::parse_weight(self.text).map_err(|problem| self.error(problem))
    }
}
