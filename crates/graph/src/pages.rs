//! Append-only arrays that go back to the operating system when dropped.
//!
//! An allocator may keep freed memory for later; edges that wait to be placed are freed exactly
//! when the result needs the room, so they live in mappings of their own. Few elements do not: to map
//! a page and to give it back takes longer than all that is done with them.

use std::marker::PhantomData;

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::memory;

/// Smaller mappings hold no large page that is aligned.
const MIN_BYTES_FOR_LARGE_PAGES: usize = 4 << 20;

/// Fewer bytes are memory of the allocator.
const MIN_BYTES_TO_MAP: usize = 64 << 10;

/// Room for a fixed number of elements, of which the first `len` are in use.
pub(crate) struct Pages<T> {
    room: Room,
    capacity: usize,
    len: usize,
    elements: PhantomData<T>,
}

/// Where elements lie.
enum Room {
    Map(MmapMut),
    /// Words, so that elements of any type are aligned.
    Words(Vec<u64>),
}

impl Room {
    fn new(bytes: usize) -> Self {
        match bytes < MIN_BYTES_TO_MAP {
            true => Room::Words(vec![0; bytes.div_ceil(size_of::<u64>())]),
            false => {
                Room::Map(MmapMut::map_anon(bytes).unwrap_or_else(|_| memory::exhausted(bytes)))
            }
        }
    }

    /// Asks for large pages. Where they are refused nothing is lost.
    #[cfg(target_os = "linux")]
    fn advise(&self, min_bytes: usize) {
        if let Room::Map(map) = self
            && map.len() >= min_bytes
        {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn advise(&self, _: usize) {}

    fn bytes(&self) -> &[u8] {
        match self {
            Room::Map(map) => map,
            Room::Words(words) => bytemuck::cast_slice(words),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Map(map) => map,
            Room::Words(words) => bytemuck::cast_slice_mut(words),
        }
    }
}

impl<T: Pod> Pages<T> {
    /// Room for `capacity` elements; memory is used as they come.
    ///
    /// # Panics
    /// When the system has no address space left, unless [that ends the process](memory).
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let room = Room::new(capacity * size_of::<T>());
        // Threads that fill many small pages at once queue for the system; untouched large ones cost nothing.
        room.advise(MIN_BYTES_FOR_LARGE_PAGES);
        Pages { room, capacity, len: 0, elements: PhantomData }
    }

    /// `len` elements, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        let pages = Self::with_capacity(len);
        // All will be touched.
        pages.room.advise(0);
        Pages { len, ..pages }
    }

    /// Elements that still fit.
    pub(crate) fn room(&self) -> usize {
        self.capacity - self.len
    }

    /// Appends elements, for which there must be room.
    pub(crate) fn extend(&mut self, elements: &[T]) {
        assert!(elements.len() <= self.room(), "room for {} elements", elements.len());
        let start = self.len * size_of::<T>();
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        self.room.bytes_mut()[start..start + bytes.len()].copy_from_slice(bytes);
        self.len += elements.len();
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The elements `range`.
    pub(crate) fn get(&self, range: std::ops::Range<usize>) -> &[T] {
        assert!(range.end <= self.len, "elements {range:?} of {}", self.len);
        match size_of::<T>() {
            0 => zero_sized(range.len()),
            size => bytemuck::cast_slice(&self.room.bytes()[range.start * size..range.end * size]),
        }
    }

    /// All elements.
    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        match size_of::<T>() {
            0 => zero_sized(self.len),
            size => bytemuck::cast_slice_mut(&mut self.room.bytes_mut()[..self.len * size]),
        }
    }
}

/// `len` elements that take no room; there is only one value they can have.
fn zero_sized<T: Pod>(len: usize) -> &'static mut [T] {
    // A leaked vector of elements without size allocates nothing.
    vec![T::zeroed(); len].leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back() {
        for count in [5000, MIN_BYTES_TO_MAP as u32 / 4] {
            let mut pages = Pages::<u32>::with_capacity(count as usize);
            let all: Vec<u32> = (0..count).collect();
            pages.extend(&all[..1234]);
            pages.extend(&all[1234..]);
            assert_eq!((pages.len(), pages.room()), (count as usize, 0));
            assert_eq!(pages.get(1230..1240), &all[1230..1240]);
        }
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
