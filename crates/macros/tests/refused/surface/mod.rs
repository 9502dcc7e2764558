//! The names that programs use, so that nothing but their refusal is wrong with them. The real ones are in a crate
//! that uses this one.
#![allow(dead_code, unused_variables)]

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

pub struct Graph<W>(PhantomData<W>);
#[derive(Clone, Copy, PartialEq)]
pub struct Vertex(pub u32);
#[derive(Clone)]
pub struct Field<T>(Vec<T>);
pub struct Worklist;
pub struct Edge<W> {
    pub source: Vertex,
    pub target: Vertex,
    pub weight: W,
}

impl<W> Graph<W> {
    pub fn field<T>(&self, value: T) -> Field<T> {
        unimplemented!()
    }
    pub fn field_with<T>(&self, value: impl Fn(Vertex) -> T) -> Field<T> {
        unimplemented!()
    }
    pub fn vertices(&self) -> std::vec::IntoIter<Vertex> {
        unimplemented!()
    }
    pub fn out_edges(&self, vertex: Vertex) -> std::vec::IntoIter<Edge<W>> {
        unimplemented!()
    }
    pub fn in_edges(&self, vertex: Vertex) -> std::vec::IntoIter<Edge<W>> {
        unimplemented!()
    }
    pub fn out_degree(&self, vertex: Vertex) -> u64 {
        unimplemented!()
    }
}

impl Vertex {
    pub fn id(self) -> u32 {
        self.0
    }
}

impl<T> Field<T> {
    pub fn lower(&mut self, vertex: Vertex, value: T) -> bool {
        unimplemented!()
    }
    pub fn raise(&mut self, vertex: Vertex, value: T) -> bool {
        unimplemented!()
    }
}

impl<T> Index<Vertex> for Field<T> {
    type Output = T;
    fn index(&self, vertex: Vertex) -> &T {
        unimplemented!()
    }
}

impl<T> IndexMut<Vertex> for Field<T> {
    fn index_mut(&mut self, vertex: Vertex) -> &mut T {
        unimplemented!()
    }
}

impl<const N: usize> From<[Vertex; N]> for Worklist {
    fn from(vertices: [Vertex; N]) -> Self {
        Worklist
    }
}

impl Worklist {
    pub fn pop(&mut self) -> Option<Vertex> {
        None
    }
    pub fn push(&mut self, vertex: Vertex) {}
}

pub fn helper(value: u32) -> u32 {
    value
}
