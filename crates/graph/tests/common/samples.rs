//! Small files of every format: what the tests harm and what the fuzzer starts from.

use std::io::Write as _;

use parton_graph::formats::{self, Format, WriteOptions};
use parton_graph::id_map::Names;
use parton_graph::{Csr, Graph, Ids};

/// A sound file.
pub(crate) struct Sample {
    pub(crate) format: &'static dyn Format,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// At least one sample of every format.
///
/// # Panics
/// When a format has none: it needs a writer, or an entry in [`by_hand`].
pub(crate) fn samples() -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for sample in by_hand().into_iter().chain(formats::ALL.iter().flat_map(|f| written(*f))) {
        if samples.iter().all(|known| known.bytes != sample.bytes) {
            samples.push(sample);
        }
    }
    for format in formats::ALL {
        let has_sample = samples.iter().any(|sample| sample.format.name() == format.name());
        assert!(has_sample, "the format {} needs a sample", format.name());
    }
    samples
}

/// Files as other programs write them.
fn by_hand() -> Vec<Sample> {
    let texts = [
        ("edges", "crlf.txt", "\u{feff}# SNAP\r\n1 20\r\n\r\n20 3\r\n"),
        ("edges", "packed.txt.gz", "1 20\n20 3\n3 3\n"),
        ("edges", "packed.csv.zst", "u;v;w\n1;20;0.5\n20;3;-2e9\n"),
        (
            "mtx",
            "skew.mtx",
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n%\n3 3 1\n2 1 4\n",
        ),
        ("ligra", "plain.ligra", "AdjacencyGraph\n3\n2\n0\n1\n2\n1\n0\n"),
        ("ligra", "weights.ligra", "WeightedAdjacencyGraph\n2 2\n0 1\n1 0\n-4 5.5\n"),
        ("dimacs", "road.dimacs", "c hi\np sp 3 2\na 1 2 9\nc\na 2 3 8\n"),
        ("dimacs", "tree.dimacs", "p tw 3 2\n1 3\n2 3\n"),
        ("dimacs", "map.col", "p edge 3 1\ne 1 3\n"),
        ("graphalytics", "g.e", "2 3 0.5\n3 77 1\n"),
        ("metis", "plain.graph", "% c\n3 2\n2\n1 3\n2\n"),
        ("metis", "weights.graph", "3 2 111 2\n1 7 7 2 5\n1 7 7 1 5 3 0.5\n1 7 7 2 0.5\n"),
        ("adjacency", "lines.adj", "# c\n1 2 3\n2\n9 18446744073709551615\n"),
        ("jester", "ratings.jester", "2,-7.5,99,4\n0,99,99,99\n"),
    ];
    let files: [(&str, &str, &[u8]); 12] = [
        ("edges", "text.bz2", include_bytes!("../data/documents/text.bz2")),
        ("edges", "text.xz", include_bytes!("../data/documents/text.xz")),
        ("edges", "text.lz4", include_bytes!("../data/documents/text.lz4")),
        ("arrow", "names.arrows", include_bytes!("../data/documents/pyarrow-names.arrows")),
        ("arrow", "views.arrow", include_bytes!("../data/documents/pyarrow-views.arrow")),
        ("arrow", "zstd.feather", include_bytes!("../data/documents/pyarrow-zstd.feather")),
        ("json", "links.json", include_bytes!("../data/documents/networkx-links.json")),
        ("json", "records.json", include_bytes!("../data/documents/pandas-records.json")),
        ("jsonl", "lines.jsonl", include_bytes!("../data/documents/pandas-lines.jsonl")),
        ("graphml", "named.graphml", include_bytes!("../data/documents/networkx.graphml")),
        ("gml", "named.gml", include_bytes!("../data/documents/networkx.gml")),
        ("gml", "directed.gml", include_bytes!("../data/documents/networkx-directed.gml")),
    ];
    let files = files.map(|(format, name, bytes)| Sample {
        format: formats::by_name(format).expect("a format"),
        name: name.into(),
        bytes: bytes.into(),
    });
    let text = |(format, name, text): (&str, &str, &str)| Sample {
        format: formats::by_name(format).expect("a format"),
        name: name.into(),
        bytes: match name.rsplit_once('.') {
            Some((_, "gz")) => {
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
                packed.write_all(text.as_bytes()).expect("memory takes everything");
                packed.finish().expect("memory takes everything")
            }
            Some((_, "zst")) => zstd::encode_all(text.as_bytes(), 1).expect("text can be packed"),
            _ => text.into(),
        },
    };
    let gap = |name: &str, directed: bool, neighbours: &[[u32; 2]], weighted: bool| {
        // Vertices 0, 1 and 2, two edges: 0 and 2 have one neighbour each, or 1 has both.
        let mut bytes = vec![u8::from(directed)];
        let mut rows = Vec::new();
        for number in [0, 1, 1, 2u64] {
            rows.extend(number.to_le_bytes());
        }
        for [vertex, weight] in neighbours {
            rows.extend(vertex.to_le_bytes());
            rows.extend(if weighted { weight.to_le_bytes().to_vec() } else { vec![] });
        }
        bytes.extend(2u64.to_le_bytes());
        bytes.extend(3u64.to_le_bytes());
        bytes.extend(rows.repeat(if directed { 2 } else { 1 }));
        Sample { format: formats::by_name("gap").expect("a format"), name: name.into(), bytes }
    };
    let gap = [
        gap("plain.sg", true, &[[2, 0], [0, 0]], false),
        gap("weights.wsg", false, &[[2, 7], [0, 7]], true),
    ];
    texts.map(text).into_iter().chain(files).chain(gap).collect()
}

