//! What users write: programs whose shape states what they access.
//!
//! `scatter` sees a vertex's state alone, `along` a message and an edge, the reduction two
//! contributions, `apply` a vertex's state and what came in. So it is known which values travel and
//! when, and the same program runs on every engine, policy, pace and device.

use parton_graph::{GlobalId, LocalId, Weight};
use parton_partition::End;
use parton_sync::value::Number;
use parton_sync::{AtomicValue, Reduction, Tally};

use crate::engine::Measure;

/// A vertex as its master sees it.
#[derive(Clone, Copy)]
pub struct Vertex<'p> {
    /// Its place among this host's masters.
    pub local: LocalId,
    globals: &'p [u32],
}

impl<'p> Vertex<'p> {
    /// The master at a place, if these are the vertices that local ids stand for.
    #[inline(always)]
    pub fn new(globals: &'p [u32], local: LocalId) -> Self {
        Vertex { local, globals }
    }

    /// Its number in the whole graph.
    #[inline]
    pub fn id(self) -> GlobalId {
        GlobalId(u64::from(self.globals[self.local.index()]))
    }
}

/// The general program.
pub trait VertexProgram: Sync {
    /// What a vertex knows. Lives at its master.
    type State: Copy + Send + Sync;
    /// What a vertex tells along its edges.
    type Message: AtomicValue + Default;
    /// How messages of one vertex that were told in turn become one that is told instead, where a
    /// host hears several before it looks: then `along` one edge they must come to the same. Where
    /// each message stands for itself it is [`Latest`], and hosts have to wait for each other.
    ///
    /// [`Latest`]: parton_sync::reduction::Latest
    type Messages: Reduction<Value = Self::Message>;
    /// How contributions to a vertex become one.
    type Reduction: Reduction<Value: AtomicValue>;
    /// What it wants to know of an edge: its weight, or `()` for nothing.
    type Weight: Weight;

    /// A vertex before the first round.
    fn init(&self, vertex: Vertex<'_>) -> Self::State;

    /// What a vertex tells its neighbours; `None` when it has nothing to tell.
    fn scatter(&self, vertex: Vertex<'_>, state: &Self::State) -> Option<Self::Message>;

    /// What a message becomes on its way along an edge.
    fn along(&self, message: Self::Message, weight: Self::Weight) -> Accumulated<Self>;

    /// Takes in what has come; whether the vertex must scatter again. What hosts should sum up
    /// over all vertices goes into the tally.
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

    /// Learns what all hosts summed up in this round; whether the program has ended.
    fn conclude(&mut self, total: &Tally) -> bool {
        total.active == 0
    }
}

/// What a vertex receives.
pub type Accumulated<P> = <<P as VertexProgram>::Reduction as Reduction>::Value;

/// What engines may rely on. A check in the tests holds programs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Every vertex scatters and applies in every round, whether anything has changed or not: its
    /// message stands until it tells another. `scatter` may say `None` only for a vertex without
    /// edges to tell along.
    pub stationary: bool,
    /// What vertices end with does not depend on when, in which order and in how many portions
    /// contributions reach them, and the program ends when nobody has anything to tell: it does
    /// not count rounds, and needs no sums over all hosts.
    pub any_order: bool,
    /// Which edges messages take.
    pub edges: Edges,
    /// About how many rounds it takes, if that is known: many are worth preparing for.
    pub rounds: u64,
}

/// Which edges messages take.
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
    /// The same edges from their other ends.
    pub fn turned(self) -> Self {
        match self {
            Edges::Out => Edges::In,
            Edges::In => Edges::Out,
            Edges::Both => Edges::Both,
        }
    }

    /// At which end contributions are written.
    pub fn written(self) -> End {
        self.turned().read()
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

/// A program that goes from edge to edge and writes at both ends, on a graph whose vertices are
/// sources or destinations, never both: users and what they rate, documents and words.
///
/// What a vertex knows is a vector, of a width that is known when the run begins, at every proxy.
/// In a round every edge is visited once, on its host, in an order that depends on the edges and a
/// seed alone; visits of edges that share an end happen one after the other, so each sees what
/// those before have left. Then the vectors of a vertex on several hosts become one: their mean,
/// weighted by the edges that each was written along.
pub trait EdgeProgram: Sync {
    /// Elements of a vector, at least 1.
    fn width(&self) -> usize;

    /// The vector a vertex starts with. Every proxy of the vertex asks.
    fn init(&self, vertex: GlobalId, vector: &mut [f32]);

    /// Looks at an edge and changes what is at its ends; what is summed up over all edges.
    fn visit(&self, source: Tip<'_>, destination: Tip<'_>, weight: f32) -> f64;

    /// Learns what all edges summed up in this round; whether the program has ended.
    fn conclude(&mut self, total: f64) -> bool;

    /// What the round that was just concluded is judged by.
    fn measure(&self) -> Option<Measure> {
        None
    }
}

/// One end of an edge, as an [`EdgeProgram`] finds it.
pub struct Tip<'v> {
    /// What the vertex knows there.
    pub vector: &'v mut [f32],
    /// Over how many hosts the edges of the vertex are spread: 1 if they are all here, `n` if `n`
    /// hosts have as many each. Of what is written along one edge the mean keeps so much less.
    pub spread: f32,
}

/// A program of one label per vertex: state, message and contribution are the same, and folding a
/// label in twice does no harm. Labels only ever improve, so they may be used the moment they are
/// there, in any order.
pub trait Relaxation: Sync {
    /// What improves.
    type Label: Number;
    /// What improving means: idempotent.
    type Reduction: Reduction<Value = Self::Label>;
    /// What it wants to know of an edge.
    type Weight: Weight;

    /// The label a vertex starts with, if any. Every proxy of the vertex asks.
    fn start(&self, vertex: GlobalId) -> Option<Self::Label>;

    /// A label at the other end of an edge: never better than it was, and if another is better, what
    /// becomes of that along the same edge is no worse.
    fn relax(&self, label: Self::Label, weight: Self::Weight) -> Self::Label;

    /// Which edges labels take.
    fn edges(&self) -> Edges {
        Edges::Out
    }

    /// Whether all edges are the same, and the better of two labels stays the better one along
    /// them: whoever has got as good a label as the frontier can give need not ask further. When
    /// rounds go level by level, all that get a label in one round get the same, so that is the
    /// first neighbour asked that has one.
    fn first_wins(&self) -> bool {
        false
    }

    /// Whether labels go through edges as they are, either way, so that all vertices that edges
    /// join end with the same one, and each vertex starts with one of its own.
    fn passes_unchanged(&self) -> bool {
        false
    }

    /// In which turn a label is best spread: those of lower buckets first.
    #[inline]
    fn bucket(&self, _label: Self::Label) -> usize {
        0
    }
}

impl<R: Relaxation> VertexProgram for R {
    type State = R::Label;
    type Message = R::Label;
    type Messages = R::Reduction;
    type Reduction = R::Reduction;
    type Weight = R::Weight;

    fn init(&self, vertex: Vertex<'_>) -> R::Label {
        self.start(vertex.id()).unwrap_or_else(R::Reduction::identity)
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
