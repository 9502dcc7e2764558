//! How bytes are packed, which their beginning shows.

use std::io::{self, Read};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

impl Compression {
    /// All kinds.
    pub const ALL: [Compression; 2] = [Compression::Gzip, Compression::Zstd];

    /// The ending of a file's name, with its dot.
    pub fn ending(self) -> &'static str {
        match self {
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
        }
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Compression::Gzip => &[0x1f, 0x8b],
            Compression::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }

    pub(super) fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|c| head.starts_with(c.magic()))
    }

    /// A file name without the ending of a compression, and that compression.
    pub fn strip(name: &str) -> (&str, Option<Self>) {
        Self::ALL
            .into_iter()
            .find_map(|c| name.strip_suffix(c.ending()).map(|stem| (stem, Some(c))))
            .unwrap_or((name, None))
    }

    pub(super) fn decoder<'r>(
        self,
        packed: impl Read + Send + 'r,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::Decoder::new(packed)?),
        })
    }
}
