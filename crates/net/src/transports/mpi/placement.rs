//! Which ranks share a machine and its cores.
//!
//! Ranks tell each other the machine they run on and the cores they may use. The machine is known by
//! the number that its kernel drew when it started: containers and network namespaces of one machine
//! share it, two machines never do. A core that several ranks may use is shared out among them, so
//! ranks that a launcher bound to cores of their own get all of these, and ranks it left free get
//! equal shares.

use std::collections::BTreeSet;
use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::FileExt;

use crate::host::HostId;

/// Where this rank runs, and beside whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Number of ranks on this machine.
    pub local_ranks: usize,
    /// These ranks, ascending.
    pub machine: Vec<HostId>,
    /// Cores of this machine that they may use, all together.
    pub cores: usize,
    /// This rank's share of the cores, at least 1.
    pub threads: usize,
    /// Processes of other ranks that this one can see.
    pub(super) visible: Vec<(HostId, Process)>,
}

/// A process, and when it started: numbers are used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pid: String,
    started: String,
}

/// What a rank tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card {
    machine: String,
    /// In which process numbers mean the same.
    namespace: String,
    process: Process,
    cores: BTreeSet<usize>,
    /// Fewer than its cores, where only some of their time is granted.
    granted: usize,
}

impl Card {
    /// This process's own.
    pub(super) fn own() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let granted = std::thread::available_parallelism().map_or(1, NonZero::get);
        let status = read("/proc/self/status");
        let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let cores = cores.map(parse_cores).filter(|cores| !cores.is_empty());
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let pid = std::process::id().to_string();
        Card {
            machine: read("/proc/sys/kernel/random/boot_id").trim().into(),
            namespace: namespace.to_string_lossy().into(),
            process: Process { started: started(&pid).unwrap_or_default(), pid },
            cores: cores.unwrap_or_else(|| (0..granted).collect()),
            granted,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Card { machine, namespace, process, cores, granted } = self;
        let cores: Vec<_> = cores.iter().map(usize::to_string).collect();
        let Process { pid, started } = process;
        let lines = [machine, namespace, pid, started, &cores.join(","), &granted.to_string()];
        lines.map(String::as_str).join("\n").into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Card {
            machine: next(),
            namespace: next(),
            process: Process { pid: next(), started: next() },
            cores: parse_cores(&next()),
            granted: next().parse().unwrap_or(1),
        }
    }
}

impl Placement {
    /// The place of one rank among all.
    pub(super) fn of(rank: usize, cards: &[Card]) -> Self {
        let mine = &cards[rank];
        let local = || cards.iter().enumerate().filter(|(_, card)| card.machine == mine.machine);
        let cores: BTreeSet<_> = local().flat_map(|(_, card)| &card.cores).collect();
        let share: f64 = mine
            .cores
            .iter()
            .map(|core| 1.0 / local().filter(|(_, card)| card.cores.contains(core)).count() as f64)
            .sum();
        // A sum of thirds may miss the whole number it stands for.
        let share = (share + 1e-6) as usize;
        let visible = local()
            .filter(|&(other, card)| other != rank && card.namespace == mine.namespace)
            .map(|(other, card)| (HostId(other as u16), card.process.clone()));
        Placement {
            local_ranks: local().count(),
            machine: local().map(|(rank, _)| HostId(rank as u16)).collect(),
            cores: cores.len(),
            threads: share.min(mine.granted).max(1),
            visible: visible.collect(),
        }
    }
}

impl Process {
    /// A way to look whether it has ended, unless it is gone.
    pub(super) fn watch(&self) -> Option<Watched> {
        let memory = File::open(format!("/proc/{}/statm", self.pid)).ok()?;
        // Asked after the file was opened: from now on the file belongs to this process or to none.
        (started(&self.pid)? == self.started).then_some(Watched { memory })
    }
}

/// A process that can be looked at cheaply.
pub(super) struct Watched {
    /// What the system says of its memory: zeros when it has ended, an error when it was waited for.
    memory: File,
}

impl Watched {
    /// Whether the process has ended, waited for or not.
    pub(super) fn has_ended(&self) -> bool {
        let mut pages = [0; 2];
        self.memory.read_at(&mut pages, 0).is_err() || pages == *b"0 "
    }
}

/// When a process started.
fn started(pid: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    Some(stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.to_owned())
}

/// Reads a list such as `0-3,8`.
fn parse_cores(text: &str) -> BTreeSet<usize> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => Some(number(first)?..=number(last)?),
        None => number(text).map(|core| core..=core),
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(machine: &str, cores: &str) -> Card {
        let process = Process { pid: "1".into(), started: "2".into() };
        let cores = parse_cores(cores);
        let granted = cores.len();
        Card { machine: machine.into(), namespace: "n".into(), process, cores, granted }
    }

    #[test]
    fn cores_are_shared_by_those_who_may_use_them() {
        let cards = [
            card("a", "0-7"),
            card("a", "0-7"),
            card("b", "0-3"),
            card("b", "4-7"),
            card("c", "0-1"),
            card("c", "0-1"),
            card("c", "0-1"),
        ];
        let places: Vec<_> = (0..cards.len()).map(|rank| Placement::of(rank, &cards)).collect();
        assert_eq!(places.iter().map(|p| p.threads).collect::<Vec<_>>(), [4, 4, 4, 4, 1, 1, 1]);
        assert_eq!(places.iter().map(|p| p.cores).collect::<Vec<_>>(), [8, 8, 8, 8, 2, 2, 2]);
        assert_eq!(places[4].local_ranks, 3);
        assert_eq!(places[4].machine, [HostId(4), HostId(5), HostId(6)]);
        let visible: Vec<_> = places[5].visible.iter().map(|(host, _)| host.0).collect();
        assert_eq!(visible, [4, 6]);
        let mut limited = cards[0].clone();
        limited.granted = 3;
        assert_eq!(Placement::of(0, &[limited, cards[1].clone()]).threads, 3);
        let three = [card("a", "0-5"), card("a", "0-5"), card("a", "0-5")];
        assert_eq!(Placement::of(0, &three).threads, 2);
    }

    #[test]
    fn cards_and_processes_are_read_back() {
        let own = Card::own();
        assert_eq!(Card::from_bytes(&own.to_bytes()), own);
        assert!(!own.process.watch().expect("itself").has_ended());
        assert!(Process { started: "another time".into(), ..own.process }.watch().is_none());
        assert_eq!(parse_cores(" 0-2,5\n").into_iter().collect::<Vec<_>>(), [0, 1, 2, 5]);
        assert_eq!(parse_cores("x").len(), 0);
    }

    #[test]
    fn a_process_that_ended_is_noticed_before_it_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().expect("a process");
        let pid = child.id().to_string();
        let process = Process { started: started(&pid).expect("a child"), pid };
        let watched = process.watch().expect("a child");
        let mut looks = 0;
        while !watched.has_ended() {
            looks += 1;
            assert!(looks < 10_000, "still there");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.wait().expect("a child");
        assert!(watched.has_ended() && process.watch().is_none());
    }
}
