//! What users write: programs whose shape states what they access.
//!
//! `scatter` sees a vertex's state alone, `along` a message and an edge, the reduction two
//! contributions, `apply` a vertex's state and what came in. So it is known which values travel and
//! when, and the same program runs on every engine, policy, pace and device.

pub mod check;
pub mod filtering;

use parton_graph::{GlobalId, LocalId, Weight};
use parton_partition::End;
use parton_sync::value::Number;
use parton_sync::{AtomicValue, Error, Reduction, Result, Tally};

use crate::device::DeviceProgram;
use crate::engine::Measure;
use crate::registry::ProgramForm;
use filtering::{LeftOut, SharedSource};

/// A vertex, seen from one of its proxies.
#[derive(Clone, Copy)]
pub struct Vertex<'p> {
    /// The proxy: the index of this host's data of the vertex. Masters come first.
    pub local: LocalId,
    globals: &'p [u32],
}

impl<'p> Vertex<'p> {
    /// The vertex of a proxy; `globals` are the global ids of all proxies.
    #[inline(always)]
    pub fn new(globals: &'p [u32], local: LocalId) -> Self {
        Vertex { local, globals }
    }

    /// Its global id.
    #[inline]
    pub fn id(self) -> GlobalId {
        GlobalId(u64::from(self.globals[self.local.index()]))
    }
}

/// The general program.
pub trait VertexProgram: Sync {
    /// What a vertex knows. Lives at its master.
    type State: Copy + Send + Sync;
    /// What a vertex sends along its edges.
    type Message: AtomicValue + Default;
    /// How several messages of one vertex become one, where a host receives them before it spreads the
    /// first: `along` an edge, one message must come to the same as all. Where that cannot be it is
    /// [`Latest`], and hosts have to wait for each other.
    ///
    /// [`Latest`]: parton_sync::reduction::Latest
    type Messages: Reduction<Value = Self::Message>;
    /// How contributions to a vertex become one.
    type Reduction: Reduction<Value: AtomicValue>;
    /// The weight of an edge, or `()` if weights mean nothing.
    type Weight: Weight;

    /// Whether it is [stationary](Properties::stationary), where that is known when it is compiled: what engines do
    /// for other programs only is then not compiled for it.
    const STATIONARY: Option<bool> = None;

    /// A vertex before the first round.
    fn init(&self, vertex: Vertex<'_>) -> Self::State;

    /// What a vertex sends to its neighbours, if anything.
    fn scatter(&self, vertex: Vertex<'_>, state: &Self::State) -> Option<Self::Message>;

    /// What a message becomes on its way along an edge.
    fn along(&self, message: Self::Message, weight: Self::Weight) -> Accumulated<Self>;

    /// Applies what has arrived to the state. Returns whether the vertex must scatter again. What hosts
    /// sum up over all vertices goes into the tally.
    fn apply(
        &self,
        vertex: Vertex<'_>,
        state: &mut Self::State,
        accumulated: Accumulated<Self>,
        tally: &mut Tally,
    ) -> bool;

    /// What engines may rely on.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Learns what all hosts summed up in this round. Returns whether the program has ended.
    fn conclude(&mut self, total: &Tally) -> bool {
        total.active == 0
    }

    /// The value by which the round that was just concluded is judged, the same on all hosts.
    fn measure(&self) -> Option<Measure> {
        None
    }

    /// What the program asks of the round that comes next, after `conclude`; before the first round, of
    /// that one. The same on all hosts.
    fn round(&self) -> Round {
        Round::default()
    }

    /// The state that all vertices without in-edges share in the round that comes next, if the program can
    /// say so: their messages are then sent once. See [`filtering`].
    fn shared_source(&self) -> Option<SharedSource<Self::State>> {
        None
    }

    /// What vertices without in-edges contribute if their shared state is `factor` times the unit: `unit` is
    /// what they contribute in the unit state.
    fn scale(&self, unit: Accumulated<Self>, _factor: f64) -> Accumulated<Self> {
        unit
    }

    /// Vertices of these numbers are left out of all rounds that follow; `conclude` gets sums without them.
    fn leave_out(&mut self, _: LeftOut) {}

    /// `apply` for a vertex that was left out, after the last round: as that round would have done it,
    /// although `conclude` has been called since.
    fn apply_late(
        &self,
        vertex: Vertex<'_>,
        state: &mut Self::State,
        accumulated: Accumulated<Self>,
    ) {
        self.apply(vertex, state, accumulated, &mut Tally::default());
    }

    /// The program for a device, if it has such a form. `#[device]` writes this method.
    fn device(&self) -> Option<DeviceProgram<'_>> {
        None
    }
}

/// Whether a program may be stationary, as far as that is known when it is compiled.
pub(crate) const fn may_be_stationary<P: VertexProgram>() -> bool {
    !matches!(P::STATIONARY, Some(false))
}

/// Whether a program may be other than stationary, as far as that is known when it is compiled.
pub(crate) const fn may_be_otherwise<P: VertexProgram>() -> bool {
    !matches!(P::STATIONARY, Some(true))
}

/// Whether the first label that arrives may be the best, as far as that is known when a relaxation is compiled.
pub(crate) const fn may_win_first<P: Relaxation>() -> bool {
    match P::FORM {
        Some(ProgramForm::Relaxation { first_wins, .. }) => first_wins,
        _ => true,
    }
}

/// What a vertex receives.
pub type Accumulated<P> = <<P as VertexProgram>::Reduction as Reduction>::Value;

/// What a program asks of one round. Programs of several phases, which share the states of vertices, ask for
/// other things in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Every vertex applies, also where nothing has arrived: there `apply` gets the reduction's identity.
    pub applies_everywhere: bool,
    /// Messages travel against the direction that the properties name. A program turns round only when no
    /// vertex has anything to send, and says so in [`Properties::turns`].
    pub is_reversed: bool,
}

