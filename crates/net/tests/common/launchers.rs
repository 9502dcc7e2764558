//! The MPIs that tests run under, and how each starts ranks.
//!
//! A missing one is an error that says what to install; nothing is left out silently.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// One MPI's launcher.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpi {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Names of its launcher, if both MPIs are installed side by side.
    program: &'static str,
    /// The package that has it.
    package: &'static str,
}

/// All that tests run under.
pub(crate) const ALL: [Mpi; 2] = [
    Mpi { name: "Open MPI", program: "mpirun.openmpi", package: "openmpi-bin" },
    Mpi { name: "MPICH", program: "mpirun.mpich", package: "mpich" },
];

/// What a launch came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Tenths of a second it took, not counting those in which everything stood still.
    pub(crate) ticks: u32,
}

/// How often it is looked whether a launch has ended.
const TICK: Duration = Duration::from_millis(100);
/// Ticks after which a launch is taken to hang.
const LIMIT: u32 = 3000;

impl Mpi {
    /// Starts `ranks` ranks of a program that the caller adds.
    pub(crate) fn launch(&self, ranks: usize) -> Command {
        let found = Command::new(self.program).arg("--version").output();
        assert!(
            found.is_ok_and(|output| output.status.success()),
            "tests need {}: `apt-get install {}` (`cargo xtask test` does so where it may)",
            self.name,
            self.package
        );
        let mut command = Command::new(self.program);
        // As a user of a small machine would have to say: ranks may outnumber cores.
        command.envs(OPEN_MPI_SETTINGS);
        command.env("OMPI_MCA_orte_tmpdir_base", folder_of_launch());
        command.args(["-n", &ranks.to_string()]);
        command
    }
}

/// What Open MPI must be told in order to start more ranks than cores, and by root.
pub(crate) const OPEN_MPI_SETTINGS: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
];

/// A folder for Open MPI's own files. It makes and removes one for all launches of a user, and fails if two of them
/// do so at once.
fn folder_of_launch() -> PathBuf {
    static LAUNCHES: AtomicU32 = AtomicU32::new(0);
    let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    let name = format!("mpi-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Starts a command whose output is kept.
pub(crate) fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the launcher starts")
}

/// Waits for a command and what it says.
pub(crate) fn wait(mut child: Child) -> Ended {
    let listen = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = pipe.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let stdout = listen(Box::new(child.stdout.take().expect("a pipe")));
    let stderr = listen(Box::new(child.stderr.take().expect("a pipe")));
    let mut ticks = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if ticks == LIMIT {
            let _ = child.kill();
            panic!("the launch hangs");
        }
        ticks += 1;
        std::thread::sleep(TICK);
    };
    let [stdout, stderr] = [stdout, stderr].map(|text| text.join().expect("text"));
    Ended { status, stdout, stderr, ticks }
}
