//! The text of a generator → the generator → the whole graph on this machine.

use std::fmt;

use crate::build::{CsrBuilder, EdgeBatch};
use crate::csr::MAX_VERTICES;
use crate::error::printable;
use crate::nearest::did_you_mean;
use crate::parallel::{self, Scratch};
use crate::progress::{Progress, Unit};
use crate::{Csr, Direction, Error, Graph, Result, memory};

use super::arguments::{Arguments, DEFAULT_SEED};
use super::permute::Permuted;
use super::{ALL, Generator, GeneratorKind};

/// A generator chosen by a piece of text.
///
/// ```
/// use parton_graph::{generate::Spec, progress::Silent};
///
/// let spec = Spec::parse("grid:3x2")?;
/// let graph = spec.generate(&Silent)?;
/// assert_eq!((graph.num_vertices(), graph.num_edges()), (6, 14));
/// # Ok::<(), parton_graph::Error>(())
/// ```
pub struct Spec {
    generator: Box<dyn Generator>,
}

/// Edges per piece: they stay in cache until they are sorted, and fill all buckets.
const EDGES_PER_PIECE: u64 = 1 << 18;

impl Spec {
    /// Whether the text is meant as a spec: it begins with the name of a generator and a colon.
    pub fn is_spec(text: &str) -> bool {
        Self::split(text).is_some()
    }

    /// The generator that the text asks for.
    pub fn parse(text: &str) -> Result<Self> {
        let (kind, rest) = Self::split(text).ok_or_else(|| {
            let known: Vec<_> = ALL.iter().map(|kind| kind.syntax).collect();
            Error::Request(format!(
                "expected a generator ({}), found \"{}\"",
                known.join(", "),
                printable(text.as_bytes())
            ))
        })?;
        let mut arguments = Arguments::new(kind, text, rest);
        let permute = arguments.take_last(|word| match word {
            "permute" => Some(None),
            _ => word.strip_prefix("permute=").map(Some),
        });
        let mut generator = (kind.parse)(&mut arguments)?;
        if let Some(seed) = permute {
            let given = seed.map(|seed| arguments.parse_number("the seed of permute", seed));
            let seed = given.transpose()?.unwrap_or(DEFAULT_SEED);
            generator = Box::new(Permuted::new(generator, seed));
        }
        arguments.finish()?;
        Ok(Spec { generator })
    }

    /// What to add to a message about a text that looks like a spec, but names no generator.
    pub fn meant(text: &str) -> String {
        match text.split_once(':') {
            Some((name, _)) => did_you_mean(name, ALL.iter().map(|kind| kind.name)),
            None => String::new(),
        }
    }

    /// A spec's kind and what follows the colon.
    fn split(text: &str) -> Option<(&'static GeneratorKind, &str)> {
        let (name, rest) = text.split_once(':')?;
        Some((ALL.iter().find(|kind| kind.name == name)?, rest))
    }

    /// The formula, to make only a slice of the edges.
    pub fn generator(&self) -> &dyn Generator {
        &*self.generator
    }

    /// The whole graph.
    pub fn generate(&self, progress: &dyn Progress) -> Result<Graph> {
        self.check_vertices()?;
        self.check_memory()?;
        let direction = self.generator().direction();
        Ok(Graph { direction, ..Graph::dense(self.edges(progress), self.describe()) })
    }

    /// All edges, however much memory they take.
    ///
    /// # Panics
    /// When there are more vertices than numbers for them: see [`Spec::check_vertices`].
    pub fn edges(&self, progress: &dyn Progress) -> Csr<()> {
        let generator = self.generator();
        let edges = generator.num_edges();
        progress.stage("generating", Unit::Edges, Some(edges));
        let builder = CsrBuilder::<()>::new();
        let pieces = edges.div_ceil(EDGES_PER_PIECE) as usize;
        let make = |piece: &mut EdgeBatch<u64, ()>, order: usize| {
            let first = order as u64 * EDGES_PER_PIECE;
            let indices = first..edges.min(first + EDGES_PER_PIECE);
            let made = indices.end - indices.start;
            piece.clear();
            generator.edges(indices, piece);
            let EdgeBatch { sources, destinations, .. } = &*piece;
            builder.add_mapped(order as u64, sources, destinations, |_| (), |id| id as u32);
            progress.advance(made);
        };
        let scratch = Scratch::default();
        parallel::for_each_owned(0..pieces, |_, order| scratch.with(|piece| make(piece, order)));
        progress.stage("building", Unit::Edges, None);
        builder.build(generator.num_vertices() as usize)
    }

