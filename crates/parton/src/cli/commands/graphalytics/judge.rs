//! Whether an output agrees with a reference, by the rules of LDBC Graphalytics.
//!
//! A reference is a file, or a folder of parts, of lines `ID VALUE`, one for every vertex.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::graph::error::printable;
use crate::graph::formats::graphalytics::plain_or_packed;
use crate::graph::source::Source;
use crate::graph::{Error, OriginalId, Place, Result};
use crate::output::{ColumnKind, Table};

use super::benchmark::{Benchmark, Rule};

/// What real numbers may differ by, relative to the reference.
const EPSILON: f64 = 1e-4;

/// The reference in a folder, packed or not, if there is one.
pub(super) fn find(folder: &Path, file: &str) -> Option<PathBuf> {
    let path = folder.join(file);
    if path.is_dir() { Some(path) } else { plain_or_packed(path) }
}

/// In how many vertices an output and a reference differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) vertices: u64,
    /// The first of them, in words.
    pub(super) first: Option<String>,
}

impl Difference {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.vertices += 1;
        self.first.get_or_insert_with(what);
    }
}

/// Compares the first column of an output with a reference.
pub(super) fn compare(
    benchmark: &Benchmark,
    table: &Table,
    reference: &Path,
) -> Result<Difference> {
    let source = Source::find(reference)?;
    let mut difference = Difference::default();
    let mut seen = vec![false; table.len()];
    let mut sets = Sets::default();
    for part in source.parts() {
        let mut reader = BufReader::new(part.reader()?);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let read = reader.read_until(b'\n', &mut line);
            if read.map_err(|e| Error::io(reference, "read", e))? == 0 {
                break;
            }
            let bad = |problem: String| {
                let place = Place::line(number, 1, line.trim_ascii_end());
                Err(Error::data(part.name(), place, problem))
            };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let words = std::str::from_utf8(text).ok().and_then(|t| t.split_once([' ', '\t']));
            let Some((id, expected)) = words.map(|(id, value)| (id, value.trim())) else {
                return bad("expected an id and a value".into());
            };
            let Some(row) = find_row(table, id) else {
                difference.add(|| format!("there is no vertex {}", printable(id.as_bytes())));
                continue;
            };
            if std::mem::replace(&mut seen[row], true) {
                return bad(format!("a second value of vertex {id}"));
            }
            let found = benchmark.shown(table.cell(0, row));
            let agrees = match benchmark.rule {
                Rule::Exact => found == expected,
                Rule::Epsilon => match (real(&found), real(expected)) {
                    (Some(found), Some(expected)) => is_close(found, expected),
                    _ => return bad(format!("expected a number, found '{expected}'")),
                },
                Rule::Equivalence => sets.agree(&found, expected),
            };
            if !agrees {
                difference.add(|| {
                    let expected = printable(expected.as_bytes());
                    format!("vertex {id}: {found}, expected {expected}")
                });
            }
        }
    }
    for row in (0..seen.len()).filter(|&row| !seen[row]) {
        difference.add(|| format!("the reference lacks vertex {}", table.id(row)));
    }
    Ok(difference)
}

/// A number, or infinity, however it is spelled.
fn real(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| !value.is_nan())
}

fn is_close(found: f64, expected: f64) -> bool {
    found == expected
        || (found - expected).abs() <= EPSILON * expected.abs() && expected.is_finite()
}

/// The row of an id. Rows are in the order of ids.
fn find_row(table: &Table, id: &str) -> Option<usize> {
    let wanted = match table.id_kind() {
        ColumnKind::Names => OriginalId::Name(id.as_bytes()),
        _ => OriginalId::Integer(id.parse().ok()?),
    };
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if table.id(middle) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low < table.len() && table.id(low) == wanted).then_some(low)
}

/// Which of our labels stands for which of theirs.
#[derive(Default)]
struct Sets {
    theirs: HashMap<String, String>,
    ours: HashMap<String, String>,
}

impl Sets {
    /// Whether two labels of one vertex go together.
    fn agree(&mut self, our: &str, their: &str) -> bool {
        if !self.theirs.contains_key(our) && !self.ours.contains_key(their) {
            self.theirs.insert(our.into(), their.into());
            self.ours.insert(their.into(), our.into());
            return true;
        }
        self.theirs.get(our).is_some_and(|known| known == their)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_are_close_relative_to_the_reference() {
        assert!(is_close(1.00009, 1.0));
        assert!(!is_close(1.00011, 1.0));
        assert!(is_close(0.0, 0.0));
        assert!(!is_close(1e-300, 0.0), "nothing but zero is close to zero");
        assert!(is_close(f64::INFINITY, f64::INFINITY));
        assert!(!is_close(1e300, f64::INFINITY));
        assert!(!is_close(f64::INFINITY, 1.0));
        let infinity = Some(f64::INFINITY);
        assert_eq!(
            ["Infinity", "infinity", "nan", "x"].map(real),
            [infinity, infinity, None, None]
        );
    }

    #[test]
    fn labels_are_the_same_if_they_go_together_both_ways() {
        let agree = |pairs: &[(&str, &str)]| {
            let mut sets = Sets::default();
            pairs.iter().filter(|(our, their)| !sets.agree(our, their)).count()
        };
        assert_eq!(agree(&[("1", "a"), ("2", "b"), ("1", "a")]), 0);
        assert_eq!(agree(&[("1", "a"), ("1", "b")]), 1, "they have two sets where we have one");
        assert_eq!(agree(&[("1", "a"), ("2", "a")]), 1, "we have two where they have one");
    }
}
