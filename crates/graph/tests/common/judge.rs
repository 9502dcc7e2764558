//! The rule every reader obeys, whatever bytes it is given: a graph that is one, or an error that
//! names the input; soon, and in memory that is in proportion to the input.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use parton_graph::{Error, Graph, Result, with_csr};

/// Bytes a reader may hold at once for an input of `input` bytes.
///
/// The constant part is what readers ask for before they know how much will come, and what a
/// header may declare unproven: a million vertices, twice. The other part is the 1024 vertices per
/// edge that a header may declare: 8 KiB for the 4 bytes of the shortest row.
pub(crate) fn allowance(input: usize) -> usize {
    (32 << 20) + 4096 * input
}

/// Far more processor time than any reader needs for a few kilobytes, on any machine. A machine may
/// stand still meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether reading gives a graph, or how it breaks the rule. `name` is what an error must mention,
/// `allowed` how many bytes may be held at once.
pub(crate) fn judge(
    name: &str,
    allowed: usize,
    read: impl FnOnce() -> Result<Graph>,
) -> Result<bool, String> {
    let start = processor_time();
    let (outcome, peak) = measured(|| {
        let checked = || {
            let graph = read()?;
            with_csr!(&graph.adjacency, csr => csr.check()).expect("a graph");
            assert_eq!(graph.ids.len(), graph.num_vertices(), "every vertex has its id");
            Ok(())
        };
        catch_unwind(AssertUnwindSafe(checked))
    });
    if peak > allowed {
        return Err(format!("took {peak} bytes of memory where {allowed} are allowed"));
    }
    let took = processor_time() - start;
    if took > PATIENCE {
        return Err(format!("took {took:?}"));
    }
    match outcome {
        Err(_) => Err("panicked; the message is on standard error".into()),
        Ok(Ok(())) => Ok(true),
        Ok(Err(Error::Request(_))) => Ok(false),
        Ok(Err(error @ (Error::Data { .. } | Error::NoInput { .. }))) => {
            let message = error.to_string();
            // A hostile file must not drive the terminal, nor bury the message under its contents.
            let printable =
                !message.contains(|c: char| c.is_control() && c != '\t') && message.len() < 1000;
            match message.contains(name) && printable {
                true => Ok(false),
                false => Err(format!("the message does not name the input, or is odd: {error:?}")),
            }
        }
        Ok(Err(error)) => Err(format!("an error of the wrong kind: {error:?}")),
    }
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a place of its type.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "threads have clocks");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What `work` returns, and the most bytes that it held at once. Counts this thread only: the
/// caller must be a pool of its own.
fn measured<T>(work: impl FnOnce() -> T) -> (T, usize) {
    PEAK.set(LIVE.get());
    let before = LIVE.get();
    let result = work();
    (result, (PEAK.get() - before) as usize)
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    // Neither is built lazily nor torn down, so an allocator may use them at any time.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    let live = LIVE.get() + change;
    LIVE.set(live);
    if live > PEAK.get() {
        PEAK.set(live);
    }
}

// SAFETY: every call is handed to the system's allocator as it is; counting touches no memory of
// the caller and does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}
