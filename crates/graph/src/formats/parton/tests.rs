//! Parton's own files: written and read back, damaged in every way, and forged.

use std::fs;

use super::super::arrays::testing::*;
use super::layout::Header;
use super::*;
use crate::Direction;

fn plain(bytes: &[u8]) -> Result<Graph> {
    read(&Parton, "x.parton", bytes, &ReadOptions::default())
}

fn names(names: &[&[u8]]) -> Ids {
    Ids::Names(names.iter().copied().collect())
}

/// Small graphs with every kind of ids, in both directions.
fn all_samples() -> Vec<Graph> {
    let with_ids = |graph: Graph| {
        let vertices = graph.num_vertices();
        let sparse: Vec<u64> = (0..vertices as u64).map(|v| v * v * v + 5).collect();
        let spelled: Vec<String> = (0..vertices).map(|v| "é".repeat(v)).collect();
        let spelled = Ids::Names(spelled.iter().map(|name| name.as_bytes()).collect());
        let last = u64::MAX - vertices.saturating_sub(1) as u64;
        let far = Ids::Range { first: last, count: vertices };
        let ids = [graph.ids.clone(), far, Ids::Integers(sparse.into()), spelled];
        ids.map(|ids| Graph { ids, ..graph.clone() })
    };
    let with_direction = |graph: Graph| {
        let direction = Direction::Undirected;
        let adjacency = crate::with_csr!(&graph.adjacency, csr => csr.symmetrised().into());
        [Graph { direction, adjacency, ..graph.clone() }, graph]
    };
    samples().into_iter().flat_map(with_direction).flat_map(with_ids).collect()
}

/// A file whose every part is small and there.
fn small() -> Graph {
    let csr = Csr::from_edges(3, &[(0, 1, 7u32), (0, 2, 8), (2, 0, 9)]);
    Graph { ids: names(&[b"a", b"bc", b"d"]), ..Graph::dense(csr, "") }
}

#[test]
fn round_trips() {
    for graph in all_samples() {
        let bytes = written(&Parton, &graph, None).unwrap();
        assert_same(&plain(&bytes).unwrap(), &graph);
        let mapped = read_file(&Parton, "x.parton", &bytes, &ReadOptions::default()).unwrap();
        assert_same(&mapped, &graph);
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        assert_same(&plain(&packed).unwrap(), &graph);
    }
}

