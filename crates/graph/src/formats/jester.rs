//! Jester's ratings: a dense matrix of users and items as CSV. A line is a user: the number of its
//! ratings, then a rating for every item, 99 where there is none.
//!
//! Users and items are counted from 1 and called `s1`, `s2`, … and `t1`, `t2`, …, as in any
//! bipartite graph. Nothing but the counts tells such a file from other tables, so it is read on
//! request or by its ending, `.jester`.

use super::{Format, ReadOptions};
use crate::ingest::{Ingest, ListedIds, NameList, VertexList};
use crate::source::Source;
use crate::text::fields::{Delimiter, fields};
use crate::text::number;
use crate::text::scanner::Scanner;
use crate::text::table::{DESTINATION_SIDE, SOURCE_SIDE, side_id};
use crate::weight::WeightKind;
use crate::{Direction, Graph, Result};

/// Jester.
pub struct Jester;

/// Stands where a user has not rated an item.
const NOT_RATED: f64 = 99.0;
/// Users per piece handed to the builder.
const USERS_PER_PIECE: usize = 1 << 10;

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
        let mut vertices = NameList::default();
        let (mut ends, mut weights) = (NameList::default(), Vec::new());
        let (mut users, mut items) = (0usize, None);
        while let Some(line) = scanner.next_line()? {
            if line.text.is_empty() {
                continue;
            }
            users += 1;
            let user = side_id(SOURCE_SIDE, users.to_string().as_bytes());
            vertices.push(&user);
            let mut numbers = Vec::new();
            for field in fields(line.text, Delimiter::Byte(b',')) {
                let field = field.map_err(|(at, problem)| line.error_at(at, problem))?;
                let value = number::parse_weight(&field.value);
                numbers.push(value.map_err(|problem| line.error_at(field.at, problem))?.0);
            }
            let (declared, ratings) = numbers.split_first().expect("a line has a first field");
            let expected = *items.get_or_insert(ratings.len());
            if ratings.len() != expected {
                let problem = format!("expected {expected} ratings, found {}", ratings.len());
                return Err(line.error(problem));
            }
            let before = weights.len();
            for (item, &rating) in (1..).zip(ratings).filter(|(_, rating)| **rating != NOT_RATED) {
                ends.push(&user);
                ends.push(&side_id(DESTINATION_SIDE, (item as u64).to_string().as_bytes()));
                weights.push(rating);
            }
            let rated = weights.len() - before;
            if rated as f64 != *declared {
                let problem = format!("the line declares {declared} ratings, found {rated}");
                return Err(line.error(problem));
            }
            if users.is_multiple_of(USERS_PER_PIECE) {
                ingest.add_names(users, &ends, std::mem::take(&mut weights))?;
                ends.clear();
            }
        }
        ingest.add_names(users + 1, &ends, weights)?;
        for item in 1..=items.unwrap_or(0) {
            vertices.push(&side_id(DESTINATION_SIDE, item.to_string().as_bytes()));
        }
        let listed = VertexList { ids: ListedIds::Names(vertices), complete: true };
        let (csr, ids) = ingest.finish(Some(listed), |weight| weight)?;
        let read_as = format!("Jester ratings, {users} users, {} items", items.unwrap_or(0));
        let graph = Graph { adjacency: csr.into(), ids, direction: Direction::Directed, read_as };
        match options.weights {
            true => Ok(graph),
            false => graph.with_weight_kind(WeightKind::None),
        }
    }
}
