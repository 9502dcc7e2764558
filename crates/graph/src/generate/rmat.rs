//! `rmat`: recursive matrices (Chakrabarti, Zhan, Faloutsos 2004) with the parameters of Graph500.
//!
//! The adjacency matrix is cut into quarters; an edge falls into one of them with the chances A,
//! B, C, D, then the same inside that quarter, until one cell is left: `SCALE` choices per edge.
//! Five choices are made at once: they have 4⁵ outcomes with known chances, and an alias table
//! (Walker 1974) draws one of these with one random number and one look-up. The table is made
//! with integers, so the graph is the same on every machine.
//!
//! Self-loops and parallel edges are kept, and vertices keep their ids: hubs have low ones. Graph500
//! shuffles them; so does `,permute`.

use std::fmt;
use std::ops::Range;

use crate::build::EdgeBatch;
use crate::{Direction, Result};

use super::arguments::{Arguments, DEFAULT_EDGE_FACTOR, DEFAULT_SEED};
use super::random::{DRAWS_PER_INDEX, Purpose, Random};
use super::{Generator, GeneratorKind};

#[cfg(target_arch = "x86_64")]
mod wide;

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "rmat",
    syntax: "rmat:SCALE[,EDGE_FACTOR[,SEED]]",
    help: "2^SCALE vertices, a skewed graph like a social network (R-MAT, Graph500 parameters)",
    parse,
};

/// The chances of the four quarters in percent: A, B above; C, D below.
const CHANCES: [u64; 4] = [57, 19, 19, 5];

/// Choices made with one random number. The table takes 16 KiB: half of a first-level cache.
const LEVELS: u32 = 5;

/// Tables whose choices one [`Cell`] holds.
const TABLES_PER_CELL: u32 = 3;
const _: () = assert!(TABLES_PER_CELL * LEVELS < Cell::BITS);

/// More do not fit 64-bit ids.
const MAX_SCALE: u64 = 63;
const _: () = assert!((MAX_SCALE as u32).div_ceil(LEVELS) <= DRAWS_PER_INDEX);

struct Rmat {
    scale: u32,
    edge_factor: u64,
    seed: u64,
    num_edges: u64,
    random: Random,
    table: AliasTable,
    /// For the levels that are left when `LEVELS` does not divide the scale.
    rest: Option<AliasTable>,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let scale = arguments.number("SCALE")?;
    let edge_factor = arguments.number_or("EDGE_FACTOR", DEFAULT_EDGE_FACTOR)?;
    let seed = arguments.number_or("SEED", DEFAULT_SEED)?;
    if scale > MAX_SCALE {
        return Err(arguments.error(format!("expected SCALE up to {MAX_SCALE}, found {scale}")));
    }
    let scale = scale as u32;
    let num_edges = arguments.count("edges", u128::from(edge_factor) << scale)?;
    let rest = scale % LEVELS;
    Ok(Box::new(Rmat {
        scale,
        edge_factor,
        seed,
        num_edges,
        random: Random::new(seed, Purpose::Edges),
        table: AliasTable::new(LEVELS),
        rest: (rest > 0).then(|| AliasTable::new(rest)),
    }))
}

impl fmt::Display for Rmat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rmat:{},{},{}", self.scale, self.edge_factor, self.seed)
    }
}

impl Generator for Rmat {
    fn num_vertices(&self) -> u64 {
        1 << self.scale
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    #[inline]
    fn edge(&self, index: u64) -> (u64, u64) {
        let mut draws = self.random.draws(index);
        let mut ends = (0, 0);
        let mut tables = self.scale / LEVELS;
        while tables >= TABLES_PER_CELL {
            let mut cell = Cell::default();
            for _ in 0..TABLES_PER_CELL {
                cell = self.table.descend(LEVELS, cell, draws.bits());
            }
            ends = cell.inside(ends, TABLES_PER_CELL * LEVELS);
            tables -= TABLES_PER_CELL;
        }
        let mut cell = Cell::default();
        for _ in 0..tables {
            cell = self.table.descend(LEVELS, cell, draws.bits());
        }
        match &self.rest {
            Some(rest) => {
                let levels = self.scale % LEVELS;
                rest.descend(levels, cell, draws.bits()).inside(ends, tables * LEVELS + levels)
            }
            None => cell.inside(ends, tables * LEVELS),
        }
    }

    fn direction(&self) -> Direction {
        Direction::Directed
    }

    fn edges(&self, indices: Range<u64>, edges: &mut EdgeBatch<u64, ()>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has what the function needs.
            return unsafe { wide::edges(self, indices, edges) };
        }
        for index in indices {
            let (source, destination) = self.edge(index);
            edges.push(source, destination, ());
        }
    }
}

