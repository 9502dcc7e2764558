//! What hosts partition: every host opens the same input and takes its own rows of it.
//!
//! | input | a host's share | travels |
//! |---|---|---|
//! | rows as in memory: `.parton`, `.gr`, `.sg` | pages of its rows, about as many edges as any other host's | nothing |
//! | a generator | a slice of the edges | each edge once, to the host that takes its row |
//! | edges between ids: text, Parquet | a slice of the text, or some row groups | distinct ids, then each edge |
//! | packed text | if any, whole files | each edge to any host, then as above |
//! | a graph in memory | its rows, copied | nothing |
//!
//! Rows can then be made to [fit](Fit) what an algorithm is defined on, still by each host its own.

use parton_graph::edge_file::{Cut, EdgeFile, Mirror};
use parton_graph::formats::{self, Format, IdFile, Opened, ReadOptions};
use parton_graph::generate::Spec;
use parton_graph::id_map::{Names, OriginalId};
use parton_graph::progress::Progress;
use parton_graph::row_blocks::RowBlocks;
use parton_graph::rows::{RowFile, Rows};
use parton_graph::source::Source;
use parton_graph::{Direction, Graph, Ids, parallel};
use parton_net::Net;

use crate::Result;
use crate::blocks::Blocks;
use crate::dictionary::{Dictionary, Originals};
use crate::policy::Reads;

mod edges;
mod exchanged;
mod fit;
mod pieces;
mod rows;
mod sidecar;

pub(crate) use rows::even_rows;

/// A graph to be partitioned.
pub struct Input {
    pub(crate) content: Content,
    /// Original ids beside it.
    ids: Option<IdFile>,
    note: Option<String>,
    /// How it is understood, in words.
    read_as: Option<String>,
    /// Bytes that are stored of a packed text, if that is known.
    pub(crate) packed_bytes: Option<u64>,
    pub(crate) fit: Fit,
}

/// What the graph must be like for what is to be computed: rows are changed where they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Every edge is there in both directions.
    pub undirected: bool,
    /// No edge is a self-loop, no two are parallel; the least weight is kept.
    pub simple: bool,
    /// Weights are kept.
    pub weights: bool,
}

impl Fit {
    /// Whatever there is.
    pub const AS_IT_IS: Fit = Fit { undirected: false, simple: false, weights: true };
}

pub(crate) enum Content {
    /// A file whose rows can be read apart.
    Rows(RowFile),
    /// A formula for edges.
    Generated(Spec),
    /// A file whose edges can be read slice by slice.
    Edges(Box<dyn EdgeFile>),
    /// A graph in memory, shared by the hosts of one process.
    Whole(Graph),
}

/// A host's share of an input.
pub(crate) struct InputShare {
    pub(crate) rows: Rows,
    /// Whether the rows are those of in-edges, because that is what was wanted.
    pub(crate) turned: bool,
    /// The in-edges of the same vertices, where the input keeps them and they are wanted: by a lone
    /// host, or by a policy. Other hosts turn their edges around, which are not those of these rows.
    pub(crate) in_rows: Option<Rows>,
    /// All edges in row blocks, where a host is alone and the input keeps them.
    pub(crate) row_blocks: Option<RowBlocks>,
    /// Who has which rows.
    pub(crate) readers: Blocks,
    /// Bytes this host held at most to get here.
    pub(crate) peak_bytes: u64,
    /// Whether every edge is known to be there in both directions.
    pub(crate) is_symmetric: bool,
    /// Whether there are known to be no self-loops and no parallel edges.
    pub(crate) is_simple: bool,
    /// What was changed, the same on all hosts.
    pub(crate) changes: Vec<String>,
    pub(crate) ids: OriginalIds,
}

/// Where original ids are found.
pub(crate) enum OriginalIds {
    /// In the input itself.
    OfInput,
    /// A vertex is called by its number plus this.
    Offset(u64),
    /// Integers, of which each host keeps a range.
    Integers(Dictionary<u64>),
    /// Names, of which each host keeps a range.
    Names(Dictionary<Box<[u8]>>),
    /// All are here: the host is alone.
    All(Ids),
}

