//! Blocks of whole lines, handed to all threads.
//!
//! Every thread reads its own blocks of [plain files](super::plain_blocks). Of pipes and packed files one thread at a
//! time reads (and unpacks) the next block while the others work on theirs. Memory holds at most one block of text per
//! thread.

use std::io::Read;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::plain_blocks::PlainBlocks;
use super::{LineError, skip_mark};
use crate::edge_file::TakePiece;
use crate::error::Place;
use crate::parallel;
use crate::progress::{Progress, Unit};
use crate::source::{Part, Source};
use crate::{Error, Result};

/// Large enough that a block's edges fill the builder's buckets, small enough to stay cached.
const BLOCK_BYTES: usize = 4 << 20;
/// A smaller block costs more than its text.
const MIN_BLOCK_BYTES: usize = 512 << 10;
/// Plain text is cut into this many blocks, unless they are too small or too large.
const BLOCKS_OF_PLAIN_TEXT: u64 = 256;
/// No sane row is longer; without a limit a binary file, or a small packed one that unpacks to an
/// endless line, would be read whole in search of its end.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;

/// Some whole lines of an input.
pub(crate) struct Block {
    /// Number of the block in the input.
    pub(crate) order: usize,
    /// Whether it is the first of its part.
    pub(crate) starts_part: bool,
    pub(super) part: usize,
    pub(super) bytes: Vec<u8>,
    /// Where in `bytes` the lines lie.
    pub(super) lines: Range<usize>,
}

impl Block {
    /// The lines; the last may lack its line ending. A byte order mark is left out.
    pub(crate) fn text(&self) -> &[u8] {
        let text = &self.bytes[self.lines.clone()];
        if self.starts_part { skip_mark(text) } else { text }
    }
}

/// What `work` makes of the blocks of an input: it hands pieces on and returns the number of lines.
pub(crate) struct BlockPieces<'a, F> {
    parts: Vec<Part>,
    blocks: Blocks,
    lines: LineCount,
    work: F,
    progress: &'a dyn Progress,
}

/// Where blocks come from.
enum Blocks {
    Plain(PlainBlocks),
    Stream(Mutex<BlockReader>),
}

impl Blocks {
    fn of(source: &Source) -> Result<Self> {
        // Many blocks for each thread. Their size follows from the input alone, as what hosts sample does.
        let even = source.stored_bytes().unwrap_or(0) / BLOCKS_OF_PLAIN_TEXT;
        let block_bytes = (even as usize).clamp(MIN_BLOCK_BYTES, BLOCK_BYTES);
        let plain = PlainBlocks::of(source.parts(), block_bytes)?;
        Ok(plain.map_or_else(|| Blocks::Stream(Mutex::new(BlockReader::of(source))), Blocks::Plain))
    }

    /// The next block, in `buffer`'s memory. An error comes with the number of the block.
    fn next(&self, buffer: Vec<u8>) -> Result<Option<Block>, (usize, Error)> {
        match self {
            Blocks::Plain(blocks) => blocks.next(buffer),
            Blocks::Stream(reader) => {
                reader.lock().expect("no thread panicked holding this lock").next(buffer)
            }
        }
    }

    fn are_over(&mut self) -> bool {
        match self {
            Blocks::Plain(blocks) => blocks.are_over(),
            Blocks::Stream(reader) => {
                let reader = reader.get_mut().expect("no thread panicked holding this lock");
                reader.part >= reader.parts.len()
            }
        }
    }
}

/// The result of a block: its number and that of its part, and its lines.
type Outcome = (usize, usize, Result<u64, LineOrError>);

