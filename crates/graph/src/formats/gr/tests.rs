//! Binary Galois graphs: made by hand, written and read back, and damaged in every way.

use super::super::arrays::testing::*;
use super::*;
use crate::formats::Vertices;
use crate::ingest::VertexRange;
use crate::{Adjacency, Direction};

/// A file made by hand: four numbers, row ends, and what follows.
fn file(header: [u64; 4], ends: &[u64], rest: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = header.iter().chain(ends).flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend(rest);
    bytes
}

fn words<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn longs<const N: usize>(longs: [u64; N]) -> Vec<u8> {
    longs.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Three vertices, `0 → 1`, `0 → 2`, `2 → 0`, weights 7, 8, 9.
fn triangle() -> Csr<u32> {
    Csr::from_edges(3, &[(0, 1, 7), (0, 2, 8), (2, 0, 9)])
}

const ENDS: [u64; 3] = [2, 2, 3];

fn plain(bytes: &[u8]) -> Result<Graph> {
    read(&Gr, "x.gr", bytes, &ReadOptions::default())
}

fn with_kind(kind: WeightKind) -> ReadOptions<'static> {
    ReadOptions { weight_kind: Some(kind), ..ReadOptions::default() }
}

#[test]
fn hand_made_version_1() {
    let bytes = file([1, 4, 3, 3], &ENDS, &words([1, 2, 0, 0, 7, 8, 9]));
    for graph in [plain(&bytes), read_file(&Gr, "x.gr", &bytes, &ReadOptions::default())] {
        assert_same(&graph.unwrap(), &Graph::dense(triangle(), ""));
    }
    // Padding with nothing behind it may be missing, padding before data may not.
    let bare = Graph::dense(Adjacency::from(triangle()).unweighted(), "");
    for padded in [&words([1, 2, 0, 0])[..], &words([1, 2, 0])] {
        assert_same(&plain(&file([1, 0, 3, 3], &ENDS, padded)).unwrap(), &bare);
    }
    assert!(plain(&file([1, 4, 3, 3], &ENDS, &words([1, 2, 0, 7, 8, 9]))).is_err());
}

#[test]
fn hand_made_version_2_with_both_paddings() {
    let mut unpadded = longs([1, 2, 0]);
    let mut padded = longs([1, 2, 0, 0]);
    let bare = Graph::dense(Adjacency::from(triangle()).unweighted(), "");
    for bytes in [&unpadded, &padded] {
        assert_same(&plain(&file([2, 0, 3, 3], &ENDS, bytes)).unwrap(), &bare);
    }
    unpadded.extend(words([7, 8, 9]));
    padded.extend(words([7, 8, 9]));
    for bytes in [&unpadded, &padded] {
        let bytes = file([2, 4, 3, 3], &ENDS, bytes);
        let mapped = read_file(&Gr, "x.gr", &bytes, &ReadOptions::default()).unwrap();
        assert_same(&mapped, &Graph::dense(triangle(), ""));
    }
    // This is what is written.
    let written = written(&Gr, &Graph::dense(triangle(), ""), Some(2)).unwrap();
    assert_eq!(written, file([2, 4, 3, 3], &ENDS, &unpadded));
}

#[test]
fn round_trips() {
    for graph in samples() {
        for version in [None, Some(1), Some(2)] {
            let bytes = written(&Gr, &graph, version).unwrap();
            let options = with_kind(graph.adjacency.weight_kind());
            assert_same(&read(&Gr, "x.gr", &bytes, &options).unwrap(), &graph);
            assert_same(&read_file(&Gr, "x.sgr", &bytes, &options).unwrap(), &graph);
            let without = ReadOptions { weights: false, ..ReadOptions::default() };
            let bare = read(&Gr, "x.gr", &bytes, &without).unwrap();
            assert_eq!(bare.adjacency, graph.adjacency.clone().unweighted());
        }
    }
}

