//! METIS `.graph`: a header `N M [FMT [NCON]]`, then one line per vertex with its neighbours,
//! from 1; `%` comments. Every undirected edge stands in the lines of both its ends.
//!
//! FMT is three digits: vertex sizes, vertex weights (NCON of them), edge weights. Sizes and vertex weights are read
//! over. Some programs write directed graphs this way and count every arc: the file then has M entries instead of 2M.
//! Others announce vertex sizes that are not there. The counts show both, which are accepted and noted in `read_as`.

use std::sync::{Mutex, OnceLock};

use super::{Format, Opened, ReadOptions};
use crate::csr::MAX_VERTICES;
use crate::edge_file::{
    Cut, EdgeFile, FileShape, Piece, PieceReader, Pieces, Slice, TakePiece, Totals, WeightRule,
    order,
};
use crate::error::printable;
use crate::hash::skewness;
use crate::id_map::OriginalId;
use crate::ingest::VertexRange;
use crate::progress::Progress;
use crate::source::Source;
use crate::text::scanner::Scanner;
use crate::{Direction, Error, Graph, Place, Result};

/// METIS.
pub struct Metis;

/// The numbers on the vertices' lines.
#[derive(Default)]
struct Lines {
    /// End of each vertex's numbers.
    ends: Vec<usize>,
    /// Ids are exact up to 2⁵³; weights may be fractions.
    numbers: Vec<f64>,
    whole: bool,
    /// Empty lines after the last vertex's.
    surplus: u64,
}

impl Format for Metis {
    fn name(&self) -> &'static str {
        "metis"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["graph", "metis"]
    }

    fn recognises(&self, _: &Source) -> bool {
        false
    }

    fn open(&self, source: Source, options: &ReadOptions<'_>) -> Result<Opened> {
        let mut scanner = Scanner::new(&source)?;
        let header = Header::read(&source, &mut scanner)?;
        let keeps_weights = header.edge_weights && options.weights;
        Ok(Opened::Edges(Box::new(MetisFile {
            source,
            header,
            header_lines: scanner.lines(),
            after_header: Mutex::new(Some(scanner)),
            keeps_weights,
            lacks_sizes: OnceLock::new(),
        })))
    }
}

/// The line before those of vertices.
struct Header {
    vertices: u64,
    edges: u64,
    /// Whether vertex sizes are announced.
    sizes: bool,
    /// How many weights each vertex has.
    vertex_weights: u64,
    edge_weights: bool,
}

/// Where the neighbours are on a vertex's line.
#[derive(Clone, Copy)]
struct Layout {
    /// Numbers before them.
    skip: usize,
    /// Numbers for each.
    stride: usize,
}

/// How the lines are to be understood.
struct Reading {
    layout: Layout,
    lacks_sizes: bool,
    undirected: bool,
}

impl Header {
    fn read(source: &Source, scanner: &mut Scanner) -> Result<Self> {
        let Some(header) = scanner.next_line_unless(b'%')? else {
            return Err(source.ended("a header 'VERTICES EDGES'"));
        };
        let fields: Vec<_> = header.tokens().collect();
        if !(2..=4).contains(&fields.len()) {
            return Err(header.error("expected a header 'VERTICES EDGES [FORMAT [WEIGHTS]]'"));
        }
        let vertices = fields[0].count("the number of vertices")?;
        if vertices > MAX_VERTICES {
            return Err(Error::too_many_vertices(source.name(), vertices));
        }
        let edges = fields[1].count("the number of edges")?;
        let format = fields.get(2).map_or(Ok(0), |t| t.count("a format such as 011"))?;
        let (sizes, weights, edge_weights) = match format {
            0..=111 if [format / 100, format / 10 % 10, format % 10].iter().all(|&d| d < 2) => {
                (format / 100 == 1, format / 10 % 10 == 1, format % 10 == 1)
            }
            _ => return Err(fields[2].error("expected a format of three digits 0 or 1")),
        };
        let constraints = fields.get(3).map_or(Ok(1), |t| t.count("a number of weights"))?;
        let vertex_weights = if weights { constraints } else { 0 };
        if vertex_weights > 1 << 16 {
            return Err(fields[3].error("more vertex weights than any program writes"));
        }
        Ok(Header { vertices, edges, sizes, vertex_weights, edge_weights })
    }

    /// The layout that the header announces, and the one without vertex sizes.
    fn layouts(&self) -> [Layout; 2] {
        let layout = |sizes: bool| Layout {
            skip: usize::from(sizes) + self.vertex_weights as usize,
            stride: 1 + usize::from(self.edge_weights),
        };
        [layout(self.sizes), layout(false)]
    }

