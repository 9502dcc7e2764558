//! Answers as files: every format holds the same rows, with the user's own ids.

use crate::common;

use std::path::Path;

use common::{folder, parton, text};
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Runs an algorithm and writes its answer.
fn write(folder: &Path, arguments: &[&str], output: &str) {
    let run = parton(folder, &[&["run"], arguments, &["--output", output]].concat());
    assert!(run.status.success(), "{arguments:?} {output}: {}", text(&run.stderr));
    assert!(text(&run.stderr).contains(&format!("wrote {output}")));
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a text")
}

/// Rows of a Parquet file, as its library prints them.
fn parquet_rows(folder: &Path, name: &str) -> Vec<String> {
    let file = std::fs::File::open(folder.join(name)).expect("a file");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").to_string()).collect()
}

/// Header and data of a `.npy` file.
fn npy(folder: &Path, name: &str) -> (String, Vec<u8>) {
    let bytes = std::fs::read(folder.join(name)).expect("a file");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(data % 64, 0);
    (text(&bytes[10..data]).trim_end().to_owned(), bytes[data..].to_vec())
}

#[test]
fn names_and_vertices_out_of_reach() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(
        folder.join("trains.csv"),
        "from,to\nRome,Paris\nParis,\"Berlin, Mitte\"\nOslo,Bergen\nOslo,\"the \"\"other\"\" one\"\n",
    )
    .unwrap();
    let bfs = ["bfs", "trains.csv", "--root", "Rome", "--hosts", "3"];
    for output in ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.tsv.zst"] {
        write(folder, &bfs, output);
    }
    assert_eq!(
        read(folder, "a.csv"),
        "id,level\nBergen,\n\"Berlin, Mitte\",2\nOslo,\nParis,1\nRome,0\n\"the \"\"other\"\" one\",\n"
    );
    assert_eq!(
        read(folder, "a.tsv"),
        "id\tlevel\nBergen\t\n\"Berlin, Mitte\"\t2\nOslo\t\nParis\t1\nRome\t0\n\"the \"\"other\"\" one\"\t\n"
    );
    let lines: Vec<serde_json::Value> =
        read(folder, "a.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({ "id": "Bergen", "level": null }));
    assert_eq!(lines[1], serde_json::json!({ "id": "Berlin, Mitte", "level": 2 }));
    assert_eq!(lines[5]["id"], "the \"other\" one");
    let rows = parquet_rows(folder, "a.parquet");
    assert_eq!(rows[0], "{id: \"Bergen\", level: null}");
    assert_eq!(rows[3], "{id: \"Paris\", level: 1}");
    // Packed files hold the same.
    for (packed, plain) in [("a.csv.gz", "a.csv"), ("a.tsv.zst", "a.tsv")] {
        let source = parton::graph::source::Source::file(&folder.join(packed)).unwrap();
        assert_eq!(text(source.head()), read(folder, plain));
    }
    // Names of an array are as long as the longest.
    write(folder, &bfs, "a.npy");
    let (header, data) = npy(folder, "a.npy");
    assert!(header.contains("[('id', '|S15'), ('level', '<f8')]"), "{header}");
    let row = |row: usize| &data[row * 23..][..23];
    assert_eq!(data.len(), 6 * 23);
    assert_eq!(&row(1)[..15], b"Berlin, Mitte\0\0");
    assert_eq!(row(1)[15..], 2f64.to_le_bytes());
    write(folder, &["components", "trains.csv"], "c.npy");
    let (header, data) = npy(folder, "c.npy");
    assert!(header.contains("('component', '|S15')"), "{header}");
    assert_eq!(&data[3 * 30..][..30], b"Paris\0\0\0\0\0\0\0\0\0\0Berlin, Mitte\0\0");
}

