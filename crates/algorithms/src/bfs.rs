//! Breadth-first search: the least number of edges from a root to every vertex.
//!
//! Work follows the edges, once each when rounds go level by level.

use std::collections::VecDeque;

use parton_engine::{Relaxation, Vertex, device, engines};
use parton_graph::{GlobalId, Graph, LocalId, with_csr};
use parton_sync::reduction::Min;

use crate::algorithm::{Access, Algorithm, Job};
use crate::answer::{Answer, Column, Values};
use crate::certificate;
use crate::error::Result;
use crate::options::{OptionSet, Options};
use crate::root::Root;
use crate::traversal;

/// Breadth-first search.
pub struct Bfs;

crate::options! {
    /// What one can ask of breadth-first search.
    pub struct BfsOptions {
        /// Where a search starts: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
    }
}

/// Levels from a root.
pub struct Levels {
    /// Level 0; `None` in a graph without vertices.
    pub root: Option<GlobalId>,
}

#[device]
impl Relaxation for Levels {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (Some(vertex.id()) == self.root).then_some(0)
    }

    #[inline]
    fn relax(&self, level: u32, (): ()) -> u32 {
        level + 1
    }

    fn first_wins(&self) -> bool {
        true
    }
}

impl Algorithm for Bfs {
    fn name(&self) -> &'static str {
        "bfs"
    }

    fn about(&self) -> &'static str {
        "breadth-first search: the least number of edges from the root"
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(BfsOptions::default())
    }

    fn access(&self, options: &Options) -> Access {
        match options.engine {
            None | Some(engines::FRONTIER) => Access::Either,
            Some(_) => Access::Sources,
        }
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        None
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let root = job.options.own::<BfsOptions>().root.find(job.substrate)?;
        let program = Levels { root: root.as_ref().map(|found| found.vertex) };
        let (engine, why) = job.engine(self, engines::FRONTIER, || {
            let degree = job.average_degree();
            format!("every edge counts 1, average degree {degree:.1}: level by level")
        })?;
        let labelled = traversal::label(job, &program, engine)?;
        let mut answer = labelled.answer((engine, why), "level", Values::U32);
        traversal::sum_up(job, &mut answer, root)?;
        Ok(answer)
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let root = job.options.own::<BfsOptions>().root.find(job.substrate)?;
        let root = root.map(|found| found.vertex);
        let Values::U32(levels) = &answer.columns[0].values else {
            unreachable!("levels are small counts")
        };
        certificate::relaxation(job, &Levels { root }, levels)
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let mut levels = vec![u32::MAX; graph.num_vertices()];
        let mut queue = VecDeque::new();
        if let Some(root) = options.own::<BfsOptions>().root.find_in(graph)? {
            levels[root] = 0;
            queue.push_back(root);
        }
        with_csr!(&graph.adjacency, csr => {
            while let Some(vertex) = queue.pop_front() {
                for &target in csr.targets(LocalId(vertex as u32)) {
                    if levels[target.index()] == u32::MAX {
                        levels[target.index()] = levels[vertex] + 1;
                        queue.push_back(target.index());
                    }
                }
            }
        });
        Ok(vec![Column { name: "level", values: Values::U32(levels) }])
    }
}
