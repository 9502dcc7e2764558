//! Words of a text by their number, for formats that are one long list of numbers: which line they
//! stand on means nothing, the how-manieth they are everything.
//!
//! A text is looked at in blocks; how many words start in each ([`Words::count`]) says in which
//! block any word is. Words are what [`super::scanner`] takes for them.

use std::ops::Range;

use super::{number, skip_mark};
use crate::error::{Place, printable};
use crate::parallel::{self, Scratch};
use crate::source::{ByteSource, Source};
use crate::{Error, Result};

/// Small enough to find one word in, large enough that there are few.
const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes read at a time.
const READ_BYTES: usize = 1 << 20;
/// As for [`super::scanner`].
const MAX_WORD_BYTES: usize = 16 << 20;
/// The part of a long line that is worth reading to quote from it.
const QUOTED_BYTES: u64 = 1 << 16;

/// The words of a text.
pub(crate) struct Words {
    bytes: ByteSource<'static>,
    /// Where they begin: after a byte order mark.
    start: u64,
}

/// Reads on from some word.
pub(crate) struct WordReader<'a> {
    words: &'a Words,
    buffer: Vec<u8>,
    /// Where in the text the buffer starts, and how much of it has been looked at.
    start: u64,
    next: usize,
}

/// One word.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a [u8],
    at: u64,
    words: &'a Words,
}

fn separates(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl Words {
    pub(crate) fn open(source: &Source) -> Result<Self> {
        let mark = source.head().len() - skip_mark(source.head()).len();
        Ok(Words { bytes: source.bytes()?.into_owned(), start: mark as u64 })
    }

    /// Number of blocks.
    pub(crate) fn num_blocks(&self) -> u64 {
        self.bytes.len().div_ceil(BLOCK_BYTES)
    }

    /// How many words start in each block of a range.
    pub(crate) fn count(&self, blocks: Range<u64>) -> Result<Vec<u64>> {
        let count = |buffer: &mut Vec<u8>, block: u64| {
            let end = ((block + 1) * BLOCK_BYTES).min(self.bytes.len());
            let start = self.block_start(block).min(end);
            // With the byte before and the one after: they tell where words start.
            let from = start.saturating_sub(1).max(self.start).min(start);
            buffer.resize(((end + 1).min(self.bytes.len()) - from) as usize, 0);
            self.bytes.read_at(from, buffer)?;
            let here = (start - from) as usize..(end - from) as usize;
            Ok(here.filter(|&at| starts_word(buffer, at)).count() as u64)
        };
        let scratch = Scratch::default();
        let count = |_, block| scratch.with(|buffer| count(buffer, block));
        parallel::map_owned(blocks, count).into_iter().collect()
    }

    fn block_start(&self, block: u64) -> u64 {
        (block * BLOCK_BYTES).max(self.start)
    }

    /// The words from number `number` on; `counts` are those of all blocks.
    pub(crate) fn at(&self, counts: &[u64], number: u64) -> Result<WordReader<'_>> {
        let (mut block, mut before) = (0, 0);
        while block < counts.len() && before + counts[block] <= number {
            before += counts[block];
            block += 1;
        }
        let mut reader = self.read(self.block_start(block as u64));
        // A word that started in the block before goes on here.
        if block > 0 && reader.start > self.start {
            let mut byte = [0];
            self.bytes.read_at(reader.start - 1, &mut byte)?;
            if !separates(byte[0]) {
                reader.rest_of_word()?;
            }
        }
        for _ in before..number {
            reader.next()?;
        }
        Ok(reader)
    }

    /// The words from the beginning on.
    pub(crate) fn all(&self) -> WordReader<'_> {
        self.read(self.start)
    }

    fn read(&self, at: u64) -> WordReader<'_> {
        WordReader { words: self, buffer: Vec::new(), start: at.min(self.bytes.len()), next: 0 }
    }

    /// The input ended too early.
    pub(crate) fn ended(&self, expected: &str) -> Error {
        self.error(self.bytes.len(), format!("expected {expected}, but the file ends"))
    }

    fn error(&self, at: u64, problem: impl Into<String>) -> Error {
        match self.place(at) {
            Ok(place) => Error::data(self.bytes.name(), place, problem),
            Err(error) => error,
        }
    }

    /// The line and column of a byte; found by going through all before, as it is for errors.
    fn place(&self, at: u64) -> Result<Place> {
        let (mut line, mut line_start, mut from) = (1, 0, 0);
        let mut buffer = vec![0; at.min(READ_BYTES as u64) as usize];
        while from < at {
            let piece = &mut buffer[..(at - from).min(READ_BYTES as u64) as usize];
            self.bytes.read_at(from, piece)?;
            line += memchr::memchr_iter(b'\n', piece).count() as u64;
            if let Some(newline) = memchr::memrchr(b'\n', piece) {
                line_start = from + newline as u64 + 1;
            }
            from += piece.len() as u64;
        }
        let column = (at - line_start) as usize + 1;
        let mut text = vec![0; (self.bytes.len() - line_start).min(QUOTED_BYTES) as usize];
        self.bytes.read_at(line_start, &mut text)?;
        let text = text.split(|&b| b == b'\n').next().unwrap_or(&[]);
        Ok(Place::line(line, column, if column > text.len() { b"" } else { text }))
    }
}

/// Whether a word starts at a byte of a text. A CR before a line end belongs to that.
fn starts_word(text: &[u8], at: usize) -> bool {
    let ends_line = |at: usize| text.get(at).is_none_or(|&byte| byte == b'\n');
    !separates(text[at])
        && (at == 0 || separates(text[at - 1]))
        && !(text[at] == b'\r' && ends_line(at + 1))
}

