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
    seconds: Samples,
}

/// A configuration in both measurements, or in one of them.
enum Comparison<'f> {
    Both(&'f Row, &'f Row),
    OnlyOld(&'f Row),
    OnlyNew(&'f Row),
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
    let mut outcomes: Vec<Comparison<'_>> = Vec::new();
    for row in &old.rows {
        outcomes.push(match partner(row, &new) {
            Some(place) => Comparison::Both(row, &new.rows[place]),
            None => Comparison::OnlyOld(row),
        });
    }
    let added = new.rows.iter().filter(|row| partner(row, &old).is_none());
    outcomes.extend(added.map(Comparison::OnlyNew));
    Ok(match as_json {
        true => format!("{:#}\n", outcomes.iter().map(Comparison::as_json).collect::<Value>()),
        false => text(&outcomes),
    })
}

fn text(outcomes: &[Comparison<'_>]) -> String {
    let head =
        ["algorithm", "graph", "engine", "hosts", "policy", "verdict", "old", "new", "new ÷ old"];
    let rows: Vec<_> = outcomes.iter().map(Comparison::cells).collect();
    let mut text = show::table(6, &head, &rows);
    text += &format!(
        "\nfaster, slower: of at least {MIN_SAMPLES} samples each, all on one side, and the best further \
         apart than {:.0} % and than either median is from its best\n",
        MIN_DIFFERENCE * 100.0
    );
    text
}

impl Comparison<'_> {
    fn key(&self) -> &Key {
        match self {
            Comparison::Both(row, _) | Comparison::OnlyOld(row) | Comparison::OnlyNew(row) => {
                &row.key
            }
        }
    }

    /// The best of the old and of the new.
    fn bests(&self) -> (Option<f64>, Option<f64>) {
        let best = |row: &Row| Some(row.seconds.best());
        match self {
            Comparison::Both(old, new) => (best(old), best(new)),
            Comparison::OnlyOld(old) => (best(old), None),
            Comparison::OnlyNew(new) => (None, best(new)),
        }
    }

    /// New over old, if both measured the same work.
    fn ratio(&self) -> Option<f64> {
        match self {
            Comparison::Both(old, new) if new.is_like(old) => {
                Some(new.seconds.best() / old.seconds.best())
            }
            _ => None,
        }
    }

    fn verdict(&self) -> &'static str {
        match self {
            Comparison::Both(old, new) if new.is_like(old) => {
                Change::name(new.seconds.against(&old.seconds))
            }
            Comparison::Both(..) => "not the same work",
            Comparison::OnlyOld(_) => "only in old",
            Comparison::OnlyNew(_) => "only in new",
        }
    }

    fn cells(&self) -> Vec<String> {
        let (key, (old, new)) = (self.key(), self.bests());
        let seconds = |best: Option<f64>| best.map_or(String::new(), show::seconds);
        vec![
            key.algorithm.clone(),
            key.graph.clone(),
            key.engine.clone(),
            format!("{} × {}", key.hosts, key.threads),
            key.policy.clone(),
            self.verdict().into(),
            seconds(old),
            seconds(new),
            self.ratio().map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ]
    }

    fn as_json(&self) -> Value {
        let (key, (old, new)) = (self.key(), self.bests());
        json!({
            "algorithm": key.algorithm,
            "graph": key.graph,
            "engine": key.engine,
            "hosts": key.hosts,
            "threads": key.threads,
            "policy": key.policy,
            "old": old,
            "new": new,
            "ratio": self.ratio(),
            "verdict": self.verdict(),
        })
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
        let (place, converged) = (".seconds.run", ".converged");
        let seconds = value(place).and_then(Value::as_array);
        let seconds = seconds.and_then(|all| all.iter().map(Value::as_f64).collect());
        let seconds = seconds.and_then(Samples::new);
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
            seconds: seconds.ok_or_else(|| at(place, "a list of seconds"))?,
        })
    }

    /// True if both did the same work: graphs of equal name and size, and both ran to the end.
    fn is_like(&self, other: &Row) -> bool {
        let work = |row: &Row| (row.vertices, row.edges, row.converged);
        work(self) == work(other)
    }
}
