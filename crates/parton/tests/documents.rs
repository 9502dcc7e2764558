//! Every command shown in the README and in `docs/` works as shown.
//!
//! Blocks marked `sh` are run line by line in one folder, in the order of the page. Lines for
//! cargo itself are left out: cargo cannot run inside its own build.

use crate::launchers;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("docs");
    let mut pages: Vec<_> = docs.map(|e| e.expect("an entry").path()).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// The lines of all `sh` blocks.
fn commands(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```sh";
        } else if inside {
            commands.push(line.to_owned());
        }
    }
    commands
}

#[test]
fn commands_in_documents_work() {
    let binary = Path::new(env!("CARGO_BIN_EXE_parton"));
    let path = std::env::join_paths(
        [binary.parent().expect("a folder").to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .expect("a path");
    let mut ran = 0;
    for page in pages() {
        let folder = tempfile::tempdir().expect("a folder");
        for line in commands(&std::fs::read_to_string(&page).expect("a page")) {
            let line = line.replace("cargo run --release -- ", "parton ");
            if line.starts_with("cargo ") {
                continue;
            }
            let output = Command::new("bash")
                .args(["-c", &format!("set -o pipefail; {line}")])
                .current_dir(folder.path())
                .env("PATH", &path)
                .envs(launchers::OPEN_MPI_SETTINGS)
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {line}\n{said}", page.display());
            ran += 1;
        }
    }
    assert!(ran >= 5, "only {ran} commands found");
}