/// Draws the outcome of several levels at once: one slot per outcome, all equally likely, and in
/// each slot a choice between two outcomes.
struct AliasTable {
    slots: Vec<Slot>,
}

struct Slot {
    /// Chance of the first outcome, times 2⁶⁴.
    threshold: u64,
    /// The slot's own outcome and the one that fills it up. An array, because which of them is
    /// drawn cannot be foreseen, and a look-up is cheaper than a branch that is often guessed wrong.
    outcomes: [Cell; 2],
}

/// Which rows and columns are chosen, one bit per level, the first level on top: rows in the upper half,
/// columns in the lower, so that one shift makes room in both.
#[derive(Clone, Copy, Default)]
struct Cell(u32);

impl Cell {
    /// Levels that fit a half.
    const BITS: u32 = 16;

    /// From a cell of the coarse matrix to this one of the cells inside it, `levels` down.
    #[inline]
    fn inside(self, (source, destination): (u64, u64), levels: u32) -> (u64, u64) {
        let (row, column) = (self.0 >> Self::BITS, self.0 % (1 << Self::BITS));
        (source << levels | u64::from(row), destination << levels | u64::from(column))
    }
}

impl AliasTable {
    fn new(levels: u32) -> Self {
        let outcomes = 1 << (2 * levels);
        let quarters = |o: usize| (0..levels).map(move |level| o >> (2 * level) & 3);
        // Chances are whole numbers out of `average`, scaled so that this is what a slot holds.
        let average = 100u64.pow(levels);
        let mut chances: Vec<u64> = (0..outcomes)
            .map(|o| quarters(o).map(|q| CHANCES[q]).product::<u64>() * outcomes as u64)
            .collect();
        let outcome = |o: usize| {
            let row: u32 = quarters(o).enumerate().map(|(level, q)| (q as u32 >> 1) << level).sum();
            let column: u32 =
                quarters(o).enumerate().map(|(level, q)| (q as u32 & 1) << level).sum();
            Cell(row << Cell::BITS | column)
        };
        let mut slots: Vec<Slot> = (0..outcomes)
            .map(|o| Slot { threshold: u64::MAX, outcomes: [outcome(o); 2] })
            .collect();

        // A rare outcome fills its slot with part of a frequent one, which may become rare itself.
        let (mut rare, mut frequent): (Vec<_>, Vec<_>) =
            (0..outcomes).partition(|&o| chances[o] < average);
        while let (Some(&from), Some(to)) = (frequent.last(), rare.pop()) {
            slots[to].threshold = ((u128::from(chances[to]) << 64) / u128::from(average)) as u64;
            slots[to].outcomes[1] = slots[from].outcomes[0];
            chances[from] -= average - chances[to];
            if chances[from] < average {
                rare.extend(frequent.pop());
            }
        }
        AliasTable { slots }
    }

