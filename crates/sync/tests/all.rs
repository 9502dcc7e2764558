//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod common;
#[path = "common/device.rs"]
mod device;
mod devices;
mod hostile;
mod interest;
#[path = "common/judge.rs"]
mod judge;
mod lanes;
mod large;
mod model;
mod own_pace;
mod repeated;
#[path = "common/structs.rs"]
mod structs;
mod traps;
mod vectors;
mod wire;
