//! Compiled programs as algorithms: their parameters are options, the function itself is the oracle.

use parton_engine::{EngineInfo, engines};
use parton_graph::{Graph, WeightKind, with_csr};
use parton_program::{Communication, FieldValues as Found, HostShare, Program, STEPS, Vertex};
use parton_sync::Substrate;

use crate::algorithm::{Access, Algorithm, Job};
use crate::answer::{Answer, Column, Values};
use crate::certificate;
use crate::error::{Error, Result};
use crate::needs::{Needs, WeightNeed};
use crate::options::{OptionSet, Options};
use crate::root::Root;

/// Answers of programs that are no relaxations are checked against the function itself on graphs of up to
/// this many edges, which every host then holds.
const MAX_CHECKED_EDGES: u64 = 1 << 24;
/// Sums of floating-point numbers depend on their order by less than this.
const TOLERANCE: f64 = 1e-6;

/// A compiled program under a name. [`compiled!`](crate::compiled!) implements this.
pub trait Compiled: Sync {
    /// The program.
    type Program: Program;
    /// Its parameters.
    type Options: OptionSet + Clone + Default;

    /// What users call it.
    const NAME: &'static str;
    /// What it finds, in one line.
    const ABOUT: &'static str;
    /// What the fields are called that it returns.
    const COLUMNS: &'static [&'static str];

    /// The program with its arguments. Every host must call this.
    fn program(options: &Self::Options, substrate: &mut Substrate<'_>) -> Result<Self::Program>;

    /// The same in a whole graph.
    fn program_in(options: &Self::Options, graph: &Graph) -> Result<Self::Program>;
}

/// An option that is an argument of a program.
pub trait Argument {
    /// What the program gets.
    type Value;

    /// The argument on this partition. Every host must call this.
    fn find(&self, substrate: &mut Substrate<'_>) -> Result<Self::Value>;

    /// The same in a whole graph.
    fn find_in(&self, graph: &Graph) -> Result<Self::Value>;
}

/// In a graph without vertices it is a vertex that is not there.
impl Argument for Root {
    type Value = Vertex;

    fn find(&self, substrate: &mut Substrate<'_>) -> Result<Vertex> {
        Ok(Vertex(Root::find(self, substrate)?.map_or(0, |found| found.vertex.0 as u32)))
    }

    fn find_in(&self, graph: &Graph) -> Result<Vertex> {
        Ok(Vertex(Root::find_in(self, graph)?.unwrap_or(0) as u32))
    }
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Argument for $type {
            type Value = $type;

            fn find(&self, _: &mut Substrate<'_>) -> Result<$type> {
                Ok(*self)
            }

            fn find_in(&self, _: &Graph) -> Result<$type> {
                Ok(*self)
            }
        })+
    };
}

numbers!(u32, u64, i32, i64, f32, f64, bool);

