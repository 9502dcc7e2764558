//! Amounts between pairs: the darker a field, the more.

use super::drawing::{Area, Drawing, WIDTH};

const LEFT: f64 = 110.0;
const TOP: f64 = 44.0;
/// Width of the fields together, if that makes none of them too large.
const FIELDS_WIDTH: f64 = 640.0;
const MAX_FIELD_WIDTH: f64 = 96.0;
const FIELD_HEIGHT: f64 = 34.0;
/// Fields of this width have their amounts written in them.
const WRITTEN_WIDTH: f64 = 56.0;
/// More hosts than this are shown in groups.
const MAX_FIELDS: usize = 64;
/// From this part of the greatest amount on, text in a field has the colour of the page.
const DARK: f64 = 0.55;

/// Amounts from every host to every host.
pub(crate) fn matrix(label: &str, amounts: &[Vec<f64>], show: &dyn Fn(f64) -> String) -> String {
    let (names, amounts) = grouped(amounts);
    let greatest = amounts.iter().flatten().copied().fold(0.0, f64::max);
    if greatest <= 0.0 {
        return String::new();
    }
    let count = names.len();
    let width = (FIELDS_WIDTH / count as f64).min(MAX_FIELD_WIDTH);
    let height = FIELD_HEIGHT.min(width);
    let is_written = width >= WRITTEN_WIDTH;
    let every = (16.0 / height).ceil().max((44.0 / width).ceil()).max(1.0) as usize;
    let mut drawing = Drawing::default();
    let right = LEFT + width * count as f64;
    drawing.text((LEFT + width * count as f64 / 2.0, 14.0), "title middle", "to host");
    let bottom = TOP + height * count as f64;
    drawing.upward_text((14.0, (TOP + bottom) / 2.0), "title middle", "from host");
    drawing.text((right + 14.0, TOP - 8.0), "name", "sent in all");
    for (from, row) in amounts.iter().enumerate() {
        let top = TOP + height * from as f64;
        let baseline = top + height / 2.0 + 4.0;
        if from.is_multiple_of(every) {
            let middle = LEFT + width * (from as f64 + 0.5);
            drawing.text((middle, TOP - 8.0), "middle", &names[from]);
            drawing.text((LEFT - 8.0, baseline), "end", &names[from]);
            drawing.text((right + 14.0, baseline), "value", &show(row.iter().sum()));
        }
        for (to, &amount) in row.iter().enumerate() {
            let field = Area { left: LEFT + width * to as f64, top, width, height };
            let part = amount / greatest;
            let title = format!("host {} to host {}: {}", names[from], names[to], show(amount));
            drawing.shade(field, "heat", 0.04 + 0.96 * part, &title);
            drawing.area(field, "cell", "");
            if is_written && amount > 0.0 {
                let class = if part > DARK { "middle small ink" } else { "middle small value" };
                drawing.text((field.left + width / 2.0, baseline), class, &show(amount));
            }
        }
    }
    draw_scale(&mut drawing, bottom + 18.0, &show(greatest));
    drawing.finish(bottom + 40.0, label)
}

/// What the shades stand for.
fn draw_scale(drawing: &mut Drawing, top: f64, greatest: &str) {
    const STEPS: usize = 20;
    const STEP: f64 = 10.0;
    drawing.text((LEFT - 8.0, top + 11.0), "end", "0");
    for step in 0..STEPS {
        let left = LEFT + STEP * step as f64;
        let part = step as f64 / (STEPS - 1) as f64;
        let area = Area { left, top, width: STEP, height: 14.0 };
        drawing.shade(area, "heat", 0.04 + 0.96 * part, "");
    }
    drawing.text((LEFT + STEP * STEPS as f64 + 8.0, top + 11.0), "", greatest);
    debug_assert!(LEFT + STEP * (STEPS as f64) < WIDTH);
}

/// Names of hosts and the amounts between them, added up in groups if there are too many.
fn grouped(amounts: &[Vec<f64>]) -> (Vec<String>, Vec<Vec<f64>>) {
    let hosts = amounts.len();
    let size = hosts.div_ceil(MAX_FIELDS).max(1);
    let groups = hosts.div_ceil(size);
    let name = |group: usize| match size {
        1 => group.to_string(),
        _ => format!("{}–{}", group * size, ((group + 1) * size).min(hosts) - 1),
    };
    let mut sums = vec![vec![0.0; groups]; groups];
    for (from, row) in amounts.iter().enumerate() {
        for (to, amount) in row.iter().enumerate() {
            sums[from / size][to / size] += amount;
        }
    }
    ((0..groups).map(name).collect(), sums)
}