/// Names that hold line ends or nothing at all stay what they are, apart from values that are missing.
#[test]
fn names_with_line_ends_and_without_letters() {
    let folder = folder();
    let folder = folder.path();
    let edges = ["a\nb", "c\rd", "", "tab\there"]
        .map(|name| format!("{{\"source\":{name:?},\"target\":\"z\"}}\n"));
    std::fs::write(folder.join("odd.jsonl"), edges.concat()).unwrap();
    let bfs = ["bfs", "odd.jsonl", "--root", "a\nb", "--hosts", "2"];
    for output in ["a.csv", "a.tsv", "a.jsonl", "a.parquet"] {
        write(folder, &bfs, output);
    }
    assert_eq!(
        read(folder, "a.csv"),
        "id,level\n\"\",\n\"a\nb\",0\n\"c\rd\",\n\"tab\there\",\nz,1\n"
    );
    assert_eq!(
        read(folder, "a.tsv"),
        "id\tlevel\n\"\"\t\n\"a\nb\"\t0\n\"c\rd\"\t\n\"tab\there\"\t\nz\t1\n"
    );
    let lines: Vec<serde_json::Value> =
        read(folder, "a.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["", "a\nb", "c\rd", "tab\there", "z"]);
    assert_eq!(parquet_rows(folder, "a.parquet")[0], "{id: \"\", level: null}");
    // A component may be called by the empty name: that is no missing value.
    write(folder, &["components", "odd.jsonl"], "c.csv");
    assert!(read(folder, "c.csv").ends_with("\nz,\"\"\n"), "{}", read(folder, "c.csv"));
}

/// Factors are a matrix in NumPy, a list in Parquet and JSON, and as many columns in text.
#[test]
fn vectors_in_every_format() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(folder.join("r.csv"), "user,item,stars\n1,1,5\n1,2,3\n2,1,4\n3,2,1\n").unwrap();
    for hosts in ["1", "3"] {
        let run = ["matrix-completion", "r.csv", "--bipartite", "--width", "3", "--hosts", hosts];
        for output in ["f.csv", "f.jsonl", "f.parquet", "f.npy"] {
            write(folder, &run, output);
        }
        let lines: Vec<Vec<String>> = read(folder, "f.csv")
            .lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect();
        assert_eq!(lines[0], ["id", "factors_0", "factors_1", "factors_2"]);
        let ids: Vec<_> = lines[1..].iter().map(|line| &line[0][..]).collect();
        assert_eq!(ids, ["s1", "s2", "s3", "t1", "t2"]);
        let factors: Vec<Vec<f32>> = lines[1..]
            .iter()
            .map(|line| line[1..].iter().map(|x| x.parse().expect("a number")).collect())
            .collect();
        let (header, data) = npy(folder, "f.npy");
        assert!(header.contains("[('id', '|S2'), ('factors', '<f4', (3,))]"), "{header}");
        let row = |row: usize| [ids[row].as_bytes(), bytemuck::cast_slice(&factors[row])].concat();
        assert_eq!(data, (0..5).flat_map(row).collect::<Vec<u8>>());
        let json: Vec<serde_json::Value> = read(folder, "f.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object"))
            .collect();
        let parquet = parquet_rows(folder, "f.parquet");
        for (row, factors) in factors.iter().enumerate() {
            let listed = json[row]["factors"].as_array().expect("a list").iter();
            let listed: Vec<f32> = listed.map(|x| x.as_f64().expect("a number") as f32).collect();
            assert_eq!((&json[row]["id"], &listed), (&ids[row].into(), factors));
            assert!(parquet[row].starts_with(&format!("{{id: \"{}\", factors: [", ids[row])));
            assert_eq!(parquet[row].matches(',').count(), 3, "{}", parquet[row]);
        }
    }
}