impl WordReader<'_> {
    /// The next word.
    pub(crate) fn next(&mut self) -> Result<Option<Word<'_>>> {
        let word = loop {
            while self.next < self.buffer.len() && separates(self.buffer[self.next]) {
                self.next += 1;
            }
            if self.next == self.buffer.len() {
                if !self.more()? {
                    return Ok(None);
                }
                continue;
            }
            let word = self.rest_of_word()?;
            if !word.is_empty() {
                break word;
            }
        };
        let at = self.start + word.start as u64;
        Ok(Some(Word { text: &self.buffer[word], at, words: self.words }))
    }

    /// Goes on to the next separator: where in the buffer the word is, without a CR that belongs to
    /// the end of its line.
    fn rest_of_word(&mut self) -> Result<Range<usize>> {
        let mut len = 0;
        loop {
            let rest = &self.buffer[self.next..];
            let end = rest[len..].iter().position(|&byte| separates(byte));
            len = end.map_or(rest.len(), |end| len + end);
            let ends_line = match end {
                Some(_) => rest[len] == b'\n',
                None if len >= MAX_WORD_BYTES => {
                    let limit = MAX_WORD_BYTES >> 20;
                    let problem = format!("a word of more than {limit} MiB: not a text file?");
                    return Err(self.words.error(self.start + self.next as u64, problem));
                }
                None if self.more()? => continue,
                None => true,
            };
            let word = self.next..self.next + len;
            self.next = word.end;
            let has_return = ends_line && self.buffer[word.clone()].ends_with(b"\r");
            return Ok(word.start..word.end - usize::from(has_return));
        }
    }

    /// Reads on, keeping what has not been looked at; whether there was more.
    fn more(&mut self) -> Result<bool> {
        let bytes = &self.words.bytes;
        self.start += self.next as u64;
        self.buffer.drain(..self.next);
        self.next = 0;
        let (kept, at) = (self.buffer.len(), self.start + self.buffer.len() as u64);
        let more = (bytes.len() - at).min(READ_BYTES as u64) as usize;
        self.buffer.resize(kept + more, 0);
        bytes.read_at(at, &mut self.buffer[kept..])?;
        Ok(more > 0)
    }
}

impl Word<'_> {
    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        self.words.error(self.at, problem)
    }

    /// The word as an integer id.
    pub(crate) fn id(&self) -> Result<u64> {
        number::parse_id(self.text).map_err(|e| self.error(e.describe(self.text)))
    }

    /// The word as a count; `what` names it in the error.
    pub(crate) fn count(&self, what: &str) -> Result<u64> {
        let found = || format!("expected {what}, found '{}'", printable(self.text));
        number::parse_id(self.text).map_err(|_| self.error(found()))
    }

    /// The word as a weight, and whether it is an integer that fits `u32`.
    pub(crate) fn weight(&self) -> Result<(f64, bool)> {
        number::parse_weight(self.text).map_err(|problem| self.error(problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scanner::Scanner;

    #[test]
    fn words_are_found_by_number_wherever_blocks_end() {
        // Words and gaps of all lengths, so that every block ends somewhere else; line ends of
        // both kinds, and CRs that are none.
        let mut text = b"\xef\xbb\xbfFirst".to_vec();
        for i in 0..60_000usize {
            let gap: &[u8] = match i % 11 {
                0 => b"\r\n",
                1 => b" \r\n\r\n",
                2 => b"\t ",
                3 => b"\n\n",
                4 => b"\r ",
                _ => b" ",
            };
            text.extend_from_slice(gap);
            text.extend_from_slice(i.to_string().repeat(1 + i % 3).as_bytes());
        }
        for end in [&b""[..], b"\n", b"\r\n", b"\r", b" \r"] {
            let source = Source::memory("t", [&text, end].concat()).unwrap();
            let mut expected = Vec::new();
            let mut scanner = Scanner::new(&source).unwrap();
            while let Some(line) = scanner.next_line().unwrap() {
                expected.extend(line.tokens().map(|token| token.text.to_vec()));
            }
            let words = Words::open(&source).unwrap();
            let counts = words.count(0..words.num_blocks()).unwrap();
            assert_eq!(counts.iter().sum::<u64>(), expected.len() as u64);
            assert!(counts.len() > 5);
            let mut reader = words.all();
            for word in &expected {
                assert_eq!(reader.next().unwrap().unwrap().text, word);
            }
            assert!(reader.next().unwrap().is_none());
            for number in (1..expected.len()).step_by(997).chain([expected.len() - 1]) {
                let mut reader = words.at(&counts, number as u64).unwrap();
                assert_eq!(reader.next().unwrap().unwrap().text, expected[number]);
            }
            let mut reader = words.at(&counts, expected.len() as u64).unwrap();
            assert!(reader.next().unwrap().is_none());
        }
    }

    #[test]
    fn problems_have_their_line() {
        let source = Source::memory("t", "a b\nc dd\r\nx").unwrap();
        let words = Words::open(&source).unwrap();
        let counts = words.count(0..1).unwrap();
        let mut reader = words.at(&counts, 3).unwrap();
        let said = reader.next().unwrap().unwrap().id().unwrap_err().to_string();
        assert!(said.starts_with("t:2:3: in \"c dd"), "{said}");
        assert!(words.ended("more").to_string().contains("but the file ends"));
    }
}
