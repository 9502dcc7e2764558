//! Bytes by position, for formats whose files are arrays: read by many threads at once, or not
//! read at all but mapped.
//!
//! ```text
//!                       plain file                          memory, pipe, packed file
//! read_into, read_as    parallel reads, 1 MiB each          copies
//! view                  a window of the page cache, 0 copies    one copy
//! ```
//!
//! Copying a large array costs more than its bytes. Every fresh page is a fault, and the kernel zeroes the page
//! before it is overwritten. Together these take twice as long as the copy itself. A window has neither, and hosts on
//! one machine share it. Its price: the file must not change while it is in use.

use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::MmapOptions;

use super::remote::RemoteObject;
use crate::buffer::Buffer;
use crate::error::Place;
use crate::mapped::Mapping;
use crate::parallel::{self, Scratch};
use crate::{Error, Result};

/// Large enough to amortise a system call, small enough to stay in a core's cache until the
/// bytes just read have been looked at.
const PIECE_BYTES: usize = 1 << 20;

/// Bytes that can be read at any position, by many threads at once.
pub struct ByteSource<'a> {
    name: Cow<'a, str>,
    content: ByteContent<'a>,
}

enum ByteContent<'a> {
    File { file: File, len: u64 },
    Remote(Arc<dyn RemoteObject>),
    Memory(Cow<'a, [u8]>),
}

impl<'a> ByteSource<'a> {
    pub(super) fn file(name: &'a str, file: File) -> Result<Self> {
        let len = file.metadata().map_err(|e| Error::io(name, "read", e))?.len();
        Ok(ByteSource { name: name.into(), content: ByteContent::File { file, len } })
    }

    pub(super) fn remote(name: &'a str, object: Arc<dyn RemoteObject>) -> Self {
        ByteSource { name: name.into(), content: ByteContent::Remote(object) }
    }

    pub(super) fn memory(name: &'a str, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        ByteSource { name: name.into(), content: ByteContent::Memory(bytes.into()) }
    }

