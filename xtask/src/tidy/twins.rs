//! Helpers written twice: functions of the same shape, and long constants in two files.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::Finding;
use super::tree::{Tree, each_function, end_of, is_for_tests, line_of};

/// Shorter functions look alike without being the same.
const FEWEST_LINES: usize = 6;
const FEWEST_TOKENS: usize = 40;

/// Numbers with fewer digits are not known by heart.
const FEWEST_HEX_DIGITS: usize = 12;

/// A place in a file.
type Place = (String, usize, String);

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (mut shapes, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    for (file, syntax) in tree.rust().filter(|(file, _)| !file.is_test()) {
        each_function(syntax, |attributes, signature, body| {
            let lines = end_of(body) - line_of(&signature.ident);
            let tokens = body.to_token_stream();
            if is_for_tests(attributes)
                || lines < FEWEST_LINES
                || count(tokens.clone()) < FEWEST_TOKENS
            {
                return;
            }
            let mut shape = Shape::default();
            shape.add(signature.inputs.to_token_stream());
            shape.add(tokens);
            let place = (file.path.clone(), line_of(&signature.ident), signature.ident.to_string());
            shapes.entry(shape.text).or_insert_with(Vec::new).push(place);
        });
        for (line, number) in long_numbers(&file.text) {
            let places: &mut Vec<Place> = numbers.entry(number.clone()).or_default();
            // A file may use its own constant twice.
            if places.iter().all(|(path, ..)| *path != file.path) {
                places.push((file.path.clone(), line, number));
            }
        }
    }
    let mut findings = Vec::new();
    for places in shapes.into_values().filter(|places| places.len() > 1) {
        findings.extend(report(&places, |(path, line, name)| {
            format!("has the same shape as {name} in {path}:{line}")
        }));
    }
    for places in numbers.into_values().filter(|places| places.len() > 1) {
        findings.extend(report(&places, |(path, line, _)| format!("is also in {path}:{line}")));
    }
    findings
}

/// One finding for each place but the first, which names the first.
fn report(places: &[Place], says: impl Fn(&Place) -> String) -> Vec<Finding> {
    let first = says(&places[0]);
    let twin = |(path, line, own): &Place| Finding {
        path: path.clone(),
        line: *line,
        key: format!("{path} {own}"),
        what: format!("{own} {first}: keep one"),
    };
    places[1..].iter().map(twin).collect()
}

fn count(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 2 + count(group.stream()),
            _ => 1,
        })
        .sum()
}

/// A function's text in which names are numbered as they first occur and numbers do not matter.
#[derive(Default)]
struct Shape {
    text: String,
    names: HashMap<String, usize>,
}

impl Shape {
    fn add(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    self.text += &format!("{:?}", group.delimiter());
                    self.add(group.stream());
                    self.text += ")";
                }
                TokenTree::Ident(name) if is_keyword(&name.to_string()) => {
                    self.text += &name.to_string();
                }
                TokenTree::Ident(name) => {
                    let next = self.names.len();
                    let number = *self.names.entry(name.to_string()).or_insert(next);
                    self.text += &format!("${number}");
                }
                TokenTree::Punct(mark) => self.text.push(mark.as_char()),
                TokenTree::Literal(_) => self.text.push('#'),
            }
            self.text.push(' ');
        }
    }
}

/// Whether a name stands for itself in a function's shape.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 21] = [
        "as", "async", "await", "break", "const", "continue", "dyn", "else", "fn", "for", "if",
        "impl", "in", "let", "loop", "match", "move", "mut", "return", "unsafe", "while",
    ];
    KEYWORDS.contains(&name)
}

/// Numbers of many different hexadecimal digits before the tests of a file, with their lines.
fn long_numbers(text: &str) -> Vec<(usize, String)> {
    let mut numbers = Vec::new();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    for (line, text) in (1..).zip(code.lines()) {
        for rest in text.split("0x").skip(1) {
            let digits = rest.chars().take_while(|c| c.is_ascii_hexdigit() || *c == '_');
            let digits: String = digits.filter(|c| *c != '_').collect::<String>().to_lowercase();
            let distinct = digits.chars().collect::<std::collections::HashSet<_>>().len();
            if digits.len() >= FEWEST_HEX_DIGITS && distinct > 4 {
                numbers.push((line, format!("0x{digits}")));
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    const SUM: &str = "fn sum(rows: &[u64]) -> u64 {
        let mut total = 0;
        for row in rows.iter().filter(|row| **row > 3) {
            total += row * 7;
            total ^= total >> 3;
        }
        total
    }";

    #[test]
    fn functions_of_the_same_shape_are_found() {
        let twin = SUM.replace("sum", "mix").replace("rows", "items").replace('7', "9");
        let other = SUM.replace("+=", "-=");
        let files = [("crates/a/src/a.rs", SUM), ("crates/b/src/b.rs", &twin), ("c.rs", &other)];
        let found: Vec<_> = check(&tree(&files)).into_iter().map(|f| f.key).collect();
        assert_eq!(found, ["crates/b/src/b.rs mix"]);
    }

    #[test]
    fn long_constants_in_two_files_are_found() {
        let files = [
            (
                "a.rs",
                "const A: u64 = 0x9e37_79b9_7f4a_7c15;\nconst M: u64 = 0x5555_5555_5555_5555;",
            ),
            (
                "b.rs",
                "\nfn f(x: u64) -> u64 { x ^ 0x9E3779B97F4A7C15 }\nconst M: u64 = 0x5555555555555555;",
            ),
        ];
        let found: Vec<_> = check(&tree(&files)).into_iter().map(|f| (f.line, f.key)).collect();
        assert_eq!(found, [(2, "b.rs 0x9e3779b97f4a7c15".to_owned())]);
    }
}