    /// How the graph is made, in words.
    pub fn describe(&self) -> String {
        let word = match self.generator().direction() {
            Direction::Directed => "directed",
            Direction::Undirected => "undirected",
        };
        format!("generated: {self} ({word})")
    }

    /// Refuses a graph with more vertices than there are numbers for.
    pub fn check_vertices(&self) -> Result<()> {
        match self.generator.num_vertices() {
            0..=MAX_VERTICES => Ok(()),
            vertices => Err(Error::Request(format!(
                "{self}: expected at most {MAX_VERTICES} vertices, what one host can hold, \
                 found {vertices}"
            ))),
        }
    }

    /// Refuses a graph that cannot be built in the memory of this machine.
    fn check_memory(&self) -> Result<()> {
        /// What an edge and a vertex take while the graph is built.
        const BYTES_PER_EDGE: u128 = 6;
        const BYTES_PER_VERTEX: u128 = 8;
        let (vertices, edges) = (self.generator.num_vertices(), self.generator.num_edges());
        let bytes = BYTES_PER_EDGE * u128::from(edges) + BYTES_PER_VERTEX * u128::from(vertices);
        memory::check(&self.to_string(), vertices, edges, bytes)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.generator.fmt(f)
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({self})")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::progress::Silent;
    use crate::{Adjacency, Csr};

    /// One of each kind and option, small.
    const SMALL: [&str; 13] = [
        "rmat:7",
        "rmat:5,3,9",
        "rmat:6,4,2,permute",
        "uniform:50,300",
        "uniform:1,5,permute=7",
        "web:400",
        "web:333,5,8,permute",
        "web:500,3,2,chains=9,permute",
        "grid:7x5",
        "grid:6x9,permute=3",
        "path:20,permute",
        "star:33",
        "complete:17,permute",
    ];

    fn csr(spec: &str) -> Csr<()> {
        match Spec::parse(spec).unwrap().generate(&Silent).unwrap().adjacency {
            Adjacency::Unweighted(csr) => csr,
            other => panic!("weights in {other:?}"),
        }
    }

    /// The destinations of every vertex.
    pub(in crate::generate) fn lists(spec: &str) -> Vec<Vec<u32>> {
        let csr = csr(spec);
        csr.vertices().map(|v| csr.targets(v).iter().map(|w| w.0).collect()).collect()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let specs = ["rmat:16,17,5", "uniform:70000,600000,permute", "web:40000", "grid:300x400"];
        for spec in specs.map(|text| Spec::parse(text).unwrap()) {
            assert!(spec.generator().num_edges() > EDGES_PER_PIECE, "{spec} is one piece only");
            let graphs = [1, 2, 5].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| spec.generate(&Silent).unwrap())
            });
            assert!(graphs[0] == graphs[1] && graphs[0] == graphs[2], "{spec}");
        }
    }

    #[test]
    fn slices_equal_the_whole() {
        for spec in SMALL.map(|text| Spec::parse(text).unwrap()) {
            let generator = spec.generator();
            let mut slices = EdgeBatch::default();
            let (mut first, mut len) = (0, 1);
            while first < generator.num_edges() {
                let end = generator.num_edges().min(first + len);
                generator.edges(first..end, &mut slices);
                (first, len) = (end, len + 1);
            }
            let slices: Vec<_> =
                slices.sources.iter().copied().zip(slices.destinations.iter().copied()).collect();
            let single: Vec<_> =
                (0..generator.num_edges()).map(|index| generator.edge(index)).collect();
            assert_eq!(slices, single, "{spec}");
            let graph = spec.generate(&Silent).unwrap();
            assert_eq!(graph.num_vertices() as u64, generator.num_vertices());
            assert_eq!(graph.num_edges(), generator.num_edges());
        }
    }

    #[test]
    fn undirected_graphs_hold_every_edge_in_both_directions() {
        for text in SMALL {
            let graph = Spec::parse(text).unwrap().generate(&Silent).unwrap();
            if graph.direction == Direction::Undirected {
                let csr = csr(text);
                let mut edges: Vec<_> =
                    csr.vertices().flat_map(|v| csr.edges(v).map(move |(w, ())| (v, w))).collect();
                assert!(edges.iter().all(|(v, w)| v != w), "{text} has a self-loop");
                edges.sort();
                let mut turned: Vec<_> = edges.iter().map(|&(v, w)| (w, v)).collect();
                turned.sort();
                assert_eq!(edges, turned, "{text}");
            }
        }
    }

    #[test]
    fn permuting_keeps_the_shape() {
        let degrees = |spec| {
            let mut degrees: Vec<_> = lists(spec).iter().map(Vec::len).collect();
            degrees.sort();
            degrees
        };
        assert_eq!(degrees("rmat:8"), degrees("rmat:8,permute"));
        assert_eq!(degrees("star:100"), degrees("star:100,permute=4"));
        assert_ne!(lists("star:100"), lists("star:100,permute=4"));
        assert_ne!(lists("star:100,permute=5"), lists("star:100,permute=4"));
    }

    /// Results are compared across machines and versions by spec alone: these sums stay.
    #[test]
    fn a_spec_always_means_the_same_graph() {
        let checksum = |text: &str| {
            let spec = Spec::parse(text).unwrap();
            (0..10_000).map(|index| spec.generator().edge(index)).fold(0u64, |sum, (s, d)| {
                sum.wrapping_mul(31).wrapping_add(s).wrapping_mul(31).wrapping_add(d)
            })
        };
        assert_eq!(checksum("rmat:22,16,1"), 13804789136474228694);
        assert_eq!(checksum("rmat:25,16,7,permute=3"), 2357759847903882834);
        assert_eq!(checksum("uniform:1000000,1000000,1"), 17442006462636125373);
        assert_eq!(checksum("web:1000000,16,1"), 18222181251189936129);
        assert_eq!(checksum("web:999,32,1,permute"), 5074376121033405947);
        assert_eq!(checksum("web:100000,16,1,chains=500"), 7704393916186141325);
    }

    #[test]
    fn a_graph_says_what_it_is() {
        let read_as = |text| Spec::parse(text).unwrap().generate(&Silent).unwrap().read_as;
        assert_eq!(read_as("rmat:3"), "generated: rmat:3,16,1 (directed)");
        assert_eq!(read_as("path:3,permute"), "generated: path:3,permute=1 (undirected)");
    }

    #[test]
    fn specs_are_shown_with_their_defaults_and_parse_again() {
        let shown = |text| Spec::parse(text).unwrap().to_string();
        assert_eq!(shown("rmat:7"), "rmat:7,16,1");
        assert_eq!(shown("uniform:1,5,permute"), "uniform:1,5,1,permute=1");
        assert_eq!(shown("web:9,chains=7"), "web:9,16,1,chains=7");
        assert_eq!(shown("grid:007x5,permute=3"), "grid:7x5,permute=3");
        for text in SMALL {
            let shown = Spec::parse(text).unwrap().to_string();
            assert_eq!(Spec::parse(&shown).unwrap().to_string(), shown);
            assert_eq!(lists(&shown), lists(text));
        }
    }

    #[test]
    fn kinds_are_told_by_their_names() {
        for kind in ALL {
            assert!(kind.syntax.starts_with(&format!("{}:", kind.name)));
            assert!(Spec::is_spec(&format!("{}:", kind.name)));
            assert!(!Spec::is_spec(kind.name));
        }
        for no_spec in ["", ":", "rmat", "RMAT:3", "./rmat:3", "data.txt", "s3:bucket", " path:3"] {
            assert!(!Spec::is_spec(no_spec), "{no_spec}");
        }
    }

    #[test]
    fn bad_specs_say_what_was_expected_and_found() {
        for (text, part) in [
            ("", "found \"\""),
            ("nothing", "rmat:SCALE"),
            ("torus:3x3", "found \"torus:3x3\""),
            ("Grid:3x3", "expected a generator"),
            ("rmat:", "expected SCALE to be a whole number"),
            ("rmat:permute", "expected SCALE, found nothing"),
            ("rmat:x", "found \"x\""),
            ("rmat:-1", "found \"-1\""),
            ("rmat:+5", "found \"+5\""),
            ("rmat: 5", "found \" 5\""),
            ("rmat:5.5", "found \"5.5\""),
            ("rmat:5,", "expected EDGE_FACTOR to be a whole number"),
            ("rmat:5,16,1,1", "expected nothing more, found \"1\""),
            ("rmat:5,permute,16", "expected EDGE_FACTOR to be"),
            ("rmat:5,16,1,permute,permute", "expected nothing more, found \"permute\""),
            ("rmat:5,permute=", "the seed of permute"),
            ("rmat:5,permute=-3", "found \"-3\""),
            ("rmat:64", "expected SCALE up to 63, found 64"),
            ("rmat:63,16", "edges"),
            ("rmat:32,1", "expected at most 4294967295 vertices"),
            ("rmat:18446744073709551616", "found \"18446744073709551616\""),
            ("uniform:10", "expected M, found nothing"),
            ("uniform:0,1", "expected a vertex for 1 edges, found none"),
            ("uniform:4294967296,1", "4294967296"),
            ("grid:3", "two numbers with an x between"),
            ("grid:3x", "expected H"),
            ("grid:x3", "expected W"),
            ("grid:3x3x3", "found \"3x3\""),
            ("grid:3,3", "found \"3\""),
            ("grid:3\u{d7}3", "found \"3\u{d7}3\""),
            ("grid:99999999999x99999999999", "9999999999800000000001"),
            ("grid:18446744073709551615x1", "edges"),
            ("path:", "expected N"),
            ("path:18446744073709551615", "edges"),
            ("star:5,6", "expected nothing more"),
            ("star:4294967296", "vertices"),
            ("complete:18446744073709551615", "edges"),
            ("web:1000,18446744073709551615", "edges"),
            ("web:a\u{1b}[2J", "a?[2J"),
            ("web:1000,chains=", "expected LENGTH to be a whole number"),
            ("web:1000,chains=9,2", "expected EDGE_FACTOR to be a whole number"),
        ] {
            let error = Spec::parse(text).and_then(|spec| spec.generate(&Silent)).unwrap_err();
            assert!(matches!(error, Error::Request(_)), "{text}: {error:?}");
            let message = error.to_string();
            assert!(message.contains("expected") && message.contains("found"), "{message}");
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn graphs_larger_than_memory_are_refused_with_sizes() {
        for text in ["uniform:10,18446744073709551615", "complete:4294967295"] {
            let error = Spec::parse(text).and_then(|spec| spec.generate(&Silent)).unwrap_err();
            assert!(matches!(error, Error::Memory(_)), "{text}: {error:?}");
            let message = error.to_string();
            assert!(message.contains("TB of memory, but"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".*") {
            let _ = Spec::parse(&text);
        }

        #[test]
        fn every_spec_makes_edges_between_its_vertices(
            kind in 0..ALL.len(),
            rest in "[0-9]{0,20}[x,]?[0-9]{0,20}(,[0-9]{0,20})?(,permute)?(=[0-9]{0,20})?",
        ) {
            if let Ok(spec) = Spec::parse(&format!("{}:{rest}", ALL[kind].name)) {
                let generator = spec.generator();
                let (vertices, edges) = (generator.num_vertices(), generator.num_edges());
                for index in [0, 1, edges / 3, edges.saturating_sub(1)] {
                    if index < edges {
                        let (source, destination) = generator.edge(index);
                        prop_assert!(source < vertices && destination < vertices, "{spec}");
                    }
                }
                prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap().to_string(), spec.to_string());
            }
        }
    }
}
