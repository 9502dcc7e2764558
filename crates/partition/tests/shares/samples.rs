//! Sound files of every format: nasty small ones, and some with a few hundred edges.

use parton_graph::id_map::Names;
use parton_graph::{Csr, Graph, Ids, formats};

/// An input.
pub(crate) struct Sample {
    /// Names and contents of its files.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// The one that is opened.
    pub(crate) open: String,
    /// Whether one edge in the file is two in the graph.
    pub(crate) mirrored: bool,
}

impl Sample {
    fn text(name: &str, text: impl Into<String>) -> Self {
        let files = vec![(name.into(), text.into().into_bytes())];
        Sample { files, open: name.into(), mirrored: false }
    }

    fn mirrored(self) -> Self {
        Sample { mirrored: true, ..self }
    }

    /// Whether hosts must agree on something to read it: ids, counts of lines, signs.
    pub(crate) fn is_protocol(&self) -> bool {
        let name = &self.open[..];
        ["hundreds.graph", "hundreds.ligra", "names.gr", "signs.wsg", "set.e", "hundreds.jester"]
            .contains(&name)
            || name == "names.tsv"
    }
}

/// At least one sample of every format.
///
/// # Panics
/// When a format has none.
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples = edge_lists();
    samples.extend(matrices());
    samples.extend(neighbours());
    samples.extend(numbers());
    samples.extend(ratings());
    samples.extend(serialized());
    samples.extend(data_sets());
    samples.extend(written());
    samples.extend(documents());
    for format in formats::ALL {
        let has = samples.iter().any(|s| {
            let found = formats::by_ending(&s.open);
            found.is_some_and(|found| found.name() == format.name())
        });
        assert!(has, "the format {} needs a sample", format.name());
    }
    samples
}

/// Documents, which one host reads, and JSON lines, which all do.
fn documents() -> Vec<Sample> {
    let edge = |i: u64| (i * i % 97, i * 31 % 89, i % 7);
    let listed = |item: fn((u64, u64, u64)) -> String, between: &str| -> String {
        (0..300).map(edge).map(item).collect::<Vec<_>>().join(between)
    };
    let json = |(u, v, w): (u64, u64, u64)| {
        format!("{{\"source\": {u}, \"target\": {v}, \"weight\": {w}}}")
    };
    let links = listed(json, ",\n");
    let vertices = |item: fn(u64) -> String| (0..100).map(item).collect::<Vec<_>>();
    let nodes = vertices(|v| format!("{{\"id\": {v}}}")).join(", ");
    let xml = listed(|(u, v, _)| format!("<edge source='v{u}' target='v{v}'/>"), "\n");
    let xml_nodes = vertices(|v| format!("<node id='v{v}'/>")).concat();
    let gml = listed(|(u, v, w)| format!("edge [ source {u} target {v} weight {w}.5 ]"), "\n");
    let gml_nodes = vertices(|v| format!("node [ id {v} label \"l{v}\" ]")).concat();
    let arrow = include_bytes!("../../../graph/tests/data/documents/pyarrow-zstd.feather");
    let files = vec![("zstd.feather".into(), arrow.to_vec())];
    vec![
        Sample { files, open: "zstd.feather".into(), mirrored: false },
        Sample::text("hundreds.jsonl", listed(json, "\r\n")),
        Sample::text(
            "hundreds.json",
            format!("{{\"directed\": true, \"links\": [{links}], \"nodes\": [{nodes}]}}"),
        ),
        Sample::text(
            "hundreds.graphml",
            format!("<graphml><graph edgedefault='undirected'>{xml_nodes}{xml}</graph></graphml>"),
        )
        .mirrored(),
        Sample::text("hundreds.gml", format!("graph [ {gml_nodes} {gml} ]")).mirrored(),
    ]
}

/// Edge lists, also with DOS line ends and without the last line end.
fn edge_lists() -> Vec<Sample> {
    let rows = |scale: u64, weight: &str| -> String {
        let row = |i: u64| format!("{} {}{weight}\n", i * i % 97 * scale, i * 31 % 89 * scale + 5);
        (0..300).map(row).collect()
    };
    let header = "# a comment\n\n".to_owned();
    let mut samples = vec![Sample::text(
        "names.tsv",
        "# names\nfrom\tto\nRome\tNew York\nNew York\tOslo\nOslo\tRome\nBern\tOslo\n",
    )];
    for text in [
        String::new(),
        "\n\n".into(),
        header.clone(),
        "7 9".into(),
        "7 7\n".into(),
        "\u{feff}1 2\n".into(),
        header.clone() + &rows(1, ""),
        header.clone() + &rows(1, " 4"),
        rows(1_000_003, " 0.5"),
        rows(1 << 50, ""),
        "from,to,cost\n1,2,3\n2,18446744073709551615,4.5\n".into(),
    ] {
        samples.push(Sample::text("crlf.txt", text.replace('\n', "\r\n")));
        samples.push(Sample::text("stripped.txt", text.trim_end()));
        samples.push(Sample::text("plain.txt", text));
    }
    samples
}

