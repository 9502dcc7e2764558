//! Edges between original ids: every host reads a slice of them, all together number the vertices,
//! and each edge goes to the host that takes its row.

use std::ops::Range;

use parton_graph::csr::MAX_VERTICES;
use parton_graph::edge_file::{Cut, EdgeFile, FileShape, Mirror, Piece, Slice, Totals, WeightRule};
use parton_graph::formats;
use parton_graph::id_list::IdList;
use parton_graph::progress::Progress;
use parton_graph::rows::Rows;
use parton_graph::{Adjacency, Csr, Error as GraphError, VertexRange, Weight, WeightKind};
use parton_net::Net;

use super::exchanged::{self, SAMPLES_PER_HOST};
use super::{InputShare, OriginalIds, pieces};
use crate::Result;
use crate::blocks::Blocks;
use crate::dictionary::{Dictionary, Id, Known};

/// This host's share of a file. Every host must call this.
pub(super) fn share(
    net: &mut Net,
    file: &dyn EdgeFile,
    progress: &dyn Progress,
) -> Result<InputShare> {
    if net.num_hosts() == 1 && file.shape().mirror == Mirror::None {
        return alone(file, progress);
    }
    let slice = Slice { index: net.host().index(), of: net.num_hosts() };
    let survey = if slice == Slice::WHOLE { Vec::new() } else { file.survey(slice)? };
    let surveys = net.all_gather(bytemuck::cast_slice(&survey).to_vec())?;
    let surveys: Vec<Vec<u64>> =
        surveys.iter().map(|survey| bytemuck::pod_collect_to_vec(survey)).collect();
    let reader = file.pieces(slice, &surveys, progress)?;
    let shape = file.shape();
    let pieces = match file.cut() {
        Cut::Even => pieces::read_all(reader, shape.names)?,
        Cut::Packed | Cut::Uneven => pieces::deal_out(net, reader, shape.names)?,
    };
    let mut sums = [
        pieces.iter().map(|piece| piece.num_edges() as u64).sum(),
        pieces.iter().fold(0u64, |sum, piece| sum.wrapping_add(piece.skewness)),
        pieces.iter().filter(|piece| !piece.is_whole).count() as u64,
    ];
    net.all_reduce_slice(&mut sums, u64::wrapping_add)?;
    let [edges, skewness, fractions] = sums;
    let job = Job { file, shape, pieces, found: Totals { edges, skewness, vertices: 0 } };
    match shape.weights {
        WeightRule::None => job.share::<()>(net),
        // Weights are integers if they are so on every host.
        WeightRule::Fitting | WeightRule::Integers if fractions == 0 => job.share::<u32>(net),
        WeightRule::F32 => job.share::<f32>(net),
        WeightRule::F64 | WeightRule::Fitting | WeightRule::Integers => job.share::<f64>(net),
    }
}

/// The share of a host that is alone. No ids travel, so no piece has to wait until all are known.
fn alone(file: &dyn EdgeFile, progress: &dyn Progress) -> Result<InputShare> {
    let graph = formats::read_edges(file, progress)?;
    let readers = Blocks::even(graph.num_vertices() as u32, 1);
    // Weights wait as fractions until all are known.
    let weight_bytes =
        if graph.adjacency.weight_kind() == WeightKind::None { 0 } else { size_of::<f64>() };
    let waiting = exchanged::waiting_bytes(graph.num_edges(), weight_bytes);
    let rows = Rows { first: 0, adjacency: graph.adjacency };
    let share = InputShare::of_rows(rows, readers).with_peak_of(waiting);
    Ok(share.with(OriginalIds::All(graph.ids)))
}

/// What this host has, and what is known of everything.
struct Job<'a> {
    file: &'a dyn EdgeFile,
    shape: FileShape,
    pieces: Vec<Piece>,
    found: Totals,
}

