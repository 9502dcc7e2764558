//! One bar of parts that make a whole: where the time went.

use super::axis::{Scale, bottom_ticks};
use super::drawing::{Area, Drawing, WIDTH};
use super::legend;

const TOP: f64 = 4.0;
const HEIGHT: f64 = 34.0;
const MARGIN: f64 = 20.0;
/// About the width of a character, to know which names fit into their part.
const CHARACTER: f64 = 7.0;

/// A part of the bar.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// A colour of the style sheet.
    pub(crate) class: &'static str,
    pub(crate) value: f64,
}

/// The bar, with an axis below and a legend above that has all values.
pub(crate) fn stack(label: &str, parts: &[Part], show: &dyn Fn(f64) -> String) -> String {
    let whole: f64 = parts.iter().map(|part| part.value).sum();
    if whole <= 0.0 {
        return String::new();
    }
    let scale = Scale::exact(whole, (MARGIN, WIDTH - MARGIN));
    let mut drawing = Drawing::default();
    let mut before = 0.0;
    let mut keys = Vec::new();
    for part in parts {
        let (left, right) = (scale.place(before), scale.place(before + part.value));
        let (width, share) = (right - left, 100.0 * part.value / whole);
        let described = format!("{} {} ({share:.0} %)", part.name, show(part.value));
        drawing.area(Area { left, top: TOP, width, height: HEIGHT }, part.class, &described);
        if width > part.name.len() as f64 * CHARACTER + 12.0 {
            let middle = (left + width / 2.0, TOP + HEIGHT / 2.0 + 4.0);
            drawing.text(middle, "middle ink", part.name);
        }
        before += part.value;
        keys.push((part.class, described));
    }
    bottom_ticks(&mut drawing, TOP + HEIGHT, &scale, show);
    let keys = legend(keys.iter().map(|(class, described)| (*class, &described[..])));
    keys + &drawing.finish(TOP + HEIGHT + 24.0, label)
}
