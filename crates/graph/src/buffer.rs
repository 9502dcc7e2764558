//! An array that is either owned or a window of a memory-mapped file: algorithms see `&[T]` and
//! never learn which.

use std::fmt;
use std::ops::Deref;
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

    /// The elements as a vector; copies only when mapped.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Storage::Owned(vec) => vec,
            Storage::Mapped { .. } => self.to_vec(),
        }
    }
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
