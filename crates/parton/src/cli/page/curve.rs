//! A value that falls round by round, on a logarithmic scale, with the goal that ends the run.

use super::axis::{Scale, bottom_axis, bottom_ticks, left_axis};
use super::drawing::{Area, Drawing, WIDTH};

const LEFT: f64 = 92.0;
const TOP: f64 = 14.0;
const HEIGHT: f64 = 190.0;
const BELOW: f64 = 44.0;

/// A value after each round.
pub(crate) struct Curve<'c> {
    /// What it is.
    pub(crate) name: &'c str,
    /// Values of the first round, the second, and so on.
    pub(crate) values: &'c [f64],
    /// The value at which the run ends, if there is one.
    pub(crate) goal: Option<f64>,
}

impl Curve<'_> {
    /// The chart; empty without two positive values.
    pub(crate) fn draw(&self) -> String {
        let goal = self.goal.filter(|&goal| goal > 0.0);
        let shown =
            || self.values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
        if shown().count() < 2 {
            return String::new();
        }
        let least = shown().chain(goal).fold(f64::INFINITY, f64::min);
        let greatest = shown().chain(goal).fold(0.0, f64::max);
        let area = Area { left: LEFT, top: TOP, width: WIDTH - LEFT - 24.0, height: HEIGHT };
        let (right, bottom) = (area.left + area.width, area.top + area.height);
        let vertical = Scale::log(least, greatest, (bottom, area.top));
        let horizontal = Scale::exact(self.values.len() as f64, (area.left, right));
        let mut drawing = Drawing::default();
        left_axis(&mut drawing, area, &vertical, self.name, &|value| format!("{value:.0e}"));
        bottom_ticks(&mut drawing, bottom, &horizontal, &|value| format!("{value}"));
        bottom_axis(&mut drawing, area, "round");
        if let Some(goal) = goal {
            let y = vertical.place(goal);
            drawing.line((area.left, y), (right, y), "goal");
            let label = format!("ends at {goal:e}");
            // The curve is far above on this side, and crosses the line on the other.
            drawing.text((area.left + 6.0, y - 6.0), "", &label);
        }
        let points = (1..).zip(self.values).filter(|(_, value)| value.is_finite() && **value > 0.0);
        let point = |(round, value): (u32, &f64)| {
            (horizontal.place(f64::from(round)), vertical.place(*value))
        };
        drawing.path(points.map(point), "curve");
        drawing.finish(bottom + BELOW, self.name)
    }
}
