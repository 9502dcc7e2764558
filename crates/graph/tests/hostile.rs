//! Every format against every truncation and every changed byte of small files, against headers
//! that lie and against files that never end: always a graph or an error with a name, never a
//! panic, never much memory.

mod common;
#[path = "common/folder.rs"]
mod folder;
mod fuzz_smoke;

use std::fs;
use std::io::{self, Write as _};

use common::judge::{allowance, judge};
use common::samples::{Sample, repaired, samples};
use common::{examine, on_every_core};
use folder::folder;
use parton_graph::formats::{self, ReadOptions, WriteOptions};
use parton_graph::source::Source;
use parton_graph::{Error, Graph, Result};

/// Bytes that mean something to some reader.
const REPLACEMENTS: [u8; 7] = [0x00, 0xff, b'0', b'9', b'-', b'\n', b' '];

/// In how many ways a file of `len` bytes is harmed: cut at every length, every byte changed.
fn harms(len: usize) -> usize {
    len + len * (8 + REPLACEMENTS.len())
}

fn harmed(bytes: &[u8], harm: usize) -> Vec<u8> {
    let Some(change) = harm.checked_sub(bytes.len()) else { return bytes[..harm].to_vec() };
    let (at, change) = (change / (8 + REPLACEMENTS.len()), change % (8 + REPLACEMENTS.len()));
    let mut bytes = bytes.to_vec();
    bytes[at] = match change {
        0..8 => bytes[at] ^ 1 << change,
        _ => REPLACEMENTS[change - 8],
    };
    bytes
}

#[test]
fn samples_are_sound_and_recognised() {
    for Sample { format, name, bytes } in samples() {
        let source = Source::memory(&name[..], bytes).unwrap();
        let read = |format| formats::read(&source, format, &ReadOptions::default());
        let told = read(Some(format)).unwrap_or_else(|e| panic!("{} {name}: {e}", format.name()));
        let found = read(None).unwrap_or_else(|e| panic!("{} {name}: {e}", format.name()));
        assert!(told.num_edges() > 0, "{name}");
        assert_eq!((told.adjacency, told.ids), (found.adjacency, found.ids), "{name}");
    }
}

#[test]
fn harmed_files_are_graphs_or_errors() {
    for Sample { format, name, bytes } in samples() {
        let complaints = on_every_core(2 * harms(bytes.len()), |i| {
            let told = [Some(format), None][i % 2];
            let harmed = harmed(&bytes, i / 2);
            if let Some(repaired) = repaired(format, &harmed) {
                examine(told, &name, &repaired)?;
            }
            examine(told, &name, &harmed)
        });
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
    // What is mapped is not counted by the allocator, but by the system: nobody took much of it.
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kilobytes < 1 << 20, "{kilobytes} kB were resident at once");
    }
}

/// Files on the disk, the first of which is read: where files belong together or are mapped.
fn sets_of_files() -> Vec<Vec<(String, Vec<u8>)>> {
    let data_set = [
        (
            "g.properties",
            "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\ngraph.g.meta.vertices = 3\n\
             graph.g.meta.edges = 2\ngraph.g.directed = false\n",
        ),
        ("g.v", "2\n3\n77\n"),
        ("g.e", "2 3 0.5\n3 77 1\n"),
    ];
    let data_set = data_set.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into();
    let alone = |ending: &str| {
        let sample = samples().into_iter().find(|sample| sample.name.ends_with(ending)).unwrap();
        vec![(sample.name, sample.bytes)]
    };
    let with_ids = |ending: &str, ids: &str| {
        let mut files = alone(ending);
        files.push((format!("{}.ids", files[0].0), ids.into()));
        files
    };
    vec![
        data_set,
        alone("written.gr"),
        alone("written.parton"),
        alone("plain.sg"),
        with_ids("written.gr", "7\n8\n18446744073709551615\n"),
        with_ids("written.mtx", "# names\n\"\n07\nGöttingen\n"),
    ]
}

