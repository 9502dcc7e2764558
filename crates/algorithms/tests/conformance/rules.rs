//! When what was found agrees with what is known.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use parton_algorithms::{Fact, Id, Values};
use parton_graph::source::Source;
use parton_graph::{Graph, Ids, OriginalId};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::Outcome;

/// Doubles that were added up in another order.
const ROUNDING: f64 = 1e-9;
/// What LDBC Graphalytics allows real numbers to differ, of their size.
const LDBC: f64 = 1e-4;

/// One way in which an outcome must agree with something known.
pub(crate) enum Rule {
    /// Counts and the hash of levels or distances from this root.
    Search { answer: Value, root: u64 },
    /// Sizes and the hash of components.
    Components(Value),
    /// Sizes of strongly connected components.
    Strong(Value),
    /// Sizes and the hash of communities.
    Communities(Value),
    /// Sum, number and largest of the scores of betweenness that are not 0: this part of what is known.
    Between { answer: Value, part: f64 },
    /// Our own lines `ID VALUE`, for vertices whose value is not 0: this part of what is known.
    OwnScores { file: PathBuf, part: f64 },
    /// Sums, extremes and samples of ranks.
    Ranks(Value),
    /// Degeneracy, sizes of cores and the hash of coreness.
    Cores(Value),
    /// The number of triangles, and their share of what could be triangles.
    Triangles(Value),
    /// A number that the run says of its result.
    Fact(&'static str, Value),
    /// How many vertices have a value that is not 0.
    Nonzero(Value),
    /// The ids of those whose value is not 0.
    Members(PathBuf),
    /// 1 for those that have this value, 0 for others.
    Shell(PathBuf, u32),
    /// Whole numbers, exactly the same.
    Counts(PathBuf),
    /// The run ended by itself.
    Converged,
    /// The number of components.
    Count(u64),
    /// Our own lines `ID VALUE`, for vertices within reach.
    Own(PathBuf),
    /// Levels by the rules of LDBC Graphalytics: exactly the same, 2^63 - 1 out of reach.
    Levels(PathBuf),
    /// Labels by the rules of LDBC Graphalytics: exactly the same.
    Labels(PathBuf),
    /// Real numbers by the rules of LDBC Graphalytics, `Infinity` out of reach.
    Close(PathBuf),
    /// Real numbers that differ by no more than this.
    Near(PathBuf, f64),
    /// Components by the rules of LDBC Graphalytics: the same sets, whatever they are called.
    Sets(PathBuf),
}

/// What users call a vertex.
pub(crate) fn id(ids: &Ids, vertex: usize) -> u64 {
    match ids.get(vertex) {
        OriginalId::Integer(id) => id,
        OriginalId::Name(_) => panic!("real graphs have integers as ids"),
    }
}

/// Checks a fact; in words, how it is wrong.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, expected {expected:?}")),
    }
}

/// Checks a real number that may differ by this much of its size.
fn close(what: &str, found: f64, expected: f64, relative: f64) -> Result<(), String> {
    match (found - expected).abs() <= relative * expected.abs() {
        true => Ok(()),
        false => Err(format!("{what}: {found:e}, expected {expected:e}")),
    }
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

/// The text of a file, packed or not.
fn text(path: &Path) -> String {
    let source = Source::file(path).unwrap_or_else(|e| panic!("{e}"));
    let mut text = String::new();
    source.parts()[0].reader().unwrap().read_to_string(&mut text).expect("a text");
    text
}

/// What came out of a run, and the graph it is about.
pub(crate) struct Found<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) outcome: &'a Outcome,
}

