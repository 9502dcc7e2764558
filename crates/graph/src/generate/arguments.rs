//! The words of a generator spec, and errors that say what was expected and what was found.

use crate::error::printable;
use crate::{Error, Result};

use super::GeneratorKind;

/// The seed where a spec names none.
pub(super) const DEFAULT_SEED: u64 = 1;

/// Edges per vertex where a spec does not say: what Graph500 uses.
pub(super) const DEFAULT_EDGE_FACTOR: u64 = 16;

/// What follows `name:` in a spec, word by word.
pub(super) struct Arguments<'a> {
    kind: &'static GeneratorKind,
    /// The whole spec, for errors.
    spec: &'a str,
    words: std::vec::IntoIter<&'a str>,
}

impl<'a> Arguments<'a> {
    /// The words `text` of `spec`.
    pub(super) fn new(kind: &'static GeneratorKind, spec: &'a str, text: &'a str) -> Self {
        Arguments { kind, spec, words: text.split(',').collect::<Vec<_>>().into_iter() }
    }

    /// The last word, taken out, when `wanted` makes something of it.
    pub(super) fn take_last<T>(&mut self, wanted: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let found = self.words.as_slice().last().and_then(|word| wanted(word))?;
        self.words.next_back();
        Some(found)
    }

    /// The next word, which must be there; `name` is what the syntax calls it.
    pub(super) fn word(&mut self, name: &str) -> Result<&'a str> {
        match self.words.next() {
            Some(word) => Ok(word),
            None => Err(self.error(format!("expected {name}, found nothing"))),
        }
    }

    /// The next word as a number.
    pub(super) fn number(&mut self, name: &str) -> Result<u64> {
        let word = self.word(name)?;
        self.parse_number(name, word)
    }

    /// The next word as a number, or the default where the spec ends before it.
    pub(super) fn number_or(&mut self, name: &str, default: u64) -> Result<u64> {
        if self.words.as_slice().is_empty() { Ok(default) } else { self.number(name) }
    }

    /// A part of a word as a number.
    pub(super) fn parse_number(&self, name: &str, text: &str) -> Result<u64> {
        // `parse` alone would take "+5".
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| digits).ok_or_else(|| {
            let expected = format!("{name} to be a whole number from 0 to {}", u64::MAX);
            self.unexpected(&expected, text)
        })
    }

    /// A computed number of vertices or edges, unless it is absurdly large.
    pub(super) fn count(&self, what: &str, count: u128) -> Result<u64> {
        u64::try_from(count)
            .map_err(|_| self.error(format!("expected at most {} {what}, found {count}", u64::MAX)))
    }

    /// Refuses words that are left over.
    pub(super) fn finish(mut self) -> Result<()> {
        self.words.next().map_or(Ok(()), |word| Err(self.unexpected("nothing more", word)))
    }

    /// The error about a piece of text that is not what it should be.
    pub(super) fn unexpected(&self, expected: &str, found: &str) -> Error {
        self.error(format!("expected {expected}, found \"{}\"", printable(found.as_bytes())))
    }

    /// What is wrong, with the spec and the syntax around it.
    pub(super) fn error(&self, problem: String) -> Error {
        Error::Request(format!(
            "{}: {}; the syntax is {}[,permute[=SEED]]",
            printable(self.spec.as_bytes()),
            problem,
            self.kind.syntax
        ))
    }
}
