//! What a program is written with. On one thread, in one memory, and as plain as it looks.

use std::cell::OnceCell;
use std::ops::{Index, IndexMut};

use parton_graph::{Csr, LocalId, Weight};

/// A vertex of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vertex(pub u32);

impl Vertex {
    /// Its number: vertices are numbered in the order of their original ids.
    pub fn id(self) -> u32 {
        self.0
    }
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<W> {
    /// Where it starts; of [`Graph::edges`], the vertex that was asked.
    pub source: Vertex,
    /// Where it ends; of [`Graph::edges`], the other vertex.
    pub target: Vertex,
    /// Its weight.
    pub weight: W,
}

/// A graph in one memory.
#[derive(Clone, Debug)]
pub struct Graph<W: Weight> {
    out: Csr<W>,
    into: OnceCell<Csr<W>>,
}

impl<W: Weight> Graph<W> {
    /// The graph with these edges.
    ///
    /// # Panics
    /// When an edge has no such vertex.
    pub fn new(vertices: usize, edges: &[(u32, u32, W)]) -> Self {
        Graph { out: Csr::from_edges(vertices, edges), into: OnceCell::new() }
    }

    /// Its edges by their sources.
    pub fn csr(&self) -> &Csr<W> {
        &self.out
    }

    /// All vertices, in the order of their numbers.
    pub fn vertices(&self) -> impl Iterator<Item = Vertex> + use<W> {
        (0..self.out.num_vertices() as u32).map(Vertex)
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> u64 {
        self.out.num_vertices() as u64
    }

    /// Number of edges.
    pub fn num_edges(&self) -> u64 {
        self.out.num_edges()
    }

    /// Number of edges that leave a vertex.
    pub fn out_degree(&self, vertex: Vertex) -> u64 {
        self.out.degree(LocalId(vertex.0)) as u64
    }

    /// Number of edges that lead to a vertex.
    pub fn in_degree(&self, vertex: Vertex) -> u64 {
        self.into().degree(LocalId(vertex.0)) as u64
    }

    /// The edges that leave a vertex.
    pub fn out_edges(&self, vertex: Vertex) -> impl Iterator<Item = Edge<W>> + '_ {
        let edges = self.out.edges(LocalId(vertex.0));
        edges.map(move |(end, weight)| Edge { source: vertex, target: Vertex(end.0), weight })
    }

    /// The edges that lead to a vertex.
    pub fn in_edges(&self, vertex: Vertex) -> impl Iterator<Item = Edge<W>> + '_ {
        let edges = self.into().edges(LocalId(vertex.0));
        edges.map(move |(end, weight)| Edge { source: Vertex(end.0), target: vertex, weight })
    }

    /// The edges that leave a vertex, then those that lead to it; `target` is the other end of each.
    pub fn edges(&self, vertex: Vertex) -> impl Iterator<Item = Edge<W>> + '_ {
        let turned = self.in_edges(vertex);
        let turned = turned.map(|edge| Edge { source: edge.target, target: edge.source, ..edge });
        self.out_edges(vertex).chain(turned)
    }

    /// A value for every vertex.
    pub fn field<T: Clone>(&self, value: T) -> Field<T> {
        Field(vec![value; self.out.num_vertices()])
    }

    /// A value for every vertex that depends on the vertex.
    pub fn field_with<T>(&self, value: impl FnMut(Vertex) -> T) -> Field<T> {
        Field(self.vertices().map(value).collect())
    }

    fn into(&self) -> &Csr<W> {
        self.into.get_or_init(|| self.out.transposed())
    }
}

/// With weights as `W`; edges without weights count 1.
impl<W: Weight> From<&parton_graph::Graph> for Graph<W> {
    fn from(graph: &parton_graph::Graph) -> Self {
        let view = parton_engine::EdgeView::<W>::new(&graph.adjacency);
        let vertices = (0..graph.num_vertices() as u32).map(LocalId);
        let edges = vertices.flat_map(|source| {
            let edges = view.rows().edges(source);
            edges.map(move |(target, weight)| (source.0, target.0, weight))
        });
        Graph::new(graph.num_vertices(), &edges.collect::<Vec<_>>())
    }
}

/// A value for every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<T>(Vec<T>);

impl<T> Field<T> {
    /// The values, in the order of vertices.
    pub fn values(&self) -> &[T] {
        &self.0
    }

    /// The values, in the order of vertices.
    pub fn into_values(self) -> Vec<T> {
        self.0
    }
}

impl<T: PartialOrd> Field<T> {
    /// Puts `value` in if it is less than what is there; whether it was.
    pub fn lower(&mut self, vertex: Vertex, value: T) -> bool {
        let old = &mut self[vertex];
        let is_less = value < *old;
        if is_less {
            *old = value;
        }
        is_less
    }

    /// Puts `value` in if it is greater than what is there; whether it was.
    pub fn raise(&mut self, vertex: Vertex, value: T) -> bool {
        let old = &mut self[vertex];
        let is_greater = value > *old;
        if is_greater {
            *old = value;
        }
        is_greater
    }
}

impl<T> From<Vec<T>> for Field<T> {
    fn from(values: Vec<T>) -> Self {
        Field(values)
    }
}

impl<T> Index<Vertex> for Field<T> {
    type Output = T;

    fn index(&self, vertex: Vertex) -> &T {
        &self.0[vertex.0 as usize]
    }
}

impl<T> IndexMut<Vertex> for Field<T> {
    fn index_mut(&mut self, vertex: Vertex) -> &mut T {
        &mut self.0[vertex.0 as usize]
    }
}

/// Updates of one value: `distance[v].lower(through)`.
pub trait Improve: Sized {
    /// Puts `value` in if it is less than what is there; whether it was.
    fn lower(&mut self, value: Self) -> bool;
    /// Puts `value` in if it is greater than what is there; whether it was.
    fn raise(&mut self, value: Self) -> bool;
    /// What is there; nothing is left.
    fn take(&mut self) -> Self;
}

macro_rules! improve {
    ($($type:ty),+) => {
        $(impl Improve for $type {
            fn lower(&mut self, value: Self) -> bool {
                let is_less = value < *self;
                if is_less {
                    *self = value;
                }
                is_less
            }

            fn raise(&mut self, value: Self) -> bool {
                let is_greater = value > *self;
                if is_greater {
                    *self = value;
                }
                is_greater
            }

            fn take(&mut self) -> Self {
                std::mem::take(self)
            }
        })+
    };
}

improve!(u32, u64, i32, i64, f32, f64, bool);

/// A set of vertices that are still to be visited: pushing a member changes nothing. The order of visits
/// is nobody's business.
#[derive(Clone, Debug, Default)]
pub struct Worklist {
    order: std::collections::VecDeque<Vertex>,
    members: std::collections::HashSet<Vertex>,
}

impl Worklist {
    /// Without vertices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex.
    pub fn push(&mut self, vertex: Vertex) {
        if self.members.insert(vertex) {
            self.order.push_back(vertex);
        }
    }

    /// Takes a vertex out.
    pub fn pop(&mut self) -> Option<Vertex> {
        let vertex = self.order.pop_front()?;
        self.members.remove(&vertex);
        Some(vertex)
    }
}

impl<const N: usize> From<[Vertex; N]> for Worklist {
    fn from(vertices: [Vertex; N]) -> Self {
        vertices.into_iter().collect()
    }
}

impl FromIterator<Vertex> for Worklist {
    fn from_iter<I: IntoIterator<Item = Vertex>>(vertices: I) -> Self {
        let mut list = Worklist::new();
        vertices.into_iter().for_each(|vertex| list.push(vertex));
        list
    }
}
