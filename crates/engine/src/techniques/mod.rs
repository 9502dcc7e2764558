//! Techniques that engines compose, each usable by itself.

pub(crate) mod agreement;
pub(crate) mod bottom_up;
pub(crate) mod bucket_window;
pub(crate) mod collector;
pub(crate) mod columns;
pub(crate) mod helpers;
pub(crate) mod ordered_push;
pub(crate) mod pruned_pull;
pub(crate) mod round_length;
pub(crate) mod row_blocks;
pub(crate) mod slices;
pub(crate) mod spares;
pub mod throttle;
pub(crate) mod tiles;

/// Vertices that a thread takes at a time where it visits all. A fixed number: rayon would give half of
/// what is left to one thread, and the vertices with most edges come first.
pub(crate) const VERTICES_PER_TASK: usize = 1 << 12;
/// Vertices that a thread takes at a time from a frontier.
pub(crate) const FRONTIER_VERTICES_PER_TASK: usize = 1 << 7;
