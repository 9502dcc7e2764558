//! One host's data of a compiled program, and the loops that its code runs.

use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use parton_engine::device::operators::NumberFaults;
use parton_engine::{DirectionRows, Directions, Edges};
use parton_graph::{LocalId, VertexSet, Weight, parallel};
use parton_partition::Partition;
use parton_plan::EdgeDirection;
use parton_sync::reduction::Latest;
use parton_sync::{AtomicValue, CpuField, Reduction};

use crate::code::{Element, Uniform};
use crate::column::AnyColumn;

/// Vertices that a thread visits at a time. The same for any number of threads, as sums of floating-point
/// numbers are rounded task by task.
const VERTICES_PER_TASK: usize = 1 << 10;

/// One host's data of a compiled program, with its edges.
pub struct Host<'a, W: Weight> {
    pub(crate) data: HostData<'a>,
    edges: [OnceLock<Directions<'a, W>>; 3],
}

/// One host's data of a compiled program that is the same for all types of weights: users' crates compile none of it.
pub struct HostData<'a> {
    pub(crate) partition: &'a Partition,
    pub(crate) columns: Vec<Box<dyn AnyColumn>>,
    /// Worklists, of masters.
    pub(crate) lists: Vec<VertexSet>,
    pub(crate) scalars: Vec<u64>,
    /// What this host has folded into scalars and other hosts do not know yet.
    pub(crate) partial: Mutex<Tallies>,
    identity: Vec<u64>,
    pub(crate) fold: Box<dyn Fn(usize, u64, u64) -> u64 + Send + Sync + 'a>,
    /// The vertices that the next part visits.
    pub(crate) vertices: Vertices,
    /// Masters that will visit their edges.
    pub(crate) activated: VertexSet,
    /// Out- and in-degrees of masters, where the program asks.
    pub(crate) degrees: [Vec<u64>; 2],
    faults: SharedFaults,
}

impl<'a, W: Weight> Deref for Host<'a, W> {
    type Target = HostData<'a>;

    #[inline]
    fn deref(&self) -> &HostData<'a> {
        &self.data
    }
}

/// What threads have found out of [`NumberFaults`].
#[derive(Debug, Default)]
struct SharedFaults {
    underflow: AtomicBool,
    overflow: AtomicBool,
}

/// The vertices that a part visits.
#[derive(Clone, Debug)]
pub(crate) enum Vertices {
    /// The first ones.
    First(usize),
    /// These.
    These(Vec<LocalId>),
}

/// What one thread has folded into scalars: bits, by number.
#[derive(Clone, Debug, Default)]
pub struct Tallies(pub(crate) Vec<u64>);

impl Tallies {
    /// Folds a value into a scalar.
    #[inline]
    pub fn fold<R: Reduction<Value: Element>>(&mut self, scalar: usize, value: R::Value) {
        let old = R::Value::of_bits(self.0[scalar]);
        self.0[scalar] = R::combine(old, value).to_bits();
    }

    /// Folds bits into a scalar.
    pub fn fold_bits(&mut self, scalar: usize, value: u64, fold: impl Fn(u64, u64) -> u64) {
        self.0[scalar] = fold(self.0[scalar], value);
    }
}

/// The edges of a vertex on this host.
pub struct VertexEdges<'v, W: Weight> {
    rows: DirectionRows<'v, W>,
    vertex: LocalId,
}

impl<W: Weight> VertexEdges<'_, W> {
    /// Calls `visit` with the other end and the weight of each edge, and `prefetch` with ends some edges before
    /// their turn.
    #[inline(always)]
    pub fn each(self, prefetch: impl FnMut(LocalId), visit: impl FnMut(LocalId, W)) {
        self.rows.each(self.vertex, prefetch, visit);
    }
}

impl<'a, W: Weight> Host<'a, W> {
    pub(crate) fn new(data: HostData<'a>) -> Self {
        Host { data, edges: [OnceLock::new(), OnceLock::new(), OnceLock::new()] }
    }

