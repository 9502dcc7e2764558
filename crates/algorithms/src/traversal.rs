//! From a relaxation to an answer, for searches from a root and other algorithms of one label.

use std::ops::Range;
use std::time::Instant;

use parton_engine::{EngineInfo, Relaxation, RunReport, engines, run};

use parton_graph::parallel;

use crate::algorithm::Job;
use crate::answer::{Answer, Column, Fact, Meanings, Values};
use crate::error::Result;
use crate::root::Root;

/// What the facts of a search mean.
pub(crate) const MEANINGS: Meanings = &[
    ("root", "where the search starts"),
    ("reached", "vertices that a path from the root leads to, and the root"),
    ("max", "how far the farthest of these is from the root"),
    ("sum", "how far all of these are from the root, added up"),
];

/// The labels of this host's masters, and how they came about.
pub struct Labelled<L> {
    /// The labels, by local id.
    pub labels: Vec<L>,
    setup_seconds: f64,
    report: RunReport,
}

/// Runs a relaxation. Every host must call this.
pub fn label<P: Relaxation>(
    job: &mut Job<'_, '_>,
    program: &P,
    engine: &EngineInfo,
) -> Result<Labelled<P::Label>> {
    let partition = job.substrate.partition();
    let limits = job.limits();
    let start = Instant::now();
    let mut engine = engines::relaxation(engine, job.device, program, partition)?;
    let setup_seconds = start.elapsed().as_secs_f64();
    let report = run(&mut *engine, job.substrate, job.options.pacing, limits, job.watch)?;
    Ok(Labelled { labels: engine.labels()?, setup_seconds, report })
}

impl<L> Labelled<L> {
    /// The answer in which these labels are the only column.
    pub fn answer(
        self,
        (engine, why): (&'static EngineInfo, String),
        name: &'static str,
        values: impl FnOnce(Vec<L>) -> Values,
    ) -> Answer {
        Answer {
            columns: vec![Column { name, values: values(self.labels) }],
            result: Vec::new(),
            engine,
            why,
            setup_seconds: self.setup_seconds,
            report: self.report,
            notes: Vec::new(),
        }
    }
}

/// What an algorithm that searches from its option `root` adds to its answer: items of
/// [`Compiled`](crate::compiled::Compiled).
macro_rules! facts_of_search {
    ($options:ty) => {
        const MEANINGS: $crate::Meanings = $crate::traversal::MEANINGS;

        fn finish(
            job: &mut $crate::Job<'_, '_>,
            own: &$options,
            answer: &mut $crate::Answer,
        ) -> $crate::Result<()> {
            $crate::traversal::sum_up(job, &own.root, answer)
        }
    };
}
pub(crate) use facts_of_search;

/// Adds the facts `root`, `reached`, `max` and `sum` to the answer of a search. Every host must call
/// this.
pub fn sum_up(job: &mut Job<'_, '_>, root: &Root, answer: &mut Answer) -> Result<()> {
    let root = root.find(job.substrate)?;
    let Column { name, values } = &answer.columns[0];
    let net = job.substrate.net();
    let facts = match values {
        Values::F64(values) => {
            let reached: Vec<f64> =
                values.iter().copied().filter(|&value| value != f64::INFINITY).collect();
            let max = reached.iter().copied().fold(0.0, f64::max);
            let count = net.all_reduce(reached.len() as u64, |a, b| a + b)?;
            let max = net.all_reduce(max, f64::max)?;
            let sum = net.all_reduce(reached.iter().sum::<f64>(), |a, b| a + b)?;
            (count, Fact::Real(max), Fact::Real(sum))
        }
        Values::U32(values) => {
            let value = |place: usize| Some(values[place]).filter(|&value| value != u32::MAX);
            integers(net, values.len(), |place| value(place).map(u64::from))?
        }
        Values::U64(values) => {
            let value = |place: usize| Some(values[place]).filter(|&value| value != u64::MAX);
            integers(net, values.len(), value)?
        }
        Values::Vertices(_) | Values::Vectors { .. } => unreachable!("a {name} is a number"),
    };
    if let Some(found) = root.as_ref().filter(|found| found.out_degree == 0) {
        let note = format!("vertex {} has no out-edges: nothing else is reached", found.id);
        answer.notes.push(note);
    }
    answer.result.push(("root", Fact::Vertex(root.map(|found| found.id))));
    answer.result.extend([("reached", Fact::Integer(facts.0)), ("max", facts.1), ("sum", facts.2)]);
    Ok(())
}

fn integers(
    net: &mut parton_net::Net,
    count: usize,
    value: impl Fn(usize) -> Option<u64> + Sync,
) -> Result<(u64, Fact, Fact)> {
    let add = |a: [u64; 3], b: [u64; 3]| [a[0] + b[0], a[1].max(b[1]), a[2].wrapping_add(b[2])];
    let of_piece = |piece: Range<usize>| {
        piece.filter_map(&value).fold([0; 3], |sum, value| add(sum, [1, value, value]))
    };
    let mine = parallel::reduce(count, of_piece, add).unwrap_or([0; 3]);
    let all = net.all_reduce(mine, add)?;
    Ok((all[0], Fact::Integer(all[1]), Fact::Integer(all[2])))
}
