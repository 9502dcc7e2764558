//! `cargo xtask release`: the programs that are given to others, each in an archive with its licences.
//!
//! Two of them for Linux, because a program without any shared library cannot load one at run time:
//!
//! - `…-linux-gnu` needs the C library of the system, and finds MPI and CUDA when it runs.
//! - `…-linux-musl` needs nothing at all. All its hosts are in one process, on processors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, root, step};

/// What archives are made for.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];
/// What lies beside the program in an archive.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds and tries the programs, and packs them into `target/release-archives`.
pub(crate) fn run() -> bool {
    let folder = root().join("target/release-archives");
    if let Err(error) = fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        return false;
    }
    TARGETS.iter().all(|target| {
        let mut build = cargo(&[
            "build",
            "--locked",
            "--profile",
            "dist",
            "--package",
            "parton",
            "--target",
            target,
        ]);
        let program = root().join("target").join(target).join("dist/parton");
        step(&format!("build for {target}"), &mut build)
            && step(&format!("strip {target}"), Command::new("strip").arg(&program))
            && is_static_enough(target, &program)
            && works(target, &program)
            && pack(target, &program, &folder)
    })
}

/// Whether a program needs only what it may: nothing, or the C library.
fn is_static_enough(target: &str, program: &Path) -> bool {
    let needed = Command::new("readelf").arg("--dynamic").arg(program).output();
    let Ok(needed) = needed else {
        eprintln!("cannot run readelf");
        return false;
    };
    let text = String::from_utf8_lossy(&needed.stdout).into_owned();
    let libraries: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| line.split(['[', ']']).nth(1))
        .collect();
    let may = |library: &&str| {
        let system = ["libc.so", "libm.so", "libgcc_s.so", "ld-linux", "libdl.so", "libpthread.so"];
        target.ends_with("gnu") && system.iter().any(|known| library.starts_with(known))
    };
    let others: Vec<&&str> = libraries.iter().filter(|library| !may(library)).collect();
    if others.is_empty() {
        return true;
    }
    eprintln!("{}: needs {others:?}", program.display());
    false
}

/// Whether a program runs, with an answer that proves itself.
fn works(target: &str, program: &Path) -> bool {
    let mut run = Command::new(program);
    run.args(["run", "pagerank", "rmat:12", "--hosts", "4", "--verify", "--quiet"]);
    step(&format!("try {target}"), &mut run)
}

/// Packs the program with what lies beside it.
fn pack(target: &str, program: &Path, folder: &Path) -> bool {
    let name = format!("parton-{}-{target}", env!("CARGO_PKG_VERSION"));
    let staged = || -> std::io::Result<PathBuf> {
        let staging = folder.join(&name);
        fs::create_dir_all(&staging)?;
        fs::copy(program, staging.join("parton"))?;
        for file in BESIDE {
            fs::copy(root().join(file), staging.join(file))?;
        }
        Ok(staging)
    };
    let staging = match staged() {
        Ok(staging) => staging,
        Err(error) => {
            eprintln!("{name}: {error}");
            return false;
        }
    };
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--file", &archive, &name]);
    let packed = step(&format!("pack {archive}"), tar.current_dir(folder));
    packed && fs::remove_dir_all(staging).is_ok()
}
