//! Text as pieces of edges: rows of a table, block by block, or whatever a format makes of a line.

use super::blocks::BlockGroups;
use super::scanner::{Line, Scanner};
use super::table::Table;
use crate::Result;
use crate::formats::ReadOptions;
use crate::slices::{
    Cut, EdgeFile, Found, Mirror, Piece, Pieces, Shape, Slice, WeightRule, miscounted, order,
};
use crate::source::Source;

/// A text that consists of rows of edges, after a header.
pub(crate) struct TableFile {
    pub(crate) source: Source,
    pub(crate) table: Table,
    pub(crate) mirror: Mirror,
    /// How many rows the header promises, and what it calls them.
    pub(crate) declared: Option<(u64, &'static str)>,
}

impl TableFile {
    /// Rows that stand for themselves, as many as there are.
    pub(crate) fn new(source: Source, table: Table) -> Self {
        TableFile { source, table, mirror: Mirror::None, declared: None }
    }

    /// The edges of a slice.
    pub(crate) fn rows(&self, slice: Slice) -> Result<Pieces<'_>> {
        let lines = self.source.slice(slice, self.table.skip_lines)?;
        let groups = BlockGroups::new(&lines, move |block| {
            self.table.piece(block, order(slice.index, block.order))
        });
        Ok(Box::new(groups))
    }
}

impl EdgeFile for TableFile {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> Shape {
        let weights = match (self.table.weight, self.mirror) {
            (None, _) => WeightRule::None,
            (Some(_), Mirror::Negated) => WeightRule::F64,
            (Some(_), _) => WeightRule::Fitting,
        };
        let Table { names, vertices, .. } = self.table;
        Shape { names, weights, vertices, mirror: self.mirror, ..Shape::default() }
    }

    fn cut(&self) -> Cut {
        self.source.cut()
    }

    fn pieces(&self, slice: Slice, _: &[Vec<u64>]) -> Result<Pieces<'_>> {
        self.rows(slice)
    }

    fn check(&self, found: &Found) -> Result<()> {
        self.table.check_plausible(&self.source, found.edges, &ReadOptions::default())?;
        match self.declared {
            Some((declared, what)) if declared != found.edges => {
                Err(miscounted(self.name(), declared, what, found.edges))
            }
            _ => Ok(()),
        }
    }
}

/// What `take` makes of the lines of a slice, those that start with `comment` left out; it adds to
/// the piece it is given. A slice of a packed file may be nothing.
pub(crate) fn line_pieces<'a>(
    lines: &Source,
    comment: Option<u8>,
    unit: usize,
    names: bool,
    take: impl FnMut(Line<'_>, &mut Piece) -> Result<()> + Send + 'a,
) -> Result<Pieces<'a>> {
    if lines.parts().is_empty() {
        return Ok(Box::new(std::iter::empty()));
    }
    let scanner = Some(Scanner::new(lines)?);
    Ok(Box::new(LinePieces { scanner, comment, unit, count: 0, names, take }))
}

struct LinePieces<F> {
    /// Until the end, or a problem.
    scanner: Option<Scanner>,
    comment: Option<u8>,
    unit: usize,
    count: usize,
    names: bool,
    take: F,
}

impl<F: FnMut(Line<'_>, &mut Piece) -> Result<()>> LinePieces<F> {
    /// The next piece, and whether it is the last.
    fn piece(&mut self, scanner: &mut Scanner) -> Result<(Piece, bool)> {
        let mut piece = Piece::new(order(self.unit, self.count), self.names);
        self.count += 1;
        while !piece.is_full() {
            let line = match self.comment {
                Some(comment) => scanner.next_line_unless(comment)?,
                None => scanner.next_line()?,
            };
            match line {
                Some(line) => (self.take)(line, &mut piece)?,
                None => return Ok((piece, true)),
            }
        }
        Ok((piece, false))
    }
}

impl<F: FnMut(Line<'_>, &mut Piece) -> Result<()>> Iterator for LinePieces<F> {
    type Item = Result<Vec<Piece>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut scanner = self.scanner.take()?;
        let piece = self.piece(&mut scanner);
        if let Ok((_, false)) = piece {
            self.scanner = Some(scanner);
            return Some(piece.map(|(piece, _)| vec![piece]));
        }
        Some(piece.map(|(piece, _)| vec![piece]).map_err(|error| scanner.placed(error)))
    }
}