impl<'a, F> BlockPieces<'a, F> {
    /// Starts to read `source`; each thread keeps an `S` from block to block.
    pub(crate) fn new<S>(source: &Source, progress: &'a dyn Progress, work: F) -> Result<Self>
    where
        S: Default,
        F: Fn(&mut S, &Block, &TakePiece<'_>) -> Result<u64, LineOrError> + Sync,
    {
        let packed = source.parts().iter().any(|p| p.compression().is_some());
        progress.stage("reading", Unit::Bytes, source.stored_bytes().filter(|_| !packed));
        let (parts, blocks) = (source.parts().to_vec(), Blocks::of(source)?);
        Ok(BlockPieces { parts, blocks, lines: LineCount::default(), work, progress })
    }

    /// [`PieceReader::read`]. Of several problems the first in the input is reported.
    pub(crate) fn read<S>(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool>
    where
        S: Default,
        F: Fn(&mut S, &Block, &TakePiece<'_>) -> Result<u64, LineOrError> + Sync,
    {
        let BlockPieces { blocks, work, progress, .. } = &*self;
        let first_bad = AtomicUsize::new(usize::MAX);
        let left = AtomicUsize::new(limit);
        let outcomes: Mutex<Vec<Outcome>> = Mutex::default();
        let settled = |outcome: Outcome| {
            if outcome.2.is_err() {
                first_bad.fetch_min(outcome.0, Ordering::Relaxed);
            }
            outcomes.lock().expect("no thread panicked holding this lock").push(outcome);
        };
        let take_one =
            || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        parallel::for_each_thread(|| {
            let mut scratch = S::default();
            let mut buffer = Vec::new();
            while take_one().is_ok() {
                let block = match blocks.next(std::mem::take(&mut buffer)) {
                    Ok(Some(block)) if block.order < first_bad.load(Ordering::Relaxed) => block,
                    Ok(_) => break,
                    Err((order, error)) => {
                        settled((order, 0, Err(error.into())));
                        break;
                    }
                };
                progress.advance(block.lines.len() as u64);
                settled((block.order, block.part, work(&mut scratch, &block, take)));
                buffer = block.bytes;
            }
        });
        let mut outcomes = outcomes.into_inner().expect("no thread panicked holding this lock");
        outcomes.sort_by_key(|(order, ..)| *order);
        for (_, part, outcome) in outcomes {
            self.lines.settle(&self.parts, part, outcome)?;
        }
        Ok(!self.blocks.are_over())
    }
}

/// Lines gone by, as outcomes are looked at in input order.
#[derive(Default)]
struct LineCount {
    part: usize,
    lines: u64,
}

impl LineCount {
    /// Counts the lines of the next block, or says where in the input its problem is.
    fn settle(
        &mut self,
        parts: &[Part],
        part: usize,
        outcome: Result<u64, LineOrError>,
    ) -> Result<()> {
        if part != self.part {
            *self = LineCount { part, lines: 0 };
        }
        match outcome {
            Ok(lines) => {
                self.lines += lines;
                Ok(())
            }
            Err(LineOrError::Error(error)) => Err(error),
            Err(LineOrError::Line(LineError { line, column, text, problem })) => {
                let part = &parts[part];
                let number = part.lines_before()? + self.lines + line + 1;
                Err(Error::data(part.name(), Place::line(number, column, &text), problem))
            }
        }
    }
}

/// A problem with a line, or one that has nothing to do with lines.
#[derive(Debug)]
pub(crate) enum LineOrError {
    Line(LineError),
    Error(Error),
}

impl From<LineError> for LineOrError {
    fn from(error: LineError) -> Self {
        LineOrError::Line(error)
    }
}

impl From<Error> for LineOrError {
    fn from(error: Error) -> Self {
        LineOrError::Error(error)
    }
}

struct BlockReader {
    parts: Vec<Part>,
    part: usize,
    reader: Option<Box<dyn Read + Send>>,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    order: usize,
    block_bytes: usize,
}

impl BlockReader {
    fn new(parts: &[Part], block_bytes: usize) -> Self {
        let parts = parts.to_vec();
        BlockReader { parts, part: 0, reader: None, carry: Vec::new(), order: 0, block_bytes }
    }

    fn of(source: &Source) -> Self {
        let packed = source.parts().iter().any(|p| p.compression().is_some());
        // A small input needs no more room than it takes, and one byte to find its end.
        let bytes = match source.head_is_all() {
            true => Some(source.head().len() as u64),
            false => source.stored_bytes().filter(|_| !packed),
        };
        let block_bytes = bytes.map_or(BLOCK_BYTES, |n| (n + 1).min(BLOCK_BYTES as u64) as usize);
        Self::new(source.parts(), block_bytes)
    }

    /// The next block, in `buffer`'s memory. An error comes with the number of the block.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Block>, (usize, Error)> {
        self.read_block(buffer).map_err(|error| {
            self.part = self.parts.len();
            (self.order, error)
        })
    }

    fn read_block(&mut self, mut bytes: Vec<u8>) -> Result<Option<Block>> {
        while let Some(part) = self.parts.get(self.part) {
            let starts_part = self.reader.is_none() && part.start() == 0;
            let reader = match &mut self.reader {
                Some(reader) => reader,
                none => none.insert(part.reader()?),
            };
            let mut filled = self.carry.len();
            let mut goal = self.block_bytes.max(2 * filled);
            grow(&mut bytes, goal);
            bytes[..filled].copy_from_slice(&self.carry);
            self.carry.clear();
            let len = loop {
                let read = match reader.read(&mut bytes[filled..goal]) {
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                    read => read.map_err(|e| part.read_error(e))?,
                };
                filled += read;
                if read == 0 {
                    self.part += 1;
                    self.reader = None;
                    break filled;
                }
                if filled < goal {
                    continue;
                }
                if let Some(newline) = memchr::memrchr(b'\n', &bytes[..filled]) {
                    self.carry.extend_from_slice(&bytes[newline + 1..filled]);
                    break newline + 1;
                }
                if filled >= MAX_LINE_BYTES {
                    return Err(endless_line(part.name()));
                }
                goal *= 2;
                grow(&mut bytes, goal);
            };
            if len > 0 {
                let order = self.order;
                self.order += 1;
                let part = if self.reader.is_some() { self.part } else { self.part - 1 };
                return Ok(Some(Block { order, starts_part, part, bytes, lines: 0..len }));
            }
        }
        Ok(None)
    }
}

/// The error for a line longer than any sane one.
pub(super) fn endless_line(file: &str) -> Error {
    let limit = MAX_LINE_BYTES >> 20;
    Error::data(file, Place::File, format!("a line of more than {limit} MiB: not a text file?"))
}

fn grow(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() < len {
        bytes.resize(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    fn blocks_of(text: &[u8], block_bytes: usize) -> Vec<Vec<u8>> {
        let source = Source::memory("t", text).unwrap();
        let mut reader = BlockReader::new(source.parts(), block_bytes);
        std::iter::from_fn(|| reader.next(Vec::new()).unwrap()).map(|b| b.text().to_vec()).collect()
    }

    #[test]
    fn blocks_are_whole_lines_and_lose_nothing() {
        let text: Vec<u8> =
            (0..200).flat_map(|i| format!("{i} {}\n", i * i).into_bytes()).collect();
        for block_bytes in [1, 2, 3, 7, 16, 100, 5000] {
            for end in [text.len(), text.len() - 1, text.len() - 3] {
                let blocks = blocks_of(&text[..end], block_bytes);
                assert_eq!(blocks.concat(), &text[..end]);
                let (_, all_but_last) = blocks.split_last().unwrap();
                assert!(all_but_last.iter().all(|b| b.ends_with(b"\n")));
            }
        }
        assert!(blocks_of(b"", 10).is_empty());
    }

    #[test]
    fn the_first_problem_wins_and_knows_its_line() {
        let text: String = (0..2_000_000).map(|i| format!("{i}\n")).collect();
        let source = Source::memory("big.txt", text).unwrap();
        let work = |(): &mut (), block: &Block, _: &TakePiece<'_>| {
            let lines: Vec<&[u8]> = block.text().split_inclusive(|&b| b == b'\n').collect();
            for (line, text) in lines.iter().enumerate() {
                if text.ends_with(b"77777\n") {
                    let (line, text) = (line as u64, text.to_vec());
                    let problem = "seven".into();
                    return Err(LineError { line, column: 1, text, problem }.into());
                }
            }
            Ok(lines.len() as u64)
        };
        for limit in [usize::MAX, 1, 3] {
            let mut blocks = BlockPieces::new(&source, &Silent, work).unwrap();
            let error = loop {
                match blocks.read(limit, &|_| Ok(())) {
                    Ok(more) => assert!(more, "there is a problem"),
                    Err(error) => break error,
                }
            };
            assert!(error.to_string().starts_with("big.txt:77778:1: "), "{error}");
        }
    }
}
