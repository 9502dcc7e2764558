//! A field in a device's memory: values, which of them are updated, and which are active.
//!
//! Updated values of all routes of a phase are packed at once, in the order of places, and cross the bus
//! while the host writes messages. Nothing that follows the number of proxies crosses it. Encoding is the host's.

mod incoming;
mod lent;
mod outgoing;
#[cfg(test)]
mod tests;
mod tiles;

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use parton_net::HostId;
use parton_net::handover::Item;
use parton_partition::{End, Partition};
use parton_sync::{
    Absorb, Delivery, Extracted, Field, Phase, Places, Result, Route, Shape, Staging, ValueKind,
    Which,
};

use self::incoming::Incoming;
use self::lent::LentValues;
pub(crate) use self::lent::{MAX_LOANS, is_lendable};
use self::outgoing::{Outgoing, Unsent};
use self::tiles::{RouteLists, Tile};
use crate::driver::{Address, Driver};
use crate::host::failed;
use crate::launch::{Arguments, Kernels, arguments};
use crate::memory::Buffer;

/// The text of a field's kernels.
pub(crate) fn text(name: &str, value: &str, fold: &str) -> String {
    include_str!("../kernels/field.cu")
        .replace("$name", name)
        .replace("$Value", value)
        .replace("$Fold", fold)
}

/// The names of a field's kernels.
pub(crate) fn kernel_names(name: &str) -> Vec<String> {
    let kernels = ["count", "scan", "extract", "gather", "absorb", "reset", "forget"];
    kernels.iter().map(|kernel| format!("{name}_{kernel}")).collect()
}

/// What is behind a field's kernels of this name.
pub(crate) struct DeviceField {
    kernels: FieldKernels,
    kind: ValueKind,
    delivery: Delivery,
    pub(crate) is_shared: bool,
    pub(crate) values: Buffer<u8>,
    pub(crate) updated: Buffer<u32>,
    pub(crate) active: Buffer<u32>,
    routes: RouteLists,
    outgoing: Outgoing,
    incoming: Incoming,
    /// Masters that must be sent to mirrors that are sources only, and to mirrors that are destinations only, of a
    /// field that is broadcast to either.
    owed: Option<[Buffer<u32>; 2]>,
    /// What other fields have lent, until the device has read it.
    borrowed: Vec<Arc<LentValues>>,
}

/// The kernels of one field among those of a program.
struct FieldKernels {
    name: String,
    kernels: Arc<Kernels>,
}

impl FieldKernels {
    fn launch(&self, kernel: &str, work: u64, arguments: &Arguments) -> crate::Result<()> {
        self.kernels.launch(&format!("{}_{kernel}", self.name), work, arguments)
    }
}

impl DeviceField {
    /// A field whose kernels are among these. Values are undefined, no proxy is updated or active.
    pub(crate) fn new(
        name: &str,
        kernels: &Arc<Kernels>,
        driver: &Arc<dyn Driver>,
        proxies: usize,
        (kind, delivery): (ValueKind, Delivery),
        is_shared: bool,
    ) -> crate::Result<Self> {
        let words = proxies.div_ceil(32);
        Ok(DeviceField {
            kernels: FieldKernels { name: name.into(), kernels: kernels.clone() },
            kind,
            delivery,
            is_shared,
            // Threads change truth values by the words around them.
            values: Buffer::new(driver, (proxies * kind.bytes()).next_multiple_of(4))?,
            updated: Buffer::zeroed(driver, words)?,
            active: Buffer::zeroed(driver, words)?,
            routes: RouteLists::new(driver)?,
            outgoing: Outgoing::new(driver)?,
            incoming: Incoming::new(driver)?,
            owed: None,
            borrowed: Vec::new(),
        })
    }

    /// Remembers which masters have been sent to mirrors at one end of edges and not at the other.
    pub(crate) fn remember_owed(&mut self) -> crate::Result<()> {
        let (driver, words) = (self.values.driver(), self.updated.len());
        self.owed = Some([Buffer::zeroed(driver, words)?, Buffer::zeroed(driver, words)?]);
        Ok(())
    }

    /// Gives the identity to all proxies, or to the active ones, of which none is active afterwards.
    pub(crate) fn forget(&mut self, everywhere: bool) -> crate::Result<()> {
        if everywhere {
            self.active.queue_fill(0xff)?;
        }
        let (active, values) = (self.active.address(), self.values.address());
        // What lies behind the last value is as good as a value.
        let places = (self.values.len() / self.kind.bytes()) as u32;
        let arguments = arguments![active, places, values];
        self.kernels.launch("forget", self.words().into(), &arguments)
    }

    fn unsent(&self) -> Unsent {
        let owed = self.owed.as_ref().map(|owed| owed.each_ref().map(Buffer::address));
        Unsent { updated: self.updated.address(), owed: owed.unwrap_or([Address(0); 2]) }
    }

