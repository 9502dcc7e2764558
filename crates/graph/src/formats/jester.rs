//! Jester's ratings: a dense matrix of users and items as CSV. A line is a user: the number of its
//! ratings, then a rating for every item, 99 where there is none.
//!
//! Users and items are counted from 1 and called `s1`, `s2`, … and `t1`, `t2`, …, as in any
//! bipartite graph. Nothing but the counts tells such a file from other tables, so it is read on
//! request or by its ending, `.jester`.

use super::{Format, ReadOptions};
use crate::id_map::OriginalId;
use crate::ingest::{IdList, Ingest, NameList, VertexList};
use crate::slices::{Cut, EdgeFile, Piece, Pieces, Shape, Shares, Slice, WeightRule, order};
use crate::source::Source;
use crate::text::fields::{Delimiter, fields};
use crate::text::number;
use crate::text::pieces::line_pieces;
use crate::text::scanner::{Line, Scanner};
use crate::text::table::{DESTINATION_SIDE, SOURCE_SIDE, side_id};
use crate::weight::WeightKind;
use crate::{Direction, Graph, Result};

/// Jester.
pub struct Jester;

/// Stands where a user has not rated an item.
const NOT_RATED: f64 = 99.0;
/// Users per piece handed to the builder.
const USERS_PER_PIECE: u64 = 1 << 10;

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

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let ingest = Ingest::<f64>::new(source.name(), options.declared(0));
        let mut scanner = Scanner::new(source)?;
        let (mut ends, mut weights) = (NameList::default(), Vec::new());
        let (mut users, mut items) = (0, None);
        while let Some(line) = scanner.next_line()? {
            if line.text.is_empty() {
                continue;
            }
            users += 1;
            let user = user_name(users);
            for (item, rating) in ratings(line, &mut items)? {
                ends.push(&user);
                ends.push(&item_name(item));
                weights.push(rating);
            }
            if users.is_multiple_of(USERS_PER_PIECE) {
                ingest.add_names(users as usize, &ends, std::mem::take(&mut weights))?;
                ends.clear();
            }
        }
        ingest.add_names(users as usize + 1, &ends, weights)?;
        let mut vertices = NameList::default();
        (1..=users).for_each(|user| vertices.push(&user_name(user)));
        (1..=items.unwrap_or(0)).for_each(|item| vertices.push(&item_name(item)));
        let listed = VertexList { ids: IdList::Names(vertices), complete: true };
        let (csr, ids) = ingest.finish(Some(listed), |weight| weight)?;
        let read_as = format!("Jester ratings, {users} users, {} items", items.unwrap_or(0));
        let graph = Graph { adjacency: csr.into(), ids, direction: Direction::Directed, read_as };
        match options.weights {
            true => Ok(graph),
            false => graph.with_weight_kind(WeightKind::None),
        }
    }

    fn shares(&self, source: Source, _: &ReadOptions<'_>) -> Result<Shares> {
        let source = source.on_disk(true)?;
        source.single()?;
        Ok(Shares::Edges(Box::new(JesterFile(source))))
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
struct JesterFile(Source);

impl EdgeFile for JesterFile {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn shape(&self) -> Shape {
        Shape { names: true, weights: WeightRule::F64, complete: true, ..Shape::default() }
    }

    fn cut(&self) -> Cut {
        Cut::Even
    }

    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        let mut scanner = Scanner::new(&self.0.slice(slice, 0)?)?;
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

    fn pieces(&self, slice: Slice, surveys: &[Vec<u64>]) -> Result<Pieces<'_>> {
        let mut user: u64 = surveys[..slice.index].iter().map(|survey| survey[0]).sum();
        let first = surveys.iter().position(|survey| survey[0] > 0);
        let mut items = first.map(|first| surveys[first][1]);
        let lists_items = first == Some(slice.index);
        let lines = self.0.slice(slice, 0)?;
        let ratings = line_pieces(&lines, None, slice.index, true, move |line, piece| {
            if line.text.is_empty() {
                return Ok(());
            }
            user += 1;
            let name = user_name(user);
            piece.listed.push(OriginalId::Name(&name));
            for (item, rating) in ratings(line, &mut items)? {
                piece.push(OriginalId::Name(&name), OriginalId::Name(&item_name(item)));
                piece.weights.push(rating);
            }
            Ok(())
        })?;
        let mut all_items = Piece::new(order(slice.index, 0), true);
        for item in 1..=items.filter(|_| lists_items).unwrap_or(0) {
            all_items.listed.push(OriginalId::Name(&item_name(item)));
        }
        Ok(Box::new(std::iter::once(Ok(vec![all_items])).chain(ratings)))
    }
}
