//! METIS `.graph`: a header `N M [FMT [NCON]]`, then one line per vertex with its neighbours,
//! from 1; `%` comments. Every undirected edge stands in the lines of both its ends.
//!
//! FMT is three digits: vertex sizes, vertex weights (NCON of them), edge weights. Sizes and
//! vertex weights are read over. Some programs write directed graphs this way and count every
//! arc (then the file has M entries instead of 2M), or announce vertex sizes that are not there;
//! both can be told from the counts and are accepted with a word in `read_as`.

use super::{Format, ReadOptions};
use crate::build::{CsrBuilder, Edges};
use crate::csr::MAX_VERTICES;
use crate::error::printable;
use crate::source::Source;
use crate::stats::mirrors_itself;
use crate::text::scanner::Scanner;
use crate::weight::WeightKind;
use crate::{Direction, Error, Graph, Ids, Place, Result};

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

    fn read(&self, source: &Source, options: &ReadOptions<'_>) -> Result<Graph> {
        let mut scanner = Scanner::new(source)?;
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

        let lines = Lines::read(&mut scanner, vertices, edge_weights)?;
        let stride = 1 + usize::from(edge_weights);
        let entries = |skip: u64| lines.entries(skip as usize, stride);
        let fits =
            |found: Option<u64>| found.is_some_and(|f| f == edges || f / 2 == edges && f % 2 == 0);
        let (mut skip, mut note) = (u64::from(sizes) + vertex_weights, "");
        if sizes && !fits(entries(skip)) && fits(entries(skip - 1)) {
            (skip, note) = (skip - 1, ", announced vertex sizes are absent");
        }
        let found = entries(skip);
        if !fits(found) {
            let found = found.map_or("lines that do not fit the format".into(), |f| {
                format!("{f} entries on the vertices' lines")
            });
            let problem = format!("expected {edges} edges, each in both directions, found {found}");
            return Err(source.error(Place::File, problem));
        }
        let undirected = found == Some(2 * edges);
        let builder = CsrBuilder::new();
        builder.add(0, &lines.edges(source, skip as usize, stride)?);
        let csr = builder.build(vertices as usize);
        if undirected && !mirrors_itself(&csr) {
            let problem = "expected every edge in the lines of both its ends, with the same weight";
            return Err(source.error(Place::File, problem));
        }
        let kind = match (edge_weights && options.weights, lines.whole) {
            (false, _) => WeightKind::None,
            (true, true) => WeightKind::U32,
            (true, false) => WeightKind::F64,
        };
        let words = if undirected { "undirected" } else { "directed: every arc stands once" };
        let graph = Graph {
            adjacency: csr.into(),
            ids: Ids::Range { first: 1, count: vertices as usize },
            direction: if undirected { Direction::Undirected } else { Direction::Directed },
            read_as: format!("METIS, {words}{note}"),
        };
        graph.with_weight_kind(kind)
    }
}

impl Lines {
    fn read(scanner: &mut Scanner<'_>, vertices: u64, edge_weights: bool) -> Result<Self> {
        let mut lines = Lines { whole: true, ..Lines::default() };
        while let Some(line) = scanner.next_line_unless(b'%')? {
            let mut tokens = line.tokens().peekable();
            if lines.ends.len() as u64 == vertices {
                match tokens.peek() {
                    None => continue,
                    Some(_) => {
                        let problem = format!("expected {vertices} lines of vertices, found more");
                        return Err(line.error(problem));
                    }
                }
            }
            for token in tokens {
                // Without edge weights all numbers are whole; with them, ids are checked later.
                let value = if edge_weights {
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
        // Editors strip empty lines at the end, which are vertices without neighbours. The count
        // of edges tells whether something else is missing; what is declared must stay plausible.
        if vertices > 2 * lines.ends.len() as u64 + 1024 {
            let expected = format!("{vertices} lines of vertices, not {}", lines.ends.len());
            return Err(scanner.ended(&expected));
        }
        lines.ends.resize(vertices as usize, lines.numbers.len());
        Ok(lines)
    }

    /// Numbers of each vertex, as ranges.
    fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Number of neighbours when `skip` numbers come before them and each takes `stride`; `None`
    /// when a line does not fit.
    fn entries(&self, skip: usize, stride: usize) -> Option<u64> {
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

    fn edges(&self, source: &Source, skip: usize, stride: usize) -> Result<Edges<u32, f64>> {
        let mut edges = Edges::default();
        let vertices = self.ends.len();
        for (vertex, range) in self.ranges().enumerate() {
            for entry in self.numbers[range].get(skip..).unwrap_or(&[]).chunks_exact(stride) {
                let id = entry[0];
                if id < 1.0 || id > vertices as f64 || id.fract() != 0.0 {
                    let problem = format!(
                        "vertex {} has the neighbour {}; expected 1 to {vertices}",
                        vertex + 1,
                        printable(id.to_string().as_bytes())
                    );
                    return Err(source.error(Place::File, problem));
                }
                edges.push(vertex as u32, id as u32 - 1, entry.get(1).copied().unwrap_or(1.0));
            }
        }
        Ok(edges)
    }
}
