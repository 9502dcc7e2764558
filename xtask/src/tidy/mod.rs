//! `cargo xtask tidy`: what a reviewer would otherwise have to notice, one check per file.
//!
//! A finding is one line: where, what is wrong, what to do. What is meant to stay as it is has an
//! entry with a reason in `xtask/tidy.toml`.

mod accepted;
mod commands;
mod links;
mod names;
mod orphans;
mod places;
mod sizes;
mod tree;
mod twins;
mod unused;
mod words;

use std::fmt;

use accepted::Accepted;
use tree::Tree;

/// A check looks at the whole checkout; its name is its section in `tidy.toml`.
type Check = (&'static str, fn(&Tree) -> Vec<Finding>);

const ALL: [Check; 9] = [
    ("links", links::check),
    ("commands", commands::check),
    ("words", words::check),
    ("places", places::check),
    ("orphans", orphans::check),
    ("twins", twins::check),
    ("sizes", sizes::check),
    ("unused", unused::check),
    ("names", names::check),
];

/// Something to mend.
#[derive(Debug)]
struct Finding {
    path: String,
    line: usize,
    /// What an entry in `tidy.toml` calls it.
    key: String,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Runs the named checks, or all, and prints what they find; whether that was nothing.
pub(crate) fn run(wanted: &[&str]) -> bool {
    if let Some(unknown) = wanted.iter().find(|name| ALL.iter().all(|(known, _)| known != *name)) {
        eprintln!("unknown check '{unknown}'; known: {}", ALL.map(|(name, _)| name).join(", "));
        return false;
    }
    let tree = match Tree::read(&super::root()) {
        Ok(tree) => tree,
        Err(problem) => {
            eprintln!("{problem}");
            return false;
        }
    };
    let (accepted, mut findings) = Accepted::parse(&tree.text(accepted::PATH));
    for (name, check) in ALL {
        if wanted.is_empty() || wanted.contains(&name) {
            findings.extend(accepted.judge(name, check(&tree)));
        }
    }
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        eprintln!("{} findings; see CONTRIBUTING.md, \"Tidy\"", findings.len());
    }
    findings.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_checkout_parses() {
        let tree = Tree::read(&crate::root()).expect("the checkout");
        assert!(tree.files.iter().any(|file| file.path == "xtask/src/tidy/mod.rs"));
        assert!(!tree.text(accepted::PATH).is_empty());
    }
}
