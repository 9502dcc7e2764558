//! Original ids: what the user calls each vertex.
//!
//! Inside Parton, vertices are dense numbers in the order of their original ids: integers by value, names byte by
//! byte. So a binary search in the table that prints ids also finds them.

use std::fmt;

use crate::buffer::Buffer;

/// The original id of every vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum Ids {
    /// Consecutive integers: vertex `v` is `first + v`.
    Range {
        /// Original id of vertex 0.
        first: u64,
        /// Number of vertices.
        count: usize,
    },
    /// Any integers, ascending.
    Integers(Buffer<u64>),
    /// Names, ascending byte by byte.
    Names(Names),
}

/// Many strings in one buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// Where each name ends; name `v` starts where name `v - 1` ends.
    ends: Buffer<u64>,
    bytes: Buffer<u8>,
}

/// One original id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OriginalId<'a> {
    /// An integer.
    Integer(u64),
    /// A name.
    Name(&'a [u8]),
}

impl Names {
    /// Names from their ends and bytes, or `None` when the ends do not describe the bytes.
    pub fn from_parts(ends: Buffer<u64>, bytes: Buffer<u8>) -> Option<Self> {
        let names = Names { ends, bytes };
        names.ends_fit().then_some(names)
    }

    fn ends_fit(&self) -> bool {
        let last = self.ends.last().copied().unwrap_or(0);
        last == self.bytes.len() as u64
    }

    /// Whether the ends never fall, so that every name can be read.
    pub fn is_sound(&self) -> bool {
        self.ends_fit() && self.ends.is_sorted()
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of vertex `v`.
    pub fn get(&self, v: usize) -> &[u8] {
        let start = if v == 0 { 0 } else { self.ends[v - 1] };
        &self.bytes[start as usize..self.ends[v] as usize]
    }

    /// All names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|v| self.get(v))
    }

    /// Where each name ends in [`Names::bytes`].
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// All names, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<'a> FromIterator<&'a [u8]> for Names {
    fn from_iter<T: IntoIterator<Item = &'a [u8]>>(names: T) -> Self {
        let (mut ends, mut bytes) = (Vec::new(), Vec::new());
        for name in names {
            bytes.extend_from_slice(name);
            ends.push(bytes.len() as u64);
        }
        Names { ends: ends.into(), bytes: bytes.into() }
    }
}

impl Ids {
    /// `0..count`.
    pub fn dense(count: usize) -> Self {
        Ids::Range { first: 0, count }
    }

    /// Integers in ascending order; consecutive ones become a range.
    pub fn from_sorted(ids: Vec<u64>) -> Self {
        match (ids.first(), ids.last()) {
            (Some(&first), Some(&last)) if last - first == ids.len() as u64 - 1 => {
                Ids::Range { first, count: ids.len() }
            }
            (None, _) => Ids::dense(0),
            _ => Ids::Integers(ids.into()),
        }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        match self {
            Ids::Range { count, .. } => *count,
            Ids::Integers(ids) => ids.len(),
            Ids::Names(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the user calls vertex `v`.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn get(&self, v: usize) -> OriginalId<'_> {
        match self {
            Ids::Range { first, count } => {
                assert!(v < *count, "vertex {v} of {count}");
                OriginalId::Integer(first + v as u64)
            }
            Ids::Integers(ids) => OriginalId::Integer(ids[v]),
            Ids::Names(names) => OriginalId::Name(names.get(v)),
        }
    }

    /// The vertex a user calls `id`.
    pub fn find(&self, id: OriginalId<'_>) -> Option<usize> {
        match (self, id) {
            (Ids::Range { first, count }, OriginalId::Integer(id)) => {
                id.checked_sub(*first).filter(|&v| v < *count as u64).map(|v| v as usize)
            }
            (Ids::Integers(ids), OriginalId::Integer(id)) => ids.binary_search(&id).ok(),
            (Ids::Names(names), OriginalId::Name(id)) => {
                let (mut low, mut high) = (0, names.len());
                while low < high {
                    let middle = low + (high - low) / 2;
                    if names.get(middle) < id {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                (low < names.len() && names.get(low) == id).then_some(low)
            }
            _ => None,
        }
    }

    /// The vertex a user calls by this text, as typed on a command line.
    pub fn find_text(&self, text: &str) -> Option<usize> {
        match self {
            Ids::Names(_) => self.find(OriginalId::Name(text.as_bytes())),
            _ => self.find(OriginalId::Integer(text.parse().ok()?)),
        }
    }

    /// How the ids are described to people: "integers from 0", "sparse integers", "names".
    pub fn describe(&self) -> String {
        match self {
            Ids::Range { first, .. } => format!("consecutive integers from {first}"),
            Ids::Integers(_) => "sparse integers".into(),
            Ids::Names(_) => "names".into(),
        }
    }
}

impl fmt::Display for OriginalId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OriginalId::Integer(id) => id.fmt(f),
            OriginalId::Name(name) => String::from_utf8_lossy(name).fmt(f),
        }
    }
}
