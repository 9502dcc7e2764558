//! Telling memory early what will be needed.
//!
//! A loop that follows edges knows where it will look long before it gets there, because the ends
//! of edges lie one after the other. The processor looks ahead by itself, but only as far as the
//! next branch that it guesses wrong.

/// Brings the cache line of an element closer. Never touches the element: any index may be asked
/// for, and where the processor has no such instruction nothing happens.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = elements.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch is a hint; it neither reads nor faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_may_be_asked_for() {
        for index in [0, 1, 2, 1 << 40, usize::MAX / 2] {
            prefetch(&[1u64, 2], index);
            prefetch::<u8>(&[], index);
        }
    }
}
