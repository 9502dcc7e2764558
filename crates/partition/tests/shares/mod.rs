//! Every input that hosts read in shares is partitioned as if one host had read the whole, and is
//! refused for the same reason where it is malformed.

mod common;
mod malformed;
mod samples;

use std::path::Path;

use common::{Clusters, build, pack, print, read_whole, write};
use parton_graph::formats::{self, ColumnKey, Columns, IdKind, ReadOptions};
use parton_graph::source::Source;
use parton_net::Cluster;
use parton_partition::{Input, Partition};
use samples::{Sample, samples};

/// Few hosts, and more than there are vertices.
const SIZES: &[usize] = &[1, 2, 3, 7, 20];

/// Compares shares with the whole.
fn check(clusters: &mut Clusters, folder: &Path, open: &str, mirrored: bool) {
    let path = folder.join(open);
    let spec = path.to_str().unwrap();
    let whole = Input::from(read_whole(spec).unwrap_or_else(|e| panic!("{open}: {e}")));
    let shared = Input::open(spec).unwrap();
    for (cluster, policy) in clusters.all().zip(["oec", "cvc"].into_iter().cycle()) {
        let mut parts = |input: &Input| {
            let parts = build(cluster, input, policy);
            let parts = parts.unwrap_or_else(|e| panic!("{open}: {e}"));
            (parts.len(), print(&parts, mirrored))
        };
        assert_eq!(parts(&shared), parts(&whole), "{open}, {policy}");
    }
}

#[test]
fn shares_make_up_the_whole() {
    let mut clusters = Clusters::new(SIZES);
    for Sample { files, open, mirrored } in samples() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &files);
        check(&mut clusters, folder.path(), &open, mirrored);
    }
}

#[test]
fn packed_or_not_is_the_same() {
    let mut clusters = Clusters::new(&[1, 3]);
    for Sample { files, open, mirrored } in samples() {
        // A file of ids belongs to the plain name, and parts are packed elsewhere.
        if files.len() > 1 && !open.ends_with(".e") {
            continue;
        }
        for ending in [".gz", ".zst"] {
            let folder = tempfile::tempdir().unwrap();
            let packed: Vec<_> = files
                .iter()
                .map(|(name, bytes)| (format!("{name}{ending}"), pack(ending, bytes)))
                .collect();
            write(folder.path(), &packed);
            check(&mut clusters, folder.path(), &format!("{open}{ending}"), mirrored);
        }
    }
}

#[test]
fn parts_are_one_input() {
    let mut clusters = Clusters::new(SIZES);
    let rows = |from: u64, to: u64| -> String {
        let rows = (from..to).map(|i| format!("{},{},{}\n", i * i % 97, i * 31 % 89, i % 7));
        "source,target,weight\n".to_owned() + &rows.collect::<String>()
    };
    let parts = |packed: [&str; 4]| -> Vec<(String, Vec<u8>)> {
        let texts = [rows(0, 90), rows(90, 91), rows(91, 91), rows(91, 300)];
        let mut files: Vec<_> = texts
            .iter()
            .zip(packed)
            .enumerate()
            .map(|(i, (text, ending))| {
                (format!("parts/part-{i}.csv{ending}"), pack(ending, text.as_bytes()))
            })
            .collect();
        files.push(("parts/_SUCCESS".into(), Vec::new()));
        files
    };
    for packed in [[""; 4], [".gz"; 4], ["", ".zst", "", ".gz"]] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &parts(packed));
        check(&mut clusters, folder.path(), "parts", false);
        check(&mut clusters, folder.path(), "parts/part-*", false);
    }
    // Without headers, without the last line ends, and with a part of nothing.
    let folder = tempfile::tempdir().unwrap();
    let texts = ["1 2\n3 4", "", "# c\n\n5 1\r\n2 2", "9 1"];
    let files: Vec<_> = texts
        .iter()
        .zip('a'..)
        .map(|(t, n)| (format!("p/{n}.txt"), t.as_bytes().to_vec()))
        .collect();
    write(folder.path(), &files);
    check(&mut clusters, folder.path(), "p", false);
}

