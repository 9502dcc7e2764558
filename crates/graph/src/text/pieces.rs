//! Text as pieces of edges: rows of a table, block by block, or lines one by one.

use super::blocks::{Block, BlockPieces, LineOrError};
use super::dialect::Dialect;
use super::rows::TextRows;
use super::scanner::{Line, Scanner};
use crate::edge_file::{
    Cut, EdgeFile, FileShape, Mirror, Piece, PieceReader, Pieces, Slice, TakePiece, Totals,
    WeightRule, miscounted, order,
};
use crate::progress::Progress;
use crate::source::Source;
use crate::{Graph, Result};

/// A text that consists of rows of edges, after a header.
pub(crate) struct EdgeTable {
    pub(crate) source: Source,
    pub(crate) dialect: Dialect,
    pub(crate) mirror: Mirror,
    /// How many rows the header promises, and what it calls them.
    pub(crate) declared: Option<(u64, &'static str)>,
    /// What the text was understood as.
    pub(crate) read_as: String,
    /// Whether users want to know how its ids were understood, too.
    pub(crate) tells_ids: bool,
}

impl EdgeTable {
    /// Rows that stand for themselves, as many as there are.
    pub(crate) fn new(source: Source, dialect: Dialect, read_as: String) -> Self {
        let (mirror, declared, tells_ids) = (Mirror::None, None, false);
        EdgeTable { source, dialect, mirror, declared, read_as, tells_ids }
    }
}

impl EdgeFile for EdgeTable {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> FileShape {
        let weights = match (self.dialect.weight, self.mirror) {
            (None, _) => WeightRule::None,
            (Some(_), Mirror::Negated) => WeightRule::F64,
            (Some(_), _) => WeightRule::Fitting,
        };
        let Dialect { names, vertices, .. } = self.dialect;
        FileShape { names, weights, vertices, mirror: self.mirror, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        self.source.cut()
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        _: &[Vec<u64>],
        progress: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let dialect = &self.dialect;
        let lines = self.source.slice(slice, dialect.skip_lines)?;
        let work = move |rows: &mut TextRows, block: &Block, take: &TakePiece<'_>| {
            let skip = if block.starts_part { dialect.skip_lines } else { 0 };
            let lines = dialect.read_rows(block.text(), skip, rows)?;
            rows.hand_on(order(slice.index, block.order), dialect.names, take)?;
            Ok::<u64, LineOrError>(lines)
        };
        Ok(Box::new(RowPieces(BlockPieces::new(&lines, progress, work)?)))
    }

    fn check(&self, found: &Totals) -> Result<()> {
        self.dialect.check_plausible(&self.source, found.edges)?;
        match self.declared {
            Some((declared, what)) if declared != found.edges => {
                Err(miscounted(self.name(), declared, what, found.edges))
            }
            _ => Ok(()),
        }
    }

    fn understood(&self) -> Option<String> {
        Some(self.read_as.clone())
    }

    fn read_as(&self, graph: &Graph) -> String {
        match self.tells_ids {
            true => format!("{}, ids are {}", self.read_as, graph.ids.describe()),
            false => self.read_as.clone(),
        }
    }
}

struct RowPieces<'a, F>(BlockPieces<'a, F>);

impl<F> PieceReader for RowPieces<'_, F>
where
    F: Fn(&mut TextRows, &Block, &TakePiece<'_>) -> Result<u64, LineOrError> + Send + Sync,
{
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        self.0.read(limit, take)
    }
}

/// What `add` makes of the lines of a slice, those that start with `comment` left out; it adds to
/// the piece it is given. A slice of a packed file may have no lines.
pub(crate) fn line_pieces<'a>(
    lines: &Source,
    comment: Option<u8>,
    unit: usize,
    names: bool,
    add: impl FnMut(Line<'_>, &mut Piece) -> Result<()> + Send + 'a,
) -> Result<Pieces<'a>> {
    let scanner = match lines.parts() {
        [] => None,
        _ => Some(Scanner::new(lines)?),
    };
    Ok(Box::new(LinePieces { scanner, comment, unit, count: 0, piece: Piece::new(0, names), add }))
}

struct LinePieces<F> {
    /// Until the end, or a problem.
    scanner: Option<Scanner>,
    comment: Option<u8>,
    unit: usize,
    count: usize,
    piece: Piece,
    add: F,
}

impl<F: FnMut(Line<'_>, &mut Piece) -> Result<()>> LinePieces<F> {
    /// Fills the piece; whether the input goes on.
    fn fill(&mut self, scanner: &mut Scanner) -> Result<bool> {
        self.piece.restart(order(self.unit, self.count));
        self.count += 1;
        while !self.piece.is_full() {
            let line = match self.comment {
                Some(comment) => scanner.next_line_unless(comment)?,
                None => scanner.next_line()?,
            };
            match line {
                Some(line) => (self.add)(line, &mut self.piece)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl<F: FnMut(Line<'_>, &mut Piece) -> Result<()> + Send> PieceReader for LinePieces<F> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        for _ in 0..limit {
            let Some(mut scanner) = self.scanner.take() else { return Ok(false) };
            if self.fill(&mut scanner).map_err(|error| scanner.placed(error))? {
                self.scanner = Some(scanner);
            }
            take(&mut self.piece)?;
        }
        Ok(self.scanner.is_some())
    }
}
