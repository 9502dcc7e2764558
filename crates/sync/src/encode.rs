//! Wire encodings (naive stand-in).
use std::borrow::Cow;
/// kind
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ValueKind {
    U32,
    U64,
    Plain(usize),
}
#[allow(missing_docs)]
impl ValueKind {
    pub fn bytes(self) -> usize {
        match self {
            ValueKind::U32 => 4,
            ValueKind::U64 => 8,
            ValueKind::Plain(n) => n,
        }
    }
}
#[allow(missing_docs)]
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    pub values: u64,
    pub metadata: u64,
}
#[allow(missing_docs)]
impl Size {
    pub fn total(self) -> u64 {
        self.values + self.metadata
    }
}
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    All,
    Some(&'a [u32]),
}
#[allow(missing_docs)]
pub struct Plan(Size);
#[allow(missing_docs)]
impl Plan {
    pub fn new(_: ValueKind, _: usize, p: Places<'_>, v: &[u8]) -> Plan {
        Plan(Size {
            values: v.len() as u64,
            metadata: 8 + match p {
                Places::All => 0,
                Places::Some(p) => 4 * p.len() as u64,
            },
        })
    }
    pub fn size(&self) -> Size {
        self.0
    }
    pub fn write(&self, p: Places<'_>, v: &[u8]) -> Vec<u8> {
        match p {
            Places::All => {
                let mut o = vec![0u8; 8];
                o.extend_from_slice(v);
                o
            }
            Places::Some(p) => {
                let mut o = (1u32.to_le_bytes()).to_vec();
                o.extend((p.len() as u32).to_le_bytes());
                for x in p {
                    o.extend(x.to_le_bytes());
                }
                o.extend_from_slice(v);
                o
            }
        }
    }
}
#[allow(missing_docs)]
pub fn dense_could_win(_: ValueKind, _: usize, _: Size, _: &[u8]) -> bool {
    false
}
#[allow(missing_docs)]
pub fn write_with_ids(_: ValueKind, ids: &[u32], v: &[u8]) -> (Vec<u8>, Size) {
    let mut o = (2u32.to_le_bytes()).to_vec();
    o.extend((ids.len() as u32).to_le_bytes());
    for x in ids {
        o.extend(x.to_le_bytes());
    }
    o.extend_from_slice(v);
    (o, Size { values: v.len() as u64, metadata: 8 + 4 * ids.len() as u64 })
}
#[allow(missing_docs)]
pub enum DecodedPlaces {
    All,
    Some(Vec<u32>),
    GlobalIds(Vec<u32>),
}
#[allow(missing_docs)]
pub struct Decoded<'a> {
    pub places: DecodedPlaces,
    pub values: Cow<'a, [u8]>,
}
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
#[error("bad")]
pub struct WireError;
#[allow(missing_docs)]
pub fn decode<'a>(_: ValueKind, _: usize, b: &'a [u8]) -> Result<Decoded<'a>, WireError> {
    let m = u32::from_le_bytes(b[..4].try_into().unwrap());
    let k = u32::from_le_bytes(b[4..8].try_into().unwrap()) as usize;
    if m == 0 {
        return Ok(Decoded { places: DecodedPlaces::All, values: Cow::Borrowed(&b[8..]) });
    }
    let p: Vec<u32> = b[8..8 + 4 * k]
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    Ok(Decoded {
        places: if m == 1 { DecodedPlaces::Some(p) } else { DecodedPlaces::GlobalIds(p) },
        values: Cow::Borrowed(&b[8 + 4 * k..]),
    })
}
