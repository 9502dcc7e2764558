//! Relaxations and a vertex program as one would write them by hand, beside compiled programs that say the same.

use parton_engine::degrees::out_degrees;
use parton_engine::{
    self as engine, Edges, EngineInfo, Limits, Pacing, Properties, Relaxation, RunReport, Tally,
    VertexProgram, engines, run,
};
use parton_graph::GlobalId;
use parton_program::{Communication, Delta, Field, Graph, HostShare, Program, program};
use parton_sync::reduction::{Latest, Min, Sum};
use parton_sync::{Error, Substrate};

/// Levels from a root, as one would write them by hand.
pub(crate) struct Levels(pub(crate) GlobalId);

impl Relaxation for Levels {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: engine::Vertex<'_>) -> Option<u32> {
        (vertex.id() == self.0).then_some(0)
    }

    fn relax(&self, level: u32, (): ()) -> u32 {
        level + 1
    }

    fn first_wins(&self) -> bool {
        true
    }
}

/// Distances from a root, as one would write them by hand.
pub(crate) struct Distances(pub(crate) GlobalId);

impl Relaxation for Distances {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = u32;

    fn start(&self, vertex: engine::Vertex<'_>) -> Option<u32> {
        (vertex.id() == self.0).then_some(0)
    }

    fn relax(&self, distance: u32, weight: u32) -> u32 {
        distance.saturating_add(weight)
    }

    fn bucket(&self, distance: u32) -> usize {
        (distance >> 2) as usize
    }
}

/// The least vertex of every component, as one would write it by hand.
pub(crate) struct Least;

impl Relaxation for Least {
    type Label = u32;
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: engine::Vertex<'_>) -> Option<u32> {
        Some(vertex.id().0 as u32)
    }

    fn relax(&self, label: u32, (): ()) -> u32 {
        label
    }

    fn edges(&self) -> Edges {
        Edges::Both
    }

    fn passes_unchanged(&self) -> bool {
        true
    }
}

/// Ranks without what vertices lose that have no out-edges, as one would write them by hand.
struct Ranks<'a> {
    out_degrees: &'a [u64],
    base: f64,
    tolerance: f64,
}

impl VertexProgram for Ranks<'_> {
    type State = f64;
    type Message = f32;
    type Messages = Latest<f32>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, _: engine::Vertex<'_>) -> f64 {
        self.base / 0.15
    }

    fn scatter(&self, vertex: engine::Vertex<'_>, rank: &f64) -> Option<f32> {
        Some((rank / self.out_degrees[vertex.local.index()] as f64) as f32)
    }

    fn along(&self, share: f32, (): ()) -> f64 {
        f64::from(share)
    }

    fn apply(&self, _: engine::Vertex<'_>, rank: &mut f64, shares: f64, tally: &mut Tally) -> bool {
        let new = self.base + 0.85 * shares;
        tally.sums[0] += (new - *rank).abs();
        *rank = new;
        true
    }

    fn properties(&self) -> Properties {
        Properties { stationary: true, rounds: u64::MAX, ..Properties::default() }
    }

    fn conclude(&mut self, total: &Tally) -> bool {
        total.sums[0] < self.tolerance
    }
}

/// The same, compiled.
#[program(crate = parton_program)]
pub(crate) fn ranks(graph: &Graph<()>, tolerance: f64) -> Field<f64> {
    let n = graph.num_vertices() as f64;
    let mut rank = graph.field(1.0 / n);
    let mut next = graph.field(0.0);
    loop {
        let mut change = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for edge in graph.in_edges(v) {
                sum += (rank[edge.source] / graph.out_degree(edge.source) as f64) as f32 as f64;
            }
            next[v] = 0.15 / n + 0.85 * sum;
            change += (next[v] - rank[v]).abs();
        }
        std::mem::swap(&mut rank, &mut next);
        if change < tolerance {
            break;
        }
    }
    rank
}

/// Members of a core, written by hand: a vertex with too few neighbours is removed, and each of its neighbours loses
/// an edge.
struct Core<'a> {
    degrees: &'a [u64],
    k: u32,
}

