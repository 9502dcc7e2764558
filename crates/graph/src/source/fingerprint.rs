//! What tells one input from another of the same name: for processes that must read the same.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Source;
use super::digest::Digest;
use super::part::Content;
use crate::{Error, Result};

/// What an input looks like from where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of its files.
    pub files: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// A hash of some of their bytes, or of all.
    pub digest: u64,
    /// When the latest was changed, in nanoseconds since 1970.
    pub changed: u128,
}

impl Source {
    /// The fingerprint of an input that consists of files; `None` of another. Its digest is that of
    /// samples unless `of_all` is wanted.
    pub fn fingerprint(&self, of_all: bool) -> Result<Option<Fingerprint>> {
        let mut digest = Digest(self.parts.len() as u64);
        let mut print = Fingerprint { files: self.parts.len(), bytes: 0, digest: 0, changed: 0 };
        for part in &self.parts {
            let (Content::File(path), Some(stored)) = (&part.content, part.stored()?) else {
                return Ok(None);
            };
            let found = path.metadata().map_err(|e| Error::io(path, "read", e))?;
            let changed = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            print.changed = print.changed.max(since);
            print.bytes += stored.len();
            digest.add_part(&stored)?;
            if of_all {
                digest.add_all(&stored)?;
            }
        }
        print.digest = digest.0;
        Ok(Some(print))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_are_another_input() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.el");
        let print = |bytes: &[u8], of_all| {
            std::fs::write(&path, bytes).unwrap();
            let print = Source::file(&path).unwrap().fingerprint(of_all).unwrap().unwrap();
            (print.bytes, print.digest)
        };
        for of_all in [false, true] {
            assert_eq!(print(b"0 1\n", of_all), print(b"0 1\n", of_all));
            assert_ne!(print(b"0 1\n", of_all), print(b"0 2\n", of_all));
            assert_ne!(print(b"", of_all), print(b"\n", of_all));
        }
        // Between samples only a look at all of it finds a difference.
        let long = vec![b'1'; 10 << 20];
        let mut other = long.clone();
        other[(10 << 20) / 2 - 30_000] = b'2';
        assert_eq!(print(&long, false), print(&other, false));
        assert_ne!(print(&long, true), print(&other, true));
        assert!(Source::memory("x", "0 1").unwrap().fingerprint(false).unwrap().is_none());
    }
}
