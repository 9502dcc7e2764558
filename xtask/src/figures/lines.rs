//! Curves in an SVG that any browser shows.

use std::fmt::Write;

/// Name, colour and points of a curve.
pub(super) type Curve<'a> = (String, &'a str, Vec<(f64, f64)>);

/// Curves over a number that doubles, on an axis from 0.
pub(super) struct Lines<'a> {
    pub(super) title: &'a str,
    /// What the horizontal axis counts.
    pub(super) over: &'a str,
    pub(super) curves: Vec<Curve<'a>>,
}

const LEFT: f64 = 50.0;
const TOP: f64 = 40.0;
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 260.0;
const LEGEND: f64 = 190.0;

impl Lines<'_> {
    pub(super) fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|(_, _, points)| points);
        let greatest = points().map(|(_, y)| *y).fold(1.0, f64::max);
        let doublings = points().map(|(x, _)| x.log2()).fold(1.0, f64::max);
        let place = |x: f64, y: f64| {
            (LEFT + WIDTH * x.log2() / doublings, TOP + HEIGHT * (1.0 - y / greatest))
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"8\" y=\"20\" font-size=\"14\">{}</text>\n\
             <path d=\"M{LEFT} {TOP}V{}H{}\" fill=\"none\" stroke=\"#888\"/>\n",
            LEFT + WIDTH + LEGEND,
            TOP + HEIGHT + 40.0,
            self.title,
            TOP + HEIGHT,
            LEFT + WIDTH,
        );
        for doubling in 0..=doublings as u32 {
            let x = f64::from(1 << doubling);
            let (at, _) = place(x, 0.0);
            let below = TOP + HEIGHT + 14.0;
            _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{x}</text>"
            );
        }
        _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            LEFT + WIDTH / 2.0,
            TOP + HEIGHT + 30.0,
            self.over
        );
        for quarter in 0..=4 {
            let y = greatest * f64::from(quarter) / 4.0;
            let (_, at) = place(1.0, y);
            _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{y:.1}</text>",
                LEFT - 5.0,
                at + 4.0
            );
        }
        for (number, (name, colour, points)) in self.curves.iter().enumerate() {
            let dash = if name.starts_with("GAP") { " stroke-dasharray=\"4 3\"" } else { "" };
            let corners = points.iter().map(|&(x, y)| {
                let (x, y) = place(x, y);
                format!("{x:.1},{y:.1}")
            });
            let corners = corners.collect::<Vec<_>>().join(" ");
            let (x, y) = (LEFT + WIDTH + 14.0, TOP + 16.0 * number as f64);
            _ = writeln!(
                svg,
                "<polyline points=\"{corners}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
                 <path d=\"M{x} {y}h22\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\
                 <text x=\"{}\" y=\"{}\">{name}</text>",
                x + 28.0,
                y + 4.0
            );
        }
        svg + "</svg>\n"
    }
}
