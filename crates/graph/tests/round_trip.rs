//! Graphs of every kind through every pair of written formats: what comes back is what went in,
//! as far as each format can say it.

use crate::folder;

use std::collections::BTreeSet;
use std::path::Path;

use folder::folder;
use parton_graph::formats::{self, Format, IdKind, ReadOptions, WriteOptions};
use parton_graph::id_map::Names;
use parton_graph::source::Source;
use parton_graph::{
    Adjacency, Csr, Direction, Error, Graph, Ids, OriginalId, Result, Weight, WeightKind, with_csr,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// An original id that owns its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    Integer(u64),
    Name(Vec<u8>),
}

/// What a graph says, whatever it is kept in.
#[derive(Clone, Debug, PartialEq)]
struct Facts {
    vertices: BTreeSet<Id>,
    /// Ends and bits of the weights, sorted.
    edges: Vec<(Id, Id, u64)>,
    direction: Direction,
}

impl Facts {
    fn of(graph: &Graph) -> Self {
        let ids: Vec<Id> = (0..graph.num_vertices())
            .map(|v| match graph.ids.get(v) {
                OriginalId::Integer(id) => Id::Integer(id),
                OriginalId::Name(name) => Id::Name(name.to_vec()),
            })
            .collect();
        let mut edges = Vec::new();
        with_csr!(&graph.adjacency, csr => for v in csr.vertices() {
            edges.extend(csr.edges(v).map(|(target, weight)| {
                (ids[v.index()].clone(), ids[target.index()].clone(), weight.to_f64().to_bits())
            }));
        });
        edges.sort();
        Facts { vertices: ids.into_iter().collect(), edges, direction: graph.direction }
    }

    /// What is left of the facts in a file of this format.
    fn kept_by(&self, format: &dyn Format) -> Facts {
        let mut kept = self.clone();
        if !matches!(format.name(), "parton" | "gr" | "mtx") {
            let ends = self.edges.iter().flat_map(|(source, target, _)| [source, target]);
            kept.vertices = ends.cloned().collect();
        }
        if !matches!(format.name(), "parton" | "mtx") {
            kept.direction = Direction::Directed;
        }
        kept
    }
}

/// Names that mean something in one format or another, and some that do not.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let odd = [
        "Göttingen",
        "𝄞",
        "a b",
        " lead",
        "trail ",
        "tab\tbed",
        "#x",
        "%y",
        "//z",
        "a,b",
        "c;d",
        "q\"uote",
        "\"",
        "\"quoted\"",
        "'",
        "=",
        "source",
        "target",
        "from",
        "7",
        "007",
        "12",
        "-1",
        "1.5",
        "1e3",
        "nan",
        "AdjacencyGraph",
        "p",
        "sp",
        "a",
        "e",
        "%%MatrixMarket",
        "# names",
        "graph.x.edge-file",
        "\u{feff}mark",
        "\u{feff}",
    ];
    // Neither are UTF-8; one starts like UTF-16, one like a file packed with zstd.
    let bytes = [&b"\xff\xfea"[..], b"\x28\xb5\x2f\xfd"];
    let odd: Vec<Vec<u8>> =
        odd.iter().map(|name| name.as_bytes()).chain(bytes).map(Vec::from).collect();
    prop_oneof![2 => select(odd), 1 => "[a-zä]{1,4}".prop_map(String::into_bytes)]
}

fn ids() -> impl Strategy<Value = Ids> {
    let id = prop_oneof![
        0..20u64,
        any::<u64>(),
        (1 << 32) - 3..(1u64 << 32) + 3,
        u64::MAX - 5..=u64::MAX
    ];
    prop_oneof![
        1 => (0..40usize).prop_map(Ids::dense),
        1 => (0..40usize).prop_map(|count| Ids::Range { first: 1, count }),
        2 => prop::collection::btree_set(id, 0..40)
            .prop_map(|ids| Ids::from_sorted(ids.into_iter().collect())),
        3 => prop::collection::btree_set(name(), 0..12)
            .prop_map(|names| Ids::Names(names.iter().map(Vec::as_slice).collect::<Names>())),
    ]
}

