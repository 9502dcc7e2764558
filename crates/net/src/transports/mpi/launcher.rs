//! Who started this process: what a launcher leaves in the environment, and where its MPI lies.
//!
//! Every launcher numbers its processes in the environment, so a program learns of it before it
//! loads anything. An MPI library works under the launchers it was built for only; under another,
//! each process believes that it is alone. The one to load is therefore looked for beside the
//! launcher first, and among the usual names after that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What started this process, if it started several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    kind: Kind,
    rank: usize,
    ranks: usize,
    /// The library that the user names.
    library: Option<OsString>,
}

/// A family of launchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// `mpiexec` of MPICH and its relatives, Slurm with `--mpi=pmi2`, Flux.
    Pmi,
    /// Slurm with `--mpi=pmix`, which many an MPI understands.
    SlurmPmix,
    /// Slurm, without anything that an MPI could use.
    Slurm,
}

/// Names a library before all others: a path, or a name that the system finds.
pub(crate) const LIBRARY_VARIABLE: &str = "PARTON_MPI_LIBRARY";

/// How many processes and which one, for each family in the order in which they are asked.
const VARIABLES: [(Kind, &str, &str); 3] = [
    (Kind::OpenMpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    (Kind::Pmi, "PMI_SIZE", "PMI_RANK"),
    // Of the step, not of the job: a batch script is no task of it.
    (Kind::Slurm, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

const OPEN_MPI: [&str; 2] = ["libmpi.so.40", "libmpi.so"];
const MPICH: [&str; 2] = ["libmpi.so.12", "libmpich.so.12"];
const STANDARD: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so.0"];

impl Launcher {
    /// The launcher of this process.
    pub fn detect() -> Option<Self> {
        Launcher::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name| variable(name)?.parse::<usize>().ok();
        let (kind, ranks, rank) = VARIABLES
            .into_iter()
            .find_map(|(kind, size, rank)| Some((kind, number(size)?, number(rank)?)))?;
        let kind = match kind {
            Kind::Slurm if variable("PMIX_RANK").is_some() => Kind::SlurmPmix,
            kind => kind,
        };
        Some(Launcher { kind, rank, ranks, library: None })
    }

    /// The launcher, with the MPI library that the user names: a path, or a name that the system
    /// finds.
    pub fn with_library(self, library: Option<OsString>) -> Self {
        Launcher { library, ..self }
    }

    /// This process's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of processes.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// What users call it.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::OpenMpi => "Open MPI's mpirun",
            Kind::Pmi => "mpiexec (PMI)",
            Kind::SlurmPmix => "srun --mpi=pmix",
            Kind::Slurm => "srun",
        }
    }

    /// Whether an MPI can find the other processes at all.
    pub(super) fn connects(&self) -> bool {
        self.kind != Kind::Slurm
    }

    /// The environment variable that has a process's number.
    pub(super) fn rank_variable(&self) -> &'static str {
        let family = if self.kind == Kind::SlurmPmix { Kind::Slurm } else { self.kind };
        let known = VARIABLES.iter().find(|(kind, ..)| *kind == family);
        known.expect("every family has its variables").2
    }

    /// Libraries to try, the likeliest first.
    pub(super) fn libraries(&self) -> Vec<OsString> {
        let named = self.library.clone().or_else(|| std::env::var_os(LIBRARY_VARIABLE));
        if let Some(library) = named {
            return vec![library];
        }
        let names = self.names();
        let beside = beside_parent().into_iter().flat_map(|folder| {
            let paths = names.iter().map(move |name| folder.join(name));
            paths.filter(|path| path.exists()).map(PathBuf::into_os_string).collect::<Vec<_>>()
        });
        beside.chain(names.iter().map(OsString::from)).collect()
    }

    fn names(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::OpenMpi | Kind::SlurmPmix => [OPEN_MPI, STANDARD, MPICH].concat(),
            // Its generic name may lead to any MPI.
            Kind::Pmi | Kind::Slurm => {
                [&MPICH[..], &STANDARD, &OPEN_MPI[1..], &OPEN_MPI[..1]].concat()
            }
        }
    }
}

