//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod answers;
mod bench;
mod command;
mod common;
mod compiled;
mod deployment;
mod devices;
mod documents;
mod everyday;
mod faults;
mod graphalytics;
mod journey;
#[path = "../../net/tests/common/launchers.rs"]
mod launchers;
mod limits;
mod matrix_completion;
mod memory;
mod overwriting;
mod pages;
#[allow(dead_code, reason = "it serves tests of other crates, too")]
#[path = "../../graph/tests/common/real.rs"]
mod real;
mod run;
mod spmv;
mod understood;
