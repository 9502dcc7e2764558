//! A field in a device's memory: values, which of them are updated, and which are active.
//!
//! Updated values of all routes of a phase are packed at once, in the order of places, and cross the bus
//! together. Nothing that follows the number of proxies crosses it. Encoding is the host's.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use parton_partition::End;
use parton_partition::routes::RouteId;
use parton_sync::{
    Absorb, Delivery, Extracted, Field, Phase, Places, Result, Route, Shape, Staging, ValueKind,
    Which,
};

use crate::driver::{Address, Driver};
use crate::host::failed;
use crate::launch::{Arguments, Kernels, arguments};
use crate::memory::{Buffer, PinnedBuffer};

/// Places of a tile at most, as in `field.cu`.
const PLACES_PER_TILE: u32 = 1024;

/// The text of a field's kernels.
pub(crate) fn text(name: &str, value: &str, fold: &str) -> String {
    include_str!("../kernels/field.cu")
        .replace("$name", name)
        .replace("$Value", value)
        .replace("$Fold", fold)
}

/// The names of a field's kernels.
pub(crate) fn kernel_names(name: &str) -> Vec<String> {
    let kernels = ["count", "scan", "extract", "gather", "absorb", "reset"];
    kernels.iter().map(|kernel| format!("{name}_{kernel}")).collect()
}

/// What is behind a field's kernels of this name.
pub(crate) struct DeviceField {
    name: &'static str,
    kernels: Arc<Kernels>,
    driver: Arc<dyn Driver>,
    kind: ValueKind,
    delivery: Delivery,
    /// Whether a contribution that was sent goes back to the identity.
    forgets: bool,
    pub(crate) values: Buffer<u8>,
    pub(crate) updated: Buffer<u32>,
    pub(crate) active: Buffer<u32>,
    /// Lists of masters that were uploaded, by the route's name.
    lists: Vec<(RouteId, Buffer<u32>)>,
    plans: Vec<Plan>,
    /// What the last [`Field::begin_extract`] found.
    extracted: RefCell<Packed>,
    scratch: RefCell<Scratch>,
    pub(crate) is_shared: bool,
}

/// The tiles of all routes of a phase, on the device.
struct Plan {
    routes: Vec<(Option<RouteId>, Range<u32>)>,
    tiles: Buffer<Tile>,
    counts: Buffer<u32>,
    piece_ends: Buffer<u64>,
    num_places: usize,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Tile {
    list: u64,
    first: u32,
    count: u32,
    place: u32,
    piece: u32,
}

struct Packed {
    routes: Vec<(Option<RouteId>, Range<u32>)>,
    ends: Vec<u64>,
    places: PinnedBuffer<u32>,
    values: PinnedBuffer<u8>,
}

struct Scratch {
    places: Buffer<u32>,
    values: Buffer<u8>,
}

impl DeviceField {
    /// A field whose kernels are among these. Values are undefined, no proxy is updated or active.
    pub(crate) fn new(
        name: &'static str,
        kernels: &Arc<Kernels>,
        driver: &Arc<dyn Driver>,
        proxies: usize,
        (kind, delivery): (ValueKind, Delivery),
        is_shared: bool,
    ) -> crate::Result<Self> {
        let words = proxies.div_ceil(32);
        Ok(DeviceField {
            name,
            kernels: kernels.clone(),
            driver: driver.clone(),
            kind,
            delivery,
            forgets: delivery == Delivery::Event,
            values: Buffer::new(driver, proxies * kind.bytes())?,
            updated: Buffer::zeroed(driver, words)?,
            active: Buffer::zeroed(driver, words)?,
            lists: Vec::new(),
            plans: Vec::new(),
            extracted: RefCell::new(Packed {
                routes: Vec::new(),
                ends: Vec::new(),
                places: PinnedBuffer::new(driver, 0)?,
                values: PinnedBuffer::new(driver, 0)?,
            }),
            scratch: RefCell::new(Scratch {
                places: Buffer::new(driver, 0)?,
                values: Buffer::new(driver, 0)?,
            }),
            is_shared,
        })
    }

    /// Number of words of a set of proxies.
    pub(crate) fn words(&self) -> u32 {
        self.updated.len() as u32
    }

    /// The set of updated proxies for kernels that mark them; null where nobody else has proxies.
    pub(crate) fn updated_if_shared(&self) -> Address {
        if self.is_shared { self.updated.address() } else { Address(0) }
    }

