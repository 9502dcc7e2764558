//! Whether every crate could be published as it is: what `cargo publish` would refuse or warn of, and what
//! every package must contain.

use std::process::Stdio;

use crate::{cargo, root};

/// What every package must contain.
const FILES: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Warnings that are meant: tests stay here, and nothing is uploaded.
const MEANT: [&str; 2] = ["ignoring test", "aborting upload"];

/// Tries to publish all crates without uploading; whether all is well. The packages are not built once more.
pub(crate) fn try_all() -> bool {
    eprintln!("== packages to publish");
    let arguments = ["publish", "--workspace", "--dry-run", "--no-verify", "--allow-dirty"];
    let output = match cargo(&arguments).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            return false;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let is_unmeant = |line: &&str| {
        line.starts_with("warning") && !MEANT.iter().any(|meant| line.contains(meant))
    };
    let warnings: Vec<&str> = said.lines().filter(is_unmeant).collect();
    if !output.status.success() || !warnings.is_empty() {
        eprintln!("{said}");
        return false;
    }
    let incomplete: Vec<String> = crates().iter().flat_map(|name| missing(name)).collect();
    incomplete.iter().for_each(|problem| eprintln!("{problem}"));
    incomplete.is_empty()
}

/// The names of the crates in `crates/`.
fn crates() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("crates")).into_iter().flatten().flatten();
    let name = |folder: std::fs::DirEntry| match folder.file_name().to_string_lossy() {
        name if name == "parton" => "parton".to_owned(),
        name => format!("parton-{name}"),
    };
    folders.map(name).collect()
}

/// What a package lacks.
fn missing(name: &str) -> Vec<String> {
    let list = cargo(&["package", "--list", "--allow-dirty", "--package", name]).output();
    let list = list.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let list = list.unwrap_or_default();
    let lacks = |file: &&str| !list.lines().any(|line| line == *file);
    FILES
        .into_iter()
        .filter(lacks)
        .map(|file| format!("{name}: no {file} in its package"))
        .collect()
}
