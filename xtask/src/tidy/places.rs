//! Nothing depends on somebody's machine: no folders of one, no registries but the public one.

use super::Finding;
use super::tree::Tree;

/// Folders that only one machine or user has.
const FOLDERS: [&str; 5] = ["home", "root", "Users", "work", "tmp"];

/// Where crates come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (line, text) in (1..).zip(file.text.lines()) {
            let folder = FOLDERS.iter().find(|folder| names_folder(text, folder));
            let folder = folder.map(|folder| {
                format!("/{folder}/ is a folder of one machine: use a relative or a temporary one")
            });
            let source = registry(text).filter(|source| *source != REGISTRY);
            let source =
                source.map(|source| format!("{source} is not the public registry: remove it"));
            let config = file.path.ends_with(".toml")
                && ["[source.", "[registries", "replace-with"].iter().any(|s| text.starts_with(s));
            let config = config.then(|| "a private registry: remove it".to_owned());
            findings.extend(folder.into_iter().chain(source).chain(config).map(|what| Finding {
                path: file.path.clone(),
                line,
                key: file.path.clone(),
                what,
            }));
        }
    }
    findings
}

/// Whether a line has a path that starts with this folder.
fn names_folder(line: &str, folder: &str) -> bool {
    let path = format!("/{folder}/");
    line.match_indices(&path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.…}>*".contains(c))
    })
}

/// The registry in a line of a lock file.
fn registry(line: &str) -> Option<&str> {
    let source = line.strip_prefix("source = \"")?.strip_suffix('"')?;
    source
        .contains("registry+")
        .then_some(source)
        .or(source.starts_with("sparse+").then_some(source))
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn folders_and_registries_of_one_machine_are_found() {
        let mine = ["", "home", "me", "a.mtx"].join("/");
        let page = format!("`parton run bfs {mine}`\n`crates/home/me`\n");
        let lock =
            format!("source = \"{REGISTRY}\"\nsource = \"sparse+https://mirror.example/\"\n");
        let tree = tree(&[
            ("a.md", page.as_str()),
            ("Cargo.lock", lock.as_str()),
            (".cargo/config.toml", "[alias]\n[source.crates-io]\n"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let expected = [(".cargo/config.toml", 2), ("Cargo.lock", 2), ("a.md", 1)];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