#[test]
fn columns_and_ids_are_as_the_user_says() {
    let columns = |source: &str, destination: &str, weight: Option<&str>| {
        let column = |name: &str| ColumnKey::Name(name.into());
        let (source, destination) = (column(source), column(destination));
        Some(Columns { source, destination, weight: weight.map(column) })
    };
    let (source, destination) = (ColumnKey::Position(3), ColumnKey::Position(1));
    let places = Some(Columns { source, destination, weight: None });
    let plain = ReadOptions::default();
    let table: String =
        (0..90).map(|i| format!("{},{},{},{}\n", i % 7, i * i % 31, i, i * 5 % 29)).collect();
    let table = "kind,to,cost,from\n".to_owned() + &table;
    let names = ReadOptions { ids: IdKind::Names, ..plain.clone() };
    let cases = [
        ("t.csv", ReadOptions { columns: columns("from", "to", Some("cost")), ..plain.clone() }),
        ("t.csv", ReadOptions { columns: columns("from", "to", None), ..names.clone() }),
        ("t.csv", ReadOptions { bipartite: true, ..plain.clone() }),
        ("t.csv", ReadOptions { header: Some(false), columns: places, ..names.clone() }),
        ("t.adj", names),
    ];
    let mut clusters = Clusters::new(&[1, 3, 7]);
    for (name, options) in cases {
        let folder = tempfile::tempdir().unwrap();
        let text = if name == "t.csv" { &table[..] } else { "a b c\n\n12 a\nlonely\n" };
        write(folder.path(), &[(name.into(), text.as_bytes().to_vec())]);
        let source = Source::file(&folder.path().join(name)).unwrap();
        let whole = Input::from(formats::read(&source, None, &options).unwrap());
        let shared = Input::from_source(source.clone(), None, &options).unwrap();
        for cluster in clusters.all() {
            let mut parts = |input: &Input| print(&build(cluster, input, "oec").unwrap(), false);
            assert_eq!(parts(&shared), parts(&whole), "{name}");
        }
        let options = ReadOptions { weights: false, ..options };
        assert!(Input::from_source(source, None, &options).is_err(), "needs the whole");
    }
}

#[test]
fn a_packed_text_longer_than_a_block_is_dealt_out() {
    let rows = |i: u64| format!("{} {}\n", i * i % 9973, i * 31 % 8999);
    let text: String = (0..900_000).map(rows).collect();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("g.txt.zst".into(), pack(".zst", text.as_bytes()))]);
    let path = folder.path().join("g.txt.zst");
    let input = Input::open(path.to_str().unwrap()).unwrap();
    assert!(input.note().unwrap().contains("cannot be split"));
    let whole = Input::from(read_whole(path.to_str().unwrap()).unwrap());
    let mut cluster = Cluster::local(3).threads_per_host(1);
    let mut parts = |input: &Input| build(&mut cluster, input, "oec").unwrap();
    let (found, expected) = (parts(&input), parts(&whole));
    assert!(print(&found, false) == print(&expected, false));
    // Nobody held all edges, with both ends as 64-bit ids.
    let most = found.iter().map(Partition::peak_bytes).max().unwrap();
    assert!(most < 16 * 900_000, "{most}");
}

#[test]
fn a_thousand_schedules_give_one_share() {
    let folder = tempfile::tempdir().unwrap();
    let chosen = samples().into_iter().filter(|sample| sample.is_protocol());
    let mut inputs = Vec::new();
    for (number, Sample { files, open, .. }) in chosen.enumerate() {
        let folder = folder.path().join(number.to_string());
        write(&folder, &files);
        inputs.push(Input::open(folder.join(open).to_str().unwrap()).unwrap());
    }
    assert!(inputs.len() >= 6, "{}", inputs.len());
    let mut cluster = Cluster::local(3).threads_per_host(1);
    let expected: Vec<_> = inputs
        .iter()
        .map(|input| print(&build(&mut cluster, input, "oec").unwrap(), false))
        .collect();
    for seed in 0..1000 {
        let which = seed as usize % inputs.len();
        let parts = build(&mut Cluster::sim(3, seed), &inputs[which], "oec");
        let parts = parts.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(print(&parts, false), expected[which], "seed {seed}");
    }
}
