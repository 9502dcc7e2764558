//! A table with a row per vertex of the whole graph, made of the rows of every host's masters.

use bytemuck::Pod;
use parton_algorithms::{Answer, Values};
use parton_graph::id_map::Names;
use parton_graph::{LocalId, OriginalId};
use parton_net::{HostId, Net};
use parton_partition::Partition;
use rayon::prelude::*;

/// The answer of an algorithm: a row per vertex, in the order of the original ids.
///
/// Values stay in the parts of the hosts; a row is a place in one of them.
pub struct Table {
    parts: Vec<TablePart>,
    /// The part of each row, and its place in that part.
    places: Vec<(u32, u32)>,
}

/// One host's rows.
pub struct TablePart {
    /// Global ids of masters: the numbers of their rows.
    rows: Vec<u32>,
    ids: IdColumn,
    columns: Vec<(&'static str, Cells)>,
}

/// Values of a column.
enum Cells {
    /// Numbers of one type.
    Numbers(Values),
    /// Vertices.
    Vertices(IdColumn),
}

/// Original ids.
enum IdColumn {
    Integers(Vec<u64>),
    Names(Names),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Counts of 32 bits.
    U32,
    /// Counts of 64 bits.
    U64,
    /// Real numbers.
    F64,
    /// Vertices with integers as original ids.
    Integers,
    /// Vertices with names as original ids.
    Names,
    /// Vectors of this many numbers of single precision.
    Vectors(usize),
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// None: a vertex out of reach.
    None,
    /// A count.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// A vertex.
    Vertex(OriginalId<'a>),
    /// A vector.
    Vector(&'a [f32]),
}

impl TablePart {
    /// This host's rows of an answer, whose columns it takes. Every host must call this.
    pub fn of(
        net: &mut Net,
        partition: &Partition,
        answer: &mut Answer,
    ) -> parton_partition::Result<Self> {
        let masters = || (0..partition.num_masters() as u32).map(LocalId);
        let rows: Vec<u32> = masters().map(|master| partition.global(master).0 as u32).collect();
        let ids = IdColumn::new(masters().map(|master| partition.original(master)));
        let mut columns = Vec::new();
        for column in std::mem::take(&mut answer.columns) {
            let cells = match column.values {
                Values::Vertices(vertices) => {
                    // A representative, such as the least vertex of a component, names itself.
                    let is_itself = |m: LocalId| vertices[m.index()] == rows[m.index()];
                    let originals = partition.originals_of(net, &vertices, is_itself)?;
                    let places = vertices.iter().enumerate();
                    let named = places.map(|(place, &v)| originals.get(place, u64::from(v)));
                    Cells::Vertices(IdColumn::new(named))
                }
                numbers => Cells::Numbers(numbers),
            };
            columns.push((column.name, cells));
        }
        Ok(TablePart { rows, ids, columns })
    }
}

impl TablePart {
    /// The parts of all hosts, at host 0; none elsewhere. Every host must call this.
    pub fn gather(self, net: &mut Net) -> parton_net::Result<Vec<(HostId, TablePart)>> {
        let TablePart { rows, ids, columns } = self;
        let all_rows = gather_array(net, rows)?;
        let mut all_ids = ids.gather(net)?.into_iter();
        let mut all_columns: Vec<Vec<_>> = all_rows.iter().map(|_| Vec::new()).collect();
        for (name, cells) in columns {
            for (columns, cells) in all_columns.iter_mut().zip(cells.gather(net)?) {
                columns.push((name, cells));
            }
        }
        let parts = all_rows
            .into_iter()
            .zip(all_columns)
            .filter_map(|(rows, columns)| Some(TablePart { rows, ids: all_ids.next()?, columns }));
        Ok(HostId::all(net.num_hosts()).zip(parts).collect())
    }
}

/// Arrays of all hosts at host 0, none elsewhere.
fn gather_array<T: Pod>(net: &mut Net, array: Vec<T>) -> parton_net::Result<Vec<Vec<T>>> {
    let bytes = bytemuck::cast_slice(&array).to_vec();
    drop(array);
    let all = net.gather(HostId(0), bytes)?.unwrap_or_default();
    Ok(all.into_iter().map(|bytes| bytemuck::pod_collect_to_vec(&bytes)).collect())
}

impl Cells {
    fn gather(self, net: &mut Net) -> parton_net::Result<Vec<Cells>> {
        fn numbers<T: Pod>(
            net: &mut Net,
            array: Vec<T>,
            kind: fn(Vec<T>) -> Values,
        ) -> parton_net::Result<Vec<Cells>> {
            let all = gather_array(net, array)?;
            Ok(all.into_iter().map(|array| Cells::Numbers(kind(array))).collect())
        }
        match self {
            Cells::Numbers(Values::U32(array)) => numbers(net, array, Values::U32),
            Cells::Numbers(Values::U64(array)) => numbers(net, array, Values::U64),
            Cells::Numbers(Values::F64(array)) => numbers(net, array, Values::F64),
            Cells::Numbers(Values::Vertices(array)) => numbers(net, array, Values::Vertices),
            Cells::Numbers(Values::Vectors { width, elements }) => {
                let all = gather_array(net, elements)?.into_iter();
                let vectors = |elements| Cells::Numbers(Values::Vectors { width, elements });
                Ok(all.map(vectors).collect())
            }
            Cells::Vertices(labels) => {
                Ok(labels.gather(net)?.into_iter().map(Cells::Vertices).collect())
            }
        }
    }
}

impl Table {
    /// The rows of one host, in the order of the original ids.
    pub fn of(part: TablePart) -> Self {
        let mut places: Vec<(u32, u32)> = (0..part.rows.len() as u32).map(|p| (0, p)).collect();
        places.par_sort_unstable_by_key(|&(_, place)| part.rows[place as usize]);
        Table { parts: vec![part], places }
    }

    /// All rows, from the parts of all hosts.
    pub fn new(parts: Vec<TablePart>) -> Self {
        let mut places = vec![(0, 0); parts.iter().map(|part| part.rows.len()).sum()];
        for (number, part) in parts.iter().enumerate() {
            for (place, &row) in part.rows.iter().enumerate() {
                places[row as usize] = (number as u32, place as u32);
            }
        }
        Table { parts, places }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The type of the ids: [`ColumnKind::Integers`] or [`ColumnKind::Names`].
    pub fn id_kind(&self) -> ColumnKind {
        IdColumn::kind(self.parts.iter().map(|part| &part.ids))
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> OriginalId<'_> {
        let (part, place) = self.places[row];
        self.parts[part as usize].ids.get(place as usize)
    }

    /// Names and types of the columns after the ids.
    pub fn columns(&self) -> Vec<(&'static str, ColumnKind)> {
        let columns = self.parts.first().map_or(&[][..], |part| &part.columns);
        let kind = |number: usize, cells: &Cells| match cells {
            Cells::Numbers(Values::U32(_) | Values::Vertices(_)) => ColumnKind::U32,
            Cells::Numbers(Values::U64(_)) => ColumnKind::U64,
            Cells::Numbers(Values::F64(_)) => ColumnKind::F64,
            Cells::Numbers(Values::Vectors { width, .. }) => ColumnKind::Vectors(*width),
            Cells::Vertices(_) => {
                IdColumn::kind(self.parts.iter().filter_map(|part| match &part.columns[number].1 {
                    Cells::Vertices(labels) => Some(labels),
                    Cells::Numbers(_) => None,
                }))
            }
        };
        let columns = columns.iter().enumerate();
        columns.map(|(number, (name, cells))| (*name, kind(number, cells))).collect()
    }

    /// The value of a column after the ids in a row.
    pub fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        let (part, place) = self.places[row];
        let place = place as usize;
        let count = |value: u64, none: u64| match value == none {
            true => Cell::None,
            false => Cell::Integer(value),
        };
        match &self.parts[part as usize].columns[column].1 {
            Cells::Vertices(labels) => Cell::Vertex(labels.get(place)),
            Cells::Numbers(Values::U64(values)) => count(values[place], u64::MAX),
            Cells::Numbers(Values::U32(values) | Values::Vertices(values)) => {
                count(values[place].into(), u32::MAX.into())
            }
            Cells::Numbers(Values::F64(values)) => match values[place] {
                f64::INFINITY => Cell::None,
                value => Cell::Real(value),
            },
            Cells::Numbers(Values::Vectors { width, elements }) => {
                Cell::Vector(&elements[place * width..][..*width])
            }
        }
    }
}

impl IdColumn {
    fn new<'a>(ids: impl Iterator<Item = OriginalId<'a>>) -> Self {
        let mut ids = ids.peekable();
        match ids.peek() {
            Some(OriginalId::Name(_)) => IdColumn::Names(
                ids.map(|id| match id {
                    OriginalId::Name(name) => name,
                    OriginalId::Integer(_) => unreachable!("all ids of a graph are of one kind"),
                })
                .collect(),
            ),
            _ => IdColumn::Integers(
                ids.map(|id| match id {
                    OriginalId::Integer(id) => id,
                    OriginalId::Name(_) => unreachable!("all ids of a graph are of one kind"),
                })
                .collect(),
            ),
        }
    }

    /// The ids of all hosts at host 0, none elsewhere. A host without vertices has no names.
    fn gather(self, net: &mut Net) -> parton_net::Result<Vec<IdColumn>> {
        let (integers, ends, bytes) = match self {
            IdColumn::Integers(ids) => (ids, Vec::new(), Vec::new()),
            IdColumn::Names(names) => (Vec::new(), names.ends().to_vec(), names.bytes().to_vec()),
        };
        let integers = gather_array(net, integers)?;
        let (ends, bytes) = (gather_array(net, ends)?, gather_array(net, bytes)?);
        let all = integers.into_iter().zip(ends).zip(bytes).map(|((integers, ends), bytes)| {
            match Names::from_parts(ends.into(), bytes.into()).filter(|names| !names.is_empty()) {
                Some(names) => IdColumn::Names(names),
                None => IdColumn::Integers(integers),
            }
        });
        Ok(all.collect())
    }

    fn get(&self, place: usize) -> OriginalId<'_> {
        match self {
            IdColumn::Integers(ids) => OriginalId::Integer(ids[place]),
            IdColumn::Names(names) => OriginalId::Name(names.get(place)),
        }
    }

    /// The type of the ids of all hosts. A host without vertices does not know.
    fn kind<'a>(mut all: impl Iterator<Item = &'a IdColumn>) -> ColumnKind {
        match all.any(|labels| matches!(labels, IdColumn::Names(_))) {
            true => ColumnKind::Names,
            false => ColumnKind::Integers,
        }
    }
}
