//! Horizontal bars in groups, all on one scale or each group on its own, as the drawing says: a drawing
//! that stands alone.

use super::axis::{Scale, bottom_ticks};
use super::drawing::{Area, Drawing, WIDTH};

/// Room for the names of bars, and for the value behind each.
const NAME_WIDTH: f64 = 240.0;
const VALUE_WIDTH: f64 = 96.0;
/// Height of a bar with the gap below it, of a heading, of an axis with its title.
const LINE_HEIGHT: f64 = 20.0;
const HEADING_HEIGHT: f64 = 30.0;
const AXIS_HEIGHT: f64 = 30.0;
/// One scale serves all groups while the longest bar of each is at least this part of the longest of all.
const LEAST_PART: f64 = 0.05;
/// How far a scale goes on behind its longest bar, at most: a line that leads farther is cut off there.
const MOST_BEHIND: f64 = 1.4;

/// Bars that are compared with each other.
pub(crate) struct BarGroup {
    pub(crate) heading: String,
    pub(crate) bars: Vec<Bar>,
}

/// A value, and a thin line on to the greatest one that was seen.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) greatest: f64,
    /// A colour of the style sheet.
    pub(crate) class: &'static str,
    /// The colour's meaning, for the legend.
    pub(crate) kind: String,
}

impl BarGroup {
    fn longest(&self) -> f64 {
        self.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// The end of the scale of some groups.
fn end_of(groups: &[BarGroup]) -> f64 {
    let longest = groups.iter().map(BarGroup::longest).fold(f64::MIN_POSITIVE, f64::max);
    let seen = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.greatest);
    seen.fold(longest, f64::max).min(MOST_BEHIND * longest)
}

/// The drawing. `what` names what is measured: the title of the axes.
pub(crate) fn bars(what: &str, groups: &[BarGroup], show: &dyn Fn(f64) -> String) -> String {
    let mut drawing = Drawing::default();
    let longest = groups.iter().map(BarGroup::longest).fold(f64::MIN_POSITIVE, f64::max);
    let is_shared = groups.iter().all(|group| group.longest() >= LEAST_PART * longest);
    let mut top = draw_head(&mut drawing, what, groups, is_shared);
    for (number, group) in groups.iter().enumerate() {
        let together = if is_shared { groups } else { std::slice::from_ref(group) };
        let scale = Scale::exact(end_of(together), (NAME_WIDTH, WIDTH - VALUE_WIDTH));
        drawing.text((0.0, top + 20.0), "name", &group.heading);
        top += HEADING_HEIGHT;
        for bar in &group.bars {
            draw_bar(&mut drawing, bar, &scale, top, show);
            top += LINE_HEIGHT;
        }
        if !is_shared || number + 1 == groups.len() {
            drawing.line((NAME_WIDTH, top), (WIDTH - VALUE_WIDTH, top), "axis");
            bottom_ticks(&mut drawing, top, &scale, show);
            top += AXIS_HEIGHT;
        }
    }
    drawing.finish_alone(top + 4.0, what)
}

/// The title with the scale that bars are on, and the legend. Returns the height of both.
fn draw_head(drawing: &mut Drawing, what: &str, groups: &[BarGroup], is_shared: bool) -> f64 {
    let on_scale = match (groups.len(), is_shared) {
        (0 | 1, _) => "",
        (_, true) => "; all on one scale",
        (_, false) => "; each group on a scale of its own",
    };
    drawing.text((0.0, 16.0), "title", &format!("{what}{on_scale}"));
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for bar in groups.iter().flat_map(|group| &group.bars) {
        if !kinds.contains(&(bar.class, &bar.kind)) {
            kinds.push((bar.class, &bar.kind));
        }
    }
    let mut left = 0.0;
    for (class, kind) in kinds {
        let square = Area { left, top: 28.0, width: 11.0, height: 11.0 };
        drawing.area(square, class, "");
        drawing.text((left + 17.0, 38.0), "", kind);
        left += 17.0 + 7.0 * kind.chars().count() as f64 + 18.0;
    }
    48.0
}

fn draw_bar(
    drawing: &mut Drawing,
    bar: &Bar,
    scale: &Scale,
    top: f64,
    show: &dyn Fn(f64) -> String,
) {
    let end = scale.place(bar.value);
    let reach = scale.place(bar.greatest.max(bar.value)).min(WIDTH - VALUE_WIDTH);
    let (baseline, below) = (top + LINE_HEIGHT - 7.0, top + LINE_HEIGHT - 4.0);
    let title = format!("{}: {}, at worst {}", bar.name, show(bar.value), show(bar.greatest));
    drawing.text((NAME_WIDTH - 8.0, baseline), "end value", &bar.name);
    let area = Area { left: NAME_WIDTH, top, width: end - NAME_WIDTH, height: LINE_HEIGHT - 4.0 };
    drawing.area(area, bar.class, &title);
    // Along the lower edge, so that the number stands where the bar ends.
    if reach > end + 1.0 {
        drawing.line((end, below), (reach, below), "whisker");
        drawing.line((reach, below - 2.0), (reach, below + 2.0), "whisker");
    }
    drawing.text((end + 6.0, baseline), "value", &show(bar.value));
}
