//! Single-source shortest paths: the least sum of weights from a root to every vertex.
//!
//! Distances of whole-numbered weights are whole numbers of 32 bits where no path can exceed them
//! and of 64 bits elsewhere, so that they never wrap; others are doubles. Edges without weights
//! count 1.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

use parton_engine::{EngineInfo, Relaxation, Vertex, engines};
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
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    /// For whole numbers: its logarithm to the base 2.
    shift: u32,
    /// For real numbers: its inverse.
    inverse: f64,
}

impl Delta {
    /// Buckets before the last, which takes all the rest: there is an array of them.
    const MAX_BUCKETS: usize = 1 << 16;

    /// Buckets of this width.
    fn new(width: f64) -> Self {
        Delta { shift: width.log2().round().clamp(0.0, 31.0) as u32, inverse: 1.0 / width }
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
}

/// A distance that grows by weights of type `W`.
pub trait Distance<W>: Number {
    /// The distance at the other end of an edge. Saturates.
    fn along(self, weight: W) -> Self;

    /// The bucket that it falls into.
    fn bucket(self, delta: Delta) -> usize;

    /// A column of distances.
    fn column(distances: Vec<Self>) -> Values;

    /// The distances in a column.
    fn in_column(values: &Values) -> Option<&[Self]>;
}

macro_rules! distance {
    ($distance:ty, $weight:ty, $values:ident, $along:expr, $bucket:expr) => {
        impl Distance<$weight> for $distance {
            #[inline]
            fn along(self, weight: $weight) -> Self {
                $along(self, weight)
            }

            #[inline]
            fn bucket(self, delta: Delta) -> usize {
                ($bucket(self, delta) as usize).min(Delta::MAX_BUCKETS)
            }

            fn column(distances: Vec<Self>) -> Values {
                Values::$values(distances)
            }

            fn in_column(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$values(distances) => Some(distances),
                    _ => None,
                }
            }
        }
    };
}

fn narrow(distance: u32, delta: Delta) -> u32 {
    distance >> delta.shift
}

fn real(distance: f64, delta: Delta) -> f64 {
    distance * delta.inverse
}

distance!(u32, (), U32, |distance: u32, ()| distance.saturating_add(1), narrow);
distance!(u32, u32, U32, u32::saturating_add, narrow);
distance!(
    u64,
    u32,
    U64,
    |distance: u64, weight| distance.saturating_add(u64::from(weight)),
    |distance: u64, delta: Delta| distance >> delta.shift
);
distance!(f64, f32, F64, |distance, weight| distance + f64::from(weight), real);
distance!(f64, f64, F64, |distance: f64, weight| distance + weight, real);

impl<D: Distance<W>, W: Weight> Relaxation for Distances<D, W> {
    type Label = D;
    type Reduction = Min<D>;
    type Weight = W;

    fn start(&self, vertex: Vertex<'_>) -> Option<D> {
        (Some(vertex.id()) == self.root).then_some(D::ZERO)
    }

    #[inline]
    fn relax(&self, distance: D, weight: W) -> D {
        distance.along(weight)
    }

    #[inline]
    fn bucket(&self, distance: D) -> usize {
        distance.bucket(self.delta)
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
    let Weights { least, greatest, sum } = weights;
    if least < 0.0 {
        return Err(Error::Data(format!(
            "shortest paths need weights of at least 0, but an edge has weight {least}"
        )));
    }
    // No path is longer than this; where it is infinite, a vertex in reach could seem out of reach.
    if !sum.min(greatest * vertices as f64).is_finite() {
        return Err(Error::Data(format!(
            "weights up to {greatest:e} can add up to distances that a double cannot hold: scale \
             them down"
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
}

/// What suits the graph of a job.
struct Suitable {
    types: Types,
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
    let (mean, degree) = (all.sum / edges.max(1) as f64, job.average_degree());
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
    Ok(Suitable { types, delta: Delta::new(width), engine, why })
}

fn search<D: Distance<W>, W: Weight>(
    job: &mut Job<'_, '_>,
    root: Option<GlobalId>,
    suitable: Suitable,
) -> Result<Answer> {
    let Suitable { delta, engine, why, .. } = suitable;
    let program = Distances::<D, W> { root, delta, types: PhantomData };
    let (engine, why) = job.engine(&Sssp, engine, || why)?;
    let labelled = traversal::label(job, &program, engine)?;
    Ok(labelled.answer((engine, why), "distance", D::column))
}

fn certify<D: Distance<W>, W: Weight>(
    job: &mut Job<'_, '_>,
    root: Option<GlobalId>,
    values: &Values,
) -> Result<Option<String>> {
    let distances = D::in_column(values).expect("the types depend on the graph alone");
    certificate::relaxation(job, &Distances::<D, W>::new(root), distances)
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
        &[engines::PUSH, engines::FRONTIER, engines::PULL, engines::DELTA]
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
        let types = suitable(job, root.as_ref())?.types;
        let root = root.map(|found| found.vertex);
        with_types!(types, certify(job, root, &answer.columns[0].values))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        let weights = with_csr!(&graph.adjacency, csr => Weights::of(csr.all_weights()));
        let kind = graph.adjacency.weight_kind();
        let types = types(kind, graph.num_vertices() as u64, weights)?;
        let root = options.own::<SsspOptions>().root.find_in(graph)?;
        let values = with_types!(types, dijkstra(graph, root));
        Ok(vec![Column { name: "distance", values }])
    }
}

fn dijkstra<D: Distance<W>, W: Weight>(graph: &Graph, root: Option<usize>) -> Values {
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
            let longer = distance.along(weight);
            if longer < distances[target.index()] {
                distances[target.index()] = longer;
                queue.push(Nearest(longer, target.index()));
            }
        }
    }
    D::column(distances)
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
