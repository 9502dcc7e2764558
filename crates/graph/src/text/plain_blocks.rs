//! Blocks of whole lines of plain files, each read by the thread that works on it.
//!
//! A block is the lines that start in one range of bytes. Where lines start follows from the bytes around
//! the ends of that range, so threads read blocks at once and none waits for another.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::blocks::{Block, MAX_LINE_BYTES, endless_line};
use crate::source::{ByteSource, Part};
use crate::{Error, Result};

/// Bytes that are read at a time in search of the end of a block's last line.
const BYTES_PER_SEARCH: u64 = 64 << 10;

/// The blocks of parts that can be read at any position.
pub(super) struct PlainBlocks {
    parts: Vec<PlainPart>,
    block_bytes: u64,
    /// Number of the next block to be read.
    next: AtomicUsize,
    num_blocks: usize,
}

struct PlainPart {
    bytes: ByteSource<'static>,
    /// Which bytes of it count: whole lines.
    window: Range<u64>,
    first_block: usize,
}

impl PlainBlocks {
    /// The blocks of these parts, if all are plain files that hold more than one block together.
    pub(super) fn of(parts: &[Part], block_bytes: usize) -> Result<Option<Self>> {
        let block_bytes = block_bytes as u64;
        // What is said to be empty may be no plain file.
        let sizes = parts.iter().map(|part| part.bytes_on_disk().filter(|&bytes| bytes > 0));
        let Some(sizes) = sizes.collect::<Option<Vec<u64>>>() else { return Ok(None) };
        if sizes.iter().sum::<u64>() <= block_bytes {
            return Ok(None);
        }
        let (mut plain, mut num_blocks) = (Vec::new(), 0);
        for (part, bytes) in parts.iter().zip(sizes) {
            let window = part.start()..part.start() + bytes;
            let first_block = num_blocks;
            num_blocks += bytes.div_ceil(block_bytes) as usize;
            plain.push(PlainPart { bytes: part.bytes()?.into_owned(), window, first_block });
        }
        Ok(Some(PlainBlocks { parts: plain, block_bytes, next: AtomicUsize::new(0), num_blocks }))
    }

    /// Whether no block is left.
    pub(super) fn are_over(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.num_blocks
    }

    /// A block that no thread has read, in `buffer`'s memory. An error comes with the number of the block.
    pub(super) fn next(&self, mut buffer: Vec<u8>) -> Result<Option<Block>, (usize, Error)> {
        loop {
            let order = self.next.fetch_add(1, Ordering::Relaxed);
            if order >= self.num_blocks {
                return Ok(None);
            }
            let number = self.parts.partition_point(|part| part.first_block <= order) - 1;
            let part = &self.parts[number];
            let start = part.window.start + (order - part.first_block) as u64 * self.block_bytes;
            let end = part.window.end.min(start + self.block_bytes);
            let lines = part.read_lines(start..end, &mut buffer).map_err(|error| {
                self.next.store(self.num_blocks, Ordering::Relaxed);
                (order, error)
            })?;
            // A block in which no line starts is left out.
            if !lines.is_empty() {
                let starts_part = start == 0;
                return Ok(Some(Block { order, starts_part, part: number, bytes: buffer, lines }));
            }
        }
    }
}

impl PlainPart {
    /// Reads the lines that start in a range of bytes; where in `buffer` they lie.
    fn read_lines(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<Range<usize>> {
        // The byte before the range tells whether a line starts with it.
        let from = range.start - u64::from(range.start > self.window.start);
        let wanted = (range.end - from) as usize;
        self.read_more(from, wanted, 0, buffer)?;
        let first = match from == range.start {
            true => 0,
            false => match memchr::memchr(b'\n', &buffer[..wanted]) {
                Some(newline) => newline + 1,
                None => return Ok(0..0),
            },
        };
        if first >= wanted {
            return Ok(0..0);
        }
        let (mut filled, mut searched) = (wanted, wanted - 1);
        loop {
            if let Some(newline) = memchr::memchr(b'\n', &buffer[searched..filled]) {
                return Ok(first..searched + newline + 1);
            }
            let left = self.window.end - (from + filled as u64);
            if left == 0 {
                return Ok(first..filled);
            }
            if filled - wanted >= MAX_LINE_BYTES {
                return Err(endless_line(self.bytes.name()));
            }
            searched = filled;
            // Twice as much each time, so that a long line is not copied again and again.
            let more = left.min(BYTES_PER_SEARCH.max((filled - wanted) as u64)) as usize;
            self.read_more(from + filled as u64, more, filled, buffer)?;
            filled += more;
        }
    }

    /// Reads `count` bytes from position `at` to the place `to` of a buffer.
    fn read_more(&self, at: u64, count: usize, to: usize, buffer: &mut Vec<u8>) -> Result<()> {
        if buffer.is_empty() {
            // Fresh pages of the system are zero, and there is room for the end of the last line.
            *buffer = vec![0; to + count + BYTES_PER_SEARCH as usize];
        } else if buffer.len() < to + count {
            buffer.resize(to + count, 0);
        }
        self.bytes.read_at(at, &mut buffer[to..to + count])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::source::{Slice, Source};

    /// The lines of all blocks by the part they come from, and by the number of the block.
    fn blocks_of(source: &Source, block_bytes: usize) -> BTreeMap<(usize, usize), Vec<u8>> {
        let blocks = PlainBlocks::of(source.parts(), block_bytes).unwrap().expect("plain files");
        let mut buffer = Vec::new();
        let mut all = BTreeMap::new();
        while let Some(block) = blocks.next(std::mem::take(&mut buffer)).unwrap() {
            assert!(!block.text().is_empty());
            all.insert((block.part, block.order), block.text().to_vec());
            buffer = block.bytes;
        }
        assert!(blocks.are_over());
        all
    }

    #[test]
    fn blocks_are_whole_lines_and_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let line = |i: usize| format!("{i} {}\n", "7".repeat(i % 40 / 39 * 500 + i % 3));
        let texts: [String; 2] = [(0..300).map(line).collect(), (0..40).map(line).collect()];
        // The last line of the second part does not end.
        let texts = [&texts[0][..], texts[1].trim_end()];
        for (number, text) in texts.iter().enumerate() {
            std::fs::write(folder.path().join(format!("part-{number}")), text).unwrap();
        }
        let source = Source::find(folder.path()).unwrap();
        for block_bytes in [1, 2, 3, 7, 16, 100, 1500] {
            for of in [1, 3] {
                let slices = (0..of).map(|index| source.slice(Slice { index, of }, 0).unwrap());
                let mut found = [String::new(), String::new()];
                for slice in slices {
                    for ((part, _), lines) in blocks_of(&slice, block_bytes) {
                        let name = slice.parts()[part].name();
                        let number = usize::from(name.ends_with("part-1"));
                        let lines = String::from_utf8(lines).unwrap();
                        assert!(lines.ends_with('\n') || texts[number].ends_with(&lines));
                        found[number] += &lines;
                    }
                }
                assert_eq!(found, texts);
            }
        }
    }

    #[test]
    fn only_large_files_on_disk_are_read_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "1 2\n3 4\n").unwrap();
        let file = Source::file(&path).unwrap();
        assert!(PlainBlocks::of(file.parts(), 7).unwrap().is_some());
        assert!(PlainBlocks::of(file.parts(), 8).unwrap().is_none());
        let memory = Source::memory("text", "1 2\n3 4\n").unwrap();
        assert!(PlainBlocks::of(memory.parts(), 1).unwrap().is_none());
    }
}
