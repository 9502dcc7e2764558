//! The way of a newcomer to an algorithm of their own: the page's text and nothing else, followed to its end.
//!
//! It builds Parton once more, as a dependency of the new crate, and is therefore one of the long tests.

use std::path::Path;
use std::process::Command;

use crate::common::{folder, text};

/// A block of code: its language, and its lines.
fn blocks(section: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = section;
    while let Some(at) = rest.find("```") {
        let (language, code) = rest[at + 3..].split_once('\n').expect("a line");
        let (code, after) = code.split_once("```").expect("an end");
        blocks.push((language, code));
        rest = after;
    }
    blocks
}

/// A shell that finds this build's command, and in which cargo asks no registry.
fn shell(folder: &Path, line: &str) -> String {
    let command = Path::new(env!("CARGO_BIN_EXE_parton"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [command.parent().expect("a folder").to_path_buf()];
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)));
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/journey");
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", line])
        .current_dir(folder)
        .env("PATH", path.expect("a path"))
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target)
        // What matters is that it builds and runs, not how fast.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{line}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_page_leads_to_an_algorithm_on_four_hosts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/own-algorithm.md")).expect("the page");
    let section = page.split("## A function").nth(1).expect("a section");
    let section = section.split("## A trait").next().expect("its end");
    let blocks = blocks(section);
    let languages: Vec<&str> = blocks.iter().map(|(language, _)| *language).collect();
    assert_eq!(languages, ["sh", "rust,no_run", "bash"], "the blocks of the page");
    let [(_, begin), (_, program), (_, own)] = blocks[..] else { unreachable!() };
    assert!(section.contains("replace the function in `mine/src/main.rs`"));
    if std::env::var_os("PARTON_LONG").is_none() {
        eprintln!("the page is followed by `cargo xtask test --long`");
        return;
    }
    let folder = folder();
    let (new, run) = begin.split_once('\n').expect("two lines");
    shell(folder.path(), new);
    // The packages that this checkout is tested with, which are there without a registry.
    let mine = folder.path().join("mine");
    std::fs::copy(root.join("Cargo.lock"), mine.join("Cargo.lock")).expect("a lock file");
    let said = shell(folder.path(), run);
    assert!(said.contains("hosts        4") && said.contains("verified     yes"), "{said}");

    std::fs::write(mine.join("src/main.rs"), program).expect("the program");
    let said = shell(folder.path(), own);
    for shown in ["bottleneck", "hosts        4", "verified     yes", "a relaxation of `heaviest`"]
    {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    let rows = std::fs::read_to_string(mine.join("heaviest.csv")).expect("rows");
    assert!(rows.starts_with("id,heaviest\n0,0\n") && rows.lines().count() == 40_001);
}
