//! Ranks that die, hang or do not start: everybody is told, nobody is left behind, and no part of an
//! answer remains.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{files, folder};
use crate::launchers::{self, Ended, Mpi};
use crate::{PARTON, start};

/// Processes that are ranks of a launch in this folder, by rank.
fn ranks_in(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes") {
        let process = entry.expect("an entry").path();
        let Some(pid) = process.file_name().and_then(|n| n.to_str()?.parse().ok()) else {
            continue;
        };
        let is_ours = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder)
            && std::fs::read_link(process.join("exe")).is_ok_and(|exe| exe == Path::new(PARTON));
        let variables = std::fs::read_to_string(process.join("environ")).unwrap_or_default();
        let rank = variables.split('\0').find_map(|variable| {
            let rank = variable.strip_prefix("OMPI_COMM_WORLD_RANK=");
            rank.or(variable.strip_prefix("PMI_RANK=")).map(str::to_owned)
        });
        if let (true, Some(rank)) = (is_ours, rank) {
            found.push((rank, pid));
        }
    }
    found
}

/// Starts a run that takes long and does something to its rank 2 when rounds are under way.
fn lose_a_rank(mpi: Mpi, signal: &str) -> Ended {
    // How long it takes until rounds are under way depends on who else uses the machine.
    for seconds in [1, 4, 16, 64] {
        let folder = folder();
        let ended = lose_a_rank_after(seconds, mpi, &folder.path().canonicalize().unwrap(), signal);
        if !ended.stderr.contains("before the first round") {
            return ended;
        }
    }
    panic!("no round in a minute");
}

fn lose_a_rank_after(seconds: u64, mpi: Mpi, folder: &Path, signal: &str) -> Ended {
    // A round for every vertex.
    let long =
        ["run", "bfs", "path:500000", "--root", "0", "--engine", "frontier", "--output", "x/"];
    let child = start(mpi, 4, folder, &long);
    let mut ticks = 0;
    let victim = loop {
        let ranks = ranks_in(folder);
        if let (4, Some((_, pid))) = (ranks.len(), ranks.iter().find(|(rank, _)| rank == "2")) {
            break *pid;
        }
        ticks += 1;
        assert!(ticks < 600, "ranks start");
        std::thread::sleep(Duration::from_millis(100));
    };
    std::thread::sleep(Duration::from_secs(seconds));
    let killed = Command::new("bash").args(["-c", &format!("kill -{signal} {victim}")]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let ended = launchers::wait(child);
    assert!(!ended.status.success(), "{ended:?}");
    assert!(ended.ticks <= 100, "ended within ten seconds: {ended:?}");
    // What the launcher kills may take a moment to go.
    let mut looks = 0;
    while !ranks_in(folder).is_empty() {
        looks += 1;
        assert!(looks < 30, "orphans: {:?}", ranks_in(folder));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!folder.join("x").exists(), "nothing under the final name");
    ended
}

/// True if a part lies in a folder that has not got its name yet.
fn has_hidden_part(folder: &Path) -> bool {
    let hidden = files(folder).into_iter().filter(|name| name.starts_with('.'));
    // The folder may have been renamed since it was listed.
    let entries = hidden.filter_map(|name| std::fs::read_dir(folder.join(name)).ok()).flatten();
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("part-"))
}

/// Ends a rank as soon as the first part of a folder is sealed, while the folder has not got its name.
/// False if the run finished before.
fn lose_a_rank_while_parts_are_sealed(mpi: Mpi, signal: &str, rank: &str) -> bool {
    let folder = folder();
    let folder = &folder.path().canonicalize().unwrap();
    // Many rows and few rounds.
    let arguments = ["run", "bfs", "uniform:1000000,1000000", "--output", "x/", "-q"];
    let mut child = start(mpi, 3, folder, &arguments);
    let mut victim = None;
    while !has_hidden_part(folder) && child.try_wait().expect("a child").is_none() {
        if victim.is_none() {
            victim = ranks_in(folder).into_iter().find(|(number, _)| number == rank);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let (_, pid) = victim.expect("a rank was seen while it ran");
    // It fails if the process is gone.
    let _ = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).output();
    let ended = launchers::wait(child);
    let is_there = folder.join("x").exists();
    if is_there {
        let parts = ["part-00000.csv", "part-00001.csv", "part-00002.csv"];
        assert_eq!(files(&folder.join("x")), parts, "all or nothing: {ended:?}");
    }
    assert!(is_there || !ended.status.success(), "{ended:?}");
    !is_there
}

#[test]
fn a_rank_that_ends_while_parts_are_sealed_leaves_none() {
    for mpi in launchers::ALL {
        let mut tries = 0;
        for (signal, rank) in
            [("KILL", "0"), ("KILL", "1"), ("TERM", "0"), ("TERM", "2"), ("INT", "0"), ("INT", "1")]
        {
            // A run on a fast machine may end before the signal comes.
            while !lose_a_rank_while_parts_are_sealed(mpi, signal, rank) {
                tries += 1;
                assert!(tries < 20, "{}: every run ends too soon", mpi.name);
            }
        }
    }
}

#[test]
fn a_rank_that_dies_takes_all_along() {
    for mpi in launchers::ALL {
        let ended = lose_a_rank(mpi, "KILL");
        let said = ended.said();
        // MPICH's launcher kills the others at once: they may or may not have had their say.
        if mpi.name == "Open MPI" {
            assert_eq!(said.len(), 3, "{ended:?}");
        }
        for said in said {
            assert!(said.contains("host 2 was lost in round"), "{said}");
        }
    }
}

#[test]
fn a_rank_that_hangs_is_noticed_and_ended() {
    for mpi in launchers::ALL {
        let ended = lose_a_rank(mpi, "STOP");
        let told =
            ended.said().iter().filter(|said| said.contains("host 2 was lost in round")).count();
        assert_eq!(told, 3, "{ended:?}");
        if mpi.name == "Open MPI" {
            assert_eq!(ended.status.code(), Some(69));
        }
    }
}

/// While MPI starts, no message can be sent: ranks look for each other in the system.
#[test]
fn a_rank_that_does_not_come_is_named() {
    // Both at once: most of the time nothing happens.
    std::thread::scope(|scope| {
        for mpi in launchers::ALL {
            scope.spawn(move || stop_a_rank_before_it_starts(mpi));
        }
    });
}

fn stop_a_rank_before_it_starts(mpi: Mpi) {
    let folder = folder();
    let folder = folder.path().canonicalize().unwrap();
    let line = "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ] && kill -STOP $$; exec \"$@\"";
    let mut command = mpi.launch(3);
    command.args(["bash", "-c", line, "bash", PARTON, "run", "bfs", "rmat:6", "-q"]);
    let child = launchers::start(command.current_dir(&folder));
    // Thirty seconds until it is said, and some for a slow machine.
    std::thread::sleep(Duration::from_secs(34));
    let go_on = "for p in $(pgrep -x bash); do [ \"$(readlink /proc/$p/cwd)\" = \"$PWD\" ] && \
                 kill -CONT $p; done; true";
    let woken = Command::new("bash").args(["-c", go_on]).current_dir(&folder).status();
    assert!(woken.is_ok_and(|status| status.success()));
    let ended = launchers::wait(child);
    assert!(ended.status.success(), "{ended:?}");
    let said = ended.said();
    assert!(
        said.iter().any(|said| said.contains("rank 1 (process ") && said.contains("is stopped")),
        "{ended:?}"
    );
}
