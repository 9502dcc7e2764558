//! Mistakes that protocols like this one have had, planted to see whether the simulation finds them.
//! All of them get in where the substrate meets what it is given: fields, tables, counts.

use std::ops::Range;

use parton_sync::{
    CpuField, Field, Outgoing, Phase, Places, Reduction, Route, Shape, Value, Which,
};

/// One mistake each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A mirror keeps a contribution that it has sent.
    SkipMirrorReset,
    /// A mirror passes on to its master what it has heard from it.
    EchoBroadcasts,
    /// An update is forgotten instead of sent.
    DropUpdate,
    /// A mirror takes over what it is told, whatever it has.
    SetInsteadOfCombine,
    /// One snapshot of hosts that are ready is enough to end.
    OneSnapshot,
    /// Messages under way are not counted.
    Uncounted,
}

impl Bug {
    pub(crate) const ALL: [Bug; 6] = [
        Bug::SkipMirrorReset,
        Bug::EchoBroadcasts,
        Bug::DropUpdate,
        Bug::SetInsteadOfCombine,
        Bug::OneSnapshot,
        Bug::Uncounted,
    ];
}

/// A field that may have one of them.
pub(crate) struct Faulty<R: Reduction> {
    pub(crate) field: CpuField<R>,
    pub(crate) bug: Option<Bug>,
}

impl<R: Reduction> Field for Faulty<R> {
    fn shape(&self) -> Shape {
        self.field.shape()
    }

    fn extract(&self, route: Route<'_>, which: Which, out: &mut Outgoing) {
        self.field.extract(route, which, out);
        // Not all of them, or nothing would ever arrive.
        let drops = self.bug == Some(Bug::DropUpdate) && which == Which::Updated;
        if drops && out.places.len() > 1 && out.places[0] == 0 {
            out.places.remove(0);
            out.values.drain(..R::Value::KIND.bytes());
        }
    }

    fn reset(&mut self, proxies: Range<u32>, phase: Phase) {
        match self.bug {
            Some(Bug::SkipMirrorReset) => self.field.updated().remove_range(proxies),
            _ => self.field.reset(proxies, phase),
        }
    }

    fn reduce(&mut self, phase: Phase, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        match (phase, self.bug) {
            (Phase::Broadcast, Some(Bug::EchoBroadcasts)) => {
                self.field.reduce(Phase::Reduce, route, places, values);
            }
            (Phase::Broadcast, Some(Bug::SetInsteadOfCombine)) => {
                self.field.set(route, places, values);
            }
            _ => self.field.reduce(phase, route, places, values),
        }
    }

    fn set(&mut self, route: Route<'_>, places: Places<'_>, values: &[u8]) {
        self.field.set(route, places, values);
    }

    fn id(&self) -> u8 {
        self.field.id()
    }
}