#[test]
fn opening_does_not_look_at_data_and_verifying_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.parton");
    let graph = several_pieces();
    let mut bytes = written(&Parton, &graph, Some(1)).unwrap();
    fs::write(&path, &bytes).unwrap();
    assert_same(&open(&path).unwrap(), &graph);
    verify(&path).unwrap();

    // The third block of targets; the first sections are tables and offsets, 8 × 300 001 bytes.
    let targets = open(&path).unwrap().adjacency.all_targets().to_vec();
    let at = bytes.len() - 4 * targets.len() + 2 * layout::BLOCK_BYTES;
    bytes[at + 123] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(open(&path).unwrap().num_edges(), graph.num_edges());
    let message = verify(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("at byte {at}: the block is damaged")), "{message}");
    assert_eq!(
        message,
        Parton
            .read(&Source::file(&path).unwrap(), &ReadOptions::default())
            .unwrap_err()
            .to_string()
    );
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = written(&Parton, &small(), None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parton");
    for cut in truncations(&bytes) {
        assert!(plain(cut).is_err(), "{} of {} bytes", cut.len(), bytes.len());
        fs::write(&path, cut).unwrap();
        assert!(open(&path).is_err(), "{} of {} bytes", cut.len(), bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(message(plain(&longer)).contains("but the file has"));
}

#[test]
fn every_flip_is_an_error_or_in_padding() {
    let sparse = Graph {
        ids: Ids::Integers(vec![3, 5, 1000].into()),
        direction: Direction::Undirected,
        ..small()
    };
    for graph in [small(), sparse] {
        let bytes = written(&Parton, &graph, None).unwrap();
        let source = Source::memory("x.parton", &bytes[..]).unwrap();
        let contents = Contents::read(&source.bytes().unwrap()).unwrap();
        let tables_end = 64 + 24 * contents.sections.len() + 4 * contents.checksums.len();
        let is_data = |at: usize| {
            let at_section = |s: &layout::Section| (s.at..s.at + s.bytes).contains(&(at as u64));
            at < tables_end || contents.sections.iter().any(at_section)
        };
        for (at, flipped) in flips(&bytes) {
            match plain(&flipped) {
                Ok(found) => {
                    assert!(!is_data(at), "byte {at}");
                    assert_same(&found, &graph);
                }
                Err(_) => assert!(is_data(at), "byte {at}"),
            }
        }
    }
}

/// A file whose header has been changed by someone who knows about its checksum.
fn forged(change: impl Fn(&mut Header)) -> Vec<u8> {
    let mut bytes = written(&Parton, &small(), None).unwrap();
    let mut header: Header = bytemuck::pod_read_unaligned(&bytes[..64]);
    change(&mut header);
    header.header_crc = header.crc();
    bytes[..64].copy_from_slice(bytemuck::bytes_of(&header));
    bytes
}

#[test]
fn what_is_unknown_was_made_by_a_newer_parton() {
    let changes: [fn(&mut Header); 6] = [
        |header| header.version = 2,
        |header| header.version = 0,
        |header| header.flags = 4,
        |header| header.weight_kind = 4,
        |header| header.id_kind = 3,
        |header| header.reserved[5] = 1,
    ];
    for change in changes {
        let message = message(plain(&forged(change)));
        assert!(message.contains("made by a newer Parton"), "{message}");
    }
}

#[test]
fn headers_that_lie_are_errors_and_cost_nothing() {
    for huge in [1 << 20, u64::from(u32::MAX), 1 << 32, 1 << 60, 1 << 61, 1 << 63, u64::MAX] {
        let changes: [&dyn Fn(&mut Header); 6] = [
            &|header| header.vertices = huge,
            &|header| header.edges = huge,
            &|header| header.id_detail = huge,
            &|header| header.file_bytes = huge,
            &|header| (header.vertices, header.edges) = (huge, huge),
            &|header| {
                (header.id_kind, header.id_detail) = (0, u64::MAX - 1);
                header.edges = huge;
            },
        ];
        for change in changes {
            assert!(plain(&forged(change)).is_err());
        }
    }
}

/// A file whose data have been changed by someone who knows about all checksums.
fn rewritten(graph: &Graph, change: impl Fn(&mut [u8], &[layout::Section])) -> Vec<u8> {
    let mut bytes = written(&Parton, graph, None).unwrap();
    let mut header: Header = bytemuck::pod_read_unaligned(&bytes[..64]);
    let (sections, _) = header.sections().unwrap();
    change(&mut bytes, &sections);
    let data = sections.iter().map(|s| &bytes[s.at as usize..(s.at + s.bytes) as usize]);
    let checksums: Vec<u32> = data.map(crc32fast::hash).collect();
    header.tables_crc = layout::tables_crc(&sections, &checksums);
    header.header_crc = header.crc();
    bytes[..64].copy_from_slice(bytemuck::bytes_of(&header));
    let at = 64 + 24 * sections.len();
    bytes[at..at + 4 * checksums.len()].copy_from_slice(bytemuck::cast_slice(&checksums));
    bytes
}

#[test]
fn numbers_that_make_no_graph_are_errors_despite_checksums() {
    let set = |section: usize, element: usize, value: u8| {
        rewritten(&small(), move |bytes: &mut [u8], sections: &[layout::Section]| {
            let section = sections[section];
            bytes[section.at as usize + element * section.element_bytes as usize] = value;
        })
    };
    assert_same(&plain(&set(0, 0, 0)).unwrap(), &small());
    let cases = [
        (set(0, 0, 1), "offset 0 is 1, expected 0"),
        (set(0, 1, 9), "the edges of vertex 1 start at edge 9, but end at edge 2"),
        (set(0, 3, 4), "offset 3 is 4, expected 3"),
        (set(1, 2, 3), "edge 2 leads to vertex 3, but there are 3 vertices"),
        (set(3, 0, 4), "the name of vertex 1 ends before it starts"),
        (set(3, 2, 5), "the last name ends at 5, expected 4"),
        (set(4, 0, b'c'), "the id of vertex 1 is not greater than the one before it"),
    ];
    for (bytes, expected) in cases {
        let message = message(plain(&bytes));
        assert!(message.contains(expected), "{message}");
    }
    let double = Csr::from_edges(1, &[(0, 0, 1.0f64)]);
    let infinite = rewritten(&Graph::dense(double, ""), |bytes, sections| {
        bytes[sections[2].at as usize..][..8].copy_from_slice(&f64::INFINITY.to_le_bytes());
    });
    assert!(message(plain(&infinite)).contains("the weight of edge 0 is inf"));
}

#[test]
fn weights_can_be_left_out() {
    let bytes = written(&Parton, &small(), None).unwrap();
    let without = ReadOptions { weights: false, ..ReadOptions::default() };
    let bare = read(&Parton, "x.parton", &bytes, &without).unwrap();
    assert_eq!(bare.adjacency, small().adjacency.unweighted());
    let double = ReadOptions { weight_kind: Some(WeightKind::F64), ..ReadOptions::default() };
    let double = read(&Parton, "x.parton", &bytes, &double).unwrap();
    assert_eq!(double.adjacency.weight_kind(), WeightKind::F64);
}

#[test]
fn the_file_says_whether_edges_are_sorted() {
    let sorted = |edges: &[(u32, u32, ())]| {
        let bytes = written(&Parton, &Graph::dense(Csr::from_edges(3, edges), ""), None).unwrap();
        plain(&bytes).unwrap().read_as
    };
    assert_eq!(sorted(&[(0, 1, ()), (0, 2, ())]), "Parton file, version 1, sorted edges");
    assert_eq!(sorted(&[(0, 2, ()), (0, 1, ())]), "Parton file, version 1, unsorted edges");
}

#[test]
fn writing_refuses_what_cannot_be_read() {
    let refused = |graph: Graph, version| {
        let error = written(&Parton, &graph, version).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error}");
    };
    refused(small(), Some(2));
    refused(Graph { ids: Ids::dense(2), ..small() }, None);
    refused(Graph { ids: Ids::Integers(vec![1, 3, 3].into()), ..small() }, None);
    refused(Graph { ids: names(&[b"b", b"a", b"c"]), ..small() }, None);
    refused(Graph::dense(Csr::from_edges(1, &[(0, 0, f64::NAN)]), ""), None);
    assert_eq!(Parton.numbering(3), None, "ids are kept");
}
