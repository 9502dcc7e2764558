//! SpMV: a vertex program as a filtered matrix–vector product that overlaps with communication (LA3: Ahmad,
//! Khattab, Malik, Musleh, Hammoud, Kutlu, Shehata, Elsayed, VLDB'18).
//!
//! A round is `y = Aᵀ x` with the program's `along` and reduction for product and sum. A host's edges are
//! tiles, by the peer that their sources come from and the peer that their destinations go to. Messages of
//! a peer are multiplied as they arrive, partial sums are sent as soon as their last tile is multiplied,
//! a master applies as soon as its last contribution is in, and what it sends goes out at once. The next round
//! begins while hosts still vote on this one. `flow` knows what may happen when; `steps` does it, and `multiply`
//! multiplies.
//!
//! Vertices whose work a program allows to do once are left out of rounds (`filtered`). A program that is not
//! stationary multiplies only the columns of vertices that have something to send. If its states are labels,
//! proxies keep the best label that they have sent or got, and send better ones alone.

mod classes;
mod filtered;
mod flow;
mod multiply;
mod steps;

use std::borrow::Cow;
use std::time::Duration;

use parton_net::HostId;
use parton_partition::Partition;
use parton_sync::{
    CpuField, Delivery, OpenExchange, PendingTotal, Phase, Result, Schedule, Substrate, Tally,
};

use super::frontier::LevelSynchronous;
use super::vertex::{ALL_TAKE_PART, Direction, VertexEngine};
use crate::engine::{Conclusion, Engine, Next, Overlapped, Paced};
use crate::program::filtering::Filter;
use crate::program::{
    Accumulated, Properties, Relaxation, Vertex, VertexProgram, may_be_otherwise, may_be_stationary,
};
use crate::registry::{BuildEngine, EngineInfo, ProgramEngine, RelaxationEngine};
use crate::state::directions::Directions;
use crate::techniques::tiles::Groups;
use filtered::LeftOutVertices;
use flow::{Chunk, Flow};
use multiply::{LabelRules, Matrix};

/// Builds the engine.
pub(super) struct Spmv;

impl BuildEngine for Spmv {
    const INFO: EngineInfo = EngineInfo {
        name: "spmv",
        about: "tiles of edges are multiplied as messages arrive, partial sums sent as they are done",
    };

    fn relaxation<'a, P: Relaxation>(
        program: &'a P,
        partition: &'a Partition,
    ) -> Result<Box<dyn RelaxationEngine<P> + 'a>> {
        // A product knows no edges that some labels do not pass, and devices no tiles.
        match P::FILTERS || partition.is_beside_devices() {
            true => Ok(Box::new(LevelSynchronous::pulling(program, partition, true))),
            false => Ok(Box::new(Product::of_labels(program, partition)?)),
        }
    }

    fn vertex_program<'a, P: VertexProgram + 'a>(
        program: P,
        partition: &'a Partition,
    ) -> Result<Box<dyn ProgramEngine<P> + 'a>> {
        // Devices have no tiles, and all hosts of a run follow one protocol. A host that is alone has nothing
        // to overlap with.
        let is_alone = partition.num_hosts() == 1 && program.properties().stationary;
        match partition.is_beside_devices() || is_alone && !leaves_out_much(&program, partition) {
            true => Ok(Box::new(VertexEngine::new(program, partition, Direction::Pull)?)),
            false => Ok(Box::new(Product::new(program, partition)?)),
        }
    }
}

/// Tiles pay off on a host that is alone if they leave out this share of its edges.
const MIN_SHARE_LEFT_OUT: f64 = 0.3;

/// Whether a host that is alone may leave out enough edges to make tiles worth it.
pub(super) fn leaves_out_much<P: VertexProgram>(program: &P, partition: &Partition) -> bool {
    let (filter, edges) = (Filter::of(program), program.properties().edges);
    let is_candidate = filter.any() && partition.num_hosts() == 1 && !partition.is_beside_devices();
    let left_out = || classes::left_out_share::<P::Weight>(partition, edges, filter);
    is_candidate && left_out() >= MIN_SHARE_LEFT_OUT
}

