//! Slices of an input: the share of its text that one host reads.
//!
//! A line belongs to the slice in which it starts, so every line belongs to one. Where lines cannot
//! be looked for, because the text is packed, a slice is some of the parts.

use std::ops::Range;

use super::{ByteSource, Part, Source};
use crate::Result;
use crate::edge_file::Cut;

/// One of several about equal shares of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Which one, from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Slice {
    /// The only slice.
    pub const WHOLE: Slice = Slice { index: 0, of: 1 };

    /// Which of `count` things, in order, belong to this slice.
    pub fn share(self, count: u64) -> Range<u64> {
        let cut = |n: usize| (u128::from(count) * n as u128 / self.of as u128) as u64;
        cut(self.index)..cut(self.index + 1)
    }
}

impl Source {
    /// Whether slices are ranges of bytes, about equally large; otherwise they are whole parts.
    pub fn is_plain(&self) -> bool {
        self.parts.iter().all(Part::is_plain)
    }

    /// How lines are cut into slices.
    pub(crate) fn cut(&self) -> Cut {
        if self.is_plain() { Cut::Even } else { Cut::Packed }
    }

    /// The same input, free of parts that can be read only once, which are copied to temporary
    /// files; if it must be `plain`, also of packed ones.
    pub(crate) fn on_disk(mut self, plain: bool) -> Result<Self> {
        for part in &mut self.parts {
            if part.is_stream() || plain && !part.is_plain() {
                *part = part.spooled()?;
            }
        }
        Ok(self)
    }

    /// The lines of a slice. In a plain input the first `skip_lines` lines of every part belong to
    /// none but the [whole](Slice::WHOLE).
    pub(crate) fn slice(&self, slice: Slice, skip_lines: u64) -> Result<Source> {
        if slice == Slice::WHOLE {
            return Ok(self.clone());
        }
        let parts = match self.is_plain() {
            true => self.windows(slice, skip_lines)?,
            false => {
                let parts = slice.share(self.parts.len() as u64);
                self.parts[parts.start as usize..parts.end as usize].to_vec()
            }
        };
        let (name, head) = (self.name.clone(), self.head.clone());
        Ok(Source { name, parts, head, sliced: true })
    }

    /// Windows of the parts that a slice of all bytes, one part after the other, touches.
    fn windows(&self, slice: Slice, skip_lines: u64) -> Result<Vec<Part>> {
        let sizes: Vec<u64> = self.parts.iter().map(|p| p.stored_bytes().unwrap_or(0)).collect();
        let mine = slice.share(sizes.iter().sum());
        let (mut windows, mut before) = (Vec::new(), 0);
        for (part, &size) in self.parts.iter().zip(&sizes) {
            let here = mine.start.clamp(before, before + size) - before
                ..mine.end.clamp(before, before + size) - before;
            before += size;
            if here.is_empty() && self.parts.len() > 1 {
                continue;
            }
            let bytes = part.bytes()?;
            let mut body = 0;
            let mut skipped = 0;
            while skipped < skip_lines && body < bytes.len() {
                body = line_start(&bytes, body + 1)?;
                skipped += 1;
            }
            let cut = |at: u64| Ok(line_start(&bytes, at)?.max(body));
            let window = cut(here.start)?..cut(here.end)?;
            windows.push(Part { window: Some(window), ..part.clone() });
        }
        Ok(windows)
    }
}

/// Where the first line starts that starts at `at` or later.
fn line_start(bytes: &ByteSource<'_>, at: u64) -> Result<u64> {
    let mut buffer = vec![0; 1 << 16];
    // A line starts at the beginning and after every line feed.
    let mut from = match at {
        0 => return Ok(0),
        at => at - 1,
    };
    while from < bytes.len() {
        let piece = &mut buffer[..(bytes.len() - from).min(1 << 16) as usize];
        bytes.read_at(from, piece)?;
        if let Some(newline) = memchr::memchr(b'\n', piece) {
            return Ok(from + newline as u64 + 1);
        }
        from += piece.len() as u64;
    }
    Ok(bytes.len())
}
