//! Arguments that name a graph, and say how to read and change it.

use std::ffi::OsString;

use crate::algorithms::{Algorithm, Options};
use crate::graph::formats::{
    self, ColumnKey, Columns, Decimal, IdKind, ReadOptions, TextOptions, Vertices,
};
use crate::graph::generate::Spec;
use crate::graph::reweigh::Weights;
use crate::graph::source::Source;
use crate::graph::tidy::{Merge, Tidy};
use crate::graph::{Direction, Error, Graph, Place, Result, VertexRange, WeightKind};
use crate::partition::{Fit, Input};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::cli::exit::Failure;
use crate::cli::graph_values::{
    DecimalMark, IdChoice, MergeRule, WeightType, YesNo, parse_delimiter,
};
use crate::cli::input_name::{InputName, note_emptiness};
use crate::cli::origin::Origin;
use crate::cli::team::Team;
use crate::cli::watch::Watch;

/// The graph of a command.
#[derive(Args)]
pub(crate) struct GraphArguments {
    /// A file, a folder or glob of parts, `-` for standard input, or a generator such as rmat:18
    #[arg(value_parser = OsStringValueParser::new().map(InputName::from))]
    pub(crate) graph: InputName,

    #[command(flatten)]
    pub(crate) reading: ReadArguments,

    #[command(flatten)]
    pub(crate) cleaning: ChangeArguments,
}

/// How to read an input.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArguments {
    /// The format, if detection gets it wrong (see `parton list`)
    #[arg(long, value_name = "NAME", value_parser = known_format())]
    format: Option<String>,

    /// The vertices: their number, or FIRST-LAST [default: what the file says]
    #[arg(long, value_name = "N|FIRST-LAST", value_parser = parse_vertices)]
    vertices: Option<Vertices>,

    /// What the ids are
    #[arg(long, value_enum, default_value_t = IdChoice::Auto)]
    ids: IdChoice,

    /// The columns of an edge, by name or by number from 1
    #[arg(long, value_name = "SOURCE,TARGET[,WEIGHT]", value_parser = parse_columns)]
    columns: Option<Columns>,

    /// Sources and destinations are two kinds of vertices: they are called s… and t…
    #[arg(long)]
    bipartite: bool,

    /// Whether the first line names the columns [default: detected]
    #[arg(long, value_enum)]
    header: Option<YesNo>,

    /// What stands between the columns: one character, tab or blanks [default: detected]
    #[arg(long, value_name = "CHARACTER|tab|blanks", value_parser = parse_delimiter)]
    delimiter: Option<u8>,

    /// Lines at the beginning of every file that are no edges
    #[arg(long, value_name = "N")]
    skip_lines: Option<u64>,

    /// What starts a comment; nothing if empty [default: #, % and //]
    #[arg(long, value_name = "START")]
    comment: Option<String>,

    /// How the fractions of weights are written: 1,105.5 or 1.105,5 [default: detected]
    #[arg(long, value_enum)]
    decimal: Option<DecimalMark>,

    /// Type of the weights [default: u32 if all are whole, else f64]
    #[arg(long, value_enum, value_name = "TYPE")]
    weight_type: Option<WeightType>,
}

/// How to change a graph after it is read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Changing")]
pub(crate) struct ChangeArguments {
    /// Take every edge as undirected: add the other direction where it is missing. Of edges that
    /// weigh differently each way, the lesser weight is taken
    #[arg(long, conflicts_with = "directed")]
    undirected: bool,

    /// Take every edge as directed, even if the file says otherwise
    #[arg(long)]
    directed: bool,

    /// Weights: the file's, none, all 1, or random integers LO to HI
    #[arg(long, value_name = "file|none|unit|random:LO..HI[,SEED]", value_parser = Weights::parse, default_value = "file")]
    weights: Weights,

    /// Drop self-loops, merge parallel edges (least weight), order neighbours
    #[arg(long)]
    simple: bool,

    /// Drop edges from a vertex to itself
    #[arg(long)]
    drop_self_loops: bool,

    /// Merge parallel edges; what the weight becomes
    #[arg(long, value_enum, value_name = "RULE")]
    merge: Option<MergeRule>,