/// A vertex program on one host, as a product.
pub(super) struct Product<'a, P: VertexProgram> {
    /// States, messages and accumulators.
    base: VertexEngine<'a, P>,
    schedule: Schedule,
    groups: Groups,
    matrix: Matrix<'a, P>,
    /// Vertices that are left out of rounds.
    left_out: Option<LeftOutVertices<P>>,
    /// Masters as they are applied, and the chunks that each host reads.
    chunks: Vec<Chunk>,
    read_by: Vec<Vec<usize>>,
    /// How far the current round has come; `None` before it begins.
    flow: Option<Flow>,
    /// The messages of the current round, on their way; then those of the next.
    broadcast: Option<OpenExchange>,
    /// Whether this host has not sent them yet: after the last round that the program expects nobody needs them.
    keeps_messages: bool,
    account: Account,
    /// Whether hosts do not wait for each other any more: edges are then pushed as they are.
    has_left_rounds: bool,
}

/// What is known of the current round and of those before it.
#[derive(Default)]
struct Account {
    /// A tile that is multiplied in part, as its lane and group, and the block that comes next.
    begun: Option<((usize, usize), usize)>,
    /// Edges visited since the last report of them, and the time that took beside messages.
    edges: u64,
    time: Duration,
    /// What the masters' applying added up to, by chunk.
    tallies: Vec<Tally>,
    /// Whether a master has a message for some edge in the next round.
    is_active: bool,
    /// Rounds that were applied.
    rounds: u64,
}

impl<'a, P: VertexProgram> Product<'a, P> {
    pub(super) fn new(program: P, partition: &'a Partition) -> Result<Self> {
        Ok(Product {
            base: VertexEngine::without_collector(program, partition)?,
            schedule: Schedule::default(),
            groups: Groups::new(partition),
            matrix: Matrix::unprepared(),
            left_out: None,
            chunks: Vec::new(),
            read_by: Vec::new(),
            flow: None,
            broadcast: None,
            keeps_messages: false,
            account: Account::default(),
            has_left_rounds: false,
        })
    }

    fn properties(&self) -> Properties {
        self.base.program.properties()
    }

    /// The field that messages of the next round go to.
    fn next_messages(&mut self) -> &mut CpuField<P::Messages> {
        match &mut self.left_out {
            Some(left_out) => &mut left_out.other_messages,
            None => &mut self.base.messages,
        }
    }

    fn peers(&self) -> impl Iterator<Item = HostId> + use<P> {
        let (me, hosts) = (self.base.partition.host(), self.base.partition.num_hosts());
        HostId::all(hosts).filter(move |&host| host != me)
    }
}

impl<P: VertexProgram> Engine for Product<'_, P> {
    /// Finds classes, makes tiles, and cuts masters into chunks.
    fn prepare(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        self.schedule = substrate.schedule();
        if const { may_be_stationary::<P>() } {
            self.prepare_left_out(substrate)?;
        }
        self.prepare_tiles();
        Ok(())
    }

    fn begin(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        if self.has_left_rounds {
            return self.base.begin(substrate);
        }
        (self.broadcast, self.keeps_messages) = (Some(self.open_broadcast(substrate)), true);
        self.send_kept_messages(substrate)?;
        if !self.schedule.overlap {
            self.receive_messages(substrate)?;
        }
        Ok(())
    }

    /// Multiplies the tiles whose messages are here. An overlapped round does so while messages move.
    fn compute(&mut self) -> Result<u64> {
        if self.has_left_rounds {
            return self.base.compute();
        }
        self.begin_round();
        if !self.schedule.overlap {
            self.multiply_own();
        }
        Ok(std::mem::take(&mut self.account.edges))
    }

    fn exchange(&mut self, phase: Phase, substrate: &mut Substrate<'_>) -> Result<()> {
        match phase {
            _ if self.has_left_rounds => self.base.exchange(phase, substrate),
            Phase::Reduce => self.finish_round(substrate),
            // Messages have been sent as soon as they were there.
            Phase::Broadcast if self.schedule.overlap => Ok(()),
            Phase::Broadcast => self.receive_messages(substrate),
        }
    }

    /// Masters have been applied as soon as their contributions were there.
    fn apply(&mut self) -> Result<Tally> {
        if self.has_left_rounds {
            return self.base.apply();
        }
        self.account.rounds += 1;
        Ok(self.account.tallies.drain(..).fold(Tally::default(), Tally::plus))
    }

    fn next(&mut self) -> Result<Next> {
        match self.has_left_rounds {
            true => self.base.next(),
            false => Ok(Next::new(self.account.is_active)),
        }
    }

    fn conclude(&mut self, total: &Tally, substrate: &mut Substrate<'_>) -> Result<Conclusion> {
        self.base.conclude(total, substrate)
    }

    fn overlapped(&mut self) -> Option<&mut dyn Overlapped> {
        match self.has_left_rounds {
            true => None,
            false => Some(self),
        }
    }

    fn paced(&mut self) -> Result<&mut dyn Paced, &'static str> {
        self.base.paced()?;
        match const { may_be_otherwise::<P>() } {
            true => Ok(self),
            false => Err(ALL_TAKE_PART),
        }
    }
}

