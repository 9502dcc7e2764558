//! Jester's ratings: a dense matrix of users and items as CSV. A line is a user: the number of its
//! ratings, then a rating for every item, 99 where there is none.
//!
//! Users and items are counted from 1 and called `s1`, `s2`, … and `t1`, `t2`, …, as in any
//! bipartite graph. Nothing but the counts tells such a file from other tables, so it is read on
//! request or by its ending, `.jester`.

use super::{Format, Opened, ReadOptions};
use crate::edge_file::{Cut, EdgeFile, FileShape, Pieces, Slice, WeightRule};
use crate::id_map::OriginalId;
use crate::ingest::VertexRange;
use crate::progress::Progress;
use crate::source::Source;
use crate::text::dialect::{DESTINATION_SIDE, SOURCE_SIDE, side_id};
use crate::text::fields::{Delimiter, fields};
use crate::text::number;
use crate::text::pieces::line_pieces;
use crate::text::scanner::{Line, Scanner};
use crate::{Graph, Result};

/// Jester.
pub struct Jester;

/// Stands where a user has not rated an item.
const NOT_RATED: f64 = 99.0;

impl Format for Jester {
    fn name(&self) -> &'static str {
        "jester"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["jester"]
    }

    fn recognises(&self, _: &Source) -> bool {
        false
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        source.single()?;
        let (vertices, weights) = (options.declared(0), options.weights);
        Ok(Opened::Edges(Box::new(JesterFile { source, vertices, weights })))
    }
}

fn user_name(number: u64) -> Vec<u8> {
    side_id(SOURCE_SIDE, number.to_string().as_bytes())
}

fn item_name(number: u64) -> Vec<u8> {
    side_id(DESTINATION_SIDE, number.to_string().as_bytes())
}

/// What the user of a line has rated, and how; `items` is the number of items, once known.
fn ratings(line: Line<'_>, items: &mut Option<u64>) -> Result<Vec<(u64, f64)>> {
    let mut numbers = Vec::new();
    for field in fields(line.text, Delimiter::Byte(b',')) {
        let field = field.map_err(|(at, problem)| line.error_at(at, problem))?;
        let value = number::parse_weight(&field.value);
        numbers.push(value.map_err(|problem| line.error_at(field.at, problem))?.0);
    }
    let (declared, ratings) = numbers.split_first().expect("a line has a first field");
    let expected = *items.get_or_insert(ratings.len() as u64);
    if ratings.len() as u64 != expected {
        let problem = format!("expected {expected} ratings, found {}", ratings.len());
        return Err(line.error(problem));
    }
    let numbered = (1..).zip(ratings.iter().copied());
    let rated: Vec<_> = numbered.filter(|(_, rating)| *rating != NOT_RATED).collect();
    if rated.len() as f64 != *declared {
        let problem = format!("the line declares {declared} ratings, found {}", rated.len());
        return Err(line.error(problem));
    }
    Ok(rated)
}

/// A matrix, open for reading slices of its lines. A survey is the number of users and, if there
/// are any, the number of items.
struct JesterFile {
    source: Source,
    vertices: Option<VertexRange>,
    weights: bool,
}

impl EdgeFile for JesterFile {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> FileShape {
        let weights = if self.weights { WeightRule::F64 } else { WeightRule::None };
        FileShape {
            names: true,
            weights,
            vertices: self.vertices,
            complete: true,
            ..FileShape::default()
        }
    }

    fn cut(&self) -> Cut {
        Cut::Even
    }

    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        let mut scanner = Scanner::new(&self.source.slice(slice, 0)?)?;
        let (mut users, mut items) = (0, 0);
        while let Some(line) = scanner.next_line()? {
            if users == 0 && !line.text.is_empty() {
                let fields = fields(line.text, Delimiter::Byte(b',')).count() as u64;
                items = fields.saturating_sub(1);
            }
            users += u64::from(!line.text.is_empty());
        }
        Ok(vec![users, items])
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        surveys: &[Vec<u64>],
        _: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        // A file that is read as one slice is not surveyed: its first line tells the items.
        let users = |survey: &Vec<u64>| survey.first().copied().unwrap_or(0);
        let mut user: u64 = surveys[..slice.index].iter().map(users).sum();
        let mut items = surveys.iter().find(|survey| users(survey) > 0).map(|survey| survey[1]);
        let lines = self.source.slice(slice, 0)?;
        line_pieces(&lines, None, slice.index, true, move |line, piece| {
            if line.text.is_empty() {
                return Ok(());
            }
            user += 1;
            let name = user_name(user);
            piece.listed.push(OriginalId::Name(&name));
            for (item, rating) in ratings(line, &mut items)? {
                piece.push(OriginalId::Name(&name), OriginalId::Name(&item_name(item)));
                piece.push_weight((rating, false));
            }
            // The first user's slice lists the items.
            for item in 1..=items.filter(|_| user == 1).unwrap_or(0) {
                piece.listed.push(OriginalId::Name(&item_name(item)));
            }
            Ok(())
        })
    }

    fn understood(&self) -> Option<String> {
        Some("Jester ratings".into())
    }

    fn read_as(&self, graph: &Graph) -> String {
        let is_user = |v: &usize| match graph.ids.get(*v) {
            OriginalId::Name(name) => name[0] == SOURCE_SIDE,
            OriginalId::Integer(_) => false,
        };
        let users = (0..graph.num_vertices()).filter(is_user).count();
        format!("Jester ratings, {users} users, {} items", graph.num_vertices() - users)
    }
}
