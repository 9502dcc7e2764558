//! How the values of an answer are spread: counted by all hosts, drawn by one.

use crate::algorithms::components::sizes_by_label;
use crate::algorithms::{Column, Values};
use crate::cli::page::{Columns, Series};
use crate::cli::show;
use crate::net::{Error, Net};

/// Integers get a class each while they span fewer than this.
const MAX_SINGLE_CLASSES: f64 = 48.0;
/// Classes of equal width, or of equal factors.
const CLASSES: usize = 40;
/// Values that span more than this factor get classes of equal factors.
const WIDE_SPAN: f64 = 200.0;

/// Values by classes.
pub(super) struct Histogram {
    /// What a value is.
    value: String,
    /// What is counted.
    counted: String,
    classes: Vec<String>,
    counts: Vec<u64>,
    /// How many have no value.
    without: u64,
}

/// How values are cut into classes.
enum Cut {
    /// From `low` on, classes of a `width` each.
    Even { low: f64, width: f64 },
    /// From `low` on, classes of a `factor` each; before them one for 0, if it `has_zero`.
    Factors { low: f64, factor: f64, has_zero: bool },
}

/// What all hosts know of the values.
#[derive(Clone, Copy)]
struct Extent {
    least: f64,
    least_positive: f64,
    greatest: f64,
}

impl Histogram {
    /// The histogram of an answer's column, the same on all hosts. Every host must call this.
    pub(super) fn of(net: &mut Net, column: &Column) -> Result<Self, Error> {
        match &column.values {
            Values::Vertices(labels) => {
                let sizes = sizes_by_label(net, labels)?;
                let (value, counted) = (format!("vertices of a {}", column.name), column.name);
                Self::count(net, value, format!("{counted}s"), true, || {
                    sizes.iter().map(|&size| Some(size as f64))
                })
            }
            values => {
                let is_whole = matches!(values, Values::U32(_) | Values::U64(_));
                let value = match values {
                    Values::Vectors { .. } => format!("length of {}", column.name),
                    _ => column.name.to_owned(),
                };
                Self::count(net, value, "vertices".into(), is_whole, || {
                    (0..values.len()).map(|place| values.real(place))
                })
            }
        }
    }

    fn count<I: Iterator<Item = Option<f64>>>(
        net: &mut Net,
        value: String,
        counted: String,
        is_whole: bool,
        values: impl Fn() -> I,
    ) -> Result<Self, Error> {
        let finite = |value: &f64| value.is_finite();
        let mut mine = Extent {
            least: f64::INFINITY,
            least_positive: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
        };
        for value in values().flatten().filter(finite) {
            mine.least = mine.least.min(value);
            mine.greatest = mine.greatest.max(value);
            if value > 0.0 {
                mine.least_positive = mine.least_positive.min(value);
            }
        }
        let mut least = [mine.least, mine.least_positive, -mine.greatest];
        net.all_reduce_slice(&mut least, f64::min)?;
        let [least, least_positive, greatest] = least;
        let extent = Extent { least, least_positive, greatest: -greatest };
        let cut = Cut::of(extent, is_whole);
        let classes = cut.names(extent, is_whole);
        let value = if is_whole { value } else { format!("{value}, from") };
        // The last counter is for vertices without a value.
        let mut counts = vec![0_u64; classes.len() + 1];
        let without = classes.len();
        for value in values() {
            let class = value.filter(finite).map(|value| cut.class(value).min(without - 1));
            counts[class.unwrap_or(without)] += 1;
        }
        net.all_reduce_slice(&mut counts, |a, b| a + b)?;
        let without = counts.pop().unwrap_or(0);
        Ok(Histogram { value, counted, classes, counts, without })
    }

    /// The chart.
    pub(super) fn draw(&self) -> String {
        let values = self.counts.iter().map(|&count| count as f64).collect();
        Columns {
            of: &self.value,
            bottom: &self.value,
            left: &self.counted,
            names: self.classes.clone(),
            series: vec![Series { name: "", class: "one", values }],
            show: &|value| show::count(value as u64),
        }
        .draw()
    }

    /// A sentence below the heading.
    pub(super) fn caption(&self) -> String {
        let counted = format!("How many {} have which value.", self.counted);
        match self.without {
            0 => counted,
            without => format!("{counted} {} have none.", show::count(without)),
        }
    }
}

impl Cut {
    fn of(Extent { least, least_positive, greatest }: Extent, is_whole: bool) -> Self {
        let span = greatest - least;
        if is_whole && span < MAX_SINGLE_CLASSES {
            return Cut::Even { low: least, width: 1.0 };
        }
        let has_zero = least <= 0.0;
        let is_wide = least >= 0.0 && greatest / least_positive > WIDE_SPAN;
        match is_wide {
            // Of whole numbers each class doubles; of real ones it takes what makes them enough.
            true if is_whole => Cut::Factors { low: least_positive, factor: 2.0, has_zero },
            true => {
                let factor = (greatest / least_positive).powf(1.0 / CLASSES as f64) * (1.0 + 1e-12);
                Cut::Factors { low: least_positive, factor, has_zero }
            }
            false => {
                let width = span / CLASSES as f64 * (1.0 + 1e-12);
                let width = if is_whole { width.ceil() } else { width };
                let width = if width > 0.0 { width } else { 1.0 };
                Cut::Even { low: least, width }
            }
        }
    }