/// What a program asks of the round that comes next. An error if its properties rule that out.
pub(crate) fn next_round<P: VertexProgram>(program: &P) -> Result<Round> {
    let round = program.round();
    match round.is_reversed && !program.properties().turns {
        false => Ok(round),
        true => Err(Error::Program {
            program: std::any::type_name::<P>().into(),
            why:
                "messages of the next round travel against the edges that its properties name: set \
                  `Properties::turns`"
                    .into(),
        }),
    }
}

/// What engines may rely on. [`check`] holds programs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Every vertex scatters and applies in every round, whether anything has changed or not: a message
    /// stands until the vertex sends another. `scatter` may return `None` only for a vertex without edges
    /// to send along.
    pub stationary: bool,
    /// Final states do not depend on when, in which order and in how many portions contributions arrive. The program
    /// ends when no vertex has anything to send: it does not count rounds, and needs no sums over all hosts.
    pub any_order: bool,
    /// Which edges messages travel along.
    pub edges: Edges,
    /// About how many rounds the program takes, if that is known: many rounds pay for preparation.
    pub rounds: u64,
    /// Messages travel against the direction of `edges` in some rounds: see [`Round::is_reversed`].
    pub turns: bool,
    /// The state after `apply` depends on what arrived in this round and on values of the whole graph, not on
    /// the state before: only the last messages matter.
    pub last_message_wins: bool,
    /// `conclude` uses no sums over vertices, and no method the number of rounds.
    pub is_local: bool,
}

impl Properties {
    /// Which edges messages travel along in such a round.
    pub fn edges_in(&self, round: Round) -> Edges {
        if round.is_reversed { self.edges.reversed() } else { self.edges }
    }
}

/// Which edges messages travel along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// From source to destination.
    #[default]
    Out,
    /// From destination to source.
    In,
    /// Either way.
    Both,
}

impl Edges {
    /// The same edges by their other ends.
    pub fn reversed(self) -> Self {
        match self {
            Edges::Out => Edges::In,
            Edges::In => Edges::Out,
            Edges::Both => Edges::Both,
        }
    }

    /// At which end contributions are written.
    pub fn written(self) -> End {
        self.reversed().read()
    }

    /// At which end messages are read.
    pub fn read(self) -> End {
        match self {
            Edges::Out => End::Source,
            Edges::In => End::Destination,
            Edges::Both => End::Either,
        }
    }
}

/// A program that visits edge after edge and writes at both ends, on a graph whose vertices are sources or
/// destinations, never both: users and what they rate, documents and words.
///
/// The state of a vertex is a vector, whose width is known when the run begins, at every proxy. A round
/// visits every edge once, on its host, in an order that depends on the edges and a seed alone. Edges that
/// share an end are visited one after the other, so each visit sees what the visits before have written.
/// Then the vectors of a vertex on several hosts become one: their mean, weighted by the edges that each
/// was written along.
pub trait EdgeProgram: Sync {
    /// Elements of a vector, at least 1.
    fn width(&self) -> usize;