/// Makes an algorithm of a compiled program.
///
/// ```
/// use parton_algorithms::Root;
/// use parton_program::{Field, Graph, Vertex, Worklist, program};
///
/// #[program(crate = parton_program)]
/// pub fn reach(graph: &Graph<()>, root: Vertex) -> Field<u32> {
///     let mut steps = graph.field(u32::MAX);
///     steps[root] = 0;
///     let mut work = Worklist::from([root]);
///     while let Some(v) = work.pop() {
///         for edge in graph.out_edges(v) {
///             if steps.lower(edge.target, steps[v] + 1) {
///                 work.push(edge.target);
///             }
///         }
///     }
///     steps
/// }
///
/// parton_algorithms::compiled! {
///     /// How many steps each vertex is away from the root.
///     pub struct Reach = reach as "reach" -> ["steps"];
///     options ReachOptions {
///         /// Where the walk starts.
///         root: Root = Root::MaxDegree;
///     }
/// }
/// # use parton_algorithms::Algorithm;
/// assert_eq!(Reach.about(), "How many steps each vertex is away from the root");
/// ```
#[macro_export]
macro_rules! compiled {
    (
        #[doc = $about:literal]
        $visibility:vis struct $algorithm:ident = $program:ident as $name:literal -> [$($column:literal),+];
        options $options:ident {
            $($(#[doc = $help:literal])+ $option:ident: $type:ty = $default:expr;)+
        }
    ) => {
        $crate::options! {
            /// What one can ask of the program.
            $visibility struct $options {
                $($(#[doc = $help])+ $option: $type = $default;)+
            }
        }

        #[doc = $about]
        $visibility struct $algorithm;

        impl $crate::compiled::Compiled for $algorithm {
            type Program = $program;
            type Options = $options;
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const COLUMNS: &'static [&'static str] = &[$($column),+];

            fn program(
                options: &$options,
                substrate: &mut $crate::compiled::Hosts<'_>,
            ) -> $crate::Result<$program> {
                Ok($program {
                    $($option: $crate::compiled::Argument::find(&options.$option, substrate)?),+
                })
            }

            fn program_in(
                options: &$options,
                graph: &$crate::compiled::WholeGraph,
            ) -> $crate::Result<$program> {
                Ok($program {
                    $($option: $crate::compiled::Argument::find_in(&options.$option, graph)?),+
                })
            }
        }
    };
}

#[doc(hidden)]
pub use parton_graph::Graph as WholeGraph;
#[doc(hidden)]
pub use parton_sync::Substrate as Hosts;

impl<C: Compiled> Algorithm for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn about(&self) -> &'static str {
        C::ABOUT.trim().trim_end_matches('.')
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(C::Options::default())
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        match C::Program::IS_RELAXATION {
            true => &[engines::PUSH, engines::FRONTIER, engines::PULL, STEPS],
            false => &[STEPS],
        }
    }

    fn needs(&self, _: &Options) -> Needs {
        let has_weights =
            <<C::Program as parton_program::Code>::Weight as parton_graph::Weight>::KIND;
        match has_weights {
            WeightKind::None => Needs::default(),
            _ => Needs { weights: WeightNeed::Used, ..Needs::default() },
        }
    }

    fn needs_rounds(&self, options: &Options) -> Option<&'static str> {
        let is_free = C::Program::IS_RELAXATION && options.engine != Some(STEPS);
        (!is_free).then_some("its operators follow each other on all hosts")
    }

    fn access(&self, _: &Options) -> Access {
        Access::Sources
    }

    fn plan(&self) -> Option<&'static parton_program::plan::CompiledPlan> {
        Some(C::Program::compiled_plan())
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let program = C::program(&job.options.own::<C::Options>(), job.substrate)?;
        let suits = if C::Program::IS_RELAXATION { engines::PUSH } else { STEPS };
        let (engine, why) = job.engine(self, suits, || match C::Program::IS_RELAXATION {
            true => "the program was recognised as a relaxation".into(),
            false => "the program runs operator by operator".into(),
        })?;
        let share = HostShare {
            engine: Some(engine.name),
            communication: Communication::default(),
            pacing: job.options.pacing,
            limits: job.limits(),
            device: job.device,
        };
        let answered = share.run(&program, job.substrate, job.watch)?;
        let columns = C::COLUMNS.iter().zip(answered.columns);
        Ok(Answer {
            columns: columns
                .map(|(name, values)| Column { name, values: column(values) })
                .collect(),
            result: Vec::new(),
            engine,
            why,
            setup_seconds: 0.0,
            report: answered.report,
            notes: Vec::new(),
        })
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let program = C::program(&job.options.own::<C::Options>(), job.substrate)?;
        if let Some(relaxed) = program.relaxed() {
            return certified(job, &relaxed, &answer.columns[0].values);
        }
        let partition = job.substrate.partition();
        if partition.num_edges() > MAX_CHECKED_EDGES {
            return Err(Error::Request(format!(
                "{} is checked against its function, on graphs of at most {MAX_CHECKED_EDGES} edges",
                C::NAME
            )));
        }
        let graph = whole(job.substrate)?;
        let expected = match partition.num_vertices() {
            0 => C::Program::no_values(),
            _ => C::Program::columns(program.sequential(&graph)),
        };
        let mut wrong = None;
        for (found, expected) in answer.columns.iter().zip(expected) {
            let expected = column(expected);
            for (place, &vertex) in
                partition.globals()[..partition.num_masters()].iter().enumerate()
            {
                let (found_here, expected) =
                    (found.values.real(place), expected.real(vertex as usize));
                if !is_close(found_here, expected) {
                    let (name, id) = (found.name, vertex);
                    wrong =
                        Some(format!("{name} of vertex {id} is {found_here:?}, not {expected:?}"));
                }
            }
        }
        let all = job.substrate.net().all_gather(wrong.unwrap_or_default().into_bytes())?;
        let first = all.into_iter().find(|verdict| !verdict.is_empty());
        Ok(first.map(|verdict| String::from_utf8_lossy(&verdict).into_owned()))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let program = C::program_in(&options.own::<C::Options>(), graph)?;
        let values = match graph.num_vertices() {
            0 => C::Program::no_values(),
            _ => C::Program::columns(program.sequential(&graph.into())),
        };
        let columns = C::COLUMNS.iter().zip(values);
        Ok(columns.map(|(name, values)| Column { name, values: column(values) }).collect())
    }
}

/// The labels of a relaxation are proved by its own certificate.
fn certified<P: parton_engine::Relaxation>(
    job: &mut Job<'_, '_>,
    relaxed: &P,
    values: &Values,
) -> Result<Option<String>> {
    use parton_sync::value::Number;
    let labels: Vec<P::Label> = match values {
        Values::U32(values) | Values::Vertices(values) => {
            values.iter().map(|value| label::<P::Label>(&value.to_le_bytes())).collect()
        }
        Values::U64(values) => {
            values.iter().map(|value| label::<P::Label>(&value.to_le_bytes())).collect()
        }
        Values::F64(values) => values.iter().map(|value| P::Label::from_f64(*value)).collect(),
        Values::Vectors { .. } => unreachable!("a label is a number"),
    };
    certificate::relaxation(job, relaxed, &labels)
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

/// The values of a field as an answer has them.
fn column(values: Found) -> Values {
    match values {
        Found::U32(values) => Values::U32(values),
        Found::U64(values) => Values::U64(values),
        Found::I32(values) => Values::F64(values.into_iter().map(f64::from).collect()),
        Found::I64(values) => Values::F64(values.into_iter().map(|value| value as f64).collect()),
        Found::F32(values) => Values::F64(values.into_iter().map(f64::from).collect()),
        Found::F64(values) => Values::F64(values),
        Found::Bool(values) => Values::U32(values.into_iter().map(u32::from).collect()),
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