/// What a format's own writer makes of a few graphs.
fn written(format: &'static dyn Format) -> Vec<Sample> {
    if format.writer().is_none() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut samples = Vec::new();
    let endings = format.endings().iter().map(|e| format!(".{e}"));
    let packed = [".gz", ".zst"].map(|packing| format!(".{}{packing}", format.endings()[0]));
    for (ending, graph) in endings.chain(packed).flat_map(|e| graphs().map(|g| (e.clone(), g))) {
        for version in [None, Some(2)] {
            let name = format!("written{ending}");
            let path = folder.path().join(&name);
            let options = WriteOptions { version, ..WriteOptions::default() };
            // Not every format has a second version.
            match formats::write(&graph, &path, Some(format), &options) {
                Err(error) => assert_eq!(version, Some(2), "{error}"),
                Ok(()) => {
                    let bytes = std::fs::read(&path).expect("just written");
                    samples.push(Sample { format, name, bytes });
                }
            }
        }
    }
    samples
}

/// Graphs with every kind of id, of weight and of direction, and all oddities: parallel edges,
/// loops, vertices without edges.
fn graphs() -> [Graph; 4] {
    let plain = Graph::dense(Csr::from_edges(3, &[(0, 1, ()), (0, 1, ()), (1, 1, ())]), "");
    let whole = Csr::from_edges(3, &[(0, 2, 7u32), (2, 2, 8), (1, 0, 9)]);
    let names: Names = ["Göttingen".as_bytes(), b"b", b"x\"y"].into_iter().collect();
    let named = Graph { ids: Ids::Names(names), ..Graph::dense(whole.clone(), "") };
    let real = Csr::from_edges(3, &[(0, 1, -0.5f64), (2, 0, 1e300)]);
    let sparse = Ids::Integers(vec![7, 1 << 40, u64::MAX].into());
    let sparse = Graph { ids: sparse, ..Graph::dense(real, "") };
    [plain, named, sparse, Graph::dense(whole, "").undirected()]
}

/// A harmed file whose checksums have been made right again, as someone who means harm would do;
/// `None` for formats without any. Otherwise no harm would reach what lies behind them.
pub(crate) fn repaired(format: &dyn Format, harmed: &[u8]) -> Option<Vec<u8>> {
    if format.name() != "parton" || harmed.len() < 64 {
        return None;
    }
    let mut bytes = harmed.to_vec();
    // `docs/files.md`: a section has an entry of 24 bytes in the table at byte 64, and, being
    // short, one checksum after the table; kinds of weights and of ids tell how many there are.
    let sections = 2 + usize::from(bytes[16] != 0) + usize::from(bytes[17] & 3);
    let table = bytes.get(64..64 + 24 * sections)?.to_vec();
    let number = |entry: &[u8], at| u64::from_le_bytes(entry[at..at + 8].try_into().expect("8"));
    let mut at = 64 + table.len();
    for entry in table.chunks_exact(24) {
        let (start, len) = (number(entry, 8) as usize, number(entry, 16) as usize);
        let data = bytes.get(start..start.saturating_add(len)).filter(|data| !data.is_empty());
        if let Some(checksum) = data.map(crc32fast::hash) {
            bytes.get_mut(at..at + 4)?.copy_from_slice(&checksum.to_le_bytes());
            at += 4;
        }
    }
    let tables = crc32fast::hash(&bytes[64..at]);
    bytes[56..60].copy_from_slice(&tables.to_le_bytes());
    let header = crc32fast::hash(&bytes[..60]);
    bytes[60..64].copy_from_slice(&header.to_le_bytes());
    Some(bytes)
}
