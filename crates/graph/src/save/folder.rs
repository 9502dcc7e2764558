//! A folder that appears under its name as a whole: its files are written into a hidden folder beside
//! it, which is renamed when all of them are complete.
//!
//! The hidden folder is also the claim to the name. It is locked as long as its owner lives, so two
//! processes cannot write into one; what a process that was killed has left there is removed by the
//! next that asks for the name.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Listed, folder_of};
use crate::source::is_remote;
use crate::{Error, Result};

/// A new folder. Dropped without [`NewFolder::commit`] by the process that claimed its name, it leaves
/// nothing behind.
pub struct NewFolder {
    /// As the user gave it.
    path: PathBuf,
    /// The same without links.
    place: PathBuf,
    hidden: PathBuf,
    /// The hidden folder, locked; `None` if another process claimed the name.
    claim: Option<File>,
    _listed: Listed,
}

impl NewFolder {
    /// Claims a name; an error if there are files under it, or if another process has claimed it.
    pub fn claim(path: &Path) -> Result<Self> {
        if is_remote(&path.to_string_lossy()) {
            return Err(Error::Request(format!(
                "{}: folders are written to disks only; give the name of one object, without / at the end",
                path.display()
            )));
        }
        let place = place_of(path)?;
        let parent = folder_of(&place);
        std::fs::create_dir_all(parent).map_err(|e| Error::io(path, "write", e))?;
        let hidden = hidden_beside(&place);
        let claim = lock(path, &hidden)?;
        let listed = Listed::new(hidden.clone());
        let folder =
            NewFolder { path: path.into(), place, hidden, claim: Some(claim), _listed: listed };
        folder.check_empty(&folder.place, "there are files in this folder; give a new name")?;
        Ok(folder)
    }

    /// The folder of a name that another process has claimed, such as rank 0 of a launcher. On a
    /// disk that the two do not share, it is made.
    pub fn join(path: &Path) -> Result<Self> {
        let place = place_of(path)?;
        let hidden = hidden_beside(&place);
        std::fs::create_dir_all(&hidden).map_err(|e| Error::io(path, "write", e))?;
        let listed = Listed::new(hidden.clone());
        Ok(NewFolder { path: path.into(), place, hidden, claim: None, _listed: listed })
    }

    /// Where to write a file that will be called `name` in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.hidden.join(name)
    }

    /// The error with the name that the file would have had.
    pub fn under_final_name(&self, error: Error) -> Error {
        match error {
            Error::Io { path, action, source } => {
                let path = match path.strip_prefix(&self.hidden) {
                    Ok(name) => self.path.join(name),
                    Err(_) => path,
                };
                Error::Io { path, action, source }
            }
            other => other,
        }
    }

    /// Gives the folder its name. Of processes that write into it, the one that claimed it does so
    /// first; the others then find that it is done, unless they have another disk.
    pub fn commit(mut self) -> Result<()> {
        match std::fs::rename(&self.hidden, &self.place) {
            Ok(()) => {}
            Err(_) if self.claim.is_none() && !self.hidden.exists() && self.place.is_dir() => {}
            Err(e) => {
                self.check_empty(&self.place, "files have appeared in this folder meanwhile")?;
                return Err(Error::io(&self.path, "write", e));
            }
        }
        // From here on nothing is hidden that would have to be removed.
        self.claim = None;
        if let Ok(parent) = File::open(folder_of(&self.place)) {
            let _ = parent.sync_all();
        }
        Ok(())
    }

    fn check_empty(&self, folder: &Path, problem: &str) -> Result<()> {
        match std::fs::read_dir(folder).map(Iterator::count) {
            Ok(1..) => Err(Error::Request(format!("{}: {problem}", self.path.display()))),
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(&self.path, "write", e)),
            _ => Ok(()),
        }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if self.claim.is_some() {
            // There is no caller to tell.
            let _ = std::fs::remove_dir_all(&self.hidden);
        }
    }
}

/// The hidden folder, which belongs to this process as long as the result lives.
fn lock(path: &Path, hidden: &Path) -> Result<File> {
    /// The owner of a claim may let go of it between two looks.
    const TRIES: usize = 5;
    let failed = |e| Error::io(path, "write", e);
    for _ in 0..TRIES {
        let is_new = match std::fs::create_dir(hidden) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
            Err(e) => return Err(failed(e)),
        };
        let Ok(claim) = File::open(hidden) else { continue };
        match claim.try_lock() {
            Ok(()) => {}
            // Some file systems have no locks; there the one that made the folder owns it.
            Err(TryLockError::Error(_)) if is_new => {}
            Err(_) => break,
        }
        let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
        let locked = claim.metadata().map(identity).map_err(failed)?;
        if hidden.metadata().map(identity).is_ok_and(|now| now == locked) {
            for left in std::fs::read_dir(hidden).map_err(failed)? {
                std::fs::remove_file(left.map_err(failed)?.path()).map_err(failed)?;
            }
            return Ok(claim);
        }
    }
    Err(Error::Request(format!(
        "{}: another run is writing this folder; give a new name (if there is none, remove {})",
        path.display(),
        hidden.display()
    )))
}

/// The path without links, as far as it exists.
fn place_of(path: &Path) -> Result<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return Ok(place);
    }
    let name = path.file_name().ok_or_else(|| {
        Error::Request(format!("{}: give the name of a new folder", path.display()))
    })?;
    let parent = folder_of(path);
    Ok(parent.canonicalize().unwrap_or(parent.into()).join(name))
}

fn hidden_beside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    folder_of(place).join(format!(".{name}.parton-new"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_folder_appears_as_a_whole_and_has_one_owner() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let folder = NewFolder::claim(&path).unwrap();
        std::fs::write(folder.file("a"), "1").unwrap();
        assert!(!path.exists(), "not there before it is whole");
        let refused = NewFolder::claim(&path).err().unwrap().to_string();
        assert!(refused.contains("another run is writing this folder"), "{refused}");
        let part = NewFolder::join(&path).unwrap();
        std::fs::write(part.file("b"), "2").unwrap();
        folder.commit().unwrap();
        part.commit().unwrap();
        assert_eq!(names(root.path()), ["out"]);
        assert_eq!(names(&path).len(), 2);
        let refused = NewFolder::claim(&path).err().unwrap().to_string();
        assert!(refused.contains("there are files in this folder"), "{refused}");
        assert_eq!(names(root.path()), ["out"]);
    }

    #[test]
    fn what_a_killed_process_has_left_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        std::fs::create_dir(&path).unwrap();
        let left = root.path().join(".out.parton-new");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("old"), "x").unwrap();
        let folder = NewFolder::claim(&path).unwrap();
        std::fs::write(folder.file("new"), "y").unwrap();
        folder.commit().unwrap();
        assert_eq!((names(root.path()), names(&path)), (vec!["out".into()], vec!["new".into()]));
        // One that is given up leaves nothing; nor does it take away what came in between.
        let other = root.path().join("other");
        let folder = NewFolder::claim(&other).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("z"), "z").unwrap();
        assert!(folder.commit().is_err());
        assert_eq!(names(&other), ["z"]);
        assert_eq!(names(root.path()).len(), 2);
    }
}
