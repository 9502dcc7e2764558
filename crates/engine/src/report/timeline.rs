//! The timeline of a run: what every host did when, so that overlap can be seen.

use bytemuck::{Pod, Zeroable};
use parton_net::{HostId, Net};
use parton_sync::{Activity, Span};
use std::time::Duration;

use super::RunReport;

/// One host's span, as it travels.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SpanRecord {
    round: u32,
    activity: u32,
    start: f64,
    end: f64,
}

/// All activities, in the order of [`SpanRecord::activity`].
const ACTIVITIES: [Activity; 3] = [Activity::Compute, Activity::Send, Activity::Wait];

impl SpanRecord {
    /// A span of a round; times count from `start`.
    pub(crate) fn new(round: u32, span: Span, start: Duration) -> Self {
        let activity = ACTIVITIES.iter().position(|&known| known == span.activity).unwrap_or(0);
        let seconds = |time: Duration| time.saturating_sub(start).as_secs_f64();
        let (start, end) = (seconds(span.start), seconds(span.end));
        SpanRecord { round, activity: activity as u32, start, end }
    }
}

/// A stretch of time in which a host did one thing. Times are seconds from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineSpan {
    /// The round in which it ended, from 0 on.
    pub round: u64,
    /// What the host did.
    pub activity: Activity,
    /// When it began
    pub start: f64,
    /// and when it ended.
    pub end: f64,
}

/// What hosts did when: spans of each host, in the order of time. Only host 0 knows; on every host it would
/// be memory per pair of hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Of each host.
    pub hosts: Vec<Vec<TimelineSpan>>,
}

/// Spans of a host that are kept at most.
const MAX_SPANS: usize = 4096;

impl Timeline {
    /// Adds the timeline of a run that began `seconds` after this one, and after this number of `rounds`.
    pub(super) fn append(&mut self, next: Timeline, seconds: f64, rounds: u64) {
        self.hosts.resize(self.hosts.len().max(next.hosts.len()), Vec::new());
        for (mine, theirs) in self.hosts.iter_mut().zip(next.hosts) {
            let room = MAX_SPANS.saturating_sub(mine.len());
            mine.extend(theirs.into_iter().take(room).map(|span| TimelineSpan {
                round: span.round + rounds,
                start: span.start + seconds,
                end: span.end + seconds,
                ..span
            }));
        }
    }

    /// The time a host spent with an activity.
    pub fn seconds(&self, host: usize, activity: Activity) -> f64 {
        let spans = self.hosts.get(host).into_iter().flatten();
        spans.filter(|span| span.activity == activity).map(|span| span.end - span.start).sum()
    }
}

impl RunReport {
    /// Adds what all hosts did when, on host 0. Every host must call this.
    pub(crate) fn with_timeline(
        mut self,
        net: &mut Net,
        mine: &[SpanRecord],
    ) -> parton_net::Result<Self> {
        let mine = &mine[..mine.len().min(MAX_SPANS)];
        let all = net.gather(HostId(0), bytemuck::cast_slice(mine).to_vec())?;
        let span = |record: SpanRecord| TimelineSpan {
            round: u64::from(record.round),
            activity: ACTIVITIES[record.activity as usize % ACTIVITIES.len()],
            start: record.start,
            end: record.end,
        };
        let of_host = |bytes: &Vec<u8>| {
            let records: Vec<SpanRecord> = bytemuck::pod_collect_to_vec(bytes);
            records.into_iter().map(span).collect()
        };
        self.timeline.hosts = all.unwrap_or_default().iter().map(of_host).collect();
        Ok(self)
    }
}
