//! What hosts did when: a lane per host, time from left to right.

use super::axis::{Scale, bottom_axis, bottom_ticks};
use super::drawing::{Area, Drawing, WIDTH};
use super::escape;

const LEFT: f64 = 78.0;
const TOP: f64 = 30.0;
const BELOW: f64 = 44.0;
/// Height of all lanes, if that makes none of them too thin or too thick.
const LANES_HEIGHT: f64 = 480.0;
const MIN_LANE: f64 = 4.0;
const MAX_LANE: f64 = 30.0;
/// Narrower stretches would not be seen.
const MIN_WIDTH: f64 = 0.05;
/// Least distance between the names of two marks.
const MARK_WIDTH: f64 = 72.0;

/// A stretch of time in which a host did one thing.
pub(crate) struct Stretch {
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// A colour of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) title: String,
}

/// Lanes of all hosts.
pub(crate) struct Lanes<'l> {
    pub(crate) label: &'l str,
    /// Of each host, in the order of time.
    pub(crate) hosts: Vec<Vec<Stretch>>,
    /// When rounds end, by their numbers from 1 on: marks above the lanes.
    pub(crate) marks: Vec<(u64, f64)>,
    pub(crate) show: &'l dyn Fn(f64) -> String,
}

impl Lanes<'_> {
    /// The chart; empty if nothing took any time.
    pub(crate) fn draw(&self) -> String {
        let end = self.hosts.iter().flatten().map(|stretch| stretch.end).fold(0.0, f64::max);
        if end <= 0.0 {
            return String::new();
        }
        let count = self.hosts.len();
        let lane = (LANES_HEIGHT / count as f64).clamp(MIN_LANE, MAX_LANE);
        let area =
            Area { left: LEFT, top: TOP, width: WIDTH - LEFT - 24.0, height: lane * count as f64 };
        let bottom = area.top + area.height;
        let scale = Scale::exact(end, (area.left, area.left + area.width));
        let mut drawing = Drawing::default();
        let gap = if lane > 10.0 { 4.0 } else { 0.5 };
        let every = (16.0 / lane).ceil().max(1.0) as usize;
        for (host, stretches) in self.hosts.iter().enumerate() {
            let top = area.top + lane * host as f64;
            if host.is_multiple_of(every) {
                let middle = top + lane / 2.0 + 4.0;
                drawing.text((area.left - 8.0, middle), "end", &format!("host {host}"));
            }
            for stretch in stretches {
                let (left, right) = (scale.place(stretch.start), scale.place(stretch.end));
                if right - left >= MIN_WIDTH {
                    let bar = Area { left, top, width: right - left, height: lane - gap };
                    drawing.area(bar, stretch.class, &stretch.title);
                }
            }
        }
        self.draw_marks(&mut drawing, &scale, area);
        bottom_ticks(&mut drawing, bottom, &scale, self.show);
        bottom_axis(&mut drawing, area, "time since the first round began");
        drawing.finish(bottom + BELOW, &escape(self.label))
    }

    /// Lines where rounds end, with the numbers of as many rounds as there is room for.
    fn draw_marks(&self, drawing: &mut Drawing, scale: &Scale, area: Area) {
        let (mut last_line, mut last_name) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut began = area.left;
        for &(round, end) in &self.marks {
            let (x, middle) = (scale.place(end), (began + scale.place(end)) / 2.0);
            began = x;
            if x - last_line >= 6.0 {
                drawing.line((x, area.top - 8.0), (x, area.top + area.height), "axis");
                last_line = x;
            }
            if middle - last_name >= MARK_WIDTH {
                drawing.text((middle, area.top - 12.0), "middle", &format!("round {round}"));
                last_name = middle;
            }
        }
    }
}
