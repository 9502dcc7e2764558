//! CSV and TSV: a header, then a row per vertex; nothing between two delimiters is none.

use parton_graph::Result;
use parton_graph::print::{push_id, push_integer};
use parton_graph::save::Output;

use super::{Cell, ColumnKind, Table, TableFormat, push_elements, push_real, write_rows};

/// Rows of fields.
pub(super) struct Delimited {
    ending: &'static str,
    delimiter: u8,
}

/// Fields between commas.
pub(super) const CSV: Delimited = Delimited { ending: "csv", delimiter: b',' };
/// Fields between tabs.
pub(super) const TSV: Delimited = Delimited { ending: "tsv", delimiter: b'\t' };

impl TableFormat for Delimited {
    fn ending(&self) -> &'static str {
        self.ending
    }

    fn about(&self) -> &'static str {
        "a header, then a line per vertex; out of reach: an empty field"
    }

    fn write(&self, table: &Table, out: &mut Output) -> Result<()> {
        let mut header = b"id".to_vec();
        let columns = table.columns();
        for (name, kind) in &columns {
            // A field for every element of a vector, counted from 0 as in arrays.
            let fields = match kind {
                ColumnKind::Vectors(width) => (0..*width).map(|k| format!("{name}_{k}")).collect(),
                _ => vec![(*name).to_owned()],
            };
            for field in fields {
                header.push(self.delimiter);
                header.extend_from_slice(field.as_bytes());
            }
        }
        header.push(b'\n');
        out.write(&header)?;
        write_rows(table.len(), out, |line, row| {
            push_id(line, table.id(row), self.delimiter);
            for column in 0..columns.len() {
                line.push(self.delimiter);
                match table.cell(column, row) {
                    Cell::None => {}
                    Cell::Integer(value) => push_integer(line, value),
                    Cell::Real(value) => push_real(line, value),
                    Cell::Vertex(id) => push_id(line, id, self.delimiter),
                    Cell::Vector(elements) => push_elements(line, elements, self.delimiter),
                }
            }
            line.push(b'\n');
            Ok(())
        })
    }
}
