//! What becomes of a program: it runs, its answer is checked, or the function itself gives the answer.

use std::marker::PhantomData;

use parton_engine::{EngineInfo, ProgramForm, engines};
use parton_graph::{Graph, WeightKind, with_csr};
use parton_program::{Delta, Program, RelaxSetting};
use parton_sync::Substrate;

use super::{Argument, Compiled, Visit, column, host_share, weight_kind};
use crate::algorithm::Job;
use crate::answer::{Answer, Column, Values};
use crate::certificate;
use crate::error::{Error, Result};
use crate::graph_traits::GraphTraits;

/// Answers of programs that are no relaxations are checked against the function itself on graphs of up to
/// this many edges, which every host then holds.
const MAX_CHECKED_EDGES: u64 = 1 << 24;
/// Sums of floating-point numbers depend on their order by less than this.
const TOLERANCE: f64 = 1e-6;

/// Runs a program as an algorithm.
pub(super) struct Running<'r, 'j, 'a, C> {
    pub(super) algorithm: &'r C,
    pub(super) job: &'r mut Job<'j, 'a>,
    pub(super) traits: GraphTraits,
}

impl<C: Compiled> Visit for Running<'_, '_, '_, C> {
    type Output = Answer;

    fn argument<A: Argument>(&mut self, option: &A) -> Result<A::Value> {
        option.find(self.job.substrate)
    }

    fn program<P: Program>(self, program: P) -> Result<Answer> {
        let Running { algorithm, job, traits } = self;
        let own = job.options.own::<C::Options>();
        let degree = job.average_degree();
        let width = match C::width(&own) {
            Some(width) => width,
            None => traits.suitable_width(degree),
        };
        let (suits, reason) = suitable::<P>(job, &traits, width)?;
        let (engine, why) = job.engine(algorithm, suits, || reason)?;
        let share = host_share(job, engine, (Delta::new(width), C::VARIANTS.len() > 1));
        let answered = share.run(&program, job.substrate, job.watch)?;
        let columns = C::COLUMNS.iter().zip(answered.columns);
        let columns: Vec<_> =
            columns.map(|(name, values)| Column { name, values: C::values(values) }).collect();
        refuse_overflow(job, &program, &traits, &columns[0].values)?;
        Ok(Answer {
            columns,
            result: Vec::new(),
            engine,
            why,
            setup_seconds: answered.setup_seconds,
            report: answered.report,
            notes: answered.operators.iter().map(ToString::to_string).collect(),
        })
    }
}

/// The engine that suits, and why.
fn suitable<P: Program>(
    job: &mut Job<'_, '_>,
    traits: &GraphTraits,
    width: f64,
) -> Result<(&'static EngineInfo, String)> {
    let degree = job.average_degree();
    let is_weighted = P::ADDS && weight_kind::<P>() != WeightKind::None;
    let mut engine = if is_weighted { engines::DELTA } else { P::ENGINES[0] };
    let mixes = |engine: &&EngineInfo| engines::mixes_with_devices(engine);
    if !P::ENGINES.iter().all(mixes) && job.has_mixed_hosts()? {
        if let Some(asked) = job.options.engine.filter(|asked| !mixes(asked)) {
            return Err(Error::Request(format!(
                "engine {} runs where all hosts have a device, or none has: processors send each other \
                 more than labels",
                asked.name
            )));
        }
        engine = P::mixing_engine();
    }
    let why = match P::FORM {
        Some(ProgramForm::Relaxation { .. }) if is_weighted => format!(
            "mean weight {:.3}, average degree {degree:.1}: buckets {width:.3} wide",
            traits.mean_weight()
        ),
        Some(ProgramForm::Relaxation { passes_unchanged: true, .. }) => {
            format!("edges pass labels on as they are, average degree {degree:.1}")
        }
        Some(ProgramForm::Relaxation { first_wins: true, .. }) => {
            format!("every edge counts 1, average degree {degree:.1}: level by level")
        }
        Some(ProgramForm::Relaxation { .. }) => "the program was recognised as a relaxation".into(),
        Some(ProgramForm::Rotated) => {
            format!("many or few vertices wake their neighbours, average degree {degree:.1}")
        }
        Some(ProgramForm::VertexProgram { .. }) => {
            format!("all vertices send in all rounds, average degree {degree:.1}")
        }
        None => "the program runs operator by operator".into(),
    };
    Ok((engine, why))
}

/// An error if sums of weights may be more than a label can hold, and one of them is. Every host must call this.
fn refuse_overflow<P: Program>(
    job: &mut Job<'_, '_>,
    program: &P,
    traits: &GraphTraits,
    values: &Values,
) -> Result<()> {
    let Some(relaxed) = program.relaxed(RelaxSetting::default()).filter(|_| P::ADDS) else {
        return Ok(());
    };
    let may_overflow = traits.may_overflow(job.substrate.partition().num_vertices());
    if may_overflow && certificate::has_overflow(job, &relaxed, &labels_of(&relaxed, values))? {
        return Err(overflow());
    }
    Ok(())
}

/// The error for a path longer than the greatest double.
fn overflow() -> Error {
    Error::Data("weights add up to distances that a double cannot hold: scale them down".into())
}

