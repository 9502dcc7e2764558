//! A field on a made-up device, to be mixed with fields in memory in one run.
//!
//! Its values lie in an arena that only the bulk calls of [`Field`] reach. A device works by itself
//! and late: here a command is carried out when somebody waits for its result and no earlier, so
//! that code which forgets to wait finds the old values. Lists of proxies are uploaded once under
//! the name of their route. Any call can be made to fail.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

use parton_graph::LocalId;
use parton_partition::{End, RouteId};
use parton_sync::{
    Absorb, AtomicValue, CpuField, Delivery, Error, Extracted, Field, Phase, Places, Reduction,
    Result, Route, Shape, Staging, Value, Which,
};

/// What tests do with a field, wherever it is. Like the engine of a device, they write and read in
/// bulk.
pub(crate) trait AnyField<R: Reduction>: Field {
    /// Folds these values in; their proxies must be sent.
    fn fold_all(&mut self, values: &[(LocalId, R::Value)]);
    /// Replaces these values; what must be sent stays as it is.
    fn put_all(&mut self, values: &[(LocalId, R::Value)]);
    /// The values of all proxies.
    fn values(&self) -> Vec<R::Value>;
    /// Number of proxies that must be sent.
    fn num_updated(&self) -> usize;
    /// How often the list of each route was uploaded.
    fn uploads(&self) -> Vec<usize>;
}

impl<R: Reduction<Value: AtomicValue>> AnyField<R> for CpuField<R> {
    fn fold_all(&mut self, values: &[(LocalId, R::Value)]) {
        for &(proxy, value) in values {
            self.fold(proxy, value);
            self.touch(proxy);
        }
    }

    fn put_all(&mut self, values: &[(LocalId, R::Value)]) {
        values.iter().for_each(|&(proxy, value)| self.put(proxy, value));
    }

    fn values(&self) -> Vec<R::Value> {
        (0..self.num_proxies() as u32).map(|proxy| self.get(LocalId(proxy))).collect()
    }

    fn num_updated(&self) -> usize {
        self.updated().len()
    }

    fn uploads(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// Where the proxies of a route lie in the arena.
#[derive(Clone)]
enum Proxies {
    /// Consecutive.
    Range(Range<u32>),
    /// Places of an uploaded list.
    Uploaded(RouteId, Range<u32>),
    /// A list that came with the values.
    Listed(Vec<LocalId>),
}

/// A command that has not been carried out.
enum Command<V> {
    Reset { phase: Phase, end: End, proxies: Vec<Range<u32>> },
    Absorb { how: Absorb, proxies: Proxies, places: Option<Vec<u32>>, values: Vec<V> },
}

/// Values that are being packed for one route.
struct Packing {
    proxies: Proxies,
    /// Places of the route whose mirrors are at one end only: sources, destinations.
    only: [Range<u32>; 2],
    /// Places and values, when somebody has waited for them.
    packed: OnceCell<(Vec<u32>, Vec<u8>)>,
}

/// The memory of the device.
struct Arena<R: Reduction> {
    delivery: Delivery,
    values: Vec<R::Value>,
    updated: Vec<bool>,
    /// Proxies that an engine has to compute with.
    active: Vec<bool>,
    /// Masters that mirrors at one end only have not been told: sources, destinations.
    owed: [Vec<bool>; 2],
    lists: HashMap<RouteId, Vec<LocalId>>,
    uploads: HashMap<RouteId, usize>,
    commands: Vec<Command<R::Value>>,
}

/// A field on the device.
pub(crate) struct DeviceField<R: Reduction> {
    arena: RefCell<Arena<R>>,
    delivery: Delivery,
    id: u8,
    packing: Vec<Packing>,
    /// Routes that were asked for.
    asked: Cell<usize>,
    /// Calls until one fails.
    calls_left: Cell<u64>,
}

impl<R: Reduction> Arena<R> {
    fn locals(&self, proxies: &Proxies) -> Vec<LocalId> {
        match proxies {
            Proxies::Range(range) => range.clone().map(LocalId).collect(),
            Proxies::Uploaded(id, part) => {
                self.lists[id][part.start as usize..part.end as usize].to_vec()
            }
            Proxies::Listed(list) => list.clone(),
        }
    }

    fn upload(&mut self, route: &Route<'_>) -> Proxies {
        let (Some(id), None) = (route.id(), route.range()) else {
            return match route.range() {
                Some(range) => Proxies::Range(range),
                None => Proxies::Listed(route.locals(Places::All).collect()),
            };
        };
        if !self.lists.contains_key(&id) {
            *self.uploads.entry(id).or_default() += 1;
            let whole = route.whole();
            self.lists.insert(id, whole.locals(Places::All).collect());
        }
        Proxies::Uploaded(id, route.part())
    }

    /// Carries out every command.
    fn flush(&mut self) {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::Reset { phase, end, proxies } => {
                    proxies.into_iter().flatten().for_each(|p| self.reset(phase, end, p as usize));
                }
                Command::Absorb { how, proxies, places, values } => {
                    let locals = self.locals(&proxies);
                    let places = places.unwrap_or((0..locals.len() as u32).collect());
                    for (place, value) in places.into_iter().zip(values) {
                        self.absorb(how, locals[place as usize].index(), value);
                    }
                }
            }
        }
    }

