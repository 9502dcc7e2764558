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

    /// All of a route as one tile.
    pub(super) fn tile(&mut self, route: &Route<'_>) -> Result<Tile> {
        let whole = |list: u64, first: u32| Tile {
            list,
            first,
            count: route.len() as u32,
            place: 0,
            piece: 0,
            only_at: 0,
        };
        if let Some(range) = route.range() {
            return Ok(whole(0, range.start));
        }
        let upload = |route: &Route<'_>| {
            let list: Vec<u32> = route.locals(Places::All).map(|local| local.0).collect();
            Buffer::from_slice(&self.driver, &list)
        };
        let Some(id) = route.id() else {
            self.once = upload(route)?;
            return Ok(whole(self.once.address().0, 0));
        };
        let known = match self.known.iter().position(|(known, _)| *known == id) {
            Some(known) => known,
            None => {
                let list = upload(&route.whole())?;
                self.known.push((id, list));
                self.known.len() - 1
            }
        };
        Ok(whole(self.known[known].1.address().0, route.part().start))
    }
}
