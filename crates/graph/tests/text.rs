//! Text in every dialect people write, and every mistake with its place.

use std::io::Write as _;

use parton_graph::formats::{
    self, ColumnKey, Columns, IdKind, ReadOptions, TextOptions, Vertices, WriteOptions,
};
use parton_graph::source::Source;
use parton_graph::{
    Csr, Direction, Error, Graph, Ids, Result, VertexRange, Weight, WeightKind, with_csr,
};

fn read_as(name: &str, text: impl Into<Vec<u8>>, options: &ReadOptions<'_>) -> Result<Graph> {
    formats::read(&Source::memory(name, text)?, None, options)
}

fn read(text: impl Into<Vec<u8>>) -> Result<Graph> {
    read_as("edges.txt", text, &ReadOptions::default())
}

/// Edges by original id, with weights.
fn edges(graph: &Graph) -> Vec<(String, String, f64)> {
    let name = |v: usize| graph.ids.get(v).to_string();
    with_csr!(&graph.adjacency, csr => csr
        .vertices()
        .flat_map(|v| {
            csr.edges(v).map(|(t, w)| (name(v.index()), name(t.index()), w.to_f64())).collect::<Vec<_>>()
        })
        .collect())
}

fn triples(expected: &[(&str, &str, f64)]) -> Vec<(String, String, f64)> {
    expected.iter().map(|&(s, d, w)| (s.into(), d.into(), w)).collect()
}

