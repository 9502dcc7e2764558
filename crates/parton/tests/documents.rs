//! Every command shown in the README and in `docs/` works as shown.
//!
//! Blocks marked `sh` are run line by line in one folder, in the order of the page. Lines for
//! cargo itself are left out: cargo cannot run inside its own build. The table of algorithms says what the
//! registry says.

use crate::launchers;

use std::path::{Path, PathBuf};
use std::process::Command;

use parton::algorithms::{self, Algorithm, Options};

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

/// The cells of the first table of a page, without its two lines of headers.
fn first_table(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_table_of_algorithms_is_that_of_the_registry() {
    let page = std::fs::read_to_string(root().join("docs/algorithms.md")).expect("the page");
    let rows = first_table(&page);
    let named =
        |algorithm: &dyn Algorithm, row: &[&str]| row[0] == format!("`{}`", algorithm.name());
    assert_eq!(rows.len(), algorithms::ALL.len(), "one row for each algorithm");
    for &algorithm in algorithms::ALL {
        let name = algorithm.name();
        let row = rows.iter().find(|row| named(algorithm, row));
        let [_, _, engines, paces, _, _] = row.unwrap_or_else(|| panic!("{name} has no row"))[..]
        else {
            panic!("{name}: six columns")
        };
        let known: Vec<_> = algorithm.engines().iter().map(|engine| engine.name).collect();
        assert_eq!(engines, known.join(", "), "the engines of {name}");
        let needs_rounds = algorithm.needs_rounds(&Options::default()).is_some();
        let without_options = paces.split(';').next();
        let expected = if needs_rounds { "bsp" } else { "bsp, basp, auto" };
        assert_eq!(without_options, Some(expected), "the paces of {name}");
    }
}
