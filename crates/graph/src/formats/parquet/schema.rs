//! The columns a file says it has, read from its footer by hand.
//!
//! The library builds the tree of columns recursively and reserves memory for as many children as
//! a column claims, so a small hostile file could end the process. Edges only ever come from
//! top-level columns: the tree is read here without recursion, and the library is given a flat
//! schema with one column per leaf.

use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::thrift::{Compact, kind, malformed};

/// How the cells of a column are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Cells {
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    Text,
}

impl Cells {
    pub(in crate::formats) fn is_integer(self) -> bool {
        matches!(self, Cells::I32 | Cells::U32 | Cells::I64 | Cells::U64)
    }

    pub(in crate::formats) fn is_number(self) -> bool {
        self != Cells::Text
    }
}

/// A top-level column.
pub(in crate::formats) struct SchemaField {
    pub(in crate::formats) name: String,
    /// Which leaf it is and what it holds, or why it cannot be used ("holds decimals").
    pub(in crate::formats) cells: Result<(usize, Cells), &'static str>,
}

/// All columns of a file.
pub(super) struct Schema {
    /// Top-level columns, in order.
    pub(super) fields: Vec<SchemaField>,
    /// Every leaf as a top-level column, for the library.
    pub(super) leaves: Arc<SchemaDescriptor>,
}

/// One entry of the footer's list of columns, a tree in preorder.
#[derive(Default)]
struct Element {
    physical: Option<i32>,
    length: i32,
    repetition: Option<i32>,
    name: String,
    children: i32,
    converted: Option<i32>,
    logical: Option<Logical>,
}

/// The annotation of a column: which kind, and for integers whether they have a sign.
#[derive(Clone, Copy)]
struct Logical {
    id: i16,
    signed: bool,
}

impl Schema {
    /// The columns that the footer lists.
    pub(super) fn read(footer: &[u8]) -> Result<Schema> {
        let mut elements = None;
        Compact::new(footer).each_field(|reader, id, kind| match (id, kind) {
            (2, kind::LIST) if elements.is_none() => {
                elements = Some(read_elements(reader)?);
                Ok(())
            }
            (2, _) => Err(malformed("the list of columns is not one list")),
            _ => reader.skip(kind),
        })?;
        let elements = elements.ok_or_else(|| malformed("it lists no columns"))?;
        Self::from_elements(&elements)
    }

    fn from_elements(elements: &[Element]) -> Result<Schema> {
        let root = elements.first().ok_or_else(|| malformed("it lists no columns"))?;
        let (mut fields, mut leaves) = (Vec::new(), Vec::new());
        // How many children each open group still waits for, outermost first.
        let mut open = vec![root.children];
        for element in &elements[1..] {
            while open.last() == Some(&0) {
                open.pop();
            }
            let is_top = open.len() == 1;
            match open.last_mut() {
                Some(children) if *children > 0 => *children -= 1,
                _ => return Err(malformed("the tree of columns is broken")),
            }
            if element.children > 0 || element.physical.is_none() {
                open.push(element.children);
            }
            let cells = element.physical.map(|physical| (leaves.len(), element.cells(physical)));
            if let Some(physical) = element.physical {
                leaves.push(Arc::new(element.leaf(physical, is_top)?));
            }
            if is_top {
                let cells = match cells {
                    Some((leaf, Ok(cells))) => Ok((leaf, cells)),
                    Some((_, Err(why))) => Err(why),
                    None => Err("is nested"),
                };
                fields.push(SchemaField { name: element.name.clone(), cells });
            }
        }
        if open.iter().any(|&children| children != 0) {
            return Err(malformed("the tree of columns is broken"));
        }
        let flat = Type::group_type_builder("edges").with_fields(leaves).build()?;
        Ok(Schema { fields, leaves: Arc::new(SchemaDescriptor::new(Arc::new(flat))) })
    }
}

fn read_elements(reader: &mut Compact<impl std::io::Read>) -> Result<Vec<Element>> {
    let (element, count) = reader.list()?;
    if element != kind::STRUCT {
        return Err(malformed("the list of columns is not a list of structs"));
    }
    (0..count).map(|_| Element::read(reader)).collect()
}

impl Element {
    fn read(reader: &mut Compact<impl std::io::Read>) -> Result<Self> {
        let mut element = Element::default();
        reader.each_field(|reader, id, kind| {
            match (id, kind) {
                (1, kind::I32) => element.physical = Some(reader.i32()?),
                (2, kind::I32) => element.length = reader.i32()?,
                (3, kind::I32) => element.repetition = Some(reader.i32()?),
                (4, kind::BINARY) => {
                    element.name = String::from_utf8_lossy(&reader.binary()?).into_owned();
                }
                (5, kind::I32) => element.children = reader.i32()?,
                (6, kind::I32) => element.converted = Some(reader.i32()?),
                (10, kind::STRUCT) => element.logical = Logical::read(reader)?,
                (1..=6 | 10, _) => return Err(malformed("a column is described wrongly")),
                _ => reader.skip(kind)?,
            }
            Ok(())
        })?;
        // Some writers call a leaf a group of none.
        if element.children < 0 || (element.children > 0 && element.physical.is_some()) {
            return Err(malformed("a column is described wrongly"));
        }
        Ok(element)
    }

