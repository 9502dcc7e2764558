//! The bottom-up step of direction-optimising search (Beamer, Asanović, Patterson, SC'12): vertices look
//! through their in-edges for neighbours in the frontier, instead of the frontier spreading its labels.
//!
//! The step needs no atomic writes. Where all edges are the same and the frontier is one level, a vertex
//! stops at the first neighbour it finds.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use parton_graph::bits::ones_of;
use parton_graph::{LocalId, VertexSet, parallel};
use parton_sync::Reduction;

use crate::program::{Relaxation, may_win_first};
use crate::state::directions::Directions;
use crate::state::frontier::{Frontier, pieces};
use crate::state::labels::{Labels, with_edges};
use crate::techniques::VERTICES_PER_TASK;
use crate::techniques::helpers::Helpers;

/// Proxies of a word of bits.
const WORD: usize = u64::BITS as usize;
/// Bottom-up pays off when more than one edge in this many leaves the frontier.
const PULL_THRESHOLD_DIVISOR: u64 = 8;

/// Whether a bottom-up step visits fewer edges than a top-down step.
pub(crate) fn pays_off(frontier_edges: u64, num_edges: u64) -> bool {
    frontier_edges > num_edges / PULL_THRESHOLD_DIVISOR
}

/// The best label of a frontier's members, where it is not only a list.
pub(crate) fn best_of_members<P: Relaxation>(
    labels: &Labels<'_, P>,
    frontier: &Frontier,
) -> P::Label {
    let best = parallel::map(&pieces(labels.field.num_proxies() as u32), |piece| {
        labels.best_of(frontier.members().iter_range(piece.clone()))
    });
    best.into_iter().fold(P::Reduction::identity(), P::Reduction::combine)
}

/// Edges by the end where labels arrive.
pub(crate) struct BottomUp<'a, P: Relaxation> {
    reverse: Directions<'a, P::Weight>,
    /// A bit for each proxy that edges lead to, until a step finds that it has a label.
    open: Vec<AtomicU64>,
}

impl<'a, P: Relaxation> BottomUp<'a, P> {
    /// For labels that arrive along these edges.
    pub(crate) fn new(reverse: Directions<'a, P::Weight>, labels: &Labels<'_, P>) -> Self {
        let count = labels.rows_end as usize;
        let with_edges = match reverse.is_same(&labels.forward) {
            true => Cow::Borrowed(labels.with_edges()),
            false => Cow::Owned(with_edges(reverse.rows(), count)),
        };
        let words = with_edges.words();
        let open = parallel::generate(count.div_ceil(WORD), |word| AtomicU64::new(words[word]));
        BottomUp { reverse, open }
    }

    /// Lets every proxy look for better labels in the frontier. `is_level`: the whole frontier got its
    /// labels in the last BSP round. Returns the number of edges visited.
    pub(crate) fn step(
        &self,
        labels: &Labels<'_, P>,
        frontier: &Frontier,
        helpers: &Helpers,
        is_level: bool,
    ) -> u64 {
        frontier.fill_members();
        let program = labels.program;
        let first_wins = program.first_wins();
        let any_label = || {
            let proxies = 0..labels.field.num_proxies() as u32;
            frontier.members().iter_range(proxies).next().map(|vertex| labels.get(vertex))
        };
        match (first_wins && is_level).then(any_label).flatten() {
            Some(label) if const { may_win_first::<P>() } => {
                let given = program.relax(label, P::Weight::default());
                share_out(labels, helpers, |words| self.find_first(labels, frontier, words, given))
            }
            _ => {
                // All edges are the same, so no vertex can get a better label than this one.
                let best = (first_wins && !is_level).then(|| {
                    program.relax(best_of_members(labels, frontier), P::Weight::default())
                });
                share_out(labels, helpers, |words| self.find_best(labels, frontier, words, best))
            }
        }
    }

    /// Number of edges along which proxies that have no label yet can find one.
    pub(crate) fn num_open_edges(&self, labels: &Labels<'_, P>) -> u64 {
        let rows = self.reverse.rows();
        parallel::sum(self.open.len(), |word| {
            proxies_of(word, self.open_in(labels, word)).map(|proxy| rows.degree(proxy)).sum()
        })
    }

    /// The proxies at the other ends of these edges.
    pub(crate) fn ends_of_open_edges(&self, labels: &Labels<'_, P>) -> VertexSet {
        let (rows, ends) = (self.reverse.rows(), VertexSet::new(labels.field.num_proxies()));
        parallel::for_each_index(self.open.len(), |word| {
            proxies_of(word, self.open_in(labels, word)).for_each(|proxy| {
                rows.each(proxy, |_| (), |end, _| _ = ends.insert(end));
            });
        });
        ends
    }

