//! What one message says: the choice between the updated values and all values of a route.

use parton_graph::GlobalId;
use parton_partition::Partition;

use crate::encode::{self, EncodingPlan, Listing, Places, Size};
use crate::error::{Error, Result};
use crate::field::{Delivery, Extracted, Field, Shape, Staging, Which};
use crate::route::Route;

/// All values of a route are considered if more than one in 16 is updated: below that, the few
/// bytes it could save are not worth the time of visiting all places.
const MAX_PLACES_PER_UPDATE: usize = 16;
/// Number of values that tell whether sending all can pay.
const SAMPLES: usize = 16;

/// Memory for values on their way to a message.
#[derive(Default)]
pub(super) struct MessageStaging {
    /// Updated values,
    updated: Staging,
    /// and others that are compared with them.
    others: Staging,
}

/// What is written for a piece of a route.
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    pub(super) size: Size,
    /// The places, if the message lists some.
    pub(super) listing: Option<Listing<'static>>,
}

impl From<EncodingPlan<'_>> for Message {
    fn from(plan: EncodingPlan<'_>) -> Self {
        let bytes = plan.write();
        let listing = plan.listing(&bytes).map(Listing::into_owned);
        Message { size: plan.size(), listing, bytes }
    }
}

/// How a host's messages are written. Threads write several at once.
pub(super) struct Writer<'a> {
    pub(super) partition: &'a Partition,
    /// Whether hosts have agreed on an order.
    pub(super) is_memoised: bool,
    /// Whether a message without values is not sent.
    pub(super) skips_empty: bool,
}

impl Writer<'_> {
    /// The message with the updated values of a route, whose peer knows the places that were listed `before`; `None`
    /// if none is to be sent.
    pub(super) fn write(
        &self,
        field: &dyn Field,
        route: &Route<'_>,
        before: Option<&Listing<'_>>,
        MessageStaging { updated, others }: &mut MessageStaging,
    ) -> Result<Option<Message>> {
        updated.clear();
        others.clear();
        let updated = field.extract(route, Which::Updated, updated)?;
        if self.skips_empty && updated.places.is_empty() {
            return Ok(None);
        }
        let (partition, shape) = (self.partition, field.shape());
        let message = match self.is_memoised {
            true => smallest(field, route, before, updated, others)?,
            false => with_ids(shape, partition.num_vertices(), updated, |place| {
                partition.global(route.local(place))
            })?,
        };
        Ok(Some(message))
    }
}

/// The smallest message with the updated values of a route. `staging` comes empty.
fn smallest(
    field: &dyn Field,
    route: &Route<'_>,
    before: Option<&Listing<'_>>,
    updated: Extracted<'_>,
    staging: &mut Staging,
) -> Result<Message> {
    let Shape { kind, delivery, lanes, .. } = field.shape();
    let len = route.len() * lanes;
    let places = match updated.places.len() {
        count if count == len => Places::All,
        _ => Places::Some(updated.places),
    };
    let exact = EncodingPlan::after(before, kind, len, places, updated.values);
    let may_be_dense = delivery == Delivery::Label
        && (len / MAX_PLACES_PER_UPDATE + 1..len).contains(&updated.places.len());
    if !may_be_dense {
        return Ok(exact.into());
    }
    let samples: Vec<u32> = (0..len as u32).step_by(len.div_ceil(SAMPLES)).collect();
    let sample = field.extract(route, Which::At(Places::Some(&samples)), staging)?;
    if exact.dense_could_win(sample.values) {
        staging.clear();
        let all = field.extract(route, Which::At(Places::All), staging)?;
        let dense = EncodingPlan::new(kind, len, Places::All, all.values);
        if dense.size().total() < exact.size().total() {
            return Ok(dense.into());
        }
    }
    Ok(exact.into())
}

/// The message for hosts that have not agreed on an order: every value with its global id. If a
/// proxy has several values, its id times their number plus the lane stands for each.
fn with_ids(
    shape: Shape,
    num_vertices: u64,
    updated: Extracted<'_>,
    global: impl Fn(u32) -> GlobalId,
) -> Result<Message> {
    let lanes = shape.lanes as u64;
    if num_vertices * lanes > 1 << 32 {
        return Err(Error::TooManyValues { vertices: num_vertices, lanes });
    }
    let id = |&place: &u32| {
        let (place, lane) = (u64::from(place) / lanes, u64::from(place) % lanes);
        (global(place as u32).0 * lanes + lane) as u32
    };
    let ids: Vec<u32> = updated.places.iter().map(id).collect();
    let (bytes, size) = encode::write_with_ids(shape.kind, &ids, updated.values);
    Ok(Message { bytes, size, listing: None })
}