    fn launch(&self, kernel: &str, work: u64, arguments: &Arguments) -> crate::Result<()> {
        self.kernels.launch(&format!("{}_{kernel}", self.name), work, arguments)
    }

    /// The whole list of a route on the device, as a tile.
    fn tile_of(&mut self, route: &Route<'_>) -> crate::Result<Tile> {
        let count = route.len() as u32;
        if let Some(range) = route.range() {
            return Ok(Tile { list: 0, first: range.start, count, place: 0, piece: 0 });
        }
        let Some(id) = route.id() else {
            // A list that comes once.
            let list: Vec<u32> = route.locals(Places::All).map(|local| local.0).collect();
            let mut scratch = self.scratch.borrow_mut();
            // Kept until the next such list: work that reads it is queued before it is replaced.
            scratch.places = Buffer::from_slice(&self.driver, &list)?;
            return Ok(Tile {
                list: scratch.places.address().0,
                first: 0,
                count,
                place: 0,
                piece: 0,
            });
        };
        let known = self.lists.iter().position(|(known, _)| *known == id);
        let at = match known {
            Some(at) => at,
            None => {
                let list: Vec<u32> =
                    route.whole().locals(Places::All).map(|local| local.0).collect();
                self.lists.push((id, Buffer::from_slice(&self.driver, &list)?));
                self.lists.len() - 1
            }
        };
        let list = self.lists[at].1.address().0;
        Ok(Tile { list, first: route.part().start, count, place: 0, piece: 0 })
    }

