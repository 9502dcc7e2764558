//! Self-contained pages and their charts in SVG: no script, nothing fetched, colours for light and dark
//! browsers in one style sheet. Every chart has its axes, with units, inside the drawing.

mod axis;
mod bars;
mod columns;
mod curve;
mod drawing;
mod lanes;
mod matrix;
mod stack;

pub(crate) use bars::{Bar, BarGroup, bars};
pub(crate) use columns::{Columns, Series};
pub(crate) use curve::Curve;
pub(crate) use lanes::{Lanes, Stretch};
pub(crate) use matrix::matrix;
pub(crate) use stack::{Part, stack};

/// The colours of charts, for light and dark browsers, and the styles of their text and lines.
const COLOURS: &str = include_str!("colours.css");
/// The style of a page around its charts.
const STYLE: &str = include_str!("page.css");

/// A self-contained page; `body` is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{COLOURS}{STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
}

/// A chart under a heading, with a sentence on how to read it; empty if there is no chart.
pub(crate) fn figure(heading: &str, caption: &str, chart: &str) -> String {
    if chart.is_empty() {
        return String::new();
    }
    format!(
        "<h2>{}</h2>\n<figure>\n<figcaption>{}</figcaption>\n{chart}</figure>\n",
        escape(heading),
        escape(caption)
    )
}

/// The colours of a chart by name: pairs of a class of the style sheet and what it stands for.
pub(crate) fn legend<'k>(keys: impl IntoIterator<Item = (&'k str, &'k str)>) -> String {
    let key = |(class, name)| {
        format!("<span class=\"key\" style=\"--c:var(--{class})\">{}</span>", escape(name))
    };
    let keys: String = keys.into_iter().map(key).collect();
    format!("<div class=\"legend\">{keys}</div>\n")
}

/// Text as it stands in HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
