//! Nothing: the programs that the build script writes are compiled into the tests of this crate.