#[test]
fn large_arrays_are_read_in_pieces() {
    let graph = several_pieces();
    for version in [1, 2] {
        let mut bytes = written(&Gr, &graph, Some(version)).unwrap();
        let read = |bytes: &[u8]| read_file(&Gr, "x.gr", bytes, &ReadOptions::default());
        assert_same(&read(&bytes).unwrap(), &graph);
        // The last destination, in the last piece.
        let at = 32 + 8 * 300_000 + version as usize * 4 * 700_000;
        bytes[at..at + 4].copy_from_slice(&300_000u32.to_le_bytes());
        let message = message(read(&bytes));
        assert!(message.contains(&format!("at byte {at}")), "{message}");
        assert!(message.contains("edge 700000 leads to vertex 300000"), "{message}");
    }
}

#[test]
fn data_are_taken_for_what_the_user_says() {
    let floats = [1.5f32, -2.0, 3.25];
    let mut targets = words([1, 2, 0, 0]);
    targets.extend(floats.iter().flat_map(|f| f.to_le_bytes()));
    let bytes = file([1, 4, 3, 3], &ENDS, &targets);
    let single = read(&Gr, "x.gr", &bytes, &with_kind(WeightKind::F32)).unwrap();
    assert_eq!(single.adjacency, triangle().reweighted(|_, _, w| floats[w as usize - 7]).into());
    let bits = read(&Gr, "x.gr", &bytes, &with_kind(WeightKind::F64)).unwrap();
    let expected = triangle().reweighted(|_, _, w| f64::from(floats[w as usize - 7].to_bits()));
    assert_eq!(bits.adjacency, expected.into(), "4 bytes are integers unless f32 is asked for");

    let wide = |weights| {
        let mut rest = words([1, 2, 0, 0]);
        rest.extend(longs(weights));
        file([1, 8, 3, 3], &ENDS, &rest)
    };
    let whole = read(&Gr, "x.gr", &wide([7, 8, 9]), &with_kind(WeightKind::U32)).unwrap();
    assert_same(&whole, &Graph::dense(triangle(), ""));
    let message = message(read(&Gr, "x.gr", &wide([7, 1 << 32, 9]), &with_kind(WeightKind::U32)));
    assert_eq!(message, "x.gr at byte 80: the weight of edge 1 is 4294967296, more than 32 bits");
    let halves = [0.5f64, 1.5, 2.5].map(f64::to_bits);
    let double = plain(&wide(halves)).unwrap();
    assert_eq!(double.adjacency, triangle().reweighted(|_, _, w| f64::from(w) - 6.5).into());
    let none = read(&Gr, "x.gr", &wide(halves), &with_kind(WeightKind::None)).unwrap();
    assert_eq!(none.adjacency.weight_kind(), WeightKind::None);
}

