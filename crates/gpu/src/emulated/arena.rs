//! Memory of the emulated device: of limited size, and with guard zones that show writes past an end.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;

/// Bytes before and after each allocation that nobody may write to.
const GUARD_BYTES: usize = 256;
/// What guard zones hold.
const GUARD: u8 = 0xA5;
/// What fresh memory holds, so that reading it before writing shows.
const FRESH: u8 = 0xCD;

/// Allocations by address.
#[derive(Default)]
pub(super) struct Arena {
    allocations: BTreeMap<u64, usize>,
    /// Bytes allocated.
    pub(super) used: u64,
    /// The most of them at once.
    pub(super) peak: u64,
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * GUARD_BYTES)?, GUARD_BYTES).ok()
}

impl Arena {
    /// New memory, aligned as a GPU's is. `None` if the machine has no more.
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let layout = layout(bytes)?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the three parts lie one after another in the allocation.
        let address = unsafe {
            start.write_bytes(GUARD, GUARD_BYTES);
            start.add(GUARD_BYTES).write_bytes(FRESH, bytes);
            start.add(GUARD_BYTES + bytes).write_bytes(GUARD, GUARD_BYTES);
            start.add(GUARD_BYTES) as u64
        };
        self.allocations.insert(address, bytes);
        self.used += bytes as u64;
        self.peak = self.peak.max(self.used);
        Some(address)
    }

    /// Frees memory. An error if it was never allocated.
    pub(super) fn free(&mut self, address: u64) -> Result<(), String> {
        let Some(bytes) = self.allocations.remove(&address) else {
            return Err(format!("{address:#x} is freed, but not allocated"));
        };
        self.used -= bytes as u64;
        let layout = layout(bytes).expect("it was allocated");
        // SAFETY: this is how `allocate` got it.
        unsafe { dealloc((address as *mut u8).sub(GUARD_BYTES), layout) };
        Ok(())
    }

    /// Whether these bytes are part of one allocation.
    pub(super) fn has(&self, address: u64, bytes: usize) -> bool {
        self.allocations.range(..=address).next_back().is_some_and(|(start, allocated)| {
            let offset = (address - start) as usize;
            offset.checked_add(bytes).is_some_and(|end| end <= *allocated)
        })
    }

    /// An error if a kernel wrote to a guard zone.
    pub(super) fn check(&self) -> Result<(), String> {
        self.allocations.iter().try_for_each(|(address, bytes)| {
            let start = *address as *const u8;
            // SAFETY: the guard zones belong to the allocation.
            let [before, after] = unsafe {
                [start.sub(GUARD_BYTES), start.add(*bytes)]
                    .map(|zone| std::slice::from_raw_parts(zone, GUARD_BYTES))
            };
            if let Some(at) = before.iter().rposition(|byte| *byte != GUARD) {
                let distance = GUARD_BYTES - at;
                return Err(format!(
                    "wrote {distance} bytes before the start of an allocation of {bytes} bytes"
                ));
            }
            match after.iter().position(|byte| *byte != GUARD) {
                Some(at) => {
                    Err(format!("wrote {at} bytes after the end of an allocation of {bytes} bytes"))
                }
                None => Ok(()),
            }
        })
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let addresses: Vec<_> = self.allocations.keys().copied().collect();
        for address in addresses {
            // It is on the list of allocations.
            let _ = self.free(address);
        }
    }
}
