//! JSON lines: an object per vertex; `null` is none.

use parton_graph::error::printable;
use parton_graph::print::push_integer;
use parton_graph::save::Output;
use parton_graph::{Error, OriginalId, Result};

use super::{Cell, Table, TableFormat, push_elements, push_real, write_rows};

/// An object per line.
pub(super) struct Jsonl;

impl TableFormat for Jsonl {
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
            push_id(line, table.id(row))?;
            for (column, (name, _)) in columns.iter().enumerate() {
                line.extend_from_slice(format!(",\"{name}\":").as_bytes());
                match table.cell(column, row) {
                    Cell::None => line.extend_from_slice(b"null"),
                    Cell::Integer(value) => push_integer(line, value),
                    Cell::Real(value) => push_real(line, value),
                    Cell::Vertex(id) => push_id(line, id)?,
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

fn push_id(line: &mut Vec<u8>, id: OriginalId<'_>) -> Result<()> {
    match id {
        OriginalId::Integer(id) => push_integer(line, id),
        OriginalId::Name(name) => {
            let text = std::str::from_utf8(name).map_err(|_| {
                Error::Request(format!(
                    "the name '{}' is not UTF-8, which JSON needs; write .csv or .parquet",
                    printable(name)
                ))
            })?;
            push_text(line, text);
        }
    }
    Ok(())
}

/// Writes a text as a JSON string.
fn push_text(line: &mut Vec<u8>, text: &str) {
    line.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\t' => line.extend_from_slice(b"\\t"),
            0..0x20 => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => line.push(byte),
        }
    }
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_as_they_were() {
        let every_ascii: String = (0..0x80u8).map(char::from).collect();
        for text in [&every_ascii[..], "", "zwölf \u{1d11e}", "\"quoted\" \\ and\nmore"] {
            let mut line = Vec::new();
            push_text(&mut line, text);
            assert_eq!(serde_json::from_slice::<String>(&line).expect("JSON"), text);
        }
    }
}
