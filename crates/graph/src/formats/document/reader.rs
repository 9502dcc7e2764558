//! The edges of a document, piece by piece.
//!
//! A parser of documents cannot stop in the middle. It runs in a thread of its own, which waits
//! when it is a few pieces ahead of the thread that takes them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::facts::{Called, Facts, Plan, Reference};
use super::{BUFFER_BYTES, Document, Edge, Item, VertexKey};
use crate::edge_file::{Piece, PieceReader, Pieces, TakePiece, order};
use crate::error::printable;
use crate::id_map::OriginalId;
use crate::progress::Progress;
use crate::source::Part;
use crate::{Error, Result};

/// Pieces that wait to be taken.
const PIECES_AHEAD: usize = 2;

/// Starts to read all edges.
pub(super) fn pieces<'a, D: Document>(
    part: &Part,
    document: &Arc<D>,
    facts: &Facts,
    plan: Plan,
    progress: &'a dyn Progress,
) -> Result<Pieces<'a>> {
    let (sender, receiver) = sync_channel(PIECES_AHEAD);
    let (part, document) = (part.clone(), document.clone());
    let mut builder = Builder {
        plan,
        mirrors_edges: !facts.all_undirected(),
        facts: facts.clone(),
        piece: Piece::new(0, plan.names),
        pieces: 0,
        vertices: 0,
        called: HashMap::default(),
        names: Vec::new(),
        labels: HashSet::default(),
        sender: sender.clone(),
    };
    let name = part.name().to_owned();
    let work = move || {
        let scanned = part.buffered(BUFFER_BYTES).and_then(|mut reader| {
            document.scan(&part, &mut reader, &mut |item| builder.add(item))
        });
        // The receiver may be gone.
        let _ = match scanned {
            Ok(()) => builder.send().is_ok() && sender.send(Ok(None)).is_ok(),
            Err(error) => sender.send(Err(error)).is_ok(),
        };
    };
    let spawned = std::thread::Builder::new().name("parton-document".into()).spawn(work);
    spawned.map_err(|e| Error::io(&name, "start a thread to read", e))?;
    Ok(Box::new(DocumentPieces { receiver, progress, has_more: true }))
}

struct DocumentPieces<'a> {
    receiver: Receiver<Result<Option<Piece>>>,
    progress: &'a dyn Progress,
    has_more: bool,
}

impl PieceReader for DocumentPieces<'_> {
    fn read(&mut self, limit: usize, take: &TakePiece<'_>) -> Result<bool> {
        for _ in 0..limit {
            let received = self.receiver.recv().expect("the thread that parses does not panic");
            let Some(mut piece) = received? else {
                self.has_more = false;
                break;
            };
            self.progress.advance(piece.num_edges() as u64);
            take(&mut piece)?;
        }
        Ok(self.has_more)
    }
}

/// Makes pieces of items.
struct Builder {
    plan: Plan,
    /// Whether an undirected edge is given as two, because there are directed ones, too.
    mirrors_edges: bool,
    facts: Facts,
    piece: Piece,
    pieces: usize,
    /// Vertices gone by.
    vertices: u64,
    /// Where in `names` those vertices are that edges refer to otherwise.
    called: HashMap<u64, usize>,
    names: Vec<Box<str>>,
    /// Labels gone by: one that comes twice cannot tell vertices apart.
    labels: HashSet<Box<str>>,
    sender: SyncSender<Result<Option<Piece>>>,
}

impl Builder {
    fn add(&mut self, item: Item<'_>) -> Result<(), String> {
        match item {
            Item::Directed(_) => Ok(()),
            Item::Vertex { id, label } => self.add_vertex(id, label),
            Item::Edge(edge) => self.add_edge(&edge),
        }?;
        match self.piece.is_full() {
            true => self.send(),
            false => Ok(()),
        }
    }

    fn add_vertex(&mut self, id: Option<VertexKey<'_>>, label: Option<&str>) -> Result<(), String> {
        let position = VertexKey::Integer(self.vertices);
        self.vertices += 1;
        let label_key = label.map(VertexKey::Untyped);
        let called = match self.plan.called {
            Called::Id => id,
            Called::Label => label_key,
            Called::Position => Some(position),
        };
        let called = called.ok_or("the file changes while it is read")?;
        if self.plan.called == Called::Label
            && let Some(label) = label
            && !self.labels.insert(label.into())
        {
            let label = printable(label.as_bytes());
            return Err(format!(
                "two vertices are labelled '{label}'; for their numbers as ids, say `ids` integers"
            ));
        }
        let mut digits = Vec::new();
        let original = called.original(self.plan.names, &mut digits)?;
        self.piece.listed.push(original);
        let reference = match self.plan.reference {
            Reference::Same => return Ok(()),
            Reference::Id => id,
            Reference::Position => Some(position),
        };
        if let (
            Some(VertexKey::Integer(reference)),
            VertexKey::Text(name) | VertexKey::Untyped(name),
        ) = (reference, called)
        {
            self.called.insert(reference, self.names.len());
            self.names.push(name.into());
        }
        Ok(())
    }

    fn add_edge(&mut self, edge: &Edge<'_>) -> Result<(), String> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let Builder { plan, called, names, piece, .. } = self;
        let original = |key, digits| original(*plan, called, names, key, digits);
        let (source, destination) =
            (original(edge.source, &mut a)?, original(edge.destination, &mut b)?);
        let weight = edge.weight.filter(|_| self.facts.has_weights());
        piece.push(source, destination);
        weight.into_iter().for_each(|weight| piece.push_weight(weight));
        if self.mirrors_edges && !self.facts.is_directed(edge) && source != destination {
            piece.push(destination, source);
            weight.into_iter().for_each(|weight| piece.push_weight(weight));
        }
        Ok(())
    }

    /// Hands the piece on.
    fn send(&mut self) -> Result<(), String> {
        self.pieces += 1;
        let next = Piece::new(order(0, self.pieces), self.plan.names);
        let piece = std::mem::replace(&mut self.piece, next);
        // The thread that took pieces has stopped, and will not read this.
        self.sender.send(Ok(Some(piece))).map_err(|_| "reading was stopped".into())
    }
}

/// What the vertex is called that an edge refers to.
fn original<'a>(
    plan: Plan,
    called: &HashMap<u64, usize>,
    names: &'a [Box<str>],
    key: VertexKey<'a>,
    digits: &'a mut Vec<u8>,
) -> Result<OriginalId<'a>, String> {
    if plan.reference == Reference::Same {
        return key.original(plan.names, digits);
    }
    let place = match key {
        VertexKey::Integer(reference) => called.get(&reference),
        VertexKey::Text(_) | VertexKey::Untyped(_) => None,
    };
    let place = place.ok_or_else(|| {
        let what = match plan.reference {
            Reference::Position => "position",
            _ => "id",
        };
        let key = match key {
            VertexKey::Integer(key) => key.to_string(),
            VertexKey::Text(key) | VertexKey::Untyped(key) => printable(key.as_bytes()),
        };
        format!("no vertex before this edge has the {what} {key}")
    })?;
    VertexKey::Untyped(&names[*place]).original(plan.names, digits)
}
