//! All tests of this crate that can share a process: one program to link.

mod common;
mod drivers;
mod engines;
mod kernels;
mod memory;
mod misfits;
mod modules;
mod programs;
