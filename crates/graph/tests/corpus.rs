//! Messy files as their tools write them: each is read as it is meant, whole and in slices, or refused
//! with its place and the option that helps. `corpus/manifest.txt` says what each means.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use parton_graph::edge_file::{EdgeFile, Piece, Slice};
use parton_graph::formats::{
    self, ColumnKey, Columns, Decimal, IdKind, Opened, ReadOptions, TextOptions,
};
use parton_graph::id_list::IdList;
use parton_graph::progress::Silent;
use parton_graph::source::Source;
use parton_graph::{Direction, Error, Graph, Result, Weight, WeightKind, with_csr};

/// Source, destination and weight of an edge.
type Edge = (String, String, Option<f64>);

/// One entry of the manifest.
struct Case {
    fields: HashMap<String, String>,
}

impl Case {
    fn all() -> Vec<Case> {
        let manifest = include_str!("corpus/manifest.txt");
        let entry = |text: &str| Case {
            fields: text
                .lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split_once(':'))
                .map(|(key, value)| (key.trim().into(), value.trim().into()))
                .collect(),
        };
        let cases = manifest.split("\n\n").map(entry);
        cases.filter(|case| !case.fields.is_empty()).collect()
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(String::as_str)
    }

    fn list(&self, key: &str) -> Vec<&str> {
        self.get(key).map_or(Vec::new(), |list| list.split(" | ").collect())
    }

    fn source(&self) -> Source {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        Source::file(&folder.join(self.get("file").expect("a file"))).unwrap()
    }

    fn options(&self) -> ReadOptions<'static> {
        let mut options = ReadOptions::default();
        for given in self.get("options").unwrap_or("").split_whitespace() {
            let (name, value) = given.split_once('=').unwrap_or((given, ""));
            let TextOptions { delimiter, skip_lines, comment, decimal } = &mut options.text;
            match name {
                "columns" => options.columns = Some(columns(value)),
                "header" => options.header = Some(value == "yes"),
                "ids" => options.ids = IdKind::Names,
                "directed" => options.direction = Some(Direction::Directed),
                "weights" => options.weights = false,
                "delimiter" => *delimiter = Some(value.as_bytes()[0]),
                "skip_lines" => *skip_lines = value.parse().unwrap(),
                "comment" => *comment = Some(value.into()),
                "decimal" if value == "comma" => *decimal = Some(Decimal::Comma),
                "decimal" => *decimal = Some(Decimal::Point),
                _ => panic!("no option {name}"),
            }
        }
        options
    }

    /// The edges that are meant, in order.
    fn edges(&self) -> Vec<Edge> {
        let edge = |text: &str| {
            let (ends, weight) = match text.rsplit_once('=') {
                Some((ends, weight)) => (ends, Some(weight.parse().expect("a weight"))),
                None => (text, None),
            };
            let (source, destination) = ends.split_once('>').expect("an edge");
            (source.to_owned(), destination.to_owned(), weight)
        };
        let mut edges: Vec<Edge> = self.list("edges").into_iter().map(edge).collect();
        if self.get("undirected").is_some() {
            let mirrored: Vec<Edge> =
                edges.iter().map(|(s, d, w)| (d.clone(), s.clone(), *w)).collect();
            edges.extend(mirrored.into_iter().filter(|(s, d, _)| s != d));
        }
        sorted(edges)
    }
}

fn columns(text: &str) -> Columns {
    let key = |text: &str| match text.parse::<usize>() {
        Ok(number) => ColumnKey::Position(number - 1),
        Err(_) => ColumnKey::Name(text.into()),
    };
    let mut keys = text.split(',').map(key);
    let mut next = || keys.next();
    Columns { source: next().unwrap(), destination: next().unwrap(), weight: next() }
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by(|a, b| a.partial_cmp(b).expect("no weight is NaN"));
    edges
}

