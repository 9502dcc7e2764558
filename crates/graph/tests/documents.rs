//! Files of other programs as those programs write them (`tests/data/documents`), and what is meant.

use std::path::Path;

use crate::folder::folder;
use parton_graph::formats::{self, ColumnKey, Columns, IdKind, ReadOptions};
use parton_graph::source::Source;
use parton_graph::{Csr, Direction, Graph, Result, Weight, with_csr};

/// A graph in words: its edges, sorted, vertices without edges, and its direction.
fn words(graph: &Graph) -> String {
    let name = |v: usize| graph.ids.get(v).to_string();
    let mut words: Vec<String> = with_csr!(&graph.adjacency, csr => csr
        .vertices()
        .flat_map(|v| {
            let edge = |(t, w): (parton_graph::LocalId, _)| {
                format!("{}>{}:{}", name(v.index()), name(t.index()), Weight::to_f64(w))
            };
            csr.edges(v).map(edge).collect::<Vec<_>>()
        })
        .collect());
    words.sort();
    let with_edges: Vec<&str> =
        words.iter().flat_map(|w| w.split(':').next().unwrap().split('>')).collect();
    let alone: Vec<String> =
        (0..graph.num_vertices()).map(name).filter(|n| !with_edges.contains(&&n[..])).collect();
    let direction = if graph.direction == Direction::Directed { "directed" } else { "undirected" };
    [words.join(" "), alone.join(" "), direction.into()].join(" | ")
}

fn read(name: &str, text: impl Into<Vec<u8>>) -> Result<Graph> {
    read_with(name, text, &ReadOptions::default())
}

fn read_with(name: &str, text: impl Into<Vec<u8>>, options: &ReadOptions<'_>) -> Result<Graph> {
    formats::read(&Source::memory(name, text)?, None, options)
}

fn refused(name: &str, text: &str) -> String {
    match read(name, text) {
        Ok(graph) => panic!("{text}: read as {}", graph.read_as),
        Err(error) => error.to_string(),
    }
}