#[test]
fn the_same_edges_in_every_dialect() {
    let unweighted = triples(&[("1", "20", 1.0), ("20", "3", 1.0)]);
    for text in [
        "1 20\n20 3\n",
        "1 20\n20 3",
        "1\t20\n20\t3\n",
        "1,20\n20,3\n",
        "1;20\r\n20;3\r\n",
        "  1   20 \n\n20\t 3\n\n",
        "# SNAP\n% other\n// third\n1 20\n# again\n20 3\n",
        "\u{feff}1 20\n20 3\n",
        "source,target\n1,20\n20,3\n",
        "FromNodeId\tToNodeId\n1\t20\n20\t3\n",
        "\"1\",\"20\"\n\"20\" , \"3\"\n",
        "a b\n1 20\n20 3\n",
    ] {
        let graph = read(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(edges(&graph), unweighted, "{text:?}: {}", graph.read_as);
        assert_eq!(graph.direction, Direction::Directed);
    }
    let weighted = triples(&[("1", "20", 7.0), ("20", "3", 0.5)]);
    for text in ["1 20 7\n20 3 0.5\n", "1,20,7.0\n20,3,.5\n", "u;v;w\n1;20;7e0\n20;3;5e-1\n"] {
        assert_eq!(edges(&read(text).unwrap()), weighted, "{text:?}");
    }
}

#[test]
fn what_lies_beyond_the_first_rows() {
    let rows: String = (1..20_000).map(|i| format!("{i} {}\n", i + 1)).collect();
    let counted = read(format!("20000 19999\n{rows}")).unwrap();
    assert_eq!(counted.num_edges(), 19_999);
    assert!(counted.read_as.contains("counts vertices and edges"), "{}", counted.read_as);
    // One row more or less, and it is an edge.
    let edge = read(format!("20000 19998\n{rows}")).unwrap();
    assert_eq!(edge.num_edges(), 20_000);
    let weights: String = (1..9000).map(|i| format!("{};{i};{}\n", i + 1, i % 7)).collect();
    let error = read(format!("{weights}1;2;1,105\n")).unwrap_err().to_string();
    assert!(error.contains(":9000:5:") && error.contains("`decimal` point"), "{error}");
}

#[test]
fn short_rows_and_short_files_end_well() {
    let said = read("Source,Target,Type\n1,2,Directed\n3,4\n").unwrap_err().to_string();
    assert!(said.contains("edges.txt:3:"), "{said}");
    // More lines to skip than there are, in a read of a slice, too.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.txt");
    std::fs::write(&path, "1 2\n3 4\n").unwrap();
    let text = TextOptions { skip_lines: u64::MAX, ..TextOptions::default() };
    let options = ReadOptions { text, ..ReadOptions::default() };
    let graph = formats::read(&Source::find(&path).unwrap(), None, &options).unwrap();
    assert_eq!((graph.num_vertices(), graph.num_edges()), (0, 0));
}

#[test]
fn names_are_kept() {
    let expected = triples(&[("Göttingen", "New York", 2.0), ("a,b", "c\"d", 3.0)]);
    let text = "from,to,km\nGöttingen,New York,2\n\"a,b\",\"c\"\"d\",3\n";
    let mut found = edges(&read(text).unwrap());
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    assert_eq!(found, expected);
    let tabs = "New York\tLos Angeles\nLos Angeles\tRome\n";
    assert_eq!(edges(&read(tabs).unwrap()).len(), 2);
    // Digits are names when the user says so, and stay as they are written.
    let options = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    let graph = read_as("x", "007 7\n", &options).unwrap();
    assert_eq!(edges(&graph), triples(&[("007", "7", 1.0)]));
}

#[test]
fn large_and_sparse_ids_come_back() {
    let text = "18446744073709551615 0\n4294967296 9007199254740993\n2147483647 2147483648\n";
    let graph = read(text).unwrap();
    assert_eq!(graph.num_vertices(), 6);
    let expected = triples(&[
        ("2147483647", "2147483648", 1.0),
        ("4294967296", "9007199254740993", 1.0),
        ("18446744073709551615", "0", 1.0),
    ]);
    assert_eq!(edges(&graph), expected);
}

#[test]
fn columns_are_chosen_by_name_or_number() {
    let text = "when,who,whom,amount\nmon,5,6,1.5\ntue,6,5,2.5\n";
    let expected = triples(&[("5", "6", 1.5), ("6", "5", 2.5)]);
    let name = |n: &str| ColumnKey::Name(n.into());
    let by_name =
        Columns { source: name("who"), destination: name("whom"), weight: Some(name("amount")) };
    let position = ColumnKey::Position;
    let by_number =
        Columns { source: position(1), destination: position(2), weight: Some(position(3)) };
    for columns in [by_name, by_number] {
        let options = ReadOptions { columns: Some(columns), ..ReadOptions::default() };
        assert_eq!(edges(&read_as("x.csv", text, &options).unwrap()), expected);
    }
    let missing = Columns { source: name("who"), destination: name("where"), weight: None };
    let options = ReadOptions { columns: Some(missing), ..ReadOptions::default() };
    let error = read_as("x.csv", text, &options).unwrap_err().to_string();
    assert!(error.contains("'where'") && error.contains("when, who, whom, amount"), "{error}");
    // A header may name more columns than rows have.
    let far = Columns { source: name("w"), destination: position(0), weight: None };
    let options = ReadOptions { columns: Some(far), ..ReadOptions::default() };
    let error = read_as("x.csv", "a,src,dst,w\n1,2\n3,4\n", &options).unwrap_err().to_string();
    assert!(error.contains("'w' is the name of column 4, but rows have only 2"), "{error}");
}

#[test]
fn the_two_sides_of_a_bipartite_graph_keep_apart() {
    let options = ReadOptions { bipartite: true, ..ReadOptions::default() };
    let graph = read_as("r.tsv", "1\t1\t5\t881250949\n2\t1\t3\t881250949\n", &options).unwrap();
    assert_eq!(edges(&graph), triples(&[("s1", "t1", 5.0), ("s2", "t1", 3.0)]));
    assert!(matches!(read_as("x.graph", "2 1\n2\n1\n", &options), Err(Error::Request(_))));
    let jester = formats::by_name("jester").unwrap();
    let read = |text: &str| {
        formats::read(&Source::memory("j.csv", text)?, Some(jester), &ReadOptions::default())
    };
    let graph = read("2,-7.5,99,4\n0,99,99,99\n").unwrap();
    assert_eq!(edges(&graph), triples(&[("s1", "t1", -7.5), ("s1", "t3", 4.0)]));
    assert_eq!(graph.num_vertices(), 5);
    for (text, problem) in [
        ("2,1,99\n", ":1:1: in \"2,1,99\": the line declares 2 ratings, found 1"),
        ("1,1,99\n1,1\n", ":2:1: in \"1,1\": expected 2 ratings, found 1"),
        ("1,x\n", ":1:3: in \"1,x\": expected a weight, found 'x'"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn the_vertex_set_is_what_the_file_says() {
    assert_eq!(read("5 9\n").unwrap().num_vertices(), 2);
    assert_eq!(read("").unwrap().num_vertices(), 0);
    assert_eq!(read("# nothing\n").unwrap().num_vertices(), 0);
    let vertices = |v| ReadOptions { vertices: Some(v), ..ReadOptions::default() };
    let ten = read_as("x", "5 9\n", &vertices(Vertices::Count(10))).unwrap();
    assert_eq!((ten.num_vertices(), ten.ids.get(9).to_string()), (10, "9".into()));
    let range = Vertices::Range(VertexRange { first: 5, count: 5 });
    assert_eq!(read_as("x", "5 9\n", &vertices(range)).unwrap().num_vertices(), 5);
    let error = read_as("x", "1 2\n5 9\n", &vertices(Vertices::Count(9))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x:2:3: in \"5 9\": vertex 9 does not exist: the vertices are 0 to 8"
    );
    // Formats that number their vertices can be given more, and fewer if those are isolated.
    let metis = |n| read_as("x.graph", "3 1\n2\n1\n\n", &vertices(Vertices::Count(n)));
    assert_eq!(metis(5).unwrap().num_vertices(), 5);
    assert_eq!(metis(2).unwrap().num_vertices(), 2);
    assert!(matches!(metis(1), Err(Error::Request(_))));
    // A vertex that a line lists but no edge names must be one of them too.
    let adjacency = |n| read_as("x.adj", "1 2\n9\n", &vertices(Vertices::Count(n)));
    assert_eq!(adjacency(10).unwrap().num_vertices(), 10);
    assert!(adjacency(9).unwrap_err().to_string().starts_with("x.adj:2:1: "));
    // Ids end at 2^64-1, however many vertices are asked for.
    let last = Ids::Range { first: u64::MAX - 1, count: 2 };
    let last = Graph { ids: last, ..Graph::dense(Csr::<()>::from_edges(2, &[]), "") };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parton");
    formats::write(&last, &path, None, &WriteOptions::default()).unwrap();
    for (count, fits) in [(1, true), (2, true), (3, false)] {
        let options = vertices(Vertices::Count(count));
        let read = formats::read(&Source::file(&path).unwrap(), None, &options);
        assert_eq!(read.is_ok(), fits, "{count}");
    }
}

#[test]
fn weights_that_do_not_fit_are_refused() {
    let read = |text: &str, kind| {
        let options = ReadOptions { weight_kind: Some(kind), ..ReadOptions::default() };
        read_as("x", text, &options)
    };
    assert_eq!(edges(&read("1 2 0.5\n", WeightKind::F32).unwrap())[0].2, 0.5);
    for (text, kind) in [
        ("1 2 1e39\n", WeightKind::F32),
        ("1 2 -1e39\n", WeightKind::F32),
        ("1 2 0.5\n", WeightKind::U32),
        ("1 2 4294967296\n", WeightKind::U32),
    ] {
        let error = read(text, kind).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error:?}");
        assert!(error.to_string().starts_with("x: not all weights are "), "{error}");
    }
}

#[test]
fn mistakes_have_names_and_places() {
    for (text, place, problem) in [
        ("1 2\n3\n", ":2:1:", "expected 2 columns, found 1"),
        ("1 2\n3 4 5\n", ":2:1:", "expected 2 columns, found 3"),
        ("1 2\n3 -4\n", ":2:3:", "negative id '-4'"),
        ("1 2\n3 4.5\n", ":2:3:", "id '4.5' is not a whole number"),
        ("1 2\n3 18446744073709551616\n", ":2:3:", "is over 2^64-1"),
        ("1 2\n3 1e400\n", ":2:3:", "is not a whole number"),
        ("1 2 3\n# c\n4 5 nan\n", ":3:5:", "weight 'nan' is not a number"),
        ("1 2 3\n4 5 inf\n", ":2:5:", "is infinite"),
        ("1 2 3\n4 5 1e999\n", ":2:5:", "is infinite"),
        ("1 2 3\n4 5 x\n", ":2:5:", "expected a weight, found 'x'"),
        ("1,2\n3,\n", ":2:3:", "expected an id, found an empty field"),
        ("1,2\n\"3,4\n", ":2:1:", "a quoted field must end on its own line"),
        ("17\n18\n", ":1:1:", "expected at least 2 columns, found 1"),
        ("-1 2\n", ":1:1:", "negative id '-1'"),
    ] {
        let error = read(text).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::Data { .. }), "{text:?}: {message}");
        let expected = format!("edges.txt{place}");
        assert!(message.starts_with(&expected) && message.contains(problem), "{text:?}: {message}");
    }
    // One odd word among many numbers is a mistake, not a name.
    let rows: String = (0..100).map(|i| format!("{i} {}\n", i + 1)).collect();
    let error = read(rows.clone() + "7 8x\n").unwrap_err().to_string();
    assert!(error.contains(":101:3:") && error.contains("`ids` names"), "{error}");
    let error = read(&b"\xff\xfe1\x00"[..]).unwrap_err().to_string();
    assert!(error.contains("UTF-16") || error.contains("not recognised"), "{error}");
    // A hostile line must not reach the terminal as it is.
    let error = read("1 2\n3 4\u{1b}[31m\n").unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn packed_and_parted_inputs_read_like_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..1000).map(|i| format!("{i},{}\n", (i * 7) % 1000)).collect();
    let whole = "source,target\n".to_owned() + &rows.concat();
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    let expected = edges(&read(whole.clone()).unwrap());
    assert_eq!(edges(&read(gzip(&whole)).unwrap()), expected);
    assert_eq!(edges(&read(zstd(&whole)).unwrap()), expected);
    // Two gzip members one after the other are one file.
    let (first, second) = (rows[..300].concat(), rows[300..].concat());
    assert_eq!(edges(&read([gzip(&first), gzip(&second)].concat()).unwrap()), expected);

    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("part-0.csv"), "source,target\n".to_owned() + first.trim_end())
        .unwrap();
    std::fs::write(parts.join("part-1.csv.gz"), gzip(&("source,target\n".to_owned() + &second)))
        .unwrap();
    std::fs::write(parts.join("_SUCCESS"), "").unwrap();
    let from = |spec: &str| {
        let source = Source::find(spec).unwrap();
        edges(&formats::read(&source, None, &ReadOptions::default()).unwrap())
    };
    assert_eq!(from(parts.to_str().unwrap()), expected);
    assert_eq!(from(parts.join("part-*").to_str().unwrap()), expected);
    // A mistake in the second part is counted from that part's first line.
    std::fs::write(parts.join("part-1.csv.gz"), gzip("source,target\n1,2\n3,-4\n")).unwrap();
    let source = Source::find(parts.to_str().unwrap()).unwrap();
    let error = formats::read(&source, None, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("part-1.csv.gz:3:3:"), "{error}");

    // A part without the header that the first part has would lose its first edge.
    std::fs::write(parts.join("part-1.csv.gz"), gzip("1,2\n3,4\n")).unwrap();
    let source = Source::find(parts.to_str().unwrap()).unwrap();
    let error = formats::read(&source, None, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("part-1.csv.gz:1:1:") && error.contains("the header of"), "{error}");

    // A part that is not there is an error, not fewer edges.
    std::os::unix::fs::symlink("missing", parts.join("part-2.csv")).unwrap();
    for spec in [parts.clone(), parts.join("part-*")] {
        let error = Source::find(spec.to_str().unwrap()).err().unwrap();
        assert!(matches!(error, Error::NoInput { .. }), "{error}");
        assert!(error.to_string().contains("part-2.csv"), "{error}");
    }

    let mut broken = gzip(&whole);
    broken.truncate(broken.len() / 2);
    let error = read(broken).unwrap_err();
    assert!(
        matches!(error, Error::Data { .. }) && error.to_string().contains("cannot unpack"),
        "{error}"
    );
    for missing in
        ["nothing/here.csv", "no-*-such", folder.path().join("empty-*").to_str().unwrap()]
    {
        assert!(matches!(Source::find(missing), Err(Error::NoInput { .. })), "{missing}");
    }
}

