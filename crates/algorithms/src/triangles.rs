//! Triangles: how many triples of vertices are all joined with each other, and how many of them each
//! vertex is in. The graph is taken as undirected and simple.
//!
//! Work is the number of pairs that a vertex has among its neighbours with more neighbours than
//! itself: at most edges to the power of 3/2.

use parton_engine::EngineInfo;
use parton_graph::{Graph, LocalId, with_csr};

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::error::Result;
use crate::memory_use::MemoryUse;
use crate::needs::Needs;
use crate::options::Options;
use crate::wedges::{self, INTERSECT, certificate};

/// Triangle counting.
pub struct Triangles;

impl Algorithm for Triangles {
    fn name(&self) -> &'static str {
        "triangles"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["tc"]
    }

    fn about(&self) -> &'static str {
        "how many triangles there are in the undirected simple graph, and how many each vertex is in"
    }

    fn meanings(&self) -> Meanings {
        &[("count", "triangles, each counted once")]
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&INTERSECT]
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs::UNDIRECTED_SIMPLE
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(12.5, 72.0, 4.0).with_copies(2.0)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some(wedges::NEEDS_ROUNDS)
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let found = wedges::count(job, self)?;
        let triangles: Vec<u64> = found.closed.iter().map(|closed| closed / 2).collect();
        let count = total(job, &triangles)?;
        let column = Column { name: "triangles", values: Values::U64(triangles) };
        Ok(found.answer(column, ("count", Fact::Integer(count / 3))))
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::U64(triangles) = &answer.columns[0].values else {
            unreachable!("triangles are counts")
        };
        let sum = total(job, triangles)?;
        if answer.result.first() != Some(&("count", Fact::Integer(sum / 3))) || sum % 3 != 0 {
            return Ok(Some("vertices are in more or fewer triangles than there are".into()));
        }
        let degrees = parton_engine::degrees::out_degrees(job.substrate)?;
        let degrees: Vec<u32> = degrees.iter().map(|&degree| degree as u32).collect();
        let possible = |degree: u32| u64::from(degree) * u64::from(degree.saturating_sub(1)) / 2;
        let beyond = triangles.iter().zip(&degrees).filter(|(t, d)| **t > possible(**d)).count();
        let closed: Vec<u64> = triangles.iter().map(|count| count.wrapping_mul(2)).collect();
        let wrong = certificate::wrong(job, &closed, &degrees)?;
        let beyond = job.substrate.net().all_reduce(beyond as u64, |a, b| a + b)?;
        Ok(match (beyond, wrong) {
            (0, 0) => None,
            (0, wrong) => Some(format!("{wrong} vertices are in another number of triangles")),
            (beyond, _) => {
                Some(format!("{beyond} vertices are in more triangles than they have pairs"))
            }
        })
    }

    fn reference(&self, graph: &Graph, _: &Options) -> Result<Vec<Column>> {
        let mut triangles = vec![0; graph.num_vertices()];
        with_csr!(&graph.adjacency, csr => {
            let mut is_near = vec![false; csr.num_vertices()];
            for vertex in csr.vertices() {
                let set = |is_near: &mut Vec<bool>, to| {
                    csr.targets(vertex).iter().for_each(|other| is_near[other.index()] = to);
                };
                set(&mut is_near, true);
                let near = |other: &LocalId| {
                    csr.targets(*other).iter().filter(|third| is_near[third.index()]).count() as u64
                };
                triangles[vertex.index()] = csr.targets(vertex).iter().map(near).sum::<u64>() / 2;
                set(&mut is_near, false);
            }
        });
        Ok(vec![Column { name: "triangles", values: Values::U64(triangles) }])
    }
}

/// The sum over all vertices. Every host must call this.
fn total(job: &mut Job<'_, '_>, triangles: &[u64]) -> Result<u64> {
    let mine = triangles.iter().fold(0u64, |sum, &count| sum.wrapping_add(count));
    Ok(job.substrate.net().all_reduce(mine, u64::wrapping_add)?)
}