    /// The class of a value.
    fn class(&self, value: f64) -> usize {
        match *self {
            Cut::Even { low, width } => ((value - low) / width) as usize,
            Cut::Factors { .. } if value <= 0.0 => 0,
            // A power of the factor must not fall below itself by rounding.
            Cut::Factors { low, factor, has_zero } => {
                usize::from(has_zero) + ((value / low).ln() / factor.ln() + 1e-9) as usize
            }
        }
    }

    /// What classes are called: whole numbers by what they hold, others by where they begin.
    fn names(&self, extent: Extent, is_whole: bool) -> Vec<String> {
        if extent.greatest < extent.least {
            return vec![String::new()];
        }
        let count = self.class(extent.greatest) + 1;
        let name = |from: f64, to: f64| match (from, to - 1.0) {
            (from, _) if !is_whole => short(from),
            (from, last) if last <= from => short(from),
            (from, last) => format!("{}–{}", short(from), short(last.min(extent.greatest))),
        };
        match *self {
            Cut::Even { low, width } => {
                let start = |class: usize| low + width * class as f64;
                (0..count).map(|class| name(start(class), start(class + 1))).collect()
            }
            Cut::Factors { low, factor, has_zero } => {
                let zero = has_zero.then(|| "0".to_owned());
                let start = |power: usize| low * factor.powi(power as i32);
                let names = (0..).map(|power| name(start(power), start(power + 1)));
                zero.into_iter().chain(names).take(count).collect()
            }
        }
    }
}

/// A number of three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 1e7 => format!("{value:.1e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 0.01 => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Cluster;

    /// The histogram of a column that is spread over hosts, and one host's view of it.
    fn histogram(hosts: usize, values: &Values) -> Histogram {
        fn mine<T: Copy>(values: &[T], host: usize, hosts: usize) -> Vec<T> {
            values.iter().copied().skip(host).step_by(hosts).collect()
        }
        let all = Cluster::local(hosts).launch(|net| {
            let host = net.host().index();
            let values = match values {
                Values::U32(all) => Values::U32(mine(all, host, hosts)),
                Values::U64(all) => Values::U64(mine(all, host, hosts)),
                Values::F64(all) => Values::F64(mine(all, host, hosts)),
                Values::Vertices(all) => Values::Vertices(mine(all, host, hosts)),
                Values::Vectors { .. } => values.clone(),
            };
            Histogram::of(net, &Column { name: "value", values })
        });
        all.expect("hosts agree").swap_remove(0)
    }

    #[test]
    fn every_value_is_in_one_class() {
        let reals: Vec<f64> = (0..1000).map(|i| 1e-9 * 1.03_f64.powi(i)).collect();
        let many: Vec<u64> = (0..5000).map(|i| i * i * i).collect();
        for values in [
            Values::U32((0..500).map(|i| i % 7).collect()),
            Values::U32(vec![3; 10]),
            Values::U32(vec![u32::MAX; 4]),
            Values::U32(Vec::new()),
            Values::U64(many),
            Values::F64(reals.clone()),
            Values::F64(reals.iter().map(|value| 5.0 - value).chain([f64::INFINITY]).collect()),
            Values::F64(vec![0.0, 0.0, 1e-300, 1e300]),
            Values::F64(vec![-3.0, 4.0, 0.5, f64::NAN]),
            Values::F64(vec![0.25; 9]),
        ] {
            for hosts in [1, 3] {
                let found = histogram(hosts, &values);
                let all: u64 = found.counts.iter().sum();
                assert_eq!(all + found.without, values.len() as u64, "{values:?}");
                assert_eq!(found.counts.len(), found.classes.len());
                assert!(found.counts.len() <= 66, "{} classes", found.counts.len());
            }
        }
    }

    #[test]
    fn small_integers_have_a_class_each() {
        let found = histogram(2, &Values::U32(vec![2, 4, 4, 2, 2, u32::MAX]));
        assert_eq!(found.classes, ["2", "3", "4"]);
        assert_eq!((found.counts, found.without), (vec![3, 0, 2], 1));
    }

    #[test]
    fn components_are_counted_by_their_sizes() {
        let labels = [vec![7; 300], vec![9; 3], vec![1; 3], vec![2, 3, 4]].concat();
        for hosts in [1, 2, 4] {
            let found = histogram(hosts, &Values::Vertices(labels.clone()));
            assert_eq!(found.classes[..4], ["1", "2–3", "4–7", "8–15"]);
            assert_eq!(found.classes[8], "256–300");
            assert_eq!(found.counts, [3, 2, 0, 0, 0, 0, 0, 0, 1]);
        }
    }
}
