//! Lists of original ids, as they come from an input.

use crate::id_map::OriginalId;

/// A list of names in one buffer.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl NameList {
    /// Appends a name.
    pub fn push(&mut self, name: &[u8]) {
        self.text.extend_from_slice(name);
        self.ends.push(self.text.len());
    }

    /// Name number `i`.
    pub fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// The names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.ends.len()).map(|i| self.get(i))
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all names, keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Original ids of one kind, in any order.
#[derive(Clone, Debug)]
pub enum IdList {
    /// Integers.
    Integers(Vec<u64>),
    /// Names.
    Names(NameList),
}

impl IdList {
    /// No ids, which would be names or integers.
    pub fn new(names: bool) -> Self {
        match names {
            true => IdList::Names(NameList::default()),
            false => IdList::Integers(Vec::new()),
        }
    }

    /// Appends an id.
    ///
    /// # Panics
    /// When it is of the other kind.
    pub fn push(&mut self, id: OriginalId<'_>) {
        match (self, id) {
            (IdList::Integers(ids), OriginalId::Integer(id)) => ids.push(id),
            (IdList::Names(names), OriginalId::Name(name)) => names.push(name),
            (list, id) => panic!("the id {id} among {} others of another kind", list.len()),
        }
    }

    /// Appends the ids of another list of the same kind, which is empty then.
    ///
    /// # Panics
    /// When they are of the other kind.
    pub fn append(&mut self, other: &mut IdList) {
        match (self, other) {
            (IdList::Integers(ids), IdList::Integers(others)) => ids.append(others),
            (IdList::Names(names), IdList::Names(others)) => {
                others.iter().for_each(|name| names.push(name));
                others.clear();
            }
            (list, _) => panic!("ids of another kind than {} others", list.len()),
        }
    }

    /// Forgets all ids, keeps the memory.
    pub fn clear(&mut self) {
        match self {
            IdList::Integers(ids) => ids.clear(),
            IdList::Names(names) => names.clear(),
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdList::Integers(ids) => ids.len(),
            IdList::Names(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all ids.
    pub fn bytes(&self) -> u64 {
        match self {
            IdList::Integers(ids) => 8 * ids.len() as u64,
            IdList::Names(names) => (names.text.len() + 8 * names.len()) as u64,
        }
    }
}