    /// Fails if `lines` lines cannot be those of the vertices: empty ones may be missing at the end.
    /// The count of edges tells whether something else is missing; what is declared must stay
    /// plausible. Otherwise, what was expected.
    fn check_lines(&self, lines: u64) -> Result<(), String> {
        match self.vertices > 2 * lines + 1024 {
            true => Err(format!("{} lines of vertices, not {lines}", self.vertices)),
            false => Ok(()),
        }
    }

    /// How to understand lines with `found` neighbours under each layout; `None` if they do not fit
    /// it.
    fn reading(&self, source: &Source, found: [Option<u64>; 2]) -> Result<Reading> {
        let edges = self.edges;
        let fits =
            |found: Option<u64>| found.is_some_and(|f| f == edges || f / 2 == edges && f % 2 == 0);
        let lacks_sizes = self.sizes && !fits(found[0]) && fits(found[1]);
        let which = usize::from(lacks_sizes);
        let found = found[which];
        if !fits(found) {
            let found = found.map_or("lines that do not fit the format".into(), |f| {
                format!("{f} entries on the vertices' lines")
            });
            let problem = format!("expected {edges} edges, each in both directions, found {found}");
            return Err(source.error(Place::File, problem));
        }
        let undirected = found.is_some_and(|found| found / 2 == edges && found % 2 == 0);
        Ok(Reading { layout: self.layouts()[which], lacks_sizes, undirected })
    }
}

/// A file, open for reading slices of its lines. A survey is the number of lines and that of
/// neighbours under each layout.
struct MetisFile {
    source: Source,
    header: Header,
    header_lines: u64,
    /// Where the header was read; the whole is read on from there, as a stream can be read only once.
    after_header: Mutex<Option<Scanner>>,
    keeps_weights: bool,
    /// Whether vertex sizes are announced but absent; known when all lines are.
    lacks_sizes: OnceLock<bool>,
}

/// Stands in a survey for lines that do not fit a layout.
const UNFIT: u64 = u64::MAX;

impl MetisFile {
    /// The lines of a slice after `before` lines of other vertices.
    fn lines(&self, slice: Slice, before: u64) -> Result<(Lines, Scanner)> {
        let kept = match slice {
            Slice::WHOLE => {
                self.after_header.lock().expect("no thread panicked holding this lock").take()
            }
            _ => None,
        };
        let mut scanner = match kept {
            Some(scanner) => scanner,
            None => Scanner::new(&self.source.slice(slice, self.header_lines)?)?,
        };
        while slice == Slice::WHOLE && scanner.lines() < self.header_lines {
            scanner.next_line()?;
        }
        let lines = Lines::read(&mut scanner, before, &self.header);
        Ok((lines.map_err(|error| scanner.placed(error))?, scanner))
    }

    fn survey_of(&self, lines: &Lines) -> Vec<u64> {
        let entries = self.header.layouts().map(|layout| lines.entries(layout).unwrap_or(UNFIT));
        vec![lines.ends.len() as u64 + lines.surplus, entries[0], entries[1]]
    }
}

impl EdgeFile for MetisFile {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn shape(&self) -> FileShape {
        let vertices = Some(VertexRange { first: 1, count: self.header.vertices });
        let weights = match self.keeps_weights {
            true => WeightRule::Fitting,
            false => WeightRule::None,
        };
        FileShape { vertices, weights, ..FileShape::default() }
    }

    fn cut(&self) -> Cut {
        Cut::Even
    }

    fn survey(&self, slice: Slice) -> Result<Vec<u64>> {
        Ok(self.survey_of(&self.lines(slice, 0)?.0))
    }

    fn pieces<'a>(
        &'a self,
        slice: Slice,
        surveys: &[Vec<u64>],
        _: &'a dyn Progress,
    ) -> Result<Pieces<'a>> {
        let Self { source, header, .. } = self;
        let before: u64 = surveys[..slice.index].iter().map(|survey| survey[0]).sum();
        let (lines, scanner) = self.lines(slice, before)?;
        let is_whole = slice == Slice::WHOLE;
        let whole = [self.survey_of(&lines)];
        let surveys = if is_whole { &whole } else { surveys };
        let total: u64 = surveys.iter().map(|survey| survey[0]).sum();
        header.check_lines(total.min(header.vertices)).map_err(|expected| match is_whole {
            true => scanner.ended(&expected),
            false => source.ended(&expected),
        })?;
        let found = [1, 2].map(|layout| {
            let counts = surveys.iter().map(|survey| survey[layout]);
            counts.map(|count| (count != UNFIT).then_some(count)).sum::<Option<u64>>()
        });
        let Reading { layout, lacks_sizes, undirected } = header.reading(source, found)?;
        let _ = self.lacks_sizes.set(lacks_sizes);
        Ok(Box::new(MetisPieces { file: self, slice, lines, before, layout, undirected }))
    }

    fn check(&self, found: &Totals) -> Result<()> {
        if found.skewness == 0 {
            return Ok(());
        }
        let problem = "expected every edge in the lines of both its ends, with the same weight";
        Err(self.source.error(Place::File, problem))
    }

    fn direction(&self, found: &Totals) -> Direction {
        match found.edges == 2 * self.header.edges {
            true => Direction::Undirected,
            false => Direction::Directed,
        }
    }

    fn understood(&self) -> Option<String> {
        Some("METIS".into())
    }

    fn read_as(&self, graph: &Graph) -> String {
        let words = match graph.direction {
            Direction::Undirected => "undirected",
            Direction::Directed => "directed: every arc stands once",
        };
        let note = match self.lacks_sizes.get() {
            Some(true) => ", announced vertex sizes are absent",
            _ => "",
        };
        format!("METIS, {words}{note}")
    }
}

