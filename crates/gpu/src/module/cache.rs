//! Compiled modules on disk, so that a program starts without compiling what it compiled before.
//!
//! An entry is a file whose name is the digest of what it was compiled from. It holds a magic number,
//! the length and the digest of the image, and the image. Processes write to a file of their own and
//! rename it, so that nobody reads half an entry. What is damaged is deleted, never loaded. A folder
//! that cannot be read or written is as good as none.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// What entries start with. The digit is the version of the format.
const MAGIC: &[u8; 8] = b"PARTONK1";
/// Magic number, length and digest.
const HEADER_BYTES: usize = 8 + 8 + 32;
/// The end of entries' names.
const EXTENSION: &str = "kernels";
/// Bytes that all entries have together, at most.
const MAX_BYTES: u64 = 256 << 20;

/// A folder of compiled modules, or none.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    max_bytes: u64,
}

impl Cache {
    /// The user's: `$PARTON_CACHE`, `$XDG_CACHE_HOME/parton` or `~/.cache/parton`. An empty variable
    /// `PARTON_CACHE` means none.
    pub fn of_user() -> Cache {
        let variable = std::env::var_os;
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let folder = match variable("PARTON_CACHE") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(PathBuf::from(path)),
            None => variable("XDG_CACHE_HOME")
                .and_then(|path| absolute(path.into()))
                .or_else(|| Some(absolute(variable("HOME")?.into())?.join(".cache")))
                .map(|path| path.join("parton")),
        };
        Cache { folder, max_bytes: MAX_BYTES }
    }

    /// This folder, with entries of at most `max_bytes` together.
    pub fn new(folder: &Path, max_bytes: u64) -> Cache {
        Cache { folder: Some(folder.into()), max_bytes }
    }

    fn path(&self, key: &[u8; 32]) -> Option<PathBuf> {
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.as_ref()?.join(digits).with_extension(EXTENSION))
    }

    /// The image with this key. Deletes a damaged entry.
    pub(super) fn read(&self, key: &[u8; 32]) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let entry = std::fs::read(&path).ok()?;
        let image = check(&entry);
        if image.is_none() {
            let _ = std::fs::remove_file(&path);
        }
        image.map(<[u8]>::to_vec)
    }

    /// Keeps an image, and removes the oldest ones if there is no room for all. Failing to is no
    /// error: the next process compiles again.
    pub(super) fn write(&self, key: &[u8; 32], image: &[u8]) {
        if let (Some(folder), Some(path)) = (&self.folder, self.path(key)) {
            let _ = self.try_write(folder, &path, image);
        }
    }

    fn try_write(&self, folder: &Path, path: &Path, image: &[u8]) -> std::io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&(image.len() as u64).to_le_bytes())?;
        file.write_all(&Sha256::digest(image))?;
        file.write_all(image)?;
        file.persist(path)?;
        self.remove_oldest(folder, path)
    }

    /// Removes entries, oldest first, until the rest is small enough. The new one stays.
    fn remove_oldest(&self, folder: &Path, newest: &Path) -> std::io::Result<()> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            let is_entry = path.extension().is_some_and(|extension| extension == EXTENSION);
            if let (true, Ok(metadata)) = (is_entry, entry.metadata()) {
                let age = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push((path == newest, age, metadata.len(), path));
            }
        }
        let mut total: u64 = entries.iter().map(|(_, _, bytes, _)| bytes).sum();
        entries.sort();
        for (is_newest, _, bytes, path) in entries {
            if total > self.max_bytes && !is_newest && std::fs::remove_file(&path).is_ok() {
                total -= bytes;
            }
        }
        Ok(())
    }
}

/// The image of an entry, if it is whole.
fn check(entry: &[u8]) -> Option<&[u8]> {
    let (header, image) = entry.split_at_checked(HEADER_BYTES)?;
    let (magic, header) = header.split_at(MAGIC.len());
    let (length, digest) = header.split_at(8);
    let is_whole = magic == MAGIC
        && length == (image.len() as u64).to_le_bytes()
        && digest == Sha256::digest(image).as_slice();
    is_whole.then_some(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_entries_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), MAX_BYTES);
        let (key, image) = ([7; 32], b"an image".to_vec());
        assert_eq!(cache.read(&key), None);
        cache.write(&key, &image);
        assert_eq!(cache.read(&key).as_ref(), Some(&image));
        assert_eq!(cache.read(&[8; 32]), None);

        let path = cache.path(&key).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let shorter = (0..whole.len()).map(|len| whole[..len].to_vec());
        let changed = (0..whole.len()).map(|at| {
            let mut changed = whole.clone();
            changed[at] ^= 0x20;
            changed
        });
        let longer = [&whole[..], &[0]].concat();
        for damaged in shorter.chain(changed).chain([longer]) {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(cache.read(&key), None);
            assert!(!path.exists());
        }
        cache.write(&key, &image);
        assert_eq!(cache.read(&key), Some(image));
    }
}
