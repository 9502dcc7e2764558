//! FlatBuffers, as far as the metadata of Arrow needs them: tables, vectors and text at positions
//! that are checked, as any may lie.

/// A buffer of metadata.
#[derive(Clone, Copy)]
pub(super) struct Flat<'a>(&'a [u8]);

/// A table in it.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Why metadata cannot be read.
pub(super) const BROKEN: &str = "its metadata is damaged";

type Result<T> = std::result::Result<T, &'static str>;

/// The little-endian bytes at a position.
fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let end = at.checked_add(N).ok_or(BROKEN)?;
    bytes.get(at..end).and_then(|bytes| bytes.try_into().ok()).ok_or(BROKEN)
}

fn offset(bytes: &[u8], at: usize) -> Result<usize> {
    at.checked_add(u32::from_le_bytes(take(bytes, at)?) as usize).ok_or(BROKEN)
}

impl<'a> Flat<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Flat(bytes)
    }

    pub(super) fn root(self) -> Result<Table<'a>> {
        Ok(Table { bytes: self.0, at: offset(self.0, 0)? })
    }
}

impl<'a> Table<'a> {
    /// Where a field is, if it is there.
    fn field(self, number: usize) -> Result<Option<usize>> {
        let back = i32::from_le_bytes(take(self.bytes, self.at)?);
        let fields = self.at as i64 - i64::from(back);
        let fields = usize::try_from(fields).map_err(|_| BROKEN)?;
        let size = usize::from(u16::from_le_bytes(take(self.bytes, fields)?));
        if 4 + 2 * number + 2 > size {
            return Ok(None);
        }
        match u16::from_le_bytes(take(self.bytes, fields + 4 + 2 * number)?) {
            0 => Ok(None),
            ahead => Ok(Some(self.at + usize::from(ahead))),
        }
    }

    fn number<const N: usize>(self, number: usize) -> Result<[u8; N]> {
        self.field(number)?.map_or(Ok([0; N]), |at| take(self.bytes, at))
    }

    pub(super) fn u8(self, number: usize) -> Result<u8> {
        Ok(self.number::<1>(number)?[0])
    }

    pub(super) fn i16(self, number: usize) -> Result<i16> {
        Ok(i16::from_le_bytes(self.number(number)?))
    }

    pub(super) fn i32(self, number: usize) -> Result<i32> {
        Ok(i32::from_le_bytes(self.number(number)?))
    }

    pub(super) fn i64(self, number: usize) -> Result<i64> {
        Ok(i64::from_le_bytes(self.number(number)?))
    }

    pub(super) fn table(self, number: usize) -> Result<Option<Table<'a>>> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        Ok(Some(Table { bytes: self.bytes, at: offset(self.bytes, at)? }))
    }

    /// The elements of a vector, of `size` bytes each: where they start and how many there are.
    fn vector(self, number: usize, size: usize) -> Result<(usize, usize)> {
        let Some(at) = self.field(number)? else { return Ok((0, 0)) };
        let at = offset(self.bytes, at)?;
        let count = u32::from_le_bytes(take(self.bytes, at)?) as usize;
        match count.checked_mul(size).is_some_and(|n| n <= self.bytes.len().saturating_sub(at + 4))
        {
            true => Ok((at + 4, count)),
            false => Err(BROKEN),
        }
    }

    pub(super) fn text(self, number: usize) -> Result<&'a str> {
        let (at, count) = self.vector(number, 1)?;
        std::str::from_utf8(&self.bytes[at..at + count]).map_err(|_| BROKEN)
    }

    pub(super) fn tables(self, number: usize) -> Result<Vec<Table<'a>>> {
        let (at, count) = self.vector(number, 4)?;
        let table = |i: usize| Ok(Table { bytes: self.bytes, at: offset(self.bytes, at + 4 * i)? });
        (0..count).map(table).collect()
    }

    /// A vector of structs of `N` integers.
    pub(super) fn integers<const N: usize>(self, number: usize) -> Result<Vec<[i64; N]>> {
        let (at, count) = self.vector(number, 8 * N)?;
        let one = |at: usize| -> Result<i64> { Ok(i64::from_le_bytes(take(self.bytes, at)?)) };
        (0..count)
            .map(|i| {
                let mut all = [0; N];
                for (j, place) in all.iter_mut().enumerate() {
                    *place = one(at + 8 * (N * i + j))?;
                }
                Ok(all)
            })
            .collect()
    }
}