impl Input {
    /// Opens a generator's spec or a file, of which no host will read more than its share.
    pub fn open(text: &str) -> Result<Self> {
        if Spec::is_spec(text) {
            let spec = Spec::parse(text)?;
            spec.check_vertices()?;
            let read_as = Some(spec.describe());
            return Ok(Input {
                content: Content::Generated(spec),
                ids: None,
                note: None,
                read_as,
                packed_bytes: None,
                fit: Fit::AS_IT_IS,
            });
        }
        Self::from_source(Source::find(text)?, None, &ReadOptions::default())
    }

    /// Opens an input that has been found, as the options say, if they do not [need the
    /// whole](ReadOptions::need_whole); `format` is found by looking when it is not given.
    pub fn from_source(
        source: Source,
        format: Option<&dyn Format>,
        options: &ReadOptions<'_>,
    ) -> Result<Self> {
        let (name, plain) = (source.name().to_owned(), source.is_plain());
        let stored_bytes = source.stored_bytes();
        let (opened, ids) = formats::open(source, format, options)?;
        let read_as = opened.understood();
        let content = match opened {
            Opened::Rows(file) => Content::Rows(file),
            Opened::Edges(file) => Content::Edges(file),
        };
        let packed = matches!(&content, Content::Edges(file) if file.cut() == Cut::Packed);
        let note = match (packed, plain) {
            (true, _) => Some(format!(
                "{name}: packed text cannot be split, so each file is read by one host, which \
                 deals its edges out; for every host to read its own share, convert it to .parton"
            )),
            (false, false) => Some(format!(
                "{name}: copied into a temporary file, unpacked, of which every host reads its own \
                 share"
            )),
            (false, true) => None,
        };
        let packed_bytes = stored_bytes.filter(|_| packed);
        Ok(Input { content, ids, note, read_as, packed_bytes, fit: Fit::AS_IT_IS })
    }

    /// The input, to be made like this. No host needs more than its share for that.
    pub fn fitted(self, fit: Fit) -> Self {
        Input { fit, ..self }
    }

    /// What a user should know about how the input is read.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How the input is understood, in words.
    pub fn read_as(&self) -> Option<&str> {
        self.read_as.as_deref()
    }

    /// Whether a vertex's in-edges can be had as easily as its out-edges: the input keeps them, too, or
    /// every edge is there in both directions.
    pub fn has_in_edges(&self) -> bool {
        let kept = matches!(&self.content, Content::Rows(file) if file.has_in_rows());
        let is_undirected = self.is_symmetric() || self.lacks_mirrors() || self.fit.undirected;
        is_undirected || kept && !self.fit.simple
    }

    /// Whether edges mean both directions, of which some may not be listed.
    pub(crate) fn lacks_mirrors(&self) -> bool {
        matches!(&self.content, Content::Edges(file) if file.shape().mirror == Mirror::Missing)
    }

    /// Numbers of vertices and edges, if they are known before anything is read.
    pub fn size(&self) -> Option<(u64, u64)> {
        match &self.content {
            Content::Rows(file) => Some((file.num_vertices(), file.num_edges())),
            Content::Generated(spec) => {
                Some((spec.generator().num_vertices(), spec.generator().num_edges()))
            }
            Content::Edges(_) => None,
            Content::Whole(graph) => Some((graph.num_vertices() as u64, graph.num_edges())),
        }
    }

    /// Number of edges for each vertex, if that is known before anything is read.
    pub fn average_degree(&self) -> Option<f64> {
        self.size().map(|(vertices, edges)| edges as f64 / vertices.max(1) as f64)
    }

    /// Number of edges that hosts will have, at most, if that is known before anything is read.
    pub fn num_edges(&self) -> Option<u64> {
        let is_doubled = self.fit.undirected && !self.is_symmetric();
        self.size().map(|(_, edges)| if is_doubled { 2 * edges } else { edges })
    }

    /// Whether every edge is known to be there in both directions, before anything is changed.
    pub(crate) fn is_symmetric(&self) -> bool {
        match &self.content {
            Content::Rows(file) => file.direction() == Direction::Undirected,
            Content::Generated(spec) => spec.generator().direction() == Direction::Undirected,
            Content::Edges(file) => file.shape().mirror == Mirror::Same,
            Content::Whole(graph) => graph.direction == Direction::Undirected,
        }
    }

