//! The substrate: updated values travel along the routes, and every proxy agrees again.
//!
//! Hosts that wait for each other get one message in every exchange from each peer that has a route here. Hosts in an
//! epoch do not wait: they send only updated values and absorb only messages that have arrived. Their mirrors fold
//! values in instead of replacing their own, because a value that arrives late may be older.

mod activity;
mod exchange;
mod handover;
mod interest;
mod listings;
mod message;
mod overlap;
mod shipment;

use std::time::Duration;

use parton_graph::parallel::Scratch;
use parton_net::{HostId, Net};
use parton_partition::partition::Translation;
use parton_partition::{End, Partition};

use activity::ActivityLog;
pub use activity::{Activity, Span};
pub use interest::Interest;
use listings::Listings;
use message::MessageStaging;
pub use overlap::OpenExchange;
pub use shipment::Shipment;

use crate::encode::Size;
use crate::epoch::{Counts, Epoch};
use crate::error::Result;
use crate::field::{Field, Phase};
use crate::governor::{Governor, Waits};
use crate::optimize::Optimize;
use crate::schedule::Schedule;
use crate::termination::Detector;
use crate::volume::Volume;

/// Channel of all messages between proxies.
const CHANNEL: u16 = 0x20;
/// Bytes of values of one message at most. Longer routes take several messages, so that none is
/// ever near what a transport or a 32-bit count can carry.
const BYTES_PER_MESSAGE: usize = 1 << 29;

/// One host's end of the synchronisation of fields. All hosts must call the same methods in the
/// same order.
///
/// ```
/// use parton_graph::{LocalId, with_csr};
/// use parton_net::Cluster;
/// use parton_partition::{End, Input, Partition, Plan};
/// use parton_sync::reduction::Sum;
/// use parton_sync::{CpuField, Optimize, Substrate};
///
/// // In-degrees: every host counts its own edges, and masters get the sum.
/// let input = Input::open("star:50").unwrap();
/// let degrees = Cluster::local(3).launch(|net| {
///     let partition = Partition::build(net, &input, &Plan::new("cvc")).unwrap();
///     let mut counts = CpuField::<Sum<u64>>::accumulator(partition.num_proxies());
///     with_csr!(partition.out_edges(), csr => for source in csr.vertices() {
///         for &target in csr.targets(source) {
///             counts.fold(target, 1);
///             counts.touch(target);
///         }
///     });
///     Substrate::new(&partition, net, Optimize::ALL).reduce(&mut counts, End::Destination)?;
///     let masters = (0..partition.num_masters() as u32).map(LocalId);
///     Ok::<_, parton_sync::Error>(masters.map(|master| counts.get(master)).max())
/// });
/// assert_eq!(degrees.unwrap().into_iter().max(), Some(Some(49)));
/// ```
pub struct Substrate<'a> {
    partition: &'a Partition,
    net: &'a mut Net,
    optimize: Optimize,
    /// Without memoised order: which proxy a global id is.
    translation: Option<Translation>,
    /// Exchanges so far; every one has a tag of its own.
    exchanges: u64,
    places_per_message: usize,
    /// Bytes and messages to each host since [`Substrate::take_sent`].
    sent: Vec<Volume>,
    /// Memory for values on their way to messages.
    staging: Scratch<MessageStaging>,
    listings: Listings,
    /// While hosts do not wait for each other.
    epoch: Option<Epoch>,
    log: ActivityLog,
    schedule: Schedule,
}

impl<'a> Substrate<'a> {
    /// A substrate over the routes of `partition`.
    pub fn new(partition: &'a Partition, net: &'a mut Net, optimize: Optimize) -> Self {
        let translation = (!optimize.temporal).then(|| partition.translation());
        let hosts = net.num_hosts();
        assert_eq!(hosts, partition.num_hosts(), "a partition for as many hosts as there are");
        Substrate {
            partition,
            net,
            optimize,
            translation,
            exchanges: 0,
            places_per_message: usize::MAX,
            sent: vec![Volume::default(); hosts],
            staging: Scratch::default(),
            listings: Listings::default(),
            epoch: None,
            log: ActivityLog::default(),
            schedule: Schedule::default(),
        }
    }

