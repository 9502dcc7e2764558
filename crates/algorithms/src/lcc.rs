//! The local clustering coefficient by the definition of LDBC Graphalytics: of all pairs of
//! neighbours of a vertex, in either direction, the share that an edge joins. Neighbours are the ends
//! of in- and out-edges, a neighbour both ways counts once, and pairs are ordered, so that edges are
//! directed where the graph is. A vertex with fewer than two neighbours has 0.
//!
//! Work is that of counting triangles.

use parton_engine::EngineInfo;
use parton_graph::{Graph, LocalId, with_csr};

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::error::Result;
use crate::memory_use::MemoryUse;
use crate::needs::Needs;
use crate::options::Options;
use crate::wedges::{self, INTERSECT, certificate};

/// Local clustering coefficients.
pub struct Lcc;

/// The share of all ordered pairs of neighbours.
fn share(closed: u64, degree: u32) -> f64 {
    match degree {
        0 | 1 => 0.0,
        _ => closed as f64 / (f64::from(degree) * f64::from(degree - 1)),
    }
}

impl Algorithm for Lcc {
    fn name(&self) -> &'static str {
        "lcc"
    }

    fn about(&self) -> &'static str {
        "local clustering coefficient: the share of pairs of a vertex's neighbours that an edge joins"
    }

    fn meanings(&self) -> Meanings {
        &[("mean", "the coefficients of all vertices, on average")]
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&INTERSECT]
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs { simple: true, ..Needs::default() }
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(48.7, 0.2, 4.0).with_copies(4.8)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some(wedges::NEEDS_ROUNDS)
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let found = wedges::count(job, self)?;
        let pairs = found.closed.iter().zip(&found.degrees);
        let shares: Vec<f64> = pairs.map(|(&closed, &degree)| share(closed, degree)).collect();
        let sum = job.substrate.net().all_reduce(shares.iter().sum::<f64>(), |a, b| a + b)?;
        let vertices = job.substrate.partition().num_vertices().max(1);
        let column = Column { name: "lcc", values: Values::F64(shares) };
        Ok(found.answer(column, ("mean", Fact::Real(sum / vertices as f64))))
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::F64(shares) = &answer.columns[0].values else {
            unreachable!("shares are real numbers")
        };
        let beyond = shares.iter().filter(|share| !(0.0..=1.0).contains(*share)).count() as u64;
        let beyond = job.substrate.net().all_reduce(beyond, |a, b| a + b)?;
        if beyond > 0 {
            return Ok(Some(format!("{beyond} vertices have more than all or less than nothing")));
        }
        let degrees = wedges::degrees(job)?;
        // The share times the number of pairs is a whole number of edges, but for rounding.
        let closed = shares.iter().zip(&degrees).map(|(share, &degree)| {
            (share * f64::from(degree) * f64::from(degree.saturating_sub(1))).round() as u64
        });
        let closed: Vec<u64> = closed.collect();
        let pairs = closed.iter().zip(&degrees).zip(shares);
        let odd = pairs.filter(|((closed, degree), found)| {
            (share(**closed, **degree) - **found).abs() > 1e-12
        });
        let odd = job.substrate.net().all_reduce(odd.count() as u64, |a, b| a + b)?;
        let wrong = certificate::wrong(job, &closed, &degrees)?;
        Ok(match odd.max(wrong) {
            0 => None,
            wrong => Some(format!("another share of {wrong} vertices' neighbours is joined")),
        })
    }

    fn reference(&self, graph: &Graph, _: &Options) -> Result<Vec<Column>> {
        let mut shares = vec![0.0; graph.num_vertices()];
        with_csr!(&graph.adjacency, csr => {
            let turned = csr.transposed();
            let mut is_near = vec![false; csr.num_vertices()];
            for vertex in csr.vertices() {
                let mut near = [csr.targets(vertex), turned.targets(vertex)].concat();
                near.sort_unstable();
                near.dedup();
                near.iter().for_each(|other| is_near[other.index()] = true);
                let inside = |other: &LocalId| {
                    csr.targets(*other).iter().filter(|third| is_near[third.index()]).count() as u64
                };
                shares[vertex.index()] =
                    share(near.iter().map(inside).sum(), near.len() as u32);
                near.iter().for_each(|other| is_near[other.index()] = false);
            }
        });
        Ok(vec![Column { name: "lcc", values: Values::F64(shares) }])
    }
}
