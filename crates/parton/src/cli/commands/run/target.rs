//! The file of a run's rows, or the folder with a part from each host.
//!
//! Nothing appears under its final name before everything is written, on all hosts. With a launcher,
//! host 0 gathers all rows of a file and writes it; into a folder each rank writes its own part, and
//! rank 0 gives the folder its name.

use std::path::{Path, PathBuf};

use crate::graph::Error;
use crate::graph::save::{NewFolder, Output, Sealed};
use crate::net::HostId;
use crate::output::{self, Table, TableFormat, TablePart};

use crate::cli::exit::Failure;
use crate::cli::team::Team;

/// A file or folder for rows, and its format.
pub(super) struct Target {
    path: PathBuf,
    format: &'static dyn TableFormat,
    is_standard: bool,
    is_folder: bool,
    /// The folder, if this process has claimed its name.
    claimed: Option<NewFolder>,
}

/// A part in a folder whose name does not say the format.
const DEFAULT_PART: &str = "part.csv";

impl Target {
    /// The target of this name; an error if it cannot be written. The ending of the name says the format
    /// unless it is `asked` for.
    pub(super) fn new(path: &Path, asked: Option<&str>, team: &Team) -> Result<Self, Failure> {
        let is_standard = is_standard(path);
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let format = match asked.and_then(output::by_name) {
            Some(format) => format,
            None if is_standard || is_folder => {
                output::by_ending(path).or_else(|_| output::by_ending(Path::new(DEFAULT_PART)))?
            }
            None => output::by_ending(path)?,
        };
        if !is_folder {
            if team.speaks() {
                Output::check(path)?;
            }
            return Ok(Target { path: path.into(), format, is_standard, is_folder, claimed: None });
        }
        // One process claims the name; the others join it when they write their parts.
        let claimed = team.speaks().then(|| NewFolder::claim(path)).transpose()?;
        if let Some(folder) = &claimed {
            Output::check(folder.file(&part(HostId(0), format)))?;
        }
        Ok(Target { path: path.into(), format, is_standard, is_folder, claimed })
    }

    /// What to say when it is written; nothing of standard output.
    pub(super) fn note(&self) -> Option<String> {
        (!self.is_standard).then(|| format!("wrote {}", self.path.display()))
    }

    /// True if one host writes all rows.
    pub(super) fn is_one_file(&self) -> bool {
        !self.is_folder
    }

    /// Writes the rows that came to this process. Every rank must call this.
    pub(super) fn write(
        mut self,
        parts: Vec<(HostId, TablePart)>,
        team: &mut Team,
    ) -> Result<(), Failure> {
        if !self.is_folder {
            let sealed = team.together(self.seal(parts))?;
            let named = sealed.map_or(Ok(()), Sealed::commit);
            return team.together(named.map_err(Failure::from));
        }
        let folder = self.claimed.take().map_or_else(|| NewFolder::join(&self.path), Ok);
        let written = folder.and_then(|folder| match self.write_parts(parts, &folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(folder.under_final_name(error)),
        });
        let folder = team.together(written.map_err(Failure::from))?;
        // First the rank that has claimed the name, then ranks that may have another disk.
        let (first, then) = if team.speaks() { (Some(folder), None) } else { (None, Some(folder)) };
        for folder in [first, then] {
            let named = folder.map_or(Ok(()), NewFolder::commit);
            team.together(named.map_err(Failure::from))?;
        }
        Ok(())
    }

    /// Writes the file under a temporary name, if its rows came to this process.
    fn seal(&self, parts: Vec<(HostId, TablePart)>) -> Result<Option<Sealed>, Failure> {
        if parts.is_empty() {
            return Ok(None);
        }
        let table = Table::new(parts.into_iter().map(|(_, part)| part).collect());
        let mut out = Output::create(&self.path)?;
        let written = self.format.write(&table, &mut out).and_then(|()| out.seal());
        match written {
            // The reader has seen enough (`| head`): the run is a success all the same.
            Err(error) if self.is_standard && error.is_closed_pipe() => Ok(None),
            written => Ok(Some(written?)),
        }
    }

    /// Writes a file for each part into a folder that has not got its name yet.
    fn write_parts(
        &self,
        parts: Vec<(HostId, TablePart)>,
        folder: &NewFolder,
    ) -> Result<(), Error> {
        for (host, rows) in parts {
            let mut out = Output::create(folder.file(&part(host, self.format)))?;
            self.format.write(&Table::of(rows), &mut out)?;
            out.commit()?;
        }
        Ok(())
    }
}

/// Whether a path stands for standard output.
pub(super) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// The name of a host's part.
fn part(host: HostId, format: &dyn TableFormat) -> String {
    format!("part-{:05}.{}", host.0, format.ending())
}

/// True if writing one of two files would replace the other.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
        path.canonicalize().ok().or(Some(folder?.join(path.file_name()?)))
    };
    let one = place(one).filter(|path| path.is_file() || !path.exists());
    one.is_some() && one == place(other)
}
