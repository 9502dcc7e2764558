//! An array that is either owned or a window of a memory-mapped file: algorithms see `&[T]` and
//! never learn which.

use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;

/// A read-only array, owned or mapped.
#[derive(Clone)]
pub struct Buffer<T>(Storage<T>);

#[derive(Clone)]
enum Storage<T> {
    Owned(Vec<T>),
    Mapped { map: Arc<Mmap>, start: usize, bytes: usize },
}

impl<T: Pod> Buffer<T> {
    /// The window `start..start + bytes` of a mapping, or `None` when it is out of bounds,
    /// misaligned, or not a whole number of elements.
    pub fn mapped(map: Arc<Mmap>, start: usize, bytes: usize) -> Option<Self> {
        let window = map.get(start..start.checked_add(bytes)?)?;
        bytemuck::try_cast_slice::<u8, T>(window).ok()?;
        Some(Buffer(Storage::Mapped { map, start, bytes }))
    }

    /// Brings some elements of a mapped array into memory, all of them at once instead of page by
    /// page as they are touched. A failing disk or a file cut short is an error here, where a
    /// plain access would end the process.
    pub fn load(&self, elements: Range<usize>) -> io::Result<()> {
        match &self.0 {
            Storage::Owned(_) => Ok(()),
            Storage::Mapped { map, start, .. } => {
                let from = start + elements.start * size_of::<T>();
                populate(map, from, elements.len() * size_of::<T>())
            }
        }
    }

    /// The elements as a vector; copies only when mapped.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Storage::Owned(vec) => vec,
            Storage::Mapped { .. } => self.to_vec(),
        }
    }
}

#[cfg(target_os = "linux")]
fn populate(map: &Mmap, from: usize, bytes: usize) -> io::Result<()> {
    match map.advise_range(memmap2::Advice::PopulateRead, from, bytes) {
        // Kernels before 5.14 do not know this; pages then come in as they are touched.
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
        Err(e) => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("the disk failed or the file was cut short while in use ({e})"),
        )),
        Ok(()) => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn populate(_: &Mmap, _: usize, _: usize) -> io::Result<()> {
    Ok(())
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Owned(vec) => vec,
            // Checked once by `mapped`; the cast is a few comparisons.
            Storage::Mapped { map, start, bytes } => {
                bytemuck::cast_slice(&map[*start..*start + *bytes])
            }
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(vec: Vec<T>) -> Self {
        Buffer(Storage::Owned(vec))
    }
}

impl<T: Pod> Default for Buffer<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}
