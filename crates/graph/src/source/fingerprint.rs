//! What tells one input from another of the same name: for processes that must read the same.

use std::hash::{DefaultHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use super::part::Content;
use super::{Part, Source};
use crate::{Error, Result};

/// What an input looks like from where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of its files.
    pub files: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// A hash of their names and of some of their bytes, or of all.
    pub digest: u64,
    /// When the latest was changed, in nanoseconds since 1970.
    pub changed: u128,
}

/// Bytes in a sample.
const SAMPLE_BYTES: u64 = 1 << 16;
/// Samples of each file: its beginning, its end and some between them.
const SAMPLES: u64 = 8;

impl Source {
    /// The fingerprint of an input that consists of files; `None` of another. It is a hash of
    /// samples unless `of_all` is wanted.
    pub fn fingerprint(&self, of_all: bool) -> Result<Option<Fingerprint>> {
        let mut hasher = DefaultHasher::new();
        let mut print = Fingerprint { files: self.parts.len(), bytes: 0, digest: 0, changed: 0 };
        for part in &self.parts {
            let Content::File(path) = &part.content else { return Ok(None) };
            let found = path.metadata().map_err(|e| Error::io(path, "read", e))?;
            let changed = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            print.changed = print.changed.max(since);
            print.bytes += found.len();
            hasher.write(path.file_name().unwrap_or_default().as_encoded_bytes());
            hash(part, found.len(), of_all, &mut hasher)?;
        }
        print.digest = hasher.finish();
        Ok(Some(print))
    }
}

fn hash(part: &Part, bytes: u64, of_all: bool, hasher: &mut DefaultHasher) -> Result<()> {
    let stored = Part { compression: None, ..part.clone() };
    let stored = stored.bytes()?;
    let mut sample = vec![0; SAMPLE_BYTES.min(bytes) as usize];
    let last = bytes - sample.len() as u64;
    let starts: Vec<u64> = match of_all {
        true => (0..bytes).step_by(SAMPLE_BYTES as usize).collect(),
        false => (0..SAMPLES).map(|number| last / (SAMPLES - 1) * number).chain([last]).collect(),
    };
    for start in starts {
        let sample = &mut sample[..SAMPLE_BYTES.min(bytes - start) as usize];
        stored.read_at(start, sample)?;
        hasher.write(sample);
    }
    Ok(())
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
        other[(10 << 20) / 2 - 300_000] = b'2';
        assert_eq!(print(&long, false), print(&other, false));
        assert_ne!(print(&long, true), print(&other, true));
        assert!(Source::memory("x", "0 1").unwrap().fingerprint(false).unwrap().is_none());
    }
}