/// The edges of some lines, which come after those of `before` vertices.
struct MetisPieces<'a> {
    file: &'a MetisFile,
    slice: Slice,
    lines: Lines,
    before: u64,
    layout: Layout,
    undirected: bool,
}

impl PieceReader for MetisPieces<'_> {
    fn read(&mut self, _: usize, take: &TakePiece<'_>) -> Result<bool> {
        let Self { file, slice, lines, before, layout, undirected } = self;
        let (mut piece, mut count) = (Piece::new(order(slice.index, 0), false), 0);
        lines.edges(
            &file.source,
            *before,
            &file.header,
            *layout,
            |source, destination, weight| {
                piece.push(OriginalId::Integer(source), OriginalId::Integer(destination));
                if file.keeps_weights {
                    piece.push_weight((weight, lines.whole));
                }
                if *undirected {
                    let skewness = skewness(source as u32, destination as u32, weight);
                    piece.skewness = piece.skewness.wrapping_add(skewness);
                }
                if piece.is_full() {
                    take(&mut piece)?;
                    count += 1;
                    piece.restart(order(slice.index, count));
                }
                Ok(())
            },
        )?;
        take(&mut piece)?;
        Ok(false)
    }
}

impl Lines {
    /// Reads the lines that are left; those of `before` vertices came before them.
    fn read(scanner: &mut Scanner, before: u64, header: &Header) -> Result<Self> {
        let vertices = header.vertices;
        let mut lines = Lines { whole: true, ..Lines::default() };
        while let Some(line) = scanner.next_line_unless(b'%')? {
            let mut tokens = line.tokens().peekable();
            if before + lines.ends.len() as u64 >= vertices {
                match tokens.peek() {
                    None => {
                        lines.surplus += 1;
                        continue;
                    }
                    Some(_) => {
                        let problem = format!("expected {vertices} lines of vertices, found more");
                        return Err(line.error(problem));
                    }
                }
            }
            for token in tokens {
                // Without edge weights all numbers are whole; with them, ids are checked later.
                let value = if header.edge_weights {
                    let (value, whole) = token.weight()?;
                    lines.whole &= whole;
                    value
                } else {
                    token.id()? as f64
                };
                lines.numbers.push(value);
            }
            lines.ends.push(lines.numbers.len());
        }
        Ok(lines)
    }

    /// Numbers of each vertex, as ranges.
    fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Number of neighbours; `None` when a line does not fit the layout.
    fn entries(&self, Layout { skip, stride }: Layout) -> Option<u64> {
        let mut entries = 0;
        for range in self.ranges() {
            // A line may be empty although sizes or weights are announced: a stripped file's end.
            let numbers = match range.len() {
                0 => 0,
                len => len.checked_sub(skip)?,
            };
            if numbers % stride != 0 {
                return None;
            }
            entries += (numbers / stride) as u64;
        }
        Some(entries)
    }

    /// Gives `take` every edge of the lines, which come after those of `before` vertices: source
    /// and destination, from 1, and weight.
    fn edges(
        &self,
        source: &Source,
        before: u64,
        header: &Header,
        Layout { skip, stride }: Layout,
        mut take: impl FnMut(u64, u64, f64) -> Result<()>,
    ) -> Result<()> {
        let vertices = header.vertices;
        for (vertex, range) in (before + 1..).zip(self.ranges()) {
            for entry in self.numbers[range].get(skip..).unwrap_or(&[]).chunks_exact(stride) {
                let id = entry[0];
                if id < 1.0 || id > vertices as f64 || id.fract() != 0.0 {
                    let problem = format!(
                        "vertex {vertex} has the neighbour {}; expected 1 to {vertices}",
                        printable(id.to_string().as_bytes())
                    );
                    return Err(source.error(Place::File, problem));
                }
                take(vertex, id as u64, entry.get(1).copied().unwrap_or(1.0))?;
            }
        }
        Ok(())
    }
}
