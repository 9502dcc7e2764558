//! Axes: which values get a tick, and where values stand.

use super::drawing::{Area, Drawing};

/// Values from `low` to `high` on a stretch of the drawing.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    /// Where `low` and `high` stand.
    from: f64,
    to: f64,
}

impl Scale {
    /// From 0 to the tick at or above `greatest`.
    pub(super) fn linear(greatest: f64, (from, to): (f64, f64)) -> Self {
        let greatest = if greatest > 0.0 { greatest } else { 1.0 };
        let step = step_for(greatest);
        let high = (greatest / step - 1e-9).ceil() * step;
        Scale { low: 0.0, high, is_log: false, from, to }
    }

    /// From 0 to exactly `greatest`: for time, where room after the end would mislead.
    pub(super) fn exact(greatest: f64, (from, to): (f64, f64)) -> Self {
        let high = if greatest > 0.0 { greatest } else { 1.0 };
        Scale { low: 0.0, high, is_log: false, from, to }
    }

    /// Powers of ten that enclose positive values.
    pub(super) fn log(least: f64, greatest: f64, (from, to): (f64, f64)) -> Self {
        let low = least.log10().floor();
        let high = greatest.log10().ceil().max(low + 1.0);
        Scale { low, high, is_log: true, from, to }
    }

    /// Where a value stands.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.is_log { value.log10() } else { value };
        self.from + (self.to - self.from) * (value - self.low) / (self.high - self.low)
    }

    /// The values that get a tick.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let step = ((self.high - self.low) / 6.0).ceil().max(1.0);
            let count = ((self.high - self.low) / step).floor() as i32;
            return (0..=count).map(|tick| 10f64.powf(self.low + f64::from(tick) * step)).collect();
        }
        let step = step_for(self.high);
        let count = (self.high / step + 1e-9).floor() as i32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }
}

/// A step of 1, 2 or 5 times a power of ten that makes about five steps.
fn step_for(greatest: f64) -> f64 {
    let rough = greatest / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let rounded = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    rounded.unwrap_or(10.0) * power
}

/// The left axis of a chart, with lines across `area` at its ticks and its title beside it.
pub(super) fn left_axis(
    drawing: &mut Drawing,
    area: Area,
    scale: &Scale,
    title: &str,
    show: &dyn Fn(f64) -> String,
) {
    let right = area.left + area.width;
    for tick in scale.ticks() {
        let y = scale.place(tick);
        drawing.line((area.left, y), (right, y), "grid");
        drawing.text((area.left - 8.0, y + 4.0), "end", &short(&show(tick)));
    }
    let middle = area.top + area.height / 2.0;
    drawing.upward_text((14.0, middle), "title middle", title);
}

/// The line at the bottom of a chart with its title below.
pub(super) fn bottom_axis(drawing: &mut Drawing, area: Area, title: &str) {
    let bottom = area.top + area.height;
    let right = area.left + area.width;
    drawing.line((area.left, bottom), (right, bottom), "axis");
    drawing.text((area.left + area.width / 2.0, bottom + 34.0), "title middle", title);
}

/// Ticks of a bottom axis.
pub(super) fn bottom_ticks(
    drawing: &mut Drawing,
    bottom: f64,
    scale: &Scale,
    show: &dyn Fn(f64) -> String,
) {
    for tick in scale.ticks() {
        let x = scale.place(tick);
        drawing.line((x, bottom), (x, bottom + 4.0), "axis");
        drawing.text((x, bottom + 17.0), "middle", &short(&show(tick)));
    }
}

/// A number with its unit, without zeros behind the point: ticks are round.
fn short(shown: &str) -> String {
    let (number, unit) = shown.split_once(' ').unwrap_or((shown, ""));
    let number = match number.contains('.') && !number.contains('e') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        for (shown, expected) in [
            ("20.00 ms", "20 ms"),
            ("0.0 µs", "0 µs"),
            ("12.50 ms", "12.5 ms"),
            ("100 bytes", "100 bytes"),
            ("1,000", "1,000"),
            ("1e-7", "1e-7"),
        ] {
            assert_eq!(short(shown), expected);
        }
    }

    #[test]
    fn ticks_are_round_and_enclose_everything() {
        for greatest in [1e-9, 0.003, 0.99, 1.0, 7.0, 52.0, 1000.0, 1_048_577.0, 3e15] {
            let scale = Scale::linear(greatest, (0.0, 100.0));
            let ticks = scale.ticks();
            assert!((4..=7).contains(&ticks.len()), "{greatest}: {ticks:?}");
            assert!(ticks[ticks.len() - 1] >= greatest * (1.0 - 1e-9), "{greatest}: {ticks:?}");
            assert!(scale.place(greatest) <= 100.0 + 1e-6);
            assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            let exact = Scale::exact(greatest, (0.0, 100.0));
            assert!((exact.place(greatest) - 100.0).abs() < 1e-6);
            assert!(exact.ticks().iter().all(|&tick| tick <= greatest * (1.0 + 1e-9)));
        }
        assert_eq!(Scale::linear(0.0, (0.0, 1.0)).ticks().len(), 6);
        for (least, greatest) in [(1e-7, 2.0), (3.0, 3.0), (1.0, 1e12)] {
            let scale = Scale::log(least, greatest, (100.0, 0.0));
            let ticks = scale.ticks();
            assert!(ticks.len() >= 2 && ticks[0] <= least, "{least} {greatest}: {ticks:?}");
            assert!(scale.place(least) <= 100.0 + 1e-6 && scale.place(greatest) >= -1e-6);
        }
    }
}