    /// The vector a vertex starts with. Every proxy of the vertex asks.
    fn init(&self, vertex: GlobalId, vector: &mut [f32]);

    /// Visits an edge and changes the vectors at its ends. Returns what hosts sum up over all edges.
    fn visit(&self, source: Tip<'_>, destination: Tip<'_>, weight: f32) -> f64;

    /// Learns the sum over all edges of this round. Returns whether the program has ended.
    fn conclude(&mut self, total: f64) -> bool;

    /// The value by which the round that was just concluded is judged.
    fn measure(&self) -> Option<Measure> {
        None
    }
}

/// One end of an edge that an [`EdgeProgram`] visits.
pub struct Tip<'v> {
    /// The vertex's vector at this host.
    pub vector: &'v mut [f32],
    /// Over how many hosts the edges of the vertex are spread: 1 if all are here, `n` if `n` hosts have
    /// equally many. The mean over hosts keeps this many times less of what one edge writes.
    pub spread: f32,
}

/// A program of one label per vertex: state, message and contribution are the same, and folding a label in
/// twice changes nothing. Labels only ever improve, so engines use them as soon as they arrive, in any
/// order.
pub trait Relaxation: Sync {
    /// The label of a vertex.
    type Label: Number;
    /// How two labels become the better one: idempotent.
    type Reduction: Reduction<Value = Self::Label>;
    /// The weight of an edge, or `()` if weights mean nothing.
    type Weight: Weight;

    /// Whether [`passes`](Self::passes) stops labels at some edges.
    const FILTERS: bool = false;

    /// What it is to engines, where that is known when it is compiled: engines that it does not fit are then not
    /// compiled for it.
    const FORM: Option<ProgramForm> = None;

    /// The label a vertex starts with, if any. Engines ask at every proxy; all proxies of a vertex must
    /// answer the same.
    fn start(&self, vertex: Vertex<'_>) -> Option<Self::Label>;

    /// A label at the other end of an edge: never better than it was, and no worse than what becomes of a
    /// worse label along the same edge.
    fn relax(&self, label: Self::Label, weight: Self::Weight) -> Self::Label;

    /// Whether labels pass an edge, from the proxy `from` to the proxy `to`. The answer must not change
    /// during a run. Engines ask only if [`FILTERS`](Self::FILTERS).
    #[inline]
    fn passes(&self, _from: LocalId, _to: LocalId, _weight: Self::Weight) -> bool {
        true
    }

    /// Which edges labels travel along.
    fn edges(&self) -> Edges {
        Edges::Out
    }

    /// Whether all edges are the same, and the better of two labels stays the better one along them. A
    /// vertex whose label is as good as the frontier can give then stops looking. In level-synchronous
    /// rounds all vertices of a level get the same label, so the first neighbour found decides.
    fn first_wins(&self) -> bool {
        false
    }

    /// Whether labels pass edges unchanged, in both directions, so that all vertices of a component end
    /// with the same label, and each vertex starts with a label of its own.
    fn passes_unchanged(&self) -> bool {
        false
    }

    /// The bucket of a label in delta-stepping: labels of lower buckets are spread first.
    #[inline]
    fn bucket(&self, _label: Self::Label) -> usize {
        0
    }

    /// The program for a device, if it has such a form. `#[device]` writes this method.
    fn device(&self) -> Option<DeviceProgram<'_>> {
        None
    }
}

impl<R: Relaxation> VertexProgram for R {
    type State = R::Label;
    type Message = R::Label;
    type Messages = R::Reduction;
    type Reduction = R::Reduction;
    type Weight = R::Weight;
    const STATIONARY: Option<bool> = Some(false);

    fn init(&self, vertex: Vertex<'_>) -> R::Label {
        self.start(vertex).unwrap_or_else(R::Reduction::identity)
    }

    fn scatter(&self, _: Vertex<'_>, label: &R::Label) -> Option<R::Label> {
        (*label != R::Reduction::identity()).then_some(*label)
    }

    fn along(&self, label: R::Label, weight: R::Weight) -> R::Label {
        self.relax(label, weight)
    }

    fn apply(&self, _: Vertex<'_>, label: &mut R::Label, other: R::Label, _: &mut Tally) -> bool {
        let better = R::Reduction::combine(*label, other);
        let changed = better != *label;
        *label = better;
        changed
    }

    fn properties(&self) -> Properties {
        Properties { any_order: true, edges: self.edges(), ..Properties::default() }
    }
}
