//! How bytes are packed, which their beginning shows.

use std::io::{self, Read};

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.bz2`
    Bzip2,
    /// `.xz`
    Xz,
    /// `.lz4`, the frame format.
    Lz4,
}

/// Bytes of the beginning that tell how a file is packed.
pub(super) const MAGIC_BYTES: usize = 10;

/// The most memory that unpacking `.xz` may take, in KiB: eight times what `xz -9` asks for. A
/// header may claim 4 GiB.
const XZ_MEMORY_KIB: u32 = 512 << 10;

impl Compression {
    /// All kinds.
    pub const ALL: [Compression; 5] = [
        Compression::Gzip,
        Compression::Zstd,
        Compression::Bzip2,
        Compression::Xz,
        Compression::Lz4,
    ];

    /// What it is called, and the ending of a file's name.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Compression::Gzip => ("gzip", ".gz"),
            Compression::Zstd => ("zstd", ".zst"),
            Compression::Bzip2 => ("bzip2", ".bz2"),
            Compression::Xz => ("xz", ".xz"),
            Compression::Lz4 => ("lz4", ".lz4"),
        }
    }

    /// What the compression is called.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The ending of a file's name, with its dot.
    pub fn ending(self) -> &'static str {
        self.names().1
    }

    fn packed(self, head: &[u8]) -> bool {
        match self {
            Compression::Gzip => head.starts_with(&[0x1f, 0x8b]),
            Compression::Zstd => head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
            // Text may begin with `BZh9`: what follows is the mark of a block, or of the end.
            Compression::Bzip2 => match head.strip_prefix(b"BZh") {
                Some([b'1'..=b'9', mark @ ..]) => {
                    mark.starts_with(b"1AY&SY") || mark.starts_with(b"\x17rE8P\x90")
                }
                _ => false,
            },
            Compression::Xz => head.starts_with(b"\xfd7zXZ\0"),
            Compression::Lz4 => head.starts_with(&[0x04, 0x22, 0x4d, 0x18]),
        }
    }

    /// How bytes are compressed that begin like this.
    pub fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.packed(head))
    }

    /// A file name without the ending of a compression, and that compression.
    pub fn strip(name: &str) -> (&str, Option<Self>) {
        Self::ALL
            .into_iter()
            .find_map(|c| name.strip_suffix(c.ending()).map(|stem| (stem, Some(c))))
            .unwrap_or((name, None))
    }

    pub(crate) fn decoder<'r>(
        self,
        packed: impl Read + Send + 'r,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::Decoder::new(packed)?),
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(packed)),
            Compression::Xz => Box::new(XzStreams::new(packed)),
            Compression::Lz4 => Box::new(Lz4Frames::new(packed)),
        })
    }
}

/// The streams of an `.xz` file, one after the other.
struct XzStreams<R: Read>(Option<lzma_rust2::XzReader<io::BufReader<R>>>);

impl<R: Read> XzStreams<R> {
    fn new(packed: R) -> Self {
        let packed = io::BufReader::new(packed);
        XzStreams(Some(lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB)))
    }
}

impl<R: Read> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.0 else {
            return Err(io::Error::other("it could not be read before"));
        };
        // The library is not to be called again after an error.
        let read = reader.read(buffer);
        if read.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted) {
            self.0 = None;
        }
        read
    }
}

/// The frames of an `.lz4` file, one after the other. The library stops after each, and takes a
/// file for complete that ends between two blocks of a frame, or in the header of one.
struct Lz4Frames<R: Read> {
    decoder: lz4_flex::frame::FrameDecoder<Counted<R>>,
    /// Bytes up to the end of the last frame, unless one has begun after it.
    complete: Option<u64>,
}

impl<R: Read> Lz4Frames<R> {
    fn new(packed: R) -> Self {
        let packed = Counted { reader: packed, taken: 0, has_ended: false };
        Lz4Frames { decoder: lz4_flex::frame::FrameDecoder::new(packed), complete: None }
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            let read = self.decoder.read(buffer)?;
            let Counted { taken, has_ended, .. } = *self.decoder.get_ref();
            if read > 0 {
                self.complete = None;
                return Ok(read);
            }
            match has_ended {
                true if self.complete == Some(taken) => break,
                true => {
                    let problem = "the last frame is cut off";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
                }
                false => self.complete = Some(taken),
            }
        }
        Ok(0)
    }
}

/// Counts what is read, and notes when there is nothing left.
struct Counted<R> {
    reader: R,
    taken: u64,
    has_ended: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.taken += read as u64;
        self.has_ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}