    /// How engines that overlap computation with communication order their work. All hosts must agree.
    pub fn with_schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// How engines that overlap computation with communication order their work.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Limits the number of places that a message is about. All hosts must agree.
    pub fn with_places_per_message(mut self, places: usize) -> Self {
        self.places_per_message = places.max(1);
        self
    }

    /// A substrate over another partition that uses the same connections. Every host must call this,
    /// and use nothing else while it exists.
    pub fn over<'b>(&'b mut self, partition: &'b Partition) -> Substrate<'b> {
        let schedule = self.schedule;
        let over = Substrate::new(partition, self.net, self.optimize);
        let (exchanges, places_per_message) = (self.exchanges, self.places_per_message);
        Substrate { exchanges, places_per_message, schedule, ..over }
    }

    /// Counts a message to a host that is not a field's.
    pub fn count(&mut self, to: HostId, bytes: u64) {
        let size = Size { values: bytes, metadata: 0 };
        self.sent[to.index()].count(Phase::Broadcast, size);
    }

    /// Starts an epoch, in which hosts do not wait for each other. The [`Detector`] finds out when
    /// all are done. With `governed`, a host waits a little where that promises to save work. Every
    /// host must call this, and [`Substrate::end_epoch`] when all are done.
    pub fn begin_epoch(&mut self, governed: bool) -> Result<Detector> {
        let (hosts, number) = (self.net.num_hosts(), self.net.next_epoch());
        Epoch::check_late(number, false, self.net)?;
        let governor = governed.then(|| Governor::new(hosts, self.net.now()));
        self.epoch = Some(Epoch { number, counts: Counts::default(), governor });
        Ok(Detector::new(number, hosts))
    }

    /// Ends the epoch: hosts wait for each other again. Returns what the governor did.
    pub fn end_epoch(&mut self) -> Result<Waits> {
        let Some(epoch) = self.epoch.take() else { return Ok(Waits::default()) };
        Epoch::check_late(epoch.number, true, self.net)?;
        Ok(epoch.governor.map_or(Waits::default(), |governor| governor.account))
    }

    /// Messages between proxies that this host has sent and absorbed in this epoch.
    pub fn counts(&self) -> Counts {
        self.epoch.as_ref().map_or(Counts::default(), |epoch| epoch.counts)
    }

    /// Time this host has waited for others since the last call.
    pub fn take_rested(&mut self) -> Duration {
        std::mem::take(&mut self.log.rested)
    }

    /// Counts the time from `start` to now as waiting.
    pub(crate) fn rested_since(&mut self, start: Duration) {
        let now = self.net.now();
        self.log.rested += now.saturating_sub(start);
        self.log_span(Activity::Wait, start);
        if let Some(governor) = self.epoch.as_mut().and_then(|epoch| epoch.governor.as_mut()) {
            governor.resume(now);
        }
    }

    /// Makes a field agree everywhere it is read after it was written at one end of edges.
    pub fn sync(&mut self, field: &mut dyn Field, written: End, read: End) -> Result<()> {
        self.reduce(field, written)?;
        self.broadcast(field, read)
    }

    /// Folds what mirrors were given at the `written` end of edges into their masters.
    /// Contributions reach a master in the order of the hosts that send them.
    pub fn reduce(&mut self, field: &mut dyn Field, written: End) -> Result<()> {
        self.exchange(field, Phase::Reduce, written)
    }

    /// Gives mirrors that are read at the `read` end of edges what is new at their masters. Mirrors
    /// at the other end still get it when it is their turn.
    pub fn broadcast(&mut self, field: &mut dyn Field, read: End) -> Result<()> {
        self.exchange(field, Phase::Broadcast, read)
    }

    /// The connections to the other hosts, for data that is not a field.
    pub fn net(&mut self) -> &mut Net {
        self.net
    }

    /// The partition whose proxies are kept consistent.
    pub fn partition(&self) -> &'a Partition {
        self.partition
    }

    /// Bytes and messages sent to each host since the last call.
    pub fn take_sent(&mut self) -> Vec<Volume> {
        let nothing = vec![Volume::default(); self.sent.len()];
        std::mem::replace(&mut self.sent, nothing)
    }
}
