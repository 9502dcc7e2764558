//! A place for many small files.

use std::path::Path;

use tempfile::TempDir;

/// A temporary folder, in memory where the system has such: disks are slow to make, to flush and
/// to forget thousands of files.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}
