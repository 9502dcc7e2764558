//! Where bytes come from: a file, standard input, a folder or glob of parts, or memory; plain or
//! compressed. Formats see a stream of decompressed bytes, or bytes at a position.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::Place;
use crate::{Error, Result};

mod bytes;
pub use bytes::ByteSource;

/// How much of the beginning formats may look at to recognise themselves.
pub const HEAD_BYTES: usize = 64 << 10;

/// An input that has been found but not read.
pub struct Source {
    name: String,
    parts: Vec<Part>,
    head: Vec<u8>,
}

/// One piece of an input.
pub struct Part {
    name: String,
    content: Content,
    compression: Option<Compression>,
    /// The bytes of a plain file that count; `None`: all.
    window: Option<Range<u64>>,
}

enum Content {
    File(PathBuf),
    Memory(Vec<u8>),
    /// Unpacked already; can be read once.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

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

    fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|c| head.starts_with(c.magic()))
    }

    /// A file name without the ending of a compression, and that compression.
    pub fn strip(name: &str) -> (&str, Option<Self>) {
        Self::ALL
            .into_iter()
            .find_map(|c| name.strip_suffix(c.ending()).map(|stem| (stem, Some(c))))
            .unwrap_or((name, None))
    }

    fn decoder<'r>(self, packed: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::Decoder::new(packed)?),
        })
    }
}

impl Source {
    /// Finds an input: a path, a folder of parts, a glob, or `-` for standard input.
    pub fn find(spec: &str) -> Result<Self> {
        let path = Path::new(spec);
        let parts = if spec == "-" {
            vec![Part::stream("standard input", io::stdin())]
        } else if path.is_dir() {
            Part::all(spec, files_in(path)?)?
        } else if path.exists() || !spec.contains(['*', '?', '[']) {
            vec![Part::file(path)?]
        } else {
            let bad = |reason| Error::NoInput { path: path.into(), reason };
            let paths = glob::glob(spec).map_err(|e| bad(format!("not a glob: {e}")))?;
            let unreadable = |e: glob::GlobError| {
                let folder = e.path().to_path_buf();
                Error::io(folder, "read", e.into())
            };
            let paths = paths.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
            Part::all(spec, paths.into_iter().filter(|path| is_part(path)).collect())?
        };
        let name = if spec == "-" { "standard input" } else { spec };
        Self::new(name.into(), parts)
    }

    /// An input that is one file, whatever characters its name has.
    pub fn file(path: &Path) -> Result<Self> {
        Self::new(path.display().to_string(), vec![Part::file(path)?])
    }

    /// An input in memory.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let (name, bytes) = (name.into(), bytes.into());
        let compression = Compression::of(&bytes);
        let part =
            Part { name: name.clone(), content: Content::Memory(bytes), compression, window: None };
        Self::new(name, vec![part])
    }

    fn new(name: String, mut parts: Vec<Part>) -> Result<Self> {
        let part = &mut parts[0];
        let mut head = Vec::new();
        if let Content::Stream(stream) = &mut part.content {
            // What is looked at is put back in front: first the packed bytes, then the unpacked.
            let mut packed =
                stream.get_mut().expect("not shared yet").take().expect("not read yet");
            let mut start = Vec::new();
            let read = packed.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut start);
            read.map_err(|e| Error::io(&name, "read", e))?;
            part.compression = Compression::of(&start);
            let packed = Cursor::new(start).chain(packed);
            let mut plain: Box<dyn Read + Send> = match part.compression {
                Some(compression) => {
                    compression.decoder(packed).map_err(|e| Error::io(&name, "read", e))?
                }
                None => Box::new(packed),
            };
            let read = plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
            part.content =
                Content::Stream(Mutex::new(Some(Box::new(Cursor::new(head.clone()).chain(plain)))));
            read.map_err(|e| part.read_error(e))?;
        } else {
            let read = part.reader()?.take(HEAD_BYTES as u64).read_to_end(&mut head);
            read.map_err(|e| part.read_error(e))?;
        }
        Ok(Source { name, parts, head })
    }

    /// What the user called this input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes, decompressed: up to [`HEAD_BYTES`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether [`Source::head`] is everything there is.
    pub fn head_is_all(&self) -> bool {
        self.parts.len() == 1 && self.head.len() < HEAD_BYTES
    }

    /// The pieces, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The path, when this is one file on disk.
    pub fn path(&self) -> Option<&Path> {
        match &self.parts[..] {
            [Part { content: Content::File(path), .. }] => Some(path),
            _ => None,
        }
    }

    /// Bytes as stored, where that is known beforehand.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.parts.iter().map(Part::stored_bytes).sum()
    }

    /// An error about the contents of this input.
    pub fn error(&self, place: Place, problem: impl Into<String>) -> Error {
        Error::data(&self.name, place, problem)
    }

    /// The input ended too early.
    pub fn ended(&self, expected: &str) -> Error {
        self.error(Place::File, format!("expected {expected}, but the file ends"))
    }

    /// The lines of a plain file from byte `from` on that start in slice number `slice` of `slices`
    /// about equal ones; `None` if this is not one plain file.
    pub(crate) fn lines_of_slice(
        &self,
        from: u64,
        slice: u64,
        slices: u64,
    ) -> Result<Option<Source>> {
        let [Part { name, content: Content::File(path), compression: None, .. }] = &self.parts[..]
        else {
            return Ok(None);
        };
        let bytes = self.bytes()?;
        let body = u128::from(bytes.len().saturating_sub(from));
        let cut = |n: u64| match n {
            0 => Ok(from),
            n => line_start(&bytes, from + (body * u128::from(n) / u128::from(slices)) as u64),
        };
        let window = Some(cut(slice)?..cut(slice + 1)?);
        let content = Content::File(path.clone());
        let part = Part { name: name.clone(), content, compression: None, window };
        // The head tells how rows are laid out, and is that of the whole file.
        Ok(Some(Source { name: self.name.clone(), parts: vec![part], head: self.head.clone() }))
    }

    /// The bytes of a single-part input by position; a packed one is unpacked into memory.
    pub fn bytes(&self) -> Result<ByteSource<'_>> {
        let [part] = &self.parts[..] else {
            return Err(Error::Request(format!(
                "{}: {} parts, but this format is read from a single file",
                self.name,
                self.parts.len()
            )));
        };
        part.bytes()
    }
}

