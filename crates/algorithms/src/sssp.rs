//! Single-source shortest paths: the least sum of weights from a root to every vertex.
//!
//! Distances of whole-numbered weights are whole numbers of 32 bits where no path can exceed them
//! and of 64 bits elsewhere, so that they never wrap; others are doubles. Edges without weights
//! count 1.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

use parton_engine::{DeviceType, EngineInfo, Relaxation, Vertex, device, engines};
use parton_graph::{GlobalId, Graph, LocalId, Weight, WeightKind, parallel, with_csr};
use parton_sync::reduction::Min;
use parton_sync::value::Number;

use crate::algorithm::{Access, Algorithm, Job};
use crate::answer::{Answer, Column, Values};
use crate::certificate;
use crate::error::{Error, Result};
use crate::needs::{Needs, WeightNeed};
use crate::options::{OptionSet, Options};
use crate::root::{Root, RootVertex};
use crate::traversal;

/// Single-source shortest paths.
pub struct Sssp;

crate::options! {
    /// What one can ask of shortest paths.
    pub struct SsspOptions {
        /// Where a search starts: an original id, or max-degree, the vertex of most out-edges.
        root: Root = Root::MaxDegree;
        /// Width of the buckets of distances of engine delta.
        delta: Option<f64> = None, value_name = "WIDTH", unset = "as suits weights and degrees";
    }
}

/// Distances of type `D` from a root over weights of type `W`.
pub struct Distances<D, W> {
    /// Distance 0; `None` in a graph without vertices.
    pub root: Option<GlobalId>,
    /// Distances that differ by less are as good as equal when it comes to whose turn it is.
    delta: Delta,
    types: PhantomData<fn(W) -> D>,
}

/// The width of a bucket of distances.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Delta {
    /// For real numbers: its inverse.
    inverse: f64,
    /// For whole numbers: its logarithm to the base 2.
    shift: u64,
}

/// Buckets before the last, which takes all the rest: there is an array of them.
const MAX_BUCKETS: usize = 1 << 16;

impl Delta {
    /// Buckets of this width.
    pub fn new(width: f64) -> Self {
        Delta { shift: width.log2().round().clamp(0.0, 31.0) as u64, inverse: 1.0 / width }
    }
}

/// The width of buckets for delta-stepping (Meyer, Sanders 2003) that suits weights of this mean on
/// this many edges per vertex. Wider buckets waste more relaxations, narrower ones leave less to do at
/// a time. Where vertices have many edges, distances lie closer together and more relaxations are
/// wasted; more still where most edges leave a few vertices.
fn suitable_width(mean_weight: f64, mean_degree: f64, degree_of_edges: f64) -> f64 {
    let mean_degree = mean_degree.max(1.0);
    let uneven = (degree_of_edges / mean_degree / MIN_DEGREE_RATIO).max(1.0);
    (8.0 * mean_weight / (mean_degree.powf(1.5) * uneven.sqrt())).max(f64::MIN_POSITIVE)
}

/// Uneven degrees matter from here on: the mean degree of an edge's source by the mean degree of a
/// vertex.
const MIN_DEGREE_RATIO: f64 = 8.0;

impl<D, W> Distances<D, W> {
    /// Distances from `root`, all of them in one bucket.
    pub fn new(root: Option<GlobalId>) -> Self {
        Distances { root, delta: Delta { shift: 31, inverse: 0.0 }, types: PhantomData }
    }

    /// The same in buckets of this width.
    pub(crate) fn with_delta(self, delta: Delta) -> Self {
        Distances { delta, ..self }
    }
}

/// A type of distances.
pub trait Distance: Number + DeviceType {
    /// A column of distances.
    fn column(distances: Vec<Self>) -> Values;

    /// The distances in a column.
    fn in_column(values: &Values) -> Option<&[Self]>;
}

macro_rules! distance {
    ($($distance:ty: $values:ident),+) => {
        $(impl Distance for $distance {
            fn column(distances: Vec<Self>) -> Values {
                Values::$values(distances)
            }

            fn in_column(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$values(distances) => Some(distances),
                    _ => None,
                }
            }
        })+
    };
}

distance!(u32: U32, u64: U64, f64: F64);

#[device]
impl<D: Distance, W: Weight + DeviceType> Relaxation for Distances<D, W> {
    type Label = D;
    type Reduction = Min<D>;
    type Weight = W;

    fn start(&self, vertex: Vertex<'_>) -> Option<D> {
        (Some(vertex.id()) == self.root).then_some(D::ZERO)
    }

    /// Saturates.
    #[inline]
    fn relax(&self, distance: D, weight: W) -> D {
        distance.saturating_plus(D::from_weight(weight))
    }