    /// Prepares exchanges with all peers: memory for what is packed, and lists of what is shared.
    pub(crate) fn prepare(&mut self, partition: &Partition) -> crate::Result<()> {
        let (mut num_shared, mut longest) = (0, 0);
        for peer in HostId::all(partition.num_hosts()).filter(|&peer| peer != partition.host()) {
            let route =
                Route::masters(peer, partition.routes(peer), End::Either, partition.globals());
            self.routes.tile(&route)?;
            num_shared += route.len();
            longest = longest.max(route.len()).max(partition.routes(peer).mirror_parts().len());
        }
        if partition.num_hosts() == 1 {
            return Ok(());
        }
        self.incoming.reserve(longest * (size_of::<u32>() + self.kind.bytes()))?;
        let num_mirrors = partition.num_proxies() - partition.num_masters();
        self.outgoing.reserve(num_shared.max(num_mirrors), self.kind.bytes())
    }

    /// Number of words of a set of proxies.
    pub(crate) fn words(&self) -> u32 {
        self.updated.len() as u32
    }

    /// The set of updated proxies for kernels that mark them; null where no other host has proxies.
    pub(crate) fn updated_if_shared(&self) -> Address {
        if self.is_shared { self.updated.address() } else { Address(0) }
    }

    /// Reads the first values.
    pub(crate) fn read(&self, into: &mut [u8]) -> crate::Result<()> {
        self.values.download(0, into)
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
        let tile = self.routes.tile(route)?;
        let places = match places {
            Places::All => &[],
            Places::Some(list) => bytemuck::cast_slice::<u32, u8>(list),
        };
        let [places, arrived] = self.incoming.upload([places, values])?;
        self.fold(how, tile, (places, count), arrived)
    }

    /// Queues the folding of values on the device into the proxies at some places, or all, of a route.
    fn fold(
        &mut self,
        how: Absorb,
        tile: Tile,
        (places, count): (Address, u32),
        arrived: Address,
    ) -> crate::Result<()> {
        let replaces = u32::from(how == Absorb::SetAtMirrors);
        let goes_on = u32::from(how == Absorb::FoldAtMasters && self.is_shared);
        let is_event = u32::from(self.delivery == Delivery::Event);
        let (values, updated) = (self.values.address(), self.updated.address());
        let active = self.active.address();
        let arguments = arguments![
            tile, places, count, arrived, values, updated, active, replaces, goes_on, is_event
        ];
        self.kernels.launch("absorb", count.into(), &arguments)
    }

    fn clear(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> crate::Result<()> {
        // A contribution that was sent goes back to the identity.
        let forgets = u32::from(phase == Phase::Reduce && self.delivery == Delivery::Event);
        let (updated, values) = (self.updated.address(), self.values.address());
        let none = Address(0);
        let [sources, destinations] = self.unsent().owed;
        let [owed, paid, also_paid] = match (phase, end) {
            (Phase::Reduce, _) => [none; 3],
            (Phase::Broadcast, End::Source) => [destinations, sources, none],
            (Phase::Broadcast, End::Destination) => [sources, destinations, none],
            (Phase::Broadcast, End::Either) => [none, sources, destinations],
        };
        for range in proxies.iter().filter(|range| !range.is_empty()) {
            let words = u64::from(range.end.div_ceil(32) - range.start / 32);
            let arguments =
                arguments![range.start, range.end, updated, values, forgets, owed, paid, also_paid];
            self.kernels.launch("reset", words, &arguments)?;
        }
        Ok(())
    }
}

impl Field for DeviceField {
    fn shape(&self) -> Shape {
        Shape::new(self.kind, self.delivery)
    }

    fn memory(&self) -> Option<NonZeroU64> {
        Some(self.values.driver().memory())
    }

    fn lend(&mut self, _: Phase, routes: &[Route<'_>]) -> Result<Option<Vec<Item>>> {
        if !is_lendable(self.kind) {
            return Ok(None);
        }
        let sets = (self.unsent(), self.values.address());
        let lent =
            self.outgoing.lend(&self.kernels, &mut self.routes, routes, sets, self.kind.bytes());
        // Counting what is updated has waited for all that was queued.
        self.borrowed.clear();
        lent.map_err(failed)
    }

    fn absorb_lent(&mut self, how: Absorb, route: &Route<'_>, item: Item) -> Result<bool> {
        let Ok(lent) = item.downcast::<LentValues>() else { return Ok(false) };
        if lent.bytes != route.len() * self.kind.bytes() {
            return Ok(false);
        }
        let tile = self.routes.tile(route).map_err(failed)?;
        let everywhere = (Address(0), route.len() as u32);
        self.fold(how, tile, everywhere, lent.address()).map_err(failed)?;
        self.borrowed.push(lent);
        Ok(true)
    }

    fn begin_extract(&mut self, _: Phase, routes: &[Route<'_>]) -> Result<()> {
        let sets = (self.unsent(), self.values.address());
        let packed =
            self.outgoing.pack(&self.kernels, &mut self.routes, routes, sets, self.kind.bytes());
        packed.map_err(failed)
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        match which {
            Which::Updated => self.outgoing.packed(route, self.kind.bytes()).map_err(failed),
            Which::At(places) => {
                staging.values.resize(places.count(route.len()) * self.kind.bytes(), 0);
                let (values, into) = (&self.values, &mut staging.values);
                let how = (&self.kernels, &self.routes);
                self.outgoing.gather(how, values, route, places, into).map_err(failed)?;
                Ok(staging.extracted())
            }
        }
    }

    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        self.clear(phase, end, proxies).map_err(failed)
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
