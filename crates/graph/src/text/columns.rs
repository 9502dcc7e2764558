//! Which columns of a text table hold an edge: what the user says, else what the names say, else the
//! first two, and the third if it holds numbers, unless the table looks like something else.

use super::sample::{Sample, SampleRow, counts_rows, holds_numbers};
use super::shapes;
use crate::column_names::{self, Choice, Column};
use crate::error::Place;
use crate::formats::{ColumnKey, ReadOptions};
use crate::source::Source;
use crate::{Error, Result};

pub(super) use crate::column_names::Choice as Chosen;

/// Chooses the columns of an edge. `data` are those rows of the sample that are edges.
pub(super) fn choose(
    source: &Source,
    sample: &Sample<'_>,
    data: &[SampleRow<'_>],
    names: Option<&[String]>,
    options: &ReadOptions<'_>,
) -> Result<Choice> {
    let first = &sample.rows[0];
    let columns = data.first().unwrap_or(first).cells.len();
    if let Some(asked) = &options.columns {
        let find = |column: &ColumnKey| find(source, column, names.unwrap_or(&[]), columns);
        return Ok(Choice {
            source: find(&asked.source)?,
            destination: find(&asked.destination)?,
            weight: asked.weight.as_ref().map(find).transpose()?,
        });
    }
    let place = Place::line(first.line, 1, first.text);
    if columns < 2 {
        let problem = "expected at least 2 columns, found 1; if another byte stands between them, \
                       say `delimiter`";
        return Err(source.error(place, problem));
    }
    let is_whole = source.head_is_all();
    let has_words = |name: &String| name.chars().any(char::is_alphabetic);
    let names = names.filter(|names| names.iter().any(has_words));
    let known: Vec<&str> = names.unwrap_or(&[]).iter().map(String::as_str).collect();
    let is_matrix = shapes::is_labelled_matrix(&sample.rows, names.is_some(), is_whole)
        || names.is_some() && shapes::is_square(data, columns, is_whole);
    if is_matrix && column_names::ends(&known).is_none() {
        return Err(source.error(place, shapes::matrix()));
    }
    match names {
        Some(names) => {
            let column = |place: usize| Column {
                name: names.get(place).map_or("", String::as_str),
                is_number: holds_numbers(data, place),
                counts: counts_rows(data, place),
            };
            let known: Vec<Column<'_>> = (0..columns).map(column).collect();
            column_names::choose(&known, options.weights)
                .map_err(|doubt| source.error(place, doubt))
        }
        None => match shapes::doubt(sample, data, columns, is_whole) {
            Some(doubt) => Err(source.error(place, doubt)),
            None => {
                let weight = (columns > 2 && holds_numbers(data, 2)).then_some(2);
                Ok(Choice { source: 0, destination: 1, weight })
            }
        },
    }
}

fn find(source: &Source, column: &ColumnKey, names: &[String], columns: usize) -> Result<usize> {
    match column {
        ColumnKey::Position(position) if *position < columns => Ok(*position),
        ColumnKey::Position(position) => Err(Error::Request(format!(
            "{}: there is no column {}, only {columns}",
            source.name(),
            position + 1
        ))),
        ColumnKey::Name(name) => match names.iter().position(|known| known == name) {
            Some(position) if position < columns => Ok(position),
            Some(position) => Err(Error::Request(format!(
                "{}: '{name}' is the name of column {}, but rows have only {columns}",
                source.name(),
                position + 1
            ))),
            None => Err(Error::Request(format!(
                "{}: there is no column '{name}'; its header names: {}",
                source.name(),
                column_names::shown(names.iter().map(String::as_str), ", ")
            ))),
        },
    }
}
