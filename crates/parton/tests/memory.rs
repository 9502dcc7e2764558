//! What runs need: hosts that cost little, plans that say so before, and cuts that end with advice.

use std::os::unix::process::CommandExt;

use crate::common::{command, folder, parton, text};

/// The peak of a run in bytes.
fn peak(arguments: &[&str]) -> u64 {
    let folder = folder();
    let run = parton(folder.path(), arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    report["memory_peak_bytes"].as_u64().expect("a peak")
}

/// A host costs less than a megabyte, and a pair of hosts a kilobyte or two.
#[test]
fn many_hosts_cost_little_each() {
    let few = |hosts| ["run", "bfs", "uniform:6000,50000", "--json", "-q", "--hosts", hosts];
    let bytes = peak(&few("200"));
    assert!(bytes < 200 << 20, "{bytes} bytes for 200 hosts");
}

/// Hosts of one process by the thousand, each with edges of almost all others to read.
#[test]
fn a_thousand_hosts_fit_two_gigabytes() {
    if std::env::var_os("PARTON_LONG").is_none() {
        eprintln!("a thousand hosts are tried by `cargo xtask test --long`");
        return;
    }
    let run = ["run", "bfs", "uniform:100000,1000000", "--json", "-q", "--hosts", "1000"];
    let bytes = peak(&[&run[..], &["--threads", "1", "--verify"]].concat());
    assert!(bytes < 2_000_000_000, "{bytes} bytes for 1000 hosts");
}

#[test]
fn plans_say_what_runs_need() {
    let folder = folder();
    let plan = ["plan", "rmat:17", "--algorithm", "bfs,pagerank", "--hosts", "1,4", "--json", "-q"];
    let planned = parton(folder.path(), &plan);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let planned: serde_json::Value = serde_json::from_slice(&planned.stdout).expect("JSON");
    assert_eq!(planned["graph"]["vertices"], 131072.0);
    let rows = planned["plans"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        let (algorithm, hosts) = (row["algorithm"].as_str().unwrap(), row["hosts"].to_string());
        let run = ["run", algorithm, "rmat:17", "--hosts", &hosts, "--json", "-q"];
        let measured = peak(&run) as f64;
        let likely = row["memory"]["process_peak"]["likely"].as_f64().unwrap();
        assert!((0.75..1.25).contains(&(likely / measured)), "{row}: {measured}");
        assert!(row["engine"].is_string() && row["seconds"]["run"]["high"].as_f64().unwrap() > 0.0);
    }
    let advice = &planned["recommendation"]["bfs"];
    assert_eq!((advice["hosts"].as_u64(), advice["on_machines"].as_bool()), (Some(1), Some(false)));
    assert!(!advice["reasons"].as_array().unwrap().is_empty());

    // A graph that no machine holds is planned as fast.
    let run = ["plan", "rmat:31", "--algorithm", "bfs", "--hosts", "1,64", "--no-trial", "-q"];
    let planned = parton(folder.path(), &run);
    let said = text(&planned.stdout);
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    assert!(said.contains("GB") && said.contains("a sample of"), "{said}");
    for (arguments, problem) in [
        (&["plan", "rmat:5", "--algorithm", "nosuch"][..], "unknown algorithm"),
        (&["plan", "rmat:5", "--policy", "nosuch"], "unknown policy"),
    ] {
        let refused = parton(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(problem), "{}", text(&refused.stderr));
    }
}

/// A small graph is its own sample: under each policy, a trial sends what a run sends.
#[test]
fn plans_order_policies_by_bytes_as_runs_do() {
    let folder = folder();
    let json = |arguments: &[&str]| {
        let output =
            parton(folder.path(), &[arguments, &["--hosts", "3", "--json", "-q"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let mut pairs = 0;
    for algorithm in ["bfs", "label-propagation", "triangles"] {
        let planned = json(&["plan", "rmat:9", "--algorithm", algorithm, "--policy", "all"]);
        let rows = planned["plans"].as_array().expect("rows").iter().map(|row| {
            let policy = row["policy"].as_str().expect("a policy");
            let run = json(&["run", algorithm, "rmat:9", "--policy", policy]);
            let sent = run["bytes"]["total"].as_f64().expect("bytes");
            let rounds = run["rounds"].as_f64().expect("rounds");
            (policy, row["bytes_per_round"]["likely"].as_f64().expect("bytes"), sent / rounds)
        });
        let rows: Vec<_> = rows.collect();
        for (at, one) in rows.iter().enumerate() {
            for other in &rows[at + 1..] {
                if (one.2 - other.2).abs() > 0.05 * one.2.max(other.2) {
                    pairs += 1;
                    assert!((one.2 - other.2) * (one.1 - other.1) > 0.0, "{one:?} {other:?}");
                }
            }
        }
    }
    assert!(pairs > 30, "{pairs}");
}

#[test]
fn cuts_end_with_a_recommendation() {
    let folder = folder();
    for (policy, expected) in [("all", "sends the least"), ("oec", "compare --policy all")] {
        let run = ["partition", "rmat:12", "--hosts", "4", "--policy", policy, "-q"];
        let said = text(&parton(folder.path(), &run).stdout);
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("recommendation: ") && last.contains(expected), "{said}");
    }
}

#[test]
fn a_save_that_fails_leaves_nothing() {
    let folder = folder();
    let folder = folder.path();
    let save = ["partition", "rmat:12", "--hosts", "3", "--policy", "cvc", "-q", "--save", "cut"];
    let mut limited = command();
    limited.args(save).current_dir(folder);
    // SAFETY: between fork and exec only `setrlimit` is called, which may be called there.
    unsafe {
        limited.pre_exec(|| {
            let limits = libc::rlimit { rlim_cur: 50_000, rlim_max: 50_000 };
            libc::setrlimit(libc::RLIMIT_FSIZE, &limits);
            Ok(())
        });
    }
    let failed = limited.output().expect("the command runs");
    assert_eq!(failed.status.code(), Some(74), "{}", text(&failed.stderr));
    assert_eq!(crate::common::files(folder), [""; 0], "{}", text(&failed.stderr));
    assert!(parton(folder, &save).status.success());
    assert!(folder.join("cut/manifest.json").is_file());
    // An old partition is replaced.
    assert!(parton(folder, &save).status.success());
    assert!(parton(folder, &["run", "bfs", "cut", "-q"]).status.success());
}