    /// The proxies of a word that edges lead to and that have no label yet.
    #[inline(always)]
    fn open_in(&self, labels: &Labels<'_, P>, word: usize) -> u64 {
        let (cells, identity) = (labels.field.cells(), P::Reduction::identity());
        proxies_of(word, self.open[word].load(Ordering::Relaxed)).fold(0, |open, proxy| {
            open | u64::from(cells.get(proxy) == identity) << (proxy.index() % WORD)
        })
    }

    /// Gives `given` to the proxies of some words that have no label yet and a neighbour in the frontier.
    fn find_first(
        &self,
        labels: &Labels<'_, P>,
        frontier: &Frontier,
        words: Range<usize>,
        given: P::Label,
    ) -> u64 {
        let (program, cells, reverse) = (labels.program, labels.field.cells(), self.reverse.rows());
        let frontier = frontier.members().members();
        // The proxies of a word that look for a label; prefetches their edges. A proxy without edges would fetch those
        // of another.
        let prepare = |word: usize| {
            let open = self.open_in(labels, word);
            proxies_of(word, open).for_each(|proxy| reverse.prefetch_edges(proxy));
            open
        };
        let (mut visited, mut next) = (0, prepare(words.start));
        for word in words.clone() {
            let open = next;
            if word + 1 < words.end {
                next = prepare(word + 1);
            }
            let mut improved = 0u64;
            for proxy in proxies_of(word, open) {
                let found = reverse.until(proxy, |neighbour, weight| {
                    visited += 1;
                    frontier.contains(neighbour)
                        && (!P::FILTERS || program.passes(neighbour, proxy, weight))
                });
                improved |= u64::from(found) << (proxy.index() % WORD);
            }
            proxies_of(word, improved).for_each(|proxy| cells.put(proxy, given));
            labels.field.touch_word(word, improved);
            self.open[word].store(open & !improved, Ordering::Relaxed);
        }
        visited
    }

    /// Gives the proxies of some words the best label that the frontier has for them. Proxies whose label
    /// is as good as `best` do not look.
    fn find_best(
        &self,
        labels: &Labels<'_, P>,
        frontier: &Frontier,
        words: Range<usize>,
        best: Option<P::Label>,
    ) -> u64 {
        let (program, rows_end) = (labels.program, labels.rows_end as usize);
        let (cells, reverse) = (labels.field.cells(), self.reverse.rows());
        let frontier = frontier.members().members();
        let is_best = |label| best.is_some_and(|best| P::Reduction::combine(label, best) == label);
        let mut visited = 0;
        for word in words {
            let mut improved = 0u64;
            for proxy in word * WORD..rows_end.min((word + 1) * WORD) {
                let proxy = LocalId(proxy as u32);
                let old = cells.get(proxy);
                if is_best(old) {
                    continue;
                }
                let mut label = old;
                reverse.until(proxy, |neighbour, weight| {
                    visited += 1;
                    let gives = frontier.contains(neighbour)
                        && (!P::FILTERS || program.passes(neighbour, proxy, weight));
                    if gives {
                        let given = program.relax(cells.get(neighbour), weight);
                        label = P::Reduction::combine(label, given);
                    }
                    gives && is_best(label)
                });
                if label != old {
                    cells.put(proxy, label);
                    improved |= 1 << (proxy.index() % WORD);
                }
            }
            labels.field.touch_word(word, improved);
        }
        visited
    }
}

/// Calls `look` for all proxies with edges, some words of them at a time. In every step a thread begins with the same
/// words, whose labels are in its cache. Returns the sum of what `look` returns.
fn share_out<P: Relaxation>(
    labels: &Labels<'_, P>,
    helpers: &Helpers,
    look: impl Fn(Range<usize>) -> u64 + Sync,
) -> u64 {
    let words = 0..(labels.rows_end as usize).div_ceil(WORD);
    let tasks = parallel::pieces(words, VERTICES_PER_TASK / WORD);
    let lists: Vec<_> = tasks.chunks(tasks.len().div_ceil(helpers.num_threads()).max(1)).collect();
    let visited = AtomicU64::new(0);
    helpers.share_out(&lists, 1, |_, pieces| {
        let mine: u64 = pieces.flatten().map(|words| look(words.clone())).sum();
        visited.fetch_add(mine, Ordering::Relaxed);
    });
    visited.into_inner()
}

/// The proxies that some bits of a word stand for.
#[inline(always)]
fn proxies_of(word: usize, bits: u64) -> impl Iterator<Item = LocalId> {
    ones_of(word * WORD, bits).map(|proxy| LocalId(proxy as u32))
}
