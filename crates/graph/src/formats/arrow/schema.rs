//! The columns of an Arrow table, and where their buffers are in a record batch.

use super::flat::{BROKEN, Table};
use crate::formats::parquet::schema::{Cells, SchemaField};

type Result<T> = std::result::Result<T, &'static str>;

/// How the cells of a column are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Integers of this many bytes.
    Integers {
        bytes: usize,
        signed: bool,
    },
    F32,
    F64,
    /// Text with offsets of this many bytes.
    Text {
        offset_bytes: usize,
    },
    /// Text in views.
    Views,
}

/// A column.
pub(super) struct ArrowColumn {
    /// The first of its nodes and of its buffers in a record batch, the latter without those that
    /// views add.
    pub(super) node: usize,
    pub(super) buffer: usize,
    /// How many columns of views come before it.
    pub(super) views: usize,
    pub(super) kept: Kept,
    /// The dictionary that holds the values, by the indices that are `kept`.
    pub(super) dictionary: Option<i64>,
}

/// All columns of a table.
#[derive(Default)]
pub(super) struct Schema {
    /// By their names, for the choice; those that can be used refer to `columns`.
    pub(super) fields: Vec<SchemaField>,
    pub(super) columns: Vec<ArrowColumn>,
    /// How the values of each dictionary are kept.
    pub(super) dictionaries: Vec<(i64, Kept)>,
    nodes: usize,
    buffers: usize,
    views: usize,
}

/// Deeper tables are made to harm.
const MAX_DEPTH: usize = 64;

impl Schema {
    pub(super) fn read(schema: Table<'_>) -> Result<Self> {
        if schema.i16(0)? != 0 {
            return Err("it is big-endian, which Parton does not read");
        }
        let mut all = Schema::default();
        for field in schema.tables(1)? {
            let cells = match all.kept(field) {
                Ok((kept, values)) => {
                    let (node, buffer, views) = (all.nodes, all.buffers, all.views);
                    let dictionary = match (field.table(4)?, values) {
                        (Some(encoding), Some(values)) => {
                            let id = encoding.i64(0)?;
                            all.dictionaries.push((id, values));
                            Some(id)
                        }
                        _ => None,
                    };
                    all.columns.push(ArrowColumn { node, buffer, views, kept, dictionary });
                    let cells = if dictionary.is_some() { Cells::Text } else { kept.cells() };
                    Ok((all.columns.len() - 1, cells))
                }
                Err(why) if why == BROKEN => return Err(why),
                Err(why) => Err(why),
            };
            all.fields.push(SchemaField { name: field.text(0)?.to_owned(), cells });
            all.pass(field, 0)?;
        }
        Ok(all)
    }

    /// How a column is kept and, where it has a dictionary, how the values are.
    fn kept(&self, field: Table<'_>) -> Result<(Kept, Option<Kept>)> {
        let values = kept(field.u8(2)?, field.table(3)?);
        let Some(encoding) = field.table(4)? else { return Ok((values?, None)) };
        match values? {
            values @ (Kept::Text { .. } | Kept::Views) => {
                let indices = encoding
                    .table(1)?
                    .map_or(Ok(Kept::Integers { bytes: 4, signed: true }), |indices| {
                        integers(indices)
                    })?;
                Ok((indices, Some(values)))
            }
            _ => Err("holds a dictionary of something else than text"),
        }
    }

    /// Counts the nodes and buffers of a column and of those inside it.
    fn pass(&mut self, field: Table<'_>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(BROKEN);
        }
        self.nodes += 1;
        if field.table(4)?.is_some() {
            self.buffers += 2;
            return Ok(());
        }
        let (kind, of_kind) = (field.u8(2)?, field.table(3)?);
        let is_dense = || of_kind.map_or(Ok(0), |union| union.i16(0)).map(|mode| mode == 1);
        self.buffers += match kind {
            1 | 22 => 0,
            13 | 16 => 1,
            14 if is_dense()? => 2,
            14 => 1,
            4 | 5 | 19 | 20 | 25 | 26 => 3,
            23 | 24 => {
                self.views += 1;
                2
            }
            2..=26 => 2,
            _ => return Err("it has columns of an unknown type"),
        };
        field.tables(5)?.into_iter().try_for_each(|child| self.pass(child, depth + 1))
    }
}

fn kept(kind: u8, of_kind: Option<Table<'_>>) -> Result<Kept> {
    match kind {
        2 => integers(of_kind.ok_or(BROKEN)?),
        3 => match of_kind.ok_or(BROKEN)?.i16(0)? {
            1 => Ok(Kept::F32),
            2 => Ok(Kept::F64),
            _ => Err("holds floats of 16 bits"),
        },
        4 | 5 => Ok(Kept::Text { offset_bytes: 4 }),
        19 | 20 => Ok(Kept::Text { offset_bytes: 8 }),
        23 | 24 => Ok(Kept::Views),
        6 => Err("holds true and false"),
        7 => Err("holds decimals"),
        8..=11 | 18 => Err("holds dates or times"),
        _ => Err("is nested or of an unknown type"),
    }
}

fn integers(of_kind: Table<'_>) -> Result<Kept> {
    let signed = of_kind.u8(1)? != 0;
    match of_kind.i32(0)? {
        bits @ (8 | 16 | 32 | 64) => Ok(Kept::Integers { bytes: bits as usize / 8, signed }),
        _ => Err(BROKEN),
    }
}

impl Kept {
    fn cells(self) -> Cells {
        match self {
            Kept::Integers { bytes: 8, signed: true } => Cells::I64,
            Kept::Integers { bytes: 8, signed: false } => Cells::U64,
            Kept::Integers { signed: true, .. } => Cells::I32,
            Kept::Integers { signed: false, .. } => Cells::U32,
            Kept::F32 => Cells::F32,
            Kept::F64 => Cells::F64,
            Kept::Text { .. } | Kept::Views => Cells::Text,
        }
    }
}
