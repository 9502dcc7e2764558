//! The file of a run's rows, or the folder with a part from each host.
//!
//! Nothing appears under its final name before everything is written, on all hosts. With a launcher,
//! host 0 gathers all rows of a file and writes it; into a folder each rank writes its own part.

use std::path::{Path, PathBuf};

use crate::graph::Error;
use crate::graph::save::{Output, Sealed};
use crate::net::HostId;
use crate::output::{self, Table, TableFormat, TablePart};

use crate::cli::exit::Failure;
use crate::cli::team::Team;

/// A file or folder for rows, and its format.
pub(super) struct Target {
    path: PathBuf,
    format: &'static dyn TableFormat,
    is_folder: bool,
    /// True if this run made the folder.
    is_new: bool,
}

/// A part in a folder whose name does not say the format.
const DEFAULT_PART: &str = "part.csv";

impl Target {
    /// The target of this name; an error if it cannot be written.
    pub(super) fn new(path: &Path, team: &Team) -> Result<Self, Failure> {
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if !is_folder {
            let format = output::by_ending(path)?;
            if team.speaks() {
                Output::check(path)?;
            }
            return Ok(Target { path: path.into(), format, is_folder, is_new: false });
        }
        let format =
            output::by_ending(path).or_else(|_| output::by_ending(Path::new(DEFAULT_PART)))?;
        let mut target = Target { path: path.into(), format, is_folder, is_new: false };
        // One process makes the folder; the others find it when they write their parts.
        if team.speaks() {
            let failed = |e| Error::io(path, "write", e);
            target.is_new = !path.exists();
            std::fs::create_dir_all(path).map_err(failed)?;
            if std::fs::read_dir(path).map_err(failed)?.next().is_some() {
                let path = path.display();
                let problem = "there are files in this folder; give a new name";
                return Err(Failure::usage(format!("{path}: {problem}")));
            }
            Output::check(target.part(HostId(0)))?;
        }
        Ok(target)
    }

    /// The name that the user gave.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if one host writes all rows.
    pub(super) fn is_one_file(&self) -> bool {
        !self.is_folder
    }

    fn part(&self, host: HostId) -> PathBuf {
        self.path.join(format!("part-{:05}.{}", host.0, self.format.ending()))
    }

    /// Writes the rows that came to this process. Every rank must call this.
    pub(super) fn write(
        &self,
        parts: Vec<(HostId, TablePart)>,
        team: &mut Team,
    ) -> Result<(), Failure> {
        let sealed = team.together(self.seal(parts))?;
        let named = sealed.into_iter().try_for_each(Sealed::commit);
        team.together(named.map_err(Failure::from))
    }

    /// Writes everything under temporary names.
    fn seal(&self, parts: Vec<(HostId, TablePart)>) -> Result<Vec<Sealed>, Failure> {
        let files: Vec<(PathBuf, Table)> = match self.is_folder {
            true => parts.into_iter().map(|(h, part)| (self.part(h), Table::of(part))).collect(),
            false if parts.is_empty() => Vec::new(),
            false => {
                let parts = parts.into_iter().map(|(_, part)| part).collect();
                vec![(self.path.clone(), Table::new(parts))]
            }
        };
        let mut sealed = Vec::new();
        if self.is_folder {
            // On a disk that ranks do not share, the folder does not exist yet.
            std::fs::create_dir_all(&self.path).map_err(|e| Error::io(&self.path, "write", e))?;
        }
        for (path, table) in files {
            let mut out = Output::create(path)?;
            self.format.write(&table, &mut out)?;
            sealed.push(out.seal()?);
        }
        Ok(sealed)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.is_new {
            // Removes the folder only if it is empty.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}
