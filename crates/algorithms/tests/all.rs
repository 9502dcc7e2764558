//! All tests of this crate that can share a process: one program to link, and no core idle while
//! the longest of them runs.

mod bridges;
mod by_hand;
mod certificates;
mod common;
mod compiled_forms;
mod compiled_twins;
mod conformance;
mod definitions;
mod device_bytes;
mod device_products;
mod devices;
#[path = "../../engine/tests/common/mod.rs"]
mod engine_common;
#[path = "../../net/tests/common/launchers.rs"]
mod launchers;
mod matrix;
mod matrix_completion;
mod options;
mod properties;
mod pruned_pull;
#[path = "../../graph/tests/common/real.rs"]
mod real;
mod slow_host;
mod traps;
mod variants;
