//! Commands that pages show name subcommands, options and values that exist.
//!
//! Names are looked up in the sources, not in a built command, so this takes no time. Whether a
//! command does what its page says is for `crates/parton/tests/documents.rs` to find out.

use std::collections::HashSet;

use syn::visit::{self, Visit};

use super::Finding;
use super::links::spans;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let known = Known::of(tree);
    let mut findings = Vec::new();
    for page in tree.pages() {
        for (line, code) in code(&page.text) {
            findings.extend(known.wrong(code).map(|what| Finding {
                path: page.path.clone(),
                line,
                key: format!("{} {code}", page.path),
                what,
            }));
        }
    }
    findings
}

/// All code of a page by line: lines of fenced and indented blocks, spans elsewhere.
fn code(page: &str) -> Vec<(usize, &str)> {
    let (mut fenced, mut code) = (false, Vec::new());
    for (at, line) in (1..).zip(page.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            code.push((at, line.trim()));
        } else {
            code.extend(spans(line).map(|span| (at, span)));
        }
    }
    code
}

/// The names that commands may use.
struct Known {
    subcommands: HashSet<String>,
    options: HashSet<String>,
    algorithms: HashSet<String>,
    engines: HashSet<String>,
    policies: HashSet<String>,
    chores: String,
    bench_options: HashSet<String>,
}

impl Known {
    fn of(tree: &Tree) -> Known {
        let mut clap = Clap::default();
        for (file, syntax) in tree.rust() {
            if file.path.starts_with("crates/parton/src/") {
                clap.visit_file(syntax);
            }
        }
        let command = strings(tree, "crates/parton/src/");
        let algorithms = strings(tree, "crates/algorithms/src/");
        let engines = &strings(tree, "crates/engine/src/") | &algorithms;
        let mut options: HashSet<String> = clap.options;
        options.extend(["help", "version"].map(str::to_owned));
        options.extend(command.union(&algorithms).cloned());
        options.extend(declared(tree, "crates/algorithms/src/"));
        Known {
            subcommands: clap.subcommands,
            options,
            engines,
            algorithms,
            policies: strings(tree, "crates/partition/src/policies/"),
            chores: each_alternative(&tree.text("xtask/src/main.rs")),
            bench_options: strings(tree, "bench/src/"),
        }
    }

    /// What is wrong with a line of code, if it is a command of ours.
    fn wrong<'a>(&'a self, code: &'a str) -> impl Iterator<Item = String> + 'a {
        let code = code.trim_start_matches("$ ").replace("cargo run --release -- ", "parton ");
        let parton = after(&code, "parton ").map(|rest| self.wrong_command(&rest));
        let chore = after(&code, "cargo xtask ").map(|rest| self.wrong_chore(&rest));
        parton.into_iter().chain(chore).flatten().collect::<Vec<_>>().into_iter()
    }

    fn wrong_command(&self, words: &[String]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut expect = |what: &str, name: &str, known: &HashSet<String>| {
            if is_name(name) && !["auto", "all"].contains(&name) && !known.contains(name) {
                wrong.push(format!("there is no {what} '{name}': correct the command"));
            }
        };
        let first = words.first().map_or("", String::as_str);
        expect("command", first, &self.subcommands);
        if let ("run", Some(algorithm)) = (first, words.get(1)) {
            expect("algorithm", algorithm, &self.algorithms);
        }
        for (at, word) in words.iter().enumerate() {
            let Some(option) = word.strip_prefix("--") else { continue };
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            expect("option", name, &self.options);
            let value = if value.is_empty() { words.get(at + 1).map_or("", |w| w) } else { value };
            for value in value.split(',') {
                match name {
                    "engine" | "engines" => expect("engine", value, &self.engines),
                    "policy" => expect("policy", value, &self.policies),
                    _ => {}
                }
            }
        }
        wrong
    }

    /// Chores are as the usage text has them.
    fn wrong_chore(&self, words: &[String]) -> Vec<String> {
        let chore = words.first().map_or("", String::as_str);
        let mut named = vec![format!("cargo xtask {chore}")];
        if let ("bench", Some(what)) = (chore, words.get(1)) {
            named.push(format!("cargo xtask bench {what}"));
        }
        let plain = |line: &String| line.split(' ').skip(2).all(is_name);
        let unknown = named.iter().filter(|l| plain(l) && !self.chores.contains(&***l));
        let mut wrong: Vec<_> =
            unknown.map(|line| format!("there is no `{line}`: correct the command")).collect();
        for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
            let known = self.bench_options.contains(option)
                || self.bench_options.contains(&format!("--{option}"))
                || self.chores.contains(&format!("--{option}"));
            if is_name(option) && !known {
                wrong.push(format!("no chore has --{option}: correct the command"));
            }
        }
        wrong
    }
}

