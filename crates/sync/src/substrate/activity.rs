//! What a host does when: the timeline of a run.

use std::time::Duration;

use super::Substrate;

/// What a host is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Its engine works through edges or vertices.
    Compute,
    /// It packs, sends, or takes in messages.
    Send,
    /// It waits for others.
    Wait,
}

impl Activity {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Compute => "compute",
            Activity::Send => "send",
            Activity::Wait => "wait",
        }
    }
}

/// A stretch of one activity, by the clock of the host's network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// What the host did.
    pub activity: Activity,
    /// From here
    pub start: Duration,
    /// to here.
    pub end: Duration,
}

/// What a substrate records of its host.
#[derive(Default)]
pub(super) struct ActivityLog {
    /// Time spent waiting since [`Substrate::take_rested`].
    pub(super) rested: Duration,
    /// What the host did when, since [`Substrate::take_spans`].
    spans: Vec<Span>,
}

/// Spans of one run at most: later ones are not recorded.
const MAX_SPANS: usize = 1 << 14;

impl Substrate<'_> {
    /// Records that this host has been busy with something from `start` until now. A span that continues the
    /// one before is joined with it.
    pub fn log_span(&mut self, activity: Activity, start: Duration) {
        let (end, has_room) = (self.net.now(), self.log.spans.len() < MAX_SPANS);
        match self.log.spans.last_mut() {
            Some(last) if last.activity == activity && last.end >= start => last.end = end,
            _ if end > start && has_room => {
                self.log.spans.push(Span { activity, start, end });
            }
            _ => {}
        }
    }

    /// What this host did since the last call, in the order of time.
    pub fn take_spans(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.log.spans)
    }
}
