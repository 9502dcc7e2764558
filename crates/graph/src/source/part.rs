//! One file, stream or piece of memory that an input consists of.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::{Buf, Bytes};

use super::compression::MAGIC_BYTES;
use super::remote::{self, RemoteObject};
use super::{ByteSource, Compression};
use crate::error::Place;
use crate::{Error, Result};

/// One piece of an input.
#[derive(Clone)]
pub struct Part {
    pub(super) name: String,
    pub(super) content: Content,
    pub(super) compression: Option<Compression>,
    /// The bytes of a plain piece that count; `None`: all.
    pub(super) window: Option<Range<u64>>,
}

#[derive(Clone)]
pub(super) enum Content {
    File(PathBuf),
    Memory(Bytes),
    /// Behind a URL.
    Remote(Arc<dyn RemoteObject>),
    /// A file that only this process knows.
    Spooled(Arc<File>),
    /// Unpacked already; can be read once.
    Stream(Arc<Mutex<Option<Box<dyn Read + Send>>>>),
}

impl Content {
    pub(super) fn stream(bytes: impl Read + Send + 'static) -> Self {
        Content::Stream(Arc::new(Mutex::new(Some(Box::new(bytes)))))
    }
}

impl Part {
    pub(super) fn all(spec: &str, mut paths: Vec<PathBuf>) -> Result<Vec<Self>> {
        if paths.is_empty() {
            return Err(Error::NoInput { path: spec.into(), reason: "contains no files".into() });
        }
        paths.sort();
        paths.iter().map(|path| Self::file(path)).collect()
    }

    pub(super) fn file(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |e| Error::io(path, "read", e);
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if kind.is_dir() {
            let reason = "a folder, where one file was expected".into();
            return Err(Error::NoInput { path: path.into(), reason });
        }
        if kind.is_char_device() && !file.is_terminal() && path != Path::new("/dev/null") {
            let reason = "a device, which may never end: give a file or a pipe".into();
            return Err(Error::NoInput { path: path.into(), reason });
        }
        if !kind.is_file() {
            // Pipes and devices (`/dev/stdin`, `<(zcat …)`) give every byte only once.
            return Ok(Self::stream(name, file));
        }
        let mut start = Vec::new();
        file.take(MAGIC_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
        let compression = Compression::of(&start);
        Ok(Part { name, content: Content::File(path.into()), compression, window: None })
    }

    /// The objects that a URL stands for.
    pub(super) fn remote(url: &str) -> Result<Vec<Self>> {
        let parts = remote::find(url)?.into_iter().map(|object| {
            let name = object.url().to_owned();
            let start = object.get(0..object.len().min(MAGIC_BYTES as u64));
            let start = start.map_err(|e| Error::io(&name, "read", e))?;
            let compression = Compression::of(&start);
            Ok(Part { name, content: Content::Remote(object), compression, window: None })
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        match parts.is_empty() {
            false => Ok(parts),
            true => Err(Error::NoInput { path: url.into(), reason: "contains no objects".into() }),
        }
    }

    /// A piece that can be read once; [`Source`](super::Source) finds how it is packed.
    pub(super) fn stream(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        let content = Content::stream(bytes);
        Part { name: name.into(), content, compression: None, window: None }
    }

    /// What to call this piece in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lines of its file before a slice of it; counted only to say where a problem lies.
    pub(crate) fn lines_before(&self) -> Result<u64> {
        if self.window.is_none() {
            return Ok(0);
        }
        let mut reader = Part { window: Some(0..self.start()), ..self.clone() }.reader()?;
        let (mut lines, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            match reader.read(&mut buffer).map_err(|e| self.read_error(e))? {
                0 => return Ok(lines),
                read => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
            }
        }
    }

    /// Where in its file this piece starts.
    pub(crate) fn start(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.start)
    }

    /// Whether lines can be looked for at any position.
    pub(super) fn is_plain(&self) -> bool {
        self.compression.is_none() && !self.is_stream()
    }

    /// Whether this can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.content, Content::Stream(_))
    }

    /// How it is packed.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    pub(super) fn stored_bytes(&self) -> Option<u64> {
        if let Some(window) = &self.window {
            return Some(window.end - window.start);
        }
        match &self.content {
            Content::File(path) => Some(path.metadata().ok()?.len()),
            Content::Memory(bytes) => Some(bytes.len() as u64),
            Content::Remote(object) => Some(object.len()),
            Content::Spooled(file) => Some(file.metadata().ok()?.len()),
            Content::Stream(_) => None,
        }
    }

    /// Number of bytes, if they lie unpacked in a file on disk: to read them at any position costs no more than to read
    /// them from the beginning.
    pub(crate) fn bytes_on_disk(&self) -> Option<u64> {
        match &self.content {
            Content::File(_) | Content::Spooled(_) if self.compression.is_none() => {
                self.stored_bytes()
            }
            _ => None,
        }
    }

