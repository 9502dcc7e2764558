//! A host's edges in a device's memory.

use std::sync::Arc;
use std::time::Instant;

use bytemuck::{Pod, Zeroable};
use parton_engine::Edges;
use parton_graph::{Adjacency, LocalId, Weight, WeightKind, with_csr};
use parton_partition::Partition;

use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::memory::{Buffer, Uploaded, Uploader};

/// Edges by one of their ends: out-edges, in-edges, or both.
#[derive(Clone)]
pub(crate) struct DeviceEdges {
    parts: Vec<Arc<DeviceRows>>,
    num_edges: u64,
}

/// Rows of one direction.
struct DeviceRows {
    offsets: Offsets,
    ends: Buffer<u32>,
    /// `None` where the graph has none, or the program asks for none.
    weights: Option<Buffer<u8>>,
}

enum Offsets {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

/// `Edges` of `rows.cu`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct EdgeArgument {
    parts: [[u64; 3]; 2],
    num_parts: u64,
}

/// From which end an engine goes along edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// From where labels or messages start.
    Forward,
    /// From where they arrive.
    Reverse,
    /// From either end.
    Both,
}

/// Edges in both directions, as far as an engine needs them.
pub(crate) struct Directions {
    /// No edges, if only the other direction is wanted.
    pub(crate) forward: DeviceEdges,
    pub(crate) reverse: Option<DeviceEdges>,
    is_wide: bool,
}

impl Directions {
    /// Uploads the edges that labels or messages travel along.
    pub(crate) fn upload(
        uploader: &Uploader,
        driver: &Arc<dyn Driver>,
        partition: &Partition,
        edges: Edges,
        weight: WeightKind,
        wanted: Wanted,
    ) -> Result<Self> {
        let start = Instant::now();
        let is_wide = partition.edges().num_edges() > uploader.max_narrow_edges;
        let uploaded = |adjacency: &Adjacency| {
            DeviceRows::upload(uploader, driver, adjacency, weight, is_wide).map(Arc::new)
        };
        let (mut out, mut into) = (None, None);
        let wants = |seen: Edges| {
            let forward = wanted != Wanted::Reverse && (edges == seen || edges == Edges::Both);
            let reverse = wanted != Wanted::Forward && (edges != seen || edges == Edges::Both);
            forward || reverse
        };
        if wants(Edges::Out) {
            out = Some(uploaded(partition.out_edges())?);
        }
        if wants(Edges::In) {
            // A host that is alone with a symmetric graph has one array for both.
            let is_same =
                out.is_some() && std::ptr::eq(partition.out_edges(), partition.in_edges());
            into = Some(match &out {
                Some(out) if is_same => out.clone(),
                _ => uploaded(partition.in_edges())?,
            });
        }
        let along = |edges: Edges| {
            let parts = match edges {
                Edges::Out => vec![out.clone()],
                Edges::In => vec![into.clone()],
                Edges::Both => vec![out.clone(), into.clone()],
            };
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            let num_edges = parts.iter().map(|rows| rows.ends.len() as u64).sum();
            DeviceEdges { parts, num_edges }
        };
        let reversed = match edges {
            Edges::Out => Edges::In,
            Edges::In => Edges::Out,
            Edges::Both => Edges::Both,
        };
        let reverse = (wanted != Wanted::Forward).then(|| along(reversed));
        let none = DeviceEdges { parts: Vec::new(), num_edges: 0 };
        let forward = if wanted == Wanted::Reverse { none } else { along(edges) };
        let bytes = distinct([&out, &into]).map(|rows| rows.bytes()).sum();
        uploader.remember_edges(Uploaded { bytes, time: start.elapsed() });
        Ok(Directions { forward, reverse, is_wide })
    }

    /// Messages go the other way from here on: edges were uploaded in both directions.
    pub(crate) fn turn(&mut self) {
        let reverse = self.reverse.as_mut().expect("edges in both directions");
        std::mem::swap(&mut self.forward, reverse);
    }

    /// The type of offsets, for kernels.
    pub(crate) fn define(&self) -> String {
        format!("typedef {} Offset;\n", if self.is_wide { "u64" } else { "u32" })
    }
}

/// The rows of two directions, once where one serves both.
fn distinct([out, into]: [&Option<Arc<DeviceRows>>; 2]) -> impl Iterator<Item = &Arc<DeviceRows>> {
    let is_other =
        |rows: &&Arc<DeviceRows>| !out.as_ref().is_some_and(|out| Arc::ptr_eq(out, rows));
    out.iter().chain(into.iter().filter(is_other))
}

impl DeviceRows {
    fn bytes(&self) -> u64 {
        let offsets = match &self.offsets {
            Offsets::Narrow(offsets) => offsets.bytes(),
            Offsets::Wide(offsets) => offsets.bytes(),
        };
        let weights = self.weights.as_ref().map_or(0, Buffer::bytes);
        (offsets + self.ends.bytes() + weights) as u64
    }

