//! Stacked columns over rounds, or over the classes of a histogram.

use super::axis::{Scale, bottom_axis, left_axis};
use super::drawing::{Area, Drawing, WIDTH};
use super::legend;

const LEFT: f64 = 92.0;
const TOP: f64 = 20.0;
const HEIGHT: f64 = 190.0;
const BELOW: f64 = 44.0;
/// Wider columns would look like areas.
const MAX_COLUMN_WIDTH: f64 = 56.0;
/// More columns than this would be too thin to see: neighbours are then added up.
const MAX_COLUMNS: usize = 220;
/// Room for one label below the columns.
const LABEL_WIDTH: f64 = 66.0;
/// Columns of this width have their value above them.
const WRITTEN_WIDTH: f64 = 44.0;

/// One layer of stacked columns.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// A colour of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) values: Vec<f64>,
}

/// A chart of stacked columns.
pub(crate) struct Columns<'c> {
    /// What one column is: `round`.
    pub(crate) of: &'c str,
    /// The title below.
    pub(crate) bottom: &'c str,
    /// The title at the left.
    pub(crate) left: &'c str,
    /// What a column is called.
    pub(crate) names: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// Values as people read them.
    pub(crate) show: &'c dyn Fn(f64) -> String,
}

impl Columns<'_> {
    /// The chart; empty if all is zero.
    pub(crate) fn draw(&self) -> String {
        let (names, stacks) = self.grouped();
        let greatest = stacks.iter().map(|stack| stack.iter().sum()).fold(0.0, f64::max);
        if greatest <= 0.0 {
            return String::new();
        }
        let area = Area { left: LEFT, top: TOP, width: WIDTH - LEFT - 10.0, height: HEIGHT };
        let bottom = area.top + area.height;
        let scale = Scale::linear(greatest, (bottom, area.top));
        let mut drawing = Drawing::default();
        left_axis(&mut drawing, area, &scale, self.left, self.show);
        let step = (area.width / stacks.len() as f64).min(MAX_COLUMN_WIDTH / 0.85);
        for (number, (stack, name)) in stacks.iter().zip(&names).enumerate() {
            let left = area.left + step * (number as f64 + 0.075);
            let mut below = 0.0;
            for (value, series) in stack.iter().zip(&self.series).filter(|(value, _)| **value > 0.0)
            {
                let top = scale.place(below + value);
                let height = scale.place(below) - top;
                let title = format!("{} {name}: {} {}", self.of, series.name, (self.show)(*value));
                let column = Area { left, top, width: step * 0.85, height };
                drawing.area(column, series.class, &title);
                below += value;
            }
            if step >= WRITTEN_WIDTH && below > 0.0 {
                let middle = (left + step * 0.425, scale.place(below) - 5.0);
                drawing.text(middle, "middle small value", &(self.show)(below));
            }
        }
        let every = (LABEL_WIDTH.max(self.longest_name(&names)) / step).ceil().max(1.0) as usize;
        for (number, name) in names.iter().enumerate().step_by(every) {
            let x = area.left + step * (number as f64 + 0.5);
            drawing.text((x, bottom + 17.0), "middle", name);
        }
        bottom_axis(&mut drawing, area, self.bottom);
        let chart = drawing.finish(bottom + BELOW, self.left);
        match &self.series[..] {
            [_] => chart,
            several => legend(several.iter().map(|series| (series.class, series.name))) + &chart,
        }
    }

    /// About how wide the longest name is.
    fn longest_name(&self, names: &[String]) -> f64 {
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        longest as f64 * 6.6 + 12.0
    }

    /// Names and values of columns, neighbours added up if there are too many.
    fn grouped(&self) -> (Vec<String>, Vec<Vec<f64>>) {
        let size = self.names.len().div_ceil(MAX_COLUMNS).max(1);
        let name = |group: &[String]| match group {
            [one] => one.clone(),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        };
        let names: Vec<String> = self.names.chunks(size).map(name).collect();
        let stack = |group: usize| {
            let range = group * size..self.names.len().min((group + 1) * size);
            self.series.iter().map(|series| series.values[range.clone()].iter().sum()).collect()
        };
        let stacks = (0..names.len()).map(stack).collect();
        (names, stacks)
    }
}
