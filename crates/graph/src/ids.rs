//! The two kinds of vertex numbers. They are separate types so that one can never be passed for
//! the other; what a *user* calls a vertex (its original id) is in [`Ids`](crate::Ids).

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// A vertex of the whole graph: dense, `0..vertices`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct GlobalId(pub u64);

/// A vertex of one [`Csr`](crate::Csr): an index into that graph's arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct LocalId(pub u32);

impl LocalId {
    /// The position of this vertex in per-vertex arrays.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! display_as_number {
    ($($id:ty),*) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
display_as_number!(GlobalId, LocalId);
