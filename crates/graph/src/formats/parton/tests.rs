//! Parton's own files: written and read back, damaged in every way, and forged; with in-edges and
//! without.

mod blocks;

use std::fs;

use super::super::arrays::testing::*;
use super::*;
use crate::row_blocks::tests::blocks_of;
use crate::rows::Rows;
use crate::{Adjacency, Direction};

fn plain(bytes: &[u8]) -> Result<Graph> {
    read(&Parton, "x.parton", bytes, &ReadOptions::default())
}

/// The graph, if every byte of the file is in order.
fn verified(bytes: &[u8]) -> Result<Graph> {
    verify_source(&Source::memory("x.parton", bytes)?)?;
    plain(bytes)
}

/// The file without in-edges.
fn bare(graph: &Graph) -> Vec<u8> {
    let options = WriteOptions { in_edges: false, ..WriteOptions::default() };
    written_as(&Parton, graph, &options).unwrap()
}

/// The file with row blocks.
fn blocked(graph: &Graph) -> Vec<u8> {
    let row_blocks = Some(&blocks_of(&graph.adjacency, 2));
    written_as(&Parton, graph, &WriteOptions { row_blocks, ..WriteOptions::default() }).unwrap()
}

/// The file, open for reading rows.
fn row_file(bytes: &[u8]) -> RowFile {
    let source = Source::memory("x.parton", bytes).unwrap();
    match Parton.open(source, &ReadOptions::default()).unwrap() {
        Opened::Rows(file) => file,
        Opened::Edges(_) => panic!("rows expected"),
    }
}

/// Where a section lies.
fn section(bytes: &[u8], kind: SectionKind) -> layout::Section {
    let source = Source::memory("x.parton", bytes).unwrap();
    Contents::read(&source.bytes().unwrap()).unwrap().section(kind).0
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
    let both_ways = |graph| [written(&Parton, graph, None).unwrap(), bare(graph), blocked(graph)];
    let samples = all_samples();
    for (graph, bytes) in samples.iter().flat_map(|g| both_ways(g).map(|bytes| (g, bytes))) {
        assert_same(&verified(&bytes).unwrap(), graph);
        let mapped = read_file(&Parton, "x.parton", &bytes, &ReadOptions::default()).unwrap();
        assert_same(&mapped, graph);
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        assert_same(&plain(&packed).unwrap(), graph);
    }
}

#[test]
fn in_edges_are_kept_of_directed_graphs() {
    for graph in all_samples() {
        let turned: Adjacency = crate::with_csr!(&graph.adjacency, csr => csr.transposed().into());
        let all = 0..graph.num_vertices() as u64;
        let directed = graph.direction == Direction::Directed;
        for (bytes, kept) in
            [(written(&Parton, &graph, None).unwrap(), directed), (bare(&graph), false)]
        {
            let in_rows = row_file(&bytes).in_rows(all.clone()).unwrap();
            let expected = Rows { first: 0, adjacency: turned.clone() };
            assert_eq!(in_rows, kept.then_some(expected));
            assert_eq!(has_in_edges(&Source::memory("x", &bytes[..]).unwrap()), kept);
        }
    }
    for other in [&b""[..], b"1 2", &layout::MAGIC, &[4; 64]] {
        assert!(!has_in_edges(&Source::memory("x", other).unwrap()));
    }
}

#[test]
fn rows_of_any_range_are_those_of_the_graph() {
    let graph = several_pieces();
    let Adjacency::Unweighted(out_edges) = &graph.adjacency else { panic!("no weights") };
    let in_edges = out_edges.transposed();
    let file = row_file(&written(&Parton, &graph, None).unwrap());
    for range in [0..300_000, 0..0, 300_000..300_000, 0..7, 1..299_999, 299_992..299_999] {
        let same = |rows: Rows, expected: &Csr<()>| {
            let Adjacency::Unweighted(found) = &rows.adjacency else { panic!("no weights") };
            assert_eq!(rows.vertices(), range);
            for (row, v) in range.clone().enumerate() {
                let expected = expected.targets(LocalId(v as u32));
                assert_eq!(found.targets(LocalId(row as u32)), expected, "{range:?}, {v}");
            }
        };
        same(file.rows(range.clone()).unwrap(), out_edges);
        same(file.in_rows(range.clone()).unwrap().unwrap(), &in_edges);
    }
}

