//! Bars in an SVG that any browser shows.

use std::fmt::Write;

/// Groups of horizontal bars, one per series in each group, on one linear axis from 0.
pub(super) struct Bars<'a> {
    pub(super) title: &'a str,
    /// Name and colour of each series.
    pub(super) series: &'a [(&'a str, &'a str)],
    /// Name of each group and the values of its bars.
    pub(super) groups: Vec<(String, Vec<f64>)>,
    /// What follows a value: ` %`.
    pub(super) unit: &'a str,
}

const LABELS: f64 = 240.0;
const WIDTH: f64 = 520.0;
const BAR: f64 = 9.0;
const GAP: f64 = 8.0;

impl Bars<'_> {
    pub(super) fn svg(&self) -> String {
        let greatest =
            self.groups.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
        let group_height = BAR * self.series.len() as f64 + GAP;
        let top = 52.0;
        let height = top + group_height * self.groups.len() as f64 + GAP;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"8\" y=\"18\" font-size=\"14\">{}</text>\n",
            LABELS + WIDTH + 70.0,
            self.title
        );
        for (number, (name, colour)) in self.series.iter().enumerate() {
            let x = 8.0 + 190.0 * number as f64;
            _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"37\">{name}</text>",
                x + 15.0
            );
        }
        for (number, (name, values)) in self.groups.iter().enumerate() {
            let y = top + group_height * number as f64;
            let middle = y + group_height / 2.0;
            _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{name}</text>",
                LABELS - 8.0
            );
            for (bar, (value, (_, colour))) in values.iter().zip(self.series).enumerate() {
                let y = y + BAR * bar as f64;
                let width = if greatest > 0.0 { WIDTH * value / greatest } else { 0.0 };
                _ = writeln!(
                    svg,
                    "<rect x=\"{LABELS}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{}\" font-size=\"8\">{value:.1}{}</text>",
                    BAR - 1.0,
                    LABELS + width + 4.0,
                    y + BAR - 2.0,
                    self.unit
                );
            }
        }
        svg + "</svg>\n"
    }
}
