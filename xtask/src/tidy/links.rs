//! Links between pages lead somewhere, and files that pages name exist.

use super::Finding;
use super::tree::{Source, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in tree.pages() {
        for (line, text) in prose(&page.text) {
            let wrong = links(text).filter_map(|link| Some((link, broken(tree, page, link)?)));
            let missing = spans(text).flat_map(files).filter(|path| !is_there(tree, path));
            let missing = missing
                .map(|path| (path.clone(), format!("there is no {path}: name the file that is")));
            let wrong = wrong.map(|(link, what)| (link.to_owned(), what));
            findings.extend(wrong.chain(missing).map(|(name, what)| Finding {
                path: page.path.clone(),
                line,
                key: format!("{} {name}", page.path),
                what,
            }));
        }
    }
    findings
}

/// The lines of a page outside of its fenced blocks, by number.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(page.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of the links in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// The code in a line.
pub(super) fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// What is wrong with a link, if anything is.
fn broken(tree: &Tree, page: &Source, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(f, a)| (f, Some(a)));
    let path = if file.is_empty() { page.path.clone() } else { resolve(&page.path, file) };
    // Pictures and licences are not read, and need only be there.
    let exists = tree.holds(&path) || crate::root().join(&path).exists();
    if !exists {
        return Some(format!("the link leads to {path}, which does not exist"));
    }
    let wanted = anchor?;
    let text = tree.text(&path);
    let known = prose(&text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| slug(line));
    let known: Vec<_> = known.collect();
    (!known.iter().any(|heading| heading == wanted))
        .then(|| format!("{path} has no heading #{wanted}; it has {}", known.join(", ")))
}

/// A relative link's path from the top of the checkout.
fn resolve(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchor of a heading, as code hosts make it.
fn slug(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The files of the checkout that a piece of code names: `crates/graph/src/{ids,csr}.rs` are two,
/// and `…/ids.rs` is any file with that end.
fn files(span: &str) -> Vec<String> {
    const TOPS: [&str; 7] = ["crates/", "docs/", "bench/src/", "fuzz/", "xtask/", ".cargo/", "…/"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./{,}…".contains(c);
    if !TOPS.iter().any(|top| span.starts_with(top)) || !span.chars().all(plain) || span == "…/" {
        return Vec::new();
    }
    let Some((start, rest)) = span.split_once('{') else { return vec![span.to_owned()] };
    let Some((names, end)) = rest.split_once('}') else { return Vec::new() };
    names.split(',').filter(|name| *name != "…").map(|name| format!("{start}{name}{end}")).collect()
}

fn is_there(tree: &Tree, path: &str) -> bool {
    match path.strip_prefix('…') {
        Some(end) => {
            let end = end.trim_end_matches('/');
            let folder = format!("{end}/");
            tree.files.iter().any(|file| file.path.ends_with(end) || file.path.contains(&folder))
        }
        None => tree.holds(path) || crate::root().join(path).exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn links_and_anchors_that_lead_to_nothing_are_found() {
        let tree = tree(&[
            ("README.md", "[a](docs/a.md#the-first-one) [b](docs/b.md)\n```\n[c](c.md)\n```\n"),
            ("docs/a.md", "# A\n## The `first` one\n[up](../README.md) [no](#second) <x://y>\n"),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.line, f.key)).collect();
        let expected =
            [("README.md", 1, "README.md docs/b.md"), ("docs/a.md", 3, "docs/a.md #second")];
        assert_eq!(found, expected.map(|(path, line, key)| (path.into(), line, key.into())));
    }

    #[test]
    fn files_that_pages_name_must_exist() {
        let tree = tree(&[
            ("a.md", "`crates/x/src/{a,b}.rs` `…/src/a.rs` `…/c.rs` `crates/<name>` `…/src/`\n"),
            ("crates/x/src/a.rs", ""),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.key).collect();
        assert_eq!(found, ["a.md crates/x/src/b.rs", "a.md …/c.rs"]);
    }
}
