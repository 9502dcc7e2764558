//! Large arrays on large pages.
//!
//! A random read into an array of many megabytes misses the translation of its address more often
//! than the cache. On pages of 2 MiB instead of 4 KiB it hardly ever does; most systems give them
//! only on request.

use bytemuck::Zeroable;

/// Smaller arrays do not gain.
const MIN_BYTES_FOR_LARGE_PAGES: usize = 4 << 20;
/// Size of an ordinary page, or a divisor of it.
const PAGE_BYTES: usize = 4096;

/// A vector with room for `capacity` elements, on large pages if there are many and the system
/// has them.
pub fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let vec = Vec::with_capacity(capacity);
    ask(&vec);
    vec
}

/// A vector of `len` elements that are all zero, on large pages if there are many and the system
/// has them. Pages are zeroed as they are first touched, in one go each.
pub fn zeroed_vec<T: Zeroable>(len: usize) -> Vec<T> {
    let vec = bytemuck::zeroed_vec(len);
    ask(&vec);
    vec
}

/// Asks for large pages where a vector that has not been touched yet is going to lie.
fn ask<T>(vec: &Vec<T>) {
    let bytes = vec.capacity().saturating_mul(size_of::<T>());
    if bytes >= MIN_BYTES_FOR_LARGE_PAGES && size_of::<T>() > 0 {
        let start = vec.as_ptr().addr().next_multiple_of(PAGE_BYTES);
        let end = (vec.as_ptr().addr() + bytes) / PAGE_BYTES * PAGE_BYTES;
        advise(start, end - start);
    }
}

#[cfg(target_os = "linux")]
fn advise(start: usize, bytes: usize) {
    // SAFETY: the range lies inside memory that the caller has just allocated, and the advice
    // changes neither its contents nor its protection. Where it is refused nothing is lost.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(start), bytes, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn elements_are_where_they_were_put() {
        for len in
            [0, 1, 1000, MIN_BYTES_FOR_LARGE_PAGES / 8, MIN_BYTES_FOR_LARGE_PAGES / 8 + 12345]
        {
            let mut vec: Vec<u64> = vec_with_capacity(len);
            assert!(vec.capacity() >= len);
            let place = vec.as_ptr();
            vec.par_extend((0..len as u64).into_par_iter());
            assert_eq!(vec.as_ptr(), place, "nothing was copied");
            assert!(vec.iter().copied().eq(0..len as u64));
        }
    }
}
