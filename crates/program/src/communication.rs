//! How much communication between operators is optimised, and where values travel to.

use parton_partition::End;
use parton_plan::{EdgeDirection, EdgeSide};

/// How much communication is optimised: to measure what each level gains (Abelian, section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Communication {
    /// After an operator, all values of every field that it may have written, to all proxies.
    Unoptimised,
    /// The same, but updated values only.
    FineGrained,
    /// Updated values, right before they are read, to the proxies that read them.
    #[default]
    OnDemand,
}

impl Communication {
    /// Every level, by the name users give.
    pub const NAMES: [(&'static str, Communication); 3] = [
        ("unoptimised", Communication::Unoptimised),
        ("fine-grained", Communication::FineGrained),
        ("on-demand", Communication::OnDemand),
    ];
}

/// Which end of edges a side is.
pub(crate) fn end(direction: EdgeDirection, side: EdgeSide) -> End {
    match (direction, side) {
        (EdgeDirection::Both, _) => End::Either,
        (EdgeDirection::Out, EdgeSide::Near) | (EdgeDirection::In, EdgeSide::Far) => End::Source,
        (EdgeDirection::Out, EdgeSide::Far) | (EdgeDirection::In, EdgeSide::Near) => {
            End::Destination
        }
    }
}