/// Weights that are hard to print and to read, as bits.
fn weight() -> impl Strategy<Value = (u32, f32, f64)> {
    use proptest::num::{f32, f64};
    let whole = prop_oneof![0..10u32, any::<u32>(), Just(u32::MAX)];
    let single = f32::NORMAL | f32::SUBNORMAL | f32::ZERO | f32::POSITIVE | f32::NEGATIVE;
    let double = f64::NORMAL | f64::SUBNORMAL | f64::ZERO | f64::POSITIVE | f64::NEGATIVE;
    let single = prop_oneof![single, select(vec![0.1, 1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE])];
    let double = prop_oneof![double, select(vec![0.1, 3.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE])];
    (whole, single, double)
}

fn graph() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((any::<Index>(), any::<Index>(), weight()), 0..60);
    let undirected = any::<bool>();
    (ids(), edges, select(WeightKind::ALL.to_vec()), undirected).prop_map(
        |(ids, edges, kind, undirected)| {
            let vertices = ids.len();
            let edges = if vertices == 0 { vec![] } else { edges };
            let end = |index: &Index| index.index(vertices) as u32;
            fn csr<W: Weight>(
                vertices: usize,
                edges: impl Iterator<Item = (u32, u32, W)>,
            ) -> Csr<W> {
                Csr::from_edges(vertices, &edges.collect::<Vec<_>>())
            }
            let edges = edges.iter().map(|(from, to, weight)| (end(from), end(to), weight));
            let adjacency: Adjacency = match kind {
                WeightKind::None => csr(vertices, edges.map(|(s, d, _)| (s, d, ()))).into(),
                WeightKind::U32 => csr(vertices, edges.map(|(s, d, w)| (s, d, w.0))).into(),
                WeightKind::F32 => csr(vertices, edges.map(|(s, d, w)| (s, d, w.1))).into(),
                WeightKind::F64 => csr(vertices, edges.map(|(s, d, w)| (s, d, w.2))).into(),
            };
            let graph = Graph { ids, ..Graph::dense(adjacency, "") };
            if undirected { graph.undirected() } else { graph }
        },
    )
}

/// Writes a graph, reads it back and compares; `None` when the writer refuses to.
fn through(
    graph: &Graph,
    folder: &Path,
    format: &'static dyn Format,
    choice: Index,
) -> Result<Option<Graph>, TestCaseError> {
    let endings: Vec<String> = format
        .endings()
        .iter()
        .flat_map(|ending| ["", ".gz", ".zst"].map(|packing| format!("graph.{ending}{packing}")))
        .collect();
    let path = folder.join(choice.get(&endings));
    let version = (format.name() == "gr" && choice.index(2) == 1).then_some(2);
    let options = WriteOptions { version, ..WriteOptions::default() };
    let written = formats::write(graph, &path, None, &options);
    if let Err(error) = written {
        prop_assert!(may_refuse(graph, format, &path), "{error}");
        prop_assert!(matches!(error, Error::Request(_)), "{error:?}");
        return Ok(None);
    }
    let kind = graph.adjacency.weight_kind();
    let options = ReadOptions {
        ids: if matches!(graph.ids, Ids::Names(_)) { IdKind::Names } else { IdKind::Detect },
        weight_kind: (kind != WeightKind::None).then_some(kind),
        ..ReadOptions::default()
    };
    let read = Source::file(&path).and_then(|source| formats::read(&source, None, &options));
    let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let expected = Facts::of(graph).kept_by(format);
    prop_assert_eq!(Facts::of(&read), expected, "through {}: {}", path.display(), read.read_as);
    if graph.num_edges() > 0 {
        prop_assert_eq!(read.adjacency.weight_kind(), kind, "through {}", path.display());
    }
    Ok(Some(read))
}

