//! Routes on a device: lists of proxies, uploaded once, and tiles of them that blocks work on.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use parton_partition::routes::RouteId;
use parton_sync::{Places, Route};

use crate::driver::Driver;
use crate::error::Result;
use crate::memory::Buffer;

/// `Tile` of `field.cu`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Tile {
    pub(super) list: u64,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) place: u32,
    pub(super) piece: u32,
    /// 1 + the number of the end of edges at which alone these masters have mirrors; 0 if at both.
    pub(super) only_at: u64,
}

/// Lists of masters that were uploaded, by the route's name.
pub(super) struct RouteLists {
    driver: Arc<dyn Driver>,
    known: Vec<(RouteId, Buffer<u32>)>,
    /// The last list without a name. Freeing it waits for work that reads it.
    once: Buffer<u32>,
}

impl RouteLists {
    pub(super) fn new(driver: &Arc<dyn Driver>) -> Result<Self> {
        let once = Buffer::new(driver, 0)?;
        Ok(RouteLists { driver: driver.clone(), known: Vec::new(), once })
    }

    pub(super) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// All of a route as one tile. A list that is not there yet is uploaded.
    pub(super) fn tile(&mut self, route: &Route<'_>) -> Result<Tile> {
        if let Some(tile) = self.resident(route) {
            return Ok(tile);
        }
        let upload = |route: &Route<'_>| {
            let list: Vec<u32> = route.locals(Places::All).map(|local| local.0).collect();
            Buffer::from_slice(&self.driver, &list)
        };
        let Some(id) = route.id() else {
            self.once = upload(route)?;
            return Ok(whole(route, self.once.address().0, 0));
        };
        let list = upload(&route.whole())?;
        let address = list.address().0;
        self.known.push((id, list));
        Ok(whole(route, address, route.part().start))
    }

    /// All of a route as one tile, if that needs no upload.
    pub(super) fn resident(&self, route: &Route<'_>) -> Option<Tile> {
        if let Some(range) = route.range() {
            return Some(whole(route, 0, range.start));
        }
        let id = route.id()?;
        let (_, list) = self.known.iter().find(|(known, _)| *known == id)?;
        Some(whole(route, list.address().0, route.part().start))
    }
}

/// The proxies of a route, from `first` on in this list.
fn whole(route: &Route<'_>, list: u64, first: u32) -> Tile {
    Tile { list, first, count: route.len() as u32, ..Tile::zeroed() }
}
