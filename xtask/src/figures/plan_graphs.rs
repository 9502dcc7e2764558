//! The graphs of plans beside runs: every data set of a folder, generators, and files of rows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::read;

/// A graph, and how the command reads it.
pub(super) struct PlanGraph {
    /// Its name in tables.
    pub(super) name: String,
    /// The file or the generator's specification.
    pub(super) graph: String,
    /// Options for reading it.
    pub(super) reading: Vec<String>,
    /// True if its edges are ratings of items by users.
    pub(super) is_ratings: bool,
    /// True if what a graph needs is more than a process does without one.
    pub(super) is_large: bool,
}

const GENERATED: [&str; 10] = [
    "rmat:10",
    "rmat:15",
    "rmat:16,8",
    "web:60000",
    "grid:500x400",
    "grid:300x300,permute",
    "uniform:100000,800000",
    "path:2000",
    "star:200000",
    "complete:600",
];
/// Files of rows, by what generates them.
const ROWS: [&str; 2] = ["rmat:14,32", "web:100000"];
/// From this many bytes on a file is large.
const LARGE_FILE: u64 = 1 << 18;
const SMALL_GENERATED: [&str; 2] = ["rmat:10", "path:2000"];

/// All graphs, those of a data folder last; `folder` takes the files that are made for this.
pub(super) fn all(
    parton: &str,
    data: Option<&str>,
    folder: &Path,
) -> Result<Vec<PlanGraph>, String> {
    let mut graphs: Vec<PlanGraph> = GENERATED
        .iter()
        .map(|spec| PlanGraph::plain(spec, spec.to_string(), !SMALL_GENERATED.contains(spec)))
        .collect();
    for spec in ROWS {
        let name = format!("{}.parton", spec.replace([':', ','], "-"));
        let file = folder.join(&name).to_string_lossy().into_owned();
        let made = Command::new(parton).args(["generate", spec, &file, "--quiet"]).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(format!("cannot generate {name}"));
        }
        graphs.push(PlanGraph::plain(&name, file, true));
    }
    if let Some(data) = data {
        for of_data in data_sets(Path::new(data))? {
            graphs.push(PlanGraph::of_data(&of_data, folder)?);
        }
    }
    Ok(graphs)
}

/// Folders with a `graph.json`, two levels down.
fn data_sets(data: &Path) -> Result<Vec<PathBuf>, String> {
    let inside = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let entries =
            std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
    };
    let mut found = Vec::new();
    for suite in inside(data)? {
        found.extend(inside(&suite)?.into_iter().filter(|set| set.join("graph.json").is_file()));
    }
    found.sort();
    match found.is_empty() {
        true => Err(format!("{}: no folder in it has a graph.json", data.display())),
        false => Ok(found),
    }
}

impl PlanGraph {
    fn plain(name: &str, graph: String, is_large: bool) -> Self {
        PlanGraph { name: name.into(), graph, reading: Vec::new(), is_ratings: false, is_large }
    }

    /// The graph in a folder, as its `graph.json` describes it.
    fn of_data(set: &Path, folder: &Path) -> Result<Self, String> {
        let about = read(&set.join("graph.json"));
        let text = |key: &str| about[key].as_str().unwrap_or_default();
        let mut file = set.join(text("file"));
        let is_ratings = about["kind"] == "ratings";
        if text("format") == "jester" {
            file = matrix_as_ratings(&file, folder)?;
        }
        let bytes = std::fs::metadata(&file).map_err(|e| format!("{}: {e}", file.display()))?.len();
        let mut reading: Vec<String> = Vec::new();
        if is_ratings {
            reading.push("--bipartite".into());
        } else if about["directed"] == false {
            reading.push("--undirected".into());
        }
        // Values of a matrix that are no weights.
        if !is_ratings && !about["weight"].is_string() {
            reading.extend(["--weights", "none"].map(str::to_owned));
        }
        if let [Value::Number(first), Value::Number(last)] =
            about["vertex_range"].as_array().map_or(&[][..], |range| &range[..])
        {
            reading.extend(["--vertices".into(), format!("{first}-{last}")]);
        }
        let name = text("name").to_owned();
        let graph = file.to_string_lossy().into_owned();
        Ok(PlanGraph { name, graph, reading, is_ratings, is_large: bytes >= LARGE_FILE })
    }
}

/// A packed matrix of ratings, one user a line, as a file of triples: the first column counts, and 99 stands for
/// no rating.
fn matrix_as_ratings(file: &Path, folder: &Path) -> Result<PathBuf, String> {
    let mut unpack = Command::new("gzip");
    let unpacked = unpack.args(["--decompress", "--stdout"]).arg(file).stderr(Stdio::inherit());
    let unpacked = unpacked.output().map_err(|e| format!("gzip: {e}"))?;
    let target = folder.join("ratings.csv");
    let lines = ratings_of(&String::from_utf8_lossy(&unpacked.stdout));
    if lines.is_empty() {
        return Err(format!("{}: no ratings", file.display()));
    }
    std::fs::write(&target, lines).map_err(|e| format!("{}: {e}", target.display()))?;
    Ok(target)
}

fn ratings_of(matrix: &str) -> String {
    let mut lines = String::new();
    for (user, row) in (1..).zip(matrix.lines()) {
        for (item, rating) in row.split(',').enumerate().skip(1) {
            if rating.trim() != "99" {
                lines += &format!("{user},{item},{}\n", rating.trim());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_ratings_becomes_triples() {
        assert_eq!(ratings_of("2,-7.82,99,0.5\n1,99,99,3\n"), "1,1,-7.82\n1,3,0.5\n2,3,3\n");
    }

    #[test]
    fn every_folder_with_a_description_is_a_graph() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |set: &str, about: &str, file: &str| {
            let set = folder.path().join(set);
            std::fs::create_dir_all(&set).expect("a folder");
            std::fs::write(set.join("graph.json"), about).expect("a file");
            std::fs::write(set.join(file), "1 2\n").expect("a file");
        };
        of("a/one", r#"{"name": "one", "file": "one.gz", "directed": false}"#, "one.gz");
        of(
            "b/two",
            r#"{"name": "two", "file": "t", "directed": true, "weight": "int", "vertex_range": [0, 4]}"#,
            "t",
        );
        of("b/likes", r#"{"name": "likes", "file": "l", "kind": "ratings"}"#, "l");
        std::fs::create_dir(folder.path().join("b/tools")).expect("a folder");
        let sets = data_sets(folder.path()).expect("data sets");
        let graphs: Vec<_> = sets
            .iter()
            .map(|set| PlanGraph::of_data(set, folder.path()).expect("a graph"))
            .collect();
        let options: Vec<_> =
            graphs.iter().map(|graph| (&*graph.name, graph.reading.join(" "))).collect();
        let expected = [
            ("one", "--undirected --weights none"),
            ("likes", "--bipartite"),
            ("two", "--vertices 0-4"),
        ];
        assert_eq!(options, expected.map(|(name, reading)| (name, reading.to_owned())));
        // A file that is missing is a failure, not one graph less.
        std::fs::remove_file(folder.path().join("a/one/one.gz")).expect("a file");
        assert!(PlanGraph::of_data(&sets[0], folder.path()).is_err());
        assert!(data_sets(&folder.path().join("a/one")).is_err());
    }
}
