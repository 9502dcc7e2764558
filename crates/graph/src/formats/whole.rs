//! A whole graph from an input of edges: the one slice that is everything, read by all threads.

use std::sync::Mutex;

use crate::edge_file::{EdgeFile, FileShape, Mirror, Piece, Slice, Totals, WeightRule};
use crate::formats::ReadOptions;
use crate::id_list::IdList;
use crate::ingest::Ingest;
use crate::progress::Unit;
use crate::tidy::Tidy;
use crate::weight::{UnfitWeight, Weight, WeightKind};
use crate::{Adjacency, Csr, Error, Graph, Ids, Result};

/// Reads a graph.
pub(super) fn read(file: &dyn EdgeFile, options: &ReadOptions<'_>) -> Result<Graph> {
    let job = Job { file, shape: file.shape(), options };
    let (adjacency, ids, found) = match (job.shape.weights, options.weight_kind) {
        (WeightRule::None, _) | (_, Some(WeightKind::None)) => job.read::<()>(),
        (_, Some(WeightKind::U32)) => job.read::<u32>(),
        (_, Some(WeightKind::F32)) | (WeightRule::F32, None) => job.read::<f32>(),
        (_, Some(WeightKind::F64)) | (WeightRule::F64, None) => job.read::<f64>(),
        (WeightRule::Fitting, None) => {
            let all = job.collect::<f64>()?;
            match all.sums.is_whole {
                true => job.build(all, <u32 as Weight>::from_f64),
                false => job.build(all, |weight| weight),
            }
        }
        (WeightRule::Integers, None) => {
            let all = job.collect::<u32>()?;
            match all.sums.unfit {
                None => job.build(all, |weight| weight),
                Some(_) => job.read::<f64>(),
            }
        }
    }?;
    let direction = file.direction(&found);
    let mut graph = Graph { adjacency, ids, direction, read_as: String::new() };
    graph.read_as = file.read_as(&graph);
    Ok(match job.shape.mirror {
        Mirror::None => graph,
        Mirror::Same => graph.undirected(),
        Mirror::Missing => graph.tidied(Tidy { undirected: true, ..Tidy::default() }),
        Mirror::Negated => with_negated(graph),
    })
}

/// What is read, and how.
struct Job<'a> {
    file: &'a dyn EdgeFile,
    shape: FileShape,
    options: &'a ReadOptions<'a>,
}

/// All edges of an input.
struct Collected<W> {
    ingest: Ingest<W>,
    sums: Sums,
}

/// What the pieces of an input come to.
struct Sums {
    found: Totals,
    listed: IdList,
    is_whole: bool,
    /// A weight that is not of the type that was tried. Edges are missing then.
    unfit: Option<UnfitWeight>,
}

/// The edges and ids of a graph, and what the input held.
type Built = (Adjacency, Ids, Totals);

impl Job<'_> {
    fn read<W: Weight>(&self) -> Result<Built>
    where
        Adjacency: From<Csr<W>>,
    {
        self.build(self.collect::<W>()?, |weight| weight)
    }

    fn collect<W: Weight>(&self) -> Result<Collected<W>> {
        let ingest = Ingest::<W>::new(self.file.name(), self.shape.vertices);
        let listed = IdList::new(self.shape.names);
        let sums = Sums { found: Totals::default(), listed, is_whole: true, unfit: None };
        let sums = Mutex::new(sums);
        let take = |piece: &mut Piece| {
            let unfit = piece.weights.iter().find_map(|&weight| W::try_from_f64(weight).err());
            if unfit.is_none() {
                ingest.add(piece)?;
            }
            let mut sums = sums.lock().expect("no thread panicked holding this lock");
            sums.found.edges += piece.num_edges() as u64;
            sums.found.skewness = sums.found.skewness.wrapping_add(piece.skewness);
            sums.is_whole &= piece.is_whole;
            sums.listed.append(&mut piece.listed);
            sums.unfit = sums.unfit.or(unfit);
            unfit.map_or(Ok(()), |unfit| Err(self.unfit(unfit)))
        };
        let mut pieces = self.file.pieces(Slice::WHOLE, &[], self.options.progress)?;
        let read = loop {
            match pieces.read(usize::MAX, &take) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(pieces);
        let sums = sums.into_inner().expect("no thread panicked holding this lock");
        // Another type of weights may be tried instead.
        match sums.unfit {
            None => read.map(|()| Collected { ingest, sums }),
            Some(_) => Ok(Collected { ingest, sums }),
        }
    }

    fn build<W: Weight, V: Weight>(
        &self,
        all: Collected<W>,
        convert: impl Fn(W) -> V + Sync,
    ) -> Result<Built>
    where
        Adjacency: From<Csr<V>>,
    {
        let Collected { ingest, sums: Sums { mut found, listed, unfit, .. } } = all;
        if let Some(unfit) = unfit {
            return Err(self.unfit(unfit));
        }
        self.options.progress.stage("building", Unit::Edges, None);
        // What a header declares is checked before memory is asked for it.
        if let Some(declared) = self.shape.vertices {
            found.vertices = declared.count;
            self.file.check(&found)?;
        }
        let (csr, ids) = ingest.finish(listed, self.shape.complete, convert)?;
        if self.shape.vertices.is_none() {
            found.vertices = ids.len() as u64;
            self.file.check(&found)?;
        }
        Ok((csr.into(), ids, found))
    }

    fn unfit(&self, unfit: UnfitWeight) -> Error {
        let (name, kind) = (self.file.name(), unfit.kind.name());
        Error::Request(format!(
            "{name}: not all weights are of type {kind}, {} is not: read them as f64",
            unfit.value
        ))
    }
}

/// Adds the negative of every edge the other way round.
fn with_negated(mut graph: Graph) -> Graph {
    graph.adjacency = match graph.adjacency {
        Adjacency::Unweighted(csr) => csr.symmetrised().into(),
        Adjacency::U32(csr) => {
            csr.reweighted(|_, _, w| f64::from(w)).symmetrised_with(|w| -w).into()
        }
        Adjacency::F32(csr) => csr.symmetrised_with(|w| -w).into(),
        Adjacency::F64(csr) => csr.symmetrised_with(|w| -w).into(),
    };
    graph
}