    /// Calls `visit` with every vertex of the part that runs, and with its edges on this host. No other
    /// thread visits the edges of that vertex meanwhile.
    pub fn each_row(
        &self,
        direction: EdgeDirection,
        visit: impl Fn(LocalId, VertexEdges<'_, W>, &mut Tallies) + Sync,
    ) {
        let rows = self.directions(direction).rows();
        self.each(|vertex, tallies| visit(vertex, VertexEdges { rows, vertex }, tallies));
    }

    /// The edges of a direction.
    pub(crate) fn directions(&self, direction: EdgeDirection) -> &Directions<'a, W> {
        let (place, edges) = match direction {
            EdgeDirection::Out => (0, Edges::Out),
            EdgeDirection::In => (1, Edges::In),
            EdgeDirection::Both => (2, Edges::Both),
        };
        self.edges[place].get_or_init(|| Directions::forward(self.data.partition, edges))
    }
}

impl<'a> HostData<'a> {
    pub(crate) fn new(
        partition: &'a Partition,
        columns: Vec<Box<dyn AnyColumn>>,
        num_lists: usize,
        identities: Vec<u64>,
        fold: Box<dyn Fn(usize, u64, u64) -> u64 + Send + Sync + 'a>,
    ) -> Self {
        let masters = partition.num_masters();
        HostData {
            partition,
            columns,
            lists: (0..num_lists).map(|_| VertexSet::new(masters)).collect(),
            scalars: vec![0; identities.len()],
            partial: Mutex::new(Tallies(identities.clone())),
            identity: identities,
            fold,
            vertices: Vertices::First(0),
            activated: VertexSet::new(masters),
            degrees: [Vec::new(), Vec::new()],
            faults: SharedFaults::default(),
        }
    }

