//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod blocks;
mod common;
mod devices;
mod interest;
mod misfits;
mod own_pace;
mod programs;
mod properties;
mod repeatable;
mod scans;
mod spmv;