    fn reset(&mut self, phase: Phase, end: End, proxy: usize) {
        let was_updated = std::mem::take(&mut self.updated[proxy]);
        match phase {
            Phase::Reduce => {
                let counts_once = self.delivery == Delivery::Event || !R::IDEMPOTENT;
                if was_updated && counts_once {
                    self.values[proxy] = R::identity();
                }
            }
            Phase::Broadcast => {
                let [sources, destinations] = &mut self.owed;
                sources[proxy] = end == End::Destination && (was_updated || sources[proxy]);
                destinations[proxy] = end == End::Source && (was_updated || destinations[proxy]);
            }
        }
    }

    fn absorb(&mut self, how: Absorb, proxy: usize, value: R::Value) {
        let old = self.values[proxy];
        self.values[proxy] = match how {
            Absorb::SetAtMirrors => value,
            _ => R::combine(old, value),
        };
        let is_news = self.values[proxy] != old || self.delivery == Delivery::Event;
        self.updated[proxy] |= is_news && how == Absorb::FoldAtMasters;
        self.active[proxy] |= is_news;
    }

    fn pack(&self, packing: &Packing) -> (Vec<u32>, Vec<u8>) {
        let locals = self.locals(&packing.proxies);
        let is_due = |&place: &u32| {
            let proxy = locals[place as usize].index();
            let owed = packing.only.iter().zip(&self.owed);
            let mut owed = owed.filter(|(only, _)| only.contains(&place));
            self.updated[proxy] || owed.any(|(_, owed)| owed[proxy])
        };
        let places: Vec<u32> = (0..locals.len() as u32).filter(is_due).collect();
        let values = self.bytes(places.iter().map(|&place| locals[place as usize]));
        (places, values)
    }

    fn bytes(&self, locals: impl Iterator<Item = LocalId>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for local in locals {
            let start = bytes.len();
            bytes.resize(start + R::Value::KIND.bytes(), 0);
            self.values[local.index()].write(&mut bytes[start..]);
        }
        bytes
    }
}

impl<R: Reduction> DeviceField<R> {
    pub(crate) fn new(
        proxies: usize,
        delivery: Delivery,
        start: impl Fn(LocalId) -> R::Value,
    ) -> Self {
        let arena = Arena {
            delivery,
            values: (0..proxies as u32).map(|proxy| start(LocalId(proxy))).collect(),
            updated: vec![false; proxies],
            active: vec![false; proxies],
            owed: [vec![false; proxies], vec![false; proxies]],
            lists: HashMap::new(),
            uploads: HashMap::new(),
            commands: Vec::new(),
        };
        DeviceField {
            arena: RefCell::new(arena),
            delivery,
            id: 0,
            packing: Vec::new(),
            asked: Cell::new(0),
            calls_left: Cell::new(u64::MAX),
        }
    }

    /// The same field, of which this call fails and all that follow.
    pub(crate) fn failing_after(self, calls: u64) -> Self {
        self.calls_left.set(calls);
        self
    }

    /// The device works through what is active: takes these proxies, with their values.
    pub(crate) fn take_active(&mut self) -> Vec<(LocalId, R::Value)> {
        let arena = self.arena.get_mut();
        arena.flush();
        let all = arena.active.iter_mut().zip(&arena.values).zip(0..);
        let active = all.filter_map(|((is_active, value), proxy)| {
            std::mem::take(is_active).then_some((LocalId(proxy), *value))
        });
        active.collect()
    }

