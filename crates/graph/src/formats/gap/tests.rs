//! GAP graphs: made by hand, and damaged in every way.

use super::super::arrays::testing::*;
use super::*;
use crate::{Csr, Graph};

/// A file made by hand: `rows` are the parts after the header, offsets and neighbours in turn.
fn file(directed: u8, edges: i64, offsets: &[i64], neighbours: &[i32]) -> Vec<u8> {
    let mut bytes = vec![directed];
    bytes.extend(edges.to_le_bytes());
    bytes.extend((offsets.len() as i64 - 1).to_le_bytes());
    let rows: Vec<u8> = offsets
        .iter()
        .flat_map(|o| o.to_le_bytes())
        .chain(neighbours.iter().flat_map(|n| n.to_le_bytes()))
        .collect();
    for _ in 0..=directed.min(1) {
        bytes.extend(&rows);
    }
    bytes
}

fn plain(name: &str, bytes: &[u8]) -> Result<Graph> {
    read(&Gap, name, bytes, &ReadOptions::default())
}

/// `0 — 1`, `0 — 2`, stored both ways.
const OFFSETS: [i64; 4] = [0, 2, 3, 4];
const STAR: [(u32, u32, ()); 4] = [(0, 1, ()), (0, 2, ()), (1, 0, ()), (2, 0, ())];

fn star(direction: Direction) -> Graph {
    Graph { direction, ..Graph::dense(Csr::from_edges(3, &STAR), "") }
}

#[test]
fn hand_made_unweighted() {
    let undirected = file(0, 4, &OFFSETS, &[1, 2, 0, 0]);
    assert_same(&plain("x.sg", &undirected).unwrap(), &star(Direction::Undirected));
    let counted_once = file(0, 2, &OFFSETS, &[1, 2, 0, 0]);
    assert_same(&plain("x.sg", &counted_once).unwrap(), &star(Direction::Undirected));
    let directed = file(1, 4, &OFFSETS, &[1, 2, 0, 0]);
    let found = read_file(&Gap, "x.sg", &directed, &ReadOptions::default()).unwrap();
    assert_same(&found, &star(Direction::Directed));
    for empty in [file(0, 0, &[0], &[]), file(1, 0, &[0], &[])] {
        assert_eq!(plain("x.sg", &empty).unwrap().num_vertices(), 0);
    }
}

#[test]
fn hand_made_weighted() {
    let neighbours = [1, 5, 2, i32::MAX, 0, 5, 0, 0];
    let bytes = file(0, 4, &OFFSETS, &neighbours);
    let graph = read_file(&Gap, "x.wsg", &bytes, &ReadOptions::default()).unwrap();
    let weights = [5, i32::MAX as u32, 5, 0];
    let weighted: Vec<_> = STAR.iter().zip(weights).map(|(e, w)| (e.0, e.1, w)).collect();
    assert_eq!(graph.adjacency, Csr::from_edges(3, &weighted).into());
    assert_eq!(graph.direction, Direction::Undirected);

    // One negative weight makes all of them fractions, which alone have a sign.
    let bytes = file(0, 4, &OFFSETS, &[1, 5, 2, -7, 0, 5, 0, 0]);
    let signed: Vec<_> =
        STAR.iter().zip([5.0, -7.0, 5.0, 0.0]).map(|(e, w)| (e.0, e.1, w)).collect();
    assert_eq!(plain("x.wsg", &bytes).unwrap().adjacency, Csr::from_edges(3, &signed).into());
    let whole = ReadOptions { weight_kind: Some(WeightKind::U32), ..ReadOptions::default() };
    assert!(
        message(read(&Gap, "x.wsg", &bytes, &whole))
            .contains("weight -7 cannot be a whole 32-bit number")
    );
    let without = ReadOptions { weights: false, ..ReadOptions::default() };
    let bare = read(&Gap, "x.wsg", &bytes, &without).unwrap();
    assert_same(&bare, &star(Direction::Undirected));
}