fn one_based(tag: &str, weight: &str) -> String {
    (0..90).map(|i| format!("{tag}{} {}{weight}\n", i * i % 40 + 1, i * 7 % 40 + 1)).collect()
}

fn matrices() -> Vec<Sample> {
    let banner = "%%MatrixMarket matrix coordinate";
    let mut samples = Vec::new();
    for (kind, weight) in [("pattern", ""), ("integer", " 7"), ("real", " 0.5"), ("real", " 0")] {
        for symmetry in ["general", "symmetric", "skew-symmetric"] {
            let text =
                format!("{banner} {kind} {symmetry}\n% c\n45 45 90\n{}", one_based("", weight));
            let sample = Sample::text("hundreds.mtx", text);
            samples.push(if symmetry == "general" { sample } else { sample.mirrored() });
        }
    }
    samples.push(Sample::text("empty.mtx", format!("{banner} pattern general\n0 0 0\n")));
    samples.push(Sample::text("isolated.mtx", format!("{banner} pattern general\n5 3 0")));
    samples.push(Sample::text(
        "hundreds.dimacs",
        format!("c hi\np sp 45 90\nc more\n{}", one_based("a ", " 9")),
    ));
    samples
        .push(Sample::text("tree.dimacs", format!("p tw 45 90\n{}", one_based("", ""))).mirrored());
    samples.push(Sample::text("map.col", "p edge 3 1\r\ne 1 3\r\n").mirrored());
    samples.push(Sample::text("none.dimacs", "p sp 7 0\n"));
    samples
}

/// METIS and adjacency lines.
fn neighbours() -> Vec<Sample> {
    let vertices = 60;
    let edges: Vec<(usize, usize)> = (0..150).map(|i| (i * i % 59, i * 7 % 58)).collect();
    let line = |v: usize, weights: bool| -> String {
        let mut line = String::new();
        for (i, &(s, d)) in edges.iter().enumerate() {
            let weight = if weights { format!(" {}", i as f64 / 2.0) } else { String::new() };
            for other in [(s == v).then_some(d), (d == v).then_some(s)].into_iter().flatten() {
                line += &format!("{}{weight} ", other + 1);
            }
        }
        line + "\n"
    };
    let lines = |weights| (0..vertices).map(|v| line(v, weights)).collect::<String>();
    let half: String = (0..150)
        .map(|i| if i % 3 == 0 { format!("{}\n", i % 7 + 1) } else { "\n".into() })
        .collect();
    let mut samples = vec![
        Sample::text("hundreds.graph", format!("% c\n60 150\n{}", lines(false))),
        Sample::text("weights.graph", format!("60 150 001\n{}", lines(true))),
        Sample::text("arcs.graph", format!("150 50\n{half}")),
        Sample::text("all.graph", "3 2 111 2\n1 7 7 2 5\n1 7 7 1 5 3 0.5\n1 7 7 2 0.5\n"),
        Sample::text("sizes.graph", "3 2 100\n2\n1 3\n2\n"),
        Sample::text("dense.adj", "# c\n1 2 3\n\n2\n9 18446744073709551615\n9 9 9"),
        Sample::text("empty.adj", ""),
        Sample::text("isolated.adj", "7\n8\n# c\n9\n"),
        Sample::text(
            "hundreds.adj",
            (0..99).map(|i| format!("{} {} {i}\n", i * i % 50, i * 3)).collect::<String>(),
        ),
    ];
    for text in [
        "3 2\n2\n1 3\n2\n",
        "5 2\n2\n1 3\n2\n\n\n",
        "5 2\n\n3\n2 4\n3\n",
        "3 2\n2\n1 3\n2\n\n\n\n\n",
        "% c\n3 2\n% d\n2\n% e\n1 3\n2\n% f\n",
        "1 0\n\n",
        "1 0",
        "0 0\n",
        "2 1\n1\n2\n",
    ] {
        samples.push(Sample::text("plain.graph", text));
        samples.push(Sample::text("crlf.graph", text.replace('\n', "\r\n")));
        samples.push(Sample::text("stripped.graph", text.trim_end()));
    }
    samples
}

