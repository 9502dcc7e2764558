//! Self-contained pages, and plots in SVG.

/// Width of a plot, and the height of its tallest bar.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 140.0;
/// Room above and below the bars for the greatest value and the names.
const TOP_MARGIN: f64 = 18.0;
const BOTTOM_MARGIN: f64 = 20.0;
/// More bars than this would be too thin to see: neighbouring bars are then added up.
const MAX_BARS: usize = 180;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;\
    padding:0 1em;color:#222}h1{font-size:1.4em}h2{font-size:1.1em;margin:1.6em 0 .2em}\
    th{text-align:left;padding-right:1.5em;font-weight:600;vertical-align:top}\
    td,th{padding-right:1em}.wide{display:block;overflow-x:auto;white-space:nowrap;font-size:.8em}\
    .key{margin-right:1em}\
    .key::before{content:\"\";display:inline-block;width:.8em;height:.8em;margin-right:.4em;\
    background:var(--c)}";

/// The style of text, in pages and in drawings alone.
const TEXT_STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#555}text.name{font-weight:600}";

/// One layer of stacked bars.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) colour: &'static str,
    pub(crate) values: Vec<f64>,
}

/// A self-contained page; `body` is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>{STYLE}{TEXT_STYLE}</style></head><body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    )
}

/// Stacked bars under a heading; `first` is the number of the first bar.
pub(crate) fn columns(
    heading: &str,
    what: &str,
    first: usize,
    series: Vec<Series>,
    show: impl Fn(f64) -> String,
) -> String {
    let bars = series.first().map_or(0, |series| series.values.len());
    let group = bars.div_ceil(MAX_BARS).max(1);
    let heights: Vec<Vec<f64>> = (0..bars)
        .step_by(group)
        .map(|from| {
            let range = from..bars.min(from + group);
            series.iter().map(|s| s.values[range.clone()].iter().sum()).collect()
        })
        .collect();
    let greatest = heights.iter().map(|bar| bar.iter().sum()).fold(0.0, f64::max);
    let step = WIDTH / heights.len().max(1) as f64;
    let bottom = TOP_MARGIN + HEIGHT;
    let mut drawn = String::new();
    for (number, bar) in heights.iter().enumerate() {
        let mut top = bottom;
        let from = first + number * group;
        let to = (from + group - 1).min(first + bars - 1);
        let name = if from == to { from.to_string() } else { format!("{from}–{to}") };
        for (value, series) in bar.iter().zip(&series).filter(|(value, _)| **value > 0.0) {
            let height = value / greatest * HEIGHT;
            top -= height;
            drawn += &format!(
                "<rect x=\"{:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{height:.2}\" \
                 fill=\"{}\"><title>{what} {name}: {} {}</title></rect>\n",
                number as f64 * step,
                (step * 0.9).min(60.0),
                series.colour,
                series.name,
                show(*value),
            );
        }
    }
    let keys: String = series
        .iter()
        .map(|s| format!("<span class=\"key\" style=\"--c:{}\">{}</span>", s.colour, s.name))
        .collect();
    let last = (first + bars).saturating_sub(1);
    format!(
        "<h2>{heading}</h2>\n<div>{keys}</div>\n<svg viewBox=\"0 0 {WIDTH} {}\" width=\"100%\" \
         role=\"img\" aria-label=\"{heading}\">\n<text x=\"0\" y=\"12\">{}</text>\n{drawn}\
         <line x1=\"0\" x2=\"{WIDTH}\" y1=\"{bottom}\" y2=\"{bottom}\" stroke=\"#999\"/>\n\
         <text x=\"0\" y=\"{}\">{what} {first}</text>\n\
         <text x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{last}</text>\n</svg>\n",
        bottom + BOTTOM_MARGIN,
        show(greatest),
        bottom + 15.0,
        bottom + 15.0,
    )
}

/// Bars that are compared with each other.
pub(crate) struct Group {
    pub(crate) heading: String,
    pub(crate) bars: Vec<Bar>,
}

/// A value, and a thin line on to the greatest one that was seen.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) greatest: f64,
    /// The value as people read it.
    pub(crate) shown: String,
    pub(crate) colour: &'static str,
}

/// Room for the names of horizontal bars, and for the value behind each.
const NAME_WIDTH: f64 = 190.0;
const VALUE_WIDTH: f64 = 80.0;
/// Height of a horizontal bar with the gap below it, and of a heading.
const LINE_HEIGHT: f64 = 18.0;
const HEADING_HEIGHT: f64 = 28.0;

/// Horizontal bars in groups, each group on a scale of its own: a drawing that stands alone.
pub(crate) fn bars(label: &str, groups: &[Group]) -> String {
    let mut drawn = String::new();
    let mut top = 0.0;
    for group in groups {
        let heading = escape(&group.heading);
        drawn += &format!("<text class=\"name\" x=\"0\" y=\"{}\">{heading}</text>\n", top + 18.0);
        top += HEADING_HEIGHT;
        let greatest = group.bars.iter().map(|bar| bar.greatest).fold(f64::MIN_POSITIVE, f64::max);
        let scaled = |value: f64| value / greatest * (WIDTH - NAME_WIDTH - VALUE_WIDTH);
        for bar in &group.bars {
            let (length, reach) = (scaled(bar.value), scaled(bar.greatest));
            let (middle, baseline) = (top + LINE_HEIGHT / 2.0 - 1.0, top + LINE_HEIGHT - 5.0);
            let (name, shown) = (escape(&bar.name), escape(&bar.shown));
            drawn += &format!(
                "<text x=\"{:.2}\" y=\"{baseline:.2}\" text-anchor=\"end\">{name}</text>\n\
                 <rect x=\"{NAME_WIDTH}\" y=\"{top:.2}\" width=\"{length:.2}\" height=\"{:.2}\" \
                 fill=\"{}\"><title>{name}: {shown}</title></rect>\n\
                 <line x1=\"{:.2}\" x2=\"{:.2}\" y1=\"{middle:.2}\" y2=\"{middle:.2}\" \
                 stroke=\"#555\"/>\n\
                 <text x=\"{:.2}\" y=\"{baseline:.2}\">{shown}</text>\n",
                NAME_WIDTH - 8.0,
                LINE_HEIGHT - 3.0,
                bar.colour,
                NAME_WIDTH + length,
                NAME_WIDTH + reach,
                NAME_WIDTH + reach + 6.0,
            );
            top += LINE_HEIGHT;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" width=\"100%\" \
         role=\"img\" aria-label=\"{}\">\n<style>{TEXT_STYLE}</style>\n{drawn}</svg>\n",
        top + LINE_HEIGHT / 2.0,
        escape(label),
    )
}

/// Text as it stands in HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
