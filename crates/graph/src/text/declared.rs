//! What comments at the beginning of an edge list say of it: SNAP's and KONECT's own words.
//!
//! ```text
//! # Undirected graph: ../../data/output/amazon.txt        % sym weighted
//! # FromNodeId    ToNodeId                                % 78 34 34
//! ```

use super::fields::Delimiter;
use super::sample::cells;
use crate::column_names;
use crate::error::printable;

/// What comments say. Each comes with the words that say it.
#[derive(Default)]
pub(super) struct Declared {
    /// Every line stands for both directions.
    pub(super) undirected: Option<String>,
    /// Sources and destinations are two kinds of vertices.
    pub(super) bipartite: Option<String>,
    /// The names of the columns.
    pub(super) names: Option<Vec<String>>,
}

impl Declared {
    /// Reads the comments before the first row of a table with this many columns.
    pub(super) fn of(comments: &[&[u8]], delimiter: Delimiter, columns: usize) -> Self {
        let mut declared = Declared::default();
        for comment in comments {
            let text = comment.trim_ascii();
            let start = text.iter().position(|b| !b"#%/".contains(b)).unwrap_or(text.len());
            let said = text[start..].trim_ascii_start();
            let words: Vec<String> = String::from_utf8_lossy(said)
                .split_whitespace()
                .take(2)
                .map(str::to_ascii_lowercase)
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let quoted = || Some(printable(text));
            match words[..] {
                ["undirected", second, ..] if second.starts_with("graph") => {
                    declared.undirected = quoted();
                }
                ["sym", weights] if is_konect(weights) => declared.undirected = quoted(),
                ["bip", weights] if is_konect(weights) => declared.bipartite = quoted(),
                _ => {}
            }
            let named = [delimiter, Delimiter::Blanks].into_iter().find_map(|delimiter| {
                let names = cells(said, delimiter);
                let names: Vec<String> =
                    names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let tells = column_names::ends(&known).is_some_and(|ends| !ends.is_weak);
                (names.len() == columns && tells).then_some(names)
            });
            declared.names = named.or(declared.names);
        }
        declared
    }
}

/// KONECT's words for the weights of a network.
fn is_konect(weights: &str) -> bool {
    const WORDS: [&str; 10] = [
        "unweighted",
        "positive",
        "posweighted",
        "multiposweighted",
        "signed",
        "multisigned",
        "weighted",
        "multiweighted",
        "multi",
        "dynamic",
    ];
    WORDS.contains(&weights)
}
