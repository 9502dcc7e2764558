//! A host's labels of a relaxation, and the edges they travel along.

use std::ops::Range;

use parton_graph::bits::BitSet;
use parton_graph::{LocalId, Weight, parallel};
use parton_partition::Partition;
use parton_sync::{CpuField, Delivery, Reduction};

use super::directions::{DirectionRows, Directions};
use super::edges::PREFETCH_EDGES_IN_ROW;
use super::frontier::touch_pages;
use crate::program::{Relaxation, Vertex};
use crate::techniques::VERTICES_PER_TASK;

/// Prefetch distance in vertices whose labels are read.
const PREFETCH_LABELS: usize = 16;

/// The label of every proxy of a host, and the edges that labels travel along.
pub(crate) struct Labels<'a, P: Relaxation> {
    pub(crate) program: &'a P,
    pub(crate) field: CpuField<P::Reduction>,
    /// Edges by the end where labels start.
    pub(crate) forward: Directions<'a, P::Weight>,
    /// The proxies that edges leave.
    has_edges: BitSet,
    pub(crate) num_masters: u32,
    /// Proxies from this one on have no edges here.
    pub(crate) rows_end: u32,
}

impl<'a, P: Relaxation> Labels<'a, P> {
    /// Every proxy with its vertex's first label. Only the first `rows_end` proxies have edges in
    /// `forward`.
    pub(crate) fn new(
        program: &'a P,
        partition: &'a Partition,
        forward: Directions<'a, P::Weight>,
        rows_end: usize,
    ) -> Self {
        let identity = P::Reduction::identity();
        let proxies = partition.num_proxies();
        // Every proxy knows its vertex's first label, so nothing is updated yet.
        let field = CpuField::new(proxies, Delivery::Label, |proxy| {
            program.start(Vertex::new(partition.globals(), proxy)).unwrap_or(identity)
        });
        let field = if partition.num_hosts() == 1 { field.alone() } else { field };
        let rows = forward.rows();
        touch_pages(field.active(), proxies);
        if field.is_shared() {
            touch_pages(field.updated(), proxies);
        }
        parallel::for_each_index(proxies.div_ceil(64), |word| {
            let of_word = word * 64..proxies.min((word + 1) * 64);
            let has_label = |proxy| field.get(proxy) != identity;
            field.active().insert_word(word, bits_of(of_word, has_label));
        });
        let has_edges = with_edges(rows, proxies);
        let (num_masters, rows_end) = (partition.num_masters() as u32, rows_end as u32);
        Labels { program, field, forward, has_edges, num_masters, rows_end }
    }

    /// Whether no other host changes labels.
    pub(crate) fn is_alone(&self) -> bool {
        !self.field.is_shared()
    }

    /// Whether edges leave a proxy.
    #[inline(always)]
    pub(crate) fn has_edges(&self, proxy: LocalId) -> bool {
        self.has_edges.contains(proxy.index())
    }

    /// The proxies that edges leave, one bit for each.
    pub(crate) fn with_edges(&self) -> &BitSet {
        &self.has_edges
    }

    /// The label of a proxy.
    #[inline]
    pub(crate) fn get(&self, proxy: LocalId) -> P::Label {
        self.field.get(proxy)
    }

    /// The labels of this host's masters.
    pub(crate) fn of_masters(&self) -> Vec<P::Label> {
        let labels = self.field.cells();
        parallel::generate(self.num_masters as usize, |master| labels.get(LocalId(master as u32)))
    }

    /// The best label of listed vertices.
    pub(crate) fn best_of_list(&self, vertices: &[LocalId]) -> P::Label {
        let pieces: Vec<_> = vertices.chunks(VERTICES_PER_TASK).collect();
        let best = parallel::map(&pieces, |piece| self.best_of(piece.iter().copied()));
        best.into_iter().fold(P::Reduction::identity(), P::Reduction::combine)
    }

    /// The best label of some vertices.
    pub(crate) fn best_of(&self, vertices: impl Iterator<Item = LocalId>) -> P::Label {
        let labels = vertices.map(|vertex| self.get(vertex));
        labels.fold(P::Reduction::identity(), P::Reduction::combine)
    }

