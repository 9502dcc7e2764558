//! Compares two measurements: which configurations became faster or slower, beyond noise.

use std::path::Path;

use crate::graph::Error;
use serde_json::{Value, json};

use super::results::Key;
use super::samples::{Change, MIN_DIFFERENCE, MIN_SAMPLES, Samples};
use crate::cli::exit::Failure;
use crate::cli::show;

/// A measurement as read from its file.
struct Measurements {
    options: Value,
    rows: Vec<Row>,
}

struct Row {
    key: Key,
    vertices: u64,
    edges: u64,
    converged: bool,
    /// Of the rounds alone.
    seconds: Samples,
    /// From the file to the answer, if that was measured.
    whole_seconds: Option<Samples>,
}

/// A configuration in both measurements, or in one of them.
struct Comparison<'f> {
    old: Option<&'f Row>,
    new: Option<&'f Row>,
    key: &'f Key,
}

/// One time of a configuration in both measurements, in one of them or in none.
struct Times<'f> {
    old: Option<&'f Samples>,
    new: Option<&'f Samples>,
    /// True unless the measurements are of different work.
    are_alike: bool,
}

/// Compares two files that `--output` wrote.
pub(super) fn compare(old_path: &Path, new_path: &Path, as_json: bool) -> Result<String, Failure> {
    let (old, new) = (Measurements::read(old_path)?, Measurements::read(new_path)?);
    if old.options != new.options {
        return Err(Failure::bad_data(format!(
            "measured with other options: {} in {}, {} in {}",
            old.options,
            old_path.display(),
            new.options,
            new_path.display()
        )));
    }
    let partner =
        |row: &Row, file: &'_ Measurements| file.rows.iter().position(|o| o.key == row.key);
    let known = old.rows.iter().map(|row| {
        let new = partner(row, &new).map(|place| &new.rows[place]);
        Comparison { old: Some(row), new, key: &row.key }
    });
    let added = new.rows.iter().filter(|row| partner(row, &old).is_none());
    let added = added.map(|row| Comparison { old: None, new: Some(row), key: &row.key });
    let outcomes: Vec<_> = known.chain(added).collect();
    Ok(match as_json {
        true => format!("{:#}\n", outcomes.iter().map(Comparison::as_json).collect::<Value>()),
        false => text(&outcomes),
    })
}

fn text(outcomes: &[Comparison<'_>]) -> String {
    // Files of an earlier version have no whole times.
    let has_whole = outcomes.iter().any(|outcome| outcome.whole().is_measured());
    let mut head = vec!["algorithm", "graph", "engine", "hosts", "policy"];
    head.extend(["verdict", "old", "new", "new ÷ old"]);
    if has_whole {
        head.extend(["whole: verdict", "old", "new", "new ÷ old"]);
    }
    let left: Vec<bool> = (0..head.len()).map(|column| column < 6 || column == 9).collect();
    let rows: Vec<_> = outcomes.iter().map(|outcome| outcome.cells(has_whole)).collect();
    let mut text = show::table_of(&left, &head, &rows);
    text += &format!(
        "\nfaster, slower: of at least {MIN_SAMPLES} samples each, all on one side, and the best further \
         apart than {:.0} % and than either median is from its best\n",
        MIN_DIFFERENCE * 100.0
    );
    text
}

impl<'f> Comparison<'f> {
    fn times(&self, of: impl Fn(&'f Row) -> Option<&'f Samples>) -> Times<'f> {
        let are_alike = self.old.zip(self.new).is_none_or(|(old, new)| new.is_like(old));
        Times { old: self.old.and_then(&of), new: self.new.and_then(&of), are_alike }
    }

    /// The times of the rounds alone.
    fn run(&self) -> Times<'f> {
        self.times(|row| Some(&row.seconds))
    }

    /// The times from the file to the answer.
    fn whole(&self) -> Times<'f> {
        self.times(|row| row.whole_seconds.as_ref())
    }

    fn cells(&self, with_whole: bool) -> Vec<String> {
        let key = self.key;
        let mut cells = vec![
            key.algorithm.clone(),
            key.graph.clone(),
            key.engine.clone(),
            format!("{} × {}", key.hosts, key.threads),
            key.policy.clone(),
        ];
        cells.extend(self.run().cells());
        if with_whole {
            cells.extend(self.whole().cells());
        }
        cells
    }

    fn as_json(&self) -> Value {
        let (key, run, whole) = (self.key, self.run(), self.whole());
        json!({
            "algorithm": key.algorithm,
            "graph": key.graph,
            "engine": key.engine,
            "hosts": key.hosts,
            "threads": key.threads,
            "policy": key.policy,
            "old": run.old.map(Samples::best),
            "new": run.new.map(Samples::best),
            "ratio": run.ratio(),
            "verdict": run.verdict(),
            "whole": whole.is_measured().then(|| json!({
                "old": whole.old.map(Samples::best),
                "new": whole.new.map(Samples::best),
                "ratio": whole.ratio(),
                "verdict": whole.verdict(),
            })),
        })
    }
}