    /// This host's share, with in-edges if they are wanted and the input keeps them. Every host must
    /// call this.
    pub(crate) fn share(
        &self,
        net: &mut Net,
        reads: Reads,
        progress: &dyn Progress,
    ) -> Result<InputShare> {
        let share = match &self.content {
            Content::Rows(file) => rows::of_file(net, file, reads, progress)?,
            Content::Whole(graph) => rows::of_graph(net, graph)?,
            Content::Generated(spec) => exchanged::generated(net, spec, progress)?,
            Content::Edges(file) => edges::share(net, &**file, progress)?,
        };
        let share = match &self.ids {
            Some(file) => {
                let vertices = share.readers.num_vertices();
                share.with(sidecar::ids(net, file, vertices)?)
            }
            None => share,
        };
        let share = InputShare { is_symmetric: self.is_symmetric(), ..share };
        let share = match self.lacks_mirrors() {
            // What the input means is no change of it.
            true => {
                let undirected = Fit { undirected: true, ..Fit::AS_IT_IS };
                InputShare { changes: Vec::new(), ..fit::fit(net, share, undirected)? }
            }
            false => share,
        };
        let share = fit::fit(net, share, self.fit)?;
        // Where every edge has its mirror image, rows are both.
        let turned = share.turned || reads == Reads::InEdges && share.is_symmetric;
        Ok(InputShare { turned, ..share })
    }

    /// What users call some vertices. Every host must call this.
    pub(crate) fn originals(
        &self,
        net: &mut Net,
        ids: &OriginalIds,
        vertices: &[u32],
    ) -> Result<Originals> {
        let of = |ids: &Ids| match ids {
            Ids::Range { first, .. } => Originals::Offset(*first),
            Ids::Integers(ids) => {
                let id = |place: usize| ids[vertices[place] as usize];
                Originals::Integers(parallel::generate(vertices.len(), id))
            }
            Ids::Names(names) => {
                let names = vertices.iter().map(|&v| names.get(v as usize));
                Originals::Names(names.collect::<Names>())
            }
        };
        match (ids, &self.content) {
            (OriginalIds::Integers(dictionary), _) => dictionary.look_up(net, vertices),
            (OriginalIds::Names(dictionary), _) => dictionary.look_up(net, vertices),
            (OriginalIds::Offset(first), _) => Ok(Originals::Offset(*first)),
            (OriginalIds::All(ids), _) => Ok(of(ids)),
            (OriginalIds::OfInput, Content::Rows(file)) => Ok(of(file.ids())),
            (OriginalIds::OfInput, Content::Whole(graph)) => Ok(of(&graph.ids)),
            (OriginalIds::OfInput, Content::Generated(_) | Content::Edges(_)) => {
                Ok(Originals::Offset(0))
            }
        }
    }
}

impl InputShare {
    /// Rows that are called as the input says.
    fn of_rows(rows: Rows, readers: Blocks) -> Self {
        let peak_bytes = rows.adjacency.bytes();
        InputShare {
            rows,
            turned: false,
            in_rows: None,
            row_blocks: None,
            readers,
            peak_bytes,
            is_symmetric: false,
            is_simple: false,
            changes: Vec::new(),
            ids: OriginalIds::OfInput,
        }
    }

    fn with_in_rows(mut self, in_rows: Option<Rows>) -> Self {
        self.in_rows = in_rows;
        self.peak_bytes += self.in_rows.as_ref().map_or(0, |rows| rows.adjacency.bytes());
        self
    }

    fn with(self, ids: OriginalIds) -> Self {
        InputShare { ids, ..self }
    }

    /// The share, of which the host held this many further bytes while it read.
    fn with_peak_of(self, bytes: u64) -> Self {
        InputShare { peak_bytes: self.peak_bytes + bytes, ..self }
    }
}

impl From<Graph> for Input {
    fn from(graph: Graph) -> Self {
        let read_as = Some(graph.read_as.clone());
        let content = Content::Whole(graph);
        Input { content, ids: None, note: None, read_as, packed_bytes: None, fit: Fit::AS_IT_IS }
    }
}

impl Originals {
    /// What users call the vertex at `place` among these, whose global id is `global`.
    pub fn get(&self, place: usize, global: u64) -> OriginalId<'_> {
        match self {
            Originals::Offset(offset) => OriginalId::Integer(offset + global),
            Originals::Integers(ids) => OriginalId::Integer(ids[place]),
            Originals::Names(names) => OriginalId::Name(names.get(place)),
        }
    }
}