    /// What to call these bytes in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same bytes, free of the input they came from: for readers that borrow nothing.
    pub fn into_owned(self) -> ByteSource<'static> {
        let content = match self.content {
            ByteContent::File { file, len } => ByteContent::File { file, len },
            ByteContent::Remote(object) => ByteContent::Remote(object),
            ByteContent::Memory(bytes) => ByteContent::Memory(Cow::Owned(bytes.into_owned())),
        };
        ByteSource { name: Cow::Owned(self.name.into_owned()), content }
    }

    /// Whether the bytes are in memory; otherwise a file is open.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.content, ByteContent::Memory(_))
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match &self.content {
            ByteContent::File { len, .. } => *len,
            ByteContent::Remote(object) => object.len(),
            ByteContent::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An error about the bytes at a position.
    pub fn error(&self, at: u64, problem: impl Into<String>) -> Error {
        Error::data(self.name(), Place::Byte(at), problem)
    }

    /// Fills `buffer` with the bytes from position `at`; running out is an error that says so.
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.check_range(at, buffer.len() as u64, 1)?;
        match &self.content {
            ByteContent::File { file, .. } => {
                use std::os::unix::fs::FileExt;
                file.read_exact_at(buffer, at).map_err(|e| Error::io(self.name(), "read", e))
            }
            ByteContent::Remote(object) => {
                let got = object.get(at..at + buffer.len() as u64);
                buffer.copy_from_slice(&got.map_err(|e| Error::io(self.name(), "read", e))?);
                Ok(())
            }
            ByteContent::Memory(bytes) => {
                buffer.copy_from_slice(&bytes[at as usize..at as usize + buffer.len()]);
                Ok(())
            }
        }
    }

    /// The little-endian integer at position `at`.
    pub(crate) fn read_u64(&self, at: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read_at(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Fills `elements` from position `at`, in parallel.
    pub(crate) fn read_into<T: Pod + Send>(&self, at: u64, elements: &mut [T]) -> Result<()> {
        self.check_range(at, elements.len() as u64, size_of::<T>())?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(elements);
        let read = |i, piece: &mut [u8]| self.read_at(at + (i * PIECE_BYTES) as u64, piece);
        parallel::map_owned(bytes.chunks_mut(PIECE_BYTES), read).into_iter().collect()
    }

    /// `count` elements from position `at`, read in parallel. The memory is asked for only after
    /// the file has been found long enough.
    pub fn read_array<T: Pod + Send>(&self, at: u64, count: u64) -> Result<Vec<T>> {
        self.check_range(at, count, size_of::<T>())?;
        let mut elements = fresh(count);
        self.read_into(at, &mut elements)?;
        Ok(elements)
    }

    /// `count` stored elements from position `at`, turned into others in parallel: `convert` gets
    /// the index of the first stored element of a piece, the piece, and where the results go.
    pub fn read_as<S: Pod + Send, T: Pod + Send>(
        &self,
        at: u64,
        count: u64,
        convert: impl Fn(u64, &[S], &mut [T]) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        self.check_range(at, count, size_of::<S>())?;
        let mut elements = fresh(count);
        let per_piece = PIECE_BYTES / size_of::<S>();
        let read = |i: usize, stored: &mut Vec<S>, converted: &mut [T]| {
            let first = (i * per_piece) as u64;
            stored.resize(converted.len(), S::zeroed());
            let from = at + first * size_of::<S>() as u64;
            self.read_at(from, bytemuck::cast_slice_mut(stored))?;
            convert(first, stored, converted)
        };
        let scratch = Scratch::default();
        let outcomes = parallel::map_owned(elements.chunks_mut(per_piece), |i, converted| {
            scratch.with(|stored| read(i, stored, converted))
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(elements)
    }

    /// `count` elements from position `at` without touching them: a window of the mapped file
    /// where these are the aligned bytes of a plain file, else a copy.
    ///
    /// [`Buffer::load`] brings a part into memory and reports what a plain access could not.
    pub fn view<T: Pod + Send>(&self, at: u64, count: u64) -> Result<Buffer<T>> {
        self.check_range(at, count, size_of::<T>())?;
        let bytes = count as usize * size_of::<T>();
        if let ByteContent::File { file, .. } = &self.content
            && bytes > 0
        {
            // SAFETY: the file must not be changed or cut while it is mapped. Nothing in a
            // process can guarantee that of a file; `docs/files.md` asks it of users, and Parton
            // itself replaces files by renaming new ones over them, which leaves the mapped one
            // intact.
            let map = unsafe { MmapOptions::new().offset(at).len(bytes).map(file) };
            // Pipes and some file systems cannot be mapped; reading them works all the same.
            let window = map
                .ok()
                .and_then(|map| Buffer::mapped(Arc::new(Mapping::new(map, self.name())), 0, bytes));
            if let Some(window) = window {
                return Ok(window);
            }
        }
        Ok(self.read_array(at, count)?.into())
    }

    /// Checks that `count` elements of `size` bytes follow position `at`.
    fn check_range(&self, at: u64, count: u64, size: usize) -> Result<()> {
        let end = count.checked_mul(size as u64).and_then(|bytes| at.checked_add(bytes));
        if end.is_some_and(|end| end <= self.len()) {
            return Ok(());
        }
        let things = if size == 1 { "bytes".into() } else { format!("elements of {size} bytes") };
        let problem = format!("expected {count} {things}, but the file ends at {}", self.len());
        Err(self.error(at, problem))
    }
}

/// Memory whose pages come zeroed from the system as they are first written, by many threads;
/// `vec!` would write the zeros of a newtype itself, on one thread.
fn fresh<T: Pod>(count: u64) -> Vec<T> {
    bytemuck::zeroed_vec(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[test]
    fn windows_and_copies_hold_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let numbers: Vec<u64> = (0..200_000).map(|i| i * i).collect();
        let raw: Vec<u8> = [&[7u8; 8][..], bytemuck::cast_slice(&numbers)].concat();
        std::fs::write(&path, &raw).unwrap();
        for source in [Source::file(&path), Source::memory("numbers", raw)] {
            let source = source.unwrap();
            let bytes = source.bytes().unwrap();
            assert_eq!(bytes.view::<u64>(8, 200_000).unwrap()[..], numbers);
            assert_eq!(bytes.read_array::<u64>(8, 200_000).unwrap(), numbers);
            let halves = |_, wide: &[u64], halves: &mut [u32]| {
                halves.iter_mut().zip(wide).for_each(|(half, &n)| *half = (n / 2) as u32);
                Ok(())
            };
            let halves = bytes.read_as(8, 200_000, halves).unwrap();
            assert!(halves.iter().zip(&numbers).all(|(&half, &n)| half == (n / 2) as u32));
            // Not where a u64 can lie: copied.
            assert_eq!(bytes.view::<u64>(9, 1).unwrap()[0], 1 << 56);
            assert!(bytes.view::<u64>(0, 200_002).is_err());
            assert!(bytes.view::<u64>(8, u64::MAX / 4).is_err());
            assert!(bytes.read_array::<u64>(u64::MAX, 1).is_err());
            assert!(bytes.view::<u64>(8, 0).unwrap().is_empty());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_cut_while_mapped_is_an_error_to_load() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut");
        std::fs::write(&path, vec![1; 1 << 16]).unwrap();
        let source = Source::file(&path).unwrap();
        let window = source.bytes().unwrap().view::<u8>(0, 1 << 16).unwrap();
        window.load(0..1 << 16).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(1 << 12).unwrap();
        assert!(window.load(0..1 << 16).is_err());
        assert!(window.load(0..1 << 12).is_ok());
    }
}
