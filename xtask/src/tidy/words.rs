//! One word for one thing, and the words that others in the field use.
//!
//! Names in code are taken apart at capitals and underscores; phrases are found across lines of a
//! comment. Where a format, a library or another system says a word, `tidy.toml` says so.

use super::Finding;
use super::tree::Tree;

/// What is not said, and what to say instead.
const WORDS: [(&str, &str); 27] = [
    // One word for one thing.
    ("node", "vertex"),
    ("worker", "host or thread"),
    ("fragment", "partition"),
    ("app", "program or algorithm"),
    ("ghost", "mirror"),
    ("replica", "mirror or proxy"),
    ("oid", "original id"),
    ("vid", "global id or local id"),
    ("superstep", "round"),
    ("iteration", "round"),
    ("dirty", "updated or active"),
    ("query", "job or run"),
    // The names the field has for a technique.
    ("mattering", "pruned pull"),
    ("giant", "the largest component"),
    ("suspect", "candidate"),
    ("speak up", "send, and what is sent"),
    ("singles", "f32 or single precision"),
    ("nowhere", "the place by name; in PageRank, the teleport distribution"),
    // Sentences whose subject has no name.
    ("whoever", "who it is"),
    ("in vain", "wasted, redundant or without effect"),
    ("those who", "who they are"),
    ("so many", "the number by name"),
    ("so few", "the number by name"),
    ("lays out", "what is stored where"),
    // Constants say a quantity.
    ("OVERRATED", "a quantity with a unit"),
    ("LONGER", "a quantity with a unit"),
    ("NOBODY", "a quantity with a unit"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let spoken = |path: &str| path.ends_with(".rs") || path.ends_with(".md");
    for file in tree.files.iter().filter(|file| spoken(&file.path) && file.path != file!()) {
        let words = words(&file.text);
        for (at, word) in words.iter().enumerate() {
            for (wrong, right) in WORDS {
                if says(&words[at..], wrong) {
                    findings.push(Finding {
                        path: file.path.clone(),
                        line: word.line,
                        key: format!("{wrong} {}", file.path),
                        what: format!("'{wrong}' is not our word: say {right}"),
                    });
                }
            }
        }
    }
    findings
}

/// A word of a name or of a sentence.
struct Word<'a> {
    text: &'a str,
    line: usize,
    /// Whether only white space and the start of a comment are between this and the word before.
    follows: bool,
}

/// Whether a text goes on with this word or phrase, one or many. Words in capitals stand for constants.
fn says(words: &[Word<'_>], phrase: &str) -> bool {
    let same = |word: &Word<'_>, part: &str| {
        let constant = part.starts_with(|c: char| c.is_uppercase());
        let singular = word.text.strip_suffix('s').unwrap_or(word.text);
        if constant {
            word.text == part
        } else {
            word.text.eq_ignore_ascii_case(part) || singular.eq_ignore_ascii_case(part)
        }
    };
    let parts = phrase.split(' ').enumerate();
    parts.into_iter().all(|(at, part)| {
        words.get(at).is_some_and(|word| same(word, part) && (at == 0 || word.follows))
    })
}

/// All words of a text, parts of names as words of their own.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut line, mut start, mut end) = (1, None, 0);
    let mut before = '\n';
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        let starts = c.is_uppercase() && before.is_lowercase();
        if let Some(from) = start.filter(|_| starts || !c.is_alphanumeric()) {
            let between = &text[end..from];
            let follows = between.chars().all(|c| c.is_whitespace() || "/!>*".contains(c));
            words.push(Word { text: &text[from..at], line, follows });
            (start, end) = (None, at);
        }
        if c.is_alphanumeric() && start.is_none() {
            start = Some(at);
        }
        line += usize::from(c == '\n');
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let found = check(&tree(&[("crates/x/src/a.rs", text)]));
        found
            .into_iter()
            .map(|f| (f.line, f.key.split(" crates").next().unwrap().to_owned()))
            .collect()
    }

    #[test]
    fn words_are_found_in_names_and_across_lines_of_comments() {
        assert_eq!(found("fn f() {\n    let nodeCount = 1;\n}"), [(2, "node".into())]);
        assert_eq!(found("struct HostWorkers;"), [(1, "worker".into())]);
        assert_eq!(found("const LONGER: u32 = 1;"), [(1, "LONGER".into())]);
        assert_eq!(found("// counts so\n// many edges\n"), [(1, "so many".into())]);
        assert_eq!(found("/// Whoever calls\nfn f() {}"), [(1, "whoever".into())]);
    }

    #[test]
    fn other_words_pass() {
        assert_eq!(
            found("// no longer so. Many nodal applications, so Many"),
            [(1, "so many".into())]
        );
        assert_eq!(found("// no longer so. Many nodal applications\n"), []);
    }
}
