//! Options that are arguments of compiled programs.

use parton_graph::{GlobalId, Graph};
use parton_program::Vertex;
use parton_sync::Substrate;

use crate::error::Result;
use crate::root::Root;
use crate::vertices;

/// An option that is an argument of a program.
pub trait Argument {
    /// What the program gets.
    type Value;

    /// The argument on this partition. Every host must call this.
    fn find(&self, substrate: &mut Substrate<'_>) -> Result<Self::Value>;

    /// The same in a whole graph.
    fn find_in(&self, graph: &Graph) -> Result<Self::Value>;
}

/// In a graph without vertices it is a vertex that is not there.
impl Argument for Root {
    type Value = Vertex;

    fn find(&self, substrate: &mut Substrate<'_>) -> Result<Vertex> {
        Ok(Vertex(Root::find(self, substrate)?.map_or(0, |found| found.vertex.0 as u32)))
    }

    fn find_in(&self, graph: &Graph) -> Result<Vertex> {
        Ok(Vertex(Root::find_in(self, graph)?.unwrap_or(0) as u32))
    }
}

/// What messages call a list of vertices.
const LIST: &str = "a list of vertices";

/// Original ids, or a file with one per line. Nothing is an empty list.
impl Argument for Option<Vec<String>> {
    type Value = Vec<Vertex>;

    fn find(&self, substrate: &mut Substrate<'_>) -> Result<Vec<Vertex>> {
        let found = self.as_ref().map(|ids| vertices::find(substrate, ids, LIST)).transpose()?;
        Ok(listed(found))
    }

    fn find_in(&self, graph: &Graph) -> Result<Vec<Vertex>> {
        let found = self.as_ref().map(|ids| vertices::find_in(graph, ids, LIST)).transpose()?;
        Ok(listed(found))
    }
}

fn listed(found: Option<Vec<GlobalId>>) -> Vec<Vertex> {
    found.unwrap_or_default().into_iter().map(|vertex| Vertex(vertex.0 as u32)).collect()
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl Argument for $type {
            type Value = $type;

            fn find(&self, _: &mut Substrate<'_>) -> Result<$type> {
                Ok(*self)
            }

            fn find_in(&self, _: &Graph) -> Result<$type> {
                Ok(*self)
            }
        })+
    };
}

numbers!(u32, u64, i32, i64, f32, f64, bool);