#[test]
fn errors_say_what_and_where() {
    let targets = words([1, 2, 0, 0]);
    let cases = [
        (file([3, 0, 3, 3], &ENDS, &targets), "at byte 0: version 3, expected 1 or 2"),
        (
            file([1, 0, 3, 5], &ENDS, &targets),
            "at byte 0: 3 vertices and 5 edges with 0 bytes of data each make 80 bytes, but the file has 72",
        ),
        (
            file([1, 0, 3, 3], &[2, 1, 3], &targets),
            "at byte 40: the edges of vertex 1 start at edge 2, but end at edge 1",
        ),
        (file([1, 0, 3, 3], &[2, 2, 2], &targets), "at byte 48: offset 3 is 2, expected 3"),
        (
            file([1, 0, 3, 3], &ENDS, &words([1, 3, 0, 0])),
            "at byte 60: edge 1 leads to vertex 3, but there are 3 vertices",
        ),
        (
            file([2, 0, 3, 3], &ENDS, &longs([1, 2, 1 << 32])),
            "at byte 72: edge 2 leads to vertex 4294967296, but there are 3 vertices",
        ),
        (
            file([1, 1, 3, 3], &ENDS, &words([1, 2, 0, 0, 0])[..19]),
            "at byte 8: 1 bytes of data per edge, expected 0, 4 or 8",
        ),
        (
            file(
                [1, 8, 3, 3],
                &ENDS,
                &[targets.clone(), longs([0, f64::NAN.to_bits(), 0])].concat(),
            ),
            "at byte 80: the weight of edge 1 is NaN",
        ),
        (file([1, 0, 0, 2], &[], &words([1, 2])), "at byte 24: offset 0 is 0, expected 2"),
    ];
    for (bytes, expected) in cases {
        let message = message(plain(&bytes));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn headers_that_lie_are_errors_and_cost_nothing() {
    let huge = [1 << 32, 1 << 60, 1 << 61, (1 << 61) - 4, 1 << 63, u64::MAX];
    for version in [1, 2] {
        for data in [0, 4, 8, u64::MAX] {
            for count in huge {
                for [vertices, edges] in [[count, 3], [3, count], [count, count]] {
                    let bytes = file([version, data, vertices, edges], &ENDS, &[0; 64]);
                    assert!(plain(&bytes).is_err());
                }
            }
        }
    }
}

#[test]
fn every_truncation_and_flip_is_a_graph_or_an_error() {
    for version in [1, 2] {
        let graph = Graph::dense(triangle().reweighted(|_, _, w| f64::from(w)), "");
        let bytes = written(&Gr, &graph, Some(version)).unwrap();
        for cut in truncations(&bytes) {
            assert!(plain(cut).is_err(), "{} of {} bytes", cut.len(), bytes.len());
        }
        for (_, flipped) in flips(&bytes) {
            if let Ok(graph) = plain(&flipped) {
                crate::with_csr!(&graph.adjacency, csr => csr.check().unwrap());
            }
        }
    }
}

#[test]
fn only_binary_graphs_are_recognised() {
    let recognises =
        |name: &str, bytes: &[u8]| Gr.recognises(&Source::memory(name, bytes).unwrap());
    let good = file([1, 0, 3, 3], &ENDS, &words([1, 2, 0, 0]));
    assert!(recognises("any name", &good));
    assert!(recognises("x.gr", &file([1, 16, 1, 0], &[0], &[])), "odd data are an error to read");
    assert!(!recognises("x.gr", &good[..good.len() - 8]));
    assert!(!recognises("x.gr", b"c 9th DIMACS\np sp 3 3\na 1 2 7\na 1 3 8\na 3 1 9\n"));
    assert!(!recognises("x.gr", b""));
    // The length of a packed file is unknown before it is read; the rows must do.
    let large = written(&Gr, &several_pieces(), None).unwrap();
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    assert!(recognises("x.gr.zst", &pack(&large)));
    let mut falling = large.clone();
    falling[39] = 1;
    assert!(!recognises("x.gr.zst", &pack(&falling)));
    assert_same(&plain(&pack(&large)).unwrap(), &several_pieces());
}

#[test]
fn options_that_concern_the_whole_graph() {
    let bytes = written(&Gr, &Graph::dense(triangle(), ""), None).unwrap();
    let undirected =
        ReadOptions { direction: Some(Direction::Undirected), ..ReadOptions::default() };
    let graph = read(&Gr, "x.gr", &bytes, &undirected).unwrap();
    // Two of the edges are the same but for their weights.
    assert_eq!(graph.direction, Direction::Undirected);
    let expected = Csr::from_edges(3, &[(0, 1, 7u32), (0, 2, 8), (1, 0, 7), (2, 0, 8)]);
    assert_eq!(graph.adjacency, expected.into());
    let vertices = |first, count| {
        let vertices = Some(Vertices::Range(VertexRange { first, count }));
        read(&Gr, "x.gr", &bytes, &ReadOptions { vertices, ..ReadOptions::default() })
    };
    assert_same(&vertices(0, 3).unwrap(), &Graph::dense(triangle(), ""));
    assert_eq!(vertices(0, 4).unwrap().num_vertices(), 4);
    assert!(message(vertices(0, 2)).contains("the vertices cannot be 0 to 1"));
}

#[test]
fn writing_refuses_what_cannot_be_read() {
    let refused = |graph: Graph, version| {
        let error = written(&Gr, &graph, version).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error}");
    };
    refused(Graph::dense(triangle(), ""), Some(3));
    refused(Graph::dense(triangle().reweighted(|_, _, _| f32::INFINITY), ""), None);
    assert_eq!(Gr.numbering(5), Some(Ids::dense(5)));
}
