//! Graphs built from edges in any number of pieces, by any number of threads, equal the obvious
//! construction; so do the sets and id maps they rest on.

use std::collections::BTreeSet;

use parton_graph::bits::{AtomicBitSet, BitSet};
use parton_graph::build::{CsrBuilder, EdgeBatch};
use parton_graph::edge_file::Piece;
use parton_graph::id_list::IdList;
use parton_graph::ingest::Ingest;
use parton_graph::{Csr, Ids, LocalId, OriginalId, VertexRange, Weight};
use proptest::prelude::*;

/// Vertex by vertex, in input order: what a `Csr` must hold.
fn lists<W: Weight>(vertices: usize, edges: &[(u32, u32, W)]) -> Vec<Vec<(u32, W)>> {
    let mut lists = vec![Vec::new(); vertices];
    for &(source, destination, weight) in edges {
        lists[source as usize].push((destination, weight));
    }
    lists
}

fn lists_of<W: Weight>(csr: &Csr<W>) -> Vec<Vec<(u32, W)>> {
    csr.vertices().map(|v| csr.edges(v).map(|(t, w)| (t.0, w)).collect()).collect()
}

fn in_pieces<W: Weight>(
    edges: &[(u32, u32, W)],
    pieces: usize,
    threads: usize,
    n: usize,
) -> Csr<W> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let builder = CsrBuilder::new();
    pool.install(|| {
        rayon::scope(|scope| {
            let size = edges.len().div_ceil(pieces).max(1);
            // Last piece first: the order given, not the order of arrival, must count.
            for (order, piece) in edges.chunks(size).enumerate().rev() {
                let builder = &builder;
                scope.spawn(move |_| {
                    let mut edges = EdgeBatch::default();
                    piece.iter().for_each(|&(s, d, w)| edges.push(s, d, w));
                    builder.add(order as u64, &edges);
                });
            }
        });
        builder.build(n)
    })
}

/// Sizes around the 2¹⁶ vertices of a bucket and the 2¹⁹ of a group matter most.
fn some_edges() -> impl Strategy<Value = (usize, Vec<(u32, u32, u32)>)> {
    let sizes = prop_oneof![Just(1usize), 2..40usize, 65_530..65_540usize, 524_280..600_000usize];
    sizes.prop_flat_map(|n| {
        let id = 0..n as u32;
        (Just(n), prop::collection::vec((id.clone(), id, any::<u32>()), 0..400))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_csr_holds_every_vertexs_edges_in_input_order(
        (n, edges) in some_edges(), pieces in 1..9usize, threads in 1..5usize,
    ) {
        let csr = in_pieces(&edges, pieces, threads, n);
        csr.check().unwrap();
        prop_assert_eq!(lists_of(&csr), lists(n, &edges));
        let turned: Vec<_> = edges.iter().map(|&(s, d, w)| (d, s, w)).collect();
        let mut expected = lists(n, &turned);
        // A transpose orders by source, which here is the destination it came from.
        expected.iter_mut().for_each(|list| list.sort_by_key(|e| e.0));
        let mut found = lists_of(&csr.transposed());
        prop_assert!(found.iter().all(|list| list.is_sorted_by_key(|e| e.0)));
        // Parallel edges keep the order they have in the graph, not in the input.
        found.iter_mut().for_each(|list| list.sort());
        expected.iter_mut().for_each(|list| list.sort());
        prop_assert_eq!(found, expected);
        prop_assert_eq!(csr.symmetrised().num_edges(),
            edges.iter().map(|e| if e.0 == e.1 { 1 } else { 2 }).sum::<u64>());
    }

    #[test]
    fn ingest_names_the_vertices_that_occur(
        rows in prop::collection::vec((0..4usize, 0..50u64, 0..50u64), 0..200),
        scale in prop_oneof![Just(1u64), Just(1000), Just(1 << 29), Just(1 << 33), Just(u64::MAX / 64)],
        pieces in 1..6usize,
    ) {
        let rows: Vec<(u64, u64)> = rows.iter().map(|&(skip, s, d)| {
            (s.wrapping_mul(scale) + skip as u64 % 2, d.wrapping_mul(scale))
        }).collect();
        let ingest = Ingest::<u32>::new("test", None);
        for (order, piece) in rows.chunks(rows.len().div_ceil(pieces).max(1)).enumerate() {
            let weights = (0..piece.len()).map(|i| (order * 1000 + i) as f64).collect();
            ingest.add(&Piece { weights, ..pairs(order as u64, piece) }).unwrap();
        }
        let (csr, ids) = ingest.finish(IdList::new(false), false, |w| w).unwrap();
        let expected: BTreeSet<u64> = rows.iter().flat_map(|&(s, d)| [s, d]).collect();
        prop_assert_eq!(ids.len(), expected.len());
        prop_assert!(expected.iter().enumerate().all(|(v, &id)| ids.get(v) == OriginalId::Integer(id)));
        prop_assert!(expected.iter().enumerate().all(|(v, &id)| ids.find(OriginalId::Integer(id)) == Some(v)));
        // The same edges by name come out the same, up to the order of names.
        let named = Ingest::<u32>::new("test", None);
        let name = |id: u64| format!("{id:020}");
        let mut piece = Piece { weights: csr_order(&rows, pieces), ..Piece::new(0, true) };
        for &(source, destination) in &rows {
            piece.sources.push(OriginalId::Name(name(source).as_bytes()));
            piece.destinations.push(OriginalId::Name(name(destination).as_bytes()));
        }
        named.add(&piece).unwrap();
        let (by_name, names) = named.finish(IdList::new(true), false, |w| w).unwrap();
        prop_assert_eq!(lists_of(&by_name), lists_of(&csr));
        prop_assert!(expected.iter().all(|&id| names.find_text(&name(id)).is_some()) || expected.is_empty());
    }

    #[test]
    fn bit_sets_do_as_sets_do(
        len in 1..300usize,
        steps in prop::collection::vec((0..5u8, 0..300usize, 0..300usize), 0..40),
    ) {
        let (mut bits, mut set) = (BitSet::new(len), BTreeSet::new());
        let atomic = AtomicBitSet::new(len);
        for (step, a, b) in steps {
            let (a, b) = (a % len, b % len);
            let range = a.min(b)..a.max(b);
            match step {
                0 => {
                    let new = set.insert(a);
                    prop_assert_eq!(bits.insert(a), new);
                    prop_assert_eq!(atomic.insert(a), new);
                }
                1 => {
                    let there = set.remove(&a);
                    prop_assert_eq!(bits.remove(a), there);
                    prop_assert_eq!(atomic.remove(a), there);
                }
                2 => {
                    bits.insert_range(range.clone());
                    atomic.insert_range(range.clone());
                    set.extend(range);
                }
                3 => {
                    bits.remove_range(range.clone());
                    atomic.remove_range(range.clone());
                    set.retain(|i| !range.contains(i));
                }
                _ => {
                    let inside: Vec<usize> = set.range(range.clone()).copied().collect();
                    prop_assert_eq!(bits.iter_range(range.clone()).collect::<Vec<_>>(), inside.clone());
                    prop_assert_eq!(atomic.iter_range(range.clone()).collect::<Vec<_>>(), inside.clone());
                    prop_assert_eq!(bits.count_range(range.clone()), inside.len());
                    prop_assert_eq!(atomic.count_range(range.clone()), inside.len());
                    prop_assert_eq!(bits.any_in(range.clone()), !inside.is_empty());
                    prop_assert_eq!(atomic.any_in(range), !inside.is_empty());
                }
            }
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!((bits.count(), atomic.count()), (set.len(), set.len()));
            prop_assert_eq!((bits.is_empty(), atomic.is_empty()), (set.is_empty(), set.is_empty()));
        }
        prop_assert_eq!(BitSet::from(atomic), bits);
    }
}

/// The weights that `ingest_names_the_vertices_that_occur` gives its rows.
fn csr_order(rows: &[(u64, u64)], pieces: usize) -> Vec<f64> {
    let size = rows.len().div_ceil(pieces).max(1);
    (0..rows.len()).map(|i| (i / size * 1000 + i % size) as f64).collect()
}

#[test]
fn many_threads_set_each_bit_once() {
    let bits = AtomicBitSet::new(10_000);
    let firsts: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..10_000).filter(|&i| bits.insert(i)).count()))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!((firsts, bits.count()), (10_000, 10_000));
}

