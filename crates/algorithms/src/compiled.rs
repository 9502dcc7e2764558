//! Compiled programs as algorithms: their parameters are options, the function itself is the oracle.

use std::marker::PhantomData;

mod arguments;
mod visits;

use parton_engine::{EngineInfo, ProgramForm, engines};
use parton_graph::{Graph, WeightKind};
use parton_program::plan::CompiledPlan;
use parton_program::{
    Answered, Communication, Delta, FieldValues as Found, HostShare, Program, RelaxSetting, STEPS,
};

pub use arguments::Argument;
use visits::{Checking, Referring, Running};

use crate::algorithm::{Access, Algorithm, Job};
use crate::answer::{Answer, Column, Meanings, Values};
use crate::error::{Error, Result};
use crate::graph_traits::GraphTraits;
use crate::memory_use::MemoryUse;
use crate::needs::{Needs, WeightNeed};
use crate::options::{OptionSet, Options};

/// A compiled program under a name, or several that do the same with other types of numbers.
/// [`compiled!`](crate::compiled!) implements this.
pub trait Compiled: Sync {
    /// The program; of several, the first.
    type Program: Program;
    /// What users can ask for.
    type Options: OptionSet + Clone + Default;

    /// What users call it.
    const NAME: &'static str;
    /// Shorter names, by which users of other systems know it.
    const ALIASES: &'static [&'static str] = &[];
    /// What it finds, in one line.
    const ABOUT: &'static str;
    /// What the facts in its result mean.
    const MEANINGS: Meanings = &[];
    /// What it holds on a host in addition to its partition.
    const MEMORY_USE: MemoryUse = MemoryUse::UNKNOWN;
    /// What the fields are called that it returns.
    const COLUMNS: &'static [&'static str];
    /// Its programs.
    const VARIANTS: &'static [Variant];

    /// Calls `visit` with the program of that name and its arguments.
    fn visit<V: Visit>(name: &str, options: &Self::Options, visit: V) -> Result<V::Output>;

    /// The width of buckets that the user asks for, for engine `delta`.
    fn width(_: &Self::Options) -> Option<f64> {
        None
    }

    /// The values of a field as an answer has them.
    fn values(values: Found) -> Values {
        column(values)
    }

    /// Adds facts to an answer. Every host must call this.
    fn finish(_: &mut Job<'_, '_>, _: &Self::Options, _: &mut Answer) -> Result<()> {
        Ok(())
    }
}

/// One of several programs that do the same with other types of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    name: &'static str,
    weight: WeightKind,
    /// Bytes of a label, where it is a relaxation.
    label_bytes: usize,
}

impl Variant {
    /// That of a program.
    pub const fn of<P: Program>() -> Self {
        let label_bytes = size_of::<<P::Relaxed as parton_engine::Relaxation>::Label>();
        Variant { name: P::NAME, weight: weight_kind::<P>(), label_bytes }
    }
}

/// The name of the program that suits a graph: the first, if there is but one.
fn choose<C: Compiled>(traits: &GraphTraits) -> Result<&'static str> {
    if asks_for_sums::<C>() {
        traits.refuse_negative()?;
    }
    let fits = |variant: &&Variant| traits.fits(variant.weight, variant.label_bytes);
    Ok(C::VARIANTS.iter().find(fits).unwrap_or(&C::VARIANTS[0]).name)
}

/// Whether its labels are sums of weights.
fn asks_for_sums<C: Compiled>() -> bool {
    C::Program::ADDS && has_weights::<C>()
}

/// Whether any of its programs asks for weights.
fn has_weights<C: Compiled>() -> bool {
    C::VARIANTS.iter().any(|variant| variant.weight != WeightKind::None)
}

/// Whether its labels are levels: engine frontier then looks at edges from either end. Where edges are
/// taken both ways, or weighted, labels spread from their sources alone.
fn asks_for_levels<C: Compiled>() -> bool {
    let passes_unchanged = match C::Program::FORM {
        Some(ProgramForm::Relaxation { passes_unchanged, .. }) => passes_unchanged,
        _ => return false,
    };
    !has_weights::<C>() && !passes_unchanged
}

/// Who wants to see a program.
pub trait Visit {
    /// What becomes of it.
    type Output;

    /// An argument of the program.
    fn argument<A: Argument>(&mut self, option: &A) -> Result<A::Value>;

    /// The program.
    fn program<P: Program>(self, program: P) -> Result<Self::Output>;
}

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
        $visibility:vis struct $algorithm:ident = $($program:ident)|+ as $name:literal -> [$($column:literal),+];
        options $options:ident {
            $($(#[doc = $help:literal])+ $option:ident: $type:ty = $default:expr;)+
        }
        $(settings { $($setting:tt)+ })?
        $(with { $($with:tt)+ })?
    ) => {
        $crate::options! {
            /// What one can ask of the program.
            $visibility struct $options {
                $($(#[doc = $help])+ $option: $type = $default;)+
                $($($setting)+)?
            }
        }

        $crate::compiled! {
            #[doc = $about]
            $visibility struct $algorithm = $($program)|+ as $name -> [$($column),+];
            own $options ($($option),+) { $($option),+ }
            with { $($($with)+)? }
        }
    };
    (
        #[doc = $about:literal]
        $visibility:vis struct $algorithm:ident = $program:ident as $name:literal -> [$($column:literal),+];
        with { $($with:tt)* }
    ) => {
        $crate::compiled! {
            #[doc = $about]
            $visibility struct $algorithm = $program as $name -> [$($column),+];
            own () () {}
            with { $($with)* }
        }
    };
    (
        #[doc = $about:literal]
        $visibility:vis struct $algorithm:ident = $first:ident $(| $program:ident)* as $name:literal
            -> [$($column:literal),+];
        own $options:tt ($($option:ident),*) $arguments:tt
        with { $($with:tt)* }
    ) => {
        #[doc = $about]
        $visibility struct $algorithm;

        impl $crate::compiled::Compiled for $algorithm {
            type Program = $first;
            type Options = $options;
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const COLUMNS: &'static [&'static str] = &[$($column),+];
            const VARIANTS: &'static [$crate::compiled::Variant] = &[
                $crate::compiled::Variant::of::<$first>(),
                $($crate::compiled::Variant::of::<$program>()),*
            ];

            #[allow(unused_mut, unused_variables)]
            fn visit<V: $crate::compiled::Visit>(
                name: &str,
                options: &Self::Options,
                mut visit: V,
            ) -> $crate::Result<V::Output> {
                $(let $option = visit.argument(&options.$option)?;)*
                $(if name == $crate::compiled::name::<$program>() {
                    return visit.program($program $arguments);
                })*
                visit.program($first $arguments)
            }

            $($with)*
        }
    };
}

