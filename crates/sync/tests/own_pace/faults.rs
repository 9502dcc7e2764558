//! Mistakes that protocols like this one have had, planted to see whether the simulation finds them.
//! All of them get in where the substrate meets what it is given: fields, tables, counts.

use std::ops::Range;

use parton_partition::End;
use parton_sync::{
    Absorb, AtomicValue, CpuField, Extracted, Field, Phase, Places, Reduction, Result, Route,
    Shape, Staging, Value, Which,
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
pub(crate) struct Faulty<R: Reduction<Value: AtomicValue>> {
    pub(crate) field: CpuField<R>,
    pub(crate) bug: Option<Bug>,
}

impl<R: Reduction<Value: AtomicValue>> Field for Faulty<R> {
    fn shape(&self) -> Shape {
        self.field.shape()
    }

    fn extract<'f>(
        &'f self,
        route: &Route<'_>,
        which: Which<'_>,
        staging: &'f mut Staging,
    ) -> Result<Extracted<'f>> {
        let mut found = self.field.extract(route, which, staging)?;
        // Not all of them, or nothing would ever arrive.
        let drops = self.bug == Some(Bug::DropUpdate) && which == Which::Updated;
        if drops && found.places.len() > 1 && found.places[0] == 0 {
            found.places = &found.places[1..];
            found.values = &found.values[R::Value::KIND.bytes()..];
        }
        Ok(found)
    }

    fn reset(&mut self, phase: Phase, end: End, proxies: &[Range<u32>]) -> Result<()> {
        match self.bug {
            Some(Bug::SkipMirrorReset) => {
                proxies.iter().for_each(|range| self.field.updated().remove_range(range.clone()));
                Ok(())
            }
            _ => self.field.reset(phase, end, proxies),
        }
    }

    fn absorb(
        &mut self,
        how: Absorb,
        route: &Route<'_>,
        places: Places<'_>,
        values: &[u8],
    ) -> Result<()> {
        let how = match (how, self.bug) {
            (Absorb::FoldAtMirrors, Some(Bug::EchoBroadcasts)) => Absorb::FoldAtMasters,
            (Absorb::FoldAtMirrors, Some(Bug::SetInsteadOfCombine)) => Absorb::SetAtMirrors,
            _ => how,
        };
        self.field.absorb(how, route, places, values)
    }
}
