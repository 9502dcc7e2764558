//! Loading and generating: text, `.gr` and `.parton` of one R-MAT graph.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use graph_builder::prelude::*;
use parton_graph::formats::{self, ReadOptions, WriteOptions};
use parton_graph::generate::Spec;
use parton_graph::progress::Silent;
use parton_graph::source::Source;
use parton_graph::{Graph as PartonGraph, with_csr};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::measure::{Contestant, Reading, in_new_process};

/// Everything measured, rivals next to each other.
pub const CONTESTANTS: &[Contestant] = &[
    Contestant { name: "text: Parton", input: "el", work: |path| load(path).adjacency.bytes() },
    Contestant { name: "text: Parton, in-edges too", input: "el", work: both_directions },
    Contestant { name: "text: graph_builder, in-edges too", input: "el", work: graph_builder },
    Contestant { name: ".gr: read and checksum, 1 thread", input: "gr", work: checksum },
    Contestant {
        name: ".gr: read and checksum, all threads",
        input: "gr",
        work: checksum_all_threads,
    },
    Contestant { name: ".gr: Parton", input: "gr", work: |path| load(path).adjacency.bytes() },
    Contestant { name: ".parton: open", input: "parton", work: open },
    Contestant {
        name: ".parton: open and verify",
        input: "parton",
        work: |path| load(path).adjacency.bytes(),
    },
    Contestant { name: "rmat: generate and build", input: "spec", work: generate },
];

fn load(path: &str) -> PartonGraph {
    let source = Source::find(path).expect("the input");
    formats::read(&source, None, &ReadOptions::default()).expect("a graph")
}

fn both_directions(path: &str) -> u64 {
    let graph = load(path);
    graph.adjacency.bytes()
        + with_csr!(&graph.adjacency, csr => parton_graph::Adjacency::from(csr.transposed()).bytes())
}

fn graph_builder(path: &str) -> u64 {
    let graph: DirectedCsrGraph<u32> = GraphBuilder::new()
        .csr_layout(CsrLayout::Unsorted)
        .file_format(EdgeListInput::default())
        .path(path)
        .build()
        .expect("a graph");
    2 * (8 * u64::from(graph.node_count()) + 4 * u64::from(graph.edge_count()))
}

const BUFFER_BYTES: usize = 4 << 20;

fn checksum(path: &str) -> u64 {
    let mut file = File::open(path).expect("the file");
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut crc = crc32fast::Hasher::new();
    loop {
        match file.read(&mut buffer).expect("bytes") {
            0 => break,
            read => crc.update(&buffer[..read]),
        }
    }
    std::hint::black_box(crc.finalize());
    0
}

fn checksum_all_threads(path: &str) -> u64 {
    use std::os::unix::fs::FileExt;
    let file = File::open(path).expect("the file");
    let len = file.metadata().expect("a length").len();
    let blocks = len.div_ceil(BUFFER_BYTES as u64);
    let sum = (0..blocks)
        .into_par_iter()
        .map_init(
            || vec![0; BUFFER_BYTES],
            |buffer, block| {
                let start = block * BUFFER_BYTES as u64;
                let bytes = &mut buffer[..(len - start).min(BUFFER_BYTES as u64) as usize];
                file.read_exact_at(bytes, start).expect("bytes");
                u64::from(crc32fast::hash(bytes))
            },
        )
        .sum::<u64>();
    std::hint::black_box(sum);
    0
}

fn open(path: &str) -> u64 {
    formats::parton::open(Path::new(path)).expect("a graph").adjacency.bytes()
}

fn generate(spec: &str) -> u64 {
    Spec::parse(spec).expect("a spec").generate(&Silent).expect("a graph").adjacency.bytes()
}

/// Prepares the inputs, then lets the contestants take turns.
pub fn run(options: &[&str]) {
    let option = |name: &str| crate::option(options, name);
    let scale = option("--scale").unwrap_or("22");
    let turns: usize = option("--turns").unwrap_or("3").parse().expect("a number of turns");
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = option("--folder").map_or(temporary.path(), Path::new);
    let spec = format!("rmat:{scale}");
    let input = |kind: &str| match kind {
        "spec" => spec.clone(),
        ending => folder.join(format!("rmat{scale}.{ending}")).to_string_lossy().into_owned(),
    };
    let missing: Vec<String> = ["el", "gr", "parton"]
        .map(input)
        .into_iter()
        .filter(|path| !Path::new(path).exists())
        .collect();
    if !missing.is_empty() {
        let graph = Spec::parse(&spec).expect("a spec").generate(&Silent).expect("a graph");
        for path in missing {
            formats::write(&graph, Path::new(&path), None, &WriteOptions::default())
                .expect("a file");
        }
    }
    let edges = Spec::parse(&spec).expect("a spec").generator().num_edges();

    let mut readings: Vec<Vec<Reading>> = vec![Vec::new(); CONTESTANTS.len()];
    for turn in 0..turns {
        eprintln!("turn {} of {turns}", turn + 1);
        for (contestant, readings) in CONTESTANTS.iter().zip(&mut readings) {
            readings.push(in_new_process(contestant, &input(contestant.input)));
        }
    }
    let rows = CONTESTANTS.iter().zip(&readings).map(|(contestant, readings)| {
        let input_bytes = std::fs::metadata(input(contestant.input)).map_or(0, |m| m.len());
        json!({
            "name": contestant.name,
            "edges": edges,
            "threads": rayon::current_num_threads(),
            "seconds": readings.iter().map(|reading| reading.seconds).collect::<Vec<_>>(),
            "input_bytes": input_bytes,
            "peak_bytes": readings.iter().map(|reading| reading.peak_bytes).max(),
            "result_bytes": readings[0].result_bytes,
        })
    });
    let rows: Vec<Value> = rows.collect();
    rows.iter().for_each(|row| println!("{row}"));
    crate::save(options, &rows);
}
