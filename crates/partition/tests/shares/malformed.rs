//! Malformed files: shares are refused as the whole is, and every host ends.

use std::mem::discriminant;

use parton_graph::Error as GraphError;
use parton_net::{Cluster, LaunchError};
use parton_partition::{Error, Input};

use super::common::{Clusters, build, pack, read_whole, write};
use super::samples::samples;

/// The error of shares over some hosts, if any.
fn shared_error(spec: &str, cluster: &mut Cluster) -> Option<GraphError> {
    let input = match Input::open(spec) {
        Ok(input) => input,
        Err(Error::Graph(error)) => return Some(error),
        Err(other) => panic!("{other}"),
    };
    match build(cluster, &input, "oec") {
        Ok(_) => None,
        Err(LaunchError::Failed { error: Error::Graph(error), .. }) => Some(error),
        Err(other) => panic!("{spec}: {other}"),
    }
}

#[test]
fn shares_are_refused_as_the_whole_is() {
    let mut clusters = Clusters::new(&[1, 2, 3, 7]);
    let rows: String = (0..300).map(|i| format!("{} {}\n", i % 97, i * 31 % 89)).collect();
    let banner = "%%MatrixMarket matrix coordinate pattern general";
    let lines = |vertices: usize, from: usize| -> String {
        (from..vertices).map(|v| format!("{}\n", (v ^ 1) + 1)).collect()
    };
    let cases = [
        ("g.txt", format!("{rows}3 -4\n{rows}")),
        ("g.txt", format!("{rows}3\n{rows}")),
        ("g.txt", format!("{rows}3 4 5\n")),
        ("g.csv", "a,b\n\"x,y\n".into()),
        ("g.txt", "1 2 3\n1 2 inf\n".into()),
        ("g.mtx", format!("{banner}\n9 9 3\n1 2\n3 4\n")),
        ("g.mtx", format!("{banner}\n9 9 2\n1 2\n3 44\n")),
        ("g.mtx", format!("{banner}\n4000000000 9 2\n1 2\n3 4\n")),
        ("g.mtx", "%%MatrixMarket matrix array real general\n".into()),
        ("g.dimacs", "p sp 45 2\na 1 2 9\n".into()),
        ("g.dimacs", "p sp 45 2\na 1 2 9\ne 3 4 5\n".into()),
        ("g.graph", format!("40 20\n{}0\n", lines(39, 0))),
        ("g.graph", format!("40 20\n{}x\n", lines(39, 0))),
        ("g.graph", format!("40 20\n{}77\n", lines(39, 0))),
        ("g.graph", format!("40 19\n{}", lines(40, 0))),
        ("g.graph", format!("39 20\n{}", lines(40, 0))),
        ("g.graph", format!("40 20\n3\n{}", lines(40, 1))),
        ("g.graph", format!("40 20 001\n{}", lines(40, 0))),
        ("g.graph", "100000 0\n\n".into()),
        ("g.graph", "1 2 3 4 5\n".into()),
        ("g.graph", String::new()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n1\n2\n1\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n1\n2\n1\n0\n7\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n1\n2\n1\n3\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n2\n1\n1\n0\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n1\n1\n1\n1\n0\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n1\n5\n1\n0\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n2\n0\n1\nx\n1\n0\n".into()),
        ("g.ligra", "WeightedAdjacencyGraph\n3\n2\n0\n1\n2\n1\n0\n1\nnan\n".into()),
        ("g.ligra", "AdjacencyGraph\n0\n1\n0\n".into()),
        ("g.ligra", "AdjacencyGraph\n3\n".into()),
        ("g.ligra", "AdjacencyGraph\n99999999999\n3\n".into()),
        ("g.adj", format!("{rows}3 4 x\n{rows}")),
        ("g.jester", "1,5,99\n1,5\n".into()),
        ("g.jester", "1,5,99\n2,5,99\n".into()),
        ("g.jester", "1,5,99\n1,5,x\n".into()),
    ];
    for (name, text) in &cases {
        for ending in ["", ".gz"] {
            let folder = tempfile::tempdir().unwrap();
            let name = format!("{name}{ending}");
            write(folder.path(), &[(name.clone(), pack(ending, text.as_bytes()))]);
            let path = folder.path().join(&name);
            let spec = path.to_str().unwrap();
            let expected = read_whole(spec).err();
            let expected = expected.unwrap_or_else(|| panic!("{name} is sound: {text:.60}"));
            for cluster in clusters.all() {
                let found = shared_error(spec, cluster);
                let found = found.unwrap_or_else(|| panic!("hosts took {name}: {text:.60}"));
                assert_eq!(without_end(&found), without_end(&expected));
            }
        }
    }
}

/// What an error says. Where a file ends too early, which line would have been next is of no use.
fn without_end(error: &GraphError) -> String {
    let said = error.to_string();
    match said.split_once("expected ") {
        Some((file, problem)) if problem.ends_with("but the file ends") => {
            format!("{} {problem}", file.trim_end_matches(|c: char| !c.is_alphabetic()))
        }
        _ => said,
    }
}

#[test]
fn data_sets_and_ids_that_do_not_fit() {
    let mut clusters = Clusters::new(&[1, 2, 3, 7]);
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let properties = |text: &str| {
        let files = "graph.s.vertex-file = s.v\ngraph.s.edge-file = s.e\ngraph.s.directed = true\n";
        file("s.properties", &format!("{files}{text}"))
    };
    let sound = || [file("s.v", "1\n2\n3\n"), file("s.e", "1 2\n2 3\n")];
    let [vertices, edges] = sound();
    let matrix = || file("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n");
    let cases = [
        (vec![file("s.v", "1\n2\n"), edges.clone()], "s.e"),
        (vec![file("s.v", "1\nx\n"), edges.clone()], "s.e"),
        (vec![file("s.v", "a\nb\n"), file("s.e", "a b\nc zoo\n")], "s.v"),
        (
            vec![
                vertices.clone(),
                file("s.e", "1 2\n2 x\n3 3\n3 3\n3 3\n3 3\n3 3\n3 3\n3 3\n3 3\n3 3\n"),
            ],
            "s.e",
        ),
        (
            vec![vertices.clone(), edges.clone(), properties("graph.s.meta.edges = 3\n")],
            "s.properties",
        ),
        (vec![vertices.clone(), edges, properties("graph.s.meta.vertices = 4\n")], "s.properties"),
        (vec![vertices], "s.v"),
        (vec![matrix(), file("m.mtx.ids", "1\n2\n")], "m.mtx"),
        (vec![matrix(), file("m.mtx.ids", "1\n2\n3\n4\n")], "m.mtx"),
        (vec![matrix(), file("m.mtx.ids", "1\n3\n2\n")], "m.mtx"),
        (vec![matrix(), file("m.mtx.ids", "# names\na\nb\nb\n")], "m.mtx"),
        (vec![matrix(), file("m.mtx.ids", "a\nb\n\n")], "m.mtx"),
    ];
    for (files, open) in &cases {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), files);
        let path = folder.path().join(open);
        let spec = path.to_str().unwrap();
        let expected = read_whole(spec).err();
        let expected = expected.unwrap_or_else(|| panic!("{files:?} is sound"));
        for cluster in clusters.all() {
            let found = shared_error(spec, cluster).unwrap_or_else(|| panic!("{files:?}"));
            assert_eq!(found.to_string(), expected.to_string());
        }
    }
}

