//! One drawing in SVG: shapes by class, so that the style sheet alone knows colours.

use std::fmt::Write;

use super::{COLOURS, escape};

/// Width of every chart of a page.
pub(super) const WIDTH: f64 = 920.0;

/// Shapes of one drawing, in the order in which they are drawn.
#[derive(Default)]
pub(super) struct Drawing {
    shapes: String,
}

/// A rectangle.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Drawing {
    /// Text whose baseline starts, ends or is centred at a point, as `class` says.
    pub(super) fn text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let text = escape(text);
        // A `String` takes everything.
        let _ = writeln!(
            self.shapes,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>"
        );
    }

    /// Text that reads upwards, for the title of a vertical axis.
    pub(super) fn upward_text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.shapes,
            "<text transform=\"translate({x:.1},{y:.1}) rotate(-90)\" class=\"{class}\">{text}</text>"
        );
    }

    /// A filled area; `title` is what a browser shows when one points at it.
    pub(super) fn area(&mut self, area: Area, class: &str, title: &str) {
        self.shade(area, class, 1.0, title);
    }

    /// A filled area that is partly transparent.
    pub(super) fn shade(&mut self, area: Area, class: &str, opacity: f64, title: &str) {
        let Area { left, top, width, height } = area;
        let _ = write!(
            self.shapes,
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
             class=\"{class}\""
        );
        if opacity < 1.0 {
            let _ = write!(self.shapes, " fill-opacity=\"{opacity:.3}\"");
        }
        let _ = match title {
            "" => writeln!(self.shapes, "/>"),
            title => writeln!(self.shapes, "><title>{}</title></rect>", escape(title)),
        };
    }

    /// A straight line.
    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let _ = writeln!(
            self.shapes,
            "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" class=\"{class}\"/>"
        );
    }

    /// A line through points.
    pub(super) fn path(&mut self, points: impl Iterator<Item = (f64, f64)>, class: &str) {
        let points: Vec<_> = points.map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        let points = points.join(" ");
        let _ = writeln!(self.shapes, "<polyline points=\"{points}\" class=\"{class}\"/>");
    }

    /// The drawing as a part of a page, which has the style sheet.
    pub(super) fn finish(self, height: f64, label: &str) -> String {
        self.wrapped(height, label, "", "")
    }

    /// The drawing as a file of its own, on a background of its own.
    pub(super) fn finish_alone(self, height: f64, label: &str) -> String {
        let start = format!(
            "<style>\n{COLOURS}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height:.0}\" class=\"page\"/>\n"
        );
        self.wrapped(height, label, " xmlns=\"http://www.w3.org/2000/svg\"", &start)
    }

    fn wrapped(self, height: f64, label: &str, space: &str, start: &str) -> String {
        let (shapes, label) = (self.shapes, escape(label));
        format!(
            "<svg{space} viewBox=\"0 0 {WIDTH} {height:.0}\" \
             width=\"{WIDTH}\" role=\"img\" aria-label=\"{label}\">\n{start}{shapes}</svg>\n"
        )
    }
}
