//! From the [intermediate form](crate::ir) to text that a device's compiler reads.

pub mod cuda;