/// Where the first line starts that starts at `at` or later.
fn line_start(bytes: &ByteSource<'_>, at: u64) -> Result<u64> {
    let mut buffer = vec![0; 1 << 16];
    // A line starts at the beginning and after every line feed.
    let mut from = match at {
        0 => return Ok(0),
        at => at - 1,
    };
    while from < bytes.len() {
        let piece = &mut buffer[..(bytes.len() - from).min(1 << 16) as usize];
        bytes.read_at(from, piece)?;
        if let Some(newline) = memchr::memchr(b'\n', piece) {
            return Ok(from + newline as u64 + 1);
        }
        from += piece.len() as u64;
    }
    Ok(bytes.len())
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read", e))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Error::io(folder, "read", e))?.path();
        // `_SUCCESS` and hidden files are bookkeeping of the programs that write folders of parts.
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if is_part(&path) && !name.starts_with(['.', '_']) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Whether a path found in a folder or by a glob is a part. A link to nowhere is: it will be an
/// error, where leaving it out would silently read less.
fn is_part(path: &Path) -> bool {
    path.is_file() || !path.exists()
}

impl Part {
    fn all(spec: &str, mut paths: Vec<PathBuf>) -> Result<Vec<Self>> {
        if paths.is_empty() {
            return Err(Error::NoInput { path: spec.into(), reason: "contains no files".into() });
        }
        paths.sort();
        paths.iter().map(|path| Self::file(path)).collect()
    }

    fn file(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |e| Error::io(path, "read", e);
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if kind.is_dir() {
            let reason = "a folder, where one file was expected".into();
            return Err(Error::NoInput { path: path.into(), reason });
        }
        if !kind.is_file() {
            // Pipes and devices (`/dev/stdin`, `<(zcat …)`) give every byte only once.
            return Ok(Self::stream(name, file));
        }
        let mut start = Vec::new();
        file.take(4).read_to_end(&mut start).map_err(failed)?;
        let compression = Compression::of(&start);
        Ok(Part { name, content: Content::File(path.into()), compression, window: None })
    }

    /// A piece that can be read once; how it is packed is found by whoever looks at its head.
    fn stream(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        let content = Content::Stream(Mutex::new(Some(Box::new(bytes))));
        Part { name: name.into(), content, compression: None, window: None }
    }

    /// What to call this piece in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the file from its beginning, whatever part of it this is.
    pub(crate) fn before(&self) -> Result<Box<dyn Read + Send + '_>> {
        match &self.content {
            Content::File(path) if self.window.is_some() => {
                Ok(Box::new(File::open(path).map_err(|e| Error::io(path, "read", e))?))
            }
            _ => Ok(Box::new(io::empty())),
        }
    }

    /// Where in its file this piece starts.
    pub(crate) fn start(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.start)
    }

    /// How it is packed.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    fn stored_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::File(path) => Some(path.metadata().ok()?.len()),
            Content::Memory(bytes) => Some(bytes.len() as u64),
            Content::Stream(_) => None,
        }
    }

    /// The error for a failed read: bad packing is bad data, the rest is the system's.
    pub fn read_error(&self, error: io::Error) -> Error {
        if self.compression.is_some() && error.raw_os_error().is_none() {
            Error::data(&self.name, Place::File, format!("cannot unpack: {error}"))
        } else {
            Error::io(&self.name, "read", error)
        }
    }

    /// The decompressed bytes from the beginning.
    pub fn reader(&self) -> Result<Box<dyn Read + Send + '_>> {
        let stored: Box<dyn Read + Send + '_> = match &self.content {
            Content::File(path) => {
                let mut file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
                match &self.window {
                    None => Box::new(file),
                    Some(window) => {
                        file.seek(SeekFrom::Start(window.start)).map_err(|e| self.read_error(e))?;
                        Box::new(file.take(window.end - window.start))
                    }
                }
            }
            Content::Memory(bytes) => Box::new(&bytes[..]),
            Content::Stream(stream) => {
                let stream = stream.lock().expect("no thread panicked holding this lock").take();
                let again = || Error::Request(format!("{} can be read only once", self.name));
                return stream.ok_or_else(again);
            }
        };
        match self.compression {
            Some(compression) => compression.decoder(stored).map_err(|e| self.read_error(e)),
            None => Ok(stored),
        }
    }

    /// The bytes by position; packed or streamed ones are first brought into memory.
    pub fn bytes(&self) -> Result<ByteSource<'_>> {
        match (&self.content, self.compression) {
            (Content::File(path), None) => ByteSource::file(&self.name, path),
            (Content::Memory(bytes), None) => Ok(ByteSource::memory(&self.name, bytes)),
            _ => {
                let mut bytes = Vec::new();
                let read = self.reader()?.read_to_end(&mut bytes);
                read.map_err(|e| self.read_error(e))?;
                Ok(ByteSource::memory(&self.name, bytes))
            }
        }
    }
}