#[test]
fn matrix_market_symmetries() {
    let read = |text: &str| read_as("m.mtx", text, &ReadOptions::default());
    let banner = |kind: &str| format!("%%MatrixMarket matrix coordinate {kind}\n% c\n3 3 2\n");
    let general = read(&(banner("real general") + "1 2 0.5\n3 3 -2\n")).unwrap();
    assert_eq!(edges(&general), triples(&[("1", "2", 0.5), ("3", "3", -2.0)]));
    let symmetric = read(&(banner("integer symmetric") + "2 1 4\n3 3 5\n")).unwrap();
    assert_eq!(edges(&symmetric), triples(&[("1", "2", 4.0), ("2", "1", 4.0), ("3", "3", 5.0)]));
    assert_eq!(symmetric.direction, Direction::Undirected);
    let skew = read(&(banner("integer skew-symmetric") + "2 1 4\n3 1 5\n")).unwrap();
    let expected = [("1", "2", -4.0), ("1", "3", -5.0), ("2", "1", 4.0), ("3", "1", 5.0)];
    assert_eq!(edges(&skew), triples(&expected));
    assert_eq!(skew.direction, Direction::Directed);
    for (text, problem) in [
        (banner("complex general") + "1 2 3\n", "found 'complex'"),
        (banner("real hermitian") + "1 2 3\n", "found 'hermitian'"),
        ("%%MatrixMarket matrix array real general\n2 2\n".into(), "found 'array'"),
        (banner("pattern general") + "1 2\n", "declares 2 entries, found 1"),
        (banner("pattern general") + "1 2\n1 4\n", ":5:3:"),
        (banner("pattern general") + "0 2\n1 3\n", "vertex 0 does not exist"),
        (
            "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 1\n1 2\n"
                .into(),
            "`vertices`",
        ),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(problem), "{text:?}: {error}");
    }
}

