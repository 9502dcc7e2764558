//! What every result begins with: when, where, of what and by which command it was measured.

use std::process::Command;

use serde_json::{Value, json};

/// The head of a result of this command and commit, measured now and here.
pub(crate) fn head(command: &str, commit: &str) -> Value {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or("", |(_, value)| value.trim()).to_owned()
    };
    let kibibytes = line("/proc/meminfo", "MemTotal");
    let kibibytes = kibibytes.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    json!({
        "date": said(Command::new("date").args(["-u", "+%Y-%m-%d"])),
        "machine": {
            "cpu": line("/proc/cpuinfo", "model name"),
            "cores": std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            "memory_bytes": kibibytes.map(|number| number * 1024),
        },
        "commit": commit,
        "command": command,
    })
}

/// What a command writes, without the spaces around it; nothing if it does not run.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}
