//! The ranks on this machine, as the system knows them: which of them have come to start MPI.
//!
//! `MPI_Init` returns when all ranks have called it. While it waits, no message can be sent, so a rank
//! looks at the other processes of its launcher instead: one that waits, too, has a thread of a
//! certain name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::launcher::{Launcher, is_launcher};

/// The name of the thread that a rank has while it waits for the others.
pub const WAITING_THREAD: &str = "mpi-start";

/// How far a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// It waits for the others.
    Waits,
    /// Its process is stopped.
    Stopped(u32),
    /// It has not come to that yet.
    OnItsWay(u32),
}

impl Launcher {
    /// Whom this rank waits for while MPI starts, in words; `None` if another rank of this machine,
    /// one of a lower number, will say so.
    pub fn missing_ranks(&self) -> Option<String> {
        let found = self.ranks_here();
        let waits = |rank: usize| found.get(&rank) == Some(&Progress::Waits);
        if (0..self.rank()).any(waits) {
            return None;
        }
        let mut problems: Vec<String> = found
            .iter()
            .filter_map(|(rank, progress)| match progress {
                Progress::Waits => None,
                Progress::OnItsWay(process) => {
                    Some(format!("rank {rank} (process {process}) has not come"))
                }
                Progress::Stopped(process) => {
                    Some(format!("rank {rank} (process {process}) is stopped"))
                }
            })
            .collect();
        let elsewhere: Vec<usize> =
            (0..self.ranks()).filter(|rank| !found.contains_key(rank)).collect();
        match (&elsewhere[..], problems.is_empty()) {
            ([], true) => problems.push("all ranks have come, and MPI is still at it".into()),
            ([], false) => {}
            ([rank], _) => {
                problems.push(format!("rank {rank} is not on this machine, or has ended"))
            }
            ([first, .., last], _) => problems.push(format!(
                "{} ranks, {first} to {last}, are not on this machine, or have ended",
                elsewhere.len()
            )),
        }
        Some(problems.join("; "))
    }

    /// The ranks of this launch on this machine.
    fn ranks_here(&self) -> BTreeMap<usize, Progress> {
        let mut found = BTreeMap::new();
        let root = launcher_of(std::process::id());
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(process) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let Some(rank) = self.rank_of(&entry.path()) else { continue };
            if root.is_none() || launcher_of(process) != root {
                continue;
            }
            let progress = progress_of(process, &entry.path());
            // A shell that a rank was started by has its number, too.
            let known = found.entry(rank).or_insert(progress);
            *known = progress.min(*known);
        }
        found
    }

    fn rank_of(&self, process: &Path) -> Option<usize> {
        let variables = fs::read(process.join("environ")).ok()?;
        let variable = self.rank_variable().as_bytes();
        variables.split(|&byte| byte == 0).find_map(|given| {
            let value = given.strip_prefix(variable)?.strip_prefix(b"=")?;
            std::str::from_utf8(value).ok()?.parse().ok()
        })
    }
}

/// The state of a process and its parent.
fn state_of(process: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before them is in brackets and may contain anything.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The nearest launcher among a process's ancestors.
fn launcher_of(mut process: u32) -> Option<u32> {
    while process > 1 {
        process = state_of(process)?.1;
        if fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|program| is_launcher(&program))
        {
            return Some(process);
        }
    }
    None
}

fn progress_of(process: u32, folder: &Path) -> Progress {
    let threads = fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
    let mut names =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    match state_of(process) {
        Some(('T' | 't', _)) => Progress::Stopped(process),
        _ if names.any(|name| name.trim() == WAITING_THREAD) => Progress::Waits,
        _ => Progress::OnItsWay(process),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_looked_at() {
        let own = std::process::id();
        let folder = format!("/proc/{own}");
        assert_eq!(progress_of(own, Path::new(&folder)), Progress::OnItsWay(own));
        assert_eq!(launcher_of(own), None);
        assert_eq!(
            state_of(own).map(|(_, parent)| parent),
            Some(std::os::unix::process::parent_id())
        );
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::Builder::new().name(WAITING_THREAD.into());
        let waiting = waiting.spawn(move || receiver.recv()).expect("a thread");
        while progress_of(own, Path::new(&folder)) != Progress::Waits {
            std::thread::yield_now();
        }
        drop(sender);
        assert!(waiting.join().expect("an end").is_err());
    }
}
