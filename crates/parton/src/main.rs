//! The `parton` command: all of it is in [`parton::cli`].

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's memory; a process that gets none ends with a sentence.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

// SAFETY: everything is left to the system's allocator, whose results are passed on as they are.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory, if there is some.
#[inline]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        parton::cli::out_of_memory(bytes);
    }
    memory
}

fn main() -> std::process::ExitCode {
    parton::cli::main(parton::algorithms::ALL)
}