    /// Order each vertex's neighbours
    #[arg(long)]
    sort: bool,

    /// Turn every edge around
    #[arg(long)]
    transpose: bool,
}

fn known_format() -> clap::builder::PossibleValuesParser {
    formats::ALL.iter().map(|f| f.name()).collect::<Vec<_>>().into()
}

fn parse_vertices(text: &str) -> Result<Vertices, String> {
    let number = |t: &str| t.parse::<u64>().map_err(|_| format!("'{t}' is not a whole number"));
    match text.split_once('-') {
        None => Ok(Vertices::Count(number(text)?)),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            let count = last.checked_sub(first).and_then(|c| c.checked_add(1));
            let count = match count {
                Some(count) => count,
                None if last < first => return Err(format!("{last} comes before {first}")),
                None => return Err("more than 2^64-1 vertices".into()),
            };
            Ok(Vertices::Range(VertexRange { first, count }))
        }
    }
}

fn parse_columns(text: &str) -> Result<Columns, String> {
    let column = |text: &str| match text.parse::<usize>() {
        Ok(0) => Err("columns are counted from 1".to_owned()),
        Ok(number) => Ok(ColumnKey::Position(number - 1)),
        Err(_) if text.is_empty() => Err("a column without a name".into()),
        Err(_) => Ok(ColumnKey::Name(text.into())),
    };
    let columns = text.split(',').map(column).collect::<Result<Vec<_>, _>>()?;
    match &columns[..] {
        [source, destination] | [source, destination, _] => Ok(Columns {
            source: source.clone(),
            destination: destination.clone(),
            weight: columns.get(2).cloned(),
        }),
        _ => Err(format!("expected 2 or 3 columns, found {}", columns.len())),
    }
}

impl GraphArguments {
    /// Reads or generates the graph.
    pub(crate) fn load(&self, watch: &Watch) -> Result<Graph> {
        self.load_from(self.find()?.as_ref(), watch)
    }

    /// The file, unless the graph is generated.
    pub(crate) fn find(&self) -> Result<Option<Source>> {
        let is_file = !Spec::is_spec(&self.graph);
        is_file.then(|| Source::find(&self.graph.path)).transpose()
    }

    /// [`GraphArguments::load`], from what [`GraphArguments::find`] found.
    pub(crate) fn load_from(&self, source: Option<&Source>, watch: &Watch) -> Result<Graph> {
        let graph = match source {
            None => {
                self.reading.refuse_for(&self.graph)?;
                Spec::parse(&self.graph)?.generate(watch)?
            }
            Some(source) => {
                note_emptiness(source, watch);
                let options =
                    self.reading.options(self.cleaning.direction(), &self.cleaning.weights, watch);
                let format = self.reading.format.as_deref().map(formats::by_name).transpose()?;
                formats::read(source, format, &options)?
            }
        };
        let graph = self.cleaning.apply(graph, self.reading.weight_kind())?;
        if !graph.has_finite_weights() {
            let problem = "the weights of parallel edges add up to more than a double holds";
            return Err(Error::data(&*self.graph, Place::File, problem));
        }
        watch.has_read(Origin::new(&self.graph, source, &graph.read_as));
        Ok(graph)
    }
}

impl GraphArguments {
    /// Reads another file the way the graph is read.
    pub(crate) fn load_beside(&self, file: &str, watch: &Watch) -> Result<Graph> {
        let ReadArguments { format, .. } = &self.reading;
        let options = self.reading.options(self.cleaning.direction(), &Weights::File, watch);
        // The file need not contain all vertices of the graph.
        let options = ReadOptions { vertices: None, ..options };
        let format = format.as_deref().map(formats::by_name).transpose()?;
        let source = Source::find(file)?;
        let graph = formats::read(&source, format, &options)?;
        watch.has_read(Origin::new(file, Some(&source), &graph.read_as));
        Ok(if self.cleaning.transpose { graph.transposed() } else { graph })
    }