/// Ligra.
fn numbers() -> Vec<Sample> {
    let degrees: Vec<usize> = (0..80).map(|v| if v % 7 == 3 { 0 } else { v * v % 5 }).collect();
    let edges: usize = degrees.iter().sum();
    let offsets: Vec<String> =
        (0..80).map(|v| degrees[..v].iter().sum::<usize>().to_string()).collect();
    let targets: Vec<String> = (0..edges).map(|e| (e * e % 80).to_string()).collect();
    let weights: Vec<String> = (0..edges).map(|e| (e as f64 / 4.0).to_string()).collect();
    let words = |kind: &str, weighted: bool| -> Vec<String> {
        let mut words = vec![kind.to_owned(), "80".into(), edges.to_string()];
        words.extend(offsets.iter().chain(&targets).cloned());
        words.extend(weights.iter().filter(|_| weighted).cloned());
        words
    };
    let mut samples = Vec::new();
    for separator in ["\n", "\r\n", " ", "\t \n\n"] {
        let plain = words("AdjacencyGraph", false).join(separator);
        let weighted = words("WeightedAdjacencyGraph", true).join(separator);
        samples.push(Sample::text("hundreds.ligra", plain + separator));
        samples.push(Sample::text("weights.ligra", weighted));
    }
    for text in [
        "AdjacencyGraph\n0\n0\n",
        "AdjacencyGraph\n1\n0\n0",
        "AdjacencyGraph 1 1 0 0",
        "WeightedAdjacencyGraph\n2 2\n0 1\n1 0\n-4 5.5\n",
        "AdjacencyGraph\n5\n2\n0\n0\n2\n2\n2\n4\n4\n",
        "\u{feff}AdjacencyGraph\n3\n2\n0\n1\n2\n1\n0\n",
    ] {
        samples.push(Sample::text("plain.ligra", text));
    }
    samples
}

/// Jester.
fn ratings() -> Vec<Sample> {
    let user = |u: usize| {
        let rated: Vec<usize> = (0..9).filter(|item| (u * item) % 4 == 1).collect();
        let rating =
            |item| if rated.contains(&item) { format!(",{}.5", item + u) } else { ",99".into() };
        format!("{}{}\n", rated.len(), (0..9).map(rating).collect::<String>())
    };
    vec![
        Sample::text("hundreds.jester", (0..120).map(user).collect::<String>()),
        Sample::text("plain.jester", "2,-7.5,99,4\n0,99,99,99\n"),
        Sample::text("crlf.jester", "\r\n2,-7.5,99,4\r\n\r\n0,99,99,99"),
        Sample::text("empty.jester", ""),
        Sample::text("lazy.jester", "0,99\n\n\n"),
    ]
}

/// GAP.
fn serialized() -> Vec<Sample> {
    let gap = |name: &str, directed: bool, rows: &[&[(u32, i32)]], weighted: bool| {
        let mut arrays = Vec::new();
        let mut offset = 0u64;
        arrays.extend(offset.to_le_bytes());
        for row in rows {
            offset += row.len() as u64;
            arrays.extend(offset.to_le_bytes());
        }
        for (vertex, weight) in rows.iter().flat_map(|row| row.iter()) {
            arrays.extend(vertex.to_le_bytes());
            if weighted {
                arrays.extend(weight.to_le_bytes());
            }
        }
        let mut bytes = vec![u8::from(directed)];
        bytes.extend(offset.to_le_bytes());
        bytes.extend((rows.len() as u64).to_le_bytes());
        bytes.extend(arrays.repeat(if directed { 2 } else { 1 }));
        Sample { files: vec![(name.into(), bytes)], open: name.into(), mirrored: false }
    };
    let rows: Vec<Vec<(u32, i32)>> = (0..50u32)
        .map(|v| (0..v * v % 6).map(|i| ((v + i * 11) % 50, (v * i) as i32)).collect())
        .collect();
    let mut signs = rows.clone();
    signs[35][0].1 = -3;
    let rows: Vec<&[(u32, i32)]> = rows.iter().map(|row| &row[..]).collect();
    let signs: Vec<&[(u32, i32)]> = signs.iter().map(|row| &row[..]).collect();
    vec![
        gap("plain.sg", true, &rows, false),
        gap("plain.wsg", true, &rows, true),
        gap("signs.wsg", true, &signs, true),
        gap("pair.sg", false, &[&[(1, 0)], &[(0, 0)]], false),
        gap("pair.wsg", false, &[&[(1, -1)], &[(0, -1)]], true),
        gap("isolated.sg", false, &[&[], &[], &[]], false),
        gap("empty.sg", true, &[], false),
    ]
}

