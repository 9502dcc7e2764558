//! The machine a command runs on, in one line: processor, threads, memory, system.

use crate::cli::show;

/// What the system tells of itself; what it does not tell is left out.
pub(crate) fn describe() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut words = vec![processor().unwrap_or_else(|| std::env::consts::ARCH.into())];
    words.push(format!("{threads} threads"));
    words.extend(memory().map(|bytes| format!("{} of memory", show::bytes(bytes))));
    words.push(system().unwrap_or_else(|| std::env::consts::OS.into()));
    words.join(", ")
}

/// The value of the first line of `file` that starts with `name`.
fn value(file: &str, name: &str, separator: char) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let value = line.split_once(separator)?.1.trim().trim_matches('"');
    (!value.is_empty()).then(|| value.to_owned())
}

fn processor() -> Option<String> {
    value("/proc/cpuinfo", "model name", ':')
}

fn memory() -> Option<u64> {
    let kilobytes = value("/proc/meminfo", "MemTotal", ':')?;
    let kilobytes: u64 = kilobytes.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn system() -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let kernel = kernel.map(|release| format!("Linux {}", release.trim()));
    let system = value("/etc/os-release", "PRETTY_NAME", '=');
    match (system, kernel) {
        (Some(system), Some(kernel)) => Some(format!("{system}, {kernel}")),
        (system, kernel) => system.or(kernel),
    }
}