    /// From a cell to one of the cells inside it, which random bits choose, as many levels down as the table is
    /// for. The caller names them: shifts by a constant are cheaper.
    #[inline(always)]
    fn descend(&self, levels: u32, Cell(outside): Cell, bits: u64) -> Cell {
        let slot = &self.slots[(bits >> (64 - 2 * levels)) as usize];
        let choice = usize::from((bits << (2 * levels)) >= slot.threshold);
        Cell(outside << levels | slot.outcomes[choice].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Spec;

    /// How often each quarter is chosen at each level, first level first.
    fn quarters(spec: &str, edges: u64) -> Vec<[u64; 4]> {
        let spec = Spec::parse(spec).unwrap();
        let levels = spec.generator().num_vertices().ilog2();
        let mut counts = vec![[0; 4]; levels as usize];
        for (source, destination) in (0..edges).map(|i| spec.generator().edge(i)) {
            for (level, counts) in counts.iter_mut().rev().enumerate() {
                counts[(2 * (source >> level & 1) + (destination >> level & 1)) as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn every_level_chooses_quarters_with_the_graph500_chances() {
        const EDGES: u64 = 100_000;
        // Scales with and without a rest, and below one table.
        for scale in [1, 4, 5, 12, 20, 63] {
            let spec = format!("rmat:{scale},{},7", (EDGES >> scale) + 1);
            for (level, counts) in quarters(&spec, EDGES).into_iter().enumerate() {
                for (count, percent) in counts.into_iter().zip(CHANCES) {
                    let chance = percent as f64 / 100.0;
                    let expected = chance * EDGES as f64;
                    let deviation = (expected * (1.0 - chance)).sqrt();
                    assert!(
                        (count as f64 - expected).abs() < 5.0 * deviation,
                        "{spec}, level {level}: {count} edges, expected {expected}"
                    );
                }
            }
        }
    }

    /// Levels must not depend on each other: all 256 outcomes of four levels, across two tables.
    #[test]
    fn joint_outcomes_have_the_product_of_their_chances() {
        const EDGES: u64 = 400_000;
        let spec = Spec::parse("rmat:8,16384,3").unwrap();
        let mut counts = vec![0u64; 256];
        for (source, destination) in (0..EDGES).map(|i| spec.generator().edge(i)) {
            counts[((source >> 1 & 15) << 4 | destination >> 1 & 15) as usize] += 1;
        }
        let chi_square: f64 = (0..256)
            .map(|cell| {
                let chance: f64 = (0..4)
                    .map(|l| 2 * (cell >> (4 + l) & 1) + (cell >> l & 1))
                    .map(|q: usize| CHANCES[q] as f64 / 100.0)
                    .product();
                let expected = chance * EDGES as f64;
                (counts[cell] as f64 - expected).powi(2) / expected
            })
            .sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6.
        assert!((150.0..370.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn scale_zero_is_one_vertex_with_loops() {
        let spec = Spec::parse("rmat:0").unwrap();
        assert_eq!((spec.generator().num_vertices(), spec.generator().num_edges()), (1, 16));
        assert!((0..16).all(|i| spec.generator().edge(i) == (0, 0)));
    }

    /// Graphs of earlier versions come out again, with one table, several, and a rest.
    #[test]
    fn edges_stay_as_they_are() {
        let edge = |spec: &str, index| Spec::parse(spec).unwrap().generator().edge(index);
        let found = [4, 10, 15, 27, 63].map(|scale| edge(&format!("rmat:{scale},1"), 12));
        let expected = [
            (4, 0),
            (320, 133),
            (10264, 4256),
            (42041344, 17436224),
            (2889059229677912068, 1198208189556850688),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn edges_in_bulk_are_those_one_by_one() {
        for scale in [0, 3, 5, 16, 27, 63] {
            let spec = Spec::parse(&format!("rmat:{scale},1,5")).unwrap();
            let edge = |index| spec.generator().edge(index);
            for indices in [0..1, 0..128, 5..133, 7..407, 3..3] {
                let indices = indices.start..indices.end.min(spec.generator().num_edges());
                let mut edges = EdgeBatch::default();
                spec.generator().edges(0..1, &mut edges);
                spec.generator().edges(indices.clone(), &mut edges);
                let ends = edges.sources.iter().copied().zip(edges.destinations.iter().copied());
                let expected: Vec<_> = [0].into_iter().chain(indices).map(edge).collect();
                assert_eq!(ends.collect::<Vec<_>>(), expected);
                assert_eq!(edges.weights.len(), expected.len());
            }
        }
    }

    #[test]
    fn seeds_differ() {
        let edges =
            |spec| (0..50).map(|i| Spec::parse(spec).unwrap().generator().edge(i)).collect();
        let (one, two): (Vec<_>, Vec<_>) = (edges("rmat:10,16,1"), edges("rmat:10,16,2"));
        assert_ne!(one, two);
    }
}