    fn upload(
        uploader: &Uploader,
        driver: &Arc<dyn Driver>,
        adjacency: &Adjacency,
        weight: WeightKind,
        is_wide: bool,
    ) -> Result<Self> {
        let offsets = adjacency.offsets();
        let offsets = if is_wide {
            Offsets::Wide(uploader.buffer(offsets)?)
        } else {
            let mut narrow = Buffer::new(driver, offsets.len())?;
            uploader.upload_with(&mut narrow, 0, offsets.len(), |range, place: &mut [u32]| {
                let wide = offsets[range].iter();
                place.iter_mut().zip(wide).for_each(|(narrow, &wide)| *narrow = wide as u32);
            })?;
            Offsets::Narrow(narrow)
        };
        let ends: &[LocalId] = adjacency.all_targets();
        let ends = uploader.buffer(bytemuck::cast_slice::<LocalId, u32>(ends))?;
        let weights = match weight {
            WeightKind::None => None,
            _ if adjacency.weight_kind() == WeightKind::None => None,
            _ => Some(
                with_csr!(adjacency, csr => upload_weights(uploader, driver, csr.all_weights(), weight)?),
            ),
        };
        Ok(DeviceRows { offsets, ends, weights })
    }
}

/// Weights of a graph, as the type that a program asks for. The engine crate has checked that they fit.
fn upload_weights<W: Weight>(
    uploader: &Uploader,
    driver: &Arc<dyn Driver>,
    weights: &[W],
    kind: WeightKind,
) -> Result<Buffer<u8>> {
    if W::KIND == kind {
        return uploader.buffer(bytemuck::cast_slice(weights));
    }
    match kind {
        WeightKind::U32 => upload_as(uploader, driver, weights, |value| value as u32),
        WeightKind::F32 => upload_as(uploader, driver, weights, |value| value as f32),
        _ => upload_as(uploader, driver, weights, |value| value),
    }
}

/// Weights as another type. All threads convert them on their way.
fn upload_as<W: Weight, T: Pod + Send + Sync>(
    uploader: &Uploader,
    driver: &Arc<dyn Driver>,
    weights: &[W],
    convert: impl Fn(f64) -> T + Sync,
) -> Result<Buffer<u8>> {
    let mut converted = Buffer::new(driver, weights.len())?;
    uploader.upload_with(&mut converted, 0, weights.len(), |range, place: &mut [T]| {
        let from = weights[range].iter();
        place.iter_mut().zip(from).for_each(|(to, weight)| *to = convert(weight.to_f64()));
    })?;
    Ok(converted.into_bytes())
}

impl DeviceEdges {
    /// Number of edges; edges that labels travel both ways count twice.
    pub(crate) fn num_edges(&self) -> u64 {
        self.num_edges
    }

    /// These edges, and after them those by the other end.
    pub(crate) fn with(&self, other: &DeviceEdges) -> DeviceEdges {
        let parts = self.parts.iter().chain(&other.parts).cloned().collect();
        DeviceEdges { parts, num_edges: self.num_edges + other.num_edges }
    }

    /// The array of other ends of each direction, with its length. One that serves both is there once.
    pub(crate) fn distinct_ends(&self) -> impl Iterator<Item = (Address, u64)> {
        let mut parts: Vec<_> =
            self.parts.iter().map(|rows| (rows.ends.address(), rows.ends.len() as u64)).collect();
        parts.dedup();
        parts.into_iter()
    }

    /// Chunks of long rows that a list of all vertices has at most.
    pub(crate) fn max_chunks(&self) -> usize {
        // Each direction of a vertex with many edges ends with a chunk that may be short.
        let ends = self.num_edges / MAX_EDGES_PER_VERTEX * self.parts.len() as u64;
        (self.num_edges / MAX_EDGES_PER_CHUNK + ends) as usize
    }

    /// What kernels get.
    pub(crate) fn argument(&self) -> EdgeArgument {
        let mut parts = [[0; 3]; 2];
        for (part, rows) in parts.iter_mut().zip(&self.parts) {
            let offsets = match &rows.offsets {
                Offsets::Narrow(offsets) => offsets.address(),
                Offsets::Wide(offsets) => offsets.address(),
            };
            let weights = rows.weights.as_ref().map_or(0, |weights| weights.address().0);
            *part = [offsets.0, rows.ends.address().0, weights];
        }
        EdgeArgument { parts, num_parts: self.parts.len() as u64 }
    }
}

/// Vertices of more edges are listed in chunks, as in `rows.cu`.
pub(crate) const MAX_EDGES_PER_VERTEX: u64 = 256;
/// Edges of a chunk at most.
pub(crate) const MAX_EDGES_PER_CHUNK: u64 = 2048;