    /// Refuses ranks that see different inputs under one name, or different graphs `beside` it. Every rank
    /// must call this.
    pub(crate) fn check_alike(&self, beside: &[&str], team: &mut Team) -> Result<(), Failure> {
        let format = self.reading.format.as_deref().map(formats::by_name).transpose()?;
        self.graph.check_alike(format, team)?;
        let mut beside = beside.iter().map(|file| InputName::from(OsString::from(file)));
        beside.try_for_each(|file| file.check_alike(format, team))
    }

    /// Bytes of a file of text; `None` where that tells nothing of the number of edges.
    pub(crate) fn text_bytes(&self) -> Option<u64> {
        /// What packed text is called, which holds many times as much.
        const PACKED: [&str; 5] = ["gz", "zst", "bz2", "xz", "lz4"];
        let ending = self.graph.path.extension().unwrap_or_default().to_string_lossy();
        let found = std::fs::metadata(&self.graph.path).ok().filter(|found| found.is_file())?;
        (!PACKED.contains(&&*ending)).then_some(found.len())
    }

    /// True if the graph is read and left as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.reading.is_default() && self.cleaning.is_default()
    }

    /// True if the input is a stream, which can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(&self.graph.path).map(|found| found.file_type());
        &*self.graph == "-" || kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device())
    }

    /// The graph that the user asks for and the algorithm needs; an error if these contradict.
    pub(crate) fn fit(&self, algorithm: &dyn Algorithm, options: &Options) -> Result<Fit, Failure> {
        self.cleaning.fit(algorithm, options)
    }

    /// The graph that the user asks for.
    pub(crate) fn asked_fit(&self) -> Fit {
        Fit { simple: self.cleaning.simple, ..Fit::AS_IT_IS }
    }

    /// The input that hosts partition. Each host reads only its share, unless the user asks for a
    /// change that needs the whole graph.
    pub(crate) fn open(&self, fit: Fit, watch: &Watch, team: &Team) -> Result<Input, Failure> {
        let options =
            self.reading.options(self.cleaning.direction(), &self.cleaning.weights, watch);
        if team.is_distributed() && self.is_stream() {
            return Err(Failure::usage(format!(
                "{}: only one rank gets what is piped into it; give the name of a file",
                self.graph
            )));
        }
        if options.need_whole() || !self.cleaning.is_default() {
            if team.is_distributed() {
                watch.note(&format!(
                    "{}: every rank reads the whole graph in order to change it; to have each read \
                     its share, write it with these options by `parton convert` first",
                    self.graph
                ));
            }
            return Ok(Input::from(self.load(watch)?).fitted(fit));
        }
        let source = self.find()?;
        let input = match &source {
            None => {
                self.reading.refuse_for(&self.graph)?;
                Input::open(&self.graph)?
            }
            Some(source) => {
                let format = self.reading.format.as_deref().map(formats::by_name).transpose()?;
                note_emptiness(source, watch);
                Input::from_source(source.clone(), format, &options)?
            }
        };
        let input = input.fitted(fit);
        let read_as = input.read_as().unwrap_or("a graph");
        watch.has_read(Origin::new(&self.graph, source.as_ref(), read_as));
        if let Some(note) = input.note() {
            watch.note(note);
        }
        Ok(input)
    }
}

impl ReadArguments {
    fn is_default(&self) -> bool {
        let is_given = |(_, given): &(&str, bool)| *given;
        self.ids == IdChoice::Auto
            && self.weight_type.is_none()
            && !self.given_for_files().iter().any(is_given)
    }