    /// Relaxes the edges of each of these vertices whose label `is_due`, and calls `improved` with every
    /// neighbour that gets a better label. Marks these as updated; the caller decides whether they become
    /// active. `EXCLUSIVE`: no other thread writes a different label at the same time. Returns the number
    /// of edges visited.
    #[inline(always)]
    pub(crate) fn relax_edges_of<const EXCLUSIVE: bool>(
        &self,
        vertices: &[LocalId],
        mut is_due: impl FnMut(P::Label) -> bool,
        mut improved: impl FnMut(LocalId, P::Label),
    ) -> u64 {
        let (labels, forward) = (self.field.cells(), self.forward.rows());
        let mut edges = 0;
        vertices.iter().take(PREFETCH_LABELS).for_each(|&vertex| labels.prefetch(vertex));
        forward.prepare_first(vertices);
        for (place, &vertex) in vertices.iter().enumerate() {
            if let Some(&later) = vertices.get(place + PREFETCH_LABELS) {
                labels.prefetch(later);
            }
            forward.prepare(vertices, place, |end| labels.prefetch(end));
            let label = labels.get(vertex);
            if !is_due(label) {
                continue;
            }
            edges += forward.degree(vertex);
            for rows in forward.parts() {
                let row = rows.row(vertex);
                self.relax_row::<EXCLUSIVE>(vertex, label, row, &mut improved);
            }
        }
        edges
    }

    /// Relaxes some edges of each of these vertices: threads share the edges of a vertex that has many.
    #[inline(always)]
    pub(crate) fn relax_pieces<const EXCLUSIVE: bool>(
        &self,
        pieces: &[RowPiece],
        mut improved: impl FnMut(LocalId, P::Label),
    ) {
        let (labels, forward) = (self.field.cells(), self.forward.rows());
        for RowPiece { vertex, edges } in pieces {
            let (label, mut before) = (labels.get(*vertex), 0);
            for rows in forward.parts() {
                let (ends, weights) = rows.row(*vertex);
                let here = |edge: usize| edge.clamp(before, before + ends.len()) - before;
                let part = here(edges.start)..here(edges.end);
                let row = (&ends[part.clone()], &weights[part]);
                self.relax_row::<EXCLUSIVE>(*vertex, label, row, &mut improved);
                before += ends.len();
            }
        }
    }

    /// Relaxes edges of a vertex with this label.
    #[inline(always)]
    fn relax_row<const EXCLUSIVE: bool>(
        &self,
        vertex: LocalId,
        label: P::Label,
        (ends, weights): (&[LocalId], &[P::Weight]),
        improved: &mut impl FnMut(LocalId, P::Label),
    ) {
        let (labels, program) = (self.field.cells(), self.program);
        for (edge, &neighbour) in ends.iter().enumerate() {
            if let Some(&later) = ends.get(edge + PREFETCH_EDGES_IN_ROW) {
                labels.prefetch(later);
            }
            if P::FILTERS && !program.passes(vertex, neighbour, weights[edge]) {
                continue;
            }
            let better = program.relax(label, weights[edge]);
            let changed = match EXCLUSIVE {
                true => labels.fold_alone(neighbour, better),
                false => labels.fold(neighbour, better),
            };
            if changed {
                match EXCLUSIVE {
                    true => self.field.update_alone(neighbour),
                    false => self.field.update(neighbour),
                }
                improved(neighbour, better);
            }
        }
    }
}

/// Some edges of a vertex, by their numbers in its row.
pub(crate) struct RowPiece {
    pub(crate) vertex: LocalId,
    pub(crate) edges: Range<usize>,
}

/// The first proxies that have edges in these rows.
#[inline(never)]
pub(crate) fn with_edges<W: Weight>(rows: DirectionRows<'_, W>, proxies: usize) -> BitSet {
    let words = parallel::generate(proxies.div_ceil(64), |word| {
        bits_of(word * 64..proxies.min((word + 1) * 64), |proxy| rows.degree(proxy) > 0)
    });
    BitSet::from_words(words, proxies)
}

/// A bit for each proxy of a word.
#[inline(always)]
fn bits_of(word: Range<usize>, is_member: impl Fn(LocalId) -> bool) -> u64 {
    let proxies = word.rev().map(|proxy| LocalId(proxy as u32));
    proxies.fold(0, |bits, proxy| bits << 1 | u64::from(is_member(proxy)))
}
