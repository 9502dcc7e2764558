//! From a launcher to running MPI: which library, and whether the two belong together.

use std::ffi::OsString;

use super::launcher::{LIBRARY_VARIABLE, Launcher};
use super::library::{CallError, Loaded, Mpi};
use crate::host::MAX_HOSTS;

/// Why ranks did not come together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No library to load.
    #[error(
        "{launcher} started {ranks} ranks, but no MPI library can be loaded ({problem}): install \
         the MPI that the launcher belongs to, or name its library in {LIBRARY_VARIABLE}"
    )]
    NoLibrary {
        /// What started the ranks.
        launcher: &'static str,
        /// How many.
        ranks: usize,
        /// What became of the attempts.
        problem: String,
    },
    /// Slurm without anything that connects the ranks.
    #[error(
        "{launcher} started {ranks} ranks without a way for MPI to connect them: use \
         `srun --mpi=pmix` or `srun --mpi=pmi2` (`srun --mpi=list` shows what there is)"
    )]
    Unconnected {
        /// What started the ranks.
        launcher: &'static str,
        /// How many.
        ranks: usize,
    },
    /// The library belongs to another launcher.
    #[error(
        "{launcher} started {ranks} ranks, but {library} ({version}) takes this one for rank {rank} of \
         {size}: the library does not belong to the launcher, so each rank believes that it is alone; \
         use the launcher of that MPI, or name the launcher's library in {LIBRARY_VARIABLE}"
    )]
    Strangers {
        /// What started the ranks.
        launcher: &'static str,
        /// How many.
        ranks: usize,
        /// The library that was loaded.
        library: String,
        /// What it calls itself.
        version: String,
        /// What it takes this rank for.
        rank: usize,
        /// How many ranks it knows.
        size: usize,
    },
    /// More ranks than a cluster can have.
    #[error("a cluster has 1 to {MAX_HOSTS} hosts, not {ranks}")]
    TooMany {
        /// How many were started.
        ranks: usize,
    },
    /// MPI itself failed.
    #[error("cannot start {library}: {error}")]
    Mpi {
        /// The library that was loaded.
        library: String,
        /// What it said.
        error: CallError,
    },
    /// A rank went missing before all knew each other.
    #[error("while the ranks met: {0}")]
    Meeting(String),
}

/// Loads the MPI that the launcher belongs to and starts it.
pub(super) fn start(launcher: &Launcher) -> Result<Mpi, StartError> {
    let (name, ranks) = (launcher.name(), launcher.ranks());
    if ranks > MAX_HOSTS {
        return Err(StartError::TooMany { ranks });
    }
    if !launcher.connects() {
        return Err(StartError::Unconnected { launcher: name, ranks });
    }
    let libraries = launcher.libraries();
    let (file, loaded) = load(&libraries).map_err(|problem| StartError::NoLibrary {
        launcher: name,
        ranks,
        problem,
    })?;
    let library = file.to_string_lossy().into_owned();
    let mut mpi =
        loaded.start().map_err(|error| StartError::Mpi { library: library.clone(), error })?;
    let (rank, size) = (mpi.rank(), mpi.size());
    if size != ranks {
        let version = mpi.version();
        // Alone in its world, it need not wait for anyone.
        let _ = mpi.finish();
        return Err(StartError::Strangers { launcher: name, ranks, library, version, rank, size });
    }
    Ok(mpi)
}

/// The first library that can be loaded.
fn load(names: &[OsString]) -> Result<(&OsString, Loaded), String> {
    let mut problems: Vec<String> = Vec::new();
    for name in names {
        match Loaded::open(name) {
            Ok(loaded) => return Ok((name, loaded)),
            // The outer error says that loading failed, the inner one why.
            Err(problem) => problems.push(match std::error::Error::source(&problem) {
                Some(why) => why.to_string(),
                None => problem.to_string(),
            }),
        }
    }
    // What was named, or found beside the launcher, tells more than a name that is not there.
    Err(problems.into_iter().next().unwrap_or_default())
}