    /// The device takes the contributions of consecutive proxies: they go back to the identity, and need not
    /// be sent.
    pub(crate) fn take_contributions(&mut self, proxies: Range<usize>) -> Vec<(LocalId, R::Value)> {
        let mut taken = self.take_active();
        taken.retain(|(proxy, _)| proxies.contains(&proxy.index()));
        let arena = self.arena.get_mut();
        for (proxy, _) in &taken {
            arena.values[proxy.index()] = R::identity();
            arena.updated[proxy.index()] = false;
        }
        taken
    }

    /// Fails if the device is lost.
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        let left = self.calls_left.get();
        self.calls_left.set(left.saturating_sub(1));
        match left {
            0 => Err(Error::Device { device: "fake:0".into(), reason: format!("lost in {what}") }),
            _ => Ok(()),
        }
    }
}

impl<R: Reduction> AnyField<R> for DeviceField<R> {
    fn fold_all(&mut self, values: &[(LocalId, R::Value)]) {
        let arena = self.arena.get_mut();
        arena.flush();
        for &(proxy, value) in values {
            let mine = &mut arena.values[proxy.index()];
            *mine = R::combine(*mine, value);
            arena.updated[proxy.index()] = true;
            arena.active[proxy.index()] = true;
        }
    }

    fn put_all(&mut self, values: &[(LocalId, R::Value)]) {
        let arena = self.arena.get_mut();
        arena.flush();
        values.iter().for_each(|&(proxy, value)| arena.values[proxy.index()] = value);
    }

    /// Reads what is there, without waiting.
    fn values(&self) -> Vec<R::Value> {
        self.arena.borrow().values.clone()
    }

    fn num_updated(&self) -> usize {
        self.arena.borrow().updated.iter().filter(|updated| **updated).count()
    }

    fn uploads(&self) -> Vec<usize> {
        self.arena.borrow().uploads.values().copied().collect()
    }
}

impl<R: Reduction> Field for DeviceField<R> {
    fn shape(&self) -> Shape {
        Shape { id: self.id, ..Shape::new(R::Value::KIND, self.delivery) }
    }

    fn begin_extract(&mut self, _: Phase, routes: &[Route<'_>]) -> Result<()> {
        self.check("begin_extract")?;
        let arena = self.arena.get_mut();
        self.packing.clear();
        self.asked.set(0);
        for route in routes {
            let only = [End::Source, End::Destination].map(|end| {
                let start = route.part().start;
                let only = route.only_at(end).map_or(start..start, |piece| piece.part());
                only.start - start..only.end - start
            });
            let proxies = arena.upload(route);
            self.packing.push(Packing { proxies, only, packed: OnceCell::new() });
        }
        Ok(())
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        self.check("extract")?;
        let mut arena = self.arena.borrow_mut();
        arena.flush();
        match which {
            Which::Updated => {
                let packing = &self.packing[self.asked.replace(self.asked.get() + 1)];
                let (places, values) = packing.packed.get_or_init(|| arena.pack(packing));
                Ok(Extracted { places, values })
            }
            Which::At(places) => {
                let packing = &self.packing[self.asked.get() - 1];
                let locals = arena.locals(&packing.proxies);
                assert!(locals.iter().copied().eq(route.locals(Places::All)), "the route begun");
                staging.values = match places {
                    Places::All => arena.bytes(locals.into_iter()),
                    Places::Some(some) => arena.bytes(some.iter().map(|&p| locals[p as usize])),
                };
                Ok(staging.extracted())
            }
        }
    }

    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        self.check("reset")?;
        let arena = self.arena.get_mut();
        arena.commands.push(Command::Reset { phase, end, proxies: proxies.to_vec() });
        Ok(())
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        self.check("absorb")?;
        let arena = self.arena.get_mut();
        let proxies = arena.upload(route);
        let places = match places {
            Places::All => None,
            Places::Some(places) => Some(places.to_vec()),
        };
        let values = values.chunks_exact(R::Value::KIND.bytes()).map(R::Value::read).collect();
        arena.commands.push(Command::Absorb { how, proxies, places, values });
        Ok(())
    }

    fn finish_absorb(&mut self) -> Result<()> {
        self.check("finish_absorb")?;
        self.arena.get_mut().flush();
        Ok(())
    }
}
