//! Append-only arrays that go back to the operating system when dropped.
//!
//! An allocator may keep freed memory for later; edges that wait to be placed are freed exactly
//! when the result needs the room, so they live in mappings of their own.

use std::marker::PhantomData;

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::memory;

/// Smaller mappings hold no large page that is aligned.
#[cfg(target_os = "linux")]
const MIN_BYTES_FOR_LARGE_PAGES: usize = 4 << 20;

/// Room for a fixed number of elements, of which the first `len` are in use.
pub(crate) struct Pages<T> {
    /// `None` where there is nothing to store: no capacity, or elements without size.
    map: Option<MmapMut>,
    capacity: usize,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Pod> Pages<T> {
    /// Room for `capacity` elements; memory is used as they come.
    ///
    /// # Panics
    /// When the system has no address space left, unless [that ends the process](memory).
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let map = match capacity * size_of::<T>() {
            0 => None,
            bytes => Some(MmapMut::map_anon(bytes).unwrap_or_else(|_| memory::exhausted(bytes))),
        };
        // Threads that fill many small pages at once queue for the system; untouched large ones cost nothing.
        #[cfg(target_os = "linux")]
        map.iter()
            .filter(|map| map.len() >= MIN_BYTES_FOR_LARGE_PAGES)
            .for_each(|map| _ = map.advise(memmap2::Advice::HugePage));
        Pages { map, capacity, len: 0, elements: PhantomData }
    }

    /// `len` elements, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        let pages = Self::with_capacity(len);
        // All will be touched. Where large pages are refused nothing is lost.
        #[cfg(target_os = "linux")]
        pages.map.iter().for_each(|map| _ = map.advise(memmap2::Advice::HugePage));
        Pages { len, ..pages }
    }

    /// Elements that still fit.
    pub(crate) fn room(&self) -> usize {
        self.capacity - self.len
    }

    /// Appends elements, for which there must be room.
    pub(crate) fn extend(&mut self, elements: &[T]) {
        assert!(elements.len() <= self.room(), "room for {} elements", elements.len());
        if let Some(map) = &mut self.map {
            let start = self.len * size_of::<T>();
            let bytes: &[u8] = bytemuck::cast_slice(elements);
            map[start..start + bytes.len()].copy_from_slice(bytes);
        }
        self.len += elements.len();
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The elements `range`.
    pub(crate) fn get(&self, range: std::ops::Range<usize>) -> &[T] {
        assert!(range.end <= self.len, "elements {range:?} of {}", self.len);
        match &self.map {
            Some(map) => {
                let size = size_of::<T>();
                bytemuck::cast_slice(&map[range.start * size..range.end * size])
            }
            None => zero_sized(range.len()),
        }
    }

    /// All elements.
    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        match &mut self.map {
            Some(map) => bytemuck::cast_slice_mut(&mut map[..self.len * size_of::<T>()]),
            None => zero_sized(self.len),
        }
    }
}

/// `len` elements that take no room; there is only one value they can have.
fn zero_sized<T: Pod>(len: usize) -> &'static mut [T] {
    assert!(len == 0 || size_of::<T>() == 0, "elements have a place");
    // A leaked vector of elements without size allocates nothing.
    vec![T::zeroed(); len].leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back() {
        let mut pages = Pages::<u32>::with_capacity(5000);
        let all: Vec<u32> = (0..5000).collect();
        pages.extend(&all[..1234]);
        pages.extend(&all[1234..]);
        assert_eq!((pages.len(), pages.room()), (5000, 0));
        assert_eq!(pages.get(1230..1240), &all[1230..1240]);
        let mut nothing = Pages::<()>::with_capacity(10);
        nothing.extend(&[(); 7]);
        assert_eq!(nothing.get(2..7).len(), 5);
        assert!(Pages::<f64>::with_capacity(0).get(0..0).is_empty());
        let mut zeros = Pages::<u16>::zeroed(3);
        zeros.get_mut()[1] = 7;
        assert_eq!(zeros.get(0..3), [0, 7, 0]);
        assert_eq!(Pages::<()>::zeroed(4).get_mut().len(), 4);
    }
}