    /// What a top-level column of this description holds, or why it is of no use.
    fn cells(&self, physical: i32) -> Result<Cells, &'static str> {
        const REPEATED: i32 = 2;
        if self.repetition == Some(REPEATED) {
            return Err("is repeated");
        }
        // The older annotations tell as much as is needed here; the newer go first.
        let signed = match (self.logical, self.converted) {
            (Some(Logical { id: 10, signed }), _) => Some(signed),
            (Some(Logical { id, .. }), _) => return self.annotated(physical, logical_name(id)),
            (None, Some(11..=14)) => Some(false),
            (None, Some(15..=18)) => Some(true),
            (None, Some(id)) => return self.annotated(physical, converted_name(id)),
            (None, None) => None,
        };
        match (physical, signed) {
            (1, None | Some(true)) => Ok(Cells::I32),
            (1, Some(false)) => Ok(Cells::U32),
            (2, None | Some(true)) => Ok(Cells::I64),
            (2, Some(false)) => Ok(Cells::U64),
            (4, None) => Ok(Cells::F32),
            (5, None) => Ok(Cells::F64),
            (6, None) => Ok(Cells::Text),
            (0, _) => Err("holds booleans"),
            (3, _) => Err("holds 96-bit numbers"),
            (7, _) => Err("holds values of fixed length"),
            _ => Err("has a type that is unknown here"),
        }
    }

    fn annotated(&self, physical: i32, holds: &'static str) -> Result<Cells, &'static str> {
        if holds == TEXT && physical == 6 { Ok(Cells::Text) } else { Err(holds) }
    }

    /// The column as the library shall see it. Only top-level ones are ever read.
    fn leaf(&self, physical: i32, is_top: bool) -> Result<Type> {
        let kinds = [
            Physical::BOOLEAN,
            Physical::INT32,
            Physical::INT64,
            Physical::INT96,
            Physical::FLOAT,
            Physical::DOUBLE,
            Physical::BYTE_ARRAY,
            Physical::FIXED_LEN_BYTE_ARRAY,
        ];
        let physical = usize::try_from(physical).ok().and_then(|i| kinds.get(i).copied());
        let physical =
            physical.ok_or_else(|| ParquetError::General("a column has an unknown type".into()))?;
        let repetition = match (is_top, self.repetition) {
            (true, Some(1)) => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(repetition)
            .with_length(self.length.max(0))
            .build()
    }
}

impl Logical {
    fn read(reader: &mut Compact<impl std::io::Read>) -> Result<Option<Self>> {
        let mut logical = None;
        reader.each_field(|reader, id, kind| {
            let mut signed = true;
            if (id, kind) == (10, kind::STRUCT) {
                reader.each_field(|reader, field, kind| {
                    if field == 2 {
                        signed = kind == kind::TRUE;
                    }
                    reader.skip(kind)
                })?;
            } else {
                reader.skip(kind)?;
            }
            logical = Some(Logical { id, signed });
            Ok(())
        })?;
        Ok(logical)
    }
}

/// Marks annotations whose bytes are names.
const TEXT: &str = "holds text";

fn logical_name(id: i16) -> &'static str {
    match id {
        1 | 4 | 12 | 13 => TEXT,
        5 => "holds decimals",
        6 => "holds dates",
        7 => "holds times",
        8 => "holds timestamps",
        14 => "holds UUIDs",
        15 => "holds 16-bit floats",
        _ => "has a type that is unknown here",
    }
}

fn converted_name(id: i32) -> &'static str {
    match id {
        0 | 4 | 19 | 20 => TEXT,
        5 => "holds decimals",
        6 => "holds dates",
        7 | 8 => "holds times",
        9 | 10 => "holds timestamps",
        21 => "holds intervals",
        _ => "has a type that is unknown here",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with nothing but a list of columns: name, type and number of children.
    fn footer(elements: &[(&str, Option<u8>, u32)]) -> Vec<u8> {
        let number = |bytes: &mut Vec<u8>, mut rest: u32| {
            while rest > 0x7f {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        };
        let mut bytes = vec![0x29, 0xfc];
        number(&mut bytes, elements.len() as u32);
        for &(name, physical, children) in elements {
            match physical {
                Some(physical) => bytes.extend([0x15, physical << 1, 0x38]),
                None => bytes.push(0x48),
            }
            number(&mut bytes, name.len() as u32);
            bytes.extend(name.as_bytes());
            bytes.push(0x15);
            number(&mut bytes, children << 1);
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn leaves_are_counted_through_groups() {
        let elements = [
            ("root", None, 3),
            ("group", None, 2),
            ("inner", None, 1),
            ("x", Some(2), 0),
            ("y", Some(6), 0),
            ("a", Some(1), 0),
            ("b", Some(6), 0),
        ];
        let schema = Schema::read(&footer(&elements)).unwrap();
        let fields: Vec<_> = schema.fields.iter().map(|f| (&f.name[..], f.cells.ok())).collect();
        let expected =
            [("group", None), ("a", Some((2, Cells::I32))), ("b", Some((3, Cells::Text)))];
        assert_eq!(fields, expected);
        assert_eq!(schema.leaves.num_columns(), 4);
    }

    #[test]
    fn a_broken_tree_is_refused_whatever_its_size() {
        let leaf = ("a", Some(2), 0);
        let most = i32::MAX as u32;
        for elements in [
            &[("root", None, most), leaf][..],
            &[("root", None, 1), leaf, leaf],
            &[("root", None, 2), leaf],
            &[("root", None, 1), ("group", None, most), leaf],
            &[leaf, leaf],
            &[],
        ] {
            assert!(Schema::read(&footer(elements)).is_err());
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let mut elements = vec![("group", None, 1); 200_000];
        elements.push(("a", Some(2), 0));
        let schema = Schema::read(&footer(&elements)).unwrap();
        assert_eq!(schema.fields.len(), 1);
        assert_eq!(schema.fields[0].cells, Err("is nested"));
    }
}