    /// The plan for these routes, made when they come for the first time.
    fn plan(&mut self, routes: &[Route<'_>]) -> crate::Result<usize> {
        let names: Vec<_> = routes.iter().map(|route| (route.id(), route.part())).collect();
        if let Some(known) = self.plans.iter().position(|plan| plan.routes == names) {
            return Ok(known);
        }
        let mut tiles = Vec::new();
        for (piece, route) in routes.iter().enumerate() {
            let whole = self.tile_of(route)?;
            for place in (0..whole.count).step_by(PLACES_PER_TILE as usize) {
                let count = PLACES_PER_TILE.min(whole.count - place);
                let first = whole.first + place;
                tiles.push(Tile { first, count, place, piece: piece as u32, ..whole });
            }
        }
        self.plans.push(Plan {
            routes: names,
            counts: Buffer::new(&self.driver, tiles.len())?,
            piece_ends: Buffer::zeroed(&self.driver, routes.len())?,
            num_places: routes.iter().map(Route::len).sum(),
            tiles: Buffer::from_slice(&self.driver, &tiles)?,
        });
        Ok(self.plans.len() - 1)
    }

    fn pack(&mut self, routes: &[Route<'_>]) -> crate::Result<()> {
        let plan = self.plan(routes)?;
        let plan = &self.plans[plan];
        let packed = &mut *self.extracted.borrow_mut();
        packed.routes.clone_from(&plan.routes);
        packed.ends = vec![0; routes.len()];
        let num_tiles = plan.tiles.len() as u32;
        if num_tiles == 0 {
            return Ok(());
        }
        let (tiles, updated) = (plan.tiles.address(), self.updated.address());
        let counts = plan.counts.address();
        let lanes = u64::from(num_tiles) * u64::from(PLACES_PER_TILE);
        self.launch("count", lanes, &arguments![tiles, num_tiles, updated, counts])?;
        self.launch("scan", 1, &arguments![tiles, num_tiles, counts, plan.piece_ends.address()])?;
        plan.piece_ends.download(0, &mut packed.ends)?;
        // A route without proxies has no tile: it ends where the one before does.
        let mut end = 0;
        for (piece, route) in packed.ends.iter_mut().zip(routes) {
            end = if route.is_empty() { end } else { *piece };
            *piece = end;
        }
        let (count, bytes) = (end as usize, self.kind.bytes());
        if count == 0 {
            return Ok(());
        }
        let scratch = &mut *self.scratch.borrow_mut();
        let room = count.min(plan.num_places);
        scratch.places.resize(room)?;
        scratch.values.resize(room * bytes)?;
        let (places, values) = (scratch.places.address(), scratch.values.address());
        let from = self.values.address();
        self.launch(
            "extract",
            lanes,
            &arguments![tiles, num_tiles, updated, from, counts, places, values],
        )?;
        packed.places.reserve(count)?;
        packed.values.reserve(count * bytes)?;
        scratch.places.queue_download(0..count, &mut packed.places, 0)?;
        scratch.values.queue_download(0..count * bytes, &mut packed.values, 0)?;
        self.driver.synchronize()
    }

    /// The values at some places of a route.
    fn gather(
        &self,
        route: &Route<'_>,
        places: Places<'_>,
        into: &mut Vec<u8>,
    ) -> crate::Result<()> {
        let count = places.count(route.len());
        into.resize(count * self.kind.bytes(), 0);
        if count == 0 {
            return Ok(());
        }
        let proxies: Vec<u32> = match (route.range(), places) {
            (Some(range), Places::All) => {
                // Consecutive values need no kernel.
                let bytes = self.kind.bytes();
                return self.values.download(range.start as usize * bytes, into);
            }
            _ => route.locals(places).map(|local| local.0).collect(),
        };
        let list = Buffer::from_slice(&self.driver, &proxies)?;
        let gathered = Buffer::<u8>::new(&self.driver, into.len())?;
        let tile =
            Tile { list: list.address().0, first: 0, count: count as u32, place: 0, piece: 0 };
        let (none, from) = (Address(0), self.values.address());
        let to = gathered.address();
        self.launch("gather", count as u64, &arguments![tile, none, count as u32, from, to])?;
        gathered.download(0, into)
    }

    fn take_in(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> crate::Result<()> {
        let count = places.count(route.len()) as u32;
        if count == 0 {
            return Ok(());
        }
        let tile = self.tile_of(route)?;
        let some = match places {
            Places::All => Buffer::new(&self.driver, 0)?,
            Places::Some(list) => Buffer::from_slice(&self.driver, list)?,
        };
        let arrived = Buffer::from_slice(&self.driver, values)?;
        let replaces = u32::from(how == Absorb::SetAtMirrors);
        let goes_on = u32::from(how == Absorb::FoldAtMasters && self.is_shared);
        let is_event = u32::from(self.delivery == Delivery::Event);
        self.launch(
            "absorb",
            count.into(),
            &arguments![
                tile,
                some.address(),
                count,
                arrived.address(),
                self.values.address(),
                self.updated.address(),
                self.active.address(),
                replaces,
                goes_on,
                is_event
            ],
        )?;
        // The kernel reads what is freed here.
        self.driver.synchronize()
    }

    fn clear(&mut self, phase: Phase, proxies: &[Range<u32>]) -> crate::Result<()> {
        let forgets = u32::from(phase == Phase::Reduce && self.forgets);
        for range in proxies.iter().filter(|range| !range.is_empty()) {
            let (updated, values) = (self.updated.address(), self.values.address());
            let words = u64::from(range.end.div_ceil(32) - range.start / 32);
            self.launch(
                "reset",
                words,
                &arguments![range.start, range.end, updated, values, forgets],
            )?;
        }
        Ok(())
    }

    /// Reads the first values.
    pub(crate) fn read(&self, into: &mut [u8]) -> crate::Result<()> {
        self.values.download(0, into)
    }
}

impl Field for DeviceField {
    fn shape(&self) -> Shape {
        Shape::new(self.kind, self.delivery)
    }

    fn begin_extract(&mut self, _: Phase, routes: &[Route<'_>]) -> Result<()> {
        self.pack(routes).map_err(failed)
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        match which {
            Which::Updated => {
                let packed = self.extracted.borrow();
                let name = (route.id(), route.part());
                let piece = packed.routes.iter().position(|known| *known == name);
                let piece = piece.expect("a route that was announced");
                let start = if piece == 0 { 0 } else { packed.ends[piece - 1] } as usize;
                let end = packed.ends[piece] as usize;
                let bytes = self.kind.bytes();
                staging.places.extend_from_slice(&packed.places[start..end]);
                staging.values.extend_from_slice(&packed.values[start * bytes..end * bytes]);
            }
            Which::At(places) => {
                self.gather(route, places, &mut staging.values).map_err(failed)?;
            }
        }
        Ok(staging.extracted())
    }

    fn reset(&mut self, phase: Phase, _: End, proxies: &[Range<u32>]) -> Result<()> {
        self.clear(phase, proxies).map_err(failed)
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        self.take_in(how, route, places, values).map_err(failed)
    }
}