/// Whatever is cut off or changed: shares are refused if and only if the whole is, for the same
/// kind of reason, and nobody waits for ever. What shares do not look at is left out: checksums,
/// and the second half of GAP's files.
#[test]
fn harmed_files_are_refused_alike() {
    let mut clusters = Clusters::new(&[1, 3]);
    for sample in samples() {
        let [(name, bytes)] = &sample.files[..] else { continue };
        let unchecked = ["parton", "sg", "wsg"].iter().any(|ending| name.ends_with(ending));
        if bytes.len() > 600 || unchecked {
            continue;
        }
        let harmed = (0..bytes.len()).step_by(1 + bytes.len() / 12).flat_map(|at| {
            let mut changed = bytes.clone();
            changed[at] ^= 0x15;
            [bytes[..at].to_vec(), changed]
        });
        for harmed in harmed {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &[(name.clone(), harmed.clone())]);
            let path = folder.path().join(name);
            let spec = path.to_str().unwrap();
            let expected = read_whole(spec).err();
            for cluster in clusters.all() {
                let found = shared_error(spec, cluster);
                assert_eq!(
                    found.as_ref().map(discriminant),
                    expected.as_ref().map(discriminant),
                    "{name}: {found:?}, not {expected:?}: {:?}",
                    String::from_utf8_lossy(&harmed)
                );
            }
        }
    }
}