#[test]
fn other_text_formats() {
    let read = |name: &str, text: &str| read_as(name, text, &ReadOptions::default());
    let dimacs = read("x.gr", "c hi\np sp 3 2\na 1 2 9\nc more\na 2 3 8\n").unwrap();
    assert_eq!(edges(&dimacs), triples(&[("1", "2", 9.0), ("2", "3", 8.0)]));
    let pace = read("x.gr", "p tw 3 1\n1 3\n").unwrap();
    assert_eq!(
        (pace.num_vertices(), pace.num_edges(), pace.direction),
        (3, 2, Direction::Undirected)
    );
    let coloured = read("x.col", "c hi\np edge 3 1\ne 1 3\n").unwrap();
    assert_eq!(coloured.num_edges(), 2);
    let metis = read("x.graph", "% c\n3 2 011 2\n7 7 2 5\n7 7 1 5 3 6\n7 7 2 6\n").unwrap();
    let expected = [("1", "2", 5.0), ("2", "1", 5.0), ("2", "3", 6.0), ("3", "2", 6.0)];
    assert_eq!(edges(&metis), triples(&expected));
    let ligra = read("x", "WeightedAdjacencyGraph\n3\n2\n0\n1\n2\n1\n0\n-4\n5\n").unwrap();
    assert_eq!(edges(&ligra), triples(&[("0", "1", -4.0), ("1", "0", 5.0)]));
    let adjacency = read("x.adj", "1 2 3\n2\n9\n").unwrap();
    assert_eq!((adjacency.num_vertices(), adjacency.num_edges()), (4, 2));
    for (name, text, problem) in [
        ("x.gr", "p sp 3 2\na 1 2 9\n", "declares 2 edges, found 1"),
        ("x.gr", "p sp 3 1\na 1 4 9\n", "vertex 4 does not exist"),
        ("x.gr", "p sp 3 1\ne 1 2 9\n", "'a'"),
        ("x.gr", "p sp 3\na 1 2 9\n", "expected the number of edges"),
        ("x.graph", "3 3\n2\n1\n\n", "expected 3 edges, each in both directions, found 2"),
        ("x.graph", "2 1\n2\n1\n1\n", "found more"),
        ("x.graph", "2 1\n3\n1\n", "vertex 1 has the neighbour 3; expected 1 to 2"),
        ("x.graph", "2 1\n9007199254740993\n1\n", "expected 1 to 2"),
        ("x.graph", "2 1 1\n1e300 7\n1 7\n", "0000…; expected 1 to 2"),
        ("x.graph", "900000000 1\n2\n1\n", "lines of vertices"),
        ("x", "AdjacencyGraph\n2\n1\n0\n1\n2\n", "vertex 2 does not exist"),
        ("x", "AdjacencyGraph\n2\n2\n0\n1\n1\n", "expected 2 destinations, not 1"),
        ("x", "AdjacencyGraph\n2\n1\n0\n9\n1\n", "expected an offset from 0 to 1"),
        ("x.adj", "1 2\nx 3\n", ":2:1:"),
    ] {
        let error = read(name, text).unwrap_err().to_string();
        assert!(error.contains(problem), "{text:?}: {error}");
    }
}