impl Times<'_> {
    fn is_measured(&self) -> bool {
        self.old.is_some() || self.new.is_some()
    }

    /// New over old, if both measured the same work.
    fn ratio(&self) -> Option<f64> {
        let both = self.old.zip(self.new).filter(|_| self.are_alike);
        both.map(|(old, new)| new.best() / old.best())
    }

    fn verdict(&self) -> &'static str {
        match (self.old, self.new) {
            (Some(old), Some(new)) if self.are_alike => Change::name(new.against(old)),
            (Some(_), Some(_)) => "not the same work",
            (Some(_), None) => "only in old",
            (None, Some(_)) => "only in new",
            (None, None) => "",
        }
    }

    fn cells(&self) -> [String; 4] {
        let seconds = |of: Option<&Samples>| {
            of.map_or(String::new(), |samples| show::seconds(samples.best()))
        };
        let ratio = self.ratio().map_or(String::new(), |ratio| format!("{ratio:.2}"));
        [self.verdict().into(), seconds(self.old), seconds(self.new), ratio]
    }
}

impl Measurements {
    fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, "read", e))?;
        let bad = |problem: String| Failure::bad_data(format!("{}: {problem}", path.display()));
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|e| bad(format!("not JSON: {e}")))?;
        let rows = value["rows"].as_array().ok_or_else(|| {
            bad("no list 'rows': expected a file that `parton bench --output` wrote".into())
        })?;
        let mut read: Vec<Row> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let row = Row::read(row).map_err(|problem| bad(format!("rows[{number}]{problem}")))?;
            if let Some(first) = read.iter().position(|other| other.key == row.key) {
                return Err(bad(format!("rows[{number}] is the same thing as rows[{first}]")));
            }
            read.push(row);
        }
        Ok(Measurements { options: value["options"].clone(), rows: read })
    }
}

impl Row {
    /// Reads a row; an error says what is wrong and where.
    fn read(row: &Value) -> Result<Self, String> {
        let at = |place: &str, expected: &str| {
            let found = row.pointer(&place.replace('.', "/")).unwrap_or(&Value::Null);
            format!("{place}: expected {expected}, found {found}")
        };
        let value = |place: &str| row.pointer(&place.replace('.', "/"));
        let text = |place| {
            let text = value(place).and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| at(place, "a text"))
        };
        let count = |place| {
            let count = value(place).and_then(Value::as_u64);
            count.ok_or_else(|| at(place, "a whole number"))
        };
        let size =
            |place| count(place)?.try_into().map_err(|_| at(place, "a number of hosts or threads"));
        let samples = |place| {
            let seconds = value(place).and_then(Value::as_array);
            let seconds = seconds.and_then(|all| all.iter().map(Value::as_f64).collect());
            seconds.and_then(Samples::new).ok_or_else(|| at(place, "a list of seconds"))
        };
        let (whole, converged) = (".seconds.whole", ".converged");
        let has_whole = value(whole).is_some_and(|whole| !whole.is_null());
        Ok(Row {
            key: Key {
                algorithm: text(".algorithm")?,
                graph: text(".graph.name")?,
                engine: text(".engine")?,
                hosts: size(".hosts")?,
                threads: size(".threads")?,
                policy: text(".policy")?,
            },
            vertices: count(".graph.vertices")?,
            edges: count(".graph.edges")?,
            converged: value(converged)
                .and_then(Value::as_bool)
                .ok_or_else(|| at(converged, "true or false"))?,
            seconds: samples(".seconds.run")?,
            whole_seconds: has_whole.then(|| samples(whole)).transpose()?,
        })
    }

    /// True if both did the same work: graphs of equal name and size, and both ran to the end.
    fn is_like(&self, other: &Row) -> bool {
        let work = |row: &Row| (row.vertices, row.edges, row.converged);
        work(self) == work(other)
    }
}