    /// The options that only make sense for files, and whether each was given.
    fn given_for_files(&self) -> [(&'static str, bool); 9] {
        [
            ("--format", self.format.is_some()),
            ("--vertices", self.vertices.is_some()),
            ("--columns", self.columns.is_some()),
            ("--bipartite", self.bipartite),
            ("--header", self.header.is_some()),
            ("--delimiter", self.delimiter.is_some()),
            ("--skip-lines", self.skip_lines.is_some()),
            ("--comment", self.comment.is_some()),
            ("--decimal", self.decimal.is_some()),
        ]
    }

    fn weight_kind(&self) -> Option<WeightKind> {
        self.weight_type.map(|t| match t {
            WeightType::U32 => WeightKind::U32,
            WeightType::F32 => WeightKind::F32,
            WeightType::F64 => WeightKind::F64,
        })
    }

    fn options<'w>(
        &self,
        direction: Option<Direction>,
        weights: &Weights,
        watch: &'w Watch,
    ) -> ReadOptions<'w> {
        ReadOptions {
            vertices: self.vertices,
            direction,
            ids: match self.ids {
                IdChoice::Auto => IdKind::Detect,
                IdChoice::Integers => IdKind::Integers,
                IdChoice::Names => IdKind::Names,
            },
            columns: self.columns.clone(),
            header: self.header.map(|h| h == YesNo::Yes),
            text: TextOptions {
                delimiter: self.delimiter,
                skip_lines: self.skip_lines.unwrap_or(0),
                comment: self.comment.clone(),
                decimal: self.decimal.map(|decimal| match decimal {
                    DecimalMark::Point => Decimal::Point,
                    DecimalMark::Comma => Decimal::Comma,
                }),
            },
            bipartite: self.bipartite,
            weights: *weights == Weights::File,
            weight_kind: self.weight_kind(),
            progress: watch,
        }
    }

    /// A generator knows its vertices and has no columns.
    fn refuse_for(&self, spec: &str) -> Result<()> {
        match self.given_for_files().iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Error::Request(format!(
                "{option} says how to read a file, but {spec} is a generator"
            ))),
        }
    }
}

impl ChangeArguments {
    fn is_default(&self) -> bool {
        let ChangeArguments {
            undirected,
            directed,
            weights,
            simple,
            drop_self_loops,
            merge,
            sort,
            transpose,
        } = self;
        let flags = [undirected, directed, simple, drop_self_loops, sort, transpose];
        *weights == Weights::File && merge.is_none() && flags.iter().all(|flag| !**flag)
    }

    /// The graph that the user asks for and the algorithm needs; an error if these contradict.
    pub(crate) fn fit(&self, algorithm: &dyn Algorithm, options: &Options) -> Result<Fit, Failure> {
        let fit = algorithm.needs(options).fit();
        if fit.undirected && self.directed {
            return Err(Failure::usage(format!(
                "--directed: {} is defined on undirected graphs only; without it, edges are taken \
                 both ways",
                algorithm.name()
            )));
        }
        Ok(Fit { simple: fit.simple || self.simple, ..fit })
    }

    /// The origin of weights, if it is not the file.
    pub(crate) fn weights_given(&self) -> Option<String> {
        match self.weights {
            Weights::File => None,
            Weights::None => Some("none".into()),
            Weights::Unit => Some("unit".into()),
            Weights::Random { low, high, seed } => Some(format!("random:{low}..{high},{seed}")),
        }
    }

    fn direction(&self) -> Option<Direction> {
        match (self.directed, self.undirected) {
            (true, _) => Some(Direction::Directed),
            (_, true) => Some(Direction::Undirected),
            _ => None,
        }
    }

    /// Changes the graph as asked.
    pub(crate) fn apply(&self, mut graph: Graph, kind: Option<WeightKind>) -> Result<Graph> {
        if self.directed {
            graph.direction = Direction::Directed;
        }
        let simple = if self.simple { Tidy::SIMPLE } else { Tidy::default() };
        let merge = self.merge.map(|rule| match rule {
            MergeRule::Min => Merge::Min,
            MergeRule::Max => Merge::Max,
            MergeRule::Sum => Merge::Sum,
            MergeRule::First => Merge::First,
        });
        if self.transpose {
            graph = graph.transposed();
        }
        graph = graph.reweighed(&self.weights).tidied(Tidy {
            undirected: self.undirected,
            drop_self_loops: self.drop_self_loops || simple.drop_self_loops,
            merge: merge.or(simple.merge),
            sort: self.sort || simple.sort,
        });
        match kind {
            Some(kind) if graph.adjacency.weight_kind() != WeightKind::None => {
                graph.with_weight_kind(kind)
            }
            _ => Ok(graph),
        }
    }
}