    #[inline]
    fn bucket(&self, distance: D) -> usize {
        let bucket = if D::ROUNDS {
            (distance.to_f64() * self.delta.inverse) as usize
        } else {
            (distance.to_u64() >> self.delta.shift) as usize
        };
        bucket.min(MAX_BUCKETS)
    }
}

/// The types of distances and weights that a graph needs.
#[derive(Clone, Copy)]
enum Types {
    Unweighted,
    Narrow,
    Wide,
    F32,
    F64,
}

/// Calls a generic function with the distance and weight types that a graph needs.
macro_rules! with_types {
    ($types:expr, $function:ident($($argument:expr),*)) => {
        match $types {
            Types::Unweighted => $function::<u32, ()>($($argument),*),
            Types::Narrow => $function::<u32, u32>($($argument),*),
            Types::Wide => $function::<u64, u32>($($argument),*),
            Types::F32 => $function::<f64, f32>($($argument),*),
            Types::F64 => $function::<f64, f64>($($argument),*),
        }
    };
}

/// Types that distances over such weights fit.
fn types(kind: WeightKind, vertices: u64, weights: Weights) -> Result<Types> {
    let Weights { least, greatest, .. } = weights;
    if least < 0.0 {
        return Err(Error::Data(format!(
            "shortest paths need weights of at least 0, but an edge has weight {least}"
        )));
    }
    Ok(match kind {
        WeightKind::None => Types::Unweighted,
        WeightKind::U32 if greatest * vertices as f64 >= f64::from(u32::MAX) => Types::Wide,
        WeightKind::U32 => Types::Narrow,
        WeightKind::F32 => Types::F32,
        WeightKind::F64 => Types::F64,
    })
}

/// What the weights of a graph are like.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Weights {
    least: f64,
    greatest: f64,
    sum: f64,
}

impl Weights {
    fn of<W: Weight>(weights: &[W]) -> Self {
        let none = Weights { least: 0.0, greatest: 0.0, sum: 0.0 };
        if size_of::<W>() == 0 {
            return Weights { sum: weights.len() as f64, ..none };
        }
        let of_piece = |piece: &&[W]| {
            piece.iter().map(|weight| weight.to_f64()).fold(none, |all, weight| {
                all.with(Weights { least: weight, greatest: weight, sum: weight })
            })
        };
        // Sums are rounded piece by piece: the same for any number of threads.
        let pieces: Vec<_> = weights.chunks(1 << 16).collect();
        parallel::map(&pieces, of_piece).into_iter().fold(none, Weights::with)
    }

    fn with(self, other: Weights) -> Self {
        Weights {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            sum: self.sum + other.sum,
        }
    }

    /// True if distances may overflow: no path is longer than this bound.
    fn may_overflow(self, vertices: u64) -> bool {
        !self.sum.min(self.greatest * vertices as f64).is_finite()
    }

    /// Their mean; the greatest where their sum overflows.
    fn mean(self, edges: u64) -> f64 {
        match self.sum.is_finite() {
            true => self.sum / edges.max(1) as f64,
            false => self.greatest,
        }
    }
}

/// The error for a path longer than the greatest double.
fn overflow() -> Error {
    Error::Data("weights add up to distances that a double cannot hold: scale them down".into())
}

/// What suits the graph of a job.
struct Suitable {
    types: Types,
    /// True if the labels of a run must be searched for overflows.
    may_overflow: bool,
    delta: Delta,
    engine: &'static EngineInfo,
    why: String,
}

/// What suits the graph of a job. Every host must call this.
fn suitable(job: &mut Job<'_, '_>, root: Option<&RootVertex>) -> Result<Suitable> {
    let partition = job.substrate.partition();
    let mine = with_csr!(partition.edges(), csr => Weights::of(csr.all_weights()));
    let all = job.substrate.net().all_reduce(mine, Weights::with)?;
    let (vertices, edges) = (partition.num_vertices(), partition.num_edges());
    let (mean, degree) = (all.mean(edges), job.average_degree());
    let of_edges = root.map_or(degree, |root| root.degree_of_edges);
    let asked = job.options.own::<SsspOptions>().delta;
    let width = asked.unwrap_or_else(|| suitable_width(mean, degree, of_edges));
    let kind = partition.edges().weight_kind();
    let types = types(kind, vertices, all)?;
    let (engine, why) = if kind == WeightKind::None {
        (engines::FRONTIER, format!("without weights, average degree {degree:.1}: level by level"))
    } else {
        let why =
            format!("mean weight {mean:.3}, average degree {degree:.1}: buckets {width:.3} wide");
        (engines::DELTA, why)
    };
    let may_overflow = all.may_overflow(vertices);
    Ok(Suitable { types, may_overflow, delta: Delta::new(width), engine, why })
}