/// Whether a format may refuse a graph: only for names that it cannot hold.
fn may_refuse(graph: &Graph, format: &dyn Format, path: &Path) -> bool {
    let Ids::Names(names) = &graph.ids else { return false };
    let path = path.to_string_lossy();
    match format.name() {
        "edges" => !path.contains(".csv") && !path.contains(".tsv"),
        "parquet" => names.iter().any(|name| std::str::from_utf8(name).is_err()),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn graphs_come_through_every_pair_of_formats(
        graph in graph(),
        choices in prop::collection::vec(any::<Index>(), 2 * formats::ALL.len()),
    ) {
        let written = || formats::ALL.iter().filter(|format| format.writer().is_some());
        let (firsts, seconds) = choices.split_at(formats::ALL.len());
        for (&first, &choice) in written().zip(firsts) {
            let folder = folder();
            let Some(copy) = through(&graph, folder.path(), first, choice)? else { continue };
            for (&second, &choice) in written().zip(seconds) {
                through(&copy, folder.path(), second, choice)?;
            }
        }
    }
}

fn named(names: &[&[u8]], edges: &[(u32, u32, ())]) -> Graph {
    let ids = Ids::Names(names.iter().copied().collect::<Names>());
    Graph { ids, ..Graph::dense(Csr::from_edges(names.len(), edges), "") }
}

#[test]
fn names_stay_names_whatever_they_look_like() {
    let cases: [&[&[u8]]; 6] = [
        &[b"10", b"9"],
        &[b"007", b"7"],
        &[b"# names"],
        &["\u{feff}".as_bytes()],
        &[b"\x28\xb5\x2f\xfd"],
        &[b""],
    ];
    for names in cases {
        let graph = named(names, &[(0, 0, ())]);
        for file in ["x.gr", "x.mtx", "x.parton", "x.csv", "x.tsv.gz"] {
            let folder = folder();
            let path = folder.path().join(file);
            let written = formats::write(&graph, &path, None, &WriteOptions::default());
            if names[0].is_empty() && written.is_err() {
                assert!(file.contains(".csv") || file.contains(".tsv"), "{file}");
                continue;
            }
            written.unwrap();
            let options = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
            let read = formats::read(&Source::file(&path).unwrap(), None, &options).unwrap();
            let expected = Facts::of(&graph);
            let format = formats::by_ending(file).unwrap();
            assert_eq!(Facts::of(&read), expected.kept_by(format), "{file}");
        }
    }
}

#[test]
fn names_that_would_not_come_back_are_refused() {
    let folder = folder();
    let refused = |graph: &Graph, file: &str| {
        let written =
            formats::write(graph, &folder.path().join(file), None, &WriteOptions::default());
        if let Err(error) = &written {
            assert!(matches!(error, Error::Request(_)), "{error:?}");
        }
        written.is_err()
    };
    // What no line of text can hold.
    let unprintable: [&[u8]; 5] = [b"a\0", b"a\nb", b"a\rb", b"a\x0cb", b"\x1b[31m"];
    for name in unprintable {
        for file in ["x.el", "x.csv", "x.tsv.gz"] {
            assert!(
                refused(&named(&[name], &[(0, 0, ())]), file),
                "{file}: {}",
                name.escape_ascii()
            );
        }
        assert!(!refused(&named(&[name], &[(0, 0, ())]), "x.parton"));
    }
    for name in [&b"a\nb"[..], b"a\r"] {
        assert!(refused(&named(&[name], &[]), "x.gr") && refused(&named(&[name], &[]), "x.mtx"));
    }
    // A first row that would be a header, a table or another format; further down it is a row.
    let firsts: [[&[u8]; 2]; 5] = [
        [b"source", b"target"],
        [b"p", b"sp"],
        [b"a,b", b"c"],
        [b"AdjacencyGraph", b"x"],
        ["\u{feff}a".as_bytes(), b"b"],
    ];
    for [from, to] in firsts {
        let mut names = [from, to];
        names.sort();
        let edge = if names[0] == from { (0, 1, ()) } else { (1, 0, ()) };
        assert!(refused(&named(&names, &[edge]), "x.el"), "{}", from.escape_ascii());
        assert!(!refused(&named(&names, &[edge]), "x.csv"), "{}", from.escape_ascii());
        let names = [b"!", names[0], names[1]];
        let edge = (edge.0 + 1, edge.1 + 1, ());
        assert!(!refused(&named(&names, &[(0, 0, ()), edge]), "x.el"), "{}", from.escape_ascii());
    }
}
