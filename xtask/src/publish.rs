//! Whether every crate could be published as it is: what `cargo publish` would refuse or warn of, and what
//! every package must contain.

use std::process::Stdio;

use serde_json::Value;

use crate::cargo;

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

/// The names of all crates that may be published.
fn crates() -> Vec<String> {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output();
    let metadata = metadata.map(|output| output.stdout).unwrap_or_default();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // A list of registries: without one all are allowed, an empty one allows none.
    let published = packages.filter(|package| package["publish"].is_null());
    published.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect()
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