#[test]
fn graphalytics_data_sets() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let read = |name: &str| {
        let path = folder.path().join(name);
        formats::read(&Source::find(path.to_str().unwrap())?, None, &ReadOptions::default())
    };
    write("g.v", "2\n3\n77\n");
    write("g.e", "2 3 0.5\n");
    let properties = |vertices: u32| {
        format!(
            "# comment\ngraph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\n\
             graph.g.meta.vertices = {vertices}\ngraph.g.meta.edges = 1\ngraph.g.directed = false\n"
        )
    };
    write("g.properties", &properties(3));
    let graph = read("g.properties").unwrap();
    assert_eq!(
        (graph.num_vertices(), graph.num_edges(), graph.direction),
        (3, 2, Direction::Undirected)
    );
    for name in ["g.e", "g.v"] {
        assert_eq!((read(name).unwrap().num_vertices(), read(name).unwrap().num_edges()), (3, 1));
    }
    write("g.properties", &properties(4));
    assert!(read("g.properties").unwrap_err().to_string().contains("declares 4 vertices"));
    write("g.e", "2 4 0.5\n");
    assert!(read("g.e").unwrap_err().to_string().contains("names vertex 4"));
    write("b.properties", "graphclass=it.unimi.dsi.webgraph.BVGraph\n");
    assert!(read("b.properties").unwrap_err().to_string().contains("BVGraph"));
    write("h.properties", "graph.h.edge-file = g.e\n");
    assert!(read("h.properties").unwrap_err().to_string().contains("vertex-file"));
    // Neither standard input nor a folder of parts nor a glob: one file, which must be there.
    for odd in ["-", ".", "", "g.*", "h.e", "\u{1b}[31m"] {
        write("h.properties", &format!("# c\ngraph.h.edge-file = {odd}\n"));
        let error = read("h.properties").unwrap_err().to_string();
        assert!(error.contains("h.properties:2:1") && error.contains("no such file"), "{error:?}");
    }
}