impl VertexProgram for Core<'_> {
    /// Neighbours left, and whether it is a member.
    type State = (u32, bool);
    type Message = u32;
    type Messages = Sum<u32>;
    type Reduction = Sum<u32>;
    type Weight = ();

    fn init(&self, vertex: engine::Vertex<'_>) -> (u32, bool) {
        let left = self.degrees[vertex.local.index()] as u32;
        (left, left >= self.k)
    }

    fn scatter(&self, _: engine::Vertex<'_>, (_, is_member): &(u32, bool)) -> Option<u32> {
        (!is_member).then_some(1)
    }

    fn along(&self, gone: u32, (): ()) -> u32 {
        gone
    }

    fn apply(
        &self,
        _: engine::Vertex<'_>,
        (left, is_member): &mut (u32, bool),
        gone: u32,
        _: &mut Tally,
    ) -> bool {
        *left -= gone;
        let goes = *is_member && *left < self.k;
        *is_member &= !goes;
        goes
    }

    fn properties(&self) -> Properties {
        Properties { any_order: true, ..Properties::default() }
    }
}

/// Rank that flows on, as one would write it by hand: the residual method.
struct Residuals<'a> {
    out_degrees: &'a [u64],
    base: f64,
    threshold: f64,
}

/// Rank, what has arrived and was not passed on, and what is passed on in this round.
#[derive(Clone, Copy)]
struct Flow {
    rank: f64,
    residual: f64,
    passing: f64,
}

impl VertexProgram for Residuals<'_> {
    type State = Flow;
    type Message = f64;
    type Messages = Sum<f64>;
    type Reduction = Sum<f64>;
    type Weight = ();

    fn init(&self, _: engine::Vertex<'_>) -> Flow {
        Flow { rank: self.base, residual: 0.0, passing: self.base }
    }

    fn scatter(&self, vertex: engine::Vertex<'_>, flow: &Flow) -> Option<f64> {
        match self.out_degrees[vertex.local.index()] {
            0 => None,
            degree => Some(0.85 * flow.passing / degree as f64),
        }
    }

    fn along(&self, share: f64, (): ()) -> f64 {
        share
    }

    fn apply(
        &self,
        vertex: engine::Vertex<'_>,
        flow: &mut Flow,
        shares: f64,
        _: &mut Tally,
    ) -> bool {
        if self.out_degrees[vertex.local.index()] == 0 {
            flow.rank += shares;
            return false;
        }
        flow.residual += shares;
        if flow.residual <= self.threshold {
            return false;
        }
        flow.passing = std::mem::take(&mut flow.residual);
        flow.rank += flow.passing;
        true
    }

    fn properties(&self) -> Properties {
        Properties { any_order: true, ..Properties::default() }
    }
}

/// Finds the hand-written core.
pub(crate) fn core_by_hand(
    engine: &EngineInfo,
    k: u32,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let degrees = out_degrees(substrate)?;
    run_by_hand(engine, Core { degrees: &degrees, k }, substrate)
}

/// Runs the hand-written residual method.
pub(crate) fn residuals_by_hand(
    engine: &EngineInfo,
    threshold: f64,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let out_degrees = out_degrees(substrate)?;
    let base = 0.15 / substrate.partition().num_vertices() as f64;
    run_by_hand(engine, Residuals { out_degrees: &out_degrees, base, threshold }, substrate)
}

/// Runs a vertex program.
fn run_by_hand<P: VertexProgram>(
    engine: &EngineInfo,
    program: P,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let mut engine = engines::vertex_program(engine, None, program, substrate.partition())?;
    run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())
}

/// Runs a relaxation.
pub(crate) fn by_hand<P: Relaxation>(
    engine: &EngineInfo,
    program: &P,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let mut engine = engines::relaxation(engine, None, program, substrate.partition())?;
    run(&mut *engine, substrate, Pacing::default(), Limits::default(), &mut ())
}

/// Runs the hand-written ranks.
pub(crate) fn ranks_by_hand(substrate: &mut Substrate<'_>) -> Result<RunReport, Error> {
    let partition = substrate.partition();
    let out_degrees = out_degrees(substrate)?;
    let base = 0.15 / partition.num_vertices() as f64;
    let program = Ranks { out_degrees: &out_degrees, base, tolerance: 1e-6 };
    run_by_hand(engines::PULL, program, substrate)
}

/// Runs a compiled program.
pub(crate) fn compiled<P: Program>(
    engine: &EngineInfo,
    program: &P,
    substrate: &mut Substrate<'_>,
) -> Result<RunReport, Error> {
    let share = HostShare {
        engine: Some(engine.name),
        communication: Communication::default(),
        pacing: Pacing::default(),
        limits: Limits::default(),
        delta: Delta::new(4.0),
        sums_fit: false,
        device: None,
    };
    Ok(share.run(program, substrate, &mut ())?.report)
}