#[test]
fn the_length_says_whether_there_are_weights_and_the_name_where_it_cannot() {
    let bytes = file(0, 4, &OFFSETS, &[1, 5, 2, 5, 0, 5, 0, 5]);
    assert_eq!(plain("x.sg", &bytes).unwrap().adjacency.weight_kind(), WeightKind::U32);
    let empty = file(0, 0, &[0, 0], &[]);
    assert_eq!(plain("x.wsg", &empty).unwrap().adjacency.weight_kind(), WeightKind::U32);
    assert_eq!(plain("x.sg", &empty).unwrap().adjacency.weight_kind(), WeightKind::None);
}

#[test]
fn errors_say_what_and_where() {
    let good = [1, 2, 0, 0];
    let cases = [
        (
            file(2, 4, &OFFSETS, &good),
            "at byte 0: expected 0 (undirected) or 1 (directed), found 2",
        ),
        (file(0, -4, &OFFSETS, &good), "at byte 1: -4, expected a count"),
        (file(0, 5, &OFFSETS, &good), "at byte 1: 5 edges, but 4 neighbours are stored"),
        (file(1, 2, &OFFSETS, &good), "at byte 1: 2 edges, but 4 neighbours are stored"),
        (file(0, 4, &[1, 2, 3, 4], &good), "at byte 17: the first offset is 1, expected 0"),
        (
            file(0, 4, &[0, 3, 2, 4], &good),
            "at byte 33: the edges of vertex 1 start at edge 3, but end at edge 2",
        ),
        (file(0, 4, &[0, -1, 2, 4], &good), "at byte 25: the edges of vertex 0"),
        (
            file(0, 4, &OFFSETS, &[1, 3, 0, 0]),
            "at byte 53: edge 1 leads to vertex 3, but there are 3 vertices",
        ),
        (file(0, 4, &OFFSETS, &[1, 2, -1, 0]), "at byte 57: edge 2 leads to vertex 4294967295"),
        (
            file(0, 4, &OFFSETS, &[1, 2, 0]),
            "at byte 0: 3 vertices and 4 neighbours make 65 bytes, or 81 with weights, but the file has 61",
        ),
    ];
    for (bytes, expected) in cases {
        let message = message(plain("x.sg", &bytes));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn headers_that_lie_are_errors_and_cost_nothing() {
    for directed in [0, 1] {
        for huge in [1i64 << 31, 1 << 60, 1 << 61, i64::MAX] {
            let mut bytes = file(directed, 4, &OFFSETS, &[1, 2, 0, 0]);
            bytes[9..17].copy_from_slice(&huge.to_le_bytes());
            assert!(plain("x.sg", &bytes).is_err());
            bytes[1..9].copy_from_slice(&huge.to_le_bytes());
            assert!(plain("x.sg", &bytes).is_err());
            assert!(plain("x.sg", &file(directed, huge, &[0, 2, 3, huge], &[1, 2])).is_err());
        }
    }
}

#[test]
fn every_truncation_and_flip_is_a_graph_or_an_error() {
    for (name, neighbours) in [("x.sg", &[1, 2, 0, 0][..]), ("x.wsg", &[1, 5, 2, 6, 0, 5, 0, 6])] {
        for directed in [0, 1] {
            let bytes = file(directed, 4, &OFFSETS, neighbours);
            for cut in truncations(&bytes) {
                assert!(plain(name, cut).is_err(), "{} of {} bytes", cut.len(), bytes.len());
            }
            for (_, flipped) in flips(&bytes) {
                if let Ok(graph) = plain(name, &flipped) {
                    crate::with_csr!(&graph.adjacency, csr => csr.check().unwrap());
                }
            }
        }
    }
}

#[test]
fn recognised_by_name_and_length() {
    let recognises =
        |name: &str, bytes: &[u8]| Gap.recognises(&Source::memory(name, bytes).unwrap());
    let bytes = file(0, 4, &OFFSETS, &[1, 2, 0, 0]);
    assert!(recognises("x.sg", &bytes));
    assert!(recognises("X.WSG.gz", &bytes));
    assert!(recognises("x.sg", &file(0, 2, &OFFSETS, &[1, 2, 0, 0])));
    assert!(!recognises("x.bin", &bytes));
    assert!(!recognises("x.sg", &bytes[..30]));
    assert!(!recognises("x.sg", b"0 1\n1 2\n2 3\n3 4\n4 5\n"));
    assert!(!recognises("x.sg", b""));
}
