//! JSON lines: an object per vertex; `null` is none.

use parton_graph::error::printable;
use parton_graph::print::push_integer;
use parton_graph::save::Output;
use parton_graph::{Error, OriginalId, Result};

use super::{Cell, Format, Table, push_elements, push_real, write_rows};

/// An object per line.
pub(super) struct Jsonl;

impl Format for Jsonl {
    fn ending(&self) -> &'static str {
        "jsonl"
    }

    fn about(&self) -> &'static str {
        "a JSON object per line; out of reach: null"
    }

    fn write(&self, table: &Table, out: &mut Output) -> Result<()> {
        let columns = table.columns();
        write_rows(table.len(), out, |line, row| {
            line.extend_from_slice(b"{\"id\":");
            push_label(line, table.id(row))?;
            for (column, (name, _)) in columns.iter().enumerate() {
                line.extend_from_slice(format!(",\"{name}\":").as_bytes());
                match table.cell(column, row) {
                    Cell::None => line.extend_from_slice(b"null"),
                    Cell::Integer(value) => push_integer(line, value),
                    Cell::Real(value) => push_real(line, value),
                    Cell::Vertex(id) => push_label(line, id)?,
                    Cell::Vector(elements) => {
                        line.push(b'[');
                        push_elements(line, elements, b',');
                        line.push(b']');
                    }
                }
            }
            line.extend_from_slice(b"}\n");
            Ok(())
        })
    }
}

fn push_label(line: &mut Vec<u8>, id: OriginalId<'_>) -> Result<()> {
    match id {
        OriginalId::Integer(id) => push_integer(line, id),
        OriginalId::Name(name) => {
            let text = std::str::from_utf8(name).map_err(|_| {
                Error::Request(format!(
                    "the name '{}' is not UTF-8, which JSON needs; write .csv or .parquet",
                    printable(name)
                ))
            })?;
            line.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
        }
    }
    Ok(())
}
