//! Graphs and ways to harm files that the tests of all array formats share.

use crate::formats::{Format, ReadOptions, WriteOptions};
use crate::save::Output;
use crate::source::Source;
use crate::{Adjacency, Csr, Graph, Result};

/// Small graphs of every shape that has ever broken a reader, with every kind of weight.
pub(in crate::formats) fn samples() -> Vec<Graph> {
    let shapes: [(usize, &[(u32, u32)]); 7] = [
        (0, &[]),
        (1, &[]),
        (1, &[(0, 0)]),
        (5, &[(1, 3)]),
        (5, &[(4, 0), (4, 0), (4, 4), (0, 4)]),
        (3, &[(2, 1), (2, 0), (0, 2), (0, 2), (1, 1)]),
        (4, &[(0, 1), (1, 2), (2, 3)]),
    ];
    let weighed = |(vertices, edges): (usize, &[(u32, u32)])| {
        let csr =
            Csr::from_edges(vertices, &edges.iter().map(|e| (e.0, e.1, ())).collect::<Vec<_>>());
        let whole = csr.clone().reweighted(|s, d, ()| u32::MAX - s.0 * 10 - d.0);
        let single = csr.clone().reweighted(|s, d, ()| s.0 as f32 - d.0 as f32 / 3.0);
        let double =
            csr.clone().reweighted(|s, d, ()| 1e300 * f64::from(s.0) - 0.1 * f64::from(d.0));
        let kinds: [Adjacency; 4] = [csr.into(), whole.into(), single.into(), double.into()];
        kinds.map(|adjacency| Graph::dense(adjacency, ""))
    };
    shapes.into_iter().flat_map(weighed).collect()
}

/// A graph whose arrays span several pieces and blocks, the last of them incomplete.
pub(in crate::formats) fn several_pieces() -> Graph {
    let vertices = 300_000;
    let edges: Vec<_> = (0..700_001).map(|e: u32| (e % 299_993, e * 7 % vertices, ())).collect();
    Graph::dense(Csr::from_edges(vertices as usize, &edges), "")
}

/// The file that a format makes of a graph.
pub(in crate::formats) fn written(
    format: &dyn Format,
    graph: &Graph,
    version: Option<u32>,
) -> Result<Vec<u8>> {
    written_as(format, graph, &WriteOptions { version, ..WriteOptions::default() })
}

/// The file that a format makes of a graph with these options.
pub(in crate::formats) fn written_as(
    format: &dyn Format,
    graph: &Graph,
    options: &WriteOptions<'_>,
) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("graph");
    let mut out = Output::create(&path)?;
    format.writer().expect("a format that is written").write(graph, &mut out, options)?;
    out.commit()?;
    Ok(std::fs::read(&path).expect("the file just written"))
}

/// The graph that a format sees in these bytes.
pub(in crate::formats) fn read(
    format: &dyn Format,
    name: &str,
    bytes: &[u8],
    options: &ReadOptions<'_>,
) -> Result<Graph> {
    crate::formats::read(&Source::memory(name, bytes)?, Some(format), options)
}

/// The graph that a format sees in a file with these bytes, which it may map.
pub(in crate::formats) fn read_file(
    format: &dyn Format,
    name: &str,
    bytes: &[u8],
    options: &ReadOptions<'_>,
) -> Result<Graph> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    let source = Source::file(&path)?;
    assert!(format.recognises(&source), "{name}: {bytes:?}");
    crate::formats::read(&source, Some(format), options)
}

/// The message of what went wrong.
pub(in crate::formats) fn message(result: Result<Graph>) -> String {
    match result {
        Ok(graph) => panic!("expected an error, found {graph:?}"),
        Err(error) => error.to_string(),
    }
}

/// Asserts that two graphs are the same, however they came about.
pub(in crate::formats) fn assert_same(found: &Graph, expected: &Graph) {
    assert_eq!(found.adjacency, expected.adjacency);
    assert_eq!(found.ids, expected.ids);
    assert_eq!(found.direction, expected.direction);
}

/// Every way to cut some bytes short.
pub(in crate::formats) fn truncations(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..bytes.len()).map(|len| &bytes[..len])
}

/// Every way to flip one bit of some bytes, each with the position of the byte.
pub(in crate::formats) fn flips(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..8 * bytes.len()).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (bit / 8, flipped)
    })
}
