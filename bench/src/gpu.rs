//! Engines on a GPU beside those on the processor, and all else that is measured on a GPU: one command writes
//! a whole result, on a machine that need not have this checkout.
//!
//! `parton bench --devices` measures whole commands; this program also starts searches at many roots and
//! gives the rates that GPU systems are compared by: edges of the graph per second of a run.

mod commands;
mod engines;

use std::path::Path;

use parton_gpu::{GpuHost, discover};
use parton_net::Cluster;
use parton_partition::{Input, Partition, Plan};
use parton_sync::{Optimize, Substrate};
use serde_json::{Value, json};

use self::commands::Commands;
use self::engines::{Bench, Row};
use crate::head::head;
use crate::{option, translated};

/// What belongs to the machine and not to the command as somebody else would write it.
const NOT_SHOWN: [&str; 3] = ["--parton", "--commit", "--output"];

pub fn run(options: &[&str]) {
    let words = format!("parton-bench gpu {}", shown(options).join(" "));
    let mut result = head(&words, option(options, "--commit").unwrap_or("unknown"));
    let gpu = discover::list().ok().map(|gpus| gpus[0].clone());
    result["gpu"] = json!(gpu.map(|gpu| gpu.model));
    let graphs: Vec<&str> =
        option(options, "--graphs").expect("--graphs GRAPH+GRAPH…").split('+').collect();
    let (mut rows, mut twins) = (Vec::new(), Vec::new());
    println!("| graph | device | algorithm | rounds | setup s | best ms | median ms | G edges/s |");
    println!("|---|---|---|---|---|---|---|---|");
    for graph in &graphs {
        let (of_engines, of_twins) = on_graph(graph, options);
        rows.extend(of_engines);
        twins.extend(of_twins);
        result["rows"] = rows.iter().map(Row::json).collect();
        result["translated"] = json!(twins);
        write(options, &result);
    }
    let mut failures = Vec::new();
    for (what, found) in of_commands(&graphs, &rows, options) {
        match found {
            Ok(found) => result[what] = found,
            // The other figures are kept.
            Err(said) => failures.push(format!("{what}: {said}")),
        }
        println!("{what}: {}", result[what]);
        write(options, &result);
    }
    if !failures.is_empty() {
        eprintln!("{}", failures.join("\n"));
        std::process::exit(1);
    }
}

/// Writes what is known by now: somebody may stop this program.
fn write(options: &[&str], result: &Value) {
    if let Some(file) = option(options, "--output") {
        std::fs::write(file, format!("{result:#}\n")).expect("a file to write");
    }
}

/// A part of the result, and what was measured or what went wrong.
type Part = (&'static str, Result<Value, String>);

/// What is measured by the `parton` command that the options name, if they name one.
fn of_commands<'a>(
    graphs: &'a [&str],
    rows: &'a [Row],
    options: &'a [&str],
) -> impl Iterator<Item = Part> + 'a {
    let measured = option(options, "--parton").map(move |parton| {
        let is_ranks = |row: &&Row| row.device != "cpu" && row.algorithm.starts_with("pagerank");
        let ranks = rows.iter().find(is_ranks).expect("pagerank on a device");
        let graph = graphs.iter().find(|graph| stem(graph) == ranks.graph).expect("its graph");
        let limit = option(options, "--device-memory").map(str::to_owned);
        let limit = limit.unwrap_or_else(|| less_than(ranks.memory).to_string());
        let commands = Commands { parton, device: &ranks.device };
        ["sharing", "split", "bytes"].into_iter().map(move |what| {
            let found = match what {
                "sharing" => commands.sharing(graph),
                "split" => commands.split(graph, &limit),
                _ => commands.bytes(),
            };
            (what, found)
        })
    });
    measured.into_iter().flatten()
}

/// The options without those that belong to the machine.
fn shown<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let is_shown = |at: &usize| {
        let before = at.checked_sub(1).map(|before| options[before]);
        ![Some(options[*at]), before].iter().flatten().any(|word| NOT_SHOWN.contains(word))
    };
    (0..options.len()).filter(is_shown).map(|at| options[at]).collect()
}

/// The name of a graph's file, or the words of a generator.
fn stem(graph: &str) -> String {
    Path::new(graph).file_stem().map_or(graph.into(), |stem| stem.to_string_lossy().into_owned())
}

/// A little less memory than this.
fn less_than(memory: u64) -> u64 {
    memory / 100 * 97
}

/// Measures one graph: all engines on all devices, and translated operators beside those by hand.
fn on_graph(graph: &str, options: &[&str]) -> (Vec<Row>, Vec<Value>) {
    let devices = option(options, "--devices").unwrap_or("gpu+cpu");
    let input = Input::open(graph).expect("a graph");
    let name = stem(graph);
    let measured = Cluster::local(1).launch(|net| {
        let partition = Partition::build(net, &input, &Plan::new("oec")).expect("a partition");
        let (mut rows, mut twins) = (Vec::new(), Vec::new());
        for device in devices.split('+') {
            let host = || GpuHost::new(discover::open(device).expect("a device"));
            let host = (device != "cpu").then(host);
            let mut substrate = Substrate::new(&partition, net, Optimize::ALL);
            let mut bench =
                Bench { graph: &name, device, substrate: &mut substrate, host: host.as_ref() };
            let found = bench.measure_all(options)?;
            found.iter().for_each(|row| println!("{}", row.line()));
            rows.extend(found);
            // Rows that were asked for stand alone.
            let wants_twins = option(options, "--runs").is_none();
            if let Some(host) = host.as_ref().filter(|_| wants_twins) {
                twins.extend(translated::measure_all(&name, host, &mut substrate, options)?);
            }
        }
        Ok::<_, parton_algorithms::Error>((rows, twins))
    });
    measured.expect("a run").swap_remove(0)
}