#[test]
fn components_are_called_by_their_least_vertex() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(folder.join("n.el"), "f b\nc a\nd b\ne g\ng e\n").unwrap();
    std::fs::write(folder.join("i.el"), "600 200\n300 100\n400 200\n500 700\n700 500\n").unwrap();
    std::fs::write(folder.join("o.el"), "16 12\n13 11\n14 12\n15 17\n17 15\n").unwrap();
    for hosts in ["1", "3"] {
        let rows = |graph: &str| {
            write(folder, &["components", graph, "--hosts", hosts, "--verify"], "c.csv");
            read(folder, "c.csv")
        };
        assert_eq!(rows("n.el"), "id,component\na,a\nb,b\nc,a\nd,b\ne,e\nf,b\ng,e\n");
        assert_eq!(
            rows("i.el"),
            "id,component\n100,100\n200,200\n300,100\n400,200\n500,500\n600,200\n700,500\n"
        );
        assert_eq!(rows("o.el"), "id,component\n11,11\n12,12\n13,11\n14,12\n15,15\n16,12\n17,15\n");
    }
    let rows = {
        write(folder, &["components", "n.el", "--hosts", "3"], "c.parquet");
        parquet_rows(folder, "c.parquet")
    };
    assert_eq!(rows[5], "{id: \"f\", component: \"b\"}");
}

#[test]
fn numbers_are_whole_or_exact() {
    let folder = folder();
    let folder = folder.path();
    let largest = u64::MAX;
    std::fs::write(folder.join("w.el"), format!("7 8 0.1\n8 9 0.2\n{largest} 7 1e-9\n")).unwrap();
    let sssp = ["sssp", "w.el", "--root", "7", "--hosts", "2"];
    write(folder, &sssp, "d.csv");
    assert_eq!(
        read(folder, "d.csv"),
        format!("id,distance\n7,0.0\n8,0.1\n9,0.30000000000000004\n{largest},\n")
    );
    write(folder, &["sssp", "w.el", "--root", &largest.to_string()], "e.jsonl");
    let first = read(folder, "e.jsonl").lines().next().unwrap().to_owned();
    assert_eq!(first, r#"{"id":7,"distance":1e-9}"#);
    write(folder, &sssp, "d.parquet");
    assert_eq!(parquet_rows(folder, "d.parquet")[3], format!("{{id: {largest}, distance: null}}"));

    write(folder, &["bfs", "w.el", "--root", "7"], "some.npy");
    let (header, data) = npy(folder, "some.npy");
    assert_eq!(
        header,
        "{'descr': [('id', '<u8'), ('level', '<f8')], 'fortran_order': False, 'shape': (4,), }"
    );
    assert_eq!(data[16..32], [8u64.to_le_bytes(), 1f64.to_le_bytes()].concat());
    assert_eq!(data[48..56], largest.to_le_bytes());
    assert!(f64::from_le_bytes(data[56..].try_into().unwrap()).is_nan());
    // Where all are reached, counts stay whole.
    write(folder, &["bfs", "w.el", "--root", &largest.to_string()], "all.npy");
    let (header, data) = npy(folder, "all.npy");
    assert!(header.contains("('level', '<u4')"), "{header}");
    assert_eq!(data.len(), 4 * 12);
    write(folder, &["components", "w.el", "--hosts", "2"], "c.npy");
    let (header, data) = npy(folder, "c.npy");
    assert!(header.contains("('component', '<u8')"), "{header}");
    assert_eq!(data[56..], 7u64.to_le_bytes());
}

#[test]
fn rows_do_not_depend_on_hosts() {
    let folder = folder();
    let folder = folder.path();
    for algorithm in ["bfs", "sssp", "components"] {
        let graph = [algorithm, "rmat:9", "--weights", "random:1..9"];
        write(folder, &graph, "one.csv");
        write(folder, &[&graph[..], &["--hosts", "3", "--policy", "cvc"]].concat(), "three.csv");
        let one = read(folder, "one.csv");
        assert_eq!(one, read(folder, "three.csv"), "{algorithm}");
        assert_eq!(one.lines().count(), 513);
        let ids =
            one.lines().skip(1).map(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
        assert!(ids.eq(0..512), "in the order of the vertices");
    }
}
