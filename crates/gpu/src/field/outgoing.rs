//! Updated values on their way to other hosts: all routes of a phase are packed at once, and copied one after
//! another, so that the host writes the message of the first route while the next is on its way.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{Pod, Zeroable};
use parton_net::handover::Item;
use parton_partition::End;
use parton_partition::routes::RouteId;
use parton_sync::{Extracted, Places, Route};

use super::FieldKernels;
use super::lent::{LentValues, Loans};
use super::tiles::{RouteLists, Tile};
use crate::driver::{Address, Driver};
use crate::error::Result;
use crate::launch::arguments;
use crate::memory::{Buffer, PinnedBuffer, QueueMark};

/// Places of a tile at most, as in `field.cu`.
const PLACES_PER_TILE: u32 = 1024;

/// Bytes of values that are copied at once, at least: a copy of fewer takes as long.
const MIN_BATCH_BYTES: usize = 256 << 10;

/// A piece of a route, by name.
type Piece = (Option<RouteId>, Range<u32>);

/// What is packed, and how that is done.
pub(super) struct Outgoing {
    plans: Vec<Plan>,
    pieces: Vec<Piece>,
    /// Where the values of each piece end.
    ends: Vec<u64>,
    pub(super) batches: Batches,
    places: PinnedBuffer<u32>,
    values: PinnedBuffer<u8>,
    /// The places of a piece of which every value is updated: 0, 1, 2 …
    all_places: Vec<u32>,
    packed_places: Buffer<u32>,
    packed_values: Buffer<u8>,
    loans: Loans,
    /// Memory for values at some places.
    gathered: Mutex<(Buffer<u32>, Buffer<u8>)>,
}

/// Pieces that are copied at once.
pub(super) struct Batches {
    /// In which batch each piece is copied; empty if nothing is.
    of_pieces: Vec<usize>,
    /// The end of each batch in the device's queue.
    marks: Vec<QueueMark>,
    /// Bytes of the values of a batch at least, but for the last.
    pub(super) min_bytes: usize,
}

/// Proxies that must be sent: to all, and to mirrors at one end of edges only. `Unsent` of `field.cu`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Unsent {
    pub(super) updated: Address,
    pub(super) owed: [Address; 2],
}

/// The tiles of all routes of a phase, on the device.
struct Plan {
    pieces: Vec<Piece>,
    tiles: Buffer<Tile>,
    counts: Buffer<u32>,
    piece_ends: Buffer<u64>,
    num_places: usize,
}

impl Plan {
    /// Threads that visit all places once.
    fn lanes(&self) -> u64 {
        self.tiles.len() as u64 * u64::from(PLACES_PER_TILE)
    }

    /// Queues the packing of places and values, once the updated proxies are counted.
    fn extract(
        &self,
        kernels: &FieldKernels,
        (unsent, values): (Unsent, Address),
        [to_places, to_values]: [Address; 2],
    ) -> Result<()> {
        let (tiles, num_tiles) = (self.tiles.address(), self.tiles.len() as u32);
        let starts = self.counts.address();
        let arguments = arguments![tiles, num_tiles, unsent, values, starts, to_places, to_values];
        kernels.launch("extract", self.lanes(), &arguments)
    }
}

impl Outgoing {
    pub(super) fn new(driver: &Arc<dyn Driver>) -> Result<Self> {
        Ok(Outgoing {
            plans: Vec::new(),
            pieces: Vec::new(),
            ends: Vec::new(),
            batches: Batches {
                of_pieces: Vec::new(),
                marks: Vec::new(),
                min_bytes: MIN_BATCH_BYTES,
            },
            places: PinnedBuffer::new(driver, 0)?,
            values: PinnedBuffer::new(driver, 0)?,
            all_places: Vec::new(),
            packed_places: Buffer::new(driver, 0)?,
            packed_values: Buffer::new(driver, 0)?,
            loans: Loans::default(),
            gathered: Mutex::new((Buffer::new(driver, 0)?, Buffer::new(driver, 0)?)),
        })
    }

    /// Makes room for this many values.
    pub(super) fn reserve(&mut self, count: usize, value_bytes: usize) -> Result<()> {
        self.packed_places.resize(count)?;
        self.packed_values.resize(count * value_bytes)?;
        self.places.reserve(count)?;
        self.values.reserve(count * value_bytes)
    }