/// Where libraries lie that were installed together with the launcher that started this process. A
/// parent that is no launcher, such as a shell, has no say in what is loaded.
fn beside_parent() -> Vec<PathBuf> {
    let parent = format!("/proc/{}/exe", std::os::unix::process::parent_id());
    let Ok(program) = std::fs::read_link(parent) else { return Vec::new() };
    if !is_launcher(&program) {
        return Vec::new();
    }
    let Some(prefix) = program.parent().and_then(Path::parent) else { return Vec::new() };
    let machine = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    ["lib", "lib64", &machine].map(|folder| prefix.join(folder)).into()
}

/// Programs that start ranks: launchers themselves, and what they run on each machine.
const LAUNCHERS: [&str; 13] = [
    "mpirun",
    "mpiexec",
    "orterun",
    "orted",
    "prterun",
    "prted",
    "hydra_pmi_proxy",
    "hydra_bstrap_proxy",
    "pmi_proxy",
    "slurmstepd",
    "srun",
    "flux-shell",
    "palsd",
];

/// Whether a program is a launcher, by its name; endings such as `.openmpi` are looked through.
pub(super) fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    LAUNCHERS.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(variables: &[(&str, &str)]) -> Option<(Kind, usize, usize)> {
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        Launcher::from_variables(value).map(|found| (found.kind, found.rank, found.ranks))
    }

    #[test]
    fn launchers_are_told_apart() {
        let slurm = [("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "3")];
        let with = |more: &[(&'static str, &'static str)]| [&slurm[..], more].concat();
        assert_eq!(under(&[]), None);
        assert_eq!(
            under(&[("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1")]),
            Some((Kind::OpenMpi, 1, 2))
        );
        assert_eq!(under(&[("PMI_SIZE", "8"), ("PMI_RANK", "0")]), Some((Kind::Pmi, 0, 8)));
        assert_eq!(under(&slurm), Some((Kind::Slurm, 3, 4)));
        assert_eq!(under(&with(&[("PMIX_RANK", "3")])), Some((Kind::SlurmPmix, 3, 4)));
        assert_eq!(under(&with(&[("PMI_SIZE", "4"), ("PMI_RANK", "3")])), Some((Kind::Pmi, 3, 4)));
        // A batch script knows the tasks of its job but is none of them.
        assert_eq!(under(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(under(&[("PMI_SIZE", "many"), ("PMI_RANK", "0")]), None);
    }

    #[test]
    fn only_launchers_have_libraries_beside_them() {
        for launcher in ["/usr/bin/mpirun", "/opt/mpi/bin/mpiexec.hydra", "/usr/bin/orterun"] {
            assert!(is_launcher(Path::new(launcher)), "{launcher}");
        }
        for other in ["/usr/bin/bash", "/opt/bin/python3.12", "/opt/x/mpirunner", "/"] {
            assert!(!is_launcher(Path::new(other)), "{other}");
        }
        // This test was started by none.
        assert!(beside_parent().is_empty());
        let named = Launcher { kind: Kind::Pmi, rank: 0, ranks: 2, library: None };
        let named = named.with_library(Some("/opt/mpi/libmpi.so".into()));
        assert_eq!(named.libraries(), ["/opt/mpi/libmpi.so"]);
    }

    #[test]
    fn every_known_name_is_tried() {
        for kind in [Kind::OpenMpi, Kind::Pmi, Kind::SlurmPmix] {
            let mut names = Launcher { kind, rank: 0, ranks: 2, library: None }.names();
            assert_eq!(names.len(), 6);
            names.sort();
            names.dedup();
            assert_eq!(names.len(), 6);
        }
    }
}
