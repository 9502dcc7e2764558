//! What tests of the command share.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::path::Path;
use std::process::{Command, Output};

/// The command: that of this build, or the file that `PARTON_BINARY` names, for tests that were copied
/// to another machine.
pub(crate) fn command() -> Command {
    let file = std::env::var_os("PARTON_BINARY");
    Command::new(file.unwrap_or_else(|| env!("CARGO_BIN_EXE_parton").into()))
}

/// Runs the command in a folder.
pub(crate) fn parton(folder: &Path, arguments: &[&str]) -> Output {
    command().args(arguments).current_dir(folder).output().expect("the command runs")
}

/// A folder of its own for a test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What a command said.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Files in a folder, temporaries included.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