    /// The plan for these routes, made when they come for the first time.
    fn plan(&mut self, lists: &mut RouteLists, routes: &[Route<'_>]) -> Result<usize> {
        let pieces: Vec<_> = routes.iter().map(|route| (route.id(), route.part())).collect();
        if let Some(known) = self.plans.iter().position(|plan| plan.pieces == pieces) {
            return Ok(known);
        }
        let mut tiles = Vec::new();
        for (piece, route) in routes.iter().enumerate() {
            let whole = lists.tile(route)?;
            for (part, only_at) in parts(route) {
                for place in part.clone().step_by(PLACES_PER_TILE as usize) {
                    let count = PLACES_PER_TILE.min(part.end - place);
                    let first = whole.first + place;
                    tiles.push(Tile { first, count, place, piece: piece as u32, only_at, ..whole });
                }
            }
        }
        let longest = routes.iter().map(Route::len).max().unwrap_or(0);
        self.all_places.extend(self.all_places.len() as u32..longest as u32);
        let driver = lists.driver();
        self.plans.push(Plan {
            pieces,
            counts: Buffer::new(driver, tiles.len())?,
            piece_ends: Buffer::zeroed(driver, routes.len())?,
            num_places: routes.iter().map(Route::len).sum(),
            tiles: Buffer::from_slice(driver, &tiles)?,
        });
        Ok(self.plans.len() - 1)
    }

    /// Counts the updated proxies on these routes. Returns their plan and their number, and has waited for all
    /// queued work unless there are no proxies at all.
    fn count(
        &mut self,
        kernels: &FieldKernels,
        lists: &mut RouteLists,
        routes: &[Route<'_>],
        unsent: Unsent,
    ) -> Result<(usize, usize)> {
        let number = self.plan(lists, routes)?;
        let plan = &self.plans[number];
        self.pieces.clone_from(&plan.pieces);
        self.ends = vec![0; routes.len()];
        self.batches.of_pieces.clear();
        let num_tiles = plan.tiles.len() as u32;
        if num_tiles == 0 {
            return Ok((number, 0));
        }
        let (tiles, counts) = (plan.tiles.address(), plan.counts.address());
        let count = arguments![tiles, num_tiles, unsent, counts];
        kernels.launch("count", plan.lanes(), &count)?;
        let ends = plan.piece_ends.address();
        kernels.launch("scan", 1, &arguments![tiles, num_tiles, counts, ends])?;
        plan.piece_ends.download(0, &mut self.ends)?;
        // A route without proxies has no tile: it ends where the one before does.
        let mut end = 0;
        for (piece, route) in self.ends.iter_mut().zip(routes) {
            end = if route.is_empty() { end } else { *piece };
            *piece = end;
        }
        Ok((number, end as usize))
    }

    /// Packs the values of all proxies on these routes into memory that others may read, an item for each
    /// route. `None` if a proxy is not updated, or if others still read what was lent before.
    pub(super) fn lend(
        &mut self,
        kernels: &FieldKernels,
        lists: &mut RouteLists,
        routes: &[Route<'_>],
        (unsent, values): (Unsent, Address),
        value_bytes: usize,
    ) -> Result<Option<Vec<Item>>> {
        let (plan, count) = self.count(kernels, lists, routes, unsent)?;
        let plan = &self.plans[plan];
        if count < plan.num_places {
            return Ok(None);
        }
        let Some(memory) = self.loans.free(lists.driver(), count * value_bytes)? else {
            return Ok(None);
        };
        self.packed_places.resize(count)?;
        let to = [self.packed_places.address(), memory.address()];
        plan.extract(kernels, (unsent, values), to)?;
        // Kernels of other hosts do not wait for those of this one.
        lists.driver().synchronize()?;
        let mut start = 0;
        let lent = routes.iter().map(|route| {
            let bytes = route.len() * value_bytes;
            start += bytes;
            Arc::new(LentValues { memory: memory.clone(), start: start - bytes, bytes }) as Item
        });
        Ok(Some(lent.collect()))
    }

    /// Queues the packing of the values of the updated proxies on these routes, and their copies.
    pub(super) fn pack(
        &mut self,
        kernels: &FieldKernels,
        lists: &mut RouteLists,
        routes: &[Route<'_>],
        (unsent, values): (Unsent, Address),
        value_bytes: usize,
    ) -> Result<()> {
        let (plan, count) = self.count(kernels, lists, routes, unsent)?;
        if count == 0 {
            return Ok(());
        }
        let plan = &self.plans[plan];
        self.packed_places.resize(count)?;
        self.packed_values.resize(count * value_bytes)?;
        let to = [self.packed_places.address(), self.packed_values.address()];
        plan.extract(kernels, (unsent, values), to)?;
        let needs_places = count < plan.num_places;
        self.places.reserve(if needs_places { count } else { 0 })?;
        self.values.reserve(count * value_bytes)?;
        self.copy(lists.driver(), value_bytes, needs_places)
    }

    /// Queues copies of what is packed, in batches of whole pieces.
    fn copy(
        &mut self,
        driver: &Arc<dyn Driver>,
        value_bytes: usize,
        needs_places: bool,
    ) -> Result<()> {
        let (mut start, mut batch) = (0, 0);
        for (piece, &end) in self.ends.iter().enumerate() {
            self.batches.of_pieces.push(batch);
            let part = start..end as usize;
            let bytes = start * value_bytes..part.end * value_bytes;
            if bytes.len() < self.batches.min_bytes && piece + 1 < self.ends.len() {
                continue;
            }
            if needs_places {
                self.packed_places.queue_download(part.clone(), &mut self.places, start)?;
            }
            self.packed_values.queue_download(bytes.clone(), &mut self.values, bytes.start)?;
            if batch == self.batches.marks.len() {
                self.batches.marks.push(QueueMark::new(driver)?);
            }
            self.batches.marks[batch].set()?;
            (start, batch) = (part.end, batch + 1);
        }
        Ok(())
    }

    /// What was packed of one of the routes, when it is there.
    pub(super) fn packed(&self, route: &Route<'_>, value_bytes: usize) -> Result<Extracted<'_>> {
        let name = (route.id(), route.part());
        let piece = self.pieces.iter().position(|known| *known == name);
        let piece = piece.expect("a route that was announced");
        if let Some(&batch) = self.batches.of_pieces.get(piece) {
            self.batches.marks[batch].wait()?;
        }
        let start = if piece == 0 { 0 } else { self.ends[piece - 1] } as usize;
        let end = self.ends[piece] as usize;
        Ok(Extracted {
            places: match end - start == route.len() {
                true => &self.all_places[..route.len()],
                false => &self.places[start..end],
            },
            values: &self.values[start * value_bytes..end * value_bytes],
        })
    }

    /// The values at some places of a route.
    pub(super) fn gather(
        &self,
        (kernels, lists): (&FieldKernels, &RouteLists),
        values: &Buffer<u8>,
        route: &Route<'_>,
        places: Places<'_>,
        into: &mut [u8],
    ) -> Result<()> {
        let count = places.count(route.len());
        if count == 0 {
            return Ok(());
        }
        if let (Some(range), Places::All) = (route.range(), places) {
            // Consecutive values need no kernel.
            return values.download(range.start as usize * (into.len() / count), into);
        }
        let (list, gathered) = &mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.resize(into.len())?;
        let (tile, picked) = match (lists.resident(route), places) {
            (Some(tile), Places::All) => (tile, Address(0)),
            (Some(tile), Places::Some(picked)) => {
                list.resize(count)?;
                list.upload(0, picked)?;
                (tile, list.address())
            }
            (None, _) => {
                let proxies: Vec<u32> = route.locals(places).map(|local| local.0).collect();
                list.resize(count)?;
                list.upload(0, &proxies)?;
                (Tile { list: list.address().0, count: count as u32, ..Tile::zeroed() }, Address(0))
            }
        };
        let (from, to) = (values.address(), gathered.address());
        let arguments = arguments![tile, picked, count as u32, from, to];
        kernels.launch("gather", count as u64, &arguments)?;
        gathered.download(0, into)
    }
}

/// The places of a route, those of masters with mirrors at one end of edges only apart: `Tile::only_at`.
fn parts(route: &Route<'_>) -> Vec<(Range<u32>, u64)> {
    let start = route.part().start;
    let only =
        [(End::Source, 1), (End::Destination, 2)].into_iter().filter_map(|(end, only_at)| {
            let part = route.only_at(end)?.part();
            Some((part.start - start..part.end - start, only_at))
        });
    let (mut parts, mut next) = (Vec::new(), 0);
    let mut only: Vec<_> = only.collect();
    only.sort_by_key(|(part, _)| part.start);
    for (part, only_at) in only {
        parts.push((next..part.start, 0));
        next = part.end;
        parts.push((part, only_at));
    }
    parts.push((next..route.len() as u32, 0));
    parts
}