/// The words of a command that follow its name, up to a pipe, a comment or the next command.
fn after(code: &str, name: &str) -> Option<Vec<String>> {
    let at = code.find(name)?;
    if at > 0 && !code[..at].ends_with([' ', '/']) {
        return None;
    }
    let rest = &code[at + name.len()..];
    if rest.starts_with(' ') {
        return None; // A column of a table or a picture.
    }
    let words = rest.split_whitespace();
    let words = words.take_while(|word| !["|", "#", "&&", ";", ">", "→", "\\"].contains(word));
    Some(words.map(|word| word.trim_matches(|c| "[](),;'\"".contains(c)).to_owned()).collect())
}

/// Whether this is a name, not a placeholder, a file or a number.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// All short texts in the sources of a folder.
fn strings(tree: &Tree, folder: &str) -> HashSet<String> {
    let files = tree.files.iter().filter(|file| file.path.starts_with(folder));
    let strings = files.flat_map(|file| file.text.split('"')).filter(|text| text.len() < 40);
    strings.map(str::to_owned).collect()
}

/// The options that `options!` declares in a folder: `name: Type = default`.
fn declared(tree: &Tree, folder: &str) -> HashSet<String> {
    let files = tree.files.iter().filter(|file| file.path.starts_with(folder));
    let blocks = files.flat_map(|file| file.text.split("options! {").skip(1));
    let lines = blocks.flat_map(|block| block.split("\n}").next().unwrap_or("").lines());
    lines.filter_map(|line| Some(kebab(line.trim().split_once(": ")?.0))).collect()
}

/// A usage text in which a line with `a|b` is followed by one line for each of the two.
fn each_alternative(usage: &str) -> String {
    let mut each = usage.to_owned();
    for line in usage.lines() {
        if let Some((start, names)) = line.rsplit_once(' ').filter(|(_, names)| names.contains('|'))
        {
            names.split('|').for_each(|name| each += &format!("\n{start} {name}"));
        }
    }
    each
}

/// What clap reads: variants of subcommands, fields with `#[arg(long)]`.
#[derive(Default)]
struct Clap {
    subcommands: HashSet<String>,
    options: HashSet<String>,
}

impl<'a> Visit<'a> for Clap {
    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        let derives = |a: &syn::Attribute| quote::quote!(#a).to_string().contains("Subcommand");
        if item.attrs.iter().any(derives) {
            self.subcommands.extend(item.variants.iter().map(|v| kebab(&v.ident.to_string())));
        }
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        if let (Some(name), true) =
            (&field.ident, field.attrs.iter().any(|a| a.path().is_ident("arg")))
        {
            self.options.insert(kebab(&name.to_string()));
        }
        visit::visit_field(self, field);
    }
}

fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.extend(if c == '_' { '-' } else { c }.to_lowercase());
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let tree = tree(&[
            ("a.md", page),
            (
                "crates/parton/src/main.rs",
                "#[derive(Subcommand)] enum Command { Run, ListAll }
                 struct Run { #[arg(long)] max_rounds: u32, #[arg(long)] engine: String, #[arg(long)] policy: String }",
            ),
            ("crates/algorithms/src/bfs.rs", "const NAME: &str = \"bfs\"; options! {\n struct Options {\n top_k: u32 = 1;\n }\n}"),
            ("crates/engine/src/push.rs", "const NAME: &str = \"push\";"),
            ("crates/partition/src/policies/oec.rs", "const NAME: &str = \"oec\";"),
            ("xtask/src/main.rs", "const USAGE: &str = \"\\\ncargo xtask bench load|wire\n\";"),
            ("bench/src/main.rs", "const OPTION: &str = \"--turns\";"),
        ]);
        check(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn commands_as_they_are_pass() {
        let page = "`parton run bfs g.mtx --max-rounds 3 --engine push --top-k 2 --policy=oec,auto | head`\n\
                    ```sh\nmpirun -n 4 parton run bfs rmat:10\ncargo xtask bench load --turns 3\ncargo xtask bench wire\n\
                    parton list-all # all\n```\n`parton run ALGORITHM GRAPH` `parton_graph x`\n    parton     the command\n";
        assert_eq!(found(page), Vec::<String>::new());
    }

    #[test]
    fn names_that_do_not_exist_are_found() {
        for wrong in [
            "parton walk g",
            "parton run dfs g",
            "parton run bfs g --rounds 3",
            "parton run bfs g --engine pull",
            "parton run bfs g --policy oec,cut",
            "cargo xtask bench lode",
            "cargo xtask best",
            "cargo xtask bench load --turn 3",
        ] {
            assert_eq!(found(&format!("`{wrong}`\n")).len(), 1, "{wrong}");
        }
    }
}