impl Job<'_> {
    fn share<W: Weight>(self, net: &mut Net) -> Result<InputShare>
    where
        Adjacency: From<Csr<W>>,
    {
        if let Some(VertexRange { first, count }) = self.shape.vertices {
            if count > MAX_VERTICES {
                return Err(GraphError::too_many_vertices(self.file.name(), count).into());
            }
            let numbered = |ids: &IdList, places: Range<usize>| -> Vec<u32> {
                u64::of(ids, places).iter().map(|id| (id - first) as u32).collect()
            };
            let share = self.rows::<W>(net, count as u32, numbered)?;
            return Ok(share.with(OriginalIds::Offset(first)));
        }
        if self.shape.names {
            let (dictionary, known) = self.number::<Box<[u8]>>(net)?;
            let numbered = |ids: &IdList, places| vertices(&known, ids, places);
            let share = self.rows::<W>(net, dictionary.num_vertices(), numbered)?;
            return Ok(share.with(OriginalIds::Names(dictionary)));
        }
        let (dictionary, known) = self.number::<u64>(net)?;
        let numbered = |ids: &IdList, places| vertices(&known, ids, places);
        let share = self.rows::<W>(net, dictionary.num_vertices(), numbered)?;
        Ok(share.with(OriginalIds::Integers(dictionary)))
    }

    /// Numbers the vertices that edges name and those that are listed.
    fn number<I: Id>(&self, net: &mut Net) -> Result<(Dictionary<I>, Known<I>)> {
        let named = self.pieces.iter().flat_map(|piece| [&piece.sources, &piece.destinations]);
        let named: Vec<&IdList> = named.collect();
        let listed: Vec<&IdList> = self.pieces.iter().map(|piece| &piece.listed).collect();
        Dictionary::build(net, self.file.name(), &named, &listed, self.shape.complete)
    }

    /// Sends each edge to the host that takes its row: `numbered` gives the vertices of some ids of a list.
    fn rows<W: Weight>(
        &self,
        net: &mut Net,
        vertices: u32,
        numbered: impl Fn(&IdList, Range<usize>) -> Vec<u32> + Sync,
    ) -> Result<InputShare>
    where
        Adjacency: From<Csr<W>>,
    {
        self.file.check(&Totals { vertices: u64::from(vertices), ..self.found })?;
        let (pieces, mirror) = (&self.pieces, self.shape.mirror);
        let per_piece = SAMPLES_PER_HOST.div_ceil(pieces.len().max(1));
        let samples = pieces.iter().flat_map(|piece| {
            let step = piece.num_edges().div_ceil(per_piece).max(1);
            // Every other end is a source; mirrored edges start at both.
            let is_doubled = matches!(mirror, Mirror::Same | Mirror::Negated);
            let step = if is_doubled { 2 * step + 1 } else { 2 * step };
            let ends = [&piece.sources, &piece.destinations];
            let ends = (0..2 * piece.num_edges())
                .step_by(step)
                .map(move |end| (ends[end % 2], end / 2..end / 2 + 1));
            ends.flat_map(|(ids, place)| numbered(ids, place))
        });
        let samples = samples.collect();
        let order = |piece: &Piece| piece.order;
        let share = exchanged::rows(net, vertices, samples, pieces, order, |piece, by_host| {
            let [sources, destinations] =
                [&piece.sources, &piece.destinations].map(|ids| numbered(ids, 0..ids.len()));
            let ends = sources.into_iter().zip(destinations);
            for (edge, (source, destination)) in ends.enumerate() {
                let weight = piece.weights.get(edge).copied().unwrap_or(1.0);
                by_host.push(source, destination, W::from_f64(weight));
                let mirrored = match mirror {
                    // Whether an edge lacks its mirror image, only all edges tell.
                    Mirror::None | Mirror::Missing => continue,
                    Mirror::Same => weight,
                    Mirror::Negated => -weight,
                };
                if source != destination {
                    by_host.push(destination, source, W::from_f64(mirrored));
                }
            }
        })?;
        Ok(share.with_peak_of(pieces.iter().map(Piece::bytes).sum()))
    }
}

fn vertices<I: Id>(known: &Known<I>, ids: &IdList, places: Range<usize>) -> Vec<u32> {
    I::of(ids, places).iter().map(|id| known.vertex(id)).collect()
}
