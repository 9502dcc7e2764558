//! Typed arrays on a device and in pinned memory, a fast way for large arrays to the device, and plans of how
//! much hosts take there.
//!
//! Queued copies go on while the host does. A host must call [`Driver::synchronize`], or wait for a mark behind
//! the copy, before it reads what a device writes to pinned memory, and before it changes what a device still
//! reads there.
//!
//! [`Driver::synchronize`]: crate::driver::Driver::synchronize

mod buffer;
mod ledger;
mod mark;
mod pinned;
mod plan;
mod uploader;

pub use buffer::Buffer;
pub use ledger::Ledger;
pub(crate) use ledger::{Grant, Membership};
pub(crate) use mark::QueueMark;
pub use pinned::PinnedBuffer;
pub use plan::{MemoryModel, MemoryPlan};
pub use uploader::{Uploaded, Uploader};