/// How this host runs its share of a program.
fn host_share<'j>(
    job: &Job<'j, '_>,
    engine: &'static EngineInfo,
    (delta, sums_fit): (Delta, bool),
) -> HostShare<'j> {
    HostShare {
        engine: Some(engine.name),
        communication: Communication::default(),
        pacing: job.options.pacing,
        limits: job.limits(),
        delta,
        sums_fit,
        device: job.device,
    }
}

/// Runs a vertex program that is a part of an algorithm. Every host must call this.
pub(crate) fn run_part<P: Program>(
    job: &mut Job<'_, '_>,
    engine: &'static EngineInfo,
    program: &P,
) -> Result<Answered> {
    let share = host_share(job, engine, (RelaxSetting::default().delta, false));
    Ok(share.run(program, job.substrate, job.watch)?)
}

/// The name of a program.
pub fn name<P: Program>() -> &'static str {
    P::NAME
}

/// The weights that a program knows.
const fn weight_kind<P: Program>() -> WeightKind {
    <<P as parton_program::Code>::Weight as parton_graph::Weight>::KIND
}

impl<C: Compiled> Algorithm for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        C::ALIASES
    }

    fn meanings(&self) -> Meanings {
        C::MEANINGS
    }

    fn about(&self) -> &'static str {
        C::ABOUT.trim().trim_end_matches('.')
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(C::Options::default())
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        C::Program::ENGINES
    }

    fn memory_use(&self) -> MemoryUse {
        C::MEMORY_USE
    }

    fn needs(&self, _: &Options) -> Needs {
        match has_weights::<C>() {
            false => Needs::default(),
            true => Needs { weights: WeightNeed::Used, ..Needs::default() },
        }
    }

    fn needs_rounds(&self, options: &Options) -> Option<&'static str> {
        let is_any_order = C::Program::IS_RELAXATION || C::Program::IS_ANY_ORDER;
        let is_free = is_any_order && options.engine != Some(STEPS);
        (!is_free).then_some(match C::Program::GATHER {
            Some(_) if C::Program::IS_ROTATED && options.engine != Some(STEPS) => {
                "of two messages of a vertex only the last would be heard"
            }
            Some(_) if options.engine != Some(STEPS) => "every vertex collects in every round",
            _ => "its operators follow each other on all hosts",
        })
    }

    fn needs_threads(&self, options: &Options) -> Option<&'static str> {
        let engine = options.engine.unwrap_or(C::Program::ENGINES[0]);
        let off_devices = &C::Program::compiled_plan().fit.off_devices;
        match engine == STEPS {
            true => off_devices.steps.as_deref(),
            false => off_devices.form.as_deref(),
        }
    }

    fn access(&self, options: &Options) -> Access {
        match options.engine {
            Some(engines::DELTA) => Access::SourcesThenDestinations,
            None if asks_for_sums::<C>() => Access::SourcesThenDestinations,
            asked => match asked.unwrap_or(C::Program::ENGINES[0]) {
                engines::FRONTIER if asks_for_levels::<C>() => Access::Either,
                engines::PULL if C::Program::GATHER.is_some() && !C::Program::IS_ROTATED => {
                    Access::Destinations
                }
                _ => Access::Sources,
            },
        }
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        let width = C::width(&options.own::<C::Options>());
        match width.filter(|width| !(*width > 0.0 && width.is_finite())) {
            None => Ok(()),
            Some(width) => {
                Err(Error::Request(format!("`delta` {width}: expected a width above 0")))
            }
        }
    }

    fn plans(&self) -> Vec<&'static CompiledPlan> {
        vec![C::Program::compiled_plan()]
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let own = job.options.own::<C::Options>();
        let traits = GraphTraits::find(job.substrate, asks_for_sums::<C>())?;
        let name = choose::<C>(&traits)?;
        let mut answer = C::visit(name, &own, Running { algorithm: self, job, traits })?;
        C::finish(job, &own, &mut answer)?;
        Ok(answer)
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let own = job.options.own::<C::Options>();
        let traits = GraphTraits::find(job.substrate, asks_for_sums::<C>())?;
        C::visit(
            choose::<C>(&traits)?,
            &own,
            Checking::<C> { job, answer, traits, of: PhantomData },
        )
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let traits = GraphTraits::of(graph);
        let own = options.own::<C::Options>();
        C::visit(choose::<C>(&traits)?, &own, Referring::<C> { graph, of: PhantomData })
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
