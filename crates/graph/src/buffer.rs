//! An array that is either owned or a window of a memory-mapped file: algorithms see `&[T]` and
//! never learn which.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::mapped::Mapping;
use bytemuck::Pod;

/// A read-only array, owned or mapped; copies share their elements.
///
/// Reading it costs as much as reading a slice, whether the memory is owned or mapped: graphs are read element
/// by element in the innermost loops.
pub struct Buffer<T> {
    start: NonNull<T>,
    len: usize,
    owner: Owner<T>,
    elements: PhantomData<T>,
}

enum Owner<T> {
    Vec(Arc<Vec<T>>),
    Map { map: Arc<Mapping>, from: usize },
}

// SAFETY: a buffer owns what `start` points to, a vector or a share of a mapping, and gives out
// only shared references to it.
unsafe impl<T: Send + Sync> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Buffer<T> {}

impl<T: Pod> Buffer<T> {
    /// The window of `bytes` bytes from byte `from` of a mapping, or `None` when it is out of
    /// bounds, misaligned, or not a whole number of elements.
    pub fn mapped(map: Arc<Mapping>, from: usize, bytes: usize) -> Option<Self> {
        let window = map.get(from..from.checked_add(bytes)?)?;
        let elements: &[T] = bytemuck::try_cast_slice(window).ok()?;
        let (start, len) = (NonNull::from(elements).cast(), elements.len());
        Some(Buffer { start, len, owner: Owner::Map { map, from }, elements: PhantomData })
    }

    /// Brings some elements of a mapped array into memory, all of them at once instead of page by
    /// page as they are touched. A failing disk or a file cut short is an error here, where a
    /// plain access would end the process.
    pub fn load(&self, elements: Range<usize>) -> io::Result<()> {
        match &self.owner {
            Owner::Vec(_) => Ok(()),
            Owner::Map { map, from } => {
                let from = from + elements.start * size_of::<T>();
                populate(map, from, elements.len() * size_of::<T>())
            }
        }
    }

    /// Gives the memory of some elements of a mapped array back. The next read of them waits for the
    /// file.
    pub fn set_aside(&self, elements: Range<usize>) {
        if let Owner::Map { map, from } = &self.owner {
            let from = from + elements.start * size_of::<T>();
            give_back(map, from, elements.len() * size_of::<T>());
        }
    }

    /// The elements as a vector; copies only when they are mapped or shared.
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self.owner {
            Owner::Vec(vec) => Arc::unwrap_or_clone(vec),
            Owner::Map { .. } => self.to_vec(),
        }
    }
}

#[cfg(target_os = "linux")]
fn populate(map: &Mapping, from: usize, bytes: usize) -> io::Result<()> {
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
fn populate(_: &Mapping, _: usize, _: usize) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn give_back(map: &Mapping, from: usize, bytes: usize) {
    if bytes > 0 {
        // SAFETY: nothing writes to the mapping, so a second read gives what the file holds, as
        // before. Where the advice is refused nothing is lost.
        let _ =
            unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
fn give_back(_: &Mapping, _: usize, _: usize) {}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `len` describe the elements of `owner`, which never change. A vector inside buffers is
        // not touched until the last of them is taken apart, and moving it does not move its elements. A mapping is
        // read-only and kept alive by `owner`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(vec: Vec<T>) -> Self {
        let (start, len) = (NonNull::from(&vec[..]).cast(), vec.len());
        Buffer { start, len, owner: Owner::Vec(Arc::new(vec)), elements: PhantomData }
    }
}

impl<T: Pod> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let owner = match &self.owner {
            Owner::Vec(vec) => Owner::Vec(Arc::clone(vec)),
            Owner::Map { map, from } => Owner::Map { map: Arc::clone(map), from: *from },
        };
        Buffer { owner, elements: PhantomData, ..*self }
    }
}

impl<T: Pod> Default for Buffer<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_hold_their_elements_wherever_they_move() {
        let owned = Buffer::from(vec![3u32, 1, 2]);
        let copy = owned.clone();
        let moved = Box::new(owned);
        assert_eq!((&moved[..], &copy[..]), (&[3, 1, 2][..], &[3, 1, 2][..]));
        assert_eq!(moved.as_ptr(), copy.as_ptr(), "nothing was copied");
        assert_eq!(moved.into_vec(), [3, 1, 2]);
        assert_eq!(copy.into_vec(), [3, 1, 2]);
        assert!(Buffer::<f64>::default().is_empty());
        assert_eq!(Buffer::from(vec![(); 5]).len(), 5);
    }

    #[test]
    fn mapped_buffers_outlive_their_mapping() {
        let mut map = memmap2::MmapMut::map_anon(64).unwrap();
        map[..8].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        let map = Arc::new(Mapping::new(map.make_read_only().unwrap(), "memory"));
        let whole = Buffer::<u32>::mapped(Arc::clone(&map), 0, 8).unwrap();
        assert!(Buffer::<u32>::mapped(Arc::clone(&map), 1, 8).is_none(), "misaligned");
        assert!(Buffer::<u32>::mapped(Arc::clone(&map), 0, 7).is_none(), "half an element");
        assert!(Buffer::<u32>::mapped(Arc::clone(&map), 60, 8).is_none(), "out of bounds");
        assert!(Buffer::<u32>::mapped(Arc::clone(&map), usize::MAX, 8).is_none());
        let shared = whole.clone();
        assert_eq!(shared.as_ptr(), whole.as_ptr());
        drop((map, whole));
        assert_eq!(shared[..], [1, 2]);
        assert_eq!(shared.into_vec(), [1, 2]);
    }
}