impl<P: VertexProgram> Paced for Product<'_, P> {
    /// Nothing is under way: a run that may leave its rounds does not overlap them.
    fn leave_rounds(&mut self, is_governed: bool) {
        self.has_left_rounds = true;
        self.base.take_active();
        self.base.leave_rounds(is_governed);
    }
}

impl<P: VertexProgram> Overlapped for Product<'_, P> {
    fn work_ahead(&mut self, vote: &PendingTotal, substrate: &mut Substrate<'_>) -> Result<()> {
        match self.schedule.overlap {
            true => self.multiply_until(vote, substrate),
            false => Ok(()),
        }
    }

    fn stop_overlapping(&mut self) {
        self.schedule.overlap = false;
    }

    fn take_work(&mut self) -> (u64, Duration) {
        (std::mem::take(&mut self.account.edges), std::mem::take(&mut self.account.time))
    }

    fn finish(&mut self, substrate: &mut Substrate<'_>) -> Result<()> {
        if self.schedule.overlap && !self.keeps_messages {
            self.receive_messages(substrate)?;
        }
        // What was multiplied for a round that does not take place belongs to no round.
        (self.account.edges, self.account.begun) = (0, None);
        match const { may_be_stationary::<P>() } {
            true => self.conclude_left_out(substrate),
            false => Ok(()),
        }
    }
}

impl<P: VertexProgram> ProgramEngine<P> for Product<'_, P> {
    fn states(&self) -> Result<Cow<'_, [P::State]>> {
        Ok(Cow::Borrowed(&self.base.states))
    }

    fn program(&self) -> &P {
        &self.base.program
    }
}

/// A relaxation as the vertex program that it is.
struct LabelProgram<'a, P>(&'a P);

impl<P: Relaxation> VertexProgram for LabelProgram<'_, P> {
    type State = P::Label;
    type Message = P::Label;
    type Messages = P::Reduction;
    type Reduction = P::Reduction;
    type Weight = P::Weight;
    const STATIONARY: Option<bool> = Some(false);

    fn init(&self, vertex: Vertex<'_>) -> P::Label {
        self.0.init(vertex)
    }

    fn scatter(&self, vertex: Vertex<'_>, label: &P::Label) -> Option<P::Label> {
        self.0.scatter(vertex, label)
    }

    #[inline]
    fn along(&self, label: P::Label, weight: P::Weight) -> P::Label {
        self.0.along(label, weight)
    }

    #[inline]
    fn apply(
        &self,
        vertex: Vertex<'_>,
        label: &mut P::Label,
        other: Accumulated<Self>,
        tally: &mut Tally,
    ) -> bool {
        self.0.apply(vertex, label, other, tally)
    }

    fn properties(&self) -> Properties {
        self.0.properties()
    }
}

impl<'a, P: Relaxation> Product<'a, LabelProgram<'a, P>> {
    /// A relaxation: accumulators keep the best label that a proxy has heard of.
    fn of_labels(program: &'a P, partition: &'a Partition) -> Result<Self> {
        let mut product = Product::new(LabelProgram(program), partition)?;
        let globals = partition.globals();
        product.base.accumulators =
            CpuField::new(partition.num_proxies(), Delivery::Label, |proxy| {
                program.init(Vertex::new(globals, proxy))
            });
        let reverse = program.first_wins();
        let reverse = reverse.then(|| Directions::reverse(partition, program.edges()));
        product.matrix.labels = Some(LabelRules { contribution: |label| label, reverse });
        Ok(product)
    }
}

impl<P: Relaxation> RelaxationEngine<P> for Product<'_, LabelProgram<'_, P>> {
    fn labels(&self) -> Result<Vec<P::Label>> {
        Ok(self.base.states.clone())
    }
}