fn search<D: Distance, W: Weight + DeviceType>(
    job: &mut Job<'_, '_>,
    root: Option<GlobalId>,
    suitable: Suitable,
) -> Result<Answer> {
    let Suitable { may_overflow, delta, engine, why, .. } = suitable;
    let program = Distances::<D, W>::new(root).with_delta(delta);
    let (engine, why) = job.engine(&Sssp, engine, || why)?;
    let labelled = traversal::label(job, &program, engine)?;
    // An infinite distance looks like a vertex out of reach.
    if may_overflow && certificate::has_overflow(job, &program, &labelled.labels)? {
        return Err(overflow());
    }
    Ok(labelled.answer((engine, why), "distance", D::column))
}

fn certify<D: Distance, W: Weight + DeviceType>(
    job: &mut Job<'_, '_>,
    root: Option<GlobalId>,
    may_overflow: bool,
    values: &Values,
) -> Result<Option<String>> {
    let distances = D::in_column(values).expect("the types depend on the graph alone");
    let program = Distances::<D, W>::new(root);
    if may_overflow && certificate::has_overflow(job, &program, distances)? {
        return Err(overflow());
    }
    certificate::relaxation(job, &program, distances)
}

impl Algorithm for Sssp {
    fn name(&self) -> &'static str {
        "sssp"
    }

    fn about(&self) -> &'static str {
        "shortest paths: the least sum of weights from the root"
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(SsspOptions::default())
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[engines::PUSH, engines::FRONTIER, engines::PULL, engines::SPMV, engines::DELTA]
    }

    fn access(&self, options: &Options) -> Access {
        match options.engine {
            None | Some(engines::DELTA) => Access::SourcesThenDestinations,
            Some(_) => Access::Sources,
        }
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        let delta = options.own::<SsspOptions>().delta;
        match delta.filter(|delta| !(*delta > 0.0 && delta.is_finite())) {
            None => Ok(()),
            Some(delta) => {
                Err(Error::Request(format!("`delta` {delta}: expected a width above 0")))
            }
        }
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs { weights: WeightNeed::Used, ..Needs::default() }
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        None
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let root = job.options.own::<SsspOptions>().root.find(job.substrate)?;
        let vertex = root.as_ref().map(|found| found.vertex);
        let suitable = suitable(job, root.as_ref())?;
        let mut answer = with_types!(suitable.types, search(job, vertex, suitable))?;
        traversal::sum_up(job, &mut answer, root)?;
        Ok(answer)
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let root = job.options.own::<SsspOptions>().root.find(job.substrate)?;
        let Suitable { types, may_overflow, .. } = suitable(job, root.as_ref())?;
        let root = root.map(|found| found.vertex);
        with_types!(types, certify(job, root, may_overflow, &answer.columns[0].values))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let weights = with_csr!(&graph.adjacency, csr => Weights::of(csr.all_weights()));
        let kind = graph.adjacency.weight_kind();
        let types = types(kind, graph.num_vertices() as u64, weights)?;
        let root = options.own::<SsspOptions>().root.find_in(graph)?;
        let values = with_types!(types, dijkstra(graph, root))?;
        Ok(vec![Column { name: "distance", values }])
    }
}

fn dijkstra<D: Distance, W: Weight>(graph: &Graph, root: Option<usize>) -> Result<Values> {
    let edges = parton_engine::EdgeView::<W>::new(&graph.adjacency);
    let mut distances = vec![D::GREATEST; graph.num_vertices()];
    let mut queue = BinaryHeap::new();
    if let Some(root) = root {
        distances[root] = D::ZERO;
        queue.push(Nearest(D::ZERO, root));
    }
    while let Some(Nearest(distance, vertex)) = queue.pop() {
        if distance > distances[vertex] {
            continue;
        }
        for (target, weight) in edges.rows().edges(LocalId(vertex as u32)) {
            let longer = distance.saturating_plus(D::from_weight(weight));
            if longer < distances[target.index()] {
                distances[target.index()] = longer;
                queue.push(Nearest(longer, target.index()));
            }
        }
    }
    let overflows = |vertex: usize| {
        let mut edges = edges.rows().edges(LocalId(vertex as u32));
        distances[vertex] != D::GREATEST
            && edges.any(|(target, _)| distances[target.index()] == D::GREATEST)
    };
    match (0..distances.len()).any(overflows) {
        true => Err(overflow()),
        false => Ok(D::column(distances)),
    }
}

/// A vertex in the queue, the nearest greatest.
struct Nearest<D>(D, usize);

impl<D: PartialOrd> Ord for Nearest<D> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.partial_cmp(&self.0).expect("distances are numbers")
    }
}

impl<D: PartialOrd> PartialOrd for Nearest<D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<D: PartialOrd> PartialEq for Nearest<D> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<D: PartialOrd> Eq for Nearest<D> {}