fn edges_of(graph: &Graph) -> Vec<Edge> {
    let name = |v: usize| graph.ids.get(v).to_string();
    let weighted = graph.adjacency.weight_kind() != WeightKind::None;
    sorted(with_csr!(&graph.adjacency, csr => csr
        .vertices()
        .flat_map(|v| {
            let edge = |(t, w): (parton_graph::LocalId, _)| {
                (name(v.index()), name(t.index()), weighted.then(|| Weight::to_f64(w)))
            };
            csr.edges(v).map(edge).collect::<Vec<_>>()
        })
        .collect()))
}

/// The edges of a file as they stand in it, read in this many slices.
fn edges_of_slices(file: &dyn EdgeFile, of: usize) -> Result<Vec<Edge>> {
    let slices: Vec<Slice> = (0..of).map(|index| Slice { index, of }).collect();
    let surveys = slices.iter().map(|slice| file.survey(*slice)).collect::<Result<Vec<_>>>()?;
    let edges = Mutex::new(Vec::new());
    let name = |list: &IdList, place: usize| match list {
        IdList::Integers(ids) => ids[place].to_string(),
        IdList::Names(names) => {
            let name = names.iter().nth(place).expect("as many as edges");
            String::from_utf8(name.to_vec()).expect("text")
        }
    };
    let take = |piece: &mut Piece| {
        let mut edges = edges.lock().unwrap();
        for place in 0..piece.num_edges() {
            let (s, d) = (name(&piece.sources, place), name(&piece.destinations, place));
            edges.push((s, d, piece.weights.get(place).copied()));
        }
        Ok(())
    };
    for slice in slices {
        let mut pieces = file.pieces(slice, &surveys, &Silent)?;
        while pieces.read(usize::MAX, &take)? {}
    }
    Ok(sorted(edges.into_inner().unwrap()))
}

fn open(case: &Case) -> Result<Box<dyn EdgeFile>> {
    // What is done to a whole graph is not done to slices of its file.
    let options = ReadOptions { direction: None, weights: true, ..case.options() };
    match formats::open(case.source(), None, &options)?.0 {
        Opened::Edges(file) => Ok(file),
        Opened::Rows(_) => panic!("the corpus is of edges"),
    }
}

/// What is wrong with how a file is read.
fn complaint(case: &Case) -> Option<String> {
    let (file, refused) = (case.get("file").unwrap_or_default(), case.list("refused"));
    let options = case.options();
    let whole = match formats::read(&case.source(), None, &options) {
        Ok(graph) if refused.is_empty() => graph,
        Ok(graph) => return Some(format!("{file}: not refused, but read as {}", graph.read_as)),
        Err(error) => {
            let said = error.to_string();
            let is_data = matches!(error, Error::Data { .. });
            let tells = !refused.is_empty() && refused.iter().all(|part| said.contains(part));
            return (!is_data || !tells).then(|| format!("refused: {said}"));
        }
    };
    let (found, meant) = (edges_of(&whole), case.edges());
    let is_undirected = whole.direction == Direction::Undirected;
    if found != meant || is_undirected != case.get("undirected").is_some() {
        return Some(format!("{file}: found {found:?}, read as {}", whole.read_as));
    }
    if let Some(says) = case.get("says").filter(|says| !whole.read_as.contains(says)) {
        return Some(format!("{file}: expected \"{says}\", read as {}", whole.read_as));
    }
    if options.need_whole() {
        return None;
    }
    let opened = open(case).and_then(|file| {
        let one = edges_of_slices(&*file, 1)?;
        let alike = |of| Ok(edges_of_slices(&*file, of)? == one);
        let slices = [2, 3, 5, 16].into_iter().map(alike).collect::<Result<Vec<bool>>>()?;
        let is_meant = case.get("undirected").is_some() || one == meant;
        Ok(is_meant && slices.into_iter().all(|alike| alike))
    });
    match opened {
        Ok(true) => None,
        Ok(false) => Some(format!("{file}: other edges in slices")),
        Err(error) => Some(format!("{file}: in slices: {error}")),
    }
}

#[test]
fn every_messy_file_is_read_as_meant_or_refused() {
    let cases = Case::all();
    let files: std::collections::HashSet<_> = cases.iter().filter_map(|c| c.get("file")).collect();
    assert!(files.len() >= 60, "{}", files.len());
    let complaints: Vec<String> = cases.iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
