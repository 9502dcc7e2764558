//! What an algorithm found.

use std::fmt;

use parton_engine::{EngineInfo, RunReport};
use parton_graph::OriginalId;

/// What an algorithm found, on one host.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Values of this host's masters.
    pub columns: Vec<Column>,
    /// Facts about the whole answer, the same on every host.
    pub result: Vec<(&'static str, Fact)>,
    /// The engine that ran.
    pub engine: &'static EngineInfo,
    /// Why that one.
    pub why: String,
    /// Seconds from the partition to the first round.
    pub setup_seconds: f64,
    /// How the run went.
    pub report: RunReport,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// One value per vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What the values are.
    pub name: &'static str,
    /// The values.
    pub values: Values,
}

/// Values of a column. The greatest value of a type stands for none: a vertex out of reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Small counts.
    U32(Vec<u32>),
    /// Large counts.
    U64(Vec<u64>),
    /// Real numbers.
    F64(Vec<f64>),
    /// Vertices, by their global ids.
    Vertices(Vec<u32>),
    /// Vectors of the same width, one after the other.
    Vectors {
        /// Elements of each, at least 1.
        width: usize,
        /// All elements.
        elements: Vec<f32>,
    },
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::U32(values) | Values::Vertices(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Vectors { width, elements } => elements.len() / width,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A value as a double, `None` for a vertex out of reach. Of a vector it is the length.
    pub fn real(&self, place: usize) -> Option<f64> {
        match self {
            Values::U32(values) | Values::Vertices(values) => {
                Some(values[place]).filter(|&value| value != u32::MAX).map(f64::from)
            }
            Values::U64(values) => {
                Some(values[place]).filter(|&value| value != u64::MAX).map(|value| value as f64)
            }
            Values::F64(values) => Some(values[place]).filter(|&value| value != f64::INFINITY),
            Values::Vectors { width, elements } => {
                let vector = &elements[place * width..(place + 1) * width];
                Some(vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt())
            }
        }
    }
}

/// One thing worth knowing of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A count.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// A vertex; `None` in a graph without vertices.
    Vertex(Option<Id>),
    /// Vertices with their values, best first.
    Ranking(Vec<(Id, f64)>),
}

/// Names of facts, each with what it means in a few words.
pub type Meanings = &'static [(&'static str, &'static str)];

/// What users call a vertex, kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A number.
    Integer(u64),
    /// A name.
    Name(String),
}

impl From<OriginalId<'_>> for Id {
    fn from(id: OriginalId<'_>) -> Self {
        match id {
            OriginalId::Integer(id) => Id::Integer(id),
            OriginalId::Name(name) => Id::Name(String::from_utf8_lossy(name).into_owned()),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Integer(id) => write!(f, "{id}"),
            Id::Name(name) => f.write_str(name),
        }
    }
}