    /// What code outside operators sees.
    pub fn uniform(&self) -> Uniform<'_> {
        Uniform {
            scalars: &self.scalars,
            num_vertices: self.partition.num_vertices(),
            num_edges: self.partition.num_edges(),
        }
    }

    /// The values of a column that masters set.
    #[inline]
    pub fn values<T: Element>(&self, number: usize) -> &CpuField<Latest<T>> {
        self.folded::<Latest<T>>(number)
    }

    /// A column of contributions.
    #[inline]
    pub fn folded<R: Reduction<Value: AtomicValue>>(&self, number: usize) -> &CpuField<R> {
        self.columns[number]
            .as_any()
            .downcast_ref()
            .expect("the compiler knows the type of a column")
    }

    /// The number of a vertex.
    #[inline]
    pub fn id(&self, vertex: LocalId) -> u32 {
        self.partition.globals()[vertex.index()]
    }

    /// The number of edges that leave a master's vertex.
    #[inline]
    pub fn out_degree(&self, master: LocalId) -> u64 {
        self.degrees[0][master.index()]
    }

    /// The number of edges that lead to a master's vertex.
    #[inline]
    pub fn in_degree(&self, master: LocalId) -> u64 {
        self.degrees[1][master.index()]
    }

    /// The master will visit the edges of its vertex.
    #[inline]
    pub fn activate(&self, master: LocalId) {
        self.activated.insert(master);
    }

    /// The vertex of a master joins a worklist.
    #[inline]
    pub fn push(&self, list: usize, master: LocalId) {
        self.lists[list].insert(master);
    }

    /// The program subtracted more than there was.
    pub fn underflow(&self) {
        self.faults.underflow.store(true, Ordering::Relaxed);
    }

    /// The value of an operation on whole numbers, which has to fit its type.
    #[inline]
    pub fn fitting<T>(&self, (value, has_wrapped): (T, bool)) -> T {
        if has_wrapped {
            self.faults.overflow.store(true, Ordering::Relaxed);
        }
        value
    }

    pub(crate) fn faults(&self) -> NumberFaults {
        NumberFaults {
            underflow: self.faults.underflow.load(Ordering::Relaxed),
            overflow: self.faults.overflow.load(Ordering::Relaxed),
        }
    }

    /// Calls `visit` with every vertex of the part that runs.
    pub fn each(&self, visit: impl Fn(LocalId, &mut Tallies) + Sync) {
        self.each_piece(&|places, tallies| {
            for place in places {
                let vertex = match &self.vertices {
                    Vertices::First(_) => LocalId(place as u32),
                    Vertices::These(these) => these[place],
                };
                visit(vertex, tallies);
            }
        });
    }

    /// Calls `visit` with places of vertices of the part that runs, many at a time.
    fn each_piece(&self, visit: &(dyn Fn(Range<usize>, &mut Tallies) + Sync)) {
        let identities = self.identities();
        let count = match &self.vertices {
            Vertices::First(count) => *count,
            Vertices::These(these) => these.len(),
        };
        let pieces = parallel::pieces(0..count, VERTICES_PER_TASK);
        let folded = parallel::map(&pieces, |piece| {
            let mut tallies = identities.clone();
            visit(piece.clone(), &mut tallies);
            tallies
        });
        self.join(folded);
    }

    fn identities(&self) -> Tallies {
        Tallies(self.identity.clone())
    }

    fn join(&self, folded: Vec<Tallies>) {
        let mut partial = self.partial.lock().expect("no thread panics while it holds this");
        for tallies in folded {
            for (scalar, bits) in tallies.0.into_iter().enumerate() {
                partial.0[scalar] = (self.fold)(scalar, partial.0[scalar], bits);
            }
        }
    }

    /// What this host has folded into a scalar since the last call.
    pub(crate) fn take_partial(&self, scalar: usize) -> u64 {
        let mut partial = self.partial.lock().expect("no thread panics while it holds this");
        std::mem::replace(&mut partial.0[scalar], self.identity[scalar])
    }

    /// Whether the vertex of a master is on a worklist.
    #[inline]
    pub fn is_listed(&self, list: usize, master: LocalId) -> bool {
        self.lists[list].contains(master)
    }

    /// Calls `visit` with every master and its state.
    pub fn each_state<S: Sync>(&self, states: &[S], visit: impl Fn(LocalId, &S) + Sync) {
        parallel::for_each_index(states.len(), |master| {
            visit(LocalId(master as u32), &states[master]);
        });
    }

    /// What `of` makes of every master.
    pub fn each_master<T: Send>(&self, of: impl Fn(LocalId) -> T + Sync) -> Vec<T> {
        parallel::generate(self.partition.num_masters(), |master| of(LocalId(master as u32)))
    }
}

/// Replaces the value of a master; if it changes, its mirrors will be told where they read it.
#[inline]
pub fn set<T: Element>(column: &CpuField<Latest<T>>, vertex: LocalId, value: T) {
    if column.get(vertex) != value {
        column.put(vertex, value);
        column.update(vertex);
    }
}

/// Gives a master a message for the mirrors of its vertex.
#[inline]
pub fn send<T: Element>(column: &CpuField<Latest<T>>, vertex: LocalId, value: T) {
    column.put(vertex, value);
    column.update(vertex);
}

/// Folds a contribution in at a proxy.
#[inline]
pub fn contribute<R: Reduction<Value: AtomicValue>>(
    column: &CpuField<R>,
    vertex: LocalId,
    value: R::Value,
) {
    column.fold(vertex, value);
    column.touch(vertex);
}

/// The same at a proxy that no other thread gives anything meanwhile.
#[inline]
pub fn contribute_alone<R: Reduction<Value: AtomicValue>>(
    column: &CpuField<R>,
    vertex: LocalId,
    value: R::Value,
) {
    column.fold_alone(vertex, value);
    column.touch(vertex);
}
