//! One contestant, one process: seconds, peak memory, size of the result.

use std::process::Command;
use std::time::Instant;

/// Something to measure.
pub struct Contestant {
    pub name: &'static str,
    /// What it works on: the name of an input that the benchmark prepares.
    pub input: &'static str,
    /// Does the work, given a path; bytes of the graph in memory, 0 where there is none.
    pub work: fn(&str) -> u64,
}

/// What was measured.
#[derive(Clone, Copy)]
pub struct Reading {
    pub seconds: f64,
    pub peak_bytes: u64,
    pub result_bytes: u64,
}

/// Runs the named contestant here and prints its reading.
pub fn in_this_process(contestants: &[Contestant], name: &str, input: &str) {
    let contestant = contestants.iter().find(|c| c.name == name).expect("a contestant");
    let start = Instant::now();
    let result_bytes = (contestant.work)(input);
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds} {} {result_bytes}", peak_bytes());
}

/// Runs a contestant in a new process.
pub fn in_new_process(contestant: &Contestant, input: &str) -> Reading {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--measure", contestant.name, input])
        .output()
        .expect("a process");
    assert!(
        output.status.success(),
        "{}: {}",
        contestant.name,
        String::from_utf8_lossy(&output.stderr)
    );
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    // A contestant may print lines of its own; the reading is the last.
    let last = line.lines().last().expect("a reading");
    let numbers: Vec<&str> = last.split_whitespace().collect();
    let [seconds, peak, result] = numbers[..] else { panic!("a reading: {last}") };
    Reading {
        seconds: seconds.parse().expect("seconds"),
        peak_bytes: peak.parse().expect("bytes"),
        result_bytes: result.parse().expect("bytes"),
    }
}

/// Most memory this process has ever held.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") * 1024
}
