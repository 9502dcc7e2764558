//! Programs that tests start, beside Rust's: installed where that is allowed, asked for where it is not.

use std::process::Command;

use crate::step;

/// Programs and the packages that have them: two MPIs, and the compiler for kernels of the emulated
/// device.
const PROGRAMS: [(&str, &str); 3] =
    [("mpirun.openmpi", "openmpi-bin"), ("mpirun.mpich", "mpich"), ("g++", "g++")];
/// What the whole tests need beside these: a browser that draws pages.
const BROWSER: (&str, &str) = ("chromium", "chromium");

/// Makes sure that all programs are there; `long`: those of the whole tests, too.
pub(crate) fn install(long: bool) -> bool {
    let programs: Vec<_> = PROGRAMS.into_iter().chain(long.then_some(BROWSER)).collect();
    let missing = || {
        let missing = programs.iter().filter(|(program, _)| !runs(program));
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
        if step("packages for the tests", &mut command) && missing().is_empty() {
            return true;
        }
    }
    eprintln!(
        "tests run under two MPIs, side by side as Debian and Ubuntu install them, and compile kernels \
         with g++: {install}"
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
