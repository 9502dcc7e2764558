//! Your own algorithm with the whole command line: bottlenecks, the heaviest edge of a path that
//! avoids heavy edges as well as any path from the root can. `docs/own-algorithm.md` explains it.

use parton::prelude::*;

parton::algorithms::options! {
    /// What one can ask of bottlenecks.
    pub(crate) struct BottleneckOptions {
        /// Where paths start: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
    }
}

/// The program: one label per vertex that only ever improves.
struct Heaviest {
    root: Option<GlobalId>,
}

#[device(crate = parton::engine)]
impl Relaxation for Heaviest {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = u32;

    fn start(&self, vertex: Vertex<'_>) -> Option<u32> {
        (Some(vertex.id()) == self.root).then_some(0)
    }

    fn relax(&self, heaviest: u32, weight: u32) -> u32 {
        heaviest.max(weight)
    }
}

/// The algorithm: the program with a name, a certificate and a serial reference.
pub(crate) struct Bottleneck;

impl Algorithm for Bottleneck {
    fn name(&self) -> &'static str {
        "bottleneck"
    }

    fn about(&self) -> &'static str {
        "the least weight of the heaviest edge on a path from the root"
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(BottleneckOptions::default())
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs { weights: WeightNeed::Used, ..Needs::default() }
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        None
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let own = job.options.own::<BottleneckOptions>();
        let root = own.root.find(job.substrate)?;
        let program = Heaviest { root: root.map(|found| found.vertex) };
        let (engine, why) =
            job.engine(self, engines::PUSH, || "labels may go in any order".into())?;
        let labelled = traversal::label(job, &program, engine)?;
        let mut answer = labelled.answer((engine, why), "bottleneck", Values::U32);
        traversal::sum_up(job, &own.root, &mut answer)?;
        Ok(answer)
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let root = job.options.own::<BottleneckOptions>().root.find(job.substrate)?;
        let Values::U32(labels) = &answer.columns[0].values else { unreachable!("as run gives") };
        let program = Heaviest { root: root.map(|found| found.vertex) };
        certificate::relaxation(job, &program, labels)
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let mut labels = vec![u32::MAX; graph.num_vertices()];
        if let Some(root) = options.own::<BottleneckOptions>().root.find_in(graph)? {
            labels[root] = 0;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            with_csr!(&graph.adjacency, csr => for source in csr.vertices() {
                for (target, weight) in csr.edges(source) {
                    let label = labels[source.index()].max(weight.to_f64() as u32);
                    changed |= label < labels[target.index()];
                    labels[target.index()] = labels[target.index()].min(label);
                }
            });
        }
        Ok(vec![Column { name: "bottleneck", values: Values::U32(labels) }])
    }
}

fn main() -> std::process::ExitCode {
    parton::cli::main(&[&Bottleneck])
}