impl Found<'_> {
    /// Whether a rule is kept; if not, how.
    pub(crate) fn matches(&self, rule: &Rule) -> Result<(), String> {
        match rule {
            Rule::Search { answer, root } => self.search(answer, *root),
            Rule::Components(answer) => self.components(answer),
            Rule::Strong(answer) => self.set_sizes(answer).map(drop),
            Rule::Communities(answer) => {
                same("labels", self.fact("count"), real(&answer["labels"]))?;
                same("largest", self.fact("largest"), real(&answer["largest"]))?;
                self.hash(answer)
            }
            Rule::Between { answer, part } => self.between(answer, *part),
            Rule::OwnScores { file, part } => self.own_scores(file, *part),
            Rule::Labels(file) => self.each_line(file, |vertex, text| {
                let label = self.value(vertex).expect("everything has a label") as usize;
                same("label", id(&self.graph.ids, label), text.parse().expect("a label"))
            }),
            Rule::Ranks(answer) => self.ranks(answer),
            Rule::Cores(answer) => self.cores(answer),
            Rule::Triangles(answer) => self.triangles(answer),
            Rule::Fact(name, known) => close(name, self.fact(name), real(known), ROUNDING),
            Rule::Nonzero(known) => same("not 0", self.nonzero().count() as f64, real(known)),
            Rule::Members(file) => {
                let members: Vec<u64> = self.nonzero().map(|v| id(&self.graph.ids, v)).collect();
                let text = text(file);
                let mut known: Vec<u64> =
                    text.split_whitespace().map(|id| id.parse().expect("an id")).collect();
                known.sort_unstable();
                same("members", members, known)
            }
            Rule::Shell(file, value) => self.each_line(file, |vertex, text| {
                let is_there = self.value(vertex) == Some(f64::from(*value));
                same("in the shell", u32::from(is_there).to_string(), text.into())
            }),
            Rule::Counts(file) => self.each_line(file, |vertex, text| {
                same("count", self.value(vertex), Some(text.parse().expect("a count")))
            }),
            Rule::Converged => same("converged", self.outcome.report.converged, true),
            Rule::Count(count) => same("components", self.fact("count"), *count as f64),
            Rule::Own(file) => self.own(file),
            Rule::Levels(file) => self.each_line(file, |vertex, text| {
                let level = match text {
                    "9223372036854775807" => None,
                    level => Some(level.parse().expect("a level")),
                };
                same("level", self.value(vertex), level)
            }),
            Rule::Close(file) => {
                self.each_number(file, |found, expected| close("value", found, expected, LDBC))
            }
            Rule::Near(file, most) => self.each_number(file, |found, expected| {
                let near = (found - expected).abs() <= *most;
                near.then_some(()).ok_or(format!("{found:e}, expected {expected:e}"))
            }),
            Rule::Sets(file) => self.sets(file),
        }
    }

    fn values(&self) -> &Values {
        &self.outcome.columns[0].values
    }

    /// The value of a vertex; none out of reach.
    fn value(&self, vertex: usize) -> Option<f64> {
        self.values().real(vertex)
    }

    /// The vertex of an id.
    fn vertex(&self, id: u64) -> usize {
        let found = self.graph.ids.find(OriginalId::Integer(id));
        found.unwrap_or_else(|| panic!("there is no vertex {id}"))
    }

    /// One thing that the run says of its result.
    pub(crate) fn fact(&self, name: &str) -> f64 {
        let fact = self.outcome.result.iter().find(|(known, _)| *known == name);
        match fact {
            Some((_, Fact::Integer(number))) => *number as f64,
            Some((_, Fact::Real(number))) => *number,
            other => panic!("{name} is {other:?}"),
        }
    }

    /// Lines `ID VALUE` for all vertices within reach; values are whole numbers.
    fn lines(&self) -> String {
        let mut lines = String::new();
        for vertex in 0..self.graph.num_vertices() {
            let value = match self.values() {
                Values::U32(values) if values[vertex] == u32::MAX => continue,
                Values::U64(values) if values[vertex] == u64::MAX => continue,
                Values::U32(values) => u64::from(values[vertex]),
                Values::U64(values) => values[vertex],
                Values::Vertices(values) => id(&self.graph.ids, values[vertex] as usize),
                Values::F64(_) | Values::Vectors { .. } => {
                    panic!("no text is the only one for a real number")
                }
            };
            writeln!(lines, "{} {value}", id(&self.graph.ids, vertex)).expect("memory");
        }
        lines
    }

    fn is_whole(&self) -> bool {
        !matches!(self.values(), Values::F64(_))
    }

    fn hash(&self, answer: &Value) -> Result<(), String> {
        let expected = answer["sha256"].as_str().expect("a hash of whole numbers");
        let hash: String = Sha256::digest(self.lines())
            .iter()
            .fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
        same("sha256", &hash[..], expected)
    }

    fn search(&self, answer: &Value, root: u64) -> Result<(), String> {
        let found = self.outcome.result.iter().find(|(name, _)| *name == "root");
        same("root", found, Some(&("root", Fact::Vertex(Some(Id::Integer(root))))))?;
        let either = |a: &str, b: &str| real(answer.get(a).unwrap_or(&answer[b]));
        let sum = either("sum_of_levels", "sum_of_distances");
        let max = either("max_level", "max_distance");
        same("reached", self.fact("reached"), real(&answer["reached"]))?;
        if !self.is_whole() {
            close("sum", self.fact("sum"), sum, ROUNDING)?;
            return close("max", self.fact("max"), max, ROUNDING);
        }
        same("sum", self.fact("sum"), sum)?;
        same("max", self.fact("max"), max)?;
        if let Some(expected) = answer.get("vertices_per_level") {
            let mut counts = vec![0; max as usize + 1];
            let levels = (0..self.graph.num_vertices()).filter_map(|vertex| self.value(vertex));
            levels.for_each(|level| counts[level as usize] += 1);
            same("vertices per level", &Value::from(counts), expected)?;
        }
        self.hash(answer)
    }

    fn components(&self, answer: &Value) -> Result<(), String> {
        let sizes = self.set_sizes(answer)?;
        let singletons = sizes.iter().filter(|&&size| size == 1).count();
        same("singletons", singletons as f64, real(&answer["singletons"]))?;
        self.hash(answer)
    }

    /// Checks how many components there are and how large the largest; all sizes, largest first.
    fn set_sizes(&self, answer: &Value) -> Result<Vec<u64>, String> {
        same("components", self.fact("count"), real(&answer["components"]))?;
        same("largest", self.fact("largest"), real(&answer["largest"]))?;
        let Values::Vertices(labels) = self.values() else { panic!("components are vertices") };
        let mut sizes = vec![0u64; labels.len()];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.retain(|&size| size > 0);
        let largest: Vec<u64> = sizes.iter().copied().take(5).collect();
        same("largest five", &Value::from(largest), &answer["sizes_top5"])?;
        Ok(sizes)
    }

    fn between(&self, answer: &Value, part: f64) -> Result<(), String> {
        close("sum", self.fact("sum"), part * real(&answer["sum"]), ROUNDING)?;
        let scores = (0..self.graph.num_vertices()).filter_map(|vertex| self.value(vertex));
        // On a road network a vertex may be on one path of many billions, of which the answers know
        // nothing.
        let nonzero = scores.filter(|&score| score > 1e-12).count();
        same("scores that are not 0", nonzero as f64, real(&answer["nonzero"]))?;
        let top = answer["top10"].as_array().expect("a list of pairs");
        for pair in top {
            let (id, expected) = (pair[0].as_u64().expect("an id"), part * real(&pair[1]));
            let found = self.value(self.vertex(id)).expect("a score for everybody");
            close(&format!("score of {id}"), found, expected, ROUNDING)?;
        }
        let max = top.first().map_or(0.0, |pair| part * real(&pair[1]));
        close("max", self.fact("max"), max, ROUNDING)
    }

    fn own_scores(&self, file: &Path, part: f64) -> Result<(), String> {
        let mut listed = vec![false; self.graph.num_vertices()];
        for line in text(file).lines() {
            let (vertex, expected) = self.line(line);
            listed[vertex] = true;
            let found = self.value(vertex).expect("a score for everybody");
            let expected: f64 = expected.parse().expect("a number");
            close(line, found, part * expected, ROUNDING)?;
        }
        let nonzero = (0..listed.len()).map(|vertex| self.value(vertex) != Some(0.0)).collect();
        same("vertices with a score", listed, nonzero)
    }

    /// Vertices whose value is not 0.
    fn nonzero(&self) -> impl Iterator<Item = usize> {
        (0..self.graph.num_vertices()).filter(|&vertex| self.value(vertex) != Some(0.0))
    }

    fn cores(&self, answer: &Value) -> Result<(), String> {
        let degeneracy = real(&answer["degeneracy"]);
        same("degeneracy", self.fact("degeneracy"), degeneracy)?;
        let at_least = |k: f64| {
            let vertices = 0..self.graph.num_vertices();
            vertices.filter(|&vertex| self.value(vertex) >= Some(k)).count() as f64
        };
        same("inmost", at_least(degeneracy), real(&answer["vertices_in_max_core"]))?;
        for (k, size) in answer["size_of_k_core"].as_object().expect("sizes by k") {
            let k = k.parse().expect("a number");
            same(&format!("size of the {k}-core"), at_least(k), real(size))?;
        }
        self.hash(answer)
    }

    fn triangles(&self, answer: &Value) -> Result<(), String> {
        let count = self.fact("count");
        same("triangles", count, real(&answer["count"]))?;
        let offsets = self.graph.adjacency.offsets();
        let degrees = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as f64);
        let wedges: f64 = degrees.map(|degree| degree * (degree - 1.0) / 2.0).sum();
        let share = if wedges > 0.0 { 3.0 * count / wedges } else { 0.0 };
        close("transitivity", share, real(&answer["global_transitivity"]), ROUNDING)
    }

    fn ranks(&self, answer: &Value) -> Result<(), String> {
        let Values::F64(ranks) = self.values() else { panic!("ranks are real numbers") };
        let most = ranks.iter().copied().fold(f64::MIN, f64::max);
        let least = ranks.iter().copied().fold(f64::MAX, f64::min);
        close("sum", self.fact("sum"), real(&answer["sum"]), ROUNDING)?;
        close("max", most, real(&answer["max"]), ROUNDING)?;
        close("min", least, real(&answer["min"]), ROUNDING)?;
        let pairs = |name: &str| -> Vec<(u64, f64)> {
            let list = answer[name].as_array().expect("a list of pairs");
            list.iter().map(|pair| (pair[0].as_u64().expect("an id"), real(&pair[1]))).collect()
        };
        let top = pairs("top10");
        for (id, rank) in top.iter().copied().chain(pairs("samples")) {
            close(&format!("rank of {id}"), ranks[self.vertex(id)], rank, ROUNDING)?;
        }
        let said = self.outcome.result.iter().find_map(|(_, fact)| match fact {
            Fact::Ranking(ranking) => Some(ranking),
            _ => None,
        });
        let said = said.expect("a ranking");
        same("length of the ranking", said.len(), top.len())?;
        // Rounding decides the order of equals: places are compared by rank, not by id.
        for (place, ((_, found), (_, expected))) in said.iter().zip(&top).enumerate() {
            close(&format!("place {}", place + 1), *found, *expected, ROUNDING)?;
        }
        Ok(())
    }

    fn own(&self, file: &Path) -> Result<(), String> {
        let text = text(file);
        if self.is_whole() {
            let lines = self.lines();
            let differs =
                text.lines().zip(lines.lines()).find(|(expected, found)| expected != found);
            return match text == lines {
                true => Ok(()),
                false => Err(format!("{}: (expected, found) {differs:?}", file.display())),
            };
        }
        let mut listed = vec![false; self.graph.num_vertices()];
        for line in text.lines() {
            let (vertex, expected) = self.line(line);
            let expected = expected.parse().expect("a number");
            listed[vertex] = true;
            close(line, self.value(vertex).unwrap_or(f64::INFINITY), expected, ROUNDING)?;
        }
        let reached = (0..listed.len()).map(|vertex| self.value(vertex).is_some()).collect();
        same("vertices within reach", listed, reached)
    }

    fn line<'t>(&self, line: &'t str) -> (usize, &'t str) {
        let (id, value) = line.trim().split_once(' ').expect("two words");
        (self.vertex(id.parse().expect("an id")), value)
    }

    /// Checks a line for every vertex, each exactly once.
    fn each_line(
        &self,
        file: &Path,
        mut check: impl FnMut(usize, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut missing = vec![true; self.graph.num_vertices()];
        for line in text(file).lines() {
            let (vertex, value) = self.line(line);
            assert!(std::mem::take(&mut missing[vertex]), "{}: {line} again", file.display());
            check(vertex, value).map_err(|e| format!("{}: {line}: {e}", file.display()))?;
        }
        assert!(!missing.contains(&true), "{} is about every vertex", file.display());
        Ok(())
    }

    /// Checks a real number for every vertex.
    fn each_number(
        &self,
        file: &Path,
        check: impl Fn(f64, f64) -> Result<(), String>,
    ) -> Result<(), String> {
        self.each_line(file, |vertex, text| {
            match (self.value(vertex), text.eq_ignore_ascii_case("infinity")) {
                (None, true) => Ok(()),
                (Some(found), false) => check(found, text.parse().expect("a number")),
                (found, _) => Err(format!("{found:?}")),
            }
        })
    }

    fn sets(&self, file: &Path) -> Result<(), String> {
        let (mut to, mut from) = (HashMap::new(), HashMap::new());
        self.each_line(file, |vertex, theirs| {
            let ours = self.value(vertex).expect("everything is in a component") as u64;
            let theirs: u64 = theirs.parse().expect("a label");
            same("their set", *to.entry(ours).or_insert(theirs), theirs)?;
            same("our set", *from.entry(theirs).or_insert(ours), ours)
        })
    }
}