fn data(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/documents");
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn files_as_other_programs_write_them() {
    let named = "Ada>Bob:2.5 Bob>Ada:2.5 Bob>Zoë:1 Zoë>Bob:1 | alone | undirected";
    let numbered = "0>1:3 1>2:4 2>2:5 | 7 | directed";
    let table = "1>2:1.5 2>3:2 3>1:0.25 |  | directed";
    for (name, expected, understood) in [
        (
            "networkx.graphml",
            named,
            "GraphML: source = source, destination = target, weight = weight; undirected, names as ids",
        ),
        ("networkx-directed.graphml", numbered, "directed, integer ids"),
        (
            "networkx.gml",
            named,
            "GML: source = source, destination = target, weight = weight; undirected, labels as ids",
        ),
        ("networkx-directed.gml", numbered, "directed, integer labels as ids"),
        (
            "networkx-links.json",
            named,
            "node-link JSON: source = source, destination = target, weight = weight; undirected, names as ids",
        ),
        ("networkx-directed.json", numbered, "directed, integer ids"),
        ("networkx-multi.json", "a>b:1 a>b:1 b>a:1 |  | directed", "no weights"),
        ("pandas-records.json", table, "directed, as it does not say otherwise"),
        (
            "pandas-lines.jsonl",
            table,
            "JSON lines: source = source, destination = target, weight = weight; directed, integer ids",
        ),
    ] {
        // The name must not matter.
        for name_given in [name, "x", "x.txt"] {
            let graph = read(name_given, data(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(words(&graph), expected, "{name}: {}", graph.read_as);
            assert!(graph.read_as.contains(understood), "{name}: {}", graph.read_as);
        }
    }
}

#[test]
fn arrow_of_every_writer() {
    let table = "1>2:1.5 2>3:2 3>1:0.25 |  | directed";
    for (name, expected) in [
        ("pandas.feather", table),
        ("pyarrow-zstd.feather", table),
        ("pyarrow-names.arrows", "Ada>Bob:1 Bob>Zoë:1 |  | directed"),
        ("pyarrow-views.arrow", "Ada>Bob:1 a name that is longer than twelve>Ada:1 |  | directed"),
    ] {
        let bytes = data(name);
        let graph = read("x", bytes.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(words(&graph), expected, "{name}: {}", graph.read_as);
        assert!(graph.read_as.starts_with("Arrow: source = "), "{}", graph.read_as);
        // A file ends with its messages; a stream may lack that end, and nothing else.
        let is_stream = name.ends_with("arrows");
        for end in 1..bytes.len() {
            match read("x", &bytes[..end]) {
                Ok(graph) => assert!(is_stream || words(&graph) == expected, "{name}, {end} bytes"),
                Err(error) => assert!(error.to_string().starts_with('x'), "{error}"),
            }
        }
    }
    let message = match read("x", data("pyarrow-nulls.arrow")) {
        Ok(graph) => panic!("{}", graph.read_as),
        Err(error) => error.to_string(),
    };
    assert_eq!(message, "x in row 2: column 'target' is null");
}

#[test]
fn arrow_in_several_parts_is_one_graph() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, to: &str| std::fs::write(folder.path().join(to), data(name)).unwrap();
    let read = || {
        let source = Source::find(folder.path()).unwrap();
        formats::read(&source, None, &ReadOptions::default())
    };
    copy("pandas.feather", "part-0.feather");
    copy("pyarrow-zstd.feather", "part-1.feather");
    let graph = read().unwrap();
    let expected = "1>2:1.5 1>2:1.5 2>3:2 2>3:2 3>1:0.25 3>1:0.25 |  | directed";
    assert_eq!(words(&graph), expected);
    assert!(graph.read_as.starts_with("Arrow in 2 parts: source = "), "{}", graph.read_as);
    copy("pyarrow-names.arrows", "part-2.arrows");
    let message = read().expect_err("names beside integers").to_string();
    assert!(message.contains("part-2.arrows: ids are names, but in "), "{message}");
}

#[test]
fn keys_are_found_by_their_names() {
    for (text, expected) in [
        (
            "{\"from\":1,\"to\":2}\n{\"to\":1,\"from\":3,\"note\":{\"a\":[1]}}\n",
            "1>2:1 3>1:1 |  | directed",
        ),
        ("{\"src\":\"a\",\"dst\":\"b\",\"cost\":1e2}\r\n\r\n", "a>b:100 |  | directed"),
        ("\u{feff}{\"id\":9,\"_from\":\"a/1\",\"_to\":\"b/2\"}", "a/1>b/2:1 |  | directed"),
        ("[{\"u\":1,\"v\":2,\"value\":7,\"weight\":3}]", "1>2:3 |  | directed"),
        // D3: vertices without ids are numbered; vis.js: from and to; sorted keys.
        (
            "{\"nodes\":[{\"name\":\"x\"},{\"name\":\"y\"}],\"links\":[{\"source\":1,\"target\":0,\"value\":8}]}",
            "1>0:8 |  | directed",
        ),
        (
            "{\"edges\":[{\"from\":4,\"to\":5}],\"nodes\":[{\"id\":4},{\"id\":5},{\"id\":6}]}",
            "4>5:1 | 6 | directed",
        ),
        (
            "{\"links\":[{\"source\":\"a\",\"target\":\"b\"}],\"nodes\":[\"a\",\"b\"],\"directed\":false}",
            "a>b:1 b>a:1 |  | undirected",
        ),
        // NetworkX 1: links by position, vertices with names.
        (
            "{\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"}],\"links\":[{\"source\":0,\"target\":1}]}",
            "a>b:1 |  | directed",
        ),
        (
            "{\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"links\":[{\"source\":\"a\",\"target\":\"b\"}]}",
            "a>b:1 |  | directed",
        ),
        ("{\"nodes\":[],\"links\":[]}", " |  | directed"),
        (
            "# c\nCreator \"Gephi\"\nVersion 1\ngraph\n[\n directed 0\n node\n [\n  id 5\n graphics [ x 1.5 ] ]\n node [ id 6 ]\n edge\n [\n id 1 source 5\n target 6\n value 2.0 weight 1.5 ]\n]\n",
            "5>6:1.5 6>5:1.5 |  | undirected",
        ),
        (
            "<graphml><key id='w' for='edge' attr.name='value' attr.type='int'><default>4</default></key><graph edgedefault='directed'><node id='n0'/><node id='n1'/><edge source='n0' target='n1'/><edge source='n1' target='n0' directed='false'><data key='w'> 9 </data></edge></graph></graphml>",
            "n0>n1:4 n0>n1:9 n1>n0:9 |  | directed",
        ),
        // Every attribute as text, which some programs write.
        (
            "graph [ directed 1 node [ id 5 ] node [ id 6 ] edge [ source 5 target 6 weight \"1.5\" ] ]",
            "5>6:1.5 |  | directed",
        ),
        (
            "<graphml><key id='w' for='edge' attr.name='weight' attr.type='string'/><graph edgedefault='directed'><node id='a'/><edge source='a' target='a'><data key='w'>2.5</data></edge></graph></graphml>",
            "a>a:2.5 |  | directed",
        ),
        // A number rather than a text.
        (
            "<graphml><key id='t' for='edge' attr.name='weight' attr.type='string'/><key id='w' for='edge' attr.name='w' attr.type='double'/><graph edgedefault='directed'><node id='a'/><edge source='a' target='a'><data key='t'>much</data><data key='w'>3</data></edge></graph></graphml>",
            "a>a:3 |  | directed",
        ),
        (
            "<graphml><graph edgedefault='undirected'><node id='007'/><node id='7'/><edge source='007' target='7'/></graph></graphml>",
            "007>7:1 7>007:1 |  | undirected",
        ),
    ] {
        let graph = read("x", text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(words(&graph), expected, "{text}: {}", graph.read_as);
    }
}

#[test]
fn users_choose_keys_and_ids() {
    let name = |name: &str| ColumnKey::Name(name.into());
    let (source, destination) = (name("who"), name("whom"));
    let columns = Some(Columns { source, destination, weight: Some(name("n")) });
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let lines = "{\"who\":1,\"whom\":2,\"n\":5,\"weight\":6}\n{\"who\":2,\"whom\":1,\"n\":4}\n";
    let graph = read_with("x", lines, &options).unwrap();
    assert_eq!(words(&graph), "1>2:5 2>1:4 |  | directed");
    let names = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    let mixed = "{\"source\":1,\"target\":\"b\"}\n";
    assert_eq!(words(&read_with("x", mixed, &names).unwrap()), "1>b:1 |  | directed");
    let integers = ReadOptions { ids: IdKind::Integers, ..ReadOptions::default() };
    let graph = read_with("x", data("networkx.gml"), &integers).unwrap();
    assert_eq!(words(&graph), "0>1:2.5 1>0:2.5 1>2:1 2>1:1 | 3 | undirected");
    let columns = Some(Columns {
        source: name("source"),
        destination: name("target"),
        weight: Some(name("b")),
    });
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let gml = "graph [ node [ id 0 ] edge [ source 0 target 0 weight 1 b 2 ] ]";
    assert_eq!(words(&read_with("x", gml, &options).unwrap()), "0>0:2 |  | undirected");
    let unweighted = ReadOptions { weights: false, ..ReadOptions::default() };
    let some = "{\"source\":1,\"target\":2}\n{\"source\":2,\"target\":1,\"weight\":3}\n";
    assert_eq!(words(&read_with("x", some, &unweighted).unwrap()), "1>2:1 2>1:1 |  | directed");
}

#[test]
fn mistakes_have_their_place() {
    let graphml = |inside: &str| {
        format!("<graphml><graph edgedefault='directed'><node id='a'/>{inside}</graph></graphml>")
    };
    for (text, expected) in [
        (
            "{\"source\":1,\"target\":2}\n{\"source\":1}\n",
            "x:2:1: in \"{\"source\":1}\": an edge without a \"target\"",
        ),
        (
            "{\"source\":1,\"target\":2}\n{\"source\":1,\"target\":-2}\n",
            "x:2:1: in \"{\"source\":1,\"target\":-2}\": negative id -2",
        ),
        ("{\"source\":1,\"target\":2}\n{\"source\":1,\"target\":\"3\"}\n", "say `ids` names"),
        (
            "{\"source\":1,\"target\":2}\n{\"source\":1,\"target\":3,\"weight\":1}\n",
            "an edge with a weight",
        ),
        ("{\"source\":1,\"target\":2,\"weight\":1}\n{\"source\":1,\"target\":3}\n", "x:2:1:"),
        (
            "{\"source\":1,\"target\":2,\"weight\":\"1,5\"}\n",
            "expected a weight, found the text '1,5'",
        ),
        ("{\"source\":1,\"target\":2,\"weight\":9007199254740993}\n", "cannot hold exactly"),
        ("{\"source\":1,\"target\":2}\n{\"source\":1,\"target\":2\n", "x:2:"),
        (
            "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n",
            "found a, b: say which are meant with `columns`",
        ),
        ("{\"nodes\":[{\"id\":1}],\n\"links\":[{\"source\":1,\"target\":NaN}]}", "x:2:"),
        ("{\"nodes\":[{\"id\":1}],\n\"links\":[{\"source\":1,\"target\":2}]}", "2"),
        ("{\"nodes\":[{\"id\":1},{\"id\":\"a\"}],\"links\":[]}", "some ids are numbers"),
        ("{\"nodes\":[{}],\"links\":[{\"source\":0,\"target\":1}]}", "1"),
        ("{\"elements\":{\"nodes\":[]}}", "Cytoscape JSON"),
        ("{\"id\":1,\"label\":\"person\",\"outE\":{}}", "GraphSON"),
        ("{\"type\":\"FeatureCollection\",\"features\":[]}", "GeoJSON"),
        ("{\"a\":1}", "expected an object with \"nodes\" and \"links\" or \"edges\", found a"),
        ("[[1,2],[2,3]]", "expected an object that is an edge"),
        ("graph [\n node [ id 0 ]\n edge [ source 0 ]\n]\n", "x:3:"),
        (
            "graph [\n node [ id 0 ]\n edge [ source 0 target 0 weight \"much\" ]\n]\n",
            "expected a weight, found 'much' (to leave weights out, say `weights` none)",
        ),
        (
            "<graphml><key id='w' for='edge' attr.name='weight' attr.type='string'/><graph edgedefault='directed'><node id='a'/><edge source='a' target='a'><data key='w'>much</data></edge></graph></graphml>",
            "expected a weight, found 'much' (to leave weights out, say `weights` none)",
        ),
        (
            "graph [\n node [ id 0 label \"a\" ] node [ id 1 label \"a\" ]\n]\n",
            "two vertices are labelled 'a'",
        ),
        ("graph [\n node [ id 0 ]\n", "the file ends inside a list"),
        (
            &graphml("<edge source='a'/>")[..],
            "x at byte 71: an <edge> without a source or a target",
        ),
        (&graphml("<edge source='a' target='b'/>")[..], "b"),
        (&graphml("<hyperedge/>")[..], "<hyperedge>"),
        ("<graphml><graph><node id='a'/></graph></graphml>", "edgedefault"),
        ("<graphml><graph edgedefault='directed'><node id='a'>", "the file ends inside an element"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><graphml></graphml>", "convert it to UTF-8"),
    ] {
        let message = refused("x", text);
        assert!(message.starts_with("x") && message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn packed_by_every_program() {
    let expected = "1>20:1 20>3:1 3>3:1 |  | directed";
    for name in ["text.bz2", "text.xz", "text.lz4"] {
        let packed = data(name);
        assert_eq!(words(&read(name, packed.clone()).unwrap()), expected);
        // Each file has two streams, so only a cut between them leaves a whole one.
        let mut read_halves = 0;
        for end in 1..packed.len() {
            match read(name, &packed[..end]) {
                Ok(graph) if graph.num_edges() == 1 => read_halves += 1,
                Ok(graph) => assert_eq!(words(&graph), expected, "{name} cut at {end}"),
                Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
            }
        }
        assert!(read_halves <= 1, "{name}: {read_halves}");
        // Both have checksums: a flipped bit is an error, or one of those that do not count.
        for at in 0..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 1 << (at % 8);
            if let Ok(graph) = read(name, changed) {
                assert_eq!(words(&graph), expected, "{name}, byte {at}");
            }
        }
        // What is not written is refused before work.
        let output = folder();
        let graph = Graph::dense(Csr::from_edges(2, &[(0, 1, ())]), "");
        let path = output.path().join(format!("out.el{}", &name[4..]));
        let error = formats::write(&graph, &path, None, &formats::WriteOptions::default());
        assert!(error.unwrap_err().to_string().contains("use .zst or .gz"));
    }
}

#[test]
fn folders_of_folders_are_one_input() {
    let graph = Graph::dense(Csr::from_edges(3, &[(0, 1, 5u32), (1, 2, 6)]), "");
    let folder = folder();
    for part in ["year=2024/month=01", "year=2024/month=02", "year=2025/_tmp", ".hidden"] {
        let part = folder.path().join("table").join(part);
        std::fs::create_dir_all(&part).unwrap();
        let path = part.join("part-0.parquet");
        formats::write(&graph, &path, None, &formats::WriteOptions::default()).unwrap();
    }
    std::fs::write(folder.path().join("table/_SUCCESS"), "").unwrap();
    std::fs::write(folder.path().join("table/_metadata"), "PAR1").unwrap();
    std::fs::write(folder.path().join("table/year=2024/.part.crc"), "x").unwrap();
    let source = Source::find(folder.path().join("table").to_str().unwrap()).unwrap();
    assert_eq!(source.parts().len(), 2);
    let read = formats::read(&source, None, &ReadOptions::default()).unwrap();
    assert_eq!(words(&read), "0>1:5 0>1:5 1>2:6 1>2:6 |  | directed");
    let name = |name: &str| ColumnKey::Name(name.into());
    let (source_column, destination) = (name("source"), name("year"));
    let columns = Some(Columns { source: source_column, destination, weight: None });
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let error = formats::read(&source, None, &options).unwrap_err().to_string();
    assert!(error.contains("names of folders"), "{error}");
}
