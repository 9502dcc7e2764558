//! NumPy's `.npy`: one structured array with the fields `id` and those of the algorithm.
//!
//! NumPy has no way to say "none" in an array of integers. Where a vertex is out of reach the whole
//! column is of doubles, and `nan` says so. Names are strings of bytes, all as long as the longest;
//! vectors are fields with a shape, so that `array["factors"]` is a matrix.

use parton_graph::error::printable;
use parton_graph::save::Output;
use parton_graph::{Error, OriginalId, Result};

use super::{Cell, ColumnKind, Table, TableFormat, write_rows};

/// A structured array.
pub(super) struct Npy;

/// The beginning of every file: a magic string, then version 1.0.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// Data begin at a multiple of this.
const ALIGNMENT: usize = 64;

impl TableFormat for Npy {
    fn ending(&self) -> &'static str {
        "npy"
    }

    fn about(&self) -> &'static str {
        "a structured NumPy array; out of reach: nan, in a column of doubles"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn write(&self, table: &Table, out: &mut Output) -> Result<()> {
        let name = out.path().display().to_string();
        let names = match names_width(table, &name)? {
            Some(width) => Type::Bytes(width),
            None => Type::U8,
        };
        let columns: Vec<(&str, Type)> = table
            .columns()
            .iter()
            .enumerate()
            .map(|(column, (name, kind))| (*name, Type::of(table, column, *kind, names)))
            .collect();
        out.write(&header(names, &columns, table.len()))?;
        write_rows(table.len(), out, |bytes, row| {
            push_id(bytes, table.id(row), names);
            for (column, (_, kind)) in columns.iter().enumerate() {
                match (table.cell(column, row), kind) {
                    (Cell::None, _) => bytes.extend_from_slice(&f64::NAN.to_le_bytes()),
                    (Cell::Real(value), _) => bytes.extend_from_slice(&value.to_le_bytes()),
                    (Cell::Integer(value), Type::F8) => {
                        bytes.extend_from_slice(&exact(value, &name)?.to_le_bytes());
                    }
                    (Cell::Integer(value), Type::U4) => {
                        bytes.extend_from_slice(&(value as u32).to_le_bytes());
                    }
                    (Cell::Integer(value), _) => {
                        bytes.extend_from_slice(&value.to_le_bytes());
                    }
                    (Cell::Vertex(id), _) => push_id(bytes, id, names),
                    (Cell::Vector(elements), _) => {
                        bytes.extend_from_slice(bytemuck::cast_slice(elements));
                    }
                }
            }
            Ok(())
        })
    }
}

/// Types of NumPy.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    U4,
    U8,
    F8,
    /// A string of this many bytes.
    Bytes(usize),
    /// A vector of this many numbers of single precision.
    F4(usize),
}

impl Type {
    /// The type of a column: that of its values, unless some are none.
    fn of(table: &Table, column: usize, kind: ColumnKind, names: Type) -> Self {
        let has_none = || (0..table.len()).any(|row| table.cell(column, row) == Cell::None);
        match kind {
            ColumnKind::F64 => Type::F8,
            ColumnKind::Integers | ColumnKind::Names => names,
            ColumnKind::Vectors(width) => Type::F4(width),
            ColumnKind::U32 | ColumnKind::U64 if has_none() => Type::F8,
            ColumnKind::U32 => Type::U4,
            ColumnKind::U64 => Type::U8,
        }
    }

    /// How a field of this type is described.
    fn describe(self, name: &str) -> String {
        let (code, shape) = match self {
            Type::U4 => ("<u4".into(), String::new()),
            Type::U8 => ("<u8".into(), String::new()),
            Type::F8 => ("<f8".into(), String::new()),
            Type::Bytes(width) => (format!("|S{width}"), String::new()),
            Type::F4(width) => ("<f4".into(), format!(", ({width},)")),
        };
        format!("('{name}', '{code}'{shape})")
    }
}

/// Bytes of the longest name, where there are names.
fn names_width(table: &Table, file: &str) -> Result<Option<usize>> {
    if table.id_kind() != ColumnKind::Names {
        return Ok(None);
    }
    let mut longest = 1;
    for row in 0..table.len() {
        let OriginalId::Name(name) = table.id(row) else { continue };
        // NumPy takes zeros at the end for padding.
        if name.ends_with(&[0]) {
            return Err(Error::Request(format!(
                "{file}: the name '{}' ends in a zero byte, which NumPy would leave out; write \
                 .parquet",
                printable(name)
            )));
        }
        longest = longest.max(name.len());
    }
    Ok(Some(longest))
}

fn header(ids: Type, columns: &[(&str, Type)], rows: usize) -> Vec<u8> {
    let fields = std::iter::once(("id", ids)).chain(columns.iter().copied());
    let fields: Vec<_> = fields.map(|(name, kind)| kind.describe(name)).collect();
    let mut text = format!(
        "{{'descr': [{}], 'fortran_order': False, 'shape': ({rows},), }}",
        fields.join(", ")
    );
    // Blanks and a line end fill up to where the data begin.
    let used = MAGIC.len() + 2 + text.len() + 1;
    text.push_str(&" ".repeat(used.next_multiple_of(ALIGNMENT) - used));
    text.push('\n');
    [MAGIC, &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

fn push_id(bytes: &mut Vec<u8>, id: OriginalId<'_>, names: Type) {
    match id {
        OriginalId::Integer(id) => bytes.extend_from_slice(&id.to_le_bytes()),
        OriginalId::Name(name) => {
            bytes.extend_from_slice(name);
            if let Type::Bytes(width) = names {
                bytes.resize(bytes.len() + width - name.len(), 0);
            }
        }
    }
}

/// A count as a double, if it is one.
fn exact(value: u64, name: &str) -> Result<f64> {
    let double = value as f64;
    match double as u64 == value && value < u64::MAX {
        true => Ok(double),
        false => Err(Error::Request(format!(
            "{name}: some vertices are out of reach, which takes a column of doubles, and \
             {value} is none; write .parquet or .csv"
        ))),
    }
}