fn pairs(order: u64, edges: &[(u64, u64)]) -> Piece {
    Piece {
        sources: IdList::Integers(edges.iter().map(|edge| edge.0).collect()),
        destinations: IdList::Integers(edges.iter().map(|edge| edge.1).collect()),
        ..Piece::new(order, false)
    }
}

#[test]
fn listed_vertices_exist_without_edges_and_exclude_others() {
    let list = |ids: &[u64]| IdList::Integers(ids.to_vec());
    for far in [9, u64::MAX] {
        let ingest = Ingest::new("test", None);
        ingest.add(&pairs(0, &[(1, far)])).unwrap();
        let (csr, ids) = ingest.finish(list(&[far, 5, 1, 5]), true, |()| ()).unwrap();
        assert_eq!((csr.num_vertices(), csr.targets(LocalId(0))), (3, &[LocalId(2)][..]));
        assert_eq!(ids.get(1), OriginalId::Integer(5));

        let ingest = Ingest::new("test", None);
        ingest.add(&pairs(0, &[(1, far)])).unwrap();
        let error = ingest.finish(list(&[1, 5]), true, |()| ()).unwrap_err();
        assert!(error.to_string().contains(&format!("names vertex {far}")), "{error}");

        let ingest = Ingest::new("test", None);
        ingest.add(&pairs(0, &[(1, far)])).unwrap();
        assert_eq!(ingest.finish(list(&[5]), false, |()| ()).unwrap().1.len(), 3);
    }
}

#[test]
fn declared_vertices_are_all_there_are() {
    let declared = Some(VertexRange { first: 10, count: 4 });
    let ingest = Ingest::new("test", declared);
    ingest.add(&pairs(0, &[(10, 13)])).unwrap();
    let error = ingest.add(&pairs(1, &[(10, 14)])).unwrap_err();
    assert_eq!(error.to_string(), "test: an edge names vertex 14, but the vertices are 10 to 13");
    let (csr, ids) = ingest.finish(IdList::new(false), false, |()| ()).unwrap();
    assert_eq!((csr.num_vertices(), ids), (4, Ids::Range { first: 10, count: 4 }));
}
