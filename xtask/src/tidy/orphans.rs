//! Rust files that belong to no program, and tests in libraries whose tests are not built: cargo says nothing about
//! a test that never runs.

use std::collections::HashSet;

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    // Modules by the package that declares them, and files that are declared by their path.
    let (mut modules, mut paths) = (HashSet::new(), HashSet::new());
    for (file, _) in tree.rust() {
        for line in file.text.lines().map(str::trim) {
            if let Some(name) = module(line) {
                modules.insert((package(&file.path), name));
            }
            let path = line.strip_prefix("#[path = \"").and_then(|rest| rest.split('"').next());
            paths.extend(path.map(|path| path.trim_start_matches("../")));
        }
    }
    let mut findings = untested(tree);
    for (file, _) in tree.rust() {
        let (package, within) = (package(&file.path), &file.path[package(&file.path).len()..]);
        let stem = within.trim_end_matches(".rs").trim_end_matches("/mod");
        let name = stem.rsplit('/').next().unwrap_or_default();
        let known = is_root(tree, package, within)
            || modules.contains(&(package, name))
            || paths.iter().any(|path| file.path.ends_with(path));
        if !known {
            let what = "no program has this module: declare it, or name it in Cargo.toml".into();
            let (path, key) = (file.path.clone(), file.path.clone());
            findings.push(Finding { path, line: 1, key, what });
        }
    }
    findings
}

/// Files with tests below `src`, and pages with examples there, of which Cargo.toml says that none is built.
fn untested(tree: &Tree) -> Vec<Finding> {
    let kinds = [
        ("test = false", "#[test]"),
        ("doctest = false", "/// ```\n"),
        ("doctest = false", "//! ```\n"),
    ];
    let mut findings = Vec::new();
    for (file, _) in tree.rust().filter(|(file, _)| file.path.contains("/src/")) {
        let manifest = tree.text(&format!("{}Cargo.toml", package(&file.path)));
        let library = manifest.split("[lib]\n").nth(1).unwrap_or_default();
        let library = library.split("\n[").next().unwrap_or_default();
        for (setting, mark) in kinds {
            let Some(at) = file.text.find(mark) else { continue };
            if library.lines().any(|line| line == setting) {
                let (path, line) = (file.path.clone(), file.text[..at].lines().count() + 1);
                let what = format!("Cargo.toml says `{setting}`: this test never runs");
                findings.push(Finding { key: path.clone(), path, line, what });
            }
        }
    }
    findings
}

/// The name in `mod name;`, public or not.
fn module(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("mod ")?;
    let visible = before.is_empty() || before.starts_with("pub");
    rest.strip_suffix(';').filter(|_| visible)
}

/// The folder of a file's package: what comes before `src`, `tests` or `examples`.
fn package(path: &str) -> &str {
    let folders = ["src/", "tests/", "examples/", "benches/"];
    let at = folders.iter().filter_map(|folder| path.find(folder)).min();
    &path[..at.unwrap_or(0)]
}

/// Whether cargo builds a program or a library from this file of a package.
fn is_root(tree: &Tree, package: &str, within: &str) -> bool {
    if within == "build.rs"
        || within.ends_with("/build.rs")
        || within.starts_with("examples/")
        || within.starts_with("src/bin/")
    {
        return true;
    }
    if ["src/lib.rs", "src/main.rs"].contains(&within) {
        return true;
    }
    let Some(test) = within.strip_prefix("tests/") else { return false };
    let name = test.trim_end_matches(".rs").trim_end_matches("/main");
    let manifest = tree.text(&format!("{package}Cargo.toml"));
    let listed = manifest.contains(&format!("[[test]]\nname = \"{name}\""));
    !name.contains('/') && (listed || !manifest.contains("autotests = false"))
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn files_that_nothing_declares_are_found() {
        let manifest = "autotests = false\n[[test]]\nname = \"all\"\n";
        let tree = tree(&[
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", "pub(crate) mod used;\n"),
            ("crates/a/src/used.rs", "mod inner;"),
            ("crates/a/src/used/inner.rs", ""),
            ("crates/a/src/unused.rs", ""),
            ("crates/a/tests/all.rs", "mod one;\nmod many;\n"),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/many/mod.rs", ""),
            ("crates/a/tests/two.rs", ""),
            ("crates/a/examples/e.rs", ""),
            ("crates/b/Cargo.toml", ""),
            ("crates/b/tests/three.rs", "#[path = \"../../a/tests/common/x.rs\"]\nmod y;"),
            ("crates/a/tests/common/x.rs", ""),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(found, ["crates/a/src/unused.rs", "crates/a/tests/two.rs"]);
    }

    #[test]
    fn tests_that_are_not_built_are_found() {
        let test = "fn one() {}\n#[test]\nfn two() {}\n";
        let tree = tree(&[
            ("crates/a/Cargo.toml", "[lib]\ntest = false\n\n[lints]\n"),
            ("crates/a/src/lib.rs", test),
            ("crates/b/Cargo.toml", "[lib]\ndoctest = false\n"),
            ("crates/b/src/lib.rs", test),
            ("crates/c/Cargo.toml", "[lib]\ndoctest = false\n"),
            ("crates/c/src/lib.rs", "/// ```\n/// one();\n/// ```\nfn one() {}\n"),
            ("crates/d/Cargo.toml", "[[bin]]\ntest = false\n"),
            ("crates/d/src/lib.rs", test),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let expected = [("crates/a/src/lib.rs", 2), ("crates/c/src/lib.rs", 1)];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