#[test]
fn harmed_files_on_the_disk_are_graphs_or_errors() {
    let write_and_read = |files: &[(String, Vec<u8>)], harmed_file: usize, bytes: &[u8]| {
        let folder = folder();
        let mut size = 0;
        for (i, (name, sound)) in files.iter().enumerate() {
            let bytes = if i == harmed_file { bytes } else { &sound[..] };
            size += bytes.len();
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        judge(folder.path().to_str().unwrap(), allowance(size), || {
            let source = Source::file(&folder.path().join(&files[0].0))?;
            formats::read(&source, None, &ReadOptions::default())
        })
        .map_err(|complaint| format!("{complaint}: {}", bytes.escape_ascii()))
    };
    for files in sets_of_files() {
        assert_eq!(write_and_read(&files, 0, &files[0].1), Ok(true), "{}", files[0].0);
        for (file, (name, sound)) in files.iter().enumerate() {
            let complaints = on_every_core(harms(sound.len()), |i| {
                write_and_read(&files, file, &harmed(sound, i))
            });
            assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        }
    }
    // Counts that the files of a data set do not hold.
    let data_set = &sets_of_files()[0];
    let text = String::from_utf8(data_set[0].1.clone()).unwrap();
    for (key, lie) in ["vertices = ", "edges = "].into_iter().flat_map(|k| LIES.map(|l| (k, l))) {
        let at = text.find(key).unwrap() + key.len();
        let lying = format!("{}{lie}{}", &text[..at], &text[at + 1..]);
        assert_eq!(write_and_read(data_set, 0, lying.as_bytes()), Ok(false), "{key}{lie}");
    }
}

/// Counts that no small file can have.
const LIES: [&str; 9] = [
    "-1",
    "x",
    "1e9",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
];

#[test]
fn text_headers_that_lie_are_errors() {
    let mtx = "%%MatrixMarket matrix coordinate pattern";
    let templates = [
        ("x.mtx", format!("{mtx} general\n? 2 1\n1 2\n")),
        ("x.mtx", format!("{mtx} general\n2 ? 1\n1 2\n")),
        ("x.mtx", format!("{mtx} symmetric\n2 2 ?\n2 1\n")),
        ("x.dimacs", "p sp ? 1\na 1 2 9\n".into()),
        ("x.dimacs", "p sp 2 ?\na 1 2 9\n".into()),
        ("x.col", "p edge ? 1\ne 1 2\n".into()),
        ("x.col", "p tw 2 ?\n1 2\n".into()),
        ("x.graph", "? 1\n2\n1\n".into()),
        ("x.graph", "2 ?\n2\n1\n".into()),
        ("x.graph", "2 1 ?\n2 7\n1 7\n".into()),
        ("x.graph", "2 1 10 ?\n7 2\n7 1\n".into()),
        ("x.ligra", "AdjacencyGraph ? 1 0 1 1".into()),
        ("x.ligra", "AdjacencyGraph\n2\n?\n0\n1\n1\n".into()),
        ("x.ligra", "WeightedAdjacencyGraph\n2\n2\n0\n?\n1\n1\n5\n6\n".into()),
    ];
    let cases: Vec<(&str, String)> = templates
        .iter()
        .flat_map(|(name, text)| LIES.map(|lie| (*name, text.replace('?', lie))))
        .collect();
    let complaints = on_every_core(cases.len(), |i| {
        let (name, text) = &cases[i];
        match examine(None, name, text.as_bytes())? {
            true => Err(format!("{name}: {text:?} was believed")),
            false => Ok(false),
        }
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
    for (name, text) in templates {
        let truth =
            ["2", "1"].map(|truth| examine(None, name, text.replace('?', truth).as_bytes()));
        assert!(truth.contains(&Ok(true)), "{name}: {text:?} lies even without a lie");
    }
}

/// Where the binary formats keep their counts.
fn counts_of(format: &str) -> &'static [usize] {
    match format {
        "gr" => &[8, 16, 24],
        "gap" => &[1, 9],
        "parton" => &[24, 32, 48],
        _ => &[],
    }
}

#[test]
fn binary_headers_that_lie_are_errors() {
    // Besides the largest, those that times 4, 8 or 24 wrap around to something small.
    let lies = [u64::MAX, 1 << 63, i64::MAX as u64, 1 << 62, 1 << 61, 1 << 60, u64::MAX / 24 + 1];
    let lies = lies.into_iter().chain([u64::MAX - 1, (1 << 61) + 3, 1 << 32, u32::MAX.into()]);
    let mut cases = Vec::new();
    for Sample { format, name, bytes } in samples() {
        let packed = name.ends_with(".gz") || name.ends_with(".zst");
        for &at in counts_of(format.name()).iter().filter(|_| !packed) {
            cases.extend(lies.clone().map(|lie| {
                let mut bytes = bytes.clone();
                bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                let bytes = repaired(format, &bytes).unwrap_or(bytes);
                (format, name.clone(), bytes)
            }));
        }
    }
    let mut formats: Vec<_> = cases.iter().map(|(format, ..)| format.name()).collect();
    formats.dedup();
    assert_eq!(formats, ["gap", "parton", "gr"]);
    let complaints = on_every_core(2 * cases.len(), |i| {
        let (format, name, bytes) = &cases[i / 2];
        match examine([Some(*format), None][i % 2], name, bytes)? {
            true => Err(format!("{name}: {} was believed", bytes.escape_ascii())),
            false => Ok(false),
        }
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

fn read(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Graph> {
    formats::read(&Source::memory(name, bytes)?, None, &ReadOptions::default())
}

fn refused(name: &str, bytes: impl Into<Vec<u8>>) -> String {
    match read(name, bytes) {
        Ok(graph) => panic!("{name}: read as {}", graph.read_as),
        Err(error) => error.to_string(),
    }
}

#[test]
fn odd_text_is_understood_or_refused_but_never_guessed() {
    // Nothing but a byte order mark.
    for name in ["x", "x.csv", "x.adj"] {
        assert_eq!(read(name, "\u{feff}").unwrap().num_vertices(), 0, "{name}");
    }
    // A mark in front of what a format is recognised by.
    let marked = "\u{feff}%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n";
    assert_eq!(read("x", marked).unwrap().num_vertices(), 3);
    assert_eq!(read("x", "\u{feff}AdjacencyGraph\n1\n1\n0\n0\n").unwrap().num_edges(), 1);
    // Line ends of old Macs would make one line of everything, or one comment.
    for text in ["1 2\r3 4\r", "# c\r1 2\r3 4", "a,b\rc,d\r"] {
        assert!(refused("x.csv", text).contains("CR alone"), "{text:?}");
    }
    assert!(refused("x", "a b\nc d\re\n").contains("byte 0x0d"));
    // Bytes that are no text, within sight of the detection and beyond it.
    assert!(refused("x.txt", "a b\nc\0d e\n").contains("at byte 5"));
    let names: String = (0..20_000).map(|i| format!("a{i} b{i}\n")).collect();
    assert!(refused("x", names + "a\0b c\n").contains("x:20001:1: "));
    // Blanks that are none for rows must be none for the detection either.
    for text in ["\x0c#\n", "\r#\n", "\x0c\n", "\x0c# 1\n1 2\n"] {
        refused("x", text);
    }
    // Delimiters inside of quotes cut nothing.
    assert_eq!(read("x.csv", "\"a;b\",c\nd,\"a;b\"\n").unwrap().num_vertices(), 3);
    let tabs = read("x.tsv", "source\ttarget\n\"a\tb\"\tc\nd\te\n").unwrap();
    assert_eq!((tabs.num_vertices(), tabs.num_edges()), (4, 2));
    // A METIS file that lists an edge at one end only is not undirected, nor anything else.
    assert!(refused("x.graph", "3 1\n2 3\n\n\n").contains("both its ends"));
    // A size line that goes on beyond what was looked at must not be read up to there.
    let comments = "%".repeat(64 * 1024 - 77) + "\n";
    let text =
        format!("%%MatrixMarket matrix coordinate pattern general\n{comments}{:>26} 3 1\n1 2\n", 3);
    assert!(refused("x.mtx", text).contains("ROWS COLUMNS ENTRIES"));
}

#[test]
fn a_long_line_is_quoted_in_part() {
    let long = "7".repeat(10 << 20);
    for (name, text) in [
        ("x", format!("1 2\n3 {long}\n")),
        ("x", format!("1 2\n3 4 {long}")),
        ("x", long.clone()),
        ("x.adj", format!("1 2\n3 {long}\n")),
        ("x.graph", format!("1 {long}\n")),
        ("x.mtx", format!("%%MatrixMarket {long}\n")),
        ("x.ligra", format!("AdjacencyGraph {long}\n")),
        ("x.dimacs", format!("p sp 2 1\na 1 {long} 3\n")),
    ] {
        let message = refused(name, text);
        assert!(message.starts_with(name) && message.len() < 300, "{} bytes", message.len());
    }
    // Nor is a header of many long names repeated as a whole.
    let header = vec!["dist".to_owned() + &"\u{442}".repeat(300); 30].join(",");
    let message = refused("x.csv", header + &"\n1".repeat(3) + ",2\n");
    assert!(message.starts_with("x.csv") && message.len() < 1000, "{message}");
    // A name may well be long, though not in the row by which the table is recognised.
    let text = "n".repeat(10 << 20) + " b\n";
    assert!(refused("x", text.clone()).contains("the first row is longer"));
    assert_eq!(read("x", "a b\n".to_owned() + &text + &text).unwrap().num_vertices(), 3);
}

/// `piece`, repeated `times` times and packed: a few kilobytes per gigabyte.
fn bomb(piece: &[u8], times: usize) -> Vec<u8> {
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..times {
        packed.write_all(piece).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn packed_files_that_never_end_need_little_memory() {
    let mebibytes = |byte: u8, count: usize| bomb(&vec![byte; 1 << 20], count);
    // Many empty lines: no more than a block at a time.
    let lines = mebibytes(b'\n', 48);
    // A line or a word without an end, which is refused at 64 or 16 MiB.
    let [digits, blanks, zeros] = [b'1', b' ', 0].map(|byte| mebibytes(byte, 256));
    const MIB: usize = 1 << 20;
    let cases = [
        ("lines.txt", &lines, 16 * MIB, true),
        ("lines.adj", &lines, 16 * MIB, true),
        ("digits.txt", &digits, 128 * MIB, false),
        ("digits.adj", &digits, 48 * MIB, false),
        ("digits.graph", &digits, 48 * MIB, false),
        ("blanks.txt", &blanks, 128 * MIB, false),
        ("blanks.adj", &blanks, 48 * MIB, false),
        ("zeros.dat", &zeros, 16 * MIB, false),
        ("zeros.adj", &zeros, 48 * MIB, false),
    ];
    let complaints = on_every_core(cases.len(), |i| {
        let (name, packed, allowed, graph) = cases[i];
        let read = || {
            let source = Source::memory(name, &packed[..])?;
            formats::read(&source, None, &ReadOptions::default())
        };
        match judge(name, allowed, read).map_err(|complaint| format!("{name}: {complaint}"))? {
            found if found == graph => Ok(found),
            found => Err(format!("{name}: a graph: {found}")),
        }
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn what_follows_a_packed_file_is_not_ignored() {
    let text = "1 2\n3 4\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = [
        ("x.gz", gzip.finish().unwrap()),
        ("x.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
        ("x.bz2", include_bytes!("data/documents/rows.bz2").to_vec()),
        ("x.xz", include_bytes!("data/documents/rows.xz").to_vec()),
        ("x.lz4", include_bytes!("data/documents/rows.lz4").to_vec()),
    ];
    for (name, packed) in packed {
        assert_eq!(read(name, packed.clone()).unwrap().num_edges(), 2);
        // Once more the same: two packed files one after the other are one.
        assert_eq!(read(name, packed.repeat(2)).unwrap().num_edges(), 4);
        for garbage in [&b"5 6\n"[..], &[0], &[0xff; 100], &packed[..packed.len() - 1]] {
            let message = refused(name, [&packed[..], garbage].concat());
            assert!(message.starts_with(name) && message.contains("cannot unpack"), "{message}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn pipes_are_read_once_and_whole() {
    use std::os::fd::AsRawFd;
    let gr = samples().into_iter().find(|s| s.name == "written.gr").unwrap().bytes;
    let inputs = [
        ("plain text", b"1 2\n3 4\n5 6\n".to_vec()),
        ("packed text", zstd::encode_all(&b"1 2\n3 4\n5 6\n"[..], 1).unwrap()),
        ("longer than its head", "1 2\n3 4\n5 6\n".repeat(100_000).into()),
        ("binary", gr),
    ];
    for (what, bytes) in inputs {
        let (from, mut to) = io::pipe().unwrap();
        let expected = read("x", bytes.clone()).unwrap();
        let writer = std::thread::spawn(move || to.write_all(&bytes).unwrap());
        let path = format!("/dev/fd/{}", from.as_raw_fd());
        let source = Source::find(&path).unwrap();
        let piped = formats::read(&source, None, &ReadOptions::default()).unwrap();
        writer.join().unwrap();
        assert_eq!((piped.adjacency, piped.ids), (expected.adjacency, expected.ids), "{what}");
        assert!(source.parts()[0].reader().is_err_and(|e| e.to_string().contains("only once")));
    }
    // Written to one, ids that the format would keep in a file beside it have no place.
    let graph = read("x", "5 9\n").unwrap();
    let write = |format| {
        let format = Some(formats::by_name(format).unwrap());
        formats::write(&graph, "/dev/null".as_ref(), format, &WriteOptions::default())
    };
    write("edges").unwrap();
    assert!(matches!(write("mtx"), Err(Error::Request(_))));
    assert!(!std::path::Path::new("/dev/null.ids").exists());
    assert_eq!(Source::find("/dev/null").unwrap().head(), b"");
    for folder in ["/dev", "/dev/null/x"] {
        assert!(matches!(Source::file(folder.as_ref()), Err(Error::NoInput { .. })), "{folder}");
    }
}