    /// The error for a failed read: bad packing is bad data, the rest is the system's.
    pub(crate) fn read_error(&self, error: io::Error) -> Error {
        if self.compression.is_some() && error.raw_os_error().is_none() {
            Error::data(&self.name, Place::File, format!("cannot unpack: {error}"))
        } else {
            Error::io(&self.name, "read", error)
        }
    }

    /// The decompressed bytes from the beginning.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>> {
        let stored: Box<dyn Read + Send> = match &self.content {
            Content::File(path) => {
                let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
                match &self.window {
                    None => Box::new(file),
                    Some(window) => {
                        Box::new(Window { file: Arc::new(file), range: window.clone() })
                    }
                }
            }
            Content::Memory(bytes) => {
                let all = 0..bytes.len() as u64;
                let Range { start, end } = self.window.clone().unwrap_or(all);
                Box::new(bytes.slice(start as usize..end as usize).reader())
            }
            Content::Remote(object) => {
                let range = self.window.clone().unwrap_or(0..object.len());
                Box::new(RemoteWindow { object: object.clone(), range, fetched: Bytes::new() })
            }
            Content::Spooled(file) => {
                let range = self.window.clone().unwrap_or(0..u64::MAX);
                Box::new(Window { file: file.clone(), range })
            }
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

    /// The decompressed bytes through a buffer of `most` bytes, or of fewer for a small piece.
    pub(crate) fn buffered(&self, most: usize) -> Result<BufReader<Box<dyn Read + Send>>> {
        // One byte more finds the end. What says that it is empty may be no plain file.
        const LEAST_BYTES: usize = 4 << 10;
        let known = self.stored_bytes().filter(|_| self.compression.is_none());
        let needed = known.map_or(most, |n| usize::try_from(n).map_or(most, |n| n + 1));
        Ok(BufReader::with_capacity(needed.clamp(LEAST_BYTES.min(most), most), self.reader()?))
    }

    /// The bytes by position; packed or streamed ones are first brought into memory.
    pub fn bytes(&self) -> Result<ByteSource<'_>> {
        let failed = |e| Error::io(&self.name, "read", e);
        match (&self.content, self.compression) {
            (Content::File(path), None) => {
                let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
                ByteSource::file(&self.name, file)
            }
            (Content::Spooled(file), None) => {
                ByteSource::file(&self.name, file.try_clone().map_err(failed)?)
            }
            (Content::Remote(object), None) => Ok(ByteSource::remote(&self.name, object.clone())),
            (Content::Memory(bytes), None) => Ok(ByteSource::memory(&self.name, &bytes[..])),
            _ => {
                let mut bytes = Vec::new();
                let read = self.reader()?.read_to_end(&mut bytes);
                read.map_err(|e| self.read_error(e))?;
                Ok(ByteSource::memory(&self.name, bytes))
            }
        }
    }

    /// The same bytes, unpacked, in a temporary file without a name, which goes away with the last
    /// who uses it.
    pub(super) fn spooled(&self) -> Result<Self> {
        let failed = |e| Error::io(std::env::temp_dir(), "write", e);
        let mut file = tempfile::tempfile().map_err(failed)?;
        let (mut reader, mut buffer) = (self.reader()?, vec![0; 1 << 20]);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => file.write_all(&buffer[..read]).map_err(failed)?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.read_error(e)),
            }
        }
        let content = Content::Spooled(Arc::new(file));
        Ok(Part { name: self.name.clone(), content, compression: None, window: None })
    }
}

/// Bytes of an object that one request asks for while it is read from its beginning.
const FETCHED_BYTES: u64 = 8 << 20;

/// Reads a range of a remote object, piece by piece.
struct RemoteWindow {
    object: Arc<dyn RemoteObject>,
    /// The part of the range that was not asked for yet.
    range: Range<u64>,
    fetched: Bytes,
}

impl Read for RemoteWindow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.fetched.is_empty() {
            let end = self.range.end.min(self.range.start + FETCHED_BYTES);
            self.fetched = self.object.get(self.range.start..end)?;
            self.range.start = end;
        }
        let taken = buffer.len().min(self.fetched.len());
        self.fetched.copy_to_slice(&mut buffer[..taken]);
        Ok(taken)
    }
}

/// Reads a range of a file; the position of other readers in it stays as it is.
struct Window {
    file: Arc<File>,
    range: Range<u64>,
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        let most = (buffer.len() as u64).min(self.range.end - self.range.start) as usize;
        let read = self.file.read_at(&mut buffer[..most], self.range.start)?;
        self.range.start += read as u64;
        Ok(read)
    }
}
