//! Gluon, done with fewer bytes: what keeps the proxies of a vertex consistent (Dathathri et al.,
//! PLDI'18).
//!
//! A [`Field`] is a value per proxy, wherever it lives. The [`Substrate`] moves its updated values
//! along the [routes](Route) that the partition agreed on: mirrors to their master
//! ([`Substrate::reduce`]), masters to their mirrors ([`Substrate::broadcast`]). Each message takes
//! the smallest of several [encodings](encode). Any shared-memory code that knows which of its
//! values it wrote, and at which end of its edges, can run on many hosts this way.
//!
//! [`CpuField`] is the field for arrays in memory, [`LaneField`] the one for several numbers per
//! proxy that change one by one, [`VectorField`] the one for vectors that change as a whole. Hosts
//! wait for each other in every exchange, or, in an [epoch], never; [`termination`] tells when all
//! are done.
//!
//! Reading order: [`value`], [`reduction`], [`route`], [`field`], [`updates`], [`atomic`],
//! [`cpu_field`], [`lane_field`], [`vector_field`], [`encode`], [`optimize`], [`substrate`],
//! [`epoch`], [`governor`], [`termination`], [`volume`].

pub mod atomic;
pub mod cpu_field;
pub mod encode;
pub mod epoch;
pub mod error;
pub mod field;
pub mod governor;
pub mod lane_field;
pub mod optimize;
pub mod reduction;
pub mod route;
pub mod schedule;
pub mod substrate;
pub mod termination;
pub mod updates;
pub mod value;
pub mod vector_field;
pub mod volume;

pub use atomic::AtomicValue;
pub use cpu_field::CpuField;
pub use encode::{Places, ValueKind};
pub use epoch::Counts;
pub use error::{Error, Result};
pub use field::{Absorb, Delivery, Extracted, Field, Phase, Shape, Staging, Which};
pub use governor::Waits;
pub use lane_field::LaneField;
pub use optimize::Optimize;
pub use parton_macros::Value;
pub use reduction::Reduction;
pub use route::Route;
pub use schedule::{Schedule, ScheduleFault};
pub use substrate::{Activity, Interest, OpenExchange, Shipment, Span, Substrate};
pub use termination::{Detector, Effort, PendingTotal, Tally, Termination, Vote};
pub use updates::Updates;
pub use value::Value;
pub use vector_field::VectorField;
pub use volume::Volume;
