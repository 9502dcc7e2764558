//! Hosts that compute on devices, as users meet them: lists, reports, weights, memory and failures. The
//! device is an emulated one, or a GPU with `PARTON_TEST_GPU=1`; planted failures need an emulated one.

use crate::common;

use std::path::Path;
use std::sync::Arc;

use common::{command, files, folder, parton, text};
use parton::gpu::emulated::{Emulated, Settings};
use parton::gpu::{GpuHost, discover};
use parton::graph::generate::Spec;
use parton::graph::progress::Silent;
use parton::graph::reweigh::Weights;
use parton::net::Cluster;
use parton::partition::{Input, Partition, Plan};
use parton::prelude::*;
use parton::sync::Optimize;
use serde_json::Value;

/// What tests run on.
fn device() -> &'static str {
    match std::env::var("PARTON_TEST_GPU").as_deref() {
        Ok("1") => "gpu",
        _ => "emulated",
    }
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let output = parton(folder, &[&["run", "--json", "--quiet"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// A number of each host.
fn of_hosts(report: &Value, name: &str) -> Vec<f64> {
    let hosts = report["per_host"].as_array().expect("hosts");
    hosts.iter().map(|host| host[name].as_f64().expect("a number")).collect()
}

/// Refused with this code, a message with these words, and nothing else.
fn assert_refused(folder: &Path, arguments: &[&str], code: i32, words: &[&str]) {
    let output = parton(folder, &[&["run", "--quiet"], arguments].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{arguments:?}: '{word}' in {said}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn devices_are_listed_or_the_reason_is_told() {
    let listed = text(&parton(folder().path(), &["list"]).stdout);
    let (_, devices) = listed.split_once("\nDevices (for --devices)\n").expect("devices");
    assert!(devices.contains("  cpu  "), "{devices}");
    match discover::list() {
        Ok(gpus) => {
            assert!(devices.contains(&gpus[0].model) && devices.contains("sm_"), "{devices}")
        }
        Err(reason) => assert!(devices.contains(&reason.to_string()), "{devices}"),
    }
    assert!(listed.contains("on GPUs, too"));
}

#[test]
fn wrong_lists_are_refused_before_the_graph_is_read() {
    let folder = folder();
    let graph = "missing.csv";
    let cases: [(&[&str], &str); 7] = [
        (
            &["bfs", graph, "--devices", "tpu"],
            "'tpu': expected cpu, gpu, gpu:NUMBER, emulated or auto",
        ),
        (&["bfs", graph, "--devices", "auto,cpu"], "'auto' stands alone"),
        (&["bfs", graph, "--devices", "0*gpu"], "expected a number of hosts before the *"),
        (
            &["bfs", graph, "--hosts", "3", "--devices", "emulated,cpu"],
            "--devices emulated,cpu is for 2 hosts, and there are 3: name one for each, or one for all",
        ),
        (
            &["matrix-completion", graph, "--devices", "emulated"],
            "matrix-completion does not run on devices: ",
        ),
        (&["bfs", graph, "--device-memory", "much"], "expected a size such as 4GB"),
        (&["bfs", graph, "--host-weights", "x"], "expected equal, auto or a number per host"),
    ];
    for (arguments, words) in cases {
        assert_refused(folder.path(), arguments, 2, &[words]);
    }
}

#[test]
fn a_device_that_is_not_there_is_told_before_the_graph_is_read() {
    let folder = folder();
    let missing =
        discover::open("gpu:99").map(drop).expect_err("no machine has a hundred GPUs").to_string();
    assert_refused(folder.path(), &["bfs", "missing.csv", "--devices", "gpu:99"], 69, &[&missing]);
    // `auto` takes what there is.
    report(folder.path(), &["bfs", "rmat:6", "--devices", "auto", "--hosts", "2"]);
    // What no device runs is left to processors.
    std::fs::write(folder.path().join("ratings.csv"), "0,7,1\n1,8,2\n0,8,3\n").expect("a file");
    let report = report(folder.path(), &["matrix-completion", "ratings.csv", "--devices", "auto"]);
    assert_eq!(report["per_host"][0]["device"], "cpu");
}

#[test]
fn the_report_tells_what_each_host_computed_with() {
    let folder = folder();
    let mixed = format!("{},cpu,{}", device(), device());
    for algorithm in ["bfs", "sssp", "components", "pagerank"] {
        let arguments = [
            algorithm,
            "rmat:8",
            "--hosts",
            "3",
            "--threads",
            "1",
            "--verify",
            "--weights",
            "random:1..9",
            "--host-weights",
            "equal",
            "--devices",
        ];
        let report = report(folder.path(), &[&arguments[..], &[&mixed]].concat());
        let expected = self::report(folder.path(), &[&arguments[..], &["cpu"]].concat());
        assert_eq!(report["verified"], true);
        // Ranks are rounded as they are added up.
        if algorithm != "pagerank" {
            assert_eq!(report["result"], expected["result"], "{algorithm}");
        }
        let names: Vec<_> = (0..3).map(|host| report["per_host"][host]["device"].clone()).collect();
        assert!(names[0].as_str().expect("a name").starts_with(device()), "{names:?}");
        assert_eq!(names[1], "cpu");
        let shares = of_hosts(&report, "edge_share");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(of_hosts(&report, "busy").iter().all(|busy| (0.0..=1.0).contains(busy)));
        assert_eq!(report["per_host"][0]["speed"], Value::Null);
        assert!(report["seconds"]["setup"].as_f64().expect("seconds") > 0.0);
    }
}

#[test]
fn rounds_that_are_counted_are_those_of_processors() {
    let folder = folder();
    for devices in ["cpu", device()] {
        let arguments =
            ["bfs", "path:70", "--root", "0", "--max-rounds", "5", "--devices", devices];
        let report = report(folder.path(), &arguments);
        assert_eq!(
            (&report["rounds"], &report["converged"]),
            (&5.into(), &false.into()),
            "{devices}"
        );
        assert_eq!(report["result"]["max"], 5, "{devices}");
    }
}

#[test]
fn hosts_of_different_speed_are_measured() {
    let folder = folder();
    let mixed = format!("{},cpu", device());
    let run = ["pagerank", "rmat:9", "--hosts", "2", "--devices", &mixed];
    let measured = report(folder.path(), &run);
    let speeds = of_hosts(&measured, "speed");
    assert!(speeds.iter().all(|speed| *speed > 0.0), "{speeds:?}");
    // What parts cost in real rounds decides the shares: on so small a graph one host may get all edges.
    let shares = of_hosts(&measured, "edge_share");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");

    let given = report(folder.path(), &[&run[..], &["--host-weights", "1,3"]].concat());
    assert!((of_hosts(&given, "edge_share")[0] - 0.25).abs() < 0.05);
    assert_eq!(given["per_host"][0]["speed"], Value::Null);
    let page = ["run", "--report", "page.html"];
    let text = text(&parton(folder.path(), &[&page, &run[..]].concat()).stdout);
    assert!(text.contains("edges/s in the trial") && text.contains("% busy"), "{text}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("<th>speed</th>") && page.contains(" edges/s</td>"));
}

#[test]
fn what_does_not_fit_a_device_is_told_before_it_is_uploaded() {
    let folder = folder();
    let alone = ["bfs", "rmat:17", "--devices", device(), "--device-memory", "20MB", "--hosts"];
    let words = [
        "not enough memory: this host's part of the graph needs",
        "for edges",
        "20.0 MB are allowed by --device-memory",
        "hosts with such a device would do (--hosts",
        "(--devices gpu,cpu and --host-weights)",
    ];
    assert_refused(folder.path(), &[&alone[..], &["1"]].concat(), 71, &words);
    // A processor takes what the device cannot hold.
    let mixed = format!("{},cpu", device());
    let shared = [
        "bfs",
        "rmat:17",
        "--devices",
        &mixed,
        "--device-memory",
        "20MB",
        "--hosts",
        "2",
        "--verify",
    ];
    let report = report(folder.path(), &shared);
    assert_eq!(report["verified"], true);
}

/// Runs on two hosts, one of them with an emulated device whose failure is planted. Returns the code and
/// what was said; checks that nothing is left behind.
fn planted(failure: (&str, u64)) -> (Option<i32>, String) {
    let folder = folder();
    let arguments = [
        "run",
        "sssp",
        "rmat:7",
        "--weights",
        "random:1..9",
        "--hosts",
        "2",
        "--devices",
        "cpu,emulated",
        "--host-weights",
        "equal",
        "--output",
        "out.csv",
        "--quiet",
    ];
    let (variable, number) = failure;
    let output = command()
        .args(arguments)
        .env(variable, number.to_string())
        .current_dir(folder.path())
        .output()
        .expect("the command runs");
    let code = output.status.code();
    assert_eq!(files(folder.path()).len(), usize::from(code == Some(0)), "{failure:?}");
    (code, text(&output.stderr))
}

#[test]
fn failures_of_a_device_end_all_hosts_with_the_cause() {
    let kinds = [
        ("PARTON_EMULATED_LOST_AFTER", 69, "lost"),
        ("PARTON_EMULATED_FAULT_AT", 69, "faulted"),
        ("PARTON_EMULATED_FULL_AFTER", 71, "not enough memory"),
    ];
    for (variable, code, word) in kinds {
        let mut times_it_failed = 0;
        for number in [1, 2, 5, 12, 30, 80, 200] {
            match planted((variable, number)) {
                // The run was over before.
                (Some(0), _) => {}
                (found, said) => {
                    assert_eq!(found, Some(code), "{variable}={number}: {said}");
                    assert!(said.contains("emulated:0") && said.contains(word), "{number}: {said}");
                    assert_eq!(said.lines().count(), 1, "one message: {said}");
                    times_it_failed += 1;
                }
            }
        }
        assert!(times_it_failed >= 3, "{variable}: {times_it_failed}");
    }
}

#[test]
fn a_compiler_that_is_not_there_is_told() {
    let mut command = command();
    command.args(["run", "bfs", "rmat:5", "--devices", "emulated", "--quiet"]);
    let output = command.env("CXX", "no-such-compiler").output().expect("the command runs");
    assert_eq!(output.status.code(), Some(69));
    assert!(text(&output.stderr).contains("install g++"), "{}", text(&output.stderr));
}

#[test]
fn benchmarks_know_devices() {
    let folder = folder();
    let mixed = format!("{},cpu", device());
    let arguments = [
        "bench",
        "rmat:7",
        "--json",
        "--algorithms",
        "bfs,pagerank",
        "--hosts",
        "2",
        "--repetitions",
        "2",
        "--verify",
        "--devices",
        &mixed,
    ];
    let output = parton(folder.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(results["options"]["devices"], mixed[..]);
    let rows = results["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        let devices = row["devices"].as_array().expect("devices");
        assert_eq!(devices.len() as u64, row["hosts"].as_u64().expect("hosts"));
        assert!(devices[0].as_str().expect("a name").starts_with(device()));
        assert_eq!(row["verified"], true);
    }
    // Algorithms that no device runs are left out unless they were named.
    let named = ["bench", "rmat:5", "--algorithms", "matrix-completion", "--devices", "emulated"];
    assert_eq!(parton(folder.path(), &named).status.code(), Some(2));
}

/// The least number of edges from vertex 0.
struct Hops;

#[device]
impl Relaxation for Hops {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (vertex.id() == GlobalId(0)).then_some(0)
    }

    fn relax(&self, hops: u32, (): ()) -> u32 {
        hops + 1
    }
}

/// The same without a form for devices.
struct Untranslated;

impl Relaxation for Untranslated {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        Hops.start(vertex)
    }

    fn relax(&self, hops: u32, (): ()) -> u32 {
        hops + 1
    }
}

#[test]
fn the_library_runs_programs_on_devices() {
    let expected = parton::relax(Hops, "rmat:8", 1).expect("a run").values;
    for list in [device().to_owned(), format!("{},cpu", device()), "auto".into()] {
        let devices = list.parse().expect("a list");
        let run = Run::relaxation(Hops).hosts(2).threads(1).devices(devices);
        assert_eq!(run.on("rmat:8").expect("a run").values, expected, "{list}");
    }
    let refused = |run: Run<'_, u32>| run.on("rmat:8").expect_err("a misfit").to_string();
    let devices: parton::DeviceList = device().parse().expect("a list");
    let message = refused(Run::relaxation(Untranslated).devices(devices.clone()));
    assert!(message.contains("has no form for devices"), "{message}");
    let message = refused(Run::relaxation(Hops).devices(devices).device_memory(1000));
    assert!(message.contains("not enough memory"), "{message}");
}

/// What each host has planned, and the most that it had of its device's memory.
fn planned_and_used(algorithm: &str, engine: &str, hosts: usize) -> Vec<(u64, u64)> {
    use parton::algorithms::{Error, by_name, engine_by_name};
    let algorithm = by_name(algorithm).expect("an algorithm");
    let engine = Some(engine_by_name(algorithm, engine).expect("an engine"));
    let options = Options { engine, ..Options::default() };
    let graph = Spec::parse("rmat:13").and_then(|spec| spec.generate(&Silent)).expect("a graph");
    let graph = graph.reweighed(&Weights::Random { low: 1, high: 64, seed: 1 });
    let input = Input::from(graph).fitted(algorithm.needs(&options).fit());
    let launched = Cluster::local(hosts).threads_per_host(1).launch(|net| {
        let partition = Partition::build(net, &input, &Plan::new("cvc")).expect("a partition");
        let partition = partition.beside_devices();
        let emulated = Arc::new(Emulated::new(Settings::default()));
        let gpu = GpuHost::new(emulated.clone());
        let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
        let substrate = &mut substrate;
        let job = &mut Job { substrate, options: &options, watch: &mut (), device: Some(&gpu) };
        algorithm.run(job)?;
        let model = gpu.memory_model().expect("an engine was built");
        Ok::<_, Error>((model.plan(&partition).total(), emulated.peak_memory()))
    });
    launched.expect("a run")
}

#[test]
fn plans_of_memory_hold_and_are_not_far_off() {
    let cases = [
        ("bfs", "frontier"),
        ("bfs", "push"),
        ("sssp", "delta"),
        ("components", "union"),
        ("components", "frontier"),
        ("pagerank", "pull"),
    ];
    for (algorithm, engine) in cases {
        for hosts in [1, 2] {
            for (planned, used) in planned_and_used(algorithm, engine, hosts) {
                let what = format!("{algorithm} by {engine}, {hosts} hosts: {planned}, {used}");
                assert!(used <= planned, "{what}: more than planned");
                assert!(planned <= used + used / 2 + (256 << 10), "{what}: far less than planned");
            }
        }
    }
}
