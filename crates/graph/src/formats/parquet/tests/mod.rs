//! Round trips, files of other programs, what is refused and how; damaged files in [`damage`].

mod damage;

use std::sync::Arc;

use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;
use crate::csr::Csr;
use crate::formats::{self, ColumnKey, Columns, IdKind, Vertices};
use crate::ingest::VertexRange;
use crate::{Adjacency, Error, Place, WeightKind, with_csr};

/// The cells of a column; `None` is null.
enum Values {
    I32(Vec<Option<i32>>),
    I64(Vec<Option<i64>>),
    F32(Vec<Option<f32>>),
    F64(Vec<Option<f64>>),
    Text(Vec<Option<&'static str>>),
}

/// A file with these columns: `table("optional int64 a; required double b", &[…])`.
fn table(columns: &str, values: &[Values]) -> Vec<u8> {
    macro_rules! put {
        ($writer:ident, $kind:ty, $values:ident, $convert:expr) => {{
            let levels: Vec<i16> = $values.iter().map(|v| i16::from(v.is_some())).collect();
            let cells: Vec<_> = $values.iter().flatten().map($convert).collect();
            let starts = vec![0; levels.len()];
            let writer = $writer.typed::<$kind>();
            writer.write_batch(&cells, Some(&levels), Some(&starts)).unwrap();
        }};
    }
    let end = if columns.ends_with('}') { "" } else { ";" };
    let schema = parse_message_type(&format!("message m {{ {columns}{end} }}")).unwrap();
    let schema = Arc::new(schema);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    for values in values {
        let mut writer = group.next_column().unwrap().unwrap();
        match values {
            Values::I32(values) => put!(writer, Int32Type, values, |&v| v),
            Values::I64(values) => put!(writer, Int64Type, values, |&v| v),
            Values::F32(values) => put!(writer, FloatType, values, |&v| v),
            Values::F64(values) => put!(writer, DoubleType, values, |&v| v),
            Values::Text(values) => put!(writer, ByteArrayType, values, |&v| v.into()),
        }
        writer.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

fn i64s(values: &[i64]) -> Values {
    Values::I64(values.iter().map(|&v| Some(v)).collect())
}

fn read(bytes: Vec<u8>, options: &ReadOptions<'_>) -> Result<Graph> {
    formats::read(&Source::memory("file", bytes)?, Some(&Parquet), options)
}

fn written(graph: &Graph, group_edges: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.parquet");
    let mut out = Output::create(&path).unwrap();
    write::write_in_groups(graph, &mut out, &WriteOptions::default(), group_edges).unwrap();
    out.commit().unwrap();
    std::fs::read(path).unwrap()
}

/// All edges as `source>destination:weight`.
fn edges(graph: &Graph) -> Vec<String> {
    let name = |v: crate::LocalId| graph.ids.get(v.index());
    with_csr!(&graph.adjacency, csr => csr.vertices().flat_map(|v| {
        csr.edges(v).map(move |(t, w)| format!("{}>{}:{:?}", name(v), name(t), w))
    }).collect())
}

fn row_and_problem(error: Error) -> (u64, String) {
    match error {
        Error::Data { place: Place::Row(row), problem, .. } => (row, problem),
        other => panic!("no row in: {other}"),
    }
}

/// Six edges on four vertices, with these ids.
fn sample<W: crate::Weight>(ids: Ids, weigh: impl Fn(u32) -> W) -> Graph
where
    Adjacency: From<Csr<W>>,
{
    let ends = [(0, 1), (0, 3), (1, 1), (2, 0), (3, 2), (3, 0)];
    let edges: Vec<_> = ends.iter().zip(0..).map(|(&(s, d), i)| (s, d, weigh(i))).collect();
    let adjacency = Csr::from_edges(4, &edges).into();
    Graph { adjacency, ids, direction: crate::Direction::Directed, read_as: String::new() }
}

#[test]
fn every_kind_of_id_and_weight_comes_back() {
    let names = |names: [&[u8]; 4]| Ids::Names(names.into_iter().collect());
    let kinds = [
        Ids::dense(4),
        Ids::Range { first: 7, count: 4 },
        Ids::Integers(vec![3, 500, 1 << 40, i64::MAX as u64].into()),
        Ids::Integers(vec![0, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX].into()),
        Ids::Range { first: u64::MAX - 3, count: 4 },
        names([b"", b"a", b"b b", "ø€".as_bytes()]),
        names([b"a", b"a\0", b"b", b"\xff\xfe"]),
    ];
    for ids in kinds {
        for group_edges in [1, 4, 1000] {
            let graphs = [
                sample(ids.clone(), |_| ()),
                sample(ids.clone(), |i| [0, 1, u32::MAX][i as usize % 3]),
                sample(ids.clone(), |i| [0.5f32, -1.0, f32::MAX][i as usize % 3]),
                sample(ids.clone(), |i| [1e-300, -0.1, 3.0][i as usize % 3]),
            ];
            for graph in graphs {
                let again = read(written(&graph, group_edges), &ReadOptions::default()).unwrap();
                assert_eq!(again.adjacency, graph.adjacency);
                assert_eq!(again.ids, graph.ids);
            }
        }
    }
}

#[test]
fn a_larger_graph_comes_back_from_one_file_and_from_parts() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    // More rows than one piece, and a path so that every vertex occurs.
    let mut list: Vec<_> = (0..300_000).map(|_| (random() % 5000, random() % 5000, ())).collect();
    list.extend((1..5000).map(|v| (v - 1, v, ())));
    let graph = Graph::dense(Csr::from_edges(5000, &list), "");
    let folder = tempfile::tempdir().unwrap();
    let cut = graph.num_edges() as usize / 3;
    for (name, group) in [("whole", 1 << 20), ("groups", 7777)] {
        let again = read(written(&graph, group), &ReadOptions::default()).unwrap();
        assert_eq!(again.adjacency, graph.adjacency, "{name}");
    }
    for (part, list) in list.chunks(cut).enumerate() {
        let graph = Graph::dense(Csr::from_edges(5000, list), "");
        let path = folder.path().join(format!("part-{part}.parquet"));
        std::fs::write(path, written(&graph, 20_000)).unwrap();
    }
    let source = Source::find(folder.path().to_str().unwrap()).unwrap();
    assert!(Parquet.recognises(&source));
    let again = formats::read(&source, Some(&Parquet), &ReadOptions::default()).unwrap();
    assert_eq!(again.num_edges(), graph.num_edges());
    assert!(again.read_as.starts_with("Parquet, 4 parts, 19 row groups, "), "{}", again.read_as);
    let serial = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let serial =
        serial.install(|| formats::read(&source, Some(&Parquet), &ReadOptions::default()).unwrap());
    assert_eq!(again, serial);
}

#[test]
fn nothing_to_write() {
    let graph = Graph::dense(Csr::<()>::from_edges(3, &[]), "");
    let again = read(written(&graph, 10), &ReadOptions::default()).unwrap();
    assert_eq!((again.num_vertices(), again.num_edges()), (0, 0));
}

fn from_pyarrow(name: &str) -> Source {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/parquet");
    Source::find(format!("{folder}/{name}.parquet")).unwrap()
}

#[test]
fn files_written_by_pyarrow() {
    let graph =
        formats::read(&from_pyarrow("pyarrow-snappy"), Some(&Parquet), &ReadOptions::default())
            .unwrap();
    assert_eq!(
        edges(&graph),
        ["10>20:0.5", "10>30:1.5", "10>20:0.5", "20>20:-3.25", "30>10:2.0", "30>40:1000000000.0"]
    );
    assert_eq!(
        graph.read_as,
        "Parquet, 2 row groups, columns src → dst, weight amount (f64), integer ids"
    );
    let graph =
        formats::read(&from_pyarrow("pyarrow-names"), Some(&Parquet), &ReadOptions::default())
            .unwrap();
    assert_eq!(
        edges(&graph),
        [">oslo:4", "oslo>århus:1", "oslo>:3", "turku>oslo:5", "århus>turku:2"]
    );
    assert_eq!(
        graph.read_as,
        "Parquet, 1 row group, columns from → to, weight km (u32), names as ids"
    );
}

#[test]
fn nulls_are_named_with_their_row() {
    let source = from_pyarrow("pyarrow-nulls");
    let error = formats::read(&source, Some(&Parquet), &ReadOptions::default()).unwrap_err();
    assert_eq!(row_and_problem(error), (3, "column 'u' is null".into()));
    let weight = Columns {
        source: ColumnKey::Position(1),
        destination: ColumnKey::Name("v".into()),
        weight: Some(ColumnKey::Name("w".into())),
    };
    let options = ReadOptions { columns: Some(weight), ..Default::default() };
    let error = formats::read(&source, Some(&Parquet), &options).unwrap_err();
    assert_eq!(row_and_problem(error), (4, "column 'w' is null".into()));
    let unweighted = ReadOptions { weights: false, ..options };
    assert_eq!(formats::read(&source, Some(&Parquet), &unweighted).unwrap().num_edges(), 4);
}

#[test]
fn columns_are_found_by_name_or_place() {
    let file = || {
        let columns = "required double w; required int64 other; required int64 target_id; \
                       required int64 Source";
        let w = Values::F64(vec![Some(0.5)]);
        table(columns, &[w, i64s(&[1]), i64s(&[2]), i64s(&[3])])
    };
    let guessed = read(file(), &ReadOptions::default()).unwrap();
    assert_eq!(edges(&guessed), ["3>2:0.5"]);
    let choose = |source: ColumnKey, destination: ColumnKey| {
        let columns = Some(Columns { source, destination, weight: None });
        read(file(), &ReadOptions { columns, ..Default::default() })
    };
    let name = |name: &str| ColumnKey::Name(name.into());
    assert_eq!(edges(&choose(name("other"), ColumnKey::Position(2)).unwrap()), ["1>2:()"]);
    let error = choose(name("source"), name("other")).unwrap_err().to_string();
    assert_eq!(error, "file: no column 'source'; there are w, other, target_id, Source");
    let error = choose(ColumnKey::Position(4), name("other")).unwrap_err().to_string();
    assert!(error.contains("no column number 4"), "{error}");

    let plain = table(
        "required int64 a; required int64 b; required int32 c",
        &[i64s(&[1]), i64s(&[2]), Values::I32(vec![Some(3)])],
    );
    assert_eq!(edges(&read(plain, &ReadOptions::default()).unwrap()), ["1>2:3"]);
}

#[test]
fn columns_of_no_use_are_refused() {
    let one = || i64s(&[1]);
    let float = || Values::F64(vec![Some(1.0)]);
    let text = || Values::Text(vec![Some("x")]);
    let int = || Values::I32(vec![Some(1)]);
    let cases = [
        ("required double a; required int64 b", vec![float(), one()], "'a' holds fractions"),
        ("required int64 a; required int32 b (DATE)", vec![one(), int()], "'b' holds dates"),
        ("required int64 a (DECIMAL(9,2)); required int64 b", vec![one(), one()], "holds decimals"),
        ("required int64 a; required group b { required int64 c; }", vec![one(), one()], "nested"),
        ("required int64 a; repeated int64 b", vec![one(), one()], "'b' is repeated"),
        ("required int64 a; required byte_array b", vec![one(), text()], "but column 'b' names"),
        ("required int64 a", vec![one()], "needs two columns, found 1"),
        (
            "required int64 a; required int64 b; required byte_array weight",
            vec![one(), one(), text()],
            "'weight' holds text",
        ),
    ];
    for (columns, values, expected) in cases {
        let error = read(table(columns, &values), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn ids_are_integers_or_names_as_asked() {
    let file = || {
        let text = Values::Text(vec![Some("10"), Some("9")]);
        table("required int64 a; required byte_array b (STRING)", &[i64s(&[9, 10]), text])
    };
    let with = |ids| read(file(), &ReadOptions { ids, ..Default::default() });
    assert!(with(IdKind::Detect).unwrap_err().to_string().contains("holds integers"));
    let integers = with(IdKind::Integers).unwrap();
    assert_eq!(integers.ids, Ids::Range { first: 9, count: 2 });
    assert_eq!(edges(&integers), ["9>10:()", "10>9:()"]);
    let names = with(IdKind::Names).unwrap();
    assert_eq!(names.ids, Ids::Names([&b"10"[..], b"9"].into_iter().collect()));
    assert_eq!(edges(&names), ["10>9:()", "9>10:()"]);

    let bad = table(
        "required byte_array a; required byte_array b",
        &[Values::Text(vec![Some("1"), Some("2")]), Values::Text(vec![Some("3"), Some("-4")])],
    );
    let options = ReadOptions { ids: IdKind::Integers, ..Default::default() };
    let (row, problem) = row_and_problem(read(bad, &options).unwrap_err());
    assert_eq!((row, &problem[..]), (2, "column 'b' is '-4', expected an integer from 0"));
}

#[test]
fn integers_are_read_with_their_signs() {
    let minus_one = || Values::I32(vec![Some(1), Some(-1)]);
    let file = table("required int32 a; required int64 b", &[minus_one(), i64s(&[1, 2])]);
    let (row, problem) = row_and_problem(read(file, &ReadOptions::default()).unwrap_err());
    assert_eq!((row, &problem[..]), (2, "column 'a' is -1, but ids are not negative"));
    for columns in [
        "required int32 a (INTEGER(32,false)); required int64 b (INTEGER(64,false))",
        "required int32 a (UINT_32); required int64 b (UINT_64)",
    ] {
        let graph = read(table(columns, &[minus_one(), i64s(&[-1, 2])]), &ReadOptions::default());
        let expected = [format!("1>{}:()", u64::MAX), format!("{}>2:()", u32::MAX)];
        assert_eq!(edges(&graph.unwrap()), expected);
    }
}

#[test]
fn weights_take_the_type_of_their_column_or_the_one_asked_for() {
    let file = |kind: &str, weights: Values| {
        let columns = format!("required int64 a; required int64 b; required {kind}");
        table(&columns, &[i64s(&[1, 2]), i64s(&[2, 1]), weights])
    };
    let float = |a: f64, b: f64| file("double w", Values::F64(vec![Some(a), Some(b)]));
    let int = |a: i64, b: i64| file("int64 w", i64s(&[a, b]));
    let as_kind = |file: Vec<u8>, weight_kind: Option<WeightKind>| {
        read(file, &ReadOptions { weight_kind, ..Default::default() })
    };
    let kind_of = |file: Vec<u8>, asked: Option<WeightKind>| {
        as_kind(file, asked).unwrap().adjacency.weight_kind()
    };
    use WeightKind::{F32, F64, None as Unweighted, U32};
    let single = file("float w", Values::F32(vec![Some(1.0), Some(2.0)]));
    assert_eq!(kind_of(single.clone(), None), F32);
    assert_eq!(kind_of(single, Some(F64)), F64);
    assert_eq!(kind_of(float(1.0, 2.0), None), F64);
    assert_eq!(kind_of(float(1.0, 2.0), Some(U32)), U32);
    assert_eq!(kind_of(float(1.0, 2.0), Some(F32)), F32);
    assert_eq!(kind_of(float(1.0, 2.0), Some(Unweighted)), Unweighted);
    assert_eq!(kind_of(int(0, u32::MAX.into()), None), U32);
    for (a, b) in [(0, 1 << 32), (0, -1)] {
        let graph = as_kind(int(a, b), None).unwrap();
        let Adjacency::F64(csr) = &graph.adjacency else { panic!("{:?}", graph.adjacency) };
        assert_eq!(csr.all_weights(), [a as f64, b as f64]);
    }
    let unsigned = |value| file("int64 w (INTEGER(64,false))", i64s(&[0, value]));
    let large = as_kind(unsigned(i64::MIN), None).unwrap();
    assert_eq!(edges(&large)[1], format!("2>1:{:?}", (1u64 << 63) as f64));
    for (file, asked, problem) in [
        (unsigned(-1), None, "is 18446744073709551615, a whole number that a double cannot hold"),
        (int(0, i64::MAX), None, "is 9223372036854775807, a whole number that a double"),
        (int(0, -1), Some(U32), "is -1, which is no weight of type u32"),
        (float(0.0, 0.5), Some(U32), "is 0.5, which is no weight of type u32"),
        (float(0.0, 1e300), Some(F32), "which is no weight of type f32"),
        (float(0.0, f64::NAN), None, "is NaN, expected a finite weight"),
        (float(0.0, f64::NEG_INFINITY), None, "is -inf, expected a finite weight"),
    ] {
        let (row, found) = row_and_problem(as_kind(file, asked).unwrap_err());
        assert!(row == 2 && found.contains(problem), "{found}");
    }
}

#[test]
fn declared_vertices() {
    let file = || table("required int64 a; required int64 b", &[i64s(&[1]), i64s(&[3])]);
    let with = |first, count| {
        let vertices = Some(Vertices::Range(VertexRange { first, count }));
        read(file(), &ReadOptions { vertices, ..Default::default() })
    };
    assert_eq!(with(0, 6).unwrap().num_vertices(), 6);
    assert!(with(0, 3).unwrap_err().to_string().contains("an edge names vertex 3"));
}

#[test]
fn parts_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    let complaint = || {
        let source = Source::find(folder.path().to_str().unwrap()).unwrap();
        formats::read(&source, Some(&Parquet), &ReadOptions::default()).unwrap_err().to_string()
    };
    put("1", table("required int64 a; required int64 b", &[i64s(&[1]), i64s(&[2])]));
    let text = || Values::Text(vec![Some("x")]);
    put("2", table("required byte_array a; required byte_array b", &[text(), text()]));
    assert!(complaint().contains("2: ids are names, but in "), "{}", complaint());
    let three = [i64s(&[1]), i64s(&[2]), i64s(&[3])];
    put("2", table("required int64 a; required int64 b; required int64 w", &three));
    assert!(complaint().contains("2: edges have weights, but in "), "{}", complaint());
    put("2", b"a,b\n1,2\n3,4\n".to_vec());
    assert!(complaint().contains("2 at byte 0: expected PAR1"), "{}", complaint());
}