#[test]
fn rows_report_the_first_culprit() {
    let sound = written(&Parton, &several_pieces(), None).unwrap();
    let all = 0..300_000;
    let with = |kind, changes: &[(u64, u64)]| {
        let section = section(&sound, kind);
        let size = section.element_bytes as usize;
        let bytes = rewritten(&several_pieces(), |bytes, _| {
            for &(element, value) in changes {
                let at = section.at as usize + element as usize * size;
                bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
        });
        (row_file(&bytes), section)
    };
    let refused = |message: String, at: u64, expected: &str| {
        assert!(message.contains(&format!("at byte {at}: {expected}")), "{message}");
    };
    // Both far apart, so that two threads find them; and too large before too small.
    for (kind, way) in [(SectionKind::Targets, ""), (SectionKind::Sources, "in-edges: ")] {
        let (file, section) = with(kind, &[(690_000, 300_000), (1000, 300_000)]);
        let result = match way {
            "" => file.rows(all.clone()).map(Some),
            _ => file.in_rows(all.clone()),
        };
        let message = result.unwrap_err().to_string();
        refused(message, section.at + 4000, &format!("{way}edge 1000 leads to vertex 300000, but"));
    }
    let (file, section) = with(SectionKind::Offsets, &[(290_000, 0), (1000, 1 << 40)]);
    let message = file.rows(all.clone()).unwrap_err().to_string();
    refused(message, section.at + 8000, "the edges of vertex 999 end at edge ");
    let (file, section) = with(SectionKind::Offsets, &[(300_000, 5)]);
    let message = file.rows(all.clone()).unwrap_err().to_string();
    refused(message, section.at + 8 * 300_000, "offset 300000 is 5, expected 700001");
    let (file, section) = with(SectionKind::InOffsets, &[(2000, 0)]);
    let message = file.in_rows(all.clone()).unwrap_err().to_string();
    refused(message, section.at + 8 * 2000, "in-edges: the edges of vertex 1999 start at edge ");
    file.rows(all.clone()).unwrap();
    file.in_rows(2000..300_000).unwrap();
    assert!(file.in_rows(1990..2000).is_err());
}

/// Whichever rows a host reads, a flipped bit in their blocks is an error.
#[test]
fn rows_are_checked_by_the_checksums_of_their_blocks() {
    let graph = several_pieces();
    let sound = written(&Parton, &graph, None).unwrap();
    for (kind, is_in) in [
        (SectionKind::Offsets, false),
        (SectionKind::Targets, false),
        (SectionKind::InOffsets, true),
        (SectionKind::Sources, true),
    ] {
        let section = section(&sound, kind);
        for share in [0, 40, 99] {
            let mut bytes = sound.clone();
            bytes[(section.at + section.bytes * share / 100) as usize] ^= 1;
            let file = row_file(&bytes);
            let mut damaged = 0;
            for host in 0..4 {
                let range = host * 75_000..(host + 1) * 75_000;
                let rows = match is_in {
                    true => file.in_rows(range).map(Option::unwrap),
                    false => file.rows(range),
                };
                damaged += u32::from(rows.is_err());
            }
            assert!(damaged > 0, "{kind:?}, {share} %");
        }
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

    // The third block of targets.
    let at = section(&bytes, SectionKind::Targets).at as usize + 2 * layout::BLOCK_BYTES;
    bytes[at + 123] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(open(&path).unwrap().num_edges(), graph.num_edges());
    let message = verify(&path).unwrap_err().to_string();
    assert!(message.contains(&format!("at byte {at}: the block is damaged")), "{message}");
    let source = Source::file(&path).unwrap();
    let read = crate::formats::read(&source, Some(&Parton), &ReadOptions::default());
    assert_eq!(message, read.unwrap_err().to_string());
}

#[test]
fn every_truncation_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parton");
    for bytes in [written(&Parton, &small(), None).unwrap(), bare(&small()), blocked(&small())] {
        for cut in truncations(&bytes) {
            assert!(plain(cut).is_err(), "{} of {} bytes", cut.len(), bytes.len());
            fs::write(&path, cut).unwrap();
            assert!(open(&path).is_err(), "{} of {} bytes", cut.len(), bytes.len());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(message(plain(&longer)).contains("but the file has"));
    }
}

#[test]
fn every_flip_is_an_error_or_in_padding() {
    let sparse = Graph {
        ids: Ids::Integers(vec![3, 5, 1000].into()),
        direction: Direction::Undirected,
        ..small()
    };
    for (graph, bytes) in [
        (small(), written(&Parton, &small(), None).unwrap()),
        (sparse.clone(), written(&Parton, &sparse, None).unwrap()),
        (sparse.clone(), blocked(&sparse)),
    ] {
        let source = Source::memory("x.parton", &bytes[..]).unwrap();
        let contents = Contents::read(&source.bytes().unwrap()).unwrap();
        let tables_end = 64 + 24 * contents.sections.len() + 4 * contents.checksums.len();
        let is_data = |at: usize| {
            let at_section = |s: &layout::Section| (s.at..s.at + s.bytes).contains(&(at as u64));
            at < tables_end || contents.sections.iter().any(at_section)
        };
        let blocks_at = match contents.header.has_row_blocks() {
            true => contents.section(SectionKind::BlockEnds).0.at,
            false => u64::MAX,
        };
        let in_edges_at = if contents.header.has_in_edges() {
            contents.section(SectionKind::InOffsets).0.at
        } else {
            u64::MAX
        };
        for (at, flipped) in flips(&bytes) {
            if at as u64 >= in_edges_at.min(blocks_at) {
                assert_same(&plain(&flipped).expect("a graph has no in-edges"), &graph);
            }
            match verified(&flipped) {
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
        |header| header.flags = 16,
        |header| header.weight_kind = 4,
        |header| header.id_kind = 3,
        |header| header.fillers[5] = 1,
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
    let blocks = data.flat_map(|section| section.chunks(layout::BLOCK_BYTES));
    let checksums: Vec<u32> = blocks.map(crc32fast::hash).collect();
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
        (set(0, 1, 9), "the edges of vertex 0 end at edge 9, but there are 3"),
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
fn in_edges_that_are_not_the_edges_turned_around_are_errors_despite_checksums() {
    // In-edges: none of 0, of 1 from 2 with weight 9, of 2 from 0 and from 1 with 7 and 8.
    let csr = Csr::from_edges(3, &[(0, 2, 7u32), (1, 2, 8), (2, 1, 9)]);
    let graph = Graph::dense(csr, "");
    let set = |section: usize, changes: &[(usize, u8)]| {
        rewritten(&graph, |bytes, sections| {
            let section = sections[section];
            for &(element, value) in changes {
                bytes[section.at as usize + element * section.element_bytes as usize] = value;
            }
        })
    };
    assert_same(&verified(&set(3, &[])).unwrap(), &graph);
    let turned = "in-edges: not the edges of the graph turned around";
    let cases = [
        (set(3, &[(0, 1), (1, 1)]), "in-edges: offset 0 is 1, expected 0"),
        (set(3, &[(3, 2)]), "in-edges: offset 3 is 2, expected 3"),
        (set(3, &[(1, 2)]), "in-edges: the edges of vertex 1 start at edge 2, but end at edge 1"),
        (set(3, &[(1, 1)]), turned),
        (set(4, &[(2, 3)]), "in-edges: edge 2 leads to vertex 3, but there are 3 vertices"),
        (set(4, &[(1, 1), (2, 0)]), "in-edges: the sources of vertex 2 do not ascend"),
        (set(4, &[(0, 0)]), turned),
        (set(4, &[(2, 0)]), turned),
        (set(5, &[(0, 8)]), turned),
        (set(5, &[(1, 8), (2, 7)]), turned),
    ];
    for (bytes, expected) in cases {
        let message = message(verified(&bytes));
        assert!(message.contains(expected), "{message}");
        assert_same(&plain(&bytes).unwrap(), &graph);
    }
    let undirected = message(plain(&forged(|header| header.flags |= layout::UNDIRECTED)));
    assert!(undirected.contains("at byte 12: in-edges of an undirected graph"), "{undirected}");
    // Said to be there, or not: the length of the file tells.
    let hidden = message(plain(&forged(|header| header.flags &= !layout::BOTH_WAYS)));
    assert!(hidden.contains("do not make"), "{hidden}");
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
