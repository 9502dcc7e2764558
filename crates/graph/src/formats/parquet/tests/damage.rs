//! Files that were cut, damaged or made to deceive: an error or a graph, never a panic.

use parquet::file::metadata::{
    ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaDataBuilder,
};

use super::*;

/// Files of a few hundred bytes that between them use all that this reader knows.
fn small_files() -> Vec<Vec<u8>> {
    let names = Ids::Names([&b"a"[..], b"ab", b"abc", b"b"].into_iter().collect());
    let pyarrow = ["pyarrow-snappy", "pyarrow-names"].map(|name| {
        let source = from_pyarrow(name);
        std::fs::read(source.path().unwrap()).unwrap()
    });
    let ours = [
        written(&sample(Ids::dense(4), |i| i), 4),
        written(&sample(names, |i| f64::from(i) / 3.0), 100),
    ];
    ours.into_iter().chain(pyarrow).collect()
}

#[test]
fn a_truncated_file_is_an_error() {
    for file in small_files() {
        for len in 0..file.len() {
            assert!(read(file[..len].to_vec(), &ReadOptions::default()).is_err(), "{len}");
        }
    }
}

#[test]
fn a_damaged_byte_never_ends_in_a_panic() {
    for file in small_files() {
        // Few vertices, so that a damaged id does not cost a large graph.
        let vertices = match read(file.clone(), &ReadOptions::default()).unwrap().ids {
            Ids::Names(_) => None,
            _ => Some(Vertices::Count(64)),
        };
        let options = ReadOptions { vertices, ..Default::default() };
        for at in 0..file.len() {
            let byte = file[at];
            for other in (0..8).map(|bit| byte ^ 1 << bit).chain([0, 0xff]) {
                let mut damaged = file.clone();
                damaged[at] = other;
                // Either a graph, perhaps another one, or an error.
                let _ = read(damaged, &options);
            }
        }
    }
}

/// The file with other contents of its only row group's entry in the footer.
fn with_group(
    file: &[u8],
    change: impl FnOnce(RowGroupMetaDataBuilder) -> RowGroupMetaDataBuilder,
) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&bytes::Bytes::copy_from_slice(file))
        .unwrap();
    let group = change(metadata.row_group(0).clone().into_builder()).build().unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    let size = u32::from_le_bytes(*file[..file.len() - 4].last_chunk().unwrap()) as usize;
    let mut changed = file[..file.len() - 8 - size].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &metadata).finish().unwrap();
    changed
}

#[test]
fn headers_that_lie_about_the_file() {
    let file = written(&sample(Ids::dense(4), |_| ()), 100);
    let complaint = |bytes: Vec<u8>| read(bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert!(read(with_group(&file, |group| group), &ReadOptions::default()).is_ok());
    for (rows, expected) in [
        (i64::MAX, "9223372036854775807 rows cannot be in"),
        (-1, "row group 0 has -1 rows"),
        (7, "the values end before the rows do"),
        (5, "more values than"),
    ] {
        let text = complaint(with_group(&file, |group| group.set_num_rows(rows)));
        assert!(text.contains(expected), "{text}");
    }
    for (offset, size) in [(4, 1 << 60), (i64::MAX, 1), (-1, 4), (4, -1)] {
        let text = complaint(with_group(&file, |mut group| {
            let columns = group.take_columns().into_iter().map(|column| {
                let column = column.into_builder().set_data_page_offset(offset);
                column.set_total_compressed_size(size).build().unwrap()
            });
            let columns = columns.collect();
            group.set_column_metadata(columns)
        }));
        assert!(text.contains("column 'source' of row group 0 lies outside the file"), "{text}");
    }
    let end = file.len();
    let mut long = file.clone();
    long[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(complaint(long).contains("the footer claims 4294967295 bytes"));
    let mut encrypted = file;
    encrypted[end - 1] = b'E';
    assert!(complaint(encrypted).contains("encrypted"));
}
