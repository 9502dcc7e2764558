//! Which columns of a table hold sources, destinations and weights.

use super::schema::{Cells, SchemaField};
use crate::column_names::{self, Choice, Column};
use crate::error::{Place, printable};
use crate::formats::{ColumnKey, IdKind, ReadOptions};
use crate::weight::WeightKind;
use crate::{Error, Result};

/// A column that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) struct Chosen {
    /// Its name, fit for messages.
    pub(in crate::formats) name: String,
    /// Its place among the leaves of the file.
    pub(in crate::formats) leaf: usize,
    pub(in crate::formats) cells: Cells,
}

/// The columns that make up edges.
pub(in crate::formats) struct EdgeColumns {
    pub(in crate::formats) source: Chosen,
    pub(in crate::formats) destination: Chosen,
    pub(in crate::formats) weight: Option<Chosen>,
    /// Whether original ids are names; otherwise integers.
    pub(in crate::formats) names: bool,
}

impl EdgeColumns {
    /// Refuses files, each with its name, that do not hold the same kind of edges.
    pub(in crate::formats) fn check_agreement<'a>(
        mut files: impl Iterator<Item = (&'a str, &'a EdgeColumns)>,
    ) -> Result<()> {
        let Some((first_name, first)) = files.next() else { return Ok(()) };
        for (name, columns) in files {
            let differs = |what: &str, here: &str, there: &str| {
                let problem = format!("{what} {here}, but in {first_name} {there}");
                Err(Error::data(name, Place::File, problem))
            };
            if columns.names != first.names {
                let kind = |names| if names { "names" } else { "integers" };
                let there = format!("they are {}", kind(first.names));
                return differs("ids are", kind(columns.names), &there);
            }
            if columns.weight.is_some() != first.weight.is_some() {
                let has = |columns: &EdgeColumns| match columns.weight {
                    Some(_) => "weights",
                    None => "none",
                };
                let there = format!("they have {}", has(first));
                return differs("edges have", has(columns), &there);
            }
        }
        Ok(())
    }

    /// What the user says, else what the [names](column_names) say. A user who chooses columns chooses
    /// the weight too.
    pub(in crate::formats) fn choose(
        file: &str,
        fields: &[SchemaField],
        options: &ReadOptions<'_>,
    ) -> Result<EdgeColumns> {
        let wanted = options.weights && options.weight_kind != Some(WeightKind::None);
        let (source, destination, weight) = match &options.columns {
            Some(columns) => (
                position(file, fields, &columns.source)?,
                position(file, fields, &columns.destination)?,
                columns.weight.as_ref().map(|c| position(file, fields, c)).transpose()?,
            ),
            None => guess(file, fields, wanted)?,
        };
        let source = chosen(file, &fields[source])?;
        let destination = chosen(file, &fields[destination])?;
        let weight = weight.filter(|_| wanted).map(|i| chosen(file, &fields[i])).transpose()?;
        let bad = |problem| Err(Error::data(file, Place::File, problem));
        for id in [&source, &destination] {
            if id.cells.is_number() && !id.cells.is_integer() {
                return bad(format!(
                    "column '{}' holds fractions, expected ids: integers or names",
                    id.name
                ));
            }
        }
        if let Some(weight) = weight.as_ref().filter(|weight| !weight.cells.is_number()) {
            return bad(format!(
                "column '{}' holds text, expected weights: choose other columns, or read without \
                 weights",
                weight.name
            ));
        }
        let names = match (options.ids, source.cells.is_integer(), destination.cells.is_integer()) {
            (IdKind::Names, ..) => true,
            (IdKind::Integers, ..) | (IdKind::Detect, true, true) => false,
            (IdKind::Detect, false, false) => true,
            (IdKind::Detect, integers, _) => {
                let (integers, text) =
                    if integers { (&source, &destination) } else { (&destination, &source) };
                return bad(format!(
                    "column '{}' holds integers, but column '{}' names: choose other columns, or \
                     say that ids are names",
                    integers.name, text.name
                ));
            }
        };
        Ok(EdgeColumns { source, destination, weight, names })
    }

    /// Source, destination and, where there is one, weight.
    pub(in crate::formats) fn all(&self) -> impl Iterator<Item = &Chosen> {
        [&self.source, &self.destination].into_iter().chain(&self.weight)
    }
}

fn guess(
    file: &str,
    fields: &[SchemaField],
    weights: bool,
) -> Result<(usize, usize, Option<usize>)> {
    let is_number =
        |field: &SchemaField| matches!(field.cells, Ok((_, cells)) if cells.is_number());
    let columns: Vec<Column<'_>> = fields
        .iter()
        .map(|field| Column { name: &field.name, is_number: is_number(field), counts: false })
        .collect();
    let Choice { source, destination, weight } = column_names::choose(&columns, weights)
        .map_err(|doubt| Error::data(file, Place::File, doubt))?;
    Ok((source, destination, weight))
}

fn position(file: &str, fields: &[SchemaField], column: &ColumnKey) -> Result<usize> {
    let (found, wanted) = match column {
        ColumnKey::Position(i) => ((*i < fields.len()).then_some(*i), format!("number {i}")),
        ColumnKey::Name(name) => (fields.iter().position(|f| &f.name == name), format!("'{name}'")),
    };
    found.ok_or_else(|| {
        let names: Vec<String> = fields.iter().map(|f| printable(f.name.as_bytes())).collect();
        let of_folder = match column {
            ColumnKey::Name(name) if file.contains(&format!("/{name}=")) => {
                ": it is in the names of folders, not in the files, and cannot be part of an edge"
            }
            _ => "",
        };
        let known = names.join(", ");
        Error::Request(format!("{file}: no column {wanted}{of_folder}; there are {known}"))
    })
}

fn chosen(file: &str, field: &SchemaField) -> Result<Chosen> {
    let name = printable(field.name.as_bytes());
    match field.cells {
        Ok((leaf, cells)) => Ok(Chosen { name, leaf, cells }),
        Err(why) => {
            let problem = format!("column '{name}' {why}, expected integers, floats or text");
            Err(Error::data(file, Place::File, problem))
        }
    }
}
