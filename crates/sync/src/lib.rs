//! Keeping the copies of a vertex consistent with the fewest bytes.

pub mod encode;
