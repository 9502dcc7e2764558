//! The MPIs that tests run under: installed where that is allowed, asked for where it is not.

use std::process::Command;

use crate::step;

/// Launchers that tests start, and the packages that have them.
const LAUNCHERS: [(&str, &str); 2] = [("mpirun.openmpi", "openmpi-bin"), ("mpirun.mpich", "mpich")];

/// Makes sure that all launchers are there.
pub(crate) fn install() -> bool {
    let missing = || {
        let missing = LAUNCHERS.iter().filter(|(program, _)| !runs(program));
        missing.map(|(_, package)| *package).collect::<Vec<_>>()
    };
    let packages = missing();
    if packages.is_empty() {
        return true;
    }
    let install = format!("apt-get install --yes --no-install-recommends {}", packages.join(" "));
    if is_root() && runs("apt-get") {
        let line = format!("apt-get update && {install}");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).env("DEBIAN_FRONTEND", "noninteractive");
        if step("MPI for the tests", &mut command) && missing().is_empty() {
            return true;
        }
    }
    eprintln!(
        "tests run under two MPIs, side by side as Debian and Ubuntu install them: {install}"
    );
    false
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}
