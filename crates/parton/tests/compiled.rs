//! Compiled programs from the command line.

use crate::common::{folder, parton, text};

#[test]
fn compiled_programs_are_explained() {
    let folder = folder();
    let said = text(&parton(folder.path(), &["explain", "widest-path"]).stdout);
    for shown in ["settling", "a relaxation of `width`", "pace basp: yes", "stays at masters"] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    let output = parton(folder.path(), &["explain", "hits", "--json"]);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("a list of JSON objects");
    let report = &report[0];
    assert_eq!(report["program"], "hits");
    assert_eq!(report["operators"][0]["class"], "independent");
    assert_eq!(report["operators"][0]["broadcasts"][0]["at"], "sources");
    for (algorithm, shape) in [
        ("pagerank", "a stationary gather"),
        ("pagerank", "a rotated vertex program"),
        ("kcore", "a rotated vertex program"),
        ("betweenness", "operator by operator"),
    ] {
        let said = text(&parton(folder.path(), &["explain", algorithm]).stdout);
        assert!(said.contains(&format!("shape: {shape}")), "{algorithm}: {said}");
    }
    let refused = parton(folder.path(), &["explain", "triangles"]);
    assert_eq!(refused.status.code(), Some(2));
    let compiled =
        "compiled are bfs, sssp, components, pagerank, kcore, betweenness, widest-path, hits";
    assert!(text(&refused.stderr).contains(compiled), "{}", text(&refused.stderr));
}

#[test]
fn answers_of_compiled_programs_are_verified() {
    let folder = folder();
    for algorithm in ["widest-path", "hits"] {
        for policy in ["oec", "cvc"] {
            let run = ["run", algorithm, "rmat:8", "--weights", "random:1..99", "--hosts", "3"];
            let output =
                parton(folder.path(), &[&run[..], &["--policy", policy, "--verify"]].concat());
            assert!(output.status.success(), "{algorithm}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn a_new_crate_has_a_program() {
    let folder = folder();
    let path = concat!(env!("CARGO_MANIFEST_DIR"));
    let output = parton(folder.path(), &["new", "mine", "--parton", path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let manifest =
        std::fs::read_to_string(folder.path().join("mine/Cargo.toml")).expect("a manifest");
    assert!(
        manifest.contains("name = \"mine\"") && manifest.contains("parton = { path ="),
        "{manifest}"
    );
    let main = std::fs::read_to_string(folder.path().join("mine/src/main.rs")).expect("a program");
    assert!(main.contains("parton::main!"));
    assert_eq!(
        parton(folder.path(), &["new", "mine"]).status.code(),
        Some(74),
        "it is there already"
    );
    assert_eq!(parton(folder.path(), &["new", "1st"]).status.code(), Some(2));
}

/// Builds the crate of `parton new` as its author would, with what strict authors forbid.
#[test]
fn a_new_crate_builds_without_warnings() {
    if std::env::var_os("PARTON_LONG").is_none() {
        return;
    }
    let folder = folder();
    let path = concat!(env!("CARGO_MANIFEST_DIR"));
    let output = parton(folder.path(), &["new", "mine", "--parton", path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let own = folder.path().join("mine");
    let main = std::fs::read_to_string(own.join("src/main.rs")).expect("a program");
    let documented = if main.starts_with("//!") { "" } else { "//! A program.\n" };
    let strict = format!("#![deny(warnings, missing_docs)]\n{documented}{main}");
    std::fs::write(own.join("src/main.rs"), strict).expect("a file");
    // The versions that this workspace was built with are there without a network.
    let lock = std::path::Path::new(path).join("../../Cargo.lock");
    std::fs::copy(lock, own.join("Cargo.lock")).expect("a lock file");
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet"]).current_dir(&own);
    let built = cargo.env("CARGO_TARGET_DIR", own.join("target")).output().expect("cargo runs");
    assert!(built.status.success(), "{}", text(&built.stderr));
    let run = ["run", "reach", "rmat:6", "--hosts", "3", "--verify"];
    let ran = std::process::Command::new(own.join("target/debug/mine")).args(run).output();
    let ran = ran.expect("the program runs");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
}