/// Graphalytics.
fn data_sets() -> Vec<Sample> {
    let set = |vertices: &str, edges: &str, properties: Option<&str>| {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let mut files = vec![file("set.v", vertices), file("set.e", edges)];
        let mut open = "set.e";
        if let Some(properties) = properties {
            open = "set.properties";
            let text =
                format!("graph.set.vertex-file = set.v\ngraph.set.edge-file = set.e\n{properties}");
            files.push(file(open, &text));
        }
        Sample { files, open: open.into(), mirrored: properties.is_some() }
    };
    let many: String = (0..70).map(|v| format!("{}\n", v * v)).collect();
    let edges: String =
        (0..150u32).map(|i| format!("{} {} 0.5\n", (i % 70).pow(2), (i * 3 % 70).pow(2))).collect();
    vec![
        set("2\n3\n77\n100\n", "2 3 0.5\n3 77 1\n", None),
        set("# c\r\n2 x\r\n\r\n3\r\n77", "2 3\r\n3 77", None),
        set("5\n", "", None),
        set(&many, &edges, None),
        set(
            &many,
            &edges,
            Some(
                "graph.set.directed = true\ngraph.set.meta.vertices = 70\ngraph.set.meta.edges = 150\n",
            ),
        ),
        set(&many, &edges, Some("graph.set.directed = false\n")),
        set("Rome\nOslo\nBern\n", "Rome Oslo\nOslo Rome\n", None),
        Sample::text("alone.e", "1 2\n2 9\n"),
    ]
}

/// What formats' own writers make of graphs with all kinds of weights and ids.
fn written() -> Vec<Sample> {
    let edges = |weight: fn(u32) -> f64| -> Vec<(u32, u32, f64)> {
        (0..200u32).map(|i| (i * i % 40, i * 7 % 41, weight(i))).collect()
    };
    let dense = Graph::dense(Csr::from_edges(45, &edges(|w| f64::from(w) / 2.0)), "");
    let names: Vec<String> = (0..45).map(|v| format!("v {v:02}")).collect();
    let names = Ids::Names(names.iter().map(|name| name.as_bytes()).collect::<Names>());
    let digits = Ids::Names(
        (10..55)
            .map(|v| v.to_string())
            .collect::<Vec<_>>()
            .iter()
            .map(|n| n.as_bytes())
            .collect::<Names>(),
    );
    let sparse = Ids::Integers((0..45).map(|v| v * v + 3).collect::<Vec<u64>>().into());
    let graph = |ids: &Ids| Graph { ids: ids.clone(), ..dense.clone() };
    let float = Csr::from_edges(3, &[(0, 1, 1.5f32), (2, 0, -0.25)]);
    let whole = Csr::from_edges(3, &[(0, 1, 7u32), (2, 0, u32::MAX)]);
    let none: &[(u32, u32, ())] = &[];
    let mut samples = Vec::new();
    let mut add = |name: &str, graph: &Graph, version: Option<u32>| {
        let folder = tempfile::tempdir().unwrap();
        let options = formats::WriteOptions { version, ..Default::default() };
        formats::write(graph, &folder.path().join(name), None, &options).unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        });
        let mirrored = graph.direction == parton_graph::Direction::Undirected;
        samples.push(Sample { files: files.collect(), open: name.into(), mirrored });
    };
    for ending in ["parton", "parquet", "gr", "mtx"] {
        for (ids, kind) in [(&names, "names"), (&digits, "digits"), (&sparse, "sparse")] {
            add(&format!("{kind}.{ending}"), &graph(ids), None);
        }
        add(&format!("plain.{ending}"), &dense, None);
        if ending != "parquet" {
            add(&format!("empty.{ending}"), &Graph::dense(Csr::from_edges(0, none), ""), None);
        }
        add(&format!("isolated.{ending}"), &Graph::dense(Csr::from_edges(3, none), ""), None);
        add(&format!("float.{ending}"), &Graph::dense(float.clone(), ""), None);
        add(&format!("whole.{ending}"), &Graph::dense(whole.clone(), ""), None);
    }
    add("both.parton", &dense.clone().undirected(), None);
    add("wide.gr", &dense, Some(2));
    add("both.mtx", &Graph::dense(whole, "").undirected(), None);
    samples
}