/// Checks an answer.
pub(super) struct Checking<'r, 'j, 'a, C> {
    pub(super) job: &'r mut Job<'j, 'a>,
    pub(super) answer: &'r Answer,
    pub(super) traits: GraphTraits,
    pub(super) of: PhantomData<C>,
}

impl<C: Compiled> Visit for Checking<'_, '_, '_, C> {
    type Output = Option<String>;

    fn argument<A: Argument>(&mut self, option: &A) -> Result<A::Value> {
        option.find(self.job.substrate)
    }

    fn program<P: Program>(self, program: P) -> Result<Option<String>> {
        let Checking { job, answer, traits, .. } = self;
        let values = &answer.columns[0].values;
        let is_symmetric = job.substrate.partition().is_symmetric();
        let setting = RelaxSetting { is_symmetric, ..RelaxSetting::default() };
        if let Some(relaxed) = program.relaxed(setting) {
            refuse_overflow(job, &program, &traits, values)?;
            return certificate::relaxation(job, &relaxed, &labels_of(&relaxed, values));
        }
        compared(job, C::NAME, &program, &answer.columns)
    }
}

/// Compares an answer with that of the function, which every host runs.
fn compared<P: Program>(
    job: &mut Job<'_, '_>,
    name: &str,
    program: &P,
    columns: &[Column],
) -> Result<Option<String>> {
    let partition = job.substrate.partition();
    if partition.num_edges() > MAX_CHECKED_EDGES {
        return Err(Error::Request(format!(
            "{name} is checked against its function, on graphs of at most {MAX_CHECKED_EDGES} edges"
        )));
    }
    let graph = whole(job.substrate)?;
    let expected = match partition.num_vertices() {
        0 => P::no_values(),
        _ => P::columns(program.sequential(&graph)),
    };
    let mut wrong = None;
    for (found, expected) in columns.iter().zip(expected) {
        let expected = column(expected);
        for (place, &vertex) in partition.globals()[..partition.num_masters()].iter().enumerate() {
            let (found_here, expected) = (found.values.real(place), expected.real(vertex as usize));
            if !is_close(found_here, expected) {
                let (name, id) = (found.name, vertex);
                wrong = Some(format!("{name} of vertex {id} is {found_here:?}, not {expected:?}"));
            }
        }
    }
    let all = job.substrate.net().all_gather(wrong.unwrap_or_default().into_bytes())?;
    let first = all.into_iter().find(|verdict| !verdict.is_empty());
    Ok(first.map(|verdict| String::from_utf8_lossy(&verdict).into_owned()))
}

/// Runs the function itself.
pub(super) struct Referring<'g, C> {
    pub(super) graph: &'g Graph,
    pub(super) of: PhantomData<C>,
}

impl<C: Compiled> Visit for Referring<'_, C> {
    type Output = Vec<Column>;

    fn argument<A: Argument>(&mut self, option: &A) -> Result<A::Value> {
        option.find_in(self.graph)
    }

    fn program<P: Program>(self, program: P) -> Result<Vec<Column>> {
        let values = match self.graph.num_vertices() {
            0 => P::no_values(),
            _ => P::columns(program.sequential(&self.graph.into())),
        };
        let columns = C::COLUMNS.iter().zip(values);
        Ok(columns.map(|(name, values)| Column { name, values: C::values(values) }).collect())
    }
}

/// The labels of a relaxation, of the values of an answer.
fn labels_of<P: parton_engine::Relaxation>(_: &P, values: &Values) -> Vec<P::Label> {
    use parton_sync::value::Number;
    match values {
        Values::U32(values) | Values::Vertices(values) => {
            values.iter().map(|value| label::<P::Label>(&value.to_le_bytes())).collect()
        }
        Values::U64(values) => {
            values.iter().map(|value| label::<P::Label>(&value.to_le_bytes())).collect()
        }
        Values::F64(values) => values.iter().map(|value| P::Label::from_f64(*value)).collect(),
        Values::Vectors { .. } => unreachable!("a label is a number"),
    }
}

fn label<L: parton_sync::Value>(bytes: &[u8]) -> L {
    L::read(&bytes[..L::KIND.bytes()])
}

fn is_close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= TOLERANCE * b.abs().max(1.0)
        }
        (a, b) => a == b,
    }
}

/// The whole graph, on every host.
fn whole<W: parton_graph::Weight>(
    substrate: &mut Substrate<'_>,
) -> Result<parton_program::Graph<W>> {
    let partition = substrate.partition();
    let mut mine: Vec<[u64; 3]> = Vec::new();
    with_csr!(partition.out_edges(), csr => for source in csr.vertices() {
        for (target, weight) in csr.edges(source) {
            let weight = parton_graph::Weight::to_f64(weight).to_bits();
            mine.push([partition.global(source).0, partition.global(target).0, weight]);
        }
    });
    let all = substrate.net().all_gather(bytemuck::cast_slice(&mine).to_vec())?;
    let edges = all.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, [u64; 3]>(bytes));
    let edges = edges.map(|[source, target, weight]| {
        (source as u32, target as u32, W::from_f64(f64::from_bits(weight)))
    });
    Ok(parton_program::Graph::new(partition.num_vertices() as usize, &edges.collect::<Vec<_>>()))
}
